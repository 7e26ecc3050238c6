package table

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
)

// seed is the secret of hashes. A client that does not know it cannot choose keys that collide.
type seed [4]uint64

func newSeed() seed { return seed{rand.Uint64(), rand.Uint64(), rand.Uint64(), rand.Uint64()} }

// hash returns the hash of a key without regard to the case of its ASCII letters. All keys are stored under this hash, so links of
// hosts that do not distinguish cases are found without a second index, and a host can change its mind without a change of its links.
//
// It multiplies words with secrets, as the runtime's own hash does on processors without AES. Package maphash would need the folded
// bytes in memory, where they would have to wait for the stores before it.
func (s *seed) hash(key []byte) uint64 {
	n := len(key)
	h := s[0] ^ uint64(n)
	var a, b uint64
	switch {
	case n > 8:
		rest := key
		for ; len(rest) > 16; rest = rest[16:] {
			h = mix(fold(binary.LittleEndian.Uint64(rest))^s[1], fold(binary.LittleEndian.Uint64(rest[8:]))^h)
		}
		if len(rest) >= 8 {
			a = binary.LittleEndian.Uint64(rest)
		}
		b = binary.LittleEndian.Uint64(key[n-8:])
	case n >= 4:
		a, b = uint64(binary.LittleEndian.Uint32(key)), uint64(binary.LittleEndian.Uint32(key[n-4:]))
	case n > 0:
		a = uint64(key[0]) | uint64(key[n/2])<<8 | uint64(key[n-1])<<16
	}
	return mix(s[3]^uint64(n), mix(fold(a)^s[2], fold(b)^h))
}

// mix multiplies to 128 bits and combines the halves.
func mix(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}

// fold folds eight bytes (Hacker's Delight, 2-20): a byte of upper gets its highest bit if it is an ASCII letter in upper case.
func fold(x uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	low := x &^ highs
	upper := (low + (0x80-'A')*ones) &^ (low + (0x7f-'Z')*ones) &^ x & highs
	return x | upper>>2
}

// sameFolded reports whether two keys differ at most in the case of ASCII letters.
func sameFolded(a, b []byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := a[i], b[i]
		if x != y && (x|0x20 != y|0x20 || x|0x20 < 'a' || x|0x20 > 'z') {
			return false
		}
	}
	return true
}

// LookupFolded finds a link by its key without regard to the case of ASCII letters. If there are several, it finds any one of them: the
// control plane lets no two links of a host meet that does not distinguish cases. It does not keep key, and does not allocate.
func (t *Table) LookupFolded(key []byte) (Entry, bool) {
	v := t.now.Load()
	hash := t.seed.hash(key)
	for i := range len(v.upper) + 1 {
		s := v.base
		if i < len(v.upper) {
			s = v.upper[i]
		}
		if b := s.findFolded(hash, key); b != nil {
			// A newer store may have another state of the same key.
			if b = v.find(hash, slugOf(b)); b != nil {
				return readEntry(b, v.generation), true
			}
		}
	}
	return Entry{}, false
}

// findFolded is find for a folded key. It skips tombstones.
func (s *store) findFolded(hash uint64, key []byte) []byte {
	index := s.index
	if len(index) == 0 {
		return nil
	}
	tag := hash << 48
	for i := slot(hash, len(index)); ; {
		w := index[i]
		if w == 0 {
			return nil
		}
		if (w^tag)>>48 == 0 {
			if b := s.at(w); !isTombstone(b) && sameFolded(slugOf(b), key) {
				return b
			}
		}
		if i++; i == len(index) {
			i = 0
		}
	}
}
