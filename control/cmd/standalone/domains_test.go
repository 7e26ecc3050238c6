package main_test

import (
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/manage/domains/dnstest"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/testing/acmetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// domain is what the API tells about a domain.
type domain struct {
	ID, Status string
	Records    []acmetest.Record
}

// visitAs sends a visitor's request for a host.
func (p *program) visitAs(host, path string) (status int, location string) {
	p.t.Helper()
	return p.follow(path[1:], map[string]string{"Host": host, "User-Agent": laptop})
}

// age makes a domain look as if its proof was last found longer ago. The program must not be running.
func (p *program) age(hostname string, by time.Duration) {
	p.t.Helper()
	st, err := store.Open(p.t.Context(), store.Config{URL: "sqlite:" + filepath.Join(p.Dir, "shortline.db")})
	testkit.Must(p.t, err)
	defer st.Close()
	if err := st.Tx(p.t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(p.t.Context(), `UPDATE domains SET proved_at = proved_at - ?, checked_at = checked_at - ? WHERE hostname = ?`,
			by.Milliseconds(), by.Milliseconds(), hostname)
		return err
	}); err != nil {
		p.t.Fatal(err)
	}
}

// A domain from its first request to visitors, with the real program and a real DNS server. Then the name changes hands: the
// links of the old workspace stop, those of the new one start, and neither workspace counts clicks of the other.
func TestS3_S4_domain_from_creation_to_another_workspace(t *testing.T) {
	t.Parallel()
	const host = "go.acme.example.com"
	names := dnstest.New(t)
	p := start(t, "RESOLVERS="+names.Addr, "EDGE_HOSTNAME=edge.sho.example.com", "STRICT_HOSTS=false")
	visit := func(path string, status int, location string) {
		t.Helper()
		testkit.Eventually(t, host+path+" leads to "+location, func() bool {
			got, to := p.visitAs(host, path)
			return got == status && to == location
		})
	}
	// refused waits until visitors of the host are refused. BASE_URL's links, its API and its console do not answer there.
	refused := func(status int) {
		t.Helper()
		for _, path := range []string{"/spring", "/", "/login", "/console", "/api/urls", "/spring/info"} {
			visit(path, status, "")
		}
	}
	admin := p.Login()
	// add makes a domain of a user, with the link /spring, and proves it.
	add := func(c *client, fields map[string]any, target string) (d domain, spring created) {
		t.Helper()
		fields["hostname"], fields["isDefault"] = host, true
		c.Do("POST", "/api/domains", fields, 201, &d)
		spring = c.CreateURL(target, map[string]any{"customSlug": "spring"})
		refused(http.StatusMisdirectedRequest)
		names.Set(t, "_shortline."+host, `TXT "`+d.Records[0].Value+`"`)
		c.Do("POST", "/api/domains/"+d.ID+"/verify", nil, 200, &d)
		if d.Status != "ACTIVE" {
			t.Fatalf("verified: %+v", d)
		}
		visit("/spring", http.StatusFound, target)
		return d, spring
	}
	ann, bob := admin.user("ann@example.com"), admin.user("bob@example.com")
	names.Set(t, host, "CNAME edge.sho.example.com.")
	names.Set(t, "edge.sho.example.com", "A 198.51.100.1")
	admin.CreateURL("https://example.com/default", map[string]any{"customSlug": "spring"})
	pages := map[string]any{"rootUrl": "https://example.com/home", "notFoundUrl": "https://example.com/lost"}
	hers, herSpring := add(ann, pages, "https://example.com/ann")
	only := ann.CreateURL("https://example.com/ann-only", map[string]any{"customSlug": "only-ann"})
	visit("/", http.StatusFound, "https://example.com/home")
	visit("/autumn", http.StatusFound, "https://example.com/lost")
	if _, location := p.visitAs(p.Addr, "/spring"); location != "https://example.com/default" {
		t.Errorf("the default domain: %q", location)
	}
	if status, _ := p.visitAs(host, "/api/urls"); status == http.StatusOK || status == http.StatusUnauthorized {
		t.Errorf("the API on a custom domain: %d", status)
	}

	// A week without the record. The program reads the domain from its disk when it starts.
	names.Set(t, "_shortline."+host)
	p.Kill()
	p.age(host, 8*24*time.Hour)
	p.Start()
	testkit.Eventually(t, "ann's domain fails", func() bool {
		ann.Do("GET", "/api/domains/"+hers.ID, nil, 200, &hers)
		return hers.Status == "FAILED"
	})
	refused(http.StatusMisdirectedRequest)

	his, hisSpring := add(bob, map[string]any{}, "https://example.com/bob")
	if his.Records[0].Value == hers.Records[0].Value {
		t.Error("two workspaces have the same proof")
	}
	if status, to := p.visitAs(host, "/only-ann"); status != http.StatusNotFound {
		t.Errorf("a slug that only ann had: %d %s", status, to)
	}
	for c, spring := range map[*client]created{ann: herSpring, bob: hisSpring} {
		testkit.Eventually(t, "the domain has the clicks of "+spring.ID+" and no others", func() bool {
			var all, here struct{ TotalClicks int64 }
			var by struct {
				Groups []struct {
					Name   string
					Clicks int64
				}
			}
			c.Do("GET", "/api/analytics/overview", nil, 200, &all)
			c.Do("GET", "/api/analytics/overview?domain="+host, nil, 200, &here)
			c.Do("GET", "/api/analytics/groups?by=domain", nil, 200, &by)
			n := c.reportTotal(spring.ID)
			return n > 0 && all.TotalClicks == n && here.TotalClicks == n && by.Groups[0].Name == host && by.Groups[0].Clicks == n
		})
	}

	// Ann can clean up, which changes nothing for bob.
	for _, u := range []created{herSpring, only} {
		ann.Do("DELETE", "/api/urls/"+u.ID, nil, 204, nil)
	}
	ann.Do("DELETE", "/api/domains/"+hers.ID, nil, 204, nil)
	bob.CreateURL("https://example.com/after", map[string]any{"customSlug": "after"})
	visit("/after", http.StatusFound, "https://example.com/after") // so the edge has all changes before
	visit("/spring", http.StatusFound, "https://example.com/bob")

	admin.Do("POST", "/api/domains/"+his.ID+"/suspend", map[string]any{"reason": "Phishing"}, 200, nil)
	refused(http.StatusGone)
}
