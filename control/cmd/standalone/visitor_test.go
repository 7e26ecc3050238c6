package main_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	shortline "github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// The control plane documents the paths that edges serve, but shares no code with edges. The response of a real edge
// must have exactly the documented properties.
func TestOps12_visitor_paths_respond_as_documented(t *testing.T) {
	t.Parallel()
	_, c := shared(t)
	u := c.link(shortline.CreateLink{OriginalURL: "https://example.com/", Password: shortline.Set("open sesame")})
	var doc struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	c.Do("GET", "/api/openapi.json", nil, http.StatusOK, &doc)
	var info, opened, refused map[string]any
	c.Do("GET", "/"+u.Slug+"/info", nil, http.StatusOK, &info)
	c.Do("POST", "/"+u.Slug+"/verify", map[string]string{"password": "open sesame"}, http.StatusOK, &opened)
	c.Do("GET", "/"+strings.Repeat("x", 9)+"/info", nil, http.StatusNotFound, &refused)
	for name, got := range map[string]map[string]any{"LinkInfo": info, "LinkOpened": opened, "Answer": refused} {
		documented := doc.Components.Schemas[name].Properties
		optional := []string{"code", "values", "errors", "counts", "current", "changed", "requestId"}
		for property := range got {
			if _, ok := documented[property]; !ok {
				t.Errorf("%s: the edge sends %q, which is not documented", name, property)
			}
		}
		for property := range documented {
			if _, ok := got[property]; !ok && !slices.Contains(optional, property) {
				t.Errorf("%s: %q is documented, but the edge did not send it: %v", name, property, got)
			}
		}
	}
}

// A limit counts the clicks from before a deletion, and before it was raised or lowered.
func TestE2E_maxClicks_survives_the_trash(t *testing.T) {
	t.Parallel()
	p, c := shared(t)
	u := c.link(shortline.CreateLink{OriginalURL: destination, MaxClicks: shortline.Set(3)})
	follow := func(want int) {
		t.Helper()
		if status, _ := p.follow(u.Slug, visitor); status != want {
			t.Fatalf("a visit gets %d, want %d", status, want)
		}
	}
	follow(http.StatusFound)
	follow(http.StatusFound)
	testkit.Must(t, c.Links.Delete(t.Context(), u.ID, shortline.DeleteLinkParams{}))
	follow(http.StatusNotFound)
	_, err := c.Links.Restore(t.Context(), u.ID, shortline.RestoreLink{})
	testkit.Must(t, err)
	follow(http.StatusFound)
	follow(http.StatusGone)
	exhausted := func() {
		t.Helper()
		testkit.Eventually(t, "the link is exhausted", func() bool { return c.now(u.ID).Status == shortline.LinkStatusExhausted })
	}
	limit := func(clicks int) {
		t.Helper()
		_, err := c.Links.Update(t.Context(), u.ID, shortline.UpdateLink{MaxClicks: shortline.Set(clicks)})
		testkit.Must(t, err)
	}
	exhausted()
	limit(5)
	follow(http.StatusFound)
	follow(http.StatusFound)
	follow(http.StatusGone)
	limit(100)
	follow(http.StatusFound)
	limit(6)
	follow(http.StatusGone)
	exhausted()
}
