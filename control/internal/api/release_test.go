package api_test

import (
	"runtime"
	"testing"
)

// Everybody who has signed in may know which release answers, and so may every key. Strangers only learn the
// release, from the document of the API.
func TestVersion(t *testing.T) {
	w := small(t, nil)
	w.do("GET", "/api/version", "").want(401)
	key, _ := w.makeKey(w.ann, `"scopes":["conversions:write"]`)
	for name, who := range map[string]option{"an administrator": as(w.root), "a user": as(w.ann), "a key with a scope": key} {
		r := w.do("GET", "/api/version", "", who).want(200)
		r.shows("version", "dev", "commit", nil, "date", nil, "go", runtime.Version())
		if t.Failed() {
			t.Fatal(name)
		}
	}
	w.do("GET", "/api/openapi.json", "").want(200).shows("info.x-build", "dev")
}
