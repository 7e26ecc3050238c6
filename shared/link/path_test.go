package link_test

import (
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/link"
)

func TestAppendPath(t *testing.T) {
	for _, c := range []struct{ destination, path, want string }{
		{"https://example.com", "/a/b", "https://example.com/a/b"},
		{"https://example.com/", "/a/b", "https://example.com/a/b"},
		{"https://example.com/docs", "/a/b", "https://example.com/docs/a/b"},
		{"https://example.com/docs/", "/a/", "https://example.com/docs/a/"},
		{"https://example.com/docs?x=1#part", "/a", "https://example.com/docs/a?x=1#part"},
		{"https://example.com?x=/y/", "/a", "https://example.com/a?x=/y/"},
		{"https://example.com#/app", "/a", "https://example.com/a#/app"},
		{"https://user@example.com:8080/x", "//a", "https://user@example.com:8080/x//a"},
		{"https://example.com/x", "/a%2Fb%20c", "https://example.com/x/a%2Fb%20c"},
		{"https://example.com/x", "/100%", "https://example.com/x/100%25"},
		{"https://example.com/x", "/%zz%4", "https://example.com/x/%25zz%254"},
		{"https://example.com/x", "/ä\\\"<>", "https://example.com/x/%C3%A4%5C%22%3C%3E"},
		{"https://example.com/x", "/a:b@c;d=e,f", "https://example.com/x/a:b@c;d=e,f"},
		{"myapp://open/page", "/a", "myapp://open/page/a"},
		{"mailto:somebody@example.com", "/a", "mailto:somebody@example.com"},
	} {
		if got := string(link.AppendPath(nil, c.destination, []byte(c.path))); got != c.want {
			t.Errorf("%s and %s: %s instead of %s", c.destination, c.path, got, c.want)
		}
	}
}

func TestForwardable(t *testing.T) {
	for path, want := range map[string]bool{
		"": true, "/": true, "/a/b": true, "/a.b/..c": true, "/...": true, "/a%20b": true,
		"/.": false, "/a/..": false, "/../a": false, "/%2e%2e/a": false, "/%252e%2e/a": false, "/a%2f..": false, "/..\\a": false, "/..;x/a": false,
		"/a\x00": false, "/a%0d%0a": false, "/a%7f": false,
	} {
		if link.Forwardable([]byte(path)) != want {
			t.Errorf("%q: %t", path, !want)
		}
	}
}

func FuzzAppendPath(f *testing.F) {
	f.Add("/a/b?c#d")
	f.Add("//evil.example/%2e%2e\r\nX: y")
	f.Fuzz(func(t *testing.T, path string) {
		got := string(link.AppendPath(nil, "https://example.com/app?x=1#y", []byte("/"+path)))
		middle, begins := strings.CutPrefix(got, "https://example.com/app/")
		middle, ends := strings.CutSuffix(middle, "?x=1#y")
		if !begins || !ends || strings.ContainsAny(middle, "?# \r\n\x00\\") {
			t.Fatalf("%q gives %q", path, got)
		}
	})
}
