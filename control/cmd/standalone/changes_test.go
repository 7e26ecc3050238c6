package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testkit"
)

const (
	iPhone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1"
	laptop = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
)

// within waits at most one second for a change to take effect.
func (p *program) within(what, slug string, header map[string]string, status int, location string) {
	p.t.Helper()
	var gotStatus int
	var gotLocation string
	began := time.Now()
	testkit.Within(p.t, time.Second, fmt.Sprintf("%s: %s returns %d %s (now %d %s)", what, slug, status, location, gotStatus, gotLocation), func() bool {
		gotStatus, gotLocation = p.follow(slug, header)
		return gotStatus == status && gotLocation == location
	})
	p.t.Logf("%s: seen after %s", what, time.Since(began).Round(time.Millisecond))
}

func TestE2E_changes_take_effect_within_a_second(t *testing.T) {
	p := start(t)
	c := p.Login()
	u := c.CreateURL("https://example.com/", map[string]any{"customSlug": "fresh"})
	phone, desk := map[string]string{"User-Agent": iPhone}, map[string]string{"User-Agent": laptop}
	p.within("created", "fresh", phone, 302, "https://example.com/")

	var rule struct{ ID string }
	c.Do("POST", "/api/urls/"+u.ID+"/routing-rules", map[string]any{
		"name": "phones", "targetUrl": "https://example.com/phone",
		"conditions": map[string]any{"logicalOperator": "AND", "items": []any{map[string]any{"type": "device", "operator": "equals", "value": "MOBILE"}}},
	}, 201, &rule)
	p.within("rule created", "fresh", phone, 302, "https://example.com/phone")
	p.within("rule created", "fresh", desk, 302, "https://example.com/")

	c.Do("PUT", "/api/urls/"+u.ID+"/routing-rules/"+rule.ID, map[string]any{"targetUrl": "https://example.com/handset"}, 200, nil)
	p.within("rule changed", "fresh", phone, 302, "https://example.com/handset")

	c.Do("PATCH", "/api/urls/"+u.ID+"/routing-rules/settings", map[string]any{"defaultUrl": "https://example.com/else"}, 200, nil)
	p.within("default set", "fresh", desk, 302, "https://example.com/else")

	c.Do("POST", "/api/urls/"+u.ID+"/variants", map[string]any{"name": "only", "targetUrl": "https://example.com/v", "weight": 10}, 201, nil)
	p.within("variant created", "fresh", desk, 302, "https://example.com/v")

	c.Do("PUT", "/api/urls/"+u.ID, map[string]any{"status": "INACTIVE"}, 200, nil)
	p.within("switched off", "fresh", phone, 410, "")
	c.Do("PUT", "/api/urls/"+u.ID, map[string]any{"status": "ACTIVE", "password": "open sesame"}, 200, nil)
	p.within("password set", "fresh", phone, 200, "")

	c.Do("DELETE", "/api/urls/"+u.ID, nil, 204, nil)
	p.within("deleted", "fresh", phone, 404, "")
}

