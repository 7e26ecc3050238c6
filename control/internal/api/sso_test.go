package api_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/manage/sso"
	"github.com/shortline/shortline/control/internal/platform/idptest"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

var ann = idptest.Person{Subject: "ann-1", Email: "ANN@example.com", Verified: true, Name: "Ann"}

func TestProviders(t *testing.T) {
	w := small(t, withSSO(nil))
	const path = "/api/admin/oidc-providers"
	names := []string{"id", "name", "slug", "discoveryUrl", "clientId", "hasClientSecret", "scopes", "isActive", "allowedDomains", "trustEmail",
		"callbackUrl", "createdAt", "updatedAt"}
	w.do("POST", path, providerJSON("corp", "https://id.example.com", "s3cret"), as(w.root)).want(201).has("", names...).
		shows("hasClientSecret", true, "scopes", "openid email profile", "isActive", true,
			"callbackUrl", baseURL+"/api/auth/sso/corp/callback").omits("s3cret")
	if row, err := w.store.OIDCProviderBySlug(t.Context(), "corp"); err != nil || strings.Contains(row.ClientSecret, "s3cret") ||
		!strings.HasPrefix(row.ClientSecret, "v1.") {
		t.Fatalf("stored in plain text: %+v %v", row, err)
	}
	w.do("POST", path, providerJSON("corp", "https://id.example.com", "x"), as(w.root)).want(409)
	w.do("POST", path, "", as(w.root)).wantField("name", "slug", "discoveryUrl", "clientId", "clientSecret")
	w.do("POST", path, `{"name":"","slug":null,"discoveryUrl":"","clientId":null,"clientSecret":"","scopes":"email"}`, as(w.root)).
		wantField("name", "slug", "discoveryUrl", "clientId", "clientSecret", "scopes")
	for field, values := range map[string][]string{
		"slug": {`"a b"`, `"-a"`, `"a/b"`, `"é"`, `"` + strings.Repeat("a", 51) + `"`},
		"discoveryUrl": {`"id.example.com"`, `"javascript:alert(1)"`, `"https://u:p@id.example.com"`, `"https://id.example.com/?a=b"`,
			`"https://id.example.com/#a"`},
		"scopes": {`"email"`, `"openid \"x"`, `"openid é"`}, "name": {`"` + strings.Repeat("x", 101) + `"`, `"a\nb"`},
		"clientId": {`"` + strings.Repeat("x", 256) + `"`}, "isActive": {`"yes"`}, "color": {`"red"`},
	} {
		for _, v := range values {
			body := strings.TrimSuffix(providerJSON("other", "https://id.example.com", "x"), "}") + `,"` + field + `":` + v + `}`
			if strings.Count(body, `"`+field+`":`) == 2 { // remove the first occurrence
				_, rest, _ := strings.Cut(body, `"`+field+`":`)
				_, rest, _ = strings.Cut(rest, ",")
				body = body[:strings.Index(body, `"`+field+`":`)] + rest
			}
			w.do("POST", path, body, as(w.root)).wantField(field)
		}
	}

	w.do("PUT", path+"/corp", `{"name":" New ","slug":"corp","scopes":"openid  groups","isActive":false,"clientSecret":""}`,
		as(w.root)).want(200).
		has("", names...).
		shows("name", "New", "scopes", "openid groups", "isActive", false, "hasClientSecret", true, "clientId", idptest.ClientID)
	w.do("PUT", path+"/corp", `{"slug":"else","name":null,"clientId":""}`, as(w.root)).wantField("slug", "name", "clientId")
	w.do("PUT", path+"/corp", `{"scopes":null,"isActive":null,"clientSecret":"other"}`, as(w.root)).want(200).
		shows("scopes", "openid email profile", "isActive", true)
	w.do("POST", path, strings.Replace(providerJSON("off", "https://id.example.com", "x"), "{", `{"isActive":false,`, 1),
		as(w.root)).want(201)

	w.do("GET", path, "", as(w.root)).want(200).has("0", names...).shows("0.slug", "off", "1.slug", "corp", "2", nil)
	w.do("GET", path+"/corp", "", as(w.root)).want(200).has("", names...)
	r := w.do("GET", "/api/auth/sso", "").want(200).has("0", "slug", "name")
	if len(r.list()) != 1 || r.str("0.slug") != "corp" || strings.Contains(r.text, "id.example.com") {
		t.Fatal(r.text)
	}

	w.do("DELETE", path+"/corp", "", as(w.root)).want(204)
	for action, want := range map[string]int{"OIDC_PROVIDER_CREATED": 2, "OIDC_PROVIDER_UPDATED": 2, "OIDC_PROVIDER_DELETED": 1} {
		if n, newest := w.rowsOf(action); n != want || strings.Contains(newest, "v1.") {
			t.Errorf("%s: %d rows, newest %s", action, n, newest)
		}
	}
}

