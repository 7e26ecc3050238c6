package api_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/convert"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/link"
)

// Each case is a member of an item that is otherwise right. The answer is a verdict with the field, or a 400 with the field.
func TestConversions_every_value_of_an_item(t *testing.T) {
	w := small(t, whole)
	mine := w.newLink(w.ann)
	later, earlier := time.Now().Add(time.Hour).UTC().Format(time.RFC3339), time.Now().Add(-25*time.Hour).UTC().Format(time.RFC3339)
	const bad400 = "400:"
	tag, accepted := uint64(0), 0
	for _, c := range [][2]string{
		{`"value":0`, "accepted"}, {`"value":null`, "accepted"}, {`"value":0.0001`, "accepted"}, {`"value":49.900000`, "accepted"},
		{`"value":1000000000`, "accepted"},
		{`"value":12.5`, "accepted"}, {`"value":-0.01`, "invalid:value"}, {`"value":-1e400`, "invalid:value"},
		{`"value":1e400`, "invalid:value"},
		{`"value":1E2`, "invalid:value"},
		{`"value":1000000000.0001`, "invalid:value"}, {`"value":` + strings.Repeat("9", 400), "invalid:value"},
		{`"value":0.00001`, "invalid:value"},
		{`"value":"12"`, "invalid:value"}, {`"value":true`, "invalid:value"}, {`"value":{}`, "invalid:value"},
		{`"value":[1]`, "invalid:value"},
		{`"value":NaN`, bad400}, {`"value":Infinity`, bad400}, {`"value":01`, bad400}, {`"value":.5`, bad400},
		{`"value":` + strings.Repeat("[", 100) + strings.Repeat("]", 100), bad400},
		{`"currency":"eur","value":1`, "accepted"}, {`"currency":"EUR"`, "accepted"}, {`"currency":""`, "accepted"},
		{`"currency":"QQQ"`, "invalid:currency"}, {`"currency":"EURO"`, "invalid:currency"},
		{`"currency":"€"`, "invalid:currency"}, {`"currency":" EUR"`, "invalid:currency"}, {`"currency":"E\u0000R"`, "invalid:currency"},
		{`"currency":978`, bad400 + "currency"},
		{`"occurredAt":""`, "accepted"}, {`"occurredAt":"` + later + `"`, "in_future:occurredAt"},
		{`"occurredAt":"` + earlier + `"`, "before_click:occurredAt"}, {`"occurredAt":"9999-12-31T23:59:59Z"`, "in_future:occurredAt"},
		{`"occurredAt":"0000-01-01T00:00:00Z"`, "before_click:occurredAt"}, {`"occurredAt":"yesterday"`, "invalid:occurredAt"},
		{`"occurredAt":"2026-01-31"`, "invalid:occurredAt"},
		{`"occurredAt":"2026-02-30T00:00:00Z"`, "invalid:occurredAt"}, {`"occurredAt":1767225600`, bad400 + "occurredAt"},
		{`"name":"` + strings.Repeat("ä", 64) + `"`, "accepted"}, {`"name":"登録"`, "accepted"}, {`"name":""`, "invalid:name"},
		{`"name":null`, "invalid:name"}, {`"name":"` + strings.Repeat("a", 65) + `"`, "invalid:name"},
		{`"name":"a\u0000b"`, "invalid:name"}, {`"name":"a\nb"`, "invalid:name"}, {`"name":"a\u202eb"`, "invalid:name"},
		{`"name":" a"`, "invalid:name"}, {`"name":"<b>"`, "invalid:name"},
		{`"name":"💰"`, "invalid:name"}, {"\"name\":\"a\xff\"", "invalid:name"}, {`"name":7`, bad400 + "name"},
		{`"externalId":"` + strings.Repeat("ä", 128) + `"`, "accepted"}, {`"externalId":"` + strings.Repeat("1", 1000) + `"`,
			"invalid:externalId"}, {`"externalId":"a\u0000"`, "invalid:externalId"},
		{`"externalId":"a\tb"`, "invalid:externalId"}, {`"repeatable":true`, "invalid:externalId"},
		{`"repeatable":1`, bad400 + "repeatable"},
		{`"externalId":[]`, bad400 + "externalId"},
		{`"clickId":""`, "invalid:clickId"}, {`"clickId":null`, "invalid:clickId"}, {`"clickId":"` + strings.Repeat("A", 100_000) + `"`,
			"malformed:clickId"}, {`"clickId":{}`, bad400 + "clickId"},
		{`"Name":"a"`, bad400 + "Name"}, {`"a\u0000":1`, bad400}, {`"name":"a","name":"b"`, "accepted"},
	} {
		tag++
		item := `{"clickId":"` + w.clickID(mine, 24*time.Hour, tag, conversionSecret) + `","name":"purchase",` + c[0] + `}`
		before := len(w.queue.carried)
		r := w.do("POST", conversionsPath, item, as(w.ann))
		short := c[0][:min(len(c[0]), 40)]
		if field, refused := strings.CutPrefix(c[1], bad400); refused {
			if r.want(400); field != "" {
				r.wantField(field)
			}
		} else if got := r.want(202).verdicts(); got != c[1] || c[1] != "accepted" && r.str("results.0.message") == "" {
			t.Errorf("%s: %s, want %s: %s", short, got, c[1], r.text)
		}
		if c[1] == "accepted" {
			accepted++
			before++
		}
		if len(w.queue.carried) != before {
			t.Errorf("%s: %d conversions were handed on, want %d", short, len(w.queue.carried), before)
		}
	}
	// As everywhere in the API, the last of several members with one name counts.
	if last := w.queue.carried[len(w.queue.carried)-1]; last.Name != "b" || accepted < 10 {
		t.Errorf("the item with two names: %+v, of %d accepted", last, accepted)
	}
}

