package link_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/link"
)

func TestKey(t *testing.T) {
	t.Parallel()
	slug := strings.Repeat("x", link.MaxSlug)
	for _, c := range []struct {
		domain    uint64
		slug, key string
	}{
		{0, "spring", "spring"},
		{0, "a/b", "0/a/b"},
		{0, "2s/spring", "0/2s/spring"},
		{1, "spring", "1/spring"},
		{1, "a/b", "1/a/b"},
		{100, "spring", "2s/spring"},
		{math.MaxUint64, slug, "3w5e11264sgsf/" + slug},
	} {
		if key := link.Key(c.domain, c.slug); key != c.key || len(key) > link.MaxKey {
			t.Errorf("Key(%d, %q) = %q", c.domain, c.slug, key)
		}
		if key := link.AppendKey([]byte("x"), c.domain, []byte(c.slug)); string(key) != "x"+c.key {
			t.Errorf("AppendKey(%d, %q) = %q", c.domain, c.slug, key)
		}
		if domain, slug := link.SplitKey(c.key); domain != c.domain || slug != c.slug {
			t.Errorf("SplitKey(%q) = %d, %q", c.key, domain, slug)
		}
	}
}

func TestSplitKey_returns_other_texts_as_they_are(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "/", "/abc", "0/abc", "01/abc", "2S/abc", "-1/abc", "zzzzzzzzzzzzzz/abc", "ä/abc"} {
		if domain, slug := link.SplitKey(text); domain != 0 || slug != text {
			t.Errorf("SplitKey(%q) = %d, %q", text, domain, slug)
		}
	}
}

func FuzzSplitKey(f *testing.F) {
	f.Add(uint64(0), "spring")
	f.Add(uint64(0), "2s/spring")
	f.Add(uint64(100), "a/b")
	f.Fuzz(func(t *testing.T, domain uint64, slug string) {
		key := link.Key(domain, slug)
		if d, s := link.SplitKey(key); d != domain || s != slug {
			t.Errorf("key %q of %d and %q gives %d and %q", key, domain, slug, d, s)
		}
	})
}

func BenchmarkAppendKey(b *testing.B) {
	buf, slug := make([]byte, 0, link.MaxKey), []byte("spring")
	n := rand.Uint64N(10_000)
	for b.Loop() {
		buf = link.AppendKey(buf[:0], n, slug)
	}
}
