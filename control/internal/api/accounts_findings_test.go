package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/manage/sso"
	"github.com/shortline/shortline/control/internal/platform/idptest"
)

// key creates an API key with a session.
func (w *world) key(token string) option {
	w.t.Helper()
	return with("X-API-Key", w.do("POST", "/api/api-keys", `{"name":"k"}`, as(token)).want(201).str("key"))
}

func TestM1_AdminKeysAdministerWhereTheSettingSaysSo(t *testing.T) {
	w := small(t, func(w *world, c *api.Config, d *api.Deps) {
		withSSO(nil)(w, c, d)
		c.KeysAdminister = true
	})
	key := w.key(w.root)
	w.do("POST", "/api/users", `{"email":"carol@example.com","password":"battery staple"}`, key).want(201)
	w.do("PATCH", "/api/users/"+w.annID+"/role", `{"role":"ADMIN"}`, key).want(200)
	w.do("POST", "/api/admin/oidc-providers", providerJSON("corp", "http://127.0.0.1:1", "x"), key).want(201)
	w.do("POST", "/api/api-keys", `{"name":"second"}`, key).want(201)
	for _, q := range []string{"POST /api/auth/password", "POST /api/auth/2fa/setup"} {
		method, path, _ := strings.Cut(q, " ")
		w.do(method, path, "", key).want(403)
	}
	w.do("POST", "/api/users/"+w.rootID+"/reset-password", `{"newPassword":"battery staple"}`, key).want(400)
	// not an administrator's key
	w.do("POST", "/api/users", `{"email":"dave@example.com","password":"battery staple"}`, w.key(w.bob)).want(403)
}

func TestM1_NobodyResetsTheirOwn(t *testing.T) {
	w := small(t, nil)
	me := "/api/users/" + w.rootID
	for _, method := range []string{"POST", "PATCH"} {
		w.do(method, me+"/reset-password", `{"newPassword":"battery staple"}`, as(w.root)).want(400).says("/api/auth/password")
	}
	w.secondFactor(w.root)
	w.do("PATCH", me+"/2fa", `{"enabled":false}`, as(w.root)).want(400).says("/api/auth/2fa/disable")
	w.do("GET", "/api/auth/me", "", as(w.root)).want(200).shows("twoFactorEnabled", true)
	w.do("POST", "/api/auth/login", login(adminMail, password, "")).want(200)
}

func TestM2_AChangeOffersToRevokeKeys(t *testing.T) {
	w := small(t, nil)
	key, bobs := w.key(w.ann), w.key(w.bob)
	w.do("GET", "/api/auth/me", "", key).want(200) // so that the cache has the key
	change := func(from, to, more string) {
		t.Helper()
		w.do("PUT", "/api/auth/password", fmt.Sprintf(`{"currentPassword":%q,"newPassword":%q%s}`, from, to, more), as(w.ann)).want(200)
	}
	change(password, "battery staple", "")
	change("battery staple", password, `,"revokeApiKeys":false`)
	w.do("GET", "/api/auth/me", "", key).want(200)
	change(password, "battery staple", `,"revokeApiKeys":true`)
	w.do("GET", "/api/auth/me", "", key).want(401)
	if _, newest := w.rowsOf("PASSWORD_CHANGED"); !strings.Contains(newest, `"revokedApiKeys":1`) {
		t.Error(newest)
	}
	w.do("GET", "/api/auth/me", "", bobs).want(200)
}

func TestAPI2_ShortListsAreArrays(t *testing.T) {
	w := small(t, withSSO(nil))
	lists := []string{"/api/auth/sso", "/api/admin/oidc-providers", "/api/users/" + w.annID + "/oidc-accounts", "/api/settings/system"}
	for _, path := range lists {
		if n := len(w.do("GET", path, "", as(w.root)).want(200).list()); n != 0 {
			t.Errorf("%s: %d", path, n)
		}
	}
	w.do("GET", "/api/auth/methods", "").want(200).is(`{"password":true,"sso":[],"passkeys":false,"passwordReset":false}`)
	p := startIDP(t, ann)
	w.add("corp", p)
	w.signOn("corp").entered("/")
	for i := range 120 { // complete and in order, more than a former page
		w.do("PUT", fmt.Sprintf("/api/settings/system/k%03d", i), `{"value":1}`, as(w.root)).want(200)
	}
	settings := w.do("GET", "/api/settings/system?limit=5&page=2", "", as(w.root)).want(200)
	if n := len(settings.list()); n != 120 || settings.str("0.key") != "k000" || settings.str("119.key") != "k119" {
		t.Errorf("%d settings, from %s to %s", n, settings.str("0.key"), settings.str("119.key"))
	}
	for _, path := range lists[:3] {
		if n := len(w.do("GET", path, "", as(w.root)).want(200).list()); n != 1 {
			t.Errorf("%s: %d", path, n)
		}
	}
	w.do("GET", "/api/auth/sso", "").want(200).is(`[{"slug":"corp","name":"Corp"}]`)
	w.do("PUT", "/api/settings/system/sso_enforce", `{"value":{"enabled":true}}`, as(w.root)).want(200)
	w.do("GET", "/api/auth/methods", "").want(200).
		is(`{"password":false,"sso":[{"slug":"corp","name":"Corp"}],"passkeys":false,"passwordReset":false}`)
}