func TestSSO_links_by_verified_email_then_by_subject(t *testing.T) {
	w := small(t, withSSO(nil))
	p := startIDP(t, ann)
	w.add("corp", p)
	if p.Asked("discovery") != 0 {
		t.Fatal("requests were sent to the provider before the first sign-in")
	}
	trip := w.leave("corp", "?redirect="+url.QueryEscape("/links?page=2#top"))
	if c := trip.cookie; !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteLaxMode || c.MaxAge != 600 ||
		c.Path != "/api/auth/sso/corp" {
		t.Fatalf("%+v", c)
	}
	if trip.back.Scheme+"://"+trip.back.Host+trip.back.Path != baseURL+"/api/auth/sso/corp/callback" {
		t.Fatal(trip.back)
	}
	first := trip.arrive()
	if id := first.entered("/links?page=2#top"); id != w.annID {
		t.Fatalf("signed in as %s, not ann", id)
	}
	if c := first.cookie("access_token"); !c.HttpOnly || !c.Secure || c.Path != "/" || c.SameSite != http.SameSiteLaxMode ||
		c.MaxAge < 86000 {
		t.Fatalf("%+v", c)
	}
	if c := first.cookie("sso_sign_in"); c == nil || c.MaxAge >= 0 || c.Path != trip.cookie.Path {
		t.Fatalf("the cookie of the sign-in is not deleted: %+v", c)
	}
	trip.arrive().failed("provider_error") // the code was already used

	p.Be(idptest.Person{Subject: "ann-1", Email: "bob@example.com", Verified: true}) // the subject identifies the user, not the email
	if id := w.signOn("corp").entered("/"); id != w.annID {
		t.Fatalf("signed in as %s, not ann", id)
	}
	list := w.do("GET", "/api/users/"+w.annID+"/oidc-accounts", "", as(w.root)).want(200)
	list.has("0", "id", "provider", "sub", "issuer", "email", "createdAt", "lastLoginAt").has("0.provider", "id", "name", "slug")
	if len(list.list()) != 1 || list.str("0.sub") != "ann-1" || list.str("0.email") != "bob@example.com" ||
		list.str("0.provider.slug") != "corp" || list.str("0.issuer") != p.Issuer {
		t.Fatal(list.text)
	}
	w.do("GET", "/api/users/nobody/oidc-accounts", "", as(w.root)).want(404)
	w.do("DELETE", "/api/users/"+w.bobID+"/oidc-accounts/"+list.str("0.id"), "", as(w.root)).want(404)
	w.do("DELETE", "/api/users/"+w.annID+"/oidc-accounts/"+list.str("0.id"), "", as(w.root)).want(204)
	if id := w.signOn("corp").entered("/"); id != w.bobID {
		t.Fatalf("signed in as %s, not bob", id)
	}
	w.do("DELETE", "/api/admin/oidc-providers/corp", "", as(w.root)).want(204)
	w.do("GET", "/api/users/"+w.bobID+"/oidc-accounts", "", as(w.root)).want(200).is("[]")
	for action, want := range map[string]int{"SSO_LOGIN": 3, "SSO_LOGIN_FAILED": 1, "OIDC_ACCOUNT_LINKED": 2, "OIDC_ACCOUNT_UNLINKED": 1,
		"OIDC_PROVIDER_DELETED": 1} {
		if n, _ := w.rowsOf(action); n != want {
			t.Errorf("%s: %d rows, want %d", action, n, want)
		}
	}
	if _, gone := w.rowsOf("OIDC_PROVIDER_DELETED"); !strings.Contains(gone, `"unlinkedAccounts":1`) {
		t.Error(gone)
	}
}

