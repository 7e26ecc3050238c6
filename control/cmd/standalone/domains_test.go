package main_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/manage/domains/dnstest"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/acmetest"
	"github.com/shortline/shortline/shared/testkit"
)

// domain is what the API tells about a domain.
type domain struct {
	ID, Status string
	Records    []acmetest.Record
}

// visitAs sends a visitor's request for a host.
func (p *program) visitAs(host, path string) (status int, location string) {
	p.t.Helper()
	req, err := http.NewRequest("GET", "http://"+p.Addr+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	req.Host = host
	req.Header.Set("User-Agent", laptop)
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		p.t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode, res.Header.Get("Location")
}

// age makes a domain look as if its proof was last found longer ago. The program must not be running.
func (p *program) age(hostname string, by time.Duration) {
	p.t.Helper()
	st, err := store.Open(p.t.Context(), store.Config{URL: "sqlite:" + filepath.Join(p.Dir, "shortline.db")})
	if err != nil {
		p.t.Fatal(err)
	}
	defer st.Close()
	if err := st.Tx(p.t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(p.t.Context(), `UPDATE domains SET proved_at = proved_at - ?, checked_at = checked_at - ? WHERE hostname = ?`, by.Milliseconds(), by.Milliseconds(), hostname)
		return err
	}); err != nil {
		p.t.Fatal(err)
	}
}

// A domain from its first request to visitors, with the real program and a real DNS server. Then the name changes hands: the
// links of the old workspace stop, those of the new one start, and neither workspace sees anything of the other.
func TestDomain_from_creation_to_another_workspace(t *testing.T) {
	t.Parallel()
	const host = "go.acme.example.com"
	names := dnstest.New(t)
	p := start(t, "RESOLVERS="+names.Addr, "EDGE_HOSTNAME=edge.sho.example.com", "STRICT_HOSTS=true")
	visit := func(path string, status int, location string) {
		t.Helper()
		testkit.Eventually(t, host+path+" leads to "+location, func() bool {
			got, to := p.visitAs(host, path)
			return got == status && to == location
		})
	}
	admin := p.Login()
	ann, bob := admin.user("ann@example.com"), admin.user("bob@example.com")
	names.Set(t, host, "CNAME edge.sho.example.com.")
	names.Set(t, "edge.sho.example.com", "A 198.51.100.1")
	visit("/spring", http.StatusMisdirectedRequest, "")
	var hers, his domain
	ann.Do("POST", "/api/domains", map[string]any{"hostname": host, "isDefault": true, "rootUrl": "https://example.com/home", "notFoundUrl": "https://example.com/lost"}, 201, &hers)
	spring := ann.CreateURL("https://example.com/ann", map[string]any{"customSlug": "spring", "domain": host})
	only := ann.CreateURL("https://example.com/ann-only", map[string]any{"customSlug": "only-ann"})
	admin.CreateURL("https://example.com/default", map[string]any{"customSlug": "spring"})
	if status, _ := p.visitAs(host, "/spring"); status != http.StatusMisdirectedRequest {
		t.Errorf("a host without proof: %d", status)
	}
	names.Set(t, "_shortline."+host, `TXT "`+hers.Records[0].Value+`"`)
	ann.Do("POST", "/api/domains/"+hers.ID+"/verify", nil, 200, &hers)
	if hers.Status != "ACTIVE" {
		t.Fatalf("verified: %+v", hers)
	}
	visit("/spring", http.StatusFound, "https://example.com/ann")
	visit("/", http.StatusFound, "https://example.com/home")
	visit("/autumn", http.StatusFound, "https://example.com/lost")
	if _, location := p.visitAs(p.Addr, "/spring"); location != "https://example.com/default" {
		t.Errorf("the default domain: %q", location)
	}
	if status, _ := p.visitAs(host, "/api/urls"); status == http.StatusOK || status == http.StatusUnauthorized {
		t.Errorf("the API on a custom domain: %d", status)
	}
	bob.Do("POST", "/api/domains", map[string]any{"hostname": host}, 409, nil)

	// A week without the record. The program reads the domain from its disk when it starts.
	names.Set(t, "_shortline."+host)
	p.Kill()
	p.age(host, 8*24*time.Hour)
	p.Start()
	testkit.Eventually(t, "ann's domain fails", func() bool {
		ann.Do("GET", "/api/domains/"+hers.ID, nil, 200, &hers)
		return hers.Status == "FAILED"
	})
	visit("/spring", http.StatusMisdirectedRequest, "")

	bob.Do("POST", "/api/domains", map[string]any{"hostname": host, "isDefault": true}, 201, &his)
	if his.Records[0].Value == hers.Records[0].Value {
		t.Error("two workspaces have the same proof")
	}
	winter := bob.CreateURL("https://example.com/bob", map[string]any{"customSlug": "spring"})
	names.Set(t, "_shortline."+host, `TXT "`+his.Records[0].Value+`"`)
	bob.Do("POST", "/api/domains/"+his.ID+"/verify", nil, 200, &his)
	if his.Status != "ACTIVE" {
		t.Fatalf("bob's domain: %+v", his)
	}
	testkit.Eventually(t, "bob's links work", func() bool {
		_, to := p.visitAs(host, "/spring")
		if strings.Contains(to, "ann") {
			t.Errorf("after the name changed hands: %s", to)
		}
		return to == "https://example.com/bob"
	})
	if status, to := p.visitAs(host, "/only-ann"); status != http.StatusNotFound {
		t.Errorf("a slug that only ann had: %d %s", status, to)
	}
	ann.Do("POST", "/api/domains/"+hers.ID+"/verify", nil, 200, &hers)
	if hers.Status != "FAILED" {
		t.Errorf("ann's domain: %s", hers.Status)
	}
	p.apart(ann, bob, []created{spring, only}, winter, host)

	// Ann can clean up, which changes nothing for bob.
	ann.Do("DELETE", "/api/domains/"+hers.ID, nil, 409, nil)
	for _, u := range []created{spring, only} {
		ann.Do("DELETE", "/api/urls/"+u.ID, nil, 204, nil)
	}
	ann.Do("DELETE", "/api/domains/"+hers.ID, nil, 204, nil)
	ann.Do("POST", "/api/urls/"+spring.ID+"/restore", map[string]any{}, 409, nil)
	ann.Do("POST", "/api/urls/"+spring.ID+"/restore", map[string]any{"domain": nil, "slug": "spring-of-ann"}, 200, nil)
	after := bob.CreateURL("https://example.com/after", map[string]any{"customSlug": "after"}) // the edge has it when it has all changes before
	visit("/after", http.StatusFound, "https://example.com/after")
	if _, to := p.visitAs(host, "/spring"); to != "https://example.com/bob" {
		t.Errorf("after ann has deleted her domain: %q", to)
	}
	bob.Do("DELETE", "/api/urls/"+after.ID+"?permanently=true", nil, 204, nil)
	bob.Do("DELETE", "/api/urls/"+winter.ID+"?permanently=true", nil, 204, nil)
	bob.Do("DELETE", "/api/domains/"+his.ID, nil, 204, nil)
	visit("/spring", http.StatusMisdirectedRequest, "")
}

