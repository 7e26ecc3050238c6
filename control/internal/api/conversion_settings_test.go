package api_test

import (
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/manage/privacy"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/conversion"
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

// converted stores a click of a link and returns its id.
func (w *world) converted(url string, seq uint64, address string) string {
	w.t.Helper()
	u := w.row(url)
	r := analytics.Row{Identity: analytics.Identity{Lane: click.Lane{Edge: 4, Epoch: 1}, Seq: seq}, Time: time.Now().UnixMilli(),
		Link:  u.Num,
		Owner: u.Workspace, IP: netip.MustParseAddr(address), UserAgent: "Netscape", Country: "DE"}
	w.ok(w.clicks.Insert(w.t.Context(), analytics.Batch{Rows: []analytics.Row{r}}))
	period := conversion.Period(r.Time)
	keys, err := conversion.NewKeys(conversion.Derive([][]byte{conversionSecret}, period, period))
	w.ok(err)
	id, _ := conversion.ClickID{Link: r.Link, Time: r.Time, Tag: conversion.TagOf(r.Lane, r.Seq)}.Append(nil, keys)
	return string(id)
}

// Conversions belong to the workspace that has the link now. They survive the trash and the erasure of a visitor.
func TestConversions_when_links_and_clicks_change(t *testing.T) {
	configure := func(w *world, cfg *api.Config, deps *api.Deps) {
		stored(func(w *world) analytics.Store { return w.clicks })(w, cfg, deps)
		deps.Privacy = privacy.New(w.store, w.clicks)
	}
	w := small(t, configure)
	team := w.do("POST", "/api/workspaces", `{"name":"A team"}`, as(w.ann)).want(201).str("id")
	there := both(as(w.ann), with("X-Workspace", team))
	const scoped = `{"name":"shop","scopes":["conversions:write"]}`
	old := as(w.do("POST", "/api/api-keys", scoped, as(w.ann)).want(201).str("key"))
	present := as(w.do("POST", "/api/api-keys", scoped, there).want(201).str("key"))
	mine := w.newLink(w.ann)
	id := w.converted(mine, 1, "203.0.113.9")
	send := func(name string, by option, want string) {
		t.Helper()
		w.converts(by, `{"clickId":"`+id+`","name":"`+name+`","value":2,"currency":"EUR"}`, want)
	}
	goals := func(by option, want float64) {
		t.Helper()
		w.do("GET", "/api/urls/"+mine+"/goals", "", by).want(200).shows("total", want)
	}
	send("before", old, "accepted")
	send("before", present, "foreign:clickId")

	w.do("POST", "/api/urls/transfer", transferring(team, mine), as(w.ann)).want(200)
	send("after", old, "foreign:clickId")
	send("after", present, "accepted")
	send("before", present, "duplicate")
	goals(there, 2)
	w.do("GET", "/api/urls/"+mine+"/goals", "", as(w.bob)).want(404)
	if r := w.do("GET", "/api/urls/"+mine+"/conversions", "", there).want(200); r.num("total") != 2 ||
		r.str("data.1.country") != r.str("data.0.country") || r.str("data.0.country") == "Unknown" {
		t.Errorf("the conversions of the moved link: %s", r.text)
	}

	w.do("DELETE", "/api/urls/"+mine, "", there).want(204)
	send("in the trash", present, "foreign:clickId")
	w.do("POST", "/api/urls/"+mine+"/restore", `{}`, there).want(200)
	send("after", present, "duplicate")
	send("restored", present, "accepted")
	goals(there, 3)

	w.do("POST", "/api/privacy/erase", `{"ip":"203.0.113.9"}`, as(w.root)).want(200).shows("clicks", 1)
	goals(there, 3)
	w.ok(w.clicks.EachConversion(t.Context(), analytics.Scope{}, "", 10, func(c *analytics.Conversion) error {
		if c.Row.IP.IsValid() || c.Row.UserAgent != "" || c.Row.Country != "DE" || !c.Attributed {
			t.Errorf("erased: %+v", c)
		}
		return nil
	}))
	send("erased", present, "accepted")
	w.ok(w.clicks.EachConversion(t.Context(), analytics.Scope{}, "erased", 10, func(c *analytics.Conversion) error {
		if c.Row.IP.IsValid() || !c.Attributed {
			t.Errorf("sent after the erasure: %+v", c)
		}
		return nil
	}))
	goals(there, 4)
}

// accepted sends bodies at the same time, and counts the items that were accepted. All others must be duplicates.
func (w *world) accepted(bodies ...string) int64 {
	w.t.Helper()
	var n atomic.Int64
	var work sync.WaitGroup
	for _, body := range bodies {
		work.Go(func() {
			r := w.do("POST", conversionsPath, body, as(w.ann)).want(202)
			n.Add(int64(r.num("accepted")))
			if strings.Count(r.text, `"duplicate"`) != int(r.num("rejected")) {
				w.t.Errorf("other verdicts: %s", r.text)
			}
		})
	}
	work.Wait()
	return n.Load()
}

// A conversion is accepted once, although the click store has not got it yet: in the next request, in one of many at once, and in
// lists that have it in another order. If it could not be handed on, the next request is accepted.
func TestB2_a_repeated_conversion_is_a_duplicate(t *testing.T) {
	w := small(t, whole)
	mine := w.newLink(w.ann)
	item := func(tag int) string {
		return `{"clickId":"` + w.clickID(mine, time.Hour, uint64(tag), conversionSecret) + `","name":"a"}`
	}
	one := item(1)
	w.queue.down = true
	w.do("POST", conversionsPath, one, as(w.ann)).want(503)
	w.queue.down = false
	if first, next := w.accepted(one), w.accepted(one); first != 1 || next != 0 {
		t.Errorf("accepted %d, then %d", first, next)
	}
	two, three := item(2), item(3)
	var bodies []string
	for range 8 {
		bodies = append(bodies, "["+two+","+three+"]", "["+three+","+two+"]")
	}
	if n := w.accepted(bodies...); n != 2 {
		t.Errorf("%d of 2 conversions in 16 requests were accepted", n)
	}
}

// A number (externalId) counts once within a workspace and a name, whichever click it comes with, also for goals that repeat, and
// in requests at the same time. The same request again is not refused because of its own number.
func TestB3_a_number_is_accepted_with_one_click(t *testing.T) {
	eachWith(t, whole, func(t *testing.T, w *world) {
		mine := w.newLink(w.ann)
		tag := uint64(0)
		item := func(name, number, more string) string {
			tag++
			return fmt.Sprintf(`{"clickId":%q,"name":%q,"externalId":%q%s}`, w.clickID(mine, time.Hour, tag, conversionSecret), name,
				number, more)
		}
		first := item("purchase", "order-1", "")
		w.queue.down = true
		w.do("POST", conversionsPath, first, as(w.ann)).want(503)
		w.queue.down = false
		if n := w.accepted(first); n != 1 {
			t.Error("the order was not accepted after a failure")
		}
		w.converts(as(w.ann), item("purchase", "order-1", ""), "duplicate:externalId") // with another click
		for _, more := range []string{"", `,"repeatable":true`} {
			var bodies []string
			for range 16 {
				bodies = append(bodies, item("purchase", "order-2"+more, more))
			}
			if n := w.accepted(bodies...); n != 1 {
				t.Errorf("%d of 16 clicks with one number were accepted%s", n, more)
			}
		}
		twice := "[" + item("purchase", "order-3", "") + "," + item("purchase", "order-3", "") + "]"
		if n := w.accepted(twice, item("refund", "order-1", ""), item("purchase", "order-4", "")); n != 3 {
			t.Errorf("%d conversions were accepted, want one of each number and name", n)
		}
		counts := map[conversion.ClickID]int{}
		for _, c := range w.queue.carried {
			counts[c.Click]++
		}
		if len(w.queue.carried) != 6 || len(counts) != 6 {
			t.Errorf("handed on %+v", w.queue.carried)
		}
	})
}
