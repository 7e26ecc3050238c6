package api_test

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/manage/accounts"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/platform/smtp"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/testing/mailtest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// withMail sends e-mails to a server.
func withMail(server *mailtest.Server) func(*world, *api.Config, *api.Deps) {
	return func(w *world, cfg *api.Config, d *api.Deps) {
		keys := [][]byte{bytes.Repeat([]byte("e"), 32)}
		passwords, err := auth.NewPasswords(bcrypt.MinCost)
		w.ok(err)
		d.Mail, err = mail.New(mail.Config{
			Settings: smtp.Settings{URL: config.Secret(server.URL()), From: mailtest.From}, BaseURL: baseURL, EncryptionKeys: keys,
			Logger: cfg.Logger, Now: w.clock.now,
		}, w.store)
		w.ok(err)
		d.Auth, err = auth.NewAuthenticator(auth.Config{
			Secrets: [][]byte{bytes.Repeat([]byte("s"), 32)}, NewDevice: accounts.NoticeOfDevices(d.Mail, baseURL), Logger: cfg.Logger,
		}, w.store, passwords)
		w.ok(err)
		testkit.Run(w.t, d.Auth.Run)
		d.Accounts, err = accounts.New(accounts.Config{
			EncryptionKeys: keys, PasswordSignInOff: d.Settings.EnforcesSSO, Mail: d.Mail, Console: baseURL, Now: w.clock.now,
		}, w.store, d.Auth, passwords)
		w.ok(err)
		testkit.Run(w.t, d.Mail.Run)
	}
}

const fresher = "battery staple"

func forgot(email string) string { return `{"email":"` + email + `"}` }

func reset(token, password string) string {
	return `{"token":"` + token + `","newPassword":"` + password + `"}`
}

// token returns the token in the link of an e-mail, which both parts must contain.
func tokenOf(t *testing.T, m mailtest.Message) string {
	t.Helper()
	u, err := url.Parse(m.Link)
	testkit.Must(t, err)
	token, ok := strings.CutPrefix(u.Fragment, "reset=")
	if !ok || !strings.HasPrefix(m.Link, baseURL+"/login#") || !strings.Contains(m.HTML, m.Link) || !strings.Contains(m.Text, m.Link) {
		t.Fatalf("the link %q, in this e-mail:\n%s\n%s", m.Link, m.Text, m.HTML)
	}
	return token
}

func TestPasswordReset(t *testing.T) {
	server := mailtest.Start(t)
	w := small(t, withMail(server))
	key, _ := w.newKey(w.ann)
	ask := func() string {
		t.Helper()
		w.do("POST", "/api/auth/password/forgot", forgot(strings.ToUpper(userMail))).want(200)
		return tokenOf(t, server.Wait(t, userMail))
	}
	refused := func(what, token string) {
		t.Helper()
		if r := w.do("POST", "/api/auth/password/reset", reset(token, fresher)).wantField("token"); r.cookie("access_token") != nil {
			t.Errorf("%s: a cookie is set", what)
		}
		w.do("GET", "/api/auth/me", "", as(key)).want(200)
	}
	first, second := ask(), ask()
	refused("an unknown token", "x"+first)
	w.do("POST", "/api/auth/password/reset", reset(first, "short")).wantField("newPassword") // the token still works
	w.do("POST", "/api/auth/password/reset", reset(first, userMail)).wantField("newPassword")
	w.do("POST", "/api/auth/password/reset", `{"token":"`+first+`","newPassword":"battery staple","x":1}`).wantField("x")
	w.exec(`UPDATE users SET active = FALSE WHERE id = ?`, w.annID)
	w.do("POST", "/api/auth/password/reset", reset(first, fresher)).wantField("token")
	w.exec(`UPDATE users SET active = TRUE WHERE id = ?`, w.annID)
	w.do("GET", "/api/auth/me", "", as(w.ann)).want(200)

	done := w.do("POST", "/api/auth/password/reset", reset(first, fresher)).want(200).has("", "message")
	if len(done.Cookies()) > 0 {
		t.Error("the reset signs in")
	}
	w.do("GET", "/api/auth/me", "", as(w.ann)).want(401)
	w.do("GET", "/api/auth/me", "", as(key)).want(401)
	w.do("POST", "/api/auth/login", login(userMail, password, "")).want(401)
	r := w.do("POST", "/api/auth/login", login(userMail, fresher, "")).want(200)
	key, _ = w.newKey(r.str("accessToken"))
	if m := server.Wait(t, userMail); m.Subject != "Your password was changed – Shortline" {
		t.Errorf("after the reset: %q", m.Subject)
	}
	refused("a used token", first)
	refused("an older token of the same user", second)

	late := ask()
	w.clock.advance(accounts.ResetFor + time.Second)
	refused("an expired token", late)

	w.do("GET", "/api/audit-logs?action=PASSWORD_CHANGED", "", as(w.root)).want(200).
		shows("total", 1, "data.0.entityId", w.annID, "data.0.metadata.byEmail", true, "data.0.metadata.revokedApiKeys", 1.0)
	asked := w.do("GET", "/api/audit-logs?action=PASSWORD_RESET_REQUESTED", "", as(w.root)).want(200)
	if asked.num("total") != 3 || strings.Contains(asked.text+w.logs.String(), late) {
		t.Errorf("audit: %s", asked.text)
	}
	var n int
	w.ok(w.store.Row(t.Context(), `SELECT COUNT(*) FROM password_resets WHERE hash = ?`, late).Scan(&n))
	if n != 0 {
		t.Error("the database contains the token")
	}
}

