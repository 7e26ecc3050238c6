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

	"github.com/shortline/shortline/shared/conversion"
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
	r := w.do("POST", conversionsPath, "["+strings.Join(list, ",")+"]", as(w.ann)).want(202)
	if got := r.verdicts(); got != strings.Join(want, " ") || r.num("accepted") != 3 || r.num("rejected") != 8 {
		t.Errorf("verdicts\n%s, want\n%s\n%s", got, strings.Join(want, " "), r.text)
	}
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
	sent := func(what, body, want string, as option) {
		t.Helper()
		if got := w.do("POST", conversionsPath, body, as).want(202).verdicts(); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	sent("one", item(1), "accepted", as(w.ann))
	sent("array", "["+item(2)+","+item(3)+"]", "accepted accepted", as(w.ann))
	sent("items", `{"items":[`+item(4)+","+item(5)+"]}", "accepted accepted", as(w.ann))
	sent("lines", item(6)+"\r\n\n"+item(7)+"\n", "accepted accepted", both(as(w.ann), lines))
	sent("line without end", item(8), "accepted", both(as(w.ann), lines))
	sent("an administrator", item(9), "accepted", as(w.root))
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
		`[{"name":"a"},{"foo":1}]`:       "items[1].foo",
		`{"items":[{},{},{},{"foo":1}]}`: "items[3].foo",
		`[{"name":"a"},7]`:               "items[1]",
		`[null]`:                         "items[0]",
	} {
		w.do("POST", conversionsPath, body, as(w.ann)).wantField(field)
	}
	w.do("POST", conversionsPath, `{"name":"a"}`+"\n"+`{"foo":1}`, both(as(w.ann), lines)).wantField("items[1].foo")
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
	if r := w.do("POST", conversionsPath, body, as(w.ann)).want(503); r.Header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After: %q", r.Header.Get("Retry-After"))
	}
	w.queue.down = false
	if got := w.do("POST", conversionsPath, body, as(w.ann)).want(202).verdicts(); got != "accepted" {
		t.Errorf("the same request again: %s", got)
	}
}

// A key with the scope conversions:write sends, and reads nothing.
func TestConversions_scope(t *testing.T) {
	w := small(t, whole)
	mine := w.newLink(w.ann)
	key := w.do("POST", "/api/api-keys", `{"name":"shop","scopes":["conversions:write"]}`, as(w.ann)).want(201).str("key")
	body := `{"clickId":"` + w.clickID(mine, time.Hour, 1, conversionSecret) + `","name":"a"}`
	if got := w.do("POST", conversionsPath, body, as(key)).want(202).verdicts(); got != "accepted" {
		t.Errorf("with a key: %s", got)
	}
	w.do("GET", "/api/urls", "", as(key)).want(403)
	w.do("PUT", "/api/conversions/settings", `{"hosts":[]}`, as(key)).want(403)
	other := w.do("POST", "/api/api-keys", `{"name":"reader","scopes":["links:read"]}`, as(w.ann)).want(201).str("key")
	w.do("POST", conversionsPath, body, as(other)).want(403)
}