// link signs in with the cookie that a failed single sign-on left in the browser.
func (w *world) link(left *reply, email, password, code string) *reply {
	w.t.Helper()
	c := left.cookie("sso_link")
	if c == nil || !c.HttpOnly || !c.Secure || c.Path != "/api/auth/login" || c.MaxAge != 600 {
		w.t.Fatalf("%s: cookie %+v", left.what, c)
	}
	body := strings.Replace(login(email, password, code), "{", `{"linkAccount":true,`, 1)
	return w.do("POST", "/api/auth/login", body, with("Cookie", c.Name+"="+c.Value))
}

func TestM7_LinksToAdministratorsAreConfirmed(t *testing.T) {
	w := small(t, withSSO(nil))
	w.add("corp", startIDP(t, idptest.Person{Subject: "r", Email: adminMail, Verified: true}))
	left := w.signOn("corp").failed("link_required")
	w.do("POST", "/api/auth/login", login(adminMail, password, "")).want(200) // without the cookie, no account is linked
	w.do("POST", "/api/auth/login", strings.Replace(login(adminMail, password, ""), "{", `{"linkAccount":true,`, 1)).
		wantField("linkAccount")
	w.link(left, adminMail, "wrong", "").want(401)
	w.link(left, userMail, password, "").wantField("linkAccount") // another user's account
	left = w.signOn("corp").failed("link_required")
	if n, _ := w.rowsOf("OIDC_ACCOUNT_LINKED"); n != 0 {
		t.Fatalf("%d links in the audit log", n)
	}

	w.clock.advance(sso.PendingFor)
	w.link(left, adminMail, password, "").wantField("linkAccount")
	w.clock.offset.Store(0)
	in := w.link(left, adminMail, password, "").want(200)
	if c := in.cookie("sso_link"); c == nil || c.MaxAge >= 0 || in.cookie("access_token") == nil {
		t.Fatalf("%v", in.Cookies())
	}
	w.link(left, adminMail, password, "").want(200) // linking again changes nothing
	if id := w.signOn("corp").entered("/"); id != w.rootID {
		t.Fatalf("signed in as %s", id)
	}
	if n, newest := w.rowsOf("OIDC_ACCOUNT_LINKED"); n != 1 || !strings.Contains(newest, `"confirmed":true`) {
		t.Errorf("%d links in the audit log, newest %s", n, newest)
	}
}

func TestM7_LinksToSecondFactorsAreConfirmed(t *testing.T) {
	w := small(t, withSSO(nil))
	w.add("corp", startIDP(t, ann))
	secret := w.secondFactor(w.ann)
	w.clock.offset.Store(0)
	left := w.signOn("corp").failed("link_required")
	w.link(left, userMail, password, "").want(200).shows("requires2FA", true)
	w.link(left, userMail, password, "000000").want(401)
	if n, _ := w.rowsOf("OIDC_ACCOUNT_LINKED"); n != 0 {
		t.Fatalf("%d links in the audit log", n)
	}
	// If password sign-in is off, passwords still confirm a link, but do not sign in.
	w.do("PUT", "/api/settings/system/sso_enforce", `{"value":{"enabled":true}}`, as(w.root)).want(200)
	w.clock.advance(30 * time.Second)
	w.do("POST", "/api/auth/login", login(userMail, password, w.code(secret))).want(403)
	w.link(left, userMail, password, w.code(secret)).want(200)
	w.clock.offset.Store(0)
	if id := w.signOn("corp").entered("/"); id != w.annID {
		t.Fatalf("signed in as %s", id)
	}
	// Deleting a provider deletes its pending links.
	w.do("PATCH", "/api/users/"+w.bobID+"/role", `{"role":"ADMIN"}`, as(w.root)).want(200)
	p := startIDP(t, idptest.Person{Subject: "b", Email: otherMail, Verified: true})
	w.add("other", p)
	left = w.signOn("other").failed("link_required")
	w.do("DELETE", "/api/admin/oidc-providers/other", "", as(w.root)).want(204)
	w.add("other", p)
	w.link(left, otherMail, password, "").wantField("linkAccount")
}

