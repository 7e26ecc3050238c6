package api_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/link"
)

// The names of the A/B test totals that existing dashboards read.
func TestAPI3_ABTestTotals(t *testing.T) {
	w := newClickWorld(t, usual(t))
	aliases := []string{"tests", "totalAbTestUrls", "totalTestClicks", "controlGroupClicks", "variantClicks", "controlGroupPercentage",
		"variantPercentage", "topPerformingVariants"}
	r := w.do("GET", "/api/analytics/ab-tests", "", as(w.bob)).want(200).has("", aliases...)
	if r.num("controlGroupClicks") != 0 || r.num("variantPercentage") != 0 || fmt.Sprint(r.at("topPerformingVariants")) != "[]" {
		t.Errorf("without tests: %s", r.text)
	}
	one, two, other := w.create("one"), w.create("two"), w.create("other")
	a, b, c, gone := w.variant(one, "a"), w.variant(one, "b"), w.variant(two, "c"), w.variant(two, "gone")
	rule := w.do("POST", "/api/urls/"+one+"/routing-rules",
		`{"name":"r","targetUrl":"https://r.example",`+
			`"conditions":{"operator":"AND","conditions":[{"type":"country","operator":"equals","value":"DE"}]}}`, as(w.ann)).
		want(201).str("id")
	visit := func(n int, url string, change func(*click.Event)) {
		for range n {
			w.click(url, "2026-03-10T12:00:00Z", 1, change)
		}
	}
	drawn := func(id string) func(*click.Event) {
		return func(e *click.Event) { e.Variant = link.ID(uuid.MustParse(id)) }
	}
	visit(1, one, drawn(a))
	visit(3, one, drawn(b))
	visit(2, two, drawn(c))
	visit(5, two, drawn(gone))
	visit(4, one, nil) // no variant and no rule
	visit(1, two, nil)
	visit(7, one, func(e *click.Event) { e.Rule = link.ID(uuid.MustParse(rule)) })
	visit(1, one, bot)
	visit(6, other, nil) // a link without a test
	w.do("DELETE", "/api/urls/"+two+"/variants/"+gone, "", as(w.ann)).want(204)

	r = w.do("GET", "/api/analytics/ab-tests", "", as(w.ann)).want(200).has("", aliases...).has("topPerformingVariants.0", "urlDomain",
		"urlSlug", "variantName", "clicks", "clickThroughRate")
	r.shows("totalTestClicks", 6, "variantClicks", 6, "controlGroupClicks", 5, "variantPercentage", 54.5, "controlGroupPercentage", 45.5)
	if got := fmt.Sprint(r.at("topPerformingVariants")); got !=
		"[map[clickThroughRate:75 clicks:3 urlDomain:sho.rt urlSlug:one variantName:b] map[clickThroughRate:100 clicks:2 urlDomain:sho.rt "+
			"urlSlug:two variantName:c] map[clickThroughRate:25 clicks:1 urlDomain:sho.rt urlSlug:one variantName:a]]" {
		t.Error(got)
	}
	w.do("GET", "/api/analytics/ab-test?limit=1", "", as(w.root)).want(200).has("", aliases...).
		shows("topPerformingVariants.0.variantName", "b", "topPerformingVariants.1", nil)
}

// Only an ADMIN sees the owners of other users' links.
func TestAPI3_OwnersOfLinks(t *testing.T) {
	w := small(t, withLinks)
	w.do("PUT", "/api/auth/me", `{"name":"Ann A."}`, as(w.ann)).want(200)
	anns := w.create("anns")
	bobs := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","customSlug":"bobs"}`, as(w.bob)).want(201).str("id")
	roots := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","customSlug":"roots"}`, as(w.root)).want(201).has("",
		urlNames...).str("id")
	with := append([]string{"createdByName", "createdByEmail"}, urlNames...)
	owner := func(r *reply, at, name, email string) {
		t.Helper()
		if at != "" {
			at += "."
		}
		r.shows(at+"createdByName", name, at+"createdByEmail", email)
	}
	owner(w.do("GET", "/api/urls/"+anns, "", as(w.root)).want(200).has("", with...), "", "Ann A.", userMail)
	owner(w.do("GET", "/api/urls/"+bobs, "", as(w.root)).want(200).has("", with...), "", "", otherMail)
	owner(w.do("PUT", "/api/urls/"+anns, `{"title":"x"}`, as(w.root)).want(200).has("", with...), "", "Ann A.", userMail)
	w.do("GET", "/api/urls/"+roots, "", as(w.root)).want(200).has("", urlNames...)
	w.do("GET", "/api/urls/"+anns, "", as(w.ann)).want(200).has("", urlNames...)
	list := w.do("GET", "/api/urls?sortBy=createdAt&sortOrder=asc", "", as(w.root)).want(200).has("data.0", with...).has("data.1", with...).
		has("data.2", urlNames...)
	owner(list, "data.0", "Ann A.", userMail)
	owner(list, "data.1", "", otherMail)
	w.do("GET", "/api/urls", "", as(w.ann)).want(200).has("data.0", urlNames...)
}
