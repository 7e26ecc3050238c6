//go:build proof

package browser_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	neturl "net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"github.com/chromedp/cdproto/network"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// keycloakServer is a running Keycloak with one realm, to which its administrator is signed in.
type keycloakServer struct {
	t     *testing.T
	base  string // address
	realm string // address of the realm in the API of administrators
	token string
}

// startKeycloak starts Keycloak with an empty realm. deploy/dev/parts keycloak downloads it.
func startKeycloak(t *testing.T) *keycloakServer {
	t.Helper()
	cache, err := os.UserCacheDir()
	testkit.Must(t, err)
	found, err := filepath.Glob(filepath.Join(cache, "shortline", "keycloak-*"))
	testkit.Must(t, err)
	if len(found) != 1 {
		t.Fatalf("there must be one Keycloak in the cache, not %q; deploy/dev/parts keycloak downloads it", found)
	}
	home := filepath.Join(t.TempDir(), "keycloak")
	testkit.Must(t, os.CopyFS(home, os.DirFS(found[0]))) // the first start writes to its own program
	addr := testkit.FreeAddr(t)
	k := &keycloakServer{t: t, base: "http://" + addr}
	k.realm = k.base + "/admin/realms/acme"
	log, err := os.Create(filepath.Join(home, "log"))
	testkit.Must(t, err)
	start := func(more ...string) *exec.Cmd {
		args := append(more, "-Xmx512m", "-Dkc.home.dir="+home, "-Djboss.server.config.dir="+filepath.Join(home, "conf"),
			"-Djava.util.logging.manager=org.jboss.logmanager.LogManager",
			"-Djava.util.concurrent.ForkJoinPool.common.threadFactory=io.quarkus.bootstrap.forkjoin.QuarkusForkJoinWorkerThreadFactory",
			"-cp", filepath.Join(home, "lib", "quarkus-run.jar"), "io.quarkus.bootstrap.runner.QuarkusEntryPoint",
			"start-dev", "--db", "dev-mem", "--http-host", "127.0.0.1", "--http-port", addr[len("127.0.0.1:"):])
		cmd := exec.Command("java", args...)
		cmd.Env = append(os.Environ(), "KC_BOOTSTRAP_ADMIN_USERNAME=root", "KC_BOOTSTRAP_ADMIN_PASSWORD="+password)
		cmd.Stdout, cmd.Stderr = log, log
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		return cmd
	}
	// The first run builds the program for its settings, and ends with status 10.
	var ended *exec.ExitError
	if err := start().Run(); !errors.As(err, &ended) || ended.ExitCode() != 10 {
		t.Fatalf("Keycloak's first run ended with %v, not with status 10", err)
	}
	server := start("-Dkc.config.built=true")
	testkit.Must(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
		if text, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("Keycloak's log:\n%s", text)
		}
	})
	testkit.Eventually(t, "Keycloak answers", func() bool {
		r, err := http.PostForm(k.base+"/realms/master/protocol/openid-connect/token", neturl.Values{
			"grant_type": {"password"}, "client_id": {"admin-cli"}, "username": {"root"}, "password": {password}})
		if err != nil {
			return false
		}
		defer func() { _ = r.Body.Close() }()
		var answer struct {
			Token string `json:"access_token"`
		}
		if json.NewDecoder(r.Body).Decode(&answer) != nil {
			return false
		}
		k.token = answer.Token
		return k.token != ""
	})
	k.do("POST", k.base+"/admin/realms", map[string]any{"realm": "acme", "enabled": true, "accessTokenLifespan": 3600})
	return k
}

// do sends a request to the API of administrators, and returns the address of what it made.
func (k *keycloakServer) do(method, address string, body any) string {
	k.t.Helper()
	text, err := json.Marshal(body)
	testkit.Must(k.t, err)
	request, err := http.NewRequestWithContext(k.t.Context(), method, address, bytes.NewReader(text))
	testkit.Must(k.t, err)
	request.Header.Set("Authorization", "Bearer "+k.token)
	request.Header.Set("Content-Type", "application/json")
	r, err := http.DefaultClient.Do(request)
	testkit.Must(k.t, err)
	defer func() { _ = r.Body.Close() }()
	if r.StatusCode/100 != 2 {
		k.t.Fatalf("Keycloak answered %s %s with %s", method, address, r.Status)
	}
	return r.Header.Get("Location")
}

// person makes a user of the realm, and returns its address.
func (k *keycloakServer) person(name string, verified bool) string {
	k.t.Helper()
	return k.do("POST", k.realm+"/users", map[string]any{
		"username": name, "email": name + "@example.com", "emailVerified": verified, "firstName": name, "lastName": "Example",
		"enabled":     true,
		"credentials": []map[string]any{{"type": "password", "value": password, "temporary": false}},
	})
}

// People sign in through Keycloak, which is set up as docs/operators/sso.md says: the first time by their verified email, and later by
// their subject, even if their email or the keys of the realm have changed.
func TestSSO_keycloak(t *testing.T) {
	t.Parallel()
	k := startKeycloak(t)
	b := consoleAt(t, standalone(t, "OIDC_ALLOW_PRIVATE=true"))
	b.expected = regexp.MustCompile(b.expected.String() + "|" + regexp.QuoteMeta(k.base))

	k.do("POST", k.realm+"/clients", map[string]any{
		"clientId": "shortline", "secret": "the client's secret", "protocol": "openid-connect", "publicClient": false,
		"standardFlowEnabled": true, "redirectUris": []string{b.base + "/api/auth/sso/keycloak/callback"},
	})
	ann := k.person("ann", true)
	k.person("bob", false)
	b.ask("POST", "/api/admin/oidc-providers", map[string]any{
		"name": "Keycloak", "slug": "keycloak", "discoveryUrl": k.base + "/realms/acme", "clientId": "shortline",
		"clientSecret": "the client's secret", "allowedDomains": []string{"example.com"},
	}, nil)
	for _, name := range []string{"ann", "bob"} {
		b.ask("POST", "/api/users", map[string]string{"email": name + "@example.com", "password": password}, nil)
	}
	signIn := func(name string) {
		t.Helper()
		b.do(network.ClearBrowserCookies())
		b.visit("/login")
		b.press("Continue with Keycloak")
		b.until(`location.origin === '` + k.base + `' && document.querySelector('[name=password]')`)
		b.fill("username", name)
		b.fill("password", password)
		b.press("Sign In")
	}
	in := func() {
		t.Helper()
		b.until(`location.pathname === '/console/links'`)
		b.sees("New link")
		b.has("/api/auth/me", `{"email": "ann@example.com"}`)
	}
	signIn("ann")
	in()
	k.do("PUT", ann, map[string]any{
		"username": "ann", "email": "ann@elsewhere.example.com", "emailVerified": false, "firstName": "Ann", "lastName": "Changed",
	})
	signIn("ann")
	in()
	k.do("POST", k.realm+"/components", map[string]any{
		"name": "new key", "providerId": "ecdsa-generated", "providerType": "org.keycloak.keys.KeyProvider",
		"config": map[string][]string{"priority": {"200"}, "ecdsaEllipticCurveKey": {"P-256"}, "active": {"true"}, "enabled": {"true"}},
	})
	k.do("PUT", k.realm, map[string]any{"defaultSignatureAlgorithm": "ES256"})
	signIn("ann")
	in()
	signIn("bob")
	b.until(`location.pathname + location.search === '/login?error=no_account'`)
}
