package api_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/manage/accounts"
	"github.com/shortline/shortline/control/internal/manage/settings"
	"github.com/shortline/shortline/control/internal/manage/sso"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/idptest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// withSSO adds sign-in through identity providers to a world.
func withSSO(change func(*sso.Config)) func(*world, *api.Config, *api.Deps) {
	return func(w *world, _ *api.Config, d *api.Deps) {
		keys := [][]byte{bytes.Repeat([]byte("e"), 32)}
		cfg := sso.Config{BaseURL: baseURL, EncryptionKeys: keys, Settings: sso.Settings{AllowPrivate: true}, Now: w.clock.now,
			Logger: slog.New(slog.NewJSONHandler(w.logs, nil)), Timeout: testkit.Patience}
		if change != nil {
			change(&cfg)
		}
		use := settings.New(w.store)
		signOn, err := sso.New(cfg, w.store, d.Auth, use)
		w.ok(err)
		passwords, err := auth.NewPasswords(bcrypt.MinCost)
		w.ok(err)
		d.SSO = signOn
		d.Accounts, err = accounts.New(accounts.Config{EncryptionKeys: keys, PasswordSignInOff: signOn.PasswordsOff, Now: w.clock.now},
			w.store, d.Auth, passwords)
		w.ok(err)
	}
}

// idp is an identity provider that can be stopped.
type idp struct {
	*idptest.Provider
	t      testing.TB
	addr   string
	server *httptest.Server
}

func startIDP(t testing.TB, who idptest.Person) *idp {
	t.Helper()
	i := &idp{t: t, addr: "127.0.0.1:0"}
	i.start()
	i.Provider = idptest.New("http://"+i.addr, who)
	t.Cleanup(i.stop)
	return i
}

func (i *idp) start() {
	i.t.Helper()
	l, err := net.Listen("tcp", i.addr)
	testkit.Must(i.t, err)
	i.addr = l.Addr().String()
	i.server = &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.ServeHTTP(w, r)
	})}}
	i.server.Start()
}

func (i *idp) stop() {
	i.server.CloseClientConnections()
	i.server.Close()
}

// add creates a provider for an identity provider.
func (w *world) add(slug string, at *idp) {
	w.t.Helper()
	w.do("POST", "/api/admin/oidc-providers", providerJSON(slug, at.Issuer, idptest.ClientSecret), as(w.root)).want(201)
}

func providerJSON(slug, discovery, secret string) string {
	return fmt.Sprintf(`{"name":"Corp","slug":%q,"discoveryUrl":%q,"clientId":%q,"clientSecret":%q}`, slug, discovery,
		idptest.ClientID, secret)
}

// trip is one sign-in from the point of view of a browser.
type trip struct {
	w      *world
	slug   string
	cookie *http.Cookie
	back   *url.URL // redirect target of the provider
}

// leave starts a sign-in and follows the redirect to the provider.
func (w *world) leave(slug, query string) *trip {
	w.t.Helper()
	r := w.do("GET", "/api/auth/sso/"+slug+"/login"+query, "").want(302)
	c := r.cookie("sso_sign_in")
	if c == nil {
		w.t.Fatalf("%s: no cookie, redirected to %s", r.what, r.Header.Get("Location"))
	}
	return &trip{w, slug, c, w.consent(r.Header.Get("Location"))}
}

// consent sends the request to the provider and returns the redirect target.
func (w *world) consent(at string) *url.URL {
	w.t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Get(at)
	w.ok(err)
	defer res.Body.Close()
	back, err := res.Location()
	if err != nil {
		text := new(bytes.Buffer)
		_, _ = text.ReadFrom(res.Body)
		w.t.Fatalf("the provider responded with %d %s to %s", res.StatusCode, text, at)
	}
	return back
}

// arrive follows the redirect back from the provider.
func (t *trip) arrive(options ...option) *reply {
	t.w.t.Helper()
	if t.cookie != nil {
		options = append([]option{with("Cookie", t.cookie.Name+"="+t.cookie.Value)}, options...)
	}
	return t.w.do("GET", t.back.RequestURI(), "", options...).want(302)
}

// signOn does a complete sign-in.
func (w *world) signOn(slug string) *reply {
	w.t.Helper()
	return w.leave(slug, "").arrive()
}

// failed fails the test unless the browser is redirected to the sign-in page with the error, without a session.
func (r *reply) failed(code string) *reply {
	r.w.t.Helper()
	if got := r.want(302).Header.Get("Location"); got != "/login?error="+code || r.cookie("access_token") != nil {
		r.w.t.Fatalf("%s: redirected to %s, want the error %s; cookies %v", r.what, got, code, r.Cookies())
	}
	return r
}

// entered fails the test unless a session started. It returns the user's id.
func (r *reply) entered(at string) string {
	r.w.t.Helper()
	c := r.want(302).cookie("access_token")
	if got := r.Header.Get("Location"); got != at || c == nil {
		r.w.t.Fatalf("%s: redirected to %s, want %s; cookies %v", r.what, got, at, r.Cookies())
	}
	return r.w.do("GET", "/api/auth/me", "", with("Cookie", "access_token="+c.Value)).want(200).str("id")
}

// rowsOf returns the number of audit rows of an action, and the metadata and values of the newest as text.
func (w *world) rowsOf(action string) (n int, newest string) {
	w.t.Helper()
	rows, err := w.store.Query(w.t.Context(),
		`SELECT COALESCE(old_value, '') || COALESCE(new_value, '') || metadata FROM audit_logs WHERE action = ? ORDER BY seq`, action)
	w.ok(err)
	defer rows.Close()
	for ; rows.Next(); n++ {
		w.ok(rows.Scan(&newest))
	}
	w.ok(rows.Err())
	return n, newest
}