// A batch with one wrong item: a wrong value has a verdict and the others count. If the form is wrong, nothing counts, and the
// answer names the item or the line.
func TestConversions_one_wrong_item_of_many(t *testing.T) {
	w := small(t, whole)
	mine := w.newLink(w.ann)
	lines := both(as(w.ann), with("Content-Type", "application/x-ndjson"))
	batch := func(seventh string) string {
		var list []string
		for tag := range uint64(10) {
			item := `{"clickId":"` + w.clickID(mine, time.Hour, tag, conversionSecret) + `","name":"a"}`
			if tag == 6 {
				item = seventh
			}
			list = append(list, item)
		}
		return strings.Join(list, "\n")
	}
	for _, broken := range []string{`{"clickId":`, `{"clickId":"x"} {"clickId":"y"}`, `clickId=x`, `{"value":NaN}`} {
		w.do("POST", conversionsPath, batch(broken), lines).wantField("items[6]").says("line 7")
	}
	for _, wrong := range []string{`7`, `null`, `[]`, `"x"`} {
		w.do("POST", conversionsPath, batch(wrong), lines).wantField("items[6]")
	}
	w.do("POST", conversionsPath, batch(`{"name":1}`), lines).wantField("items[6].name")
	w.do("POST", conversionsPath, batch(`{"foo":1}`), lines).wantField("items[6].foo")
	// Lines without anything are no items, but they are lines.
	if r := w.do("POST", conversionsPath, "\n\n"+batch(`{`), lines).wantField("items[6]"); !strings.Contains(r.text, "line 7") &&
		!strings.Contains(r.text, "line 9") {
		t.Errorf("the answer does not name the line: %s", r.text)
	}
	if len(w.queue.carried) != 0 {
		t.Fatalf("refused requests left %d conversions", len(w.queue.carried))
	}
	r := w.do("POST", conversionsPath, batch(`{"clickId":"x","name":"a","value":"12"}`), lines).want(202)
	if r.num("accepted") != 9 || r.num("rejected") != 1 || r.str("results.6.verdict") != "invalid" || len(w.queue.carried) != 9 {
		t.Errorf("a wrong value among ten items: %s", r.text)
	}
}

// stored makes conversions of the API arrive in a click store as in production: through a Desk and an Ingester.
func stored(clicks func(*world) analytics.Store) func(*world, *api.Config, *api.Deps) {
	return func(w *world, cfg *api.Config, deps *api.Deps) {
		whole(w, cfg, deps)
		into := clicks(w)
		in := convert.NewIngester(convert.IngestConfig{Logger: cfg.Logger}, w.store, into)
		send := func(ctx context.Context, list []conversion.Conversion) error {
			b := click.Batch{Lane: click.Lane{Edge: 9, Epoch: 1}, First: 1, Count: len(list)}
			for i := range list {
				e := list[i].Event()
				e.Seq = uint64(i + 1)
				b.Records = click.AppendRecord(b.Records, &e)
			}
			return in.Deliver(ctx, &b)
		}
		deps.Conversions = convert.New(convert.Config{Queue: convert.QueueFunc(send), Secrets: [][]byte{conversionSecret},
			Logger: cfg.Logger},
			w.store, into)
	}
}

