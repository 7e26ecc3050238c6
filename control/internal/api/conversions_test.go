package api_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
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
	"github.com/shortline/shortline/shared/testing/testkit"
)

var conversionSecret = bytes.Repeat([]byte("c"), 32)

// queue is a convert.Queue that ends here.
type queue struct {
	mu      sync.Mutex
	carried []conversion.Conversion
	down    bool
}

func (r *queue) Send(_ context.Context, list []conversion.Conversion) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.down {
		return errors.New("the queue is down")
	}
	r.carried = append(r.carried, list...)
	return nil
}

// clickID returns the id of a click of a link, made by a secret.
func (w *world) clickID(url string, ago time.Duration, tag uint64, secret []byte) string {
	w.t.Helper()
	u := w.row(url)
	at := time.Now().Add(-ago).UnixMilli()
	keys, err := conversion.NewKeys(conversion.Derive([][]byte{secret}, conversion.Period(at), conversion.Period(at)))
	w.ok(err)
	id, ok := conversion.ClickID{Link: u.Num, Time: at, Tag: tag}.Append(nil, keys)
	if !ok {
		w.t.Fatal("no id")
	}
	return string(id)
}

func (w *world) newLink(token string) string {
	w.t.Helper()
	return w.do("POST", "/api/urls", `{"originalUrl":"https://example.com","trackConversions":true}`, as(token)).want(201).str("id")
}

