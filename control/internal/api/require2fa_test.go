package api_test

import (
	"fmt"
	"testing"

	"github.com/shortline/shortline/control/internal/platform/passkeytest"
	"github.com/shortline/shortline/control/internal/store"
)

// With require_2fa, a session without a second factor reaches only its own enrolment.
func TestRequire2FA(t *testing.T) {
	w := small(t, whole)
	const setting = "/api/settings/system/require_2fa"
	other := replica(w, w.store, whole)
	key, _ := w.newKey(w.ann)
	for _, value := range []string{`true`, `{}`, `{"enabled":1}`, `{"enabled":true,"x":1}`} {
		w.do("PUT", setting, `{"value":`+value+`}`, as(w.root)).wantField("value")
	}
	w.do("PUT", setting, `{"value":{"enabled":true}}`, as(w.root)).wantField("value") // has no second factor
	w.do("GET", "/api/urls", "", as(w.ann)).want(200)
	w.do("PUT", setting, `{"value":{"enabled":false}}`, as(w.root)).want(200)
	secret := w.secondFactor(w.root)
	w.do("PUT", setting, `{"value":{ "Enabled" : true }}`, as(w.root)).want(200) // any spelling that is accepted works

	// At once, at every replica, for every endpoint that is not for everybody.
	open := map[string]int{
		"GET /api/auth/me": 200, "POST /api/auth/2fa/setup": 201, "POST /api/auth/2fa/enable": 400,
		"POST /api/auth/passkeys/register/begin": 201, "POST /api/auth/passkeys/register/finish": 400,
	}
	refused, reached := 0, 0
	for _, r := range table(t) {
		if r.who == "P" || r.endpoint() == "POST /api/auth/logout" {
			continue
		}
		before := w.trace()
		got := other.send(r, func(string) string { return store.NewID() }, as(w.ann))
		if want := open[r.endpoint()]; want != 0 {
			if reached++; got.StatusCode == 401 || got.StatusCode == 403 {
				t.Errorf("%s: %d %s", r.endpoint(), got.StatusCode, got.text)
			}
			continue
		}
		refused++
		if got.want(403).str("error") != "Second Factor Required" || w.trace() != before {
			t.Errorf("%s: %s", r.endpoint(), got.text)
		}
	}
	if refused < 80 || reached != len(open) {
		t.Errorf("%d endpoints refused, %d reached", refused, reached)
	}
	w.do("GET", "/api/auth/methods", "", as(w.ann)).want(200).has("", "password", "sso", "passkeys", "passwordReset")
	w.do("GET", "/api/urls", "", as(key)).want(200) // API keys are not affected
	out, _ := w.signIn(userMail)
	w.do("GET", "/api/urls", "", as(out)).want(403)
	w.do("POST", "/api/auth/logout", "", as(out)).want(200)

	// Either kind of second factor opens the session.
	w.secondFactor(w.ann)
	other.do("GET", "/api/urls", "", as(w.ann)).want(200)
	device := passkeytest.New(baseURL)
	id := w.enrol(w.bob, device).str("id")
	other.do("GET", "/api/urls", "", as(w.bob)).want(200)
	bob := w.do("GET", "/api/auth/me", "", as(w.bob)).want(200).str("email")
	w.do("POST", "/api/auth/login", fmt.Sprintf(`{"email":%q,"password":%q}`, bob, password)).want(403) // the password alone is one factor
	w.enter(device).want(200)

	// The last one stays.
	w.do("DELETE", "/api/auth/passkeys/"+id, "", as(w.bob)).want(400)
	disable := func() string { return `{"password":"` + password + `","code":"` + w.code(secret) + `"}` }
	w.do("POST", "/api/auth/2fa/disable", disable(), as(w.root)).want(400)
	w.do("GET", "/api/users", "", as(w.root)).want(200)
	second := w.enrol(w.root, passkeytest.New(baseURL)).str("id")
	w.do("POST", "/api/auth/2fa/disable", disable(), as(w.root)).want(200)
	w.do("DELETE", "/api/auth/passkeys/"+second, "", as(w.root)).want(400)
	w.do("GET", "/api/users", "", as(w.root)).want(200)

	w.do("PATCH", "/api/users/"+w.annID+"/2fa", `{"enabled":false}`, as(w.root)).want(200)
	other.do("GET", "/api/urls", "", as(w.ann)).want(403)
	w.do("DELETE", setting, "", as(w.root)).want(204)
	other.do("GET", "/api/urls", "", as(w.ann)).want(200)
	w.do("POST", "/api/auth/login", fmt.Sprintf(`{"email":%q,"password":%q}`, bob, password)).want(200)
	w.do("DELETE", "/api/auth/passkeys/"+id, "", as(w.bob)).want(204)
}
