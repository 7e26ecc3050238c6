package link_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/link"
)

var slugForm = regexp.MustCompile(`\A[A-Za-z0-9_-]{3,50}\z`)

func TestValidSlug(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"abc": true, "A-z_0": true, "---": true, strings.Repeat("x", 50): true,
		"": false, "ab": false, strings.Repeat("x", 51): false, "a b": false, "a.b": false, "a/b": false, "abé": false,
		"abc\n": false, "abc\x00": false, "a%41": false, "favicon.ico": false,
	} {
		if link.ValidSlug(s) != want || link.ValidSlug([]byte(s)) != want {
			t.Errorf("%q: %v", s, !want)
		}
	}
	for c := range 256 {
		s := "ab" + string([]byte{byte(c)})
		if link.ValidSlug(s) != slugForm.MatchString(s) {
			t.Errorf("%q: %v", s, link.ValidSlug(s))
		}
	}
}

func FuzzValidSlug(f *testing.F) {
	f.Add([]byte("abc-DEF_9"))
	f.Add([]byte("a\xffb"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if got := link.ValidSlug(b); got != slugForm.Match(b) || got != link.ValidSlug(string(b)) {
			t.Errorf("%q: %v", b, got)
		}
	})
}

func TestReserved(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"api", "API", "Static", "health", "healthz", "readyz", "metrics", "favicon.ico", "ROBOTS.TXT",
		"info", "verify",
		"console", "aDmin", "login"} {
		if !link.Reserved(s) {
			t.Errorf("%q is not reserved", s)
		}
	}
	for _, s := range []string{"", "apis", "my-api", "api-docs", "in"} {
		if link.Reserved(s) {
			t.Errorf("%q is reserved", s)
		}
	}
}

func TestNewSlug(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	letters := map[rune]int{}
	for range 20_000 {
		s := link.NewSlug()
		if len(s) != 7 || !link.ValidSlug(s) || strings.ContainsAny(s, "0O1Il_-") || seen[s] {
			t.Fatalf("made %q", s)
		}
		seen[s] = true
		for _, c := range s {
			letters[c]++
		}
	}
	// 140,000 draws from 57 letters: 2,456 of each, with a standard deviation of 50. Eight times that is no accident.
	if len(letters) != 57 {
		t.Errorf("%d letters occur", len(letters))
	}
	for c, n := range letters {
		if n < 2056 || n > 2856 {
			t.Errorf("%q occurs %d times", c, n)
		}
	}
}

func TestValidSlug_allocates_nothing(t *testing.T) {
	slug := []byte("some-slug_42")
	if n := testing.AllocsPerRun(100, func() { link.ValidSlug(slug) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkValidSlug(b *testing.B) {
	slug := []byte("aB3xY9z")
	for b.Loop() {
		link.ValidSlug(slug)
	}
}
