package harness_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/hooksink"
)

// TestG20 kills control planes while webhooks are delivered. One receiver hangs, one resets connections, one never ends
// its answer, and one fails at first. Every event must reach the working receivers, with one ID and a valid signature.
func TestG20_webhooks_through_kills(t *testing.T) {
	events := count(t, 40)
	c := startChain(t, fleet.Config{Edges: 1, Controls: 2, ControlEnv: []string{"WEBHOOK_ALLOW_PRIVATE=true", "WEBHOOK_TIMEOUT=3s"}}, 0)
	const secret = "the-secret-of-the-hooks"
	sinks := map[string]*hooksink.Sink{}
	for name, script := range map[string]func(hooksink.Delivery) hooksink.Answer{
		"sound1": nil, "sound2": nil,
		"flapping": failsAtFirst,
		"hanging":  func(hooksink.Delivery) hooksink.Answer { return hooksink.Answer{After: time.Minute} },
		"cutting":  func(hooksink.Delivery) hooksink.Answer { return hooksink.Answer{Cut: true} },
		"endless":  func(hooksink.Delivery) hooksink.Answer { return hooksink.Answer{Endless: true} },
	} {
		s := hooksink.New(secret, script)
		server := httptest.NewServer(s)
		t.Cleanup(func() {
			server.CloseClientConnections()
			server.Close()
		})
		sinks[name] = s
		c.api.Must("POST", "/api/webhooks", map[string]any{"name": name, "url": server.URL + "/hook", "secret": secret, "events": []string{"url.created"}}, 201, nil)
	}
	made := map[string]bool{}
	for i := range events {
		api := c.api.At(c.Controls[i%2])
		var l fleet.Link
		for { // a call with an unknown outcome may have used the name
			slug := fmt.Sprintf("hook-%d-%d", i, time.Now().UnixNano())
			if _, _, err := api.Call("POST", "/api/urls", map[string]any{"originalUrl": "https://example.com/", "customSlug": slug}, &l); err == nil {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		made[l.ID] = true
		if i%(events/4+1) == events/8 {
			victim := c.Controls[i/(events/4+1)%2]
			victim.Kill()
			victim.Start()
		}
	}
	for _, name := range []string{"sound1", "sound2", "flapping"} {
		s := sinks[name]
		testkit.Within(t, 60*time.Second, fmt.Sprintf("%d events were delivered to %s", events, name), func() bool {
			arrived := 0
			for _, ids := range eventsOf(s) {
				if ids.done {
					arrived++
				}
			}
			return arrived >= events
		})
		got := eventsOf(s)
		a := s.Account()
		t.Logf("%s: %d events, %+v", name, len(got), a)
		missing := 0
		for id := range made {
			if !got[id].done {
				missing++
			}
		}
		changing := 0
		for _, e := range got {
			if len(e.deliveries) != 1 {
				changing++
			}
		}
		if missing != 0 || a.Unsigned != 0 || changing != 0 {
			t.Errorf("%s: %d events missing, %d with an invalid signature, %d with more than one ID", name, missing, a.Unsigned, changing)
		}
	}
	for _, n := range c.Controls {
		if !n.Alive() {
			t.Errorf("%s has exited", n.Name)
		}
	}
}

type eventAccount struct {
	deliveries map[string]bool
	done       bool
}

// eventsOf groups deliveries by their link.
func eventsOf(s *hooksink.Sink) map[string]eventAccount {
	all := map[string]eventAccount{}
	for _, d := range s.Came() {
		id := linkOf(d)
		if id == "" {
			continue
		}
		e := all[id]
		if e.deliveries == nil {
			e.deliveries = map[string]bool{}
		}
		e.deliveries[d.ID] = true
		e.done = e.done || d.Status/100 == 2
		all[id] = e
	}
	return all
}

// linkOf returns the link of a delivery, or the empty string.
func linkOf(d hooksink.Delivery) string {
	var body struct {
		Data struct{ ID string }
	}
	if err := json.Unmarshal(d.Body, &body); err != nil {
		return ""
	}
	return body.Data.ID
}

func failsAtFirst(d hooksink.Delivery) hooksink.Answer {
	if d.Attempt == 1 {
		return hooksink.Answer{Status: http.StatusServiceUnavailable}
	}
	return hooksink.Answer{}
}

// TestG26 plants secrets, uses each of them where the installation needs it, and then searches for them in everything
// on disk: the database dump, snapshots, spools, Kafka, ClickHouse and logs.
func TestG26_secrets_are_nowhere_in_clear(t *testing.T) {
	c := startChain(t, fleet.Config{Edges: 1, Controls: 1, ControlEnv: []string{"WEBHOOK_ALLOW_PRIVATE=true"}}, 1)
	canary := func(kind string) string { return "canary-" + kind + "-5f3759df" }
	sink := hooksink.New(canary("hook"), nil)
	server := httptest.NewServer(sink)
	defer server.Close()
	c.api.Must("POST", "/api/webhooks", map[string]any{"name": "h", "url": server.URL, "secret": canary("hook"), "events": []string{"url.created", "url.clicked"},
		"headers": map[string]string{"X-Token": canary("header")}}, 201, nil)
	l := c.api.Create("https://example.com/", map[string]any{"password": canary("link"), "customSlug": "locked"})
	c.api.Must("PATCH", "/api/urls/"+l.ID, map[string]any{"password": canary("link2")}, 200, nil)
	c.api.Must("POST", "/api/users", map[string]any{"email": "someone@example.com", "name": "Someone", "password": canary("user"), "role": "USER"}, 201, nil)
	c.api.Must("POST", "/api/admin/oidc-providers", map[string]any{"slug": "idp", "name": "IdP", "discoveryUrl": "https://idp.example.com/.well-known/openid-configuration", "clientId": "x", "clientSecret": canary("oidc"), "scopes": "openid email"}, 201, nil)
	var key struct{ Key string }
	c.api.Must("POST", "/api/api-keys", map[string]any{"name": "k"}, 201, &key)
	var totp struct{ Secret string }
	c.api.Must("POST", "/api/auth/2fa/setup", nil, 201, &totp)
	// Wrong and right attempts, so that a program that logs its input would log the secret.
	for _, password := range []string{canary("user"), canary("wrong")} {
		_, _, _ = c.api.Call("POST", "/api/auth/login", map[string]any{"email": "someone@example.com", "password": password}, nil) // the status does not matter
	}
	e := c.Edges[0]
	testkit.Within(t, 10*time.Second, "the edge has the locked link", func() bool {
		status, _, err := follow(e.Addr, "locked")
		return err == nil && status == http.StatusOK
	})
	body := "password=" + canary("link2")
	if status, _, err := ask(e.Addr, fmt.Sprintf("POST /locked/verify HTTP/1.1\r\nHost: sho.rt\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(body), body)); err != nil || status != http.StatusSeeOther {
		t.Fatalf("submit the link password: got %d %v", status, err)
	}
	testkit.Within(t, 20*time.Second, "the webhook received the click event", func() bool { return len(sink.Came()) >= 2 })

	bin, err := exec.LookPath("pg_dump")
	if err != nil {
		t.Fatal("pg_dump not found; deploy/dev/tools installs PostgreSQL")
	}
	dump, err := exec.Command(bin, c.DatabaseURL()).Output()
	if err != nil {
		t.Fatalf("pg_dump: %v", err)
	}
	if err := os.WriteFile(filepath.Join(c.Dir, "dump.sql"), dump, 0o600); err != nil {
		t.Fatal(err)
	}
	secrets := map[string]string{
		"link password": canary("link"), "changed link password": canary("link2"), "user's password": canary("user"), "wrong password": canary("wrong"), "webhook secret": canary("hook"),
		"webhook header": canary("header"), "OIDC secret": canary("oidc"), "API key": key.Key, "TOTP secret": totp.Secret, "JWT key": strings.Repeat("j", 32), "encryption key": strings.Repeat("e", 32),
		"admin's password": "the-admin-of-this-test", "edge token": "a-token-for-edges-of-tests",
	}
	files, size := 0, 0
	if err := filepath.WalkDir(c.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // files may be deleted during the walk
		}
		if info, err := d.Info(); err != nil || info.Size() > 100<<20 {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		files++
		size += len(content)
		for what, secret := range secrets {
			if len(secret) > 8 && strings.Contains(string(content), secret) {
				t.Errorf("the %s is stored in clear text in %s", what, strings.TrimPrefix(path, c.Dir))
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	t.Logf("searched %[2]d files with %[3]d MiB for %[1]d secrets", len(secrets), files, size/mebibyte)
	if files < 20 || !strings.Contains(string(dump), "locked") {
		t.Error("too few files were searched")
	}
}
