package api_test

import (
	"strings"
	"testing"
)

// The message of an error must name the first problem, because some clients show only the message. reply.want checks
// this for every 400 in the tests of this package.
func TestAPI5_MessageCarriesTheFirstProblem(t *testing.T) {
	w := small(t, withLinks)
	id := w.create("abc")
	for _, c := range []struct{ method, path, body, message string }{
		// Problems that a use case finds.
		{"POST", "/api/urls", `{"originalUrl":"ftp://example.com"}`, "originalUrl: must be an http or https address"},
		{"PUT", "/api/urls/" + id, `{"originalUrl":"ftp://example.com","title":"` + strings.Repeat("x", 256) + `"}`,
			"originalUrl: must be an http or https address"},
		{"POST", "/api/urls", `{"originalUrl":"https://example.com","customSlug":"api"}`, "customSlug: is a reserved word"},
		{"POST", "/api/urls/" + id + "/routing-rules",
			`{"name":"x","targetUrl":"https://x.example",` +
				`"conditions":{"logicalOperator":"AND","items":[{"type":"moon","operator":"equals","value":"x"}]}}`,
			"conditions.items.0.type: "},
		// Problems that the framework finds.
		{"POST", "/api/urls", `{"originalUrl":1}`, "originalUrl: must be a string"},
		{"POST", "/api/urls", `{}`, "originalUrl: is required"},
		{"POST", "/api/urls", `{"originalUrl":"https://example.com","colour":"red"}`, "colour: is not a known property"},
		{"GET", "/api/urls?page=0", "", "page: must be at least 1"},
		// Problems that middleware finds.
		{"POST", "/api/urls", `{"originalUrl":"https://example.com","title":"\u0000"}`, "title: must not contain the character NUL"},
	} {
		r := w.do(c.method, c.path, c.body, as(w.ann)).want(400)
		if !strings.HasPrefix(r.str("message"), c.message) || strings.Contains(r.text, "alidation failed") {
			t.Errorf("%s %s: %s, want the message %q", r.what, c.body, r.text, c.message)
		}
	}
	r := w.do("PUT", "/api/urls/"+id, `{"originalUrl":"ftp://example.com","title":"`+strings.Repeat("x", 256)+`"}`, as(w.ann)).
		wantField("originalUrl", "title")
	r.shows("errors.2", nil)
}
