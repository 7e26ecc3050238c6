package main_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/manage/domains/dnstest"
	"github.com/shortline/shortline/shared/acmetest"
	"github.com/shortline/shortline/shared/testkit"
)

// domain is what the API tells about a domain.
type domain struct {
	ID, Status string
	Records    []acmetest.Record
}

// A domain from its first request to visitors, with the real program and a real DNS server.
func TestDomain_from_creation_to_visitors(t *testing.T) {
	t.Parallel()
	names := dnstest.New(t)
	p := start(t, "RESOLVERS="+names.Addr, "EDGE_HOSTNAME=edge.sho.example.com", "STRICT_HOSTS=true")
	admin := p.Login()
	visit := p.visitAs
	const host = "go.acme.example.com"
	if status, _ := visit(host, "/spring"); status != http.StatusMisdirectedRequest {
		t.Errorf("an unknown host: %d", status)
	}
	var d domain
	admin.Do("POST", "/api/domains", map[string]any{"hostname": host, "rootUrl": "https://example.com/home", "notFoundUrl": "https://example.com/lost"}, 201, &d)
	u := admin.CreateURL("https://example.com/acme", map[string]any{"customSlug": "spring", "domain": host})
	admin.CreateURL("https://example.com/default", map[string]any{"customSlug": "spring"})
	if status, _ := visit(host, "/spring"); status != http.StatusMisdirectedRequest {
		t.Errorf("a host without proof: %d", status)
	}
	for _, r := range d.Records {
		text := r.Type + " " + r.Value
		if r.Type == "TXT" {
			text = `TXT "` + r.Value + `"`
		}
		names.Set(t, r.Name, text)
	}
	names.Set(t, "edge.sho.example.com", "A 198.51.100.1")
	admin.Do("POST", "/api/domains/"+d.ID+"/verify", nil, 200, &d)
	if d.Status != "ACTIVE" || !d.Records[0].Found || !d.Records[1].Found {
		t.Fatalf("verified: %+v", d)
	}
	testkit.Eventually(t, "the edge serves the domain", func() bool { status, _ := visit(host, "/spring"); return status == http.StatusFound })
	for path, want := range map[string]string{"/spring": "https://example.com/acme", "/": "https://example.com/home", "/autumn": "https://example.com/lost"} {
		if status, location := visit(host, path); status != http.StatusFound || location != want {
			t.Errorf("%s: %d %q, want %q", path, status, location, want)
		}
	}
	if _, location := visit(p.Addr, "/spring"); location != "https://example.com/default" {
		t.Errorf("the default domain: %q", location)
	}
	if status, _ := visit(host, "/api/urls"); status == http.StatusOK || status == http.StatusUnauthorized {
		t.Errorf("the API on a custom domain: %d", status)
	}

	// The edge serves the domain after a kill, before its control plane could tell it anything.
	p.Kill()
	p.Start()
	testkit.Eventually(t, "the domain after a restart", func() bool { _, location := visit(host, "/spring"); return location == "https://example.com/acme" })

	admin = p.Login()
	testkit.Eventually(t, "both clicks are counted", func() bool {
		time.Sleep(100 * time.Millisecond) // spares the rate limit
		var got struct{ ClickCount int64 }
		admin.Do("GET", "/api/urls/"+u.ID, nil, 200, &got)
		return got.ClickCount >= 2
	})
	admin.Do("DELETE", "/api/domains/"+d.ID, nil, 409, nil)
	admin.Do("DELETE", "/api/urls/"+u.ID+"?permanently=true", nil, 204, nil)
	admin.Do("DELETE", "/api/domains/"+d.ID, nil, 204, nil)
	testkit.Eventually(t, "the domain has left service", func() bool { status, _ := visit(host, "/spring"); return status == http.StatusMisdirectedRequest })
}
