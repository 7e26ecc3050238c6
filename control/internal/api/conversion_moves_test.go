package api_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/manage/privacy"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/conversion"
)

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
		if got := w.do("POST", conversionsPath, `{"clickId":"`+id+`","name":"`+name+`","value":2,"currency":"EUR"}`, by).want(202).
			verdicts(); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
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