func TestE2E_a_restart_keeps_links_sessions_clicks_and_secrets(t *testing.T) {
	p := start(t)
	c := p.Login()
	u := c.CreateURL("https://example.com/kept", nil)
	p.within("created", u.Slug, map[string]string{"User-Agent": laptop}, 302, "https://example.com/kept")
	testkit.Within(t, 5*time.Second, "the click is in the report", func() bool { return c.reportTotal(u.ID) == 1 })
	for _, how := range []struct {
		name string
		end  func()
	}{{"stop", p.Stop}, {"kill", p.Kill}} {
		how.end()
		began := time.Now()
		p.Start()
		t.Logf("ready again %s after a %s", time.Since(began).Round(time.Millisecond), how.name)
		if strings.Contains(p.output.String(), "password  ") {
			t.Error("another password was printed")
		}
		before := c.reportTotal(u.ID)
		if status, to := p.follow(u.Slug, map[string]string{"User-Agent": laptop}); status != 302 || to != "https://example.com/kept" {
			t.Errorf("after a %s: %d %s", how.name, status, to)
		}
		testkit.Within(t, 5*time.Second, "the next click is counted too", func() bool { return c.reportTotal(u.ID) == before+1 })
	}
	p.Stop()
	err := filepath.WalkDir(p.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && path != p.Dir && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("other users can read %s: %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A visitor unlocks a protected link with a form, as in a browser, and with JSON.
func TestE2E_password(t *testing.T) {
	p := start(t)
	c := p.Login()
	u := c.CreateURL("https://example.com/secret", map[string]any{"password": "open sesame"})
	p.within("created", u.Slug, map[string]string{"Accept": "text/html"}, 200, "")

	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	form := func(password string) (int, string) {
		res, err := client.PostForm("http://"+p.Addr+"/"+u.Slug+"/verify", url.Values{"password": {password}})
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		return res.StatusCode, res.Header.Get("Location")
	}
	if status, to := form("wrong"); status != 303 || !strings.HasSuffix(to, "/"+u.Slug+"?error=invalid_password") {
		t.Errorf("wrong: %d %s", status, to)
	}
	if status, to := form("open sesame"); status != 303 || to != "https://example.com/secret" {
		t.Errorf("right: %d %s", status, to)
	}
	res, err := client.Post("http://"+p.Addr+"/"+u.Slug+"/verify", "application/json", strings.NewReader(`{"password":"open sesame"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var out struct {
		Success                  bool
		OriginalURL, RedirectURL string
	}
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil || res.StatusCode != 200 || !out.Success || out.OriginalURL != "https://example.com/secret" || out.RedirectURL != out.OriginalURL {
		t.Errorf("JSON: %d %+v %v", res.StatusCode, out, err)
	}
}

// Invalid requests get a 4xx with the documented body and have no effect.
func TestE2E_bad_input(t *testing.T) {
	p := start(t, "RATE_LIMIT_DEFAULT=0")
	c := p.Login()
	c.CreateURL("https://example.com/", map[string]any{"customSlug": "steady"})
	deep := strings.Repeat(`{"operator":"AND","conditions":[`, 5000)
	for name, body := range map[string]string{
		"wrong type":      `{"originalUrl": 7}`,
		"unknown field":   `{"originalUrl": "https://example.com/", "owner": "me"}`,
		"long string":     `{"originalUrl": "https://example.com/", "title": "` + strings.Repeat("x", 1<<20-200) + `"}`,
		"too large":       `{"title": "` + strings.Repeat("x", 2<<20) + `"}`,
		"broken JSON":     `{"originalUrl": "https://example.com/"`,
		"not an object":   `["https://example.com/"]`,
		"script address":  `{"originalUrl": "javascript:alert(1)"}`,
		"own address":     `{"originalUrl": "http://` + p.Addr + `/steady"}`,
		"private address": `{"originalUrl": "http://0x7f.1/"}`,
		"line break":      `{"originalUrl": "https://example.com/\r\nSet-Cookie: a=b"}`,
		"deep nesting":    `{"originalUrl": ` + deep + `}`,
	} {
		req, err := http.NewRequest("POST", c.base+"/api/urls", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+c.token)
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		var out struct {
			StatusCode     int
			Message, Error string
		}
		if err != nil || json.Unmarshal(text, &out) != nil || res.StatusCode < 400 || res.StatusCode > 499 || out.StatusCode != res.StatusCode || out.Message == "" || out.Error == "" {
			t.Errorf("%s: %d %.200s %v", name, res.StatusCode, text, err)
		}
	}
	var page struct{ Total int }
	c.Do("GET", "/api/urls", nil, 200, &page)
	if page.Total != 1 {
		t.Errorf("%d links, want 1", page.Total)
	}
	if status, _ := p.follow("steady", map[string]string{"User-Agent": laptop}); status != 302 {
		t.Errorf("the edge returns %d", status)
	}
}