// Values of several currencies, and values without one, are never added to each other.
func TestConversions_mixed_currencies(t *testing.T) {
	w := small(t, stored(func(w *world) analytics.Store { return w.clicks }))
	mine := w.newLink(w.ann)
	variants := []string{w.variant(mine, "A"), w.variant(mine, "B")}
	u := w.row(mine)
	keys, err := conversion.NewKeys(conversion.Derive([][]byte{conversionSecret}, conversion.Period(time.Now().UnixMilli()),
		conversion.Period(time.Now().UnixMilli())))
	w.ok(err)
	var rows []analytics.Row
	var items []string
	for i, money := range []string{`"value":10,"currency":"EUR"`, `"value":20.5,"currency":"eur"`, `"value":7,"currency":"USD"`,
		`"value":1`,
		`"currency":"CHF"`} {
		r := analytics.Row{Identity: analytics.Identity{Lane: click.Lane{Edge: 4, Epoch: 1}, Seq: uint64(i + 1)},
			Time: time.Now().UnixMilli(),
			Link: u.Num, Owner: u.Workspace, Variant: link.ID(uuid.MustParse(variants[i%2]))}
		id, _ := conversion.ClickID{Link: r.Link, Time: r.Time, Tag: conversion.TagOf(r.Lane, r.Seq)}.Append(nil, keys)
		rows, items = append(rows, r), append(items, `{"clickId":"`+string(id)+`","name":"purchase",`+money+`}`)
	}
	w.ok(w.clicks.Insert(t.Context(), analytics.Batch{Rows: rows}))
	w.do("POST", conversionsPath, "["+strings.Join(items, ",")+"]", as(w.ann)).want(202).shows("accepted", 5)
	const revenue = `"revenue":[{"currency":"","amount":1},{"currency":"CHF","amount":0},{"currency":"EUR","amount":30.5},{"currency":"USD","amount":7}]`
	for _, path := range []string{"/api/urls/" + mine + "/goals", "/api/analytics/urls/" + mine + "?goal=purchase"} {
		w.do("GET", path, "", as(w.ann)).want(200).says(revenue)
	}
	r := w.do("GET", "/api/urls/"+mine+"/experiment?goal=purchase", "", as(w.ann)).want(200)
	if r.str("currency") != "EUR" || r.at("mixedCurrencies") != true || r.num("arms.0.revenue")+r.num("arms.1.revenue") != 30.5 {
		t.Errorf("the experiment: %s", r.text)
	}
}

// Two control planes on one database and one click store get the same conversion 200 times at once. It counts once, and nobody
// gets an error.
func TestConversions_same_one_at_two_control_planes(t *testing.T) {
	t.Parallel()
	address := storetest.RuntimeURL(t, storetest.PostgresURL(t))
	w := newWorld(t, opened(t, address, 8), stored(func(w *world) analytics.Store { return w.clicks }))
	other := replica(w, opened(t, address, 8), stored(func(*world) analytics.Store { return w.clicks }))
	mine := w.newLink(w.ann)
	item := `{"clickId":"` + w.clickID(mine, time.Hour, 1, conversionSecret) +
		`","name":"purchase","value":3,"currency":"EUR","externalId":"1"}`
	var accepted atomic.Int64
	atOnce(200, func(i int) *reply {
		r := []*world{w, other}[i%2].do("POST", conversionsPath, item, as(w.ann))
		if r.StatusCode != 202 || r.verdicts() != "accepted" && r.verdicts() != "duplicate" {
			t.Errorf("status %d: %s", r.StatusCode, r.text)
		} else if r.verdicts() == "accepted" {
			accepted.Add(1)
		}
		return r
	})
	if accepted.Load() == 0 {
		t.Error("none was accepted")
	}
	r := w.do("GET", "/api/urls/"+mine+"/goals", "", as(w.ann)).want(200)
	if r.num("total") != 1 || r.num("data.0.conversions") != 1 || r.num("data.0.revenue.0.amount") != 3 {
		t.Errorf("%d were accepted, the goals are %s", accepted.Load(), r.text)
	}
	if got := w.do("POST", conversionsPath, item, as(w.ann)).want(202).verdicts(); got != "duplicate" {
		t.Errorf("afterwards: %s", got)
	}
}
