package harness_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/nametest"
	"github.com/shortline/shortline/shared/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
)

// visitHost sends a visit to a host and returns the answer of an edge.
func visitHost(e *fleet.Node, host, slug string) (status int, location string) {
	req, err := http.NewRequest("GET", "http://"+e.Addr+"/"+slug, nil)
	if err != nil {
		return 0, err.Error()
	}
	req.Host = host
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode, res.Header.Get("Location")
}

// atEveryEdge waits until each edge gives the answer to a visit of a host, and returns the longest time. No edge may lead to a
// destination with the forbidden text.
func atEveryEdge(t *testing.T, f *fleet.Fleet, host, slug string, status int, location, forbidden string) time.Duration {
	t.Helper()
	began, all := time.Now(), sync.WaitGroup{}
	for _, e := range f.Edges {
		all.Go(func() {
			for {
				got, to := visitHost(e, host, slug)
				switch {
				case forbidden != "" && strings.Contains(to, forbidden):
					t.Errorf("%s leads to %s", e.Name, to)
					return
				case got == status && to == location:
					return
				case time.Since(began) > 30*time.Second:
					t.Errorf("%s answers %s/%s with %d %s, want %d %s", e.Name, host, slug, got, to, status, location)
					return
				}
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	all.Wait()
	return time.Since(began)
}

// TestDomain_taken_over_in_a_fleet lets a name change hands: at three edges of two control planes, the links of the old workspace
// stop, and those of the new one start, within two seconds.
func TestDomain_taken_over_in_a_fleet(t *testing.T) {
	const host, limit = "go.acme.example.com", 2 * time.Second
	names := nametest.Start(t)
	f := fleet.Start(t, fleet.Config{Edges: 3, Controls: 2, Spread: true, EdgeEnv: []string{"STRICT_HOSTS=true"}, ControlEnv: []string{"RESOLVERS=" + names.Addr, "EDGE_HOSTNAME=edge.sho.example.com"}})
	admin := f.Controls[0].Login(t)
	names.Set(host, "CNAME edge.sho.example.com.")
	names.Set("edge.sho.example.com", "A 198.51.100.1")
	user := func(control *fleet.Node, name string) *fleet.API {
		admin.Must("POST", "/api/users", map[string]any{"email": name + "@example.com", "password": "correct horse battery"}, 201, nil)
		return control.LoginAs(t, name+"@example.com", "correct horse battery")
	}
	ann, bob := user(f.Controls[0], "ann"), user(f.Controls[1], "bob")
	type domain struct {
		ID, Status string
		Records    []struct{ Value string }
	}
	var hers, his domain
	verify := func(api *fleet.API, d *domain) {
		t.Helper()
		names.Set("_shortline."+host, fmt.Sprintf("TXT %q", d.Records[0].Value))
		// If the domain was checked a moment before the record was there, the next check is five seconds later.
		testkit.Within(t, 20*time.Second, "the domain is verified", func() bool {
			api.Must("POST", "/api/domains/"+d.ID+"/verify", nil, 200, d)
			return d.Status == "ACTIVE"
		})
	}
	ann.Must("POST", "/api/domains", map[string]any{"hostname": host}, 201, &hers)
	spring := ann.Create("https://example.com/ann", map[string]any{"customSlug": "spring", "domain": host})
	verify(ann, &hers)
	t.Logf("new domain at every edge after %v", atEveryEdge(t, f, host, "spring", 302, "https://example.com/ann", ""))
	refused := func(method, path string, body any, want int) {
		t.Helper()
		if status, _, err := bob.Call(method, path, body, nil); status != want { // the error says so, too
			t.Errorf("%s %s: %d, want %d: %v", method, path, status, want, err)
		}
	}
	refused("POST", "/api/domains", map[string]any{"hostname": host}, 409)

	names.Set("_shortline." + host)
	if out, err := f.Ask(`UPDATE domains SET proved_at = proved_at - 8 * 86400000::bigint, checked_at = checked_at - 8 * 86400000::bigint`); err != nil {
		t.Fatal(out, err)
	}
	testkit.Within(t, 2*time.Minute, "ann's domain fails", func() bool {
		ann.Must("GET", "/api/domains/"+hers.ID, nil, 200, &hers)
		return hers.Status == "FAILED"
	})
	if took := atEveryEdge(t, f, host, "spring", http.StatusMisdirectedRequest, "", ""); took > limit {
		t.Errorf("an edge served the links of a failed domain for %v", took)
	}
	bob.Must("POST", "/api/domains", map[string]any{"hostname": host}, 201, &his)
	bob.Create("https://example.com/bob", map[string]any{"customSlug": "spring", "domain": host})
	verify(bob, &his)
	took := atEveryEdge(t, f, host, "spring", 302, "https://example.com/bob", "ann")
	if t.Logf("taken over at every edge after %v", took); took > limit {
		t.Errorf("an edge served bob's links only after %v", took)
	}
	refused("GET", "/api/urls/"+spring.ID, nil, 404)
	ann.Must("DELETE", "/api/urls/"+spring.ID, nil, 204, nil)
	ann.Must("DELETE", "/api/domains/"+hers.ID, nil, 204, nil)

	// An edge that comes back reads the hosts of its disk, and then those of the control plane.
	f.Edges[2].Kill()
	f.Edges[2].Start()
	atEveryEdge(t, f, host, "spring", 302, "https://example.com/bob", "ann")
}
