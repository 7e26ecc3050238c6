package main_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testkit"
)

// The control plane documents the paths that edges serve, but shares no code with edges. The response of a real edge
// must have exactly the documented properties.
func TestOps12_visitor_paths_respond_as_documented(t *testing.T) {
	t.Parallel()
	p := start(t)
	c := p.Login()
	u := c.CreateURL("https://example.com/", map[string]any{"password": "open sesame"})
	testkit.Within(t, time.Second, "the edge knows the link", func() bool { status, _ := p.follow(u.Slug, nil); return status == http.StatusOK })
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
		optional := []string{"errors", "counts", "current", "requestId"}
		for property := range got {
			if _, ok := documented[property]; !ok {
				t.Errorf("%s: the edge sends %q, which is not documented", name, property)
			}
		}
		for property := range documented {
			if _, ok := got[property]; !ok && !slices.Contains(optional, property) {
				t.Errorf("%s: %q is documented, but the edge did not send it: %s", name, property, must(json.Marshal(got)))
			}
		}
	}
}

func must(b []byte, err error) string {
	if err != nil {
		return err.Error()
	}
	return string(b)
}