// apart checks that each of two users sees their own links and clicks on the host, and nothing of the other.
func (p *program) apart(ann, bob *client, hers []created, his created, host string) {
	t := p.t
	clicks := func(c *client, path string) int64 {
		var got struct{ TotalClicks int64 }
		c.Do("GET", path, nil, 200, &got)
		return got.TotalClicks
	}
	testkit.Eventually(t, "clicks of both are counted", func() bool {
		return clicks(ann, "/api/analytics/overview?domain="+host) > 0 && clicks(bob, "/api/analytics/overview?domain="+host) > 0
	})
	for _, c := range []struct {
		name        string
		who         *client
		own, others []created
	}{{"ann", ann, hers, []created{his}}, {"bob", bob, []created{his}, hers}} {
		var list struct {
			Total int
			Data  []created
		}
		c.who.Do("GET", "/api/urls?domain="+host, nil, 200, &list)
		if list.Total != len(c.own) {
			t.Errorf("%s sees %+v", c.name, list)
		}
		for _, u := range c.others {
			for _, path := range []string{"/api/urls/", "/api/analytics/urls/"} {
				c.who.Do("GET", path+u.ID, nil, 404, nil)
			}
			c.who.Do("DELETE", "/api/urls/"+u.ID, nil, 404, nil)
		}
		sum := int64(0)
		for _, u := range c.own {
			sum += clicks(c.who, "/api/analytics/urls/"+u.ID)
		}
		var groups struct {
			Groups []struct {
				Name   string
				Clicks int64
			}
		}
		c.who.Do("GET", "/api/analytics/groups?by=domain", nil, 200, &groups)
		for _, g := range groups.Groups {
			if g.Name == host && g.Clicks != sum {
				t.Errorf("%s has %d clicks on the domain, want %d", c.name, g.Clicks, sum)
			}
		}
		if n := clicks(c.who, "/api/analytics/overview"); n != sum {
			t.Errorf("%s has %d clicks, want %d", c.name, n, sum)
		}
		var missing struct{ Data []struct{ Slug string } }
		c.who.Do("GET", "/api/analytics/missing", nil, 200, &missing)
		for _, m := range missing.Data {
			if c.name == "bob" && m.Slug != "only-ann" {
				t.Errorf("bob sees what visitors asked of ann: %s", m.Slug)
			}
		}
	}
}