func TestSSO_rejects_invalid_responses(t *testing.T) {
	w := small(t, withSSO(nil))
	failures := 0
	for fault, code := range map[idptest.Fault]string{
		idptest.WrongIssuer: "invalid_token", idptest.WrongAudience: "invalid_token", idptest.OtherParty: "invalid_token",
		idptest.NoParty: "invalid_token", idptest.WrongNonce: "invalid_token", idptest.NoNonce: "invalid_token",
		idptest.Expired: "invalid_token", idptest.Unsigned: "invalid_token", idptest.SignedBySecret: "invalid_token",
		idptest.SignedByPublic: "invalid_token", idptest.ForeignKey: "invalid_token", idptest.NoSubject: "invalid_token",
		idptest.NoToken: "invalid_token", idptest.OtherPerson: "invalid_token", idptest.TokenRefused: "provider_error",
		idptest.TokenBroken: "provider_unavailable", idptest.Denied: "access_denied",
	} {
		t.Log(fault)
		before := len(w.logs.String())
		p, slug := w.faulty(fault)
		trip := w.leave(slug, "")
		trip.arrive().failed(code)
		failures++
		n, newest := w.rowsOf("SSO_LOGIN_FAILED")
		logged := w.logs.String()[before:]
		if n != failures || !strings.Contains(newest, code) || !strings.Contains(logged, `"code":"`+code+`"`) {
			t.Fatalf("%d rows in the audit log: %s, log %s", n, newest, logged)
		}
		if spent := trip.back.Query().Get("code"); spent != "" && strings.Contains(newest+logged, spent) {
			t.Error("the code is in a log")
		}
		if strings.Contains(logged+newest, "eyJ") || strings.Contains(logged, idptest.ClientSecret) {
			t.Error("a token or a secret is in a log")
		}
		w.recovers(p, slug, time.Minute) // past the breaker
	}
}

func TestSSO_rejects_invalid_metadata(t *testing.T) {
	w := small(t, withSSO(nil))
	for _, fault := range []idptest.Fault{idptest.OtherIssuer, idptest.InsecureKeys, idptest.Huge} {
		t.Log(fault)
		p, slug := w.faulty(fault)
		w.do("GET", "/api/auth/sso/"+slug+"/login", "").failed("provider_unavailable")
		w.do("GET", "/api/auth/sso/"+slug+"/login", "").failed("provider_unavailable")
		if n := p.Asked("discovery"); n != 1 {
			t.Errorf("%d immediate requests", n)
		}
		w.do("POST", "/api/auth/login", login(userMail, password, "")).want(200)
		w.recovers(p, slug, 20*time.Second)
	}
}

func TestSSO_does_not_wait_for_a_slow_provider(t *testing.T) {
	w := small(t, withSSO(func(c *sso.Config) { c.Timeout = 500 * time.Millisecond }))
	p, slug := w.faulty(idptest.Slow)
	for range 2 {
		w.do("GET", "/api/auth/sso/"+slug+"/login", "").failed("provider_unavailable")
	}
	if n := p.Asked("discovery"); n != 1 {
		t.Errorf("%d immediate requests", n)
	}
	w.do("POST", "/api/auth/login", login(userMail, password, "")).want(200)
	p.Fail(idptest.None)
	testkit.Eventually(t, "people can sign in again", func() bool { // a busy machine may not answer within the limit
		w.clock.advance(20 * time.Second)
		return w.do("GET", "/api/auth/sso/"+slug+"/login", "").want(302).cookie("sso_sign_in") != nil
	})
}

// faulty adds a provider that has a fault.
func (w *world) faulty(fault idptest.Fault) (p *idp, slug string) {
	w.t.Helper()
	p, slug = startIDP(w.t, ann), strings.ReplaceAll(string(fault), "_", "-")
	p.Fail(fault)
	w.add(slug, p)
	return p, slug
}

// recovers checks that people can sign in some time after a provider's fault.
func (w *world) recovers(p *idp, slug string, after time.Duration) {
	w.t.Helper()
	p.Fail(idptest.None)
	w.clock.advance(after)
	w.signOn(slug).entered("/")
	w.clock.offset.Store(0) // for the next provider's tokens
}

