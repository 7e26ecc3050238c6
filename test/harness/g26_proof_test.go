//go:build proof

package harness_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/hooksink"
)

// TestG26 plants secrets, uses each of them where the installation needs it, and then searches for them in everything
// on disk: the database dump, snapshots, spools, Kafka, ClickHouse and logs.
func TestG26_secrets_are_nowhere_in_clear(t *testing.T) {
	t.Parallel()
	c := startChain(t, fleet.Config{Edges: 1, Controls: 1, ControlEnv: []string{"WEBHOOK_ALLOW_PRIVATE=true"}}, 1)
	canary := func(kind string) string { return "canary-" + kind + "-5f3759df" }
	sink := hooksink.New(canary("hook"), nil)
	server := httptest.NewServer(sink)
	defer server.Close()
	ctx, set := t.Context(), client.Set[string]
	_, err := c.api.Webhooks.Create(ctx, client.CreateWebhook{Name: "h", URL: server.URL, Secret: set(canary("hook")),
		Events:  []client.Event{client.EventURLCreated, client.EventURLClicked},
		Headers: client.Set(map[string]string{"X-Token": canary("header")})})
	testkit.Must(t, err)
	l := c.api.Create(client.CreateLink{OriginalURL: "https://example.com/", Password: set(canary("link")), CustomSlug: set("locked")})
	c.api.Change(l.ID, client.UpdateLink{Password: set(canary("link2"))})
	c.api.User("someone@example.com", canary("user"))
	_, err = c.api.IdentityProviders.Create(ctx, client.CreateOIDCProvider{Slug: "idp", Name: "IdP", ClientID: "x",
		DiscoveryURL: "https://idp.example.com/.well-known/openid-configuration", ClientSecret: canary("oidc"), Scopes: set("openid email")})
	testkit.Must(t, err)
	key := c.api.Key()
	totp, err := c.api.Account.SetUp2FA(ctx, client.SetUpTOTP{})
	testkit.Must(t, err)
	// Wrong and right attempts, so that a program that logs its input would log the secret.
	for _, password := range []string{canary("user"), canary("wrong")} {
		// the status does not matter
		_, _ = c.api.Account.Login(ctx, client.SignIn{Email: "someone@example.com", Password: password})
	}
	e := c.Edges[0]
	answers(t, e, "locked", http.StatusOK, "")
	body := "password=" + canary("link2")
	if status, _,
		err := ask(e.Addr,
		fmt.Sprintf(
			"POST /locked/verify HTTP/1.1\r\nHost: sho.rt\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: "+
				"%d\r\nConnection: close\r\n\r\n%s", len(body), body)); err != nil || status != http.StatusSeeOther {
		t.Fatalf("submit the link password: got %d %v", status, err)
	}
	testkit.Eventually(t, "the webhook received the click event", func() bool { return len(sink.Came()) >= 2 })

	bin, err := exec.LookPath("pg_dump")
	if err != nil {
		t.Fatal("pg_dump not found; deploy/dev/tools installs PostgreSQL")
	}
	dump, err := exec.Command(bin, c.DatabaseURL()).Output()
	if err != nil {
		t.Fatalf("pg_dump: %v", err)
	}
	testkit.Must(t, os.WriteFile(filepath.Join(c.Dir, "dump.sql"), dump, 0o600))
	secrets := map[string]string{
		"link password": canary("link"), "changed link password": canary("link2"), "user's password": canary("user"),
		"wrong password": canary("wrong"), "webhook secret": canary("hook"),
		"webhook header": canary("header"), "OIDC secret": canary("oidc"), "API key": key.Key, "TOTP secret": totp.Secret,
		"JWT key": strings.Repeat("j", 32), "encryption key": strings.Repeat("e", 32),
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
