package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/manage/invitations"
	"github.com/shortline/shortline/control/internal/platform/idptest"
	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/platform/smtp"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/testing/mailtest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// invite creates an invitation and returns its id and its token.
func (w *world) invite(workspace, email, role string, by string) (id, token string) {
	w.t.Helper()
	r := w.do("POST", "/api/workspaces/"+workspace+"/invitations", fmt.Sprintf(`{"email":%q,"role":%q}`, email, role), as(by)).want(201)
	return r.str("id"), invitationToken(w.t, r.str("link"))
}

func invitationToken(t testing.TB, link string) string {
	t.Helper()
	token, ok := strings.CutPrefix(link, baseURL+"/login#invitation=")
	if !ok || len(token) < 26 {
		t.Fatalf("link %q", link)
	}
	return token
}

func (w *world) accept(token, more string, options ...option) *reply {
	w.t.Helper()
	return w.do("POST", "/api/invitations/accept", fmt.Sprintf(`{"token":%q%s}`, token, more), options...)
}

const newcomer = `,"name":"Zoë 🦊","password":"battery staple"`

func TestInvitations(t *testing.T) {
	w := small(t, teams)
	id := w.newTeam("Growth")
	path := "/api/workspaces/" + id + "/invitations"
	r := w.do("POST", path, `{"email":" Zoe@example.com ","role":"EDITOR"}`, as(w.ann)).want(201).
		has("", "id", "email", "role", "status", "invitedBy", "createdAt", "expiresAt", "link", "mailed")
	r.shows("email", "Zoe@example.com", "status", "PENDING", "invitedBy.id", w.annID, "mailed", false)
	token := invitationToken(t, r.str("link"))
	var hash string
	w.ok(w.store.Row(t.Context(), `SELECT shown_hash FROM invitations`).Scan(&hash))
	if strings.Contains(w.logs.String()+w.do("GET", "/api/audit-logs?limit=100", "", as(w.root)).text, token) || hash == token ||
		len(hash) != 64 {
		t.Error("the token is stored")
	}
	for body, field := range map[string]string{
		`{"email":"x","role":"EDITOR"}`: "email", `{"email":"x@example.com","role":"BOSS"}`: "role", `{"role":"EDITOR"}`: "email",
		`{"email":"x@example.com"}`: "role",
	} {
		w.do("POST", path, body, as(w.ann)).wantField(field)
	}
	w.do("POST", "/api/workspaces/"+w.annID+"/invitations", `{"email":"x@example.com","role":"EDITOR"}`, as(w.ann)).want(400)
	w.do("POST", path, `{"email":"`+userMail+`","role":"EDITOR"}`, as(w.ann)).want(409)
	w.do("POST", path, `{"email":"x@example.com","role":"EDITOR"}`, as(w.bob)).want(404)

	// A second invitation replaces the first.
	_, second := w.invite(id, "zoe@example.com", "VIEWER", w.ann)
	w.accept(token, newcomer).want(410)
	w.do("GET", path, "", as(w.ann)).want(200).has("data.0", "id", "email", "role", "status", "invitedBy", "createdAt", "expiresAt").
		shows("total", 1, "data.0.role", "VIEWER")

	// An unknown address makes an account and opens a session.
	w.accept(second, `,"name":"Zoë"`).wantField("password")
	w.accept(second, `,"password":"password"`).wantField("password")
	w.accept(second, `,"password":"battery staple"`, as(w.bob)).want(403)
	w.do("POST", "/api/invitations/accept", `{"token":"`+second+`"}`, with("X-API-Key", first(w.newKey(w.bob)))).want(403)
	ok := w.accept(second, newcomer, with("Cookie", "access_token=of-a-session-that-ended")).want(200).has("", "workspaceId",
		"role", "user",
		"accessToken")
	if ok.str("workspaceId") != id || ok.str("role") != "VIEWER" || ok.str("user.email") != "zoe@example.com" ||
		ok.str("user.name") != "Zoë 🦊" || ok.cookie("access_token") == nil {
		t.Fatal(ok.text)
	}
	zoe := as(ok.str("accessToken"))
	w.do("GET", "/api/workspaces/"+id, "", zoe).want(200).shows("role", "VIEWER")
	w.do("POST", "/api/auth/login", login("zoe@example.com", "battery staple", "")).want(200)
	w.accept(second, newcomer).want(410)
	w.do("GET", path, "", zoe).want(403)

	// A known address has to sign in as itself.
	inviteID, forBob := w.invite(id, strings.ToUpper(otherMail), "ADMIN", w.ann)
	w.accept(forBob, newcomer).want(401)
	if r := w.accept(forBob, "", as(w.root)).want(403); !strings.Contains(r.str("message"), adminMail) ||
		!strings.Contains(strings.ToLower(r.str("message")), otherMail) {
		t.Fatal(r.text)
	}
	w.accept(forBob, "", as(w.bob)).want(200).has("", "workspaceId", "role", "user")
	w.do("DELETE", path+"/"+inviteID, "", as(w.ann)).want(404)
	w.do("POST", path, `{"email":"x@example.com","role":"OWNER"}`, as(w.bob)).want(403)
	revoke, revoked := w.invite(id, "y@example.com", "OWNER", w.ann)
	w.do("DELETE", path+"/"+revoke, "", as(w.bob)).want(403)
	w.do("DELETE", path+"/"+revoke, "", as(w.ann)).want(204)
	w.accept(revoked, newcomer).want(410)

	_, expiring := w.invite(id, "expired@example.com", "EDITOR", w.ann)
	w.clock.advance(invitations.Lifetime)
	w.accept(expiring, newcomer).want(410)
	w.do("GET", path, "", as(w.ann)).want(200).shows("data.0.status", "EXPIRED")
	for _, action := range []string{"INVITATION_CREATED", "INVITATION_REVOKED", "INVITATION_ACCEPTED", "MEMBER_ADDED"} {
		if r := w.do("GET", "/api/audit-logs?action="+action, "", as(w.root)).want(200); r.num("total") == 0 {
			t.Errorf("no %s", action)
		}
	}
}

