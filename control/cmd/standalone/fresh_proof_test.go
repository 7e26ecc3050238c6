//go:build proof

package main_test

import (
	"fmt"
	"net/http"
	"testing"
)

// The most frequent changes, FRESH_ROUNDS times each (10,000 by default): no visit after the API's answer gets what was before.
func TestAPI1_many_changes_then_visit(t *testing.T) {
	rounds := number(t, "FRESH_ROUNDS", 10_000)
	t.Run("create", func(t *testing.T) {
		f := newChanger(t)
		f.each(rounds, func(_, i int) {
			slug, to := fmt.Sprintf("made-%d", i), fmt.Sprintf("https://example.com/%d", i)
			f.create(slug, to)
			f.visit(slug, http.StatusFound, to)
		})
	})
	t.Run("change a rule", func(t *testing.T) {
		f := newChanger(t)
		var paths [4]string
		for w := range paths {
			u := f.create(fmt.Sprintf("ruled-%d", w), "https://example.com/plain")
			var rule struct{ ID string }
			body := map[string]any{"name": "all", "targetUrl": "https://example.com/first", "conditions": everyRequest}
			f.call("POST", "/api/urls/"+u.ID+"/routing-rules", body, 201, &rule)
			paths[w] = "/api/urls/" + u.ID + "/routing-rules/" + rule.ID
		}
		f.each(rounds, func(w, i int) {
			to := fmt.Sprintf("https://example.com/rule/%d", i)
			f.call("PUT", paths[w], map[string]any{"targetUrl": to}, 200, nil)
			f.visit(fmt.Sprintf("ruled-%d", w), http.StatusFound, to)
		})
	})
	t.Run("delete", func(t *testing.T) {
		f := newChanger(t)
		f.each(rounds, func(_, i int) {
			slug := fmt.Sprintf("gone-%d", i)
			u := f.create(slug, "https://example.com/")
			f.call("DELETE", "/api/urls/"+u.ID, nil, 204, nil)
			f.visit(slug, http.StatusNotFound, "")
		})
	})
}
