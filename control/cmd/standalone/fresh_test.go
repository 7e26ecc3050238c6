package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// freshRounds returns the number of rounds for each kind of change. FRESH_ROUNDS overrides it; `make e2e` sets 10,000.
func freshRounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("FRESH_ROUNDS")
	if text == "" {
		return 1000
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("FRESH_ROUNDS=%q is not a number of rounds", text)
	}
	return n
}

// changer changes links from several goroutines, and visits each link right after its change.
type changer struct {
	t      *testing.T
	base   string
	token  string
	http   *http.Client
	stale  atomic.Int64
	rounds atomic.Int64
	first  sync.Once

	mu   sync.Mutex
	took map[string][]time.Duration // durations of writes, by kind
}

func newChanger(t *testing.T, p *program) *changer {
	c := p.Login()
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	t.Cleanup(transport.CloseIdleConnections)
	return &changer{t: t, base: c.base, token: c.token, took: map[string][]time.Duration{}, http: &http.Client{
		Transport: transport, Timeout: 30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// call makes one change. It records the duration of the write under a name, unless the name is "".
func (f *changer) call(does, method, path string, body any, status int, out any) http.Header {
	var b []byte
	if body != nil {
		var err error
		if b, err = json.Marshal(body); err != nil {
			f.t.Error(err)
			return nil
		}
	}
	req, err := http.NewRequest(method, f.base+path, bytes.NewReader(b))
	if err != nil {
		f.t.Error(err)
		return nil
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+f.token)
	start := time.Now()
	res, err := f.http.Do(req)
	if err != nil {
		f.t.Error(err)
		return nil
	}
	defer res.Body.Close()
	response, err := io.ReadAll(res.Body)
	if err != nil {
		f.t.Error(err)
	}
	if does != "" {
		f.mu.Lock()
		f.took[does] = append(f.took[does], time.Since(start))
		f.mu.Unlock()
	}
	if res.StatusCode != status {
		f.t.Errorf("%s %s: %d %s", method, path, res.StatusCode, response)
		return res.Header
	}
	if out != nil {
		if err := json.Unmarshal(response, out); err != nil {
			f.t.Errorf("%s %s: %v in %s", method, path, err, response)
		}
	}
	return res.Header
}

// visit requests a link once. It counts responses from before the last change and logs the first of them.
func (f *changer) visit(slug string, status int, location string) {
	res, err := f.http.Get(f.base + "/" + slug)
	if err != nil {
		f.t.Error(err)
		return
	}
	_, _ = io.Copy(io.Discard, res.Body) // only the status and Location matter
	res.Body.Close()
	f.rounds.Add(1)
	if got := res.Header.Get("Location"); res.StatusCode != status || got != location {
		f.stale.Add(1)
		f.first.Do(func() {
			f.t.Errorf("stale: /%s returns %d %q, want %d %q", slug, res.StatusCode, got, status, location)
		})
	}
}

// each runs n rounds in several goroutines. Then it logs the number of stale responses and the durations of writes.
func (f *changer) each(n int, round func(worker, i int)) {
	const workers = 4
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for i := w; i < n && !(f.t.Failed() && f.stale.Load() == 0); i += workers {
				round(w, i)
			}
		})
	}
	all.Wait()
	f.t.Logf("%d visits, %d stale", f.rounds.Load(), f.stale.Load())
	if f.stale.Load() > 0 {
		f.t.Errorf("%d of %d visits got a stale response", f.stale.Load(), f.rounds.Load())
	}
	for does, took := range f.took {
		slices.Sort(took)
		f.t.Logf("%s: p50 %v, p99 %v, of %d", does, took[len(took)/2].Round(10*time.Microsecond), took[len(took)*99/100].Round(10*time.Microsecond), len(took))
	}
}

func (f *changer) create(slug, target string) (u created) {
	f.call("create", "POST", "/api/urls", map[string]any{"originalUrl": target, "customSlug": slug}, 201, &u)
	return u
}

var unlimited = []string{"RATE_LIMIT_DEFAULT=0", "RATE_LIMIT_ROUTING=0", "RATE_LIMIT_VARIANTS=0", "LOG_LEVEL=error"}

var everyRequest = map[string]any{"operator": "AND", "conditions": []any{map[string]any{"type": "device", "operator": "not_equals", "value": "tablet"}}}

