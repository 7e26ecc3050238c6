package table

import (
	"fmt"
	"hash/maphash"
	"strings"
	"testing"
)

// Keys that differ in more than the case of their letters have different hashes, of any length and with a difference at any byte.
func TestHash_distinguishes_keys(t *testing.T) {
	t.Parallel()
	own := newSeed()
	seen := map[uint64]string{}
	add := func(key string) {
		h := own.hash([]byte(key))
		if other, ok := seen[h]; ok && other != key {
			t.Fatalf("%q and %q have one hash", key, other)
		}
		seen[h] = key
		if own.hash([]byte(strings.ToUpper(key))) != h {
			t.Fatalf("%q has another hash in upper case", key)
		}
	}
	for n := range 100 {
		for at := range n {
			for _, c := range "abz019_-/" {
				add(strings.Repeat("x", at) + string(c) + strings.Repeat("x", n-1-at))
			}
		}
	}
	for i := range 200_000 {
		add(fmt.Sprintf("s%06d", i))
	}
}

func BenchmarkHash(b *testing.B) {
	known, own := maphash.MakeSeed(), newSeed()
	key := []byte("spr1234")
	var sum uint64
	b.Run("maphash", func(b *testing.B) {
		for b.Loop() {
			sum += maphash.Bytes(known, key)
		}
	})
	b.Run("folded", func(b *testing.B) {
		for b.Loop() {
			sum += own.hash(key)
		}
	})
	_ = sum
}
