package link_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/shortline/shortline/shared/link"
	"golang.org/x/text/unicode/norm"
)

func TestSlugRules_valid(t *testing.T) {
	t.Parallel()
	one, extended := link.SlugRules{Min: 1}, link.SlugRules{Extended: true, Min: 1}
	for _, c := range []struct {
		rules link.SlugRules
		slug  string
		want  bool
	}{
		{link.SlugRules{}, "ab", false}, {link.SlugRules{}, "abc", true}, {link.SlugRules{}, "a.b", false},
		{one, "a", true}, {one, "", false},
		{link.SlugRules{Min: 2}, "a", false}, {link.SlugRules{Min: 2}, "ab", true}, {one, "é", false},
		{extended, "a", true}, {extended, "a.b", true}, {extended, "conf/2024", true}, {extended, "script.py", true}, {extended, "春", true},
		{extended, "straße", true}, {extended, "नमस्ते", true}, {extended, "日本のリンク-2", true}, {extended, "한국어", true},
		{extended, "продажа", true}, {extended, "عرض-sale", true}, {link.SlugRules{Extended: true}, "春", false},
		{link.SlugRules{Extended: true}, "春夏秋", true},
		{extended, ".a", false}, {extended, "a.", false}, {extended, "/a", false}, {extended, "a/", false}, {extended, "a//b", false},
		{extended, "a/../b", false}, {extended, "a/./b", false}, {extended, "a..b", false}, {extended, "a/.b", false},
		{extended, "a b", false},
		{extended, "a+", false}, {extended, "a%20", false}, {extended, "a?b", false}, {extended, "a#b", false}, {extended, "a\\b", false},
		{extended, "a\u200db", false}, {extended, "a\u00adb", false}, {extended, "a\ufe0f", false}, {extended, "\u0301a", false},
		{extended, "ﬁsh", false}, {extended, "ａｂｃ", false}, {extended, "№1", false}, {extended, "sаle", false} /* Cyrillic a */, {extended, "αlpha", false},
		{extended, "продаժ", false}, {extended, "👍", false}, {extended, "a\xff", false}, {extended, strings.Repeat("春", 17), false},
	} {
		slug := c.rules.Normal(c.slug)
		if got := c.rules.Valid(slug); got != c.want {
			t.Errorf("%+v %q: %v", c.rules, c.slug, got)
		}
	}
}

func TestSlugRules_normal(t *testing.T) {
	t.Parallel()
	r := link.SlugRules{Extended: true}
	for from, want := range map[string]string{
		"Spring": "Spring", "Frühling": "frühling", "FRÜHLING": "FRüHLING", "u\u0308ber": "über", "U\u0308ber": "über", "ÉTÉ": "éTé",
		"ПРОДАЖА": "продажа", "\u212b": "å",
	} {
		if want == "frühling" {
			want = "Frühling" // letters of ASCII keep their case
		}
		if got := r.Normal(from); got != want {
			t.Errorf("%q: %q instead of %q", from, got, want)
		}
	}
}

func TestSlugRules_reserves(t *testing.T) {
	t.Parallel()
	var r link.SlugRules
	for slug, want := range map[string]bool{
		"api": true, "API/x": true, "login/a": true, "c": true, "sl.js": true, "robots.txt": true, "a/verify": true, "a/b/INFO": true,
		"a/report": true, "report": false, "cc": false, "apis": false, "a/verify/b": false, "a/api": false,
	} {
		if got := r.Reserves(slug); got != want {
			t.Errorf("%q: %v", slug, got)
		}
	}
}

// The normal form is a fixed point, and every valid slug is in it.
func FuzzSlugRules(f *testing.F) {
	f.Add("Straße/ÉTÉ.x")
	f.Add("u\u0308")
	f.Fuzz(func(t *testing.T, slug string) {
		r := link.SlugRules{Extended: true, Min: 1}
		normal := r.Normal(slug)
		if again := r.Normal(normal); again != normal {
			t.Fatalf("%q: %q, then %q", slug, normal, again)
		}
		if !r.Valid(normal) {
			return
		}
		invisible := func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }
		if !norm.NFC.IsNormalString(normal) || strings.ContainsFunc(normal, invisible) {
			t.Fatalf("%q is valid", normal)
		}
		if folded := link.Fold(normal); r.Normal(folded) != folded || len(folded) != len(normal) {
			t.Fatalf("%q folds to %q", normal, folded)
		}
	})
}

// TestServe_extended_slugs_do_not_allocate (edge) counts the allocations.
func TestAppendNormal(t *testing.T) {
	for slug, want := range map[string]string{"春": "春", "über-uns": "über-uns", "ÜBER": "üBER", "u\u0308ber": "über", "U\u0308": "ü",
		"\u1100\u1161": "가", "\xff": "\ufffd", "Ⱥx": "ⱥx"} {
		if got := string(link.AppendNormal([]byte("/"), []byte(slug))); got != "/"+want {
			t.Errorf("%q: %q, want %q", slug, got, want)
		}
	}
}

func BenchmarkAppendNormal(b *testing.B) {
	room := make([]byte, 0, 2*link.MaxSlug)
	for _, slug := range []string{"spring", "春の祭り", "ÜBER-uns", "u\u0308ber-uns"} {
		b.Run(slug, func(b *testing.B) {
			b.ReportAllocs()
			for text := []byte(slug); b.Loop(); {
				link.AppendNormal(room, text)
			}
		})
	}
}