func TestM7_ProvidersVouchForTheirDomains(t *testing.T) {
	w := small(t, withSSO(func(c *sso.Config) { c.AutoProvision = true }))
	p := startIDP(t, ann)
	w.add("corp", p)
	const path = "/api/admin/oidc-providers/corp"
	for _, bad := range []string{`["*.example.com"]`, `["example"]`, `["a b.com"]`, `["@example.com"]`, `["exämple.com"]`, `[""]`} {
		w.do("PUT", path, `{"allowedDomains":`+bad+`}`, as(w.root)).wantField("allowedDomains.0")
	}
	r := w.do("PUT", path, `{"allowedDomains":[" Corp.Example ","corp.test"]}`, as(w.root)).want(200)
	if fmt.Sprint(r.at("allowedDomains")) != "[corp.example corp.test]" {
		t.Fatal(r.text)
	}
	w.signOn("corp").failed("email_domain") // an existing user
	p.Be(idptest.Person{Subject: "e", Email: "eve@sub.corp.example", Verified: true})
	w.signOn("corp").failed("email_domain") // a new user
	p.Be(idptest.Person{Subject: "e", Email: "eve@CORP.example", Verified: true})
	w.signOn("corp").entered("/")
	p.Be(ann)
	w.do("PUT", path, `{"allowedDomains":null}`, as(w.root)).want(200)
	w.signOn("corp").entered("/")
	w.do("PUT", path, `{"allowedDomains":["corp.example"]}`, as(w.root)).want(200)
	w.signOn("corp").entered("/") // linked users stay linked
}

func TestLow_WeakPasswords(t *testing.T) {
	w := small(t, nil)
	for _, weak := range []string{"password", "12345678", "PASSWORD1", "Qwertyuiop", "baseball", "iloveyou"} {
		w.do("POST", "/api/users", fmt.Sprintf(`{"email":"carol@example.com","password":%q}`, weak), as(w.root)).wantField("password")
		w.do("POST", "/api/users/"+w.annID+"/reset-password", fmt.Sprintf(`{"newPassword":%q}`, weak), as(w.root)).wantField("newPassword")
		w.do("PUT", "/api/auth/password", fmt.Sprintf(`{"currentPassword":%q,"newPassword":%q}`, password, weak), as(w.ann)).
			wantField("newPassword")
	}
	w.do("POST", "/api/users", `{"email":"carol@example.com","password":"Carol@example.com"}`, as(w.root)).wantField("password")
	w.do("POST", "/api/users/"+w.annID+"/reset-password", `{"newPassword":"`+userMail+`"}`, as(w.root)).wantField("newPassword")
	w.do("PUT", "/api/auth/password", fmt.Sprintf(`{"currentPassword":%q,"newPassword":%q}`, password, strings.ToUpper(userMail)),
		as(w.ann)).
		wantField("newPassword")
	w.do("PUT", "/api/auth/password", fmt.Sprintf(`{"currentPassword":%q,"newPassword":%q}`, password, otherMail), as(w.ann)).want(200)
}

func TestLow_SecondFactorNeedsAFreshSignIn(t *testing.T) {
	w := small(t, nil)
	const path = "/api/auth/2fa/setup"
	w.do("POST", path, "", as(w.ann)).want(201) // allowed right after signing in
	w.clock.advance(11 * time.Minute)
	w.do("POST", path, "", as(w.ann)).want(403).says("password")
	w.do("POST", path, `{"password":"wrong"}`, as(w.ann)).wantField("password")
	w.do("POST", path, `{"password":null}`, as(w.ann)).want(403)
	w.do("POST", path, `{"password":"`+password+`"}`, as(w.ann)).want(201)
	for range 5 {
		w.do("POST", path, `{"password":"wrong"}`, as(w.bob)).wantField("password")
	}
	w.do("POST", path, `{"password":"`+password+`"}`, as(w.bob)).want(429)
}

