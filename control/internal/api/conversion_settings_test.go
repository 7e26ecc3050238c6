package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/store"
)

func TestConversionSettings(t *testing.T) {
	w := small(t, whole)
	const path = "/api/conversions/settings"
	first := w.do("GET", path, "", as(w.ann)).want(200)
	first.shows("clickParameter", "sl_click", "publishableKey", nil)
	tracking := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","trackConversions":true}`, as(w.ann)).want(201).str("id")
	other := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com"}`, as(w.ann)).want(201).str("id")
	revisions := func() (a, b uint64) { return w.row(tracking).Revision, w.row(other).Revision }
	tracked, plain := revisions()
	if tracked == 0 {
		t.Error("no revision")
	}

	r := w.do("PUT", path,
		`{"clickParameter":"cid","hosts":["Shop.Example.com","*.example.org","localhost","127.0.0.1","bücher.example","shop.example.com"]}`,
		as(w.ann)).want(200)
	if got := fmt.Sprint(r.at("hosts")); got != "[shop.example.com *.example.org localhost 127.0.0.1 xn--bcher-kva.example]" ||
		!strings.HasPrefix(r.str("publishableKey"), "slp_") {
		t.Errorf("after a change: %s", r.text)
	}
	// Edges learn the name of the parameter with the links that track conversions, and only these.
	if a, b := revisions(); a <= tracked || b != plain {
		t.Errorf("revisions were %d and %d, are %d and %d", tracked, plain, a, b)
	}
	u, err := w.store.FullLink(t.Context(), tracking)
	w.ok(err)
	if u.ClickParameter != "cid" {
		t.Errorf("the link has the parameter %q", u.ClickParameter)
	}
	if same := w.do("PUT", path, `{"clickParameter":"cid"}`, as(w.ann)).want(200); same.text != r.text {
		t.Errorf("an update without changes: %s, was %s", same.text, r.text)
	}

	rotated := w.do("POST", path+"/rotate-key", "", as(w.ann)).want(200)
	if rotated.str("publishableKey") == r.str("publishableKey") || rotated.str("clickParameter") != "cid" {
		t.Errorf("after a rotation: %s", rotated.text)
	}
	w.do("GET", path, "", as(w.bob)).want(200).shows("clickParameter", "sl_click")
	w.do("GET", "/api/audit-logs?action=CONVERSION_SETTINGS_UPDATED", "", as(w.root)).want(200).shows("total", 1)
	w.do("PUT", path, `{"clickParameter":null,"hosts":null}`, as(w.ann)).want(200).shows("clickParameter", "sl_click").omits("shop.example")
}

func TestConversionSettings_bad_input(t *testing.T) {
	w := small(t, func(w *world, cfg *api.Config, deps *api.Deps) { whole(w, cfg, deps) })
	many := `"` + strings.Repeat(`a.example","`, 50) + `b.example"`
	for body, field := range map[string]string{
		`{"clickParameter":"1abc"}`:                             "clickParameter",
		`{"clickParameter":"a b"}`:                              "clickParameter",
		`{"clickParameter":"` + strings.Repeat("a", 33) + `"}`:  "clickParameter",
		`{"clickParameter":"utm_source"}`:                       "clickParameter",
		`{"hosts":["shop.example.com","https://shop.example"]}`: "hosts.1",
		`{"hosts":["*.com"]}`:                                   "hosts.0",
		`{"hosts":["*"]}`:                                       "hosts.0",
		`{"hosts":[""]}`:                                        "hosts.0",
		`{"hosts":[` + many + `]}`:                              "hosts",
		`{"hosts":"shop.example.com"}`:                          "hosts",
		`{"publishableKey":"slp_mine"}`:                         "publishableKey",
	} {
		w.do("PUT", "/api/conversions/settings", body, as(w.ann)).wantField(field)
	}
	if _, err := w.store.ConversionSource(t.Context(), 1); err == nil || err != store.ErrNotFound {
		t.Errorf("a refused change left settings: %v", err)
	}
}
