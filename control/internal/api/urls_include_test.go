package api_test

import (
	"strings"
	"testing"
)

// The list tells in which bundles its links are, only if it is asked, and never about bundles that the caller may not see.
func TestURLs_include_bundles(t *testing.T) {
	eachWith(t, whole, func(t *testing.T, w *world) {
		one, two := w.create("one"), w.create("two")
		bundle := w.do("POST", "/api/bundles", `{"name":"Launch","color":"#3B82F6","urlIds":["`+one+`"]}`, as(w.ann)).want(201).str("id")
		// An administrator's bundle may have links of all workspaces.
		w.do("POST", "/api/bundles", `{"name":"Secret","color":"#3B82F6","urlIds":["`+one+`","`+two+`"]}`, as(w.root)).want(201)

		if r := w.do("GET", "/api/urls", "", as(w.ann)).want(200); strings.Contains(r.text, "bundles") {
			t.Errorf("a list that does not ask has bundles: %s", r.text)
		}
		r := w.do("GET", "/api/urls?include=bundles", "", as(w.ann)).want(200).
			shows("bundles.0.id", bundle, "bundles.0.name", "Launch", "bundles.0.color", "#3B82F6", "bundles.0.urlIds.0", one)
		if n := len(r.at("bundles").([]any)); n != 1 {
			t.Errorf("%d bundles: %s", n, r.text)
		}
		w.do("GET", "/api/urls?include=clicks", "", as(w.ann)).want(400)
	})
}
