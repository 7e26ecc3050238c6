package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
)

// checkService is an operator's check service. It blocks destinations that contain one of a list of texts.
type checkService struct {
	*httptest.Server
	mu      sync.Mutex
	blocked []string
	failing bool
	asked   []string // occasion and destination
	after   func(n int)
}

func newCheckService(t *testing.T) *checkService {
	c := &checkService{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct{ URL, Occasion string }
		_ = json.NewDecoder(r.Body).Decode(&q) // the destination is then ""
		c.mu.Lock()
		c.asked = append(c.asked, q.Occasion+" "+q.URL)
		n, failing, after := len(c.asked), c.failing, c.after
		evil := slices.ContainsFunc(c.blocked, func(part string) bool { return strings.Contains(q.URL, part) })
		c.mu.Unlock()
		if after != nil {
			after(n)
		}
		switch {
		case failing:
			http.Error(w, "no", 500)
		case evil:
			fmt.Fprint(w, `{"verdict":"block","reason":"known phishing"}`)
		default:
			fmt.Fprint(w, `{"verdict":"allow"}`)
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// set changes the answers, and forgets the questions.
func (c *checkService) set(failing bool, blocked ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failing, c.blocked, c.asked = failing, blocked, nil
}

// questions returns the questions since the last call, in order.
func (c *checkService) questions() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.asked
	c.asked = nil
	slices.Sort(list)
	return list
}

func (w *screened) make(body string) string {
	w.t.Helper()
	return w.do("POST", "/api/urls", body, as(w.ann)).want(201).str("id")
}

// The destinations of a draft are checked like those of a change, and only if they differ from the saved ones.
func TestExplain_destinations_of_drafts_are_checked(t *testing.T) {
	w := newScreened(t, usual(t), newCheckService(t), nil)
	id := w.make(`{"originalUrl":"https://own.example/"}`)
	rule := w.do("POST", "/api/urls/"+id+"/routing-rules", `{"name":"r","targetUrl":"https://rule.example/","conditions":`+fromGermany+`}`,
		as(w.ann)).want(201).str("id")
	arm := w.do("POST", "/api/urls/"+id+"/variants", `{"name":"v","targetUrl":"https://arm.example/"}`, as(w.ann)).want(201).str("id")
	draft := func(path, url string) *reply {
		return w.do("POST", path,
			fmt.Sprintf(
				`{"draft":{"originalUrl":%[1]q,"rules":[{"name":"r",`+
					`"targetUrl":%[1]q,"conditions":%[2]s}],"variants":[{"name":"v","targetUrl":%[1]q}]}}`, url, fromGermany), as(w.ann))
	}
	paths := []string{"/api/urls/" + id + "/explain", "/api/urls/explain"}
	w.set(false, "evil")
	same := fmt.Sprintf(
		`{"draft":{"originalUrl":"https://own.example/","rules":[{"id":%q,`+
			`"name":"r","targetUrl":"https://rule.example/","conditions":%s}],`+
			`"variants":[{"id":%q,"name":"v","targetUrl":"https://arm.example/"}]}}`, rule, fromGermany, arm)
	w.do("POST", paths[0], same, as(w.ann)).want(200)
	if asked := w.questions(); len(asked) != 0 {
		t.Errorf("saved destinations were asked about: %v", asked)
	}
	for _, path := range paths {
		r := draft(path, "https://evil.example/").wantField("draft.originalUrl", "draft.rules.0.targetUrl", "draft.variants.0.targetUrl")
		r.says("known phishing")
		draft(path, "https://good.example/").want(200)
	}
	w.set(true)
	for _, path := range paths {
		draft(path, "https://good.example/").want(503)
	}
	w.block("good.example")
	for _, path := range paths {
		draft(path, "https://good.example/").wantField("draft.originalUrl", "draft.rules.0.targetUrl", "draft.variants.0.targetUrl")
	}
}

// A link comes back from the trash only if a new link could lead to its destinations.
func TestTrash_restored_destinations_are_checked(t *testing.T) {
	w := newScreened(t, usual(t), newCheckService(t), nil)
	id := w.make(`{"originalUrl":"https://main.example/1","expiredUrl":"https://over.example/1"}`)
	rule := w.do("POST", "/api/urls/"+id+"/routing-rules",
		`{"name":"R","targetUrl":"https://rule.example/1",`+
			`"conditions":{"operator":"AND","conditions":[{"type":"os","operator":"equals","value":"iOS"}]}}`, as(w.ann)).
		want(201).str("id")
	variant := w.do("POST", "/api/urls/"+id+"/variants", `{"name":"V","targetUrl":"https://variant.example/1"}`, as(w.ann)).
		want(201).str("id")
	w.do("DELETE", "/api/urls/"+id, "", as(w.ann)).want(204)
	restore := func(status int, field string) {
		t.Helper()
		r := w.do("POST", "/api/urls/"+id+"/restore", `{}`, as(w.ann)).want(status)
		if field != "" && (r.str("errors.0.field") != field || r.at("errors.1") != nil) {
			t.Errorf("want a problem of %s: %s", field, r.text)
		}
	}
	w.unchanged("refused restorations", func() {
		for host, field := range map[string]string{"main": "originalUrl", "over": "expiredUrl", "rule": "routingRules." + rule +
			".targetUrl",
			"variant": "variants." + variant + ".targetUrl"} {
			w.set(false)
			w.block(host + ".example")
			restore(400, field)
			w.block("# nothing")
			w.set(false, host)
			restore(400, field)
		}
	})
	w.set(false)
	w.do("POST", "/api/urls/"+id+"/restore", `{}`, as(w.bob)).want(404)
	restore(200, "")
	if got := w.checkService.questions(); len(got) != 4 {
		t.Errorf("asked %q", got)
	}
	w.do("DELETE", "/api/urls/"+id, "", as(w.ann)).want(204)
	w.set(true)
	w.unchanged("a restoration without a check", func() { restore(503, "") })
}

// Once a day, the check service is asked about each destination. Its verdicts suspend and release links, unless an
// administrator has decided otherwise.
func TestDestinations_are_checked_daily(t *testing.T) {
	w := newScreened(t, usual(t), newCheckService(t), nil)
	main, same := w.make(`{"originalUrl":"https://a.example/x"}`), w.make(`{"originalUrl":"https://a.example/x"}`)
	other, variant := w.make(`{"originalUrl":"https://b.example/x","expiredUrl":"https://over.example"}`),
		w.make(`{"originalUrl":"https://c.example/x"}`)
	w.do("POST", "/api/urls/"+variant+"/variants", `{"name":"V","targetUrl":"https://v.example/a"}`, as(w.ann)).want(201)
	byHand := w.make(`{"originalUrl":"https://d.example/x"}`)
	w.do("POST", "/api/urls/"+byHand+"/suspend", `{"reason":"By hand."}`, as(w.root)).want(200)
	names := map[string]string{main: "main", same: "same", other: "other", variant: "variant", byHand: "byHand"}
	all := []string{"DAILY https://a.example/x", "DAILY https://b.example/x", "DAILY https://c.example/x", "DAILY https://d.example/x",
		"DAILY https://over.example", "DAILY https://v.example/a"}
	checks := w.checks()
	// check runs what is due and fails unless the given questions were asked and the given links are suspended.
	check := func(what string, asked []string, suspended ...string) {
		t.Helper()
		w.checkService.questions()
		checks.CheckAll(t.Context())
		if got := w.checkService.questions(); !slices.Equal(got, asked) {
			t.Errorf("%s: asked %q", what, got)
		}
		for id, name := range names {
			r := w.do("GET", "/api/urls/"+id, "", as(w.ann)).want(200)
			if is, want := r.str("status") == "SUSPENDED", slices.Contains(suspended, id); is != want {
				t.Errorf("%s: %s is suspended: %v, want %v: %s", what, name, is, want, r.text)
			}
		}
	}
	check("the first check", all, byHand)
	w.set(false, "a.example", "over", "v.example")
	w.clock.advance(23 * time.Hour)
	check("an hour too early", nil, byHand)
	w.clock.advance(2 * time.Hour)
	check("the second day", all, byHand, main, same, other, variant)
	w.do("GET", "/api/urls/"+main, "", as(w.ann)).want(200).
		shows("suspendedReason", "The operator's check refuses an address to which the link leads: known phishing",
			"suspendedWording.code", "CHECK")
	queue := w.do("GET", "/api/admin/reports?source=CHECK&status=OPEN", "", as(w.root)).want(200)
	queue.shows("total", 4)
	resolve := func(id, body string) {
		t.Helper()
		of := w.do("GET", "/api/admin/reports?urlId="+id, "", as(w.root)).want(200).str("data.0.id")
		w.do("PATCH", "/api/admin/reports/"+of, body, as(w.root)).want(200)
	}
	resolve(same, `{"action":"dismiss"}`)
	resolve(other, `{"action":"suspend","reason":"Confirmed."}`)
	w.clock.advance(25 * time.Hour)
	check("after decisions", all, byHand, main, other, variant)
	w.set(false)
	w.clock.advance(25 * time.Hour)
	check("when all is allowed", all, byHand, other)
	w.do("GET", "/api/admin/reports?status=OPEN", "", as(w.root)).want(200).shows("total", 0)
}

// A check that is interrupted continues where it was in another process. Without answers it neither suspends nor releases.
func TestDestinations_check_continues(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		w := newScreened(t, st, newCheckService(t), nil)
		w.set(false)
		for part := range slices.Chunk(make([]string, 120), 60) {
			for i := range part {
				part[i] = fmt.Sprintf(`{"originalUrl":"https://example.com/%p"}`, &part[i])
			}
			w.do("POST", "/api/urls/bulk", `{"urls":[`+strings.Join(part, ",")+`]}`, as(w.ann)).want(201)
		}
		w.checkService.questions()
		ctx, cancel := context.WithCancel(t.Context())
		w.checkService.mu.Lock()
		w.after = func(n int) {
			if n == 75 {
				cancel()
			}
		}
		w.checkService.mu.Unlock()
		w.checks().CheckAll(ctx)
		first := w.checkService.questions()
		if len(first) != 75 {
			t.Fatalf("asked %d times", len(first))
		}
		w.checks().CheckAll(t.Context()) // the lease of the first process has not ended
		if got := w.checkService.questions(); len(got) != 0 {
			t.Errorf("two processes check at a time: %q", got)
		}
		w.clock.advance(3 * time.Minute)
		w.checks().CheckAll(t.Context())
		rest := w.checkService.questions()
		distinct := map[string]bool{}
		for _, q := range append(first, rest...) {
			distinct[q] = true
		}
		if len(rest) != 70 || len(distinct) != 120 { // pages of 50 links
			t.Errorf("asked %d times after the interruption, about %d links in total", len(rest), len(distinct))
		}
		w.set(false, "example.com")
		w.clock.advance(25 * time.Hour)
		w.checks().CheckAll(t.Context())
		suspended := func() float64 {
			return w.do("GET", "/api/urls?status=SUSPENDED", "", as(w.ann)).want(200).num("total")
		}
		if n := suspended(); n != 120 {
			t.Errorf("%v links are suspended", n)
		}
		w.set(true)
		w.clock.advance(25 * time.Hour)
		w.checks().CheckAll(t.Context())
		if n, asked := suspended(), len(w.checkService.questions()); n != 120 || asked != 3 {
			t.Errorf("without answers: %v links are suspended, asked %d times", n, asked)
		}
	})
}
