package main_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	shortline "github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// changer changes links from several goroutines, and visits each link right after its change.
type changer struct {
	t             *testing.T
	api           *client
	http          *http.Client
	visits, stale atomic.Int64
}

func newChanger(t *testing.T) *changer {
	_, c := shared(t)
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	t.Cleanup(transport.CloseIdleConnections)
	follow := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	own := &http.Client{Transport: transport, CheckRedirect: follow}
	return &changer{t: t, api: newClient(t, c.base, c.token, shortline.WithHTTPClient(own)), http: own}
}

// call makes one change. On a slow machine, the hash of a link's password may wait too long for a processor. The server then refuses the
// change after some seconds and changes nothing, so call tries it again.
func (f *changer) call(method, path string, body any, status int, out any) {
	err := f.api.try(method, path, body, status, out)
	for began := time.Now(); err != nil && strings.Contains(err.Error(), "passwords are being computed") &&
		time.Since(began) < testkit.Patience; {
		err = f.api.try(method, path, body, status, out)
	}
	if err != nil {
		f.t.Error(err)
	}
}

// visit requests a link once. It counts responses from before the last change and shows the first of them.
func (f *changer) visit(slug string, status int, location string) {
	res, err := f.http.Get(f.api.base + "/" + slug)
	if err != nil {
		f.t.Error(err)
		return
	}
	res.Body.Close()
	f.visits.Add(1)
	if got := res.Header.Get("Location"); res.StatusCode != status || got != location {
		if f.stale.Add(1) == 1 {
			f.t.Errorf("stale: /%s returns %d %q, want %d %q", slug, res.StatusCode, got, status, location)
		}
	}
}

// each runs n rounds in several goroutines.
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
	f.t.Logf("%d visits, %d stale", f.visits.Load(), f.stale.Load())
}

func (f *changer) create(slug, target string) (u shortline.Link) {
	f.call("POST", "/api/urls", map[string]any{"originalUrl": target, "customSlug": slug}, 201, &u)
	return u
}

var everyRequest = map[string]any{"operator": "AND",
	"conditions": []any{map[string]any{"type": "device", "operator": "not_equals", "value": "tablet"}}}

// When the API has answered a change, the next visit gets it. The test makes every change that visitors can see.
func TestAPI1_every_change_then_visit(t *testing.T) {
	t.Parallel()
	f := newChanger(t)
	const a, b = "https://example.com/a", "https://example.com/b"
	type fields = map[string]any
	f.each(testkit.Size(8, 2000), func(_, i int) {
		slug := fmt.Sprintf("life-%d", i)
		u := f.create(slug, a)
		path := "/api/urls/" + u.ID
		f.visit(slug, http.StatusFound, a)
		step := func(method, path string, body any, status int, out any, then int, to string) {
			f.call(method, path, body, status, out)
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

		step("POST", path+"/routing-rules", fields{"name": "all", "targetUrl": a, "conditions": everyRequest}, 201, &rule,
			http.StatusFound, a)
		step("PUT", path+"/routing-rules/"+rule.ID, fields{"targetUrl": a + "3"}, 200, nil, http.StatusFound, a+"3")
		step("PATCH", path+"/routing-rules/settings", fields{"isSmartRouting": false}, 200, nil, http.StatusFound, b)
		step("PATCH", path+"/routing-rules/settings", fields{"isSmartRouting": true}, 200, nil, http.StatusFound, a+"3")
		step("DELETE", path+"/routing-rules/"+rule.ID, nil, 204, nil, http.StatusFound, b)
		step("PATCH", "/api/urls/bulk", fields{"urlIds": []string{u.ID}, "status": "INACTIVE"}, 200, nil, http.StatusGone, "")
		step("DELETE", "/api/urls/bulk", fields{"urlIds": []string{u.ID}}, 200, nil, http.StatusNotFound, "")
		step("POST", path+"/restore", fields{}, 200, nil, http.StatusGone, "") // it is still inactive
		step("DELETE", path, nil, 204, nil, http.StatusNotFound, "")
		f.call("POST", "/api/urls/bulk", fields{"urls": []fields{{"originalUrl": a, "customSlug": slug + "-bulk"}}}, 201, nil)
		f.visit(slug+"-bulk", http.StatusFound, a)
	})
}
