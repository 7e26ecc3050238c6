//go:build proof

package harness_test

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
)

// TestLife_fleet deletes and reports links at three edges, which are connected to two control planes.
func TestLife_fleet(t *testing.T) {
	c := startChain(t, fleet.Config{Edges: 3, Controls: 2, Spread: true, EdgeEnv: []string{"TRUSTED_PROXIES=127.0.0.1/32"}}, 0)
	t.Run("trash", func(t *testing.T) { trash(t, c) })
	t.Run("prefer_wait", func(t *testing.T) { preferWait(t, c) })
	t.Run("reports", func(t *testing.T) { visitorsReports(t, c) })
}

// everyEdge waits until all edges give the answer to a visit, and returns how long that took.
func (c *chain) everyEdge(slug string, status int, location string) time.Duration {
	c.t.Helper()
	took, _ := everywhere(c, slug, math.MaxInt64, status, location)
	return took
}

// trash deletes links. Every edge must answer 404 within a second, and the slug can be used again at once. A deleted link
// comes back with its number, so with its clicks, also at edges that were away meanwhile.
func trash(t *testing.T, c *chain) {
	api := c.api
	var gone, reused, restored []time.Duration
	for i := range count(t, 100) {
		slug, first, second := fmt.Sprintf("life-%d", i), fmt.Sprintf("https://example.com/%d/first", i), fmt.Sprintf("https://example.com/%d/second", i)
		l := api.Create(first, map[string]any{"customSlug": slug})
		c.everyEdge(slug, http.StatusFound, first)
		api.Must("DELETE", "/api/urls/"+l.ID, nil, 204, nil)
		gone = append(gone, c.everyEdge(slug, http.StatusNotFound, ""))
		if i%2 == 1 {
			api.Must("POST", "/api/urls/"+l.ID+"/restore", map[string]any{}, 200, nil)
			restored = append(restored, c.everyEdge(slug, http.StatusFound, first))
			api.Must("DELETE", "/api/urls/"+l.ID, nil, 204, nil) // no pause before the next use of the slug
		}
		api.Create(second, map[string]any{"customSlug": slug})
		reused = append(reused, c.everyEdge(slug, http.StatusFound, second))
		if status, _, _ := api.Call("POST", "/api/urls/"+l.ID+"/restore", map[string]any{}, nil); status != http.StatusConflict { // the error says so, too
			t.Errorf("a link whose slug was taken is restored with %d", status)
		}
		api.Must("POST", "/api/urls/"+l.ID+"/restore", map[string]any{"slug": slug + "-again"}, 200, nil)
		restored = append(restored, c.everyEdge(slug+"-again", http.StatusFound, first))
		c.everyEdge(slug, http.StatusFound, second)
	}
	for what, took := range map[string][]time.Duration{"deleted": gone, "reused": reused, "restored": restored} {
		slices.Sort(took)
		most := took[len(took)-1]
		t.Logf("%s at an edge after the answer of the API: %d times, p50 %v, p99 %v, most %v", what, len(took), percentile(took, 0.5), percentile(took, 0.99), most)
		if most > time.Second {
			t.Errorf("an edge took %v for a link that was %s", most, what)
		}
	}

	// An edge that was away during the deletion must not serve the link from its disk when it comes back.
	kept := api.Create("https://example.com/", map[string]any{"customSlug": "kept"})
	lost := api.Create("https://example.com/", map[string]any{"customSlug": "lost"})
	c.everyEdge("lost", http.StatusFound, "https://example.com/")
	away := c.Edges[1]
	away.Kill()
	api.Must("DELETE", "/api/urls/"+lost.ID, nil, 204, nil)
	api.Must("DELETE", "/api/urls/"+kept.ID, nil, 204, nil)
	api.Must("POST", "/api/urls/"+kept.ID+"/restore", map[string]any{}, 200, nil)
	away.Start()
	if took := c.everyEdge("lost", http.StatusNotFound, ""); took > time.Second {
		t.Errorf("a restarted edge served a deleted link for %v", took)
	}
	c.everyEdge("kept", http.StatusFound, "https://example.com/")
}

// tell sends a visitor's report from an address to an edge, and returns the status and the page.
func tell(t *testing.T, e *fleet.Node, slug, from, text string) (int, string) {
	t.Helper()
	form := url.Values{"reason": {"PHISHING"}, "text": {text}, "email": {"me@example.com"}}
	req, err := http.NewRequest("POST", "http://"+e.Addr+"/"+slug+"/report", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "sho.rt"
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "text/html")
	req.Header.Set("X-Forwarded-For", from)
	a, err := send(req)
	if err != nil {
		t.Fatal(err)
	}
	return a.status, a.body
}