func TestAPI1_create_then_visit(t *testing.T) {
	f := newChanger(t, start(t, unlimited...))
	f.each(freshRounds(t), func(_, i int) {
		slug, to := fmt.Sprintf("made-%d", i), fmt.Sprintf("https://example.com/%d", i)
		f.create(slug, to)
		f.visit(slug, http.StatusFound, to)
	})
}

func TestAPI1_change_a_rule_then_visit(t *testing.T) {
	f := newChanger(t, start(t, unlimited...))
	var paths [4]string
	for w := range paths {
		u := f.create(fmt.Sprintf("ruled-%d", w), "https://example.com/plain")
		var rule struct{ ID string }
		f.call("", "POST", "/api/urls/"+u.ID+"/routing-rules", map[string]any{"name": "all", "targetUrl": "https://example.com/first", "conditions": everyRequest}, 201, &rule)
		paths[w] = "/api/urls/" + u.ID + "/routing-rules/" + rule.ID
	}
	f.each(freshRounds(t), func(w, i int) {
		to := fmt.Sprintf("https://example.com/rule/%d", i)
		f.call("change a rule", "PUT", paths[w], map[string]any{"targetUrl": to}, 200, nil)
		f.visit(fmt.Sprintf("ruled-%d", w), http.StatusFound, to)
	})
}

func TestAPI1_delete_then_visit(t *testing.T) {
	f := newChanger(t, start(t, unlimited...))
	f.each(freshRounds(t), func(_, i int) {
		slug := fmt.Sprintf("gone-%d", i)
		u := f.create(slug, "https://example.com/")
		f.call("delete", "DELETE", "/api/urls/"+u.ID, nil, 204, nil)
		f.visit(slug, http.StatusNotFound, "")
	})
}

// The test runs some rounds for every other endpoint that changes responses to visitors.
func TestAPI1_every_change_then_visit(t *testing.T) {
	f := newChanger(t, start(t, unlimited...))
	const a, b = "https://example.com/a", "https://example.com/b"
	type fields = map[string]any
	f.each(100, func(_, i int) {
		slug := fmt.Sprintf("life-%d", i)
		u := f.create(slug, a)
		path := "/api/urls/" + u.ID
		f.visit(slug, http.StatusFound, a)
		step := func(method, path string, body any, status int, out any, then int, to string) {
			f.call("", method, path, body, status, out)
			f.visit(slug, then, to)
		}
		step("PATCH", path, fields{"originalUrl": b}, 200, nil, http.StatusFound, b)
		step("PATCH", path, fields{"status": "INACTIVE"}, 200, nil, http.StatusGone, "")
		step("PATCH", path, fields{"status": "ACTIVE"}, 200, nil, http.StatusFound, b)
		step("PATCH", path, fields{"password": "a-good-password"}, 200, nil, http.StatusOK, "") // the form
		step("PATCH", path, fields{"password": nil}, 200, nil, http.StatusFound, b)

		var test, rule struct{ ID string }
		step("POST", path+"/variants", fields{"name": "A", "targetUrl": a, "weight": 100}, 201, &test, http.StatusFound, a)
		step("PATCH", path, fields{"isABTesting": false}, 200, nil, http.StatusFound, b)
		step("PATCH", path, fields{"isABTesting": true}, 200, nil, http.StatusFound, a)
		step("PUT", path+"/variants/"+test.ID, fields{"targetUrl": a + "2"}, 200, nil, http.StatusFound, a+"2")
		step("DELETE", path+"/variants/"+test.ID, nil, 204, nil, http.StatusFound, b)

		step("POST", path+"/routing-rules", fields{"name": "all", "targetUrl": a, "conditions": everyRequest}, 201, &rule, http.StatusFound, a)
		step("PATCH", path+"/routing-rules/settings", fields{"isSmartRouting": false}, 200, nil, http.StatusFound, b)
		step("PATCH", path+"/routing-rules/settings", fields{"isSmartRouting": true}, 200, nil, http.StatusFound, a)
		step("DELETE", path+"/routing-rules/"+rule.ID, nil, 204, nil, http.StatusFound, b)
		step("PATCH", "/api/urls/bulk", fields{"urlIds": []string{u.ID}, "status": "INACTIVE"}, 200, nil, http.StatusGone, "")
		step("DELETE", "/api/urls/bulk", fields{"urlIds": []string{u.ID}}, 200, nil, http.StatusNotFound, "")
		f.call("", "POST", "/api/urls/bulk", fields{"urls": []fields{{"originalUrl": a, "customSlug": slug + "-bulk"}}}, 201, nil)
		f.visit(slug+"-bulk", http.StatusFound, a)
	})
}