func TestSSO_people(t *testing.T) {
	t.Parallel()
	worlds := map[bool]*world{}
	for _, provision := range []bool{false, true} {
		w := newWorld(t, storetest.Open(t), withSSO(func(cfg *sso.Config) { cfg.AutoProvision = provision }))
		w.do("POST", "/api/users", `{"email":"kate@example.com","password":"`+password+`"}`, as(w.root)).want(201)
		worlds[provision] = w
	}
	for name, c := range map[string]struct {
		who       idptest.Person
		fault     idptest.Fault
		provision bool
		want      string // an error code, "ann", who is signed in, or "new"
	}{
		"verified":                       {who: ann, want: "ann"},
		"verified as text":               {who: idptest.Person{Subject: "1", Email: userMail, Verified: "true"}, want: "ann"},
		"an administrator":               {who: idptest.Person{Subject: "1", Email: adminMail, Verified: true}, want: "link_required"},
		"email from user info":           {who: ann, fault: idptest.ThinToken, want: "ann"},
		"the secret in the body":         {who: ann, fault: idptest.PostOnly, want: "ann"},
		"not verified":                   {who: idptest.Person{Subject: "1", Email: userMail, Verified: false}, want: "no_account"},
		"verified by the word false":     {who: idptest.Person{Subject: "1", Email: userMail, Verified: "false"}, want: "no_account"},
		"no information on verification": {who: idptest.Person{Subject: "1", Email: userMail}, want: "no_account"},
		"no email":                       {who: idptest.Person{Subject: "1", Verified: true}, want: "no_account"},
		"unknown":                        {who: idptest.Person{Subject: "1", Email: "eve@example.com", Verified: true}, want: "no_account"},
		"a look-alike": {who: idptest.Person{Subject: "1", Email: "\u212Aate@example.com", Verified: true},
			want: "no_account"},
		"two emails": {who: idptest.Person{Subject: "1", Email: userMail + "," + otherMail, Verified: true},
			want: "no_account"},
		"provisioned": {who: idptest.Person{Subject: "1", Email: "eve@example.com", Verified: true, Name: "Eve"},
			provision: true, want: "new"},
		"provisioned but not verified": {who: idptest.Person{Subject: "1", Email: "zoe@example.com", Name: "Zoe"}, provision: true,
			want: "email_not_verified"},
		"provisioned with a bad email": {who: idptest.Person{Subject: "1", Email: "e\x00ve@example.com", Verified: true}, provision: true,
			want: "email_not_verified"},
		"known and not verified": {who: idptest.Person{Subject: "1", Email: userMail}, provision: true, want: "email_not_verified"},
		"strange subject":        {who: idptest.Person{Subject: "a\x00b", Email: userMail, Verified: true}, want: "invalid_token"},
		"long subject": {who: idptest.Person{Subject: strings.Repeat("x", 256), Email: userMail, Verified: true},
			want: "invalid_token"},
	} {
		w := worlds[c.provision]
		t.Log(name)
		slug := "p" + fresh()
		p := startIDP(t, c.who)
		p.Fail(c.fault)
		w.add(slug, p)
		r := w.signOn(slug)
		switch c.want {
		case "ann":
			if id := r.entered("/"); id != w.annID {
				t.Fatalf("signed in as %s", id)
			}
		case "new":
			id := r.entered("/")
			w.do("GET", "/api/users/"+id, "", as(w.root)).want(200).shows("email", c.who.Email, "name", "Eve", "role", "USER")
			w.do("POST", "/api/auth/login", login(c.who.Email, "", "")).want(400)
			w.do("POST", "/api/auth/login", login(c.who.Email, "x", "")).want(401)
			if again := w.signOn(slug).entered("/"); again != id {
				t.Fatal("the second sign-in created another user")
			}
		default:
			r.failed(c.want)
		}
	}
}

func TestSSO_inactive(t *testing.T) {
	w := small(t, withSSO(nil))
	p := startIDP(t, ann)
	w.add("corp", p)
	w.do("PATCH", "/api/users/"+w.annID+"/status", `{"status":"INACTIVE"}`, as(w.root)).want(200)
	w.signOn("corp").failed("account_inactive")
	w.do("PATCH", "/api/users/"+w.annID+"/status", `{"status":"ACTIVE"}`, as(w.root)).want(200)
	w.signOn("corp").entered("/")
	w.do("PATCH", "/api/users/"+w.annID+"/status", `{"status":"INACTIVE"}`, as(w.root)).want(200)
	w.signOn("corp").failed("account_inactive") // already linked, and still rejected

	trip := w.leave("corp", "")
	w.do("PUT", "/api/admin/oidc-providers/corp", `{"isActive":false}`, as(w.root)).want(200)
	trip.arrive().failed("unknown_provider")
	w.do("GET", "/api/auth/sso/corp/login", "").failed("unknown_provider")
	w.do("GET", "/api/auth/sso/none/login", "").failed("unknown_provider")
	w.do("GET", "/api/auth/sso/none/callback?state=x&code=y", "").failed("unknown_provider")
	w.do("GET", "/api/auth/sso", "").want(200).is("[]")
}