// The response is the same for every address, and no one learns from it who has an account.
func TestPasswordReset_tells_nothing(t *testing.T) {
	server := mailtest.Start(t)
	w := small(t, withMail(server))
	w.do("PATCH", "/api/users/"+w.bobID+"/status", `{"status":"INACTIVE"}`, as(w.root)).want(200)
	w.exec(`INSERT INTO users (id, email, email_key, name, role, active, created_at, updated_at) VALUES ('sso', 'sso@example.com', ` +
		`'sso@example.com', '', 'USER', TRUE, 1, 1)`)
	var texts []string
	for _, email := range []string{userMail, otherMail, "sso@example.com", "nobody@example.com"} {
		start := time.Now()
		r := w.do("POST", "/api/auth/password/forgot", forgot(email)).want(200)
		if took := time.Since(start); took < 250*time.Millisecond {
			t.Errorf("%s took %v", email, took)
		}
		texts = append(texts, r.text)
	}
	for _, text := range texts[1:] {
		if text != texts[0] {
			t.Errorf("%s and %s", texts[0], text)
		}
	}
	tokenOf(t, server.Wait(t, userMail))
	for _, email := range []string{otherMail, "sso@example.com", "nobody@example.com"} {
		if list := server.All(t, email); len(list) > 0 {
			t.Errorf("%s got %q", email, list[0].Subject)
		}
	}
	for _, email := range []string{"", "x", "a@b@c", strings.Repeat("x", 300) + "@example.com", `ann@example.com\r\nBcc: bob@example.com`} {
		w.do("POST", "/api/auth/password/forgot", forgot(email)).wantField("email")
	}
	for _, email := range []string{userMail, "nobody@example.com"} {
		statuses := map[int]int{}
		for range 6 {
			statuses[w.do("POST", "/api/auth/password/forgot", forgot(email)).StatusCode]++
		}
		if statuses[200] != 4 || statuses[429] != 2 {
			t.Errorf("%s: %v", email, statuses)
		}
		w.do("POST", "/api/auth/password/forgot", forgot(email), from("198.51.100.9:1")).want(200) // another client may ask
	}
	w.do("PUT", "/api/settings/system/sso_enforce", `{"value":{"enabled":true}}`, as(w.root)).want(200)
	for _, email := range []string{userMail, "nobody@example.com"} {
		w.do("POST", "/api/auth/password/forgot", forgot(email), from("203.0.113.9:1")).want(403)
	}
	w.do("POST", "/api/auth/password/reset", reset("x", fresher)).want(403)
}

func TestPasswordReset_without_mail(t *testing.T) {
	w := small(t, nil)
	known := w.do("POST", "/api/auth/password/forgot", forgot(userMail)).want(403)
	unknown := w.do("POST", "/api/auth/password/forgot", forgot("nobody@example.com")).want(403)
	if known.text != unknown.text || !strings.Contains(known.str("message"), "administrator") {
		t.Errorf("%s and %s", known.text, unknown.text)
	}
}

// Of concurrent uses of one token, one succeeds.
func TestPasswordReset_at_once(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		server := mailtest.Start(t)
		w := newWorld(t, st, withMail(server))
		w.do("POST", "/api/auth/password/forgot", forgot(userMail)).want(200)
		token := tokenOf(t, server.Wait(t, userMail))
		statuses := make(chan int)
		for i := range 8 {
			go func() {
				statuses <- w.do("POST", "/api/auth/password/reset", reset(token, fmt.Sprint("battery staple ", i))).StatusCode
			}()
		}
		got := map[int]int{}
		for range 8 {
			got[<-statuses]++
		}
		if got[200] != 1 || got[400] != 7 {
			t.Errorf("%v", got)
		}
	})
}

// A reset does not turn a second factor off.
func TestPasswordReset_keeps_the_second_factor(t *testing.T) {
	server := mailtest.Start(t)
	w := small(t, withMail(server))
	secret := w.secondFactor(w.ann)
	server.Wait(t, userMail) // second factor turned on
	w.do("POST", "/api/auth/password/forgot", forgot(userMail)).want(200)
	token := tokenOf(t, server.Wait(t, userMail))
	w.do("POST", "/api/auth/password/reset", reset(token, fresher)).want(200)
	w.do("POST", "/api/auth/login", login(userMail, fresher, "")).want(200).shows("requires2FA", true, "accessToken", nil)
	w.do("POST", "/api/auth/login", login(userMail, fresher, w.code(secret))).want(200)
}

