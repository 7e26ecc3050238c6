package harness_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/test/harness/fleet"
)

// TestLife_fleet deletes and reports links at three edges, which are connected to two control planes.
func TestLife_fleet(t *testing.T) {
	f := fleet.Start(t, fleet.Config{Edges: 3, Controls: 2, Spread: true, EdgeEnv: []string{"TRUSTED_PROXIES=127.0.0.1/32"}})
	api := f.Controls[0].Login(t)
	t.Run("trash", func(t *testing.T) { trash(t, f, api) })
	t.Run("reports", func(t *testing.T) { visitorsReports(t, f, api) })
}

// serves waits until an edge gives the answer to a visit, and returns how long that took. It fails the test after half a
// minute. It may be called by any goroutine.
func serves(t *testing.T, e *fleet.Node, slug string, status int, location string) time.Duration {
	t.Helper()
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		got, to, err := follow(e.Addr, slug)
		took := time.Since(began)
		if err == nil && got == status && to == location {
			return took
		}
		if took > 30*time.Second {
			t.Errorf("%s answers /%s with %d %s %v, want %d %s", e.Name, slug, got, to, err, status, location)
			return took
		}
	}
}

// atAllEdges is serves at all edges at the same time.
func atAllEdges(t *testing.T, f *fleet.Fleet, slug string, status int, location string) []time.Duration {
	t.Helper()
	took := make([]time.Duration, len(f.Edges))
	var all sync.WaitGroup
	for i, e := range f.Edges {
		all.Go(func() { took[i] = serves(t, e, slug, status, location) })
	}
	all.Wait()
	return took
}

// trash deletes links. Every edge must answer 404 within a second, and the slug can be used again at once. A deleted link
// comes back with its number, so with its clicks, also at edges that were away meanwhile.
func trash(t *testing.T, f *fleet.Fleet, api *fleet.API) {
	var gone, reused, restored []time.Duration
	for i := range count(t, 30) {
		slug, first, second := fmt.Sprintf("life-%d", i), fmt.Sprintf("https://example.com/%d/first", i), fmt.Sprintf("https://example.com/%d/second", i)
		l := api.Create(first, map[string]any{"customSlug": slug})
		atAllEdges(t, f, slug, http.StatusFound, first)
		api.Must("DELETE", "/api/urls/"+l.ID, nil, 204, nil)
		gone = append(gone, atAllEdges(t, f, slug, http.StatusNotFound, "")...)
		if i%2 == 1 {
			api.Must("POST", "/api/urls/"+l.ID+"/restore", map[string]any{}, 200, nil)
			restored = append(restored, atAllEdges(t, f, slug, http.StatusFound, first)...)
			api.Must("DELETE", "/api/urls/"+l.ID, nil, 204, nil) // no pause before the next use of the slug
		}
		api.Create(second, map[string]any{"customSlug": slug})
		reused = append(reused, atAllEdges(t, f, slug, http.StatusFound, second)...)
		if status, _, _ := api.Call("POST", "/api/urls/"+l.ID+"/restore", map[string]any{}, nil); status != http.StatusConflict { // the error says so, too
			t.Errorf("a link whose slug was taken is restored with %d", status)
		}
		api.Must("POST", "/api/urls/"+l.ID+"/restore", map[string]any{"slug": slug + "-again"}, 200, nil)
		restored = append(restored, atAllEdges(t, f, slug+"-again", http.StatusFound, first)...)
		atAllEdges(t, f, slug, http.StatusFound, second)
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
	atAllEdges(t, f, "lost", http.StatusFound, "https://example.com/")
	away := f.Edges[1]
	away.Kill()
	api.Must("DELETE", "/api/urls/"+lost.ID, nil, 204, nil)
	api.Must("DELETE", "/api/urls/"+kept.ID, nil, 204, nil)
	api.Must("POST", "/api/urls/"+kept.ID+"/restore", map[string]any{}, 200, nil)
	away.Start()
	if took := serves(t, away, "lost", http.StatusNotFound, ""); took > time.Second {
		t.Errorf("a restarted edge served a deleted link for %v", took)
	}
	atAllEdges(t, f, "kept", http.StatusFound, "https://example.com/")
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
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	page, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(page)
}

// visitorsReports sends visitors' reports to all edges. They are one entry of the queue at both control planes, and the limit of
// a client holds over all edges. A visitor is thanked only after the report was stored.
func visitorsReports(t *testing.T, f *fleet.Fleet, api *fleet.API) {
	l := api.Create("https://example.com/", map[string]any{"customSlug": "reported"})
	atAllEdges(t, f, "reported", http.StatusFound, "https://example.com/")
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
