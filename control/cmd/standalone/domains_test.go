package main_test

import (
	"net/http"
	"path/filepath"
	"testing"
	"time"

	shortline "github.com/shortline/shortline/client"
	"github.com/shortline/shortline/control/internal/manage/domains/dnstest"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// domain is what the API tells about a domain.
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
	add := func(c *client, body shortline.CreateDomain, target string) (d *shortline.Domain, spring *shortline.Link) {
		t.Helper()
		body.Hostname, body.IsDefault = host, shortline.Set(true)
		d, err := c.Domains.Create(t.Context(), body)
		testkit.Must(t, err)
		spring = c.link(shortline.CreateLink{OriginalURL: target, CustomSlug: shortline.Set("spring")})
		refused(http.StatusMisdirectedRequest)
		names.Set(t, "_shortline."+host, `TXT "`+d.Records[0].Value+`"`)
		testkit.Eventually(t, "DNS answers for "+host, func() bool { // the service asks for at most five seconds at a time
			d, err = c.Domains.Verify(t.Context(), d.ID)
			testkit.Must(t, err)
			return d.Status == shortline.DomainStatusActive
		})
		visit("/spring", http.StatusFound, target)
		return d, spring
	}
	ann, bob := admin.user("ann@example.com"), admin.user("bob@example.com")
	names.Set(t, host, "CNAME edge.sho.example.com.")
	names.Set(t, "edge.sho.example.com", "A 198.51.100.1")
	admin.link(shortline.CreateLink{OriginalURL: "https://example.com/default", CustomSlug: shortline.Set("spring")})
	pages := shortline.CreateDomain{RootURL: shortline.Set("https://example.com/home"),
		NotFoundURL: shortline.Set("https://example.com/lost")}
	hers, herSpring := add(ann, pages, "https://example.com/ann")
	only := ann.link(shortline.CreateLink{OriginalURL: "https://example.com/ann-only", CustomSlug: shortline.Set("only-ann")})
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
		now, err := ann.Domains.Get(t.Context(), hers.ID)
		testkit.Must(t, err)
		return now.Status == shortline.DomainStatusFailed
	})
	refused(http.StatusMisdirectedRequest)

	his, hisSpring := add(bob, shortline.CreateDomain{}, "https://example.com/bob")
	if his.Records[0].Value == hers.Records[0].Value {
		t.Error("two workspaces have the same proof")
	}
	if status, to := p.visitAs(host, "/only-ann"); status != http.StatusNotFound {
		t.Errorf("a slug that only ann had: %d %s", status, to)
	}
	for c, spring := range map[*client]*shortline.Link{ann: herSpring, bob: hisSpring} {
		testkit.Eventually(t, "the domain has the clicks of "+spring.ID+" and no others", func() bool {
			all, err := c.Reports.Overview(t.Context(), shortline.FullReportParams{})
			testkit.Must(t, err)
			here, err := c.Reports.Overview(t.Context(), shortline.FullReportParams{Domain: []string{host}})
			testkit.Must(t, err)
			by, err := c.Reports.Groups(t.Context(), shortline.GroupReportParams{By: "domain"})
			testkit.Must(t, err)
			n := int(c.reportTotal(spring.ID))
			return n > 0 && all.TotalClicks == n && here.TotalClicks == n && by.Groups[0].Name == host && by.Groups[0].Clicks == n
		})
	}

	// Ann can clean up, which changes nothing for bob.
	for _, u := range []*shortline.Link{herSpring, only} {
		testkit.Must(t, ann.Links.Delete(t.Context(), u.ID, shortline.DeleteLinkParams{}))
	}
	testkit.Must(t, ann.Domains.Delete(t.Context(), hers.ID))
	bob.link(shortline.CreateLink{OriginalURL: "https://example.com/after", CustomSlug: shortline.Set("after")})
	visit("/after", http.StatusFound, "https://example.com/after") // so the edge has all changes before
	visit("/spring", http.StatusFound, "https://example.com/bob")

	_, err := admin.Abuse.SuspendDomain(t.Context(), his.ID, shortline.SuspendDomain{Reason: "Phishing"})
	testkit.Must(t, err)
	refused(http.StatusGone)
}