// verdicts returns the verdicts of a response, with the fields to blame.
func (r *reply) verdicts() string {
	var out []string
	for i := range r.at("results").([]any) {
		text := r.str(fmt.Sprintf("results.%d.verdict", i))
		if field, ok := r.at(fmt.Sprintf("results.%d.field", i)).(string); ok {
			text += ":" + field
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// converts sends conversions, and fails the test unless they get these verdicts.
func (w *world) converts(by option, body, verdicts string) *reply {
	w.t.Helper()
	r := w.do("POST", conversionsPath, body, by).want(202)
	testkit.Equal(w.t, r.verdicts(), verdicts, "verdicts of %s", r.text)
	return r
}

const conversionsPath = "/api/conversions"

func TestConversions(t *testing.T) {
	w := small(t, whole)
	mine, hers := w.newLink(w.ann), w.newLink(w.bob)
	good := w.clickID(mine, time.Hour, 1, conversionSecret)
	altered := "B" + good[1:]
	items := []struct{ json, verdict string }{
		{`{"clickId":"` + good + `","name":"purchase","value":49.90,"currency":"eur","externalId":"1"}`, "accepted"},
		{`{"clickId":"` + good + `","name":"purchase","externalId":"2"}`, "duplicate"},
		{`{"clickId":"` + good + `","name":"renewal","externalId":"2","repeatable":true}`, "accepted"},
		{`{"clickId":"` + good + `","name":"renewal","externalId":"3","repeatable":true}`, "accepted"},
		{`{"clickId":"` + good + `","name":"renewal","externalId":"3","repeatable":true}`, "duplicate"},
		{`{"clickId":"nonsense","name":"purchase"}`, "malformed:clickId"},
		{`{"clickId":"` + altered + `","name":"purchase"}`, "forged:clickId"},
		{`{"clickId":"` + w.clickID(mine, time.Hour, 1, bytes.Repeat([]byte("d"), 32)) + `","name":"purchase"}`, "forged:clickId"},
		{`{"clickId":"` + w.clickID(hers, time.Hour, 1, conversionSecret) + `","name":"purchase"}`, "foreign:clickId"},
		{`{"clickId":"` + w.clickID(mine, 91*24*time.Hour, 1, conversionSecret) + `","name":"purchase"}`, "expired:clickId"},
		{`{"clickId":"` + good + `"}`, "invalid:name"},
	}
	var list, want []string
	for _, item := range items {
		list, want = append(list, item.json), append(want, item.verdict)
	}
	w.converts(as(w.ann), "["+strings.Join(list, ",")+"]", strings.Join(want, " ")).shows("accepted", 3, "rejected", 8)
	w.queue.mu.Lock()
	defer w.queue.mu.Unlock()
	if len(w.queue.carried) != 3 {
		t.Fatalf("carried %+v", w.queue.carried)
	}
	c := w.queue.carried[0]
	u := w.row(mine)
	if c.Click.Link != u.Num || c.Workspace != u.Workspace || c.Value != 499_000 || c.Currency != "EUR" ||
		c.ExternalID != "1" || c.Browser {
		t.Errorf("the conversion %+v", c)
	}
}

func TestConversions_forms_of_a_request(t *testing.T) {
	w := small(t, whole)
	mine := w.newLink(w.ann)
	item := func(tag uint64) string {
		return `{"clickId":"` + w.clickID(mine, time.Hour, tag, conversionSecret) + `","name":"a"}`
	}
	lines := with("Content-Type", "application/x-ndjson; charset=utf-8")
	w.converts(as(w.ann), item(1), "accepted")
	w.converts(as(w.ann), "["+item(2)+","+item(3)+"]", "accepted accepted")
	w.converts(as(w.ann), `{"items":[`+item(4)+","+item(5)+"]}", "accepted accepted")
	w.converts(both(as(w.ann), lines), item(6)+"\r\n\n"+item(7)+"\n", "accepted accepted")
	w.converts(both(as(w.ann), lines), item(8), "accepted") // a line without an end
	w.converts(as(w.root), item(9), "accepted")
}

func TestConversions_bad_requests(t *testing.T) {
	w := small(t, whole)
	many := func(n int) string {
		return "[" + strings.TrimSuffix(strings.Repeat(`{"clickId":"x","name":"a"},`, n), ",") + "]"
	}
	lines := with("Content-Type", "application/x-ndjson")
	for body, field := range map[string]string{
		many(1001):                       "items",
		`[]`:                             "items",
		`{"items":[]}`:                   "items",
		`{"items":null}`:                 "items",
		`{"items":{}}`:                   "items",
		`{"items":[],"foo":1}`:           "foo",
		`{"clickId":"x","foo":1}`:        "foo",
		`{"clickId":1}`:                  "clickId",
		`{"repeatable":"yes"}`:           "repeatable",
		`[{"name":"a"},{"foo":1}]`:       "items.1.foo",
		`{"items":[{},{},{},{"foo":1}]}`: "items.3.foo",
		`[{"name":"a"},7]`:               "items.1",
		`[null]`:                         "items.0",
	} {
		w.do("POST", conversionsPath, body, as(w.ann)).wantField(field)
	}
	w.do("POST", conversionsPath, `{"name":"a"}`+"\n"+`{"foo":1}`, both(as(w.ann), lines)).wantField("items.1.foo")
	for _, body := range []string{`{"value":NaN}`, `{"value":Infinity}`, `{`, ``, `"text"`, `null`, `{"name":"a"} {"name":"b"}`,
		strings.Repeat("[", 100) + strings.Repeat("]", 100)} {
		w.do("POST", conversionsPath, body, as(w.ann)).want(400)
	}
	w.do("POST", conversionsPath, `{"name":"a"}`+"\n{", both(as(w.ann), lines)).want(400)
	w.do("POST", conversionsPath, `a=b`, both(as(w.ann), with("Content-Type", "application/x-www-form-urlencoded"))).want(415)
	w.do("POST", conversionsPath, `{"name":"`+strings.Repeat("a", 10<<20)+`"}`, as(w.ann)).want(413)
	w.do("POST", conversionsPath, many(1000), as(w.ann)).want(202).shows("rejected", 1000)
	if len(w.queue.carried) != 0 {
		t.Errorf("bad requests left %+v", w.queue.carried)
	}
}

// A link has at most 50 names of conversions, also under concurrent requests. A name that is known needs no room.
func TestConversions_goals(t *testing.T) {
	eachWith(t, whole, func(t *testing.T, w *world) {
		send := func(id string, from, to int) (accepted int) {
			var list []string
			for i := from; i < to; i++ {
				list = append(list, fmt.Sprintf(`{"clickId":%q,"name":"goal %d"}`, id, i))
			}
			r := w.do("POST", conversionsPath, "["+strings.Join(list, ",")+"]", as(w.ann)).want(202)
			accepted = int(r.num("accepted"))
			if n := strings.Count(r.text, `"too_many_goals"`); n != int(r.num("rejected")) || n+accepted != to-from {
				t.Errorf("other verdicts: %s", r.text)
			}
			return accepted
		}
		four := func(send func(i int) int) int64 {
			var n atomic.Int64
			var work sync.WaitGroup
			for i := range 4 {
				work.Go(func() { n.Add(int64(send(i))) })
			}
			work.Wait()
			return n.Load()
		}
		mine := w.newLink(w.ann)
		id := w.clickID(mine, time.Hour, 1, conversionSecret)
		if n := send(id, 0, 40); n != 40 {
			t.Errorf("%d of 40 names", n)
		}
		if n := four(func(i int) int { return send(id, 40+5*i, 45+5*i) }); n != 10 {
			t.Errorf("%d more names, want 10", n)
		}
		if n := send(w.clickID(mine, time.Hour, 2, conversionSecret), 0, 1); n != 1 {
			t.Error("a known name was refused")
		}
		// More names than there is room for, in each of several requests with the same names, so that only these can be stored.
		mine = w.newLink(w.ann)
		four(func(i int) int {
			n := send(w.clickID(mine, time.Hour, uint64(i), conversionSecret), 0, 60)
			if n != 50 {
				t.Errorf("%d of 60 names, want 50", n)
			}
			return n
		})
		num := w.row(mine).Num
		goals, err := w.store.GoalsOf(t.Context(), []uint64{num})
		w.ok(err)
		names := map[string]bool{}
		for _, c := range w.queue.carried {
			if c.Click.Link == num {
				names[c.Name] = true
			}
		}
		if len(goals) != conversion.MaxGoals || len(names) != conversion.MaxGoals {
			t.Errorf("%d goals are registered, conversions of %d were handed on", len(goals), len(names))
		}
	})
}

func TestConversions_queue_down(t *testing.T) {
	w := small(t, whole)
	mine := w.newLink(w.ann)
	body := `{"clickId":"` + w.clickID(mine, time.Hour, 1, conversionSecret) + `","name":"a"}`
	w.queue.down = true
	w.do("POST", conversionsPath, body, as(w.ann)).want(503).headed("Retry-After", "1")
	w.queue.down = false
	w.converts(as(w.ann), body, "accepted")
}

// Each case is a member of an item that is otherwise right. The answer is a verdict with the field, or a 400 with the field.
func TestConversions_every_value_of_an_item(t *testing.T) {
	w := small(t, whole)
	mine := w.newLink(w.ann)
	later, earlier := time.Now().Add(time.Hour).UTC().Format(time.RFC3339), time.Now().Add(-25*time.Hour).UTC().Format(time.RFC3339)
	const bad400 = "400:"
	tag, accepted := uint64(0), 0
	for _, c := range [][2]string{
		{`"value":null`, "accepted"}, {`"value":12.5`, "accepted"}, {`"value":1E2`, "invalid:value"}, {`"value":"12"`, "invalid:value"},
		{`"value":NaN`, bad400}, {`"value":01`, bad400}, {`"value":` + strings.Repeat("[", 100) + strings.Repeat("]", 100), bad400},
		{`"currency":"eur","value":1`, "accepted"}, {`"currency":""`, "accepted"}, {`"currency":"QQQ"`, "invalid:currency"},
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
	if last := w.queue.carried[len(w.queue.carried)-1]; last.Name != "b" || accepted < 8 {
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
		w.do("POST", conversionsPath, batch(broken), lines).wantField("items.6").says("line 7")
	}
	for _, wrong := range []string{`7`, `null`, `[]`, `"x"`} {
		w.do("POST", conversionsPath, batch(wrong), lines).wantField("items.6")
	}
	w.do("POST", conversionsPath, batch(`{"name":1}`), lines).wantField("items.6.name")
	w.do("POST", conversionsPath, batch(`{"foo":1}`), lines).wantField("items.6.foo")
	// Lines without anything are no items, but they are lines.
	if r := w.do("POST", conversionsPath, "\n\n"+batch(`{`), lines).wantField("items.6"); !strings.Contains(r.text, "line 7") &&
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
	w.converts(as(w.ann), item, "duplicate")
}
