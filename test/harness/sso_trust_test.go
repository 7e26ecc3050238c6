package harness_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
)

// entra is an identity provider in a process of its own. Like Microsoft Entra ID, it sends no email_verified, so an administrator
// of a tenant there can send any address.
type entra struct {
	t                      *testing.T
	issuer, client, secret string
}

func startEntra(t *testing.T) *entra {
	t.Helper()
	program, err := testkit.Program("control/internal/platform/idptest/idp")
	testkit.Must(t, err)
	cmd := exec.Command(program, "-entra")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	testkit.Must(t, err)
	testkit.Must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	testkit.Must(t, err)
	e := &entra{t: t}
	if _, err := fmt.Sscanf(line, "issuer %s client %q secret %q", &e.issuer, &e.client, &e.secret); err != nil {
		t.Fatalf("unexpected output of the identity provider %q: %v", line, err)
	}
	return e
}

// be chooses who is signed in at the provider. Its process leaves email_verified away, whatever the claims say.
func (e *entra) be(subject, email string) {
	e.t.Helper()
	body, err := json.Marshal(map[string]any{"sub": subject, "email": email, "email_verified": true, "name": "Somebody"})
	testkit.Must(e.t, err)
	res, err := http.Post(e.issuer+"/test/person", "application/json", bytes.NewReader(body))
	testkit.Must(e.t, err)
	testkit.Must(e.t, res.Body.Close())
	if res.StatusCode != http.StatusOK {
		e.t.Fatalf("the provider answers %d", res.StatusCode)
	}
}

// signIn goes through the sign-in as a browser does: to Shortline, to the provider, and back. It returns where the browser ends up, and
// the access token, if there is one.
func signIn(t *testing.T, base, slug string) (where, token string) {
	t.Helper()
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	step := func(at string, cookies []*http.Cookie) (*url.URL, []*http.Cookie) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil)
		testkit.Must(t, err)
		for _, c := range cookies {
			r.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value}) //nolint:gosec // as a browser sends it
		}
		res, err := browser.Do(r)
		testkit.Must(t, err)
		testkit.Must(t, res.Body.Close())
		to, err := res.Location()
		if err != nil {
			t.Fatalf("%s answers %d: %v", at, res.StatusCode, err)
		}
		return to, res.Cookies()
	}
	provider, cookies := step(base+"/api/auth/sso/"+slug+"/login", nil)
	back, _ := step(provider.String(), nil)
	// The public address of the service is that of nobody here.
	end, made := step(base+back.RequestURI(), cookies)
	for _, c := range made {
		if c.Name == "access_token" && c.Value != "" {
			token = c.Value
		}
	}
	return end.RequestURI(), token
}

// TestSSO_trustEmail_takes_over_nothing signs in through a provider that sends any address and no email_verified. With trustEmail, it
// enters accounts of the allowed domains only: those outside stay with their owners, whatever form the address has, and also if the
// provider is known already.
func TestSSO_trustEmail_takes_over_nothing(t *testing.T) {
	t.Parallel()
	alone := fleet.StartAlone(t, "OIDC_ALLOW_PRIVATE=true", "OIDC_AUTO_PROVISION=true", "RATE_LIMIT_DEFAULT=0")
	base, api, e := "http://"+alone.Addr, alone.Login(t), startEntra(t)
	const victim, inside, admin = "victim@victims.example", "ann@corp.example", "admin@example.com"
	for _, email := range []string{victim, inside} {
		api.User(email, "correct horse battery staple")
	}
	provider, err := api.IdentityProviders.Create(t.Context(), client.CreateOIDCProvider{Name: "Entra", Slug: "entra",
		DiscoveryURL: e.issuer, ClientID: e.client, ClientSecret: e.secret})
	testkit.Must(t, err)
	change := func(body client.UpdateOIDCProvider) {
		t.Helper()
		_, err := api.IdentityProviders.Update(t.Context(), provider.Slug, body)
		testkit.Must(t, err)
	}
	enters := func(subject, email, as string) {
		t.Helper()
		e.be(subject, email)
		where, token := signIn(t, base, "entra")
		if token == "" {
			t.Fatalf("%s ended at %s", email, where)
		}
		me, err := client.New(base, client.WithToken(token)).Account.Me(t.Context())
		testkit.Must(t, err)
		testkit.Equal(t, email+" is "+me.Email, email+" is "+as, "who entered")
	}
	refused := func(subject, email, why string) {
		t.Helper()
		e.be(subject, email)
		if where, token := signIn(t, base, "entra"); token != "" || !strings.Contains(where, "error="+why) {
			t.Errorf("%q ended at %s with the token %q, want %s", email, where, token, why)
		}
	}
	// Without trustEmail, an address that nobody has verified is nobody's.
	refused("1", victim, "email_not_verified")
	refused("1", inside, "email_not_verified")
	// It cannot be turned on for all addresses.
	everybody := client.UpdateOIDCProvider{TrustEmail: client.Set(true)}
	if _, err := api.IdentityProviders.Update(t.Context(), provider.Slug, everybody); err == nil {
		t.Error("trustEmail without allowed domains")
	}
	change(client.UpdateOIDCProvider{TrustEmail: client.Set(true), AllowedDomains: client.Set([]string{"corp.example"})})

	enters("1", inside, inside)
	for i, email := range []string{victim, strings.ToUpper(victim), admin, victim + ".corp.example.evil.example", "x@corp.example@victims.example",
		"x@corp.example," + victim, victim + " <x@corp.example>", "<" + victim + ">@corp.example", `"` + victim + `"@corp.example`,
		"victim@victims.example\x00@corp.example", "victim@victims.example%00@corp.example", "ann@sub.corp.example", "ann@corp.example.", ""} {
		e.be(fmt.Sprint("evil", i), email)
		where, token := signIn(t, base, "entra")
		if token == "" {
			continue
		}
		// An account may have been made, but it must be a new one of the allowed domain.
		me, err := client.New(base, client.WithToken(token)).Account.Me(t.Context())
		testkit.Must(t, err)
		if me.Email == victim || me.Email == admin || !strings.HasSuffix(strings.ToLower(me.Email), "@corp.example") {
			t.Errorf("%q entered as %s, at %s", email, me.Email, where)
		}
	}
	// The account that this provider knows stays the one that it was, also when the provider sends another's address for it.
	e.be("1", victim)
	if _, token := signIn(t, base, "entra"); token != "" {
		me, err := client.New(base, client.WithToken(token)).Account.Me(t.Context())
		testkit.Must(t, err)
		testkit.Equal(t, me.Email, inside, "who a known person is with another's address")
	}
	// An administrator is never linked without the password, even in an allowed domain.
	change(client.UpdateOIDCProvider{AllowedDomains: client.Set([]string{"corp.example", "example.com"})})
	refused("2", admin, "link_required")
	// The victim's own password still opens the victim's account, and nothing else has.
	alone.LoginAs(t, victim, "correct horse battery staple")
}
