package api_test

import (
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/platform/passkeytest"
)

// Passkeys need https or localhost, and a name.
func TestPasskeys_addresses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ base, console, host, origin string }{
		{"https://sho.rt", "", "sho.rt", "https://sho.rt"},
		{"https://sho.rt:8443", "", "sho.rt", "https://sho.rt:8443"},
		{"https://Sho.RT", "", "sho.rt", "https://sho.rt"},
		{"https://sho.rt", "https://app.example.com/console", "app.example.com", "https://app.example.com"},
		{"http://localhost:8080", "", "localhost", "http://localhost:8080"},
		{"http://app.localhost:8080", "", "app.localhost", "http://app.localhost:8080"},
		{"http://sho.rt", "https://app.example.com", "app.example.com", "https://app.example.com"},
		{"http://sho.rt", "", "", ""},
		{"http://127.0.0.1:8080", "", "", ""},
		{"https://192.0.2.1", "", "", ""},
		{"https://[2001:db8::1]", "", "", ""},
		{"https://sho.rt", "http://app.example.com", "", ""},
	} {
		t.Run(c.base+" "+c.console, func(t *testing.T) {
			w := small(t, func(w *world, cfg *api.Config, deps *api.Deps) {
				cfg.BaseURL, cfg.ConsoleURL = c.base, c.console
				withPasskeys(w, cfg, deps)
			})
			if c.host == "" {
				w.do("POST", "/api/auth/passkeys/login/begin", "").want(403)
				w.do("POST", "/api/auth/passkeys/register/begin", "", as(w.ann)).want(403)
				w.do("GET", "/api/auth/passkeys", "", as(w.ann)).want(200)
				return
			}
			d := passkeytest.New(c.origin)
			w.enrol(w.ann, d)
			if _, host := w.challenge(); host != c.host {
				t.Errorf("host %s", host)
			}
			w.enter(d).want(200)
		})
	}
}

// While single sign-on is enforced, passkeys are off like passwords. They can still be listed and removed.
func TestPasskeys_while_single_sign_on_is_enforced(t *testing.T) {
	w := small(t, withPasskeys)
	d := passkeytest.New(baseURL)
	made := w.enrol(w.ann, d)
	signed := d.Get(w.challenge())
	w.do("PUT", "/api/settings/system/sso_enforce", `{"value":{"enabled":true}}`, as(w.root)).want(200)
	w.answer(signed).want(403)
	w.do("POST", "/api/auth/passkeys/login/begin", "").want(403)
	w.do("POST", "/api/auth/passkeys/register/begin", "", as(w.ann)).want(403)
	w.do("GET", "/api/auth/passkeys", "", as(w.ann)).want(200)
	w.do("DELETE", "/api/auth/passkeys/"+made.str("id"), "", as(w.ann)).want(204)
}

// A login page learns from the sign-in methods whether to offer passkeys.
func TestPasskeys_are_a_sign_in_method(t *testing.T) {
	w := small(t, whole)
	w.do("GET", "/api/auth/methods", "").want(200).shows("passkeys", true)
	w.do("POST", "/api/admin/oidc-providers",
		`{"name":"P","slug":"p","discoveryUrl":"http://127.0.0.1:1/","clientId":"id","clientSecret":"secret"}`, as(w.root)).want(201)
	w.do("PUT", "/api/settings/system/sso_enforce", `{"value":{"enabled":true}}`, as(w.root)).want(200)
	w.do("GET", "/api/auth/methods", "").want(200).shows("passkeys", false, "password", false)
}

func TestPasskeys_rename(t *testing.T) {
	w := small(t, withPasskeys)
	w.enrol(w.ann, passkeytest.New(baseURL))
	path := "/api/auth/passkeys/" + w.do("GET", "/api/auth/passkeys", "", as(w.ann)).want(200).str("data.0.id")
	for body, want := range map[string]string{`{"name":" Laptop "}`: "Laptop", `{"name":""}`: "Passkey", `{"name":null}`: "Passkey",
		`{"name":"Phone"}`: "Phone"} {
		w.do("PATCH", path, body, as(w.ann)).want(200).shows("name", want)
	}
	w.do("PATCH", path, `{"name":"Laptop"}`, as(w.ann)).want(200)
	w.do("PATCH", path, `{"name":"Mine"}`, as(w.root)).want(404)
	for _, body := range []string{`{}`, `{"name":1}`, `{"name":"a\u0007"}`, `{"name":"` + strings.Repeat("a", 101) + `"}`} {
		w.do("PATCH", path, body, as(w.ann)).want(400)
	}
	w.do("GET", "/api/auth/passkeys", "", as(w.ann)).want(200).shows("data.0.name", "Laptop")
	w.do("GET", "/api/audit-logs?action=PASSKEY_RENAMED", "", as(w.root)).want(200).shows("total", 5)
}