func TestSSO_response_belongs_to_its_sign_in(t *testing.T) {
	w := small(t, withSSO(nil))
	p := startIDP(t, ann)
	w.add("corp", p)
	w.add("other", p)

	none := w.leave("corp", "")
	none.cookie = nil
	none.arrive().failed("expired")

	trip := w.leave("corp", "")
	elsewhere := w.leave("corp", "")
	elsewhere.cookie = trip.cookie // an attacker redirects a victim's browser to the callback of the attacker's sign-in
	r := elsewhere.arrive().failed("invalid_state")
	if r.cookie("sso_sign_in") != nil {
		t.Error("the victim's own sign-in no longer works")
	}
	trip.arrive().entered("/")

	for name, change := range map[string]func(q url.Values){
		"no state": func(q url.Values) { q.Del("state") }, "another state": func(q url.Values) { q.Set("state", "x") },
	} {
		trip := w.leave("corp", "")
		q := trip.back.Query()
		change(q)
		trip.back.RawQuery = q.Encode()
		t.Log(name)
		trip.arrive().failed("invalid_state")
	}
	for name, change := range map[string]func(q url.Values){
		"no code": func(q url.Values) { q.Del("code") }, "another code": func(q url.Values) { q.Set("code", "x") },
		"another issuer": func(q url.Values) { q.Set("iss", "https://evil.example") },
		"an error":       func(q url.Values) { q.Set("error", "<script>") },
	} {
		trip := w.leave("corp", "")
		q := trip.back.Query()
		change(q)
		trip.back.RawQuery = q.Encode()
		t.Log(name)
		trip.arrive().failed("provider_error")
	}

	trip = w.leave("corp", "")
	trip.back.Path = "/api/auth/sso/other/callback"
	trip.arrive().failed("expired")
	trip.back.Path = "/api/auth/sso/corp/callback"
	good := trip.cookie.Value
	middle, other := len(good)/2, "A"
	if good[middle] == 'A' {
		other = "B"
	}
	trip.cookie.Value = good[:middle] + other + good[middle+1:]
	trip.arrive().failed("expired")
	trip.cookie.Value = good
	w.clock.advance(sso.PendingFor)
	trip.arrive().failed("expired")
	w.clock.advance(-time.Second)
	trip.arrive().failed("invalid_token") // the clock has advanced, so the token is too old

	w.clock.offset.Store(0)
	trip = w.leave("corp", "")
	w.do("DELETE", "/api/admin/oidc-providers/corp", "", as(w.root)).want(204)
	w.add("corp", p)
	trip.arrive().failed("expired") // the same slug, but another provider
}

func TestSSO_redirects_only_to_own_pages(t *testing.T) {
	w := small(t, withSSO(nil))
	w.add("corp", startIDP(t, ann))
	for _, bad := range []string{"https://evil.example", `/\evil.example`} { // TestReturnPath has others
		w.do("GET", "/api/auth/sso/corp/login?redirect="+url.QueryEscape(bad), "").failed("invalid_redirect")
	}
	w.leave("corp", "?redirect="+url.QueryEscape("/a b?q=é")).arrive().entered("/a%20b?q=%C3%A9")
	w.leave("corp", "?redirect=").arrive().entered("/")
}

func TestSSO_refetches_keys_at_intervals(t *testing.T) {
	w := small(t, withSSO(nil))
	p := startIDP(t, ann)
	w.add("corp", p)
	for range 3 {
		w.signOn("corp").entered("/")
	}
	if p.Asked("discovery") != 1 || p.Asked("keys") != 1 {
		t.Fatalf("%d discovery requests and %d key requests", p.Asked("discovery"), p.Asked("keys"))
	}
	p.Rotate() // the new key is ECDSA
	w.signOn("corp").entered("/")
	if p.Asked("keys") != 2 {
		t.Fatalf("%d key requests", p.Asked("keys"))
	}
	p.Rotate()
	p.Forget()
	for range 3 {
		w.signOn("corp").failed("invalid_token")
	}
	if p.Asked("keys") != 2 {
		t.Fatalf("an unknown key caused %d key requests", p.Asked("keys")-2)
	}
	w.clock.advance(30 * time.Second)
	w.signOn("corp").entered("/")
	w.clock.advance(time.Minute)
	p.Fail(idptest.ForeignKey)
	w.signOn("corp").failed("invalid_token")
	if p.Asked("keys") != 3 {
		t.Fatal("a bad signature with a known key caused a key request")
	}
}

