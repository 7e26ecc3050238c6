package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/platform/auth"
)

var userNames = []string{"id", "email", "name", "role", "status", "isActive", "twoFactorEnabled", "hasPasskeys", "emailVerified",
	"createdAt", "updatedAt"}

func login(email, password, code string) string {
	if code != "" {
		code = `,"twoFactorCode":"` + code + `"`
	}
	return fmt.Sprintf(`{"email":%q,"password":%q%s}`, email, password, code)
}

func TestLogin(t *testing.T) {
	w := small(t, nil)
	r := w.do("POST", "/api/auth/login", login("  ROOT@example.com ", password, "")).want(200)
	r.has("", "user", "accessToken", "requires2FA").has("user", userNames...)
	c := r.cookie("access_token")
	if c == nil || c.Value != r.str("accessToken") || !c.HttpOnly || !c.Secure || c.Path != "/" || c.SameSite != http.SameSiteLaxMode ||
		c.MaxAge < 86000 || c.MaxAge > 86400 {
		t.Fatalf("cookie: %+v", c)
	}
	r.shows("user.role", "ADMIN", "user.status", "ACTIVE", "user.isActive", true, "requires2FA", false)
	if _, err := time.Parse("2006-01-02T15:04:05.000Z", r.str("user.createdAt")); err != nil {
		t.Fatal(err)
	}
	w.do("GET", "/api/auth/me", "", with("Cookie", "access_token="+c.Value)).want(200).has("", userNames...)
	w.do("GET", "/api/auth/me", "", as(c.Value)).want(200)

	wrong := w.do("POST", "/api/auth/login", login(userMail, "wrong", "")).want(401)
	unknown := w.do("POST", "/api/auth/login", login("nobody@example.com", "wrong", "")).want(401)
	if wrong.text != unknown.text || wrong.cookie("access_token") != nil {
		t.Fatalf("the responses for an unknown email and a wrong password differ: %s %s", wrong.text, unknown.text)
	}
	w.do("POST", "/api/auth/login", login(userMail, strings.Repeat("x", 500), "")).want(401)
	w.do("POST", "/api/auth/login", "").wantField("email", "password")
	w.do("POST", "/api/auth/login", `{"email":1,"password":null,"twoFactorCode":[],"remember":true}`).wantField("email", "password",
		"twoFactorCode", "remember")
	w.do("POST", "/api/auth/login", `{"email":"","password":""}`).wantField("email", "password")
	w.do("POST", "/api/auth/login", `{"Email":"a","password":"b"}`).wantField("email", "Email")

	w.do("PATCH", "/api/users/"+w.annID+"/status", `{"status":"INACTIVE"}`, as(w.root)).want(200)
	if r := w.do("POST", "/api/auth/login", login(userMail, password, "")).want(401); r.text != wrong.text {
		t.Fatalf("the response reveals an inactive user: %s", r.text)
	}
}

func TestLogin_locks_after_five_failures(t *testing.T) {
	w := small(t, nil)
	bad, good := login(userMail, "wrong", ""), login(userMail, password, "")
	here, there := from("192.0.2.1:1"), from("192.0.2.2:1")
	for range 5 {
		w.do("POST", "/api/auth/login", bad, here).want(401)
	}
	locked := func(wantSeconds string) {
		t.Helper()
		r := w.do("POST", "/api/auth/login", good, here).want(429)
		if r.Header.Get("Retry-After") != wantSeconds {
			t.Fatalf("Retry-After %s, want %s", r.Header.Get("Retry-After"), wantSeconds)
		}
	}
	locked("30")
	w.do("POST", "/api/auth/login", good, there).want(200)
	w.do("POST", "/api/auth/login", login(otherMail, password, ""), here).want(200)
	delay := 30 * time.Second
	for _, seconds := range []string{"60", "120", "240", "480", "900", "900"} {
		w.clock.advance(delay)
		delay, _ = time.ParseDuration(seconds + "s")
		w.do("POST", "/api/auth/login", bad, here).want(401)
		locked(seconds)
	}
	w.clock.advance(delay)
	w.do("POST", "/api/auth/login", good, here).want(200)
	for range 4 {
		w.do("POST", "/api/auth/login", bad, here).want(401)
	}
	w.clock.advance(11 * time.Minute)
	for range 4 { // the first four failures have expired
		w.do("POST", "/api/auth/login", bad, here).want(401)
	}
	w.do("POST", "/api/auth/login", good, here).want(200)
}