// visitorsReports sends visitors' reports to all edges. They are one entry of the queue at both control planes, and the limit of
// a client holds over all edges. A visitor is thanked only after the report was stored.
func visitorsReports(t *testing.T, c *chain) {
	f, api := c.Fleet, c.api
	l := api.Create("https://example.com/", map[string]any{"customSlug": "reported"})
	c.everyEdge("reported", http.StatusFound, "https://example.com/")
	queue := func(by *fleet.API) (n int, texts string) {
		t.Helper()
		var out struct {
			Data []struct {
				ReportCount int
				Messages    []struct{ Text, Email string }
			}
		}
		by.Must("GET", "/api/admin/reports?status=OPEN&urlId="+l.ID, nil, 200, &out)
		if len(out.Data) == 0 {
			return 0, ""
		}
		if len(out.Data) != 1 || out.Data[0].Messages[0].Email != "me@example.com" {
			t.Errorf("the queue has %+v", out.Data)
		}
		for _, m := range out.Data[0].Messages {
			texts += m.Text + "\n"
		}
		return out.Data[0].ReportCount, texts
	}
	for i, e := range f.Edges {
		if status, page := tell(t, e, "reported", fmt.Sprintf("203.0.113.%d", i), "It asks for my “password” & more at "+e.Name); status != http.StatusSeeOther {
			t.Errorf("%s answers %d: %s", e.Name, status, page)
		}
	}
	for _, plane := range f.Controls {
		n, texts := queue(api.At(plane))
		for _, e := range f.Edges {
			if n != 3 || !strings.Contains(texts, "It asks for my “password” & more at "+e.Name) {
				t.Errorf("%s has %d reports: %s", plane.Name, n, texts)
			}
		}
	}

	statuses := map[int]int{}
	for i := range 12 { // four at each edge, which itself allows five
		status, _ := tell(t, f.Edges[i%3], "reported", "203.0.113.50", "again")
		statuses[status]++
	}
	if statuses[http.StatusSeeOther] != 10 || statuses[http.StatusTooManyRequests] != 2 {
		t.Errorf("twelve reports of one client got %v", statuses)
	}
	if status, _ := tell(t, f.Edges[0], "nowhere", "203.0.113.51", "x"); status != http.StatusNotFound {
		t.Errorf("a report of no link got %d", status)
	}

	before, _ := queue(api)
	for _, plane := range f.Controls {
		plane.Kill()
	}
	for i, e := range f.Edges {
		status, page := tell(t, e, "reported", fmt.Sprintf("203.0.113.%d", 60+i), "while it is down")
		if status != http.StatusServiceUnavailable || !strings.Contains(page, "while it is down") {
			t.Errorf("without a control plane %s answers %d: %.300s", e.Name, status, page)
		}
	}
	for _, plane := range f.Controls {
		plane.Start()
	}
	if n, _ := queue(api); n != before {
		t.Errorf("%d reports, want %d: nobody was thanked for the others", n, before)
	}
	if status, _ := tell(t, f.Edges[2], "reported", "203.0.113.62", "it is up again"); status != http.StatusSeeOther {
		t.Errorf("a report after the outage got %d", status)
	}
	if n, texts := queue(api); n != before+1 {
		t.Errorf("%d reports, want %d: %s", n, before+1, texts)
	}
}

// preferWait changes links with Prefer: wait. Two of three edges are connected to the replica that receives the changes, the
// third to the other one. Once the answer has arrived, every edge must serve the change. If an edge is stopped, the answer is
// still a success and reports that an edge is missing.
func preferWait(t *testing.T, c *chain) {
	change := func(prefer, method, path string, body any, status int, applied, edges string) (l fleet.Link) {
		t.Helper()
		var out any
		if status != http.StatusNoContent {
			out = &l
		}
		h := c.api.With("Prefer", prefer).Must(method, path, body, status, out)
		if h.Get("Preference-Applied") != applied || h.Get("X-Edges") != edges {
			t.Errorf("%s %s: applied %q, edges %q; want %q, %q", method, path, h.Get("Preference-Applied"), h.Get("X-Edges"), applied, edges)
		}
		return l
	}
	visit := func(slug string, status int, location string, edges ...*fleet.Node) {
		t.Helper()
		for _, e := range edges {
			got, to, err := follow(e.Addr, slug)
			if err != nil || got != status || to != location {
				t.Errorf("%s answers %d %q %v for /%s, want %d %q", e.Name, got, to, err, slug, status, location)
			}
		}
	}
	create := func(prefer, slug, to, applied, edges string) fleet.Link {
		t.Helper()
		return change(prefer, "POST", "/api/urls", map[string]any{"originalUrl": to, "customSlug": slug}, 201, applied, edges)
	}
	const patient, to = "respond-async, wait=30", "https://example.com/" // clamped to 10
	known := 0
	testkit.Eventually(t, "all edges are known", func() bool {
		known++
		body := map[string]any{"originalUrl": to, "customSlug": fmt.Sprintf("known-%d", known)}
		return c.api.With("Prefer", patient).Must("POST", "/api/urls", body, 201, nil).Get("X-Edges") == "3/3"
	})
	for i := range count(t, 200) {
		slug, a, b := fmt.Sprintf("fresh-%d", i), fmt.Sprintf("https://example.com/%d/a", i), fmt.Sprintf("https://example.com/%d/b", i)
		path := "/api/urls/" + create(patient, slug, a, "wait=10", "3/3").ID
		visit(slug, http.StatusFound, a, c.Edges...)
		change(patient, "PATCH", path, map[string]any{"originalUrl": b}, 200, "wait=10", "3/3")
		visit(slug, http.StatusFound, b, c.Edges...)
		change(patient, "DELETE", path, nil, 204, "wait=10", "3/3")
		visit(slug, http.StatusNotFound, "", c.Edges...)
	}
	// A stopped edge counts as connected for a while and misses the change, as after a network failure.
	for _, away := range c.Edges[1:] {
		others := slices.DeleteFunc(slices.Clone(c.Edges), func(e *fleet.Node) bool { return e == away })
		away.Pause()
		slug := "without-" + away.Name
		create("wait=1", slug, to, "wait=1", "2/3")
		visit(slug, http.StatusFound, to, others...)
		away.Resume()
		create(patient, slug+"-3", to, "wait=10", "3/3")
		visit(slug, http.StatusFound, to, c.Edges...)
	}
}
