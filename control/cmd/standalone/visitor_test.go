package main_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// The control plane documents the paths that edges serve, but shares no code with edges. The response of a real edge
// must have exactly the documented properties.
func TestOps12_visitor_paths_respond_as_documented(t *testing.T) {
	t.Parallel()
	_, c := shared(t)
	u := c.CreateURL("https://example.com/", map[string]any{"password": "open sesame"})
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
	u := c.CreateURL(destination, map[string]any{"maxClicks": 3})
	follow := func(want int) {
		t.Helper()
		if status, _ := p.follow(u.Slug, visitor); status != want {
			t.Fatalf("a visit gets %d, want %d", status, want)
		}
	}
	follow(http.StatusFound)
	follow(http.StatusFound)
	c.Do("DELETE", "/api/urls/"+u.ID, nil, 204, nil)
	follow(http.StatusNotFound)
	c.Do("POST", "/api/urls/"+u.ID+"/restore", map[string]any{}, 200, nil)
	follow(http.StatusFound)
	follow(http.StatusGone)
	status := func(want string) {
		t.Helper()
		testkit.Eventually(t, "the link is "+want, func() bool {
			var got struct{ Status string }
			c.Do("GET", "/api/urls/"+u.ID, nil, 200, &got)
			return got.Status == want
		})
	}
	status("EXHAUSTED")
	c.Do("PUT", "/api/urls/"+u.ID, map[string]any{"maxClicks": 5}, 200, nil)
	follow(http.StatusFound)
	follow(http.StatusFound)
	follow(http.StatusGone)
	c.Do("PUT", "/api/urls/"+u.ID, map[string]any{"maxClicks": 100}, 200, nil)
	follow(http.StatusFound)
	c.Do("PUT", "/api/urls/"+u.ID, map[string]any{"maxClicks": 6}, 200, nil)
	follow(http.StatusGone)
	status("EXHAUSTED")
}