func TestLogout_ends_this_session(t *testing.T) {
	w := small(t, nil)
	second, _ := w.signIn(userMail)
	r := w.do("POST", "/api/auth/logout", "", as(w.ann)).want(200)
	if c := r.cookie("access_token"); c == nil || c.MaxAge >= 0 {
		t.Fatalf("the cookie is not deleted: %+v", c)
	}
	w.do("GET", "/api/auth/me", "", as(w.ann)).want(401)
	w.do("GET", "/api/auth/me", "", as(second)).want(200)
	w.do("POST", "/api/auth/logout", "").want(401)
}

func TestProfile(t *testing.T) {
	w := small(t, nil)
	r := w.do("PUT", "/api/auth/me", `{"name":" Ann "}`, as(w.ann)).want(200).has("", userNames...)
	r.shows("name", "Ann")
	w.do("PUT", "/api/auth/me", `{"name":null}`, as(w.ann)).want(200).shows("name", "")
	w.do("PUT", "/api/auth/me", `{}`, as(w.ann)).wantField("name")
	w.do("PUT", "/api/auth/me", `{"name":"`+strings.Repeat("x", 256)+`"}`, as(w.ann)).wantField("name")
	w.do("PUT", "/api/auth/me", `{"name":"x","role":"ADMIN"}`, as(w.ann)).wantField("role")
	w.do("PUT", "/api/auth/me", `{"name":"x"}`).want(401)
}

func TestPassword(t *testing.T) {
	w := small(t, nil)
	second, _ := w.signIn(userMail)
	w.do("POST", "/api/auth/password", `{"currentPassword":"wrong","newPassword":"battery staple"}`, as(w.ann)).wantField("currentPassword").
		shows("message", "The current password is not right.")
	w.do("POST", "/api/auth/password", `{"currentPassword":"`+password+`","newPassword":"1234567"}`, as(w.ann)).wantField("newPassword")
	w.do("POST", "/api/auth/password", `{"currentPassword":"`+password+`","newPassword":"`+strings.Repeat("é", 37)+`"}`, as(w.ann)).
		wantField("newPassword")
	w.do("POST", "/api/auth/password", `{}`, as(w.ann)).wantField("newPassword")
	w.do("POST", "/api/auth/password", `{"newPassword":"short"}`, as(w.ann)).wantField("newPassword", "currentPassword")
	w.do("GET", "/api/auth/me", "", as(w.ann)).want(200)

	w.do("POST", "/api/auth/password", `{"currentPassword":"`+password+`","newPassword":"battery staple"}`, as(w.ann)).want(200).
		has("", "message")
	w.do("GET", "/api/auth/me", "", as(w.ann)).want(200)
	w.do("GET", "/api/auth/me", "", as(second)).want(401)
	w.do("POST", "/api/auth/login", login(userMail, password, "")).want(401)
	w.do("PUT", "/api/auth/password", `{"oldPassword":"battery staple","newPassword":"`+password+`"}`, as(w.ann)).want(200)
	w.do("POST", "/api/auth/login", login(userMail, password, "")).want(200)

	for range 5 {
		w.do("PUT", "/api/auth/password", `{"oldPassword":"wrong","newPassword":"battery staple"}`, as(w.bob)).wantField("currentPassword")
	}
	w.do("PUT", "/api/auth/password", `{"oldPassword":"`+password+`","newPassword":"battery staple"}`, as(w.bob)).want(429)
}

func (w *world) code(secret string) string {
	code, err := auth.TOTPCode(secret, auth.TOTPStep(w.clock.now()))
	w.ok(err)
	return code
}