func TestSSO_provider_down(t *testing.T) {
	w := small(t, withSSO(nil))
	p := startIDP(t, ann)
	w.add("corp", p)
	p.stop()
	w.do("GET", "/api/auth/sso/corp/login", "").failed("provider_unavailable")
	w.do("POST", "/api/auth/login", login(userMail, password, "")).want(200)
	p.start()
	w.do("GET", "/api/auth/sso/corp/login", "").failed("provider_unavailable") // no new request to the provider yet
	w.clock.advance(time.Second)
	trip := w.leave("corp", "")
	p.stop()
	trip.arrive().failed("provider_unavailable")
	w.clock.advance(2 * time.Hour) // the cached metadata is old, but recent enough to start a sign-in
	w.do("GET", "/api/auth/sso/corp/login", "").want(302)
	if c := w.do("GET", "/api/auth/sso/corp/login", "").cookie("sso_sign_in"); c == nil {
		t.Fatal("the cached metadata of the provider was not used")
	}
	w.clock.advance(24 * time.Hour)
	w.do("GET", "/api/auth/sso/corp/login", "").failed("provider_unavailable")
	if n, _ := w.rowsOf("SSO_LOGIN_FAILED"); n != 4 {
		t.Fatalf("%d failures in the audit log", n)
	}
}

func TestSSO_concurrent_first_sign_ins_create_one_user(t *testing.T) {
	eachWith(t, withSSO(func(c *sso.Config) { c.AutoProvision = true }), func(t *testing.T, w *world) {
		p := startIDP(t, idptest.Person{Subject: "eve", Email: "eve@example.com", Verified: true})
		w.add("corp", p)
		trips := make([]*trip, 6)
		for i := range trips {
			trips[i] = w.leave("corp", "")
		}
		var wg sync.WaitGroup
		for _, trip := range trips {
			wg.Go(func() {
				r := w.do("GET", trip.back.RequestURI(), "", with("Cookie", trip.cookie.Name+"="+trip.cookie.Value))
				if r.Header.Get("Location") != "/" {
					t.Errorf("redirected to %s", r.Header.Get("Location"))
				}
			})
		}
		wg.Wait()
		if linked, _ := w.rowsOf("OIDC_ACCOUNT_LINKED"); linked != 1 {
			t.Errorf("%d links in the audit log", linked)
		}
		w.do("GET", "/api/users?search=eve", "", as(w.root)).want(200).shows("total", 1)
	})
}

func TestSSO_enforced(t *testing.T) {
	w := small(t, withSSO(nil))
	w.do("PUT", "/api/settings/system/sso_enforce", `{"value":{"enabled":true}}`, as(w.root)).want(200)
	w.do("POST", "/api/auth/login", login(userMail, password, "")).want(200) // without a provider, the setting has no effect
	w.add("corp", startIDP(t, ann))
	w.do("POST", "/api/auth/login", login(userMail, password, "")).want(403)
	w.do("GET", "/api/auth/methods", "").want(200).shows("password", false)
	w.signOn("corp").entered("/")
	w.do("PUT", "/api/admin/oidc-providers/corp", `{"isActive":false}`, as(w.root)).want(200)
	w.do("POST", "/api/auth/login", login(userMail, password, "")).want(200)
}

func TestSSO_private_addresses_are_out_of_reach(t *testing.T) {
	w := small(t, withSSO(func(c *sso.Config) { c.AllowPrivate = false }))
	p := startIDP(t, ann)
	for _, at := range []string{p.Issuer, "https://127.0.0.1:8443", "https://[::1]/", "https://10.0.0.1", "http://id.example.com",
		"https://169.254.169.254/", "https://localhost/", "https://2130706433/"} {
		w.do("POST", "/api/admin/oidc-providers", providerJSON("corp", at, "x"), as(w.root)).wantField("discoveryUrl")
	}
	w.do("POST", "/api/admin/oidc-providers", providerJSON("corp", "https://id.example.com", "x"), as(w.root)).want(201)
	w.ok(w.store.Tx(t.Context(), func(tx *store.Tx) error { // simulates a name that later resolves to a private address
		_, err := tx.Exec(t.Context(), `UPDATE oidc_providers SET discovery_url = ?`, p.Issuer)
		return err
	}))
	w.do("GET", "/api/auth/sso/corp/login", "").failed("provider_unavailable")
	if p.Asked("discovery") != 0 {
		t.Fatal("a request reached the provider")
	}
}
