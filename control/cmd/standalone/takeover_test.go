package main_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/manage/domains/dnstest"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/testkit"
)

// user creates a user and signs in.
func (c *client) user(email string) *client {
	c.t.Helper()
	const password = "correct horse battery staple"
	c.Do("POST", "/api/users", map[string]any{"email": email, "password": password}, 201, nil)
	u := &client{t: c.t, base: c.base}
	u.signIn(email, password)
	return u
}

func (c *client) signIn(email, password string) {
	c.t.Helper()
	var out struct{ AccessToken string }
	c.Do("POST", "/api/auth/login", map[string]any{"email": email, "password": password}, 200, &out)
	c.token = out.AccessToken
}

// visitAs sends a visitor's request for a host.
func (p *program) visitAs(host, path string) (status int, location string) {
	p.t.Helper()
	req, err := http.NewRequest("GET", "http://"+p.Addr+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	req.Host = host
	req.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0") // bots do not count
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

// takeover is the time within which edges must follow a change of the owner of a name.
const takeover = 2 * time.Second

// A name changes hands: the links of the old workspace stop, those of the new one start, and neither workspace sees anything
// of the other.
func TestDomain_taken_over_by_another_workspace(t *testing.T) {
	t.Parallel()
	const host = "go.acme.example.com"
	names := dnstest.New(t)
	p := start(t, "RESOLVERS="+names.Addr, "EDGE_HOSTNAME=edge.sho.example.com", "STRICT_HOSTS=true")
	admin := p.Login()
	ann, bob := admin.user("ann@example.com"), admin.user("bob@example.com")
	names.Set(t, host, "CNAME edge.sho.example.com.")
	names.Set(t, "edge.sho.example.com", "A 198.51.100.1")
	var hers, his domain
	ann.Do("POST", "/api/domains", map[string]any{"hostname": host, "isDefault": true}, 201, &hers)
	names.Set(t, "_shortline."+host, `TXT "`+hers.Records[0].Value+`"`)
	ann.Do("POST", "/api/domains/"+hers.ID+"/verify", nil, 200, nil)
	spring := ann.CreateURL("https://example.com/ann", map[string]any{"customSlug": "spring"})
	only := ann.CreateURL("https://example.com/ann-only", map[string]any{"customSlug": "only-ann"})
	testkit.Eventually(t, "ann's links work", func() bool { _, to := p.visitAs(host, "/spring"); return to == "https://example.com/ann" })
	bob.Do("POST", "/api/domains", map[string]any{"hostname": host}, 409, nil)

	// A week without the record.
	names.Set(t, "_shortline."+host)
	p.Kill()
	p.age(host, 8*24*time.Hour)
	p.Start()
	var failed time.Time
	testkit.Eventually(t, "ann's domain fails", func() bool {
		ann.Do("GET", "/api/domains/"+hers.ID, nil, 200, &hers)
		failed = time.Now()
		return hers.Status == "FAILED"
	})
	testkit.Eventually(t, "ann's links stop", func() bool { status, _ := p.visitAs(host, "/spring"); return status == http.StatusMisdirectedRequest })
	if took := time.Since(failed); took > takeover {
		t.Errorf("ann's links stopped after %s", took)
	}

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
	verified := time.Now()
	testkit.Eventually(t, "bob's links work", func() bool {
		_, to := p.visitAs(host, "/spring")
		if strings.Contains(to, "ann") {
			t.Errorf("after the name changed hands: %s", to)
		}
		return to == "https://example.com/bob"
	})
	took := time.Since(verified)
	if t.Logf("bob's links work after %s", took); took > takeover {
		t.Errorf("bob's links work after %s", took)
	}
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
	ann.Do("POST", "/api/urls/"+spring.ID+"/restore", map[string]any{"domain": nil}, 200, nil)
	time.Sleep(takeover)
	if _, to := p.visitAs(host, "/spring"); to != "https://example.com/bob" {
		t.Errorf("after ann has deleted her domain: %q", to)
	}
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
		time.Sleep(100 * time.Millisecond)
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