func TestTwoFactor(t *testing.T) {
	w := small(t, nil)
	w.do("POST", "/api/auth/2fa/enable", `{"code":"123456"}`, as(w.ann)).want(400)
	w.do("POST", "/api/auth/2fa/disable", `{"code":"123456","password":"x"}`, as(w.ann)).want(400)
	first := w.do("POST", "/api/auth/2fa/setup", "", as(w.ann)).want(201).has("", "secret", "otpauthUrl", "qrCode", "accountName")
	r := w.do("POST", "/api/auth/2fa/setup", "", as(w.ann)).want(201)
	secret := r.str("secret")
	if secret == first.str("secret") || !strings.HasPrefix(r.str("qrCode"), "data:image/png;base64,iVBOR") ||
		r.str("accountName") != userMail ||
		!strings.HasPrefix(r.str("otpauthUrl"), "otpauth://totp/Shortline:") || !strings.Contains(r.str("otpauthUrl"), "secret="+secret) {
		t.Fatal(r.text)
	}
	if u, err := w.store.UserByID(t.Context(), w.annID); err != nil || u.TOTPSecret == nil || strings.Contains(*u.TOTPSecret, secret) {
		t.Fatal("the secret is stored in plain text")
	}
	w.do("POST", "/api/auth/login", login(userMail, password, "")).want(200) // two-factor authentication is not enabled yet
	w.do("POST", "/api/auth/2fa/enable", `{"code":"`+w.code(first.str("secret"))+`"}`, as(w.ann)).wantField("code")
	w.do("POST", "/api/auth/2fa/enable", `{"code":""}`, as(w.ann)).wantField("code")
	on := w.do("POST", "/api/auth/2fa/enable", `{"code":"`+w.code(secret)+`"}`, as(w.ann)).want(200).has("", "message", "recoveryCodes")
	recovery, _ := on.at("recoveryCodes").([]any)
	if len(recovery) != 10 {
		t.Fatal(on.text)
	}
	w.do("POST", "/api/auth/2fa/setup", "", as(w.ann)).want(400)
	w.do("GET", "/api/auth/me", "", as(w.ann)).want(200).shows("twoFactorEnabled", true)

	r = w.do("POST", "/api/auth/login", login(userMail, password, "")).want(200).has("", "requires2FA")
	if r.at("requires2FA") != true || len(r.Cookies()) != 0 {
		t.Fatal(r.text)
	}
	w.do("POST", "/api/auth/login", login(userMail, password, w.code(secret))).want(401) // the code was already used to enable it
	w.clock.advance(30 * time.Second)
	code := w.code(secret)
	w.do("POST", "/api/auth/login", login(userMail, "wrong", code)).want(401)
	w.do("POST", "/api/auth/login", login(userMail, password, code)).want(200)
	w.do("POST", "/api/auth/login", login(userMail, password, code)).want(401)
	w.do("POST", "/api/auth/login", login(userMail, password, strings.ToUpper(recovery[0].(string)))).want(200)
	w.do("POST", "/api/auth/login", login(userMail, password, recovery[0].(string))).want(401)

	w.clock.advance(30 * time.Second)
	w.do("POST", "/api/auth/2fa/disable", `{}`, as(w.ann)).wantField("code", "password")
	w.do("POST", "/api/auth/2fa/disable", `{"code":"`+w.code(secret)+`","password":"wrong"}`, as(w.ann)).wantField("password")
	w.do("POST", "/api/auth/2fa/disable", `{"code":"000000","password":"`+password+`"}`, as(w.ann)).wantField("code")
	w.do("POST", "/api/auth/2fa/disable", `{"code":"`+w.code(secret)+`","password":"`+password+`"}`, as(w.ann)).want(200).has("", "message")
	w.do("POST", "/api/auth/login", login(userMail, password, "")).want(200).has("", "user", "accessToken", "requires2FA")
}

func TestTwoFactor_code_guesses_are_counted(t *testing.T) {
	w := small(t, nil)
	w.do("POST", "/api/auth/2fa/setup", "", as(w.ann)).want(201)
	for range 5 {
		w.do("POST", "/api/auth/2fa/enable", `{"code":"1"}`, as(w.ann)).wantField("code")
	}
	w.do("POST", "/api/auth/2fa/enable", `{"code":"1"}`, as(w.ann)).want(429)
}

func TestPasswordSignIn_off_while_single_sign_on_is_enforced(t *testing.T) {
	w := small(t, nil)
	w.do("PUT", "/api/settings/system/sso_enforce", `{"value":{"enabled":true}}`, as(w.root)).want(200)
	w.do("POST", "/api/auth/login", login(userMail, password, "")).want(403)
	w.do("PUT", "/api/settings/system/sso_enforce", `{"value":{"enabled":false}}`, as(w.root)).want(200)
	w.do("POST", "/api/auth/login", login(userMail, password, "")).want(200)
}