// Somebody who copied an invitation may have made the account of another person's address, with a passkey and an
// authenticator app. The owner of the address gets the account without them.
func TestPasswordReset_takes_over_an_account_of_an_unproven_address(t *testing.T) {
	server := mailtest.Start(t)
	w := small(t, withMail(server))
	w.secondFactor(w.ann)
	server.Wait(t, userMail) // second factor turned on
	w.ok(w.store.Tx(t.Context(), func(tx *store.Tx) error {
		if _, err := tx.Exec(t.Context(), `UPDATE users SET email_verified = FALSE WHERE id = ?`, w.annID); err != nil {
			return err
		}
		return tx.InsertPasskey(t.Context(), store.Passkey{ID: store.NewID(), UserID: w.annID, CredentialID: "AAAA", PublicKey: "AAAA",
			Name: "stranger's", CreatedAt: 1})
	}))
	w.do("POST", "/api/auth/password/forgot", forgot(userMail)).want(200)
	w.do("POST", "/api/auth/password/reset", reset(tokenOf(t, server.Wait(t, userMail)), fresher)).want(200)
	w.do("POST", "/api/auth/login", login(userMail, fresher, "")).want(200).has("", "user", "accessToken", "requires2FA")
	u, err := w.store.UserByID(t.Context(), w.annID)
	w.ok(err)
	if u.HasPasskeys || u.TOTPEnabled || u.EmailUnproven {
		t.Errorf("%+v", u)
	}
}

const macSafari = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15"

func TestNotices(t *testing.T) {
	server := mailtest.Start(t)
	w := small(t, withMail(server))
	p := w.person("USER") // the first sign-in of a user is reported to nobody
	w.signInFrom(p.email, "198.51.100.1", firefox)
	notice := func(what, subject string, contains ...string) {
		t.Helper()
		m := server.Wait(t, p.email)
		if m.Subject != subject+" – Shortline" {
			t.Errorf("%s: the subject is %q, want %q", what, m.Subject, subject)
		}
		for _, text := range append(contains, baseURL+"/console/account") {
			if !strings.Contains(m.Text, text) || !strings.Contains(m.HTML, text) {
				t.Errorf("%s: no %q in:\n%s\n%s", what, text, m.Text, m.HTML)
			}
		}
	}
	notice("another network and browser", "New sign-in to your account", "198.51.100.1", "Firefox on Windows")
	w.signInFrom(p.email, "198.51.100.200", strings.ReplaceAll(firefox, "140.0", "141.0")) // the same device after an update
	w.signInFrom(p.email, "198.51.100.1", macSafari)
	notice("another browser", "New sign-in to your account", "198.51.100.1", "Safari on macOS")
	w.signInFrom(p.email, "2001:db8:1::1", macSafari)
	notice("another network", "New sign-in to your account", "2001:db8:1::1")
	token := w.signInFrom(p.email, "2001:db8:1:ff::1", macSafari) // the same /48

	w.do("PUT", "/api/auth/password", `{"oldPassword":"`+password+`","newPassword":"`+fresher+`"}`, as(token), from("203.0.113.5:1"),
		with("User-Agent", firefox)).want(200)
	notice("changed password", "Your password was changed", "203.0.113.5", "Firefox on Windows")
	w.do("POST", "/api/users/"+p.id+"/reset-password", `{"newPassword":"`+password+`"}`, as(w.root)).want(200)
	notice("password reset by an administrator", "Your password was changed")

	token = w.signInFrom(p.email, "198.51.100.1", macSafari)
	w.secondFactor(token)
	notice("second factor", "Second factor turned on")
	for range 5 {
		w.do("POST", "/api/auth/login", login(p.email, password, "000000"), from("203.0.113.77:1")).want(401)
	}
	notice("locked second factor", "Too many wrong codes for your account", "203.0.113.77")
	server.None(t, p.email)
	if list := server.All(t, adminMail); len(list) > 0 {
		t.Errorf("the administrator got %q", list[0].Subject)
	}
}

// The user agent of a sign-in cannot put text of a stranger into an e-mail.
func TestNotices_quote_no_user_agent(t *testing.T) {
	server := mailtest.Start(t)
	w := small(t, withMail(server))
	w.signInFrom(userMail, "198.51.100.1", "Call +1 555 0100 <b>now</b> https://evil.example/")
	m := server.Wait(t, userMail)
	for _, bad := range []string{"evil", "555", "<b>now"} {
		if strings.Contains(m.Text+m.HTML, bad) {
			t.Errorf("%q in:\n%s", bad, m.Text)
		}
	}
}