func TestLow_CSRFScheme(t *testing.T) {
	w := small(t, nil) // BASE_URL is https://sho.rt
	token := w.ann
	send := func(host string, origins map[string]int, more ...option) {
		t.Helper()
		for o, want := range origins {
			options := append([]option{with("Cookie", "access_token="+token), with("Origin", o)}, more...)
			options = append(options, func(r *http.Request) { r.Host = host })
			if got := w.do("PUT", "/api/auth/me", `{"name":"x"}`, options...).StatusCode; got != want {
				t.Errorf("at %s from %s: %d, want %d", host, o, got, want)
			}
		}
	}
	const other = "10.0.0.5:8080"
	send("sho.rt", map[string]int{
		// browsers omit the default port
		"https://sho.rt": 200, "HTTPS://SHO.RT": 200, "https://app.example.com": 200, "https://sho.rt:443": 403,
		"http://sho.rt": 403, "https://sho.rt:8443": 403, "http://sho.rt:80": 403, "https://evil.example": 403, "null": 403,
		"http://app.example.com": 403, "sho.rt": 403,
	})
	send(other, map[string]int{"https://" + other: 200, "http://" + other: 403}) // the Host header and the scheme of the base count

	w = replica(w, w.store, func(_ *world, c *api.Config, _ *api.Deps) { c.BaseURL = "http://127.0.0.1:8080" })
	send(other, map[string]int{
		"http://" + other: 200, "https://" + other: 403, "http://127.0.0.1:8080": 200, "https://127.0.0.1:8080": 403,
	})
	send(other, map[string]int{"https://" + other: 200}, with("X-Forwarded-Proto", "https")) // a proxy that ends TLS
}

// consoleAt configures a world with identity providers and a console at another address.
func consoleAt(address string) func(*world, *api.Config, *api.Deps) {
	return func(w *world, c *api.Config, d *api.Deps) {
		withSSO(nil)(w, c, d)
		c.ConsoleURL = address
	}
}

func TestAPI7_ConsoleURL(t *testing.T) {
	for address, sameSite := range map[string]http.SameSite{
		"https://app.sho.rt": http.SameSiteLaxMode, "https://console.example/ui/": http.SameSiteNoneMode,
		"http://app.sho.rt": http.SameSiteNoneMode,
	} {
		t.Run(address, func(t *testing.T) {
			w := small(t, consoleAt(address))
			w.add("corp", startIDP(t, ann))
			at := strings.TrimSuffix(address, "/")
			in := w.leave("corp", "?redirect="+url.QueryEscape("/links?page=2")).arrive()
			c := in.cookie("access_token")
			if got := in.Header.Get("Location"); got != at+"/links?page=2" || c == nil || c.SameSite != sameSite || !c.Secure ||
				!c.HttpOnly {
				t.Fatalf("redirected to %s with cookies %v", got, in.Cookies())
			}
			if got := w.leave("corp", "").arrive().Header.Get("Location"); got != at+"/" {
				t.Errorf("redirected to %s", got)
			}
			for query, code := range map[string]string{"": "unknown_provider", "?redirect=//evil.example": "invalid_redirect"} {
				slug := "none"
				if query != "" {
					slug = "corp"
				}
				if got := w.do("GET", "/api/auth/sso/"+slug+"/login"+query, "").want(302).Header.Get("Location"); got != at+
					"/login?error="+code {
					t.Errorf("redirected to %s", got)
				}
			}
			// Pages of the console may call the API; pages of other origins may not.
			u, _ := url.Parse(address)
			origin := u.Scheme + "://" + u.Host
			session := with("Cookie", "access_token="+c.Value)
			if r := w.do("PUT", "/api/auth/me", `{"name":"x"}`, session, with("Origin", origin)).
				want(200); r.Header.Get("Access-Control-Allow-Origin") != origin ||
				r.Header.Get("Access-Control-Allow-Credentials") != "true" {
				t.Errorf("%v", r.Header)
			}
			w.do("PUT", "/api/auth/me", `{"name":"x"}`, session, with("Origin", "https://evil.example")).want(403)
			w.do("PUT", "/api/auth/me", `{"name":"x"}`, session, with("Origin", origin+":444")).want(403)
		})
	}
	for _, bad := range []string{"app.example.com", "ftp://app.example.com", "https://u:p@app.example.com", "https://app.example.com/?a=b",
		"https://app.example.com/#a", "https://"} {
		if err := (api.Config{BaseURL: baseURL, ConsoleURL: bad}).Validate(); err == nil || !strings.Contains(err.Error(), "CONSOLE_URL") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