func first(key, _ string) string { return key }

// Wrong tokens lock a client out. Of many requests with one token, one succeeds.
func TestInvitations_tokens(t *testing.T) {
	w := small(t, teams)
	id := w.newTeam("Growth")
	_, token := w.invite(id, "zoe@example.com", "EDITOR", w.ann)
	// New accounts wait for a slot to hash their passwords: 16 of one client at most, and five seconds. The others are told to try again.
	count := atOnce(20, func(int) (r *reply) {
		for began := time.Now(); r == nil || r.StatusCode == http.StatusTooManyRequests && time.Since(began) < testkit.Patience; {
			r = w.accept(token, newcomer)
		}
		return r
	})
	if count[200] != 1 || count[200]+count[401]+count[410] != 20 {
		t.Errorf("%v", count)
	}
	for range 5 {
		w.accept(fresh(), newcomer, from("192.0.2.7:1")).want(404)
	}
	w.accept(fresh(), newcomer, from("192.0.2.7:2")).want(429)
	w.accept(fresh(), newcomer, from("192.0.2.8:1")).want(404)
}

func TestInvitations_sign_up(t *testing.T) {
	t.Parallel()
	closed := func(w *world, cfg *api.Config, deps *api.Deps) {
		teams(w, cfg, deps)
		deps.Invitations = invitations.New(invitations.Config{Console: baseURL, SignUpClosed: true}, w.store, deps.Auth, deps.Accounts)
	}
	w := newWorld(t, storetest.Open(t), closed)
	id := w.newTeam("Growth")
	_, token := w.invite(id, "zoe@example.com", "EDITOR", w.ann)
	w.accept(token, newcomer).want(403)
	w.do("POST", "/api/users", `{"email":"zoe@example.com","password":"`+password+`"}`, as(w.root)).want(201)
	zoe, _ := w.signIn("zoe@example.com")
	w.accept(token, "", as(zoe)).want(200)

	// With single sign-on alone, no password account is made.
	off := newWorld(t, storetest.Open(t), func(w *world, cfg *api.Config, deps *api.Deps) {
		teams(w, cfg, deps)
		deps.Invitations = invitations.New(invitations.Config{Console: baseURL, PasswordSignInOff: deps.Settings.EnforcesSSO},
			w.store, deps.Auth,
			deps.Accounts)
	})
	_, token = off.invite(off.newTeam("Growth"), "zoe@example.com", "EDITOR", off.ann)
	off.do("PUT", "/api/settings/system/sso_enforce", `{"value":{"enabled":true}}`, as(off.root)).want(200)
	off.accept(token, newcomer).want(403)
}

