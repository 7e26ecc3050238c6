package sso_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/manage/sso"
)

func TestReturnPath(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"": "/", "/": "/", "/links": "/links", "/links?page=2&q=a+b#top": "/links?page=2&q=a+b#top", "/a//b": "/a//b", "/a b": "/a%20b",
		"/é?é#é": "/%C3%A9?%C3%A9#%C3%A9",
		`/a"<b>`: "/a%22%3Cb%3E", "/a?next=https://other.example/": "/a?next=https://other.example/", "/a:b@c": "/a:b@c",
		"/a%20b":  "/a%20b",
		"/100%25": "/100%25", "/?x=//y": "/?x=//y",
	} {
		if got, ok := sso.ReturnPath(raw); !ok || got != want {
			t.Errorf("%q became %q, %v, want %q", raw, got, ok, want)
		}
	}
	for _, raw := range []string{
		"//evil.example", "///evil.example", `/\evil.example`, `\\evil.example`, `\/evil.example`, "/\t/evil.example", "/\n/evil.example",
		"/\r/evil.example", "\t//evil.example", " //evil.example", "/a\x00b",
		"/%09/evil.example", "/%2f/evil.example", "/%2Fevil.example", "/%5cevil.example", "/%5C%5Cevil.example", "/./%2Fevil.example",
		"/.//evil.example", "/a/..//evil.example", "/..//evil.example", "/%2e%2e//evil.example",
		"https://evil.example", "http:evil.example", "javascript:alert(1)", "data:text/html,x", "evil.example", "?x", "#x", ".", "a/b",
		"@evil.example", "/a%0d%0aSet-Cookie:x", "/a\r\nSet-Cookie: x",
		"/%", "/%zz", "/%ff", "/\xff", "/\u2028", "/\u0085", "/\x7f", "/" + strings.Repeat("a", 2048), "/" + strings.Repeat("<", 700),
	} {
		if got, ok := sso.ReturnPath(raw); ok {
			t.Errorf("%q became %q, but leads who knows where", raw, got)
		}
	}
}

// FuzzReturnPath parses accepted paths like browsers, also after one more decoding.
func FuzzReturnPath(f *testing.F) {
	for _, seed := range []string{"/", "/a?b#c", "//e", `/\e`, "/\t/e", "/%09/e", "/%2f/e", "/.//e", "/%2e//e", "/a/..//e", "/é", "/a:b@c",
		"https://e", "/%5c", "/[::1]", "/;//e", "/?//e", "/%252f/e"} {
		f.Add(seed)
	}
	base, _ := url.Parse("https://sho.rt")
	f.Fuzz(func(t *testing.T, raw string) {
		path, ok := sso.ReturnPath(raw)
		if !ok {
			if path != "" {
				t.Fatalf("%q was refused, yet gave %q", raw, path)
			}
			return
		}
		for _, c := range []byte(path) {
			if c <= ' ' || c >= 0x7F {
				t.Fatalf("%q became %q, which no header should hold", raw, path)
			}
		}
		if again, ok := sso.ReturnPath(path); !ok || again != path {
			t.Fatalf("%q became %q and then %q, %v", raw, path, again, ok)
		}
		decoded, err := url.PathUnescape(path)
		if err != nil {
			t.Fatalf("%q: %v", path, err)
		}
		for _, text := range []string{path, decoded} {
			// URL Standard: tabs, newlines and surrounding blanks are dropped, and backslashes are slashes.
			seen := strings.Trim(strings.NewReplacer("\t", "", "\n", "", "\r", "", `\`, "/").Replace(text), "\x00\x01\x02 \x1f")
			if !strings.HasPrefix(seen, "/") || strings.HasPrefix(seen, "//") {
				t.Fatalf("%q became %q, which a browser reads as %q", raw, path, seen)
			}
		}
		u, err := url.Parse(path)
		if err != nil {
			t.Fatalf("%q became %q: %v", raw, path, err)
		}
		if to := base.ResolveReference(u); to.Scheme != "https" || to.Host != "sho.rt" || to.User != nil ||
			strings.HasPrefix(to.Path, "//") {
			t.Fatalf("%q became %q, which leads to %s", raw, path, to)
		}
	})
}
