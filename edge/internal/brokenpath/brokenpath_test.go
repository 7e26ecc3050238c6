package brokenpath_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/edge/internal/brokenpath"
)

func TestParsePath(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]struct {
		extended bool
		slugs    string // with spaces between them
		query    string
		preview  bool
	}{
		"/spring.":                    {slugs: "spring"},
		"/%22spr%E2%80%8Bing%2522":    {slugs: "spring"},
		"/spr%0D%0A%20ing)":           {slugs: "spring spr"},
		"/spring is here, see":        {slugs: "springishere spring"},
		"/_spring-_*":                 {slugs: "_spring-_ _spring"},
		"/my–o\ufb03ce+":              {slugs: "my-office", preview: true},
		"/spring%3Fa=1&b=2":           {slugs: "spring", query: "a=1&b=2"},
		"/spring&amp;utm_source=mail": {slugs: "spring", query: "utm_source=mail"},
		"/spring请看":                   {extended: true, slugs: "spring请看 spring"},
		"/a春/über.":                   {extended: true, slugs: "a春/über. a"},
	} {
		var g brokenpath.Guess
		if !g.ParsePath([]byte(path), want.extended) {
			t.Errorf("%s cannot be a link", path)
			continue
		}
		var slugs []string
		for _, slug := range g.Slugs() {
			if slug != nil {
				slugs = append(slugs, string(slug))
			}
		}
		if strings.Join(slugs, " ") != want.slugs || !slices.Contains(slugs, string(g.Slug())) || string(g.Query) != want.query ||
			g.Preview != want.preview {
			t.Errorf("%s: slugs %q, slug %q, query %q, preview %v", path, slugs, g.Slug(), g.Query, g.Preview)
		}
	}
}

func TestParsePath_other_paths(t *testing.T) {
	t.Parallel()
	var g brokenpath.Guess
	for _, path := range []string{"", "/", "//", "/...", "/spring.html", "/spring/a", "/%00spring", "/spring\r\x01", "/请看", "/%FF%FE",
		"/" + strings.Repeat("a", 600)} {
		if g.ParsePath([]byte(path), false) {
			t.Errorf("%q: slug %q", path, g.Slug())
		}
	}
}

// The memory of one guess serves all requests of a connection, so nothing may stay from the one before.
func TestParsePath_forgets_the_path_before(t *testing.T) {
	t.Parallel()
	var g brokenpath.Guess
	g.ParsePath([]byte("/a b%3Fc=1"), false)
	g.ParsePath([]byte("/long-slug+"), false)
	if !g.ParsePath([]byte("/x."), false) || string(g.Slug()) != "x" || g.Slugs()[0] != nil || g.Query != nil || g.Preview {
		t.Errorf("slugs %q, query %q, preview %v", g.Slugs(), g.Query, g.Preview)
	}
}

func TestParsePath_allocates_nothing(t *testing.T) {
	path := []byte("/%22spr%E2%80%8B请ing%20is%20here%3Fa=1")
	var g brokenpath.Guess
	if n := testing.AllocsPerRun(100, func() { g.ParsePath(path, true); _ = g.Slugs() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