// The invitation is also sent by e-mail, with a link of its own. Only that link proves the address.
func TestInvitations_mail(t *testing.T) {
	smtpServer := mailtest.Start(t)
	w := newWorld(t, usual(t), func(w *world, cfg *api.Config, deps *api.Deps) {
		teams(w, cfg, deps)
		sender, err := mail.New(mail.Config{
			Settings: smtp.Settings{URL: config.Secret(smtpServer.URL()), From: "Shortline <no-reply@example.com>"}, BaseURL: baseURL,
			EncryptionKeys: [][]byte{[]byte(strings.Repeat("e", 32))}, Logger: cfg.Logger,
		}, w.store)
		w.ok(err)
		testkit.Run(w.t, sender.Run)
		deps.Invitations = invitations.New(invitations.Config{Console: baseURL, Mail: sender, Now: w.clock.now}, w.store, deps.Auth,
			deps.Accounts)
	})
	id := w.newTeam("Growth <b>&</b> \u202eteam")
	invite := func(email string) (shown, mailed string) {
		t.Helper()
		r := w.do("POST", "/api/workspaces/"+id+"/invitations", `{"email":"`+email+`","role":"EDITOR"}`, as(w.ann)).want(201)
		m := smtpServer.Wait(t, email)
		if r.at("mailed") != true || !strings.Contains(m.Text, userMail) || !strings.Contains(m.Text, "Growth") ||
			!strings.Contains(m.HTML, m.Link) || strings.Contains(m.HTML, "<b>&</b>") {
			t.Fatalf("%s: %s\n%s", r.text, m.Text, m.HTML)
		}
		shown, mailed = invitationToken(t, r.str("link")), invitationToken(t, m.Link)
		if shown == mailed {
			t.Fatal("both links have the same token")
		}
		return shown, mailed
	}
	proven := func(email string) bool {
		t.Helper()
		u, err := w.store.UserByEmail(t.Context(), email)
		w.ok(err)
		return !u.EmailUnproven
	}
	shown, mailed := invite("mailed@example.com")
	w.accept(mailed, newcomer).want(200)
	w.accept(mailed, newcomer).want(410)
	w.accept(shown, newcomer).want(410)
	shown, _ = invite("copied@example.com")
	token := w.accept(shown, newcomer).want(200).str("accessToken")
	w.do("GET", "/api/auth/me", "", as(token)).want(200).shows("emailVerified", false)
	w.do("GET", "/api/auth/me", "", as(w.ann)).want(200).shows("emailVerified", true)
	if !proven("mailed@example.com") || proven("copied@example.com") || !proven(userMail) {
		t.Error("which addresses are proven")
	}
	// A later e-mail proves the address.
	id = w.newTeam("Growth 2")
	_, mailed = invite("copied@example.com")
	w.accept(mailed, "", as(token)).want(200)
	if !proven("copied@example.com") {
		t.Error("the address is not proven")
	}
	_, late := invite("late@example.com")
	w.clock.advance(invitations.Lifetime + time.Second)
	w.accept(late, newcomer).want(410)
}

// A person who copied an invitation's link may have made the account of another person's address. Single sign-on must not let
// both into it: the link needs the account's password.
func TestInvitations_unproven_address_is_not_linked(t *testing.T) {
	configure := func(w *world, cfg *api.Config, deps *api.Deps) {
		teams(w, cfg, deps)
		withSSO(nil)(w, cfg, deps)
		deps.Invitations = invitations.New(invitations.Config{Console: baseURL}, w.store, deps.Auth, deps.Accounts)
	}
	w := small(t, configure)
	w.add("corp", startIDP(t, idptest.Person{Subject: "z", Email: "zoe@example.com", Verified: true}))
	_, token := w.invite(w.newTeam("Growth"), "zoe@example.com", "EDITOR", w.ann)
	id := w.accept(token, newcomer).want(200).str("user.id")
	left := w.signOn("corp").failed("link_required")
	w.link(left, "zoe@example.com", "wrong", "").want(401)
	w.link(left, "zoe@example.com", "battery staple", "").want(200)
	if got := w.signOn("corp").entered("/"); got != id {
		t.Errorf("signed in as %s", got)
	}
}
