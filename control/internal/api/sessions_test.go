package api_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/crypto/bcrypt"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/clicks/live"
	"github.com/shortline/shortline/control/internal/manage/accounts"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

const firefox = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0"

// signInFrom signs a user in from an address with a user agent.
func (w *world) signInFrom(email, address, agent string) string {
	w.t.Helper()
	return w.do("POST", "/api/auth/login", `{"email":"`+email+`","password":"`+password+`"}`, from(net.JoinHostPort(address, "1234")),
		with("User-Agent", agent)).want(200).str("accessToken")
}

func TestSessions(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		second := w.signInFrom(userMail, "192.0.2.7", firefox)
		third := w.signInFrom(userMail, "2001:db8::7", strings.Repeat("x", 3000))
		list := w.do("GET", "/api/auth/sessions", "", as(second)).want(200).has("", "data", "total", "page", "pageSize", "totalPages")
		list.has("data.0", "id", "createdAt", "lastSeenAt", "ip", "userAgent", "isCurrent")
		list.shows("total", 3)
		found := map[string]map[string]any{}
		for i := range 3 {
			s, _ := list.at(fmt.Sprint("data.", i)).(map[string]any)
			found[fmt.Sprint(s["ip"])] = s
		}
		mine, long := found["192.0.2.7"], found["2001:db8::7"]
		if mine["isCurrent"] != true || mine["userAgent"] != firefox || long["isCurrent"] != false {
			t.Errorf("%s", list.text)
		}
		if n := len(fmt.Sprint(long["userAgent"])); n == 0 || n > 500 {
			t.Errorf("a user agent of %d bytes", n)
		}
		for _, token := range []string{w.ann, second, third} {
			if sid := sessionIn(t, token); strings.Contains(list.text, sid) {
				t.Errorf("the list shows the id %s, which a token contains", sid)
			}
		}
		page := w.do("GET", "/api/auth/sessions?page=2&limit=2", "", as(second)).want(200)
		if page.num("total") != 3 || page.at("data.0") == nil || page.at("data.1") != nil {
			t.Errorf("the second page: %s", page.text)
		}
		w.do("GET", "/api/auth/sessions?limit=101", "", as(second)).want(400)

		// The id in a token is not the id of the session.
		id := long["id"].(string)
		w.do("DELETE", "/api/auth/sessions/"+sessionIn(t, third), "", as(second)).want(404)
		w.do("GET", "/api/auth/me", "", as(third)).want(200)
		key, _ := w.newKey(w.ann)

		w.do("DELETE", "/api/auth/sessions/"+id, "", as(second)).want(204)
		w.do("GET", "/api/auth/me", "", as(third)).want(401)
		w.do("DELETE", "/api/auth/sessions/"+id, "", as(second)).want(404)
		w.do("GET", "/api/audit-logs?action=SESSION_REVOKED", "", as(w.root)).want(200).
			shows("total", 1, "data.0.entityId", id, "data.0.entityType", "session", "data.0.userId", w.annID)

		w.do("DELETE", "/api/auth/sessions", "", as(second)).want(204)
		w.do("GET", "/api/auth/me", "", as(w.ann)).want(401)
		w.do("GET", "/api/auth/me", "", as(second)).want(200)
		w.do("GET", "/api/auth/me", "", as(w.bob)).want(200)
		w.do("GET", "/api/auth/me", "", as(key)).want(200)
		if n := w.do("GET", "/api/auth/sessions", "", as(second)).want(200).num("total"); n != 1 {
			t.Errorf("%v sessions are left", n)
		}
		w.do("DELETE", "/api/auth/sessions/"+mine["id"].(string), "", as(second)).want(204)
		w.do("GET", "/api/auth/me", "", as(second)).want(401)
	})
}

// sessionIn returns the id of the session that a token contains.
func sessionIn(t *testing.T, token string) string {
	t.Helper()
	claims := jwt.MapClaims{}
	if _, _, err := jwt.NewParser().ParseUnverified(token, claims); err != nil {
		t.Fatal(err)
	}
	sid, _ := claims["sid"].(string)
	if sid == "" {
		t.Fatal("a token without a session")
	}
	return sid
}

// A program of the previous release opens sessions without the new columns, and does not note when they are used.
func TestSessions_of_the_previous_release(t *testing.T) {
	w := small(t, nil)
	w.exec(`INSERT INTO sessions (id, user_id, created_at, expires_at) VALUES ('old', ?, ?, ?)`, w.annID, int64(1000), store.Now()+60_000)
	list := w.do("GET", "/api/auth/sessions", "", as(w.ann)).want(200).
		shows("total", 2, "data.1.ip", nil, "data.1.userAgent", nil, "data.1.lastSeenAt", "1970-01-01T00:00:01.000Z")
	w.do("DELETE", "/api/auth/sessions/"+list.str("data.1.id"), "", as(w.ann)).want(204)
}

func (w *world) exec(query string, args ...any) {
	w.t.Helper()
	w.ok(w.store.Tx(w.t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(w.t.Context(), query, args...)
		return err
	}))
}

// idle ends unused sessions after a time.
func idle(after time.Duration) func(*world, *api.Config, *api.Deps) {
	return func(w *world, _ *api.Config, d *api.Deps) {
		passwords, err := auth.NewPasswords(bcrypt.MinCost)
		w.ok(err)
		d.Auth, err = auth.NewAuthenticator(auth.Config{Secrets: [][]byte{bytes.Repeat([]byte("s"), 32)}, Idle: after,
			Logger: slog.New(slog.DiscardHandler)}, w.store, passwords)
		w.ok(err)
		d.Accounts, err = accounts.New(accounts.Config{EncryptionKeys: [][]byte{bytes.Repeat([]byte("e"), 32)}, Now: w.clock.now}, w.store,
			d.Auth, passwords)
		w.ok(err)
		testkit.Run(w.t, d.Auth.Run)
	}
}

func TestSessions_end_when_they_are_idle(t *testing.T) {
	w := small(t, idle(time.Hour))
	used, unused := w.ann, w.bob
	pass := func(d time.Duration) { w.exec(`UPDATE sessions SET last_seen_at = last_seen_at - ?`, d.Milliseconds()) }
	seen := func() (at int64) {
		w.ok(w.store.Row(t.Context(), `SELECT last_seen_at FROM sessions WHERE user_id = ?`, w.annID).Scan(&at))
		return at
	}
	pass(50 * time.Minute)
	before := seen()
	w.do("GET", "/api/auth/me", "", as(used)).want(200)
	testkit.Eventually(t, "the use is stored", func() bool { return seen() > before })
	pass(20 * time.Minute)
	w.do("GET", "/api/auth/me", "", as(used)).want(200)
	w.do("GET", "/api/auth/me", "", as(unused)).want(401)
	if n := w.do("GET", "/api/auth/sessions", "", as(used)).want(200).num("total"); n != 1 {
		t.Errorf("%v sessions of a user with one", n)
	}
	w.signIn(otherMail)
}

// A session's last use is stored, but at most once a minute.
func TestSessions_note_their_last_use(t *testing.T) {
	w := small(t, nil)
	seen := func() (at int64) {
		w.ok(w.store.Row(t.Context(), `SELECT last_seen_at FROM sessions WHERE user_id = ?`, w.bobID).Scan(&at))
		return at
	}
	w.exec(`UPDATE sessions SET last_seen_at = 5`)
	w.do("GET", "/api/auth/me", "", as(w.bob)).want(200)
	testkit.Eventually(t, "the use is stored", func() bool { return seen() > 5 })
	first := seen()
	w.exec(`UPDATE sessions SET last_seen_at = ? WHERE user_id = ?`, first+1, w.bobID)
	for range 20 {
		w.do("GET", "/api/auth/me", "", as(w.bob)).want(200)
	}
	w.do("GET", "/api/auth/me", "", as(w.ann)).want(200)
	testkit.Eventually(t, "a later use of another session is stored", func() bool {
		var at int64
		w.ok(w.store.Row(t.Context(), `SELECT last_seen_at FROM sessions WHERE user_id = ?`, w.annID).Scan(&at))
		return at > 5
	})
	if seen() != first+1 {
		t.Error("the use was stored twice within a minute")
	}
}

// A stream ends with its credential, whichever replica ends it. The check that ends it keeps another stream.
func TestLive_ends_on_another_replica(t *testing.T) {
	t.Parallel()
	url := storetest.RuntimeURL(t, storetest.PostgresURL(t))
	open := func() *store.Store {
		st, err := store.Open(t.Context(), store.Config{URL: url, MaxConns: 8})
		testkit.Must(t, err)
		t.Cleanup(func() { _ = st.Close() })
		return st
	}
	here := newLiveWorld(t, open(), live.Config{PerUser: 20})
	there := replica(here.world, open(), nil)
	ends := func(what string, token string, end func()) {
		t.Helper()
		events, _ := here.listen(token, "")
		stays, leave := here.listen(here.root, "")
		defer leave()
		here.quiet(what, events)
		start := time.Now()
		end()
		here.ends(what, events)
		t.Logf("%s: the stream ended after %v", what, time.Since(start))
		here.quiet(what+": another stream", stays)
	}
	token, _ := here.signIn(userMail)
	id := there.do("GET", "/api/auth/sessions", "", as(token)).want(200).str("data.0.id")
	ends("session revoked", token, func() { there.do("DELETE", "/api/auth/sessions/"+id, "", as(here.ann)).want(204) })
	token, _ = here.signIn(userMail)
	ends("all others revoked", token, func() { there.do("DELETE", "/api/auth/sessions", "", as(here.ann)).want(204) })
	token, _ = here.signIn(userMail)
	ends("signed out", token, func() { there.do("POST", "/api/auth/logout", "", as(token)).want(200) })
	token, _ = here.signIn(otherMail)
	here.secondFactor(here.root)
	ends("second factor required", token, func() {
		there.do("PUT", "/api/settings/system/require_2fa", `{"value":{"enabled":true}}`, as(here.root)).want(200)
	})
	there.do("DELETE", "/api/settings/system/require_2fa", "", as(here.root)).want(204)
	key, keyID := here.newKey(here.ann)
	ends("key deleted", key, func() { there.do("DELETE", "/api/api-keys/"+keyID, "", as(here.ann)).want(204) })
	key, keyID = here.newKey(here.ann)
	ends("key expired", key, func() { here.exec(`UPDATE api_keys SET expires_at = 1 WHERE id = ?`, keyID) })
	key, keyID = here.newKey(here.ann)
	ends("key rotated", key, func() { there.do("POST", "/api/api-keys/"+keyID+"/rotate", "", as(here.ann)).want(200) })
	key, _ = here.newKey(here.bob)
	ends("user deactivated, with a key", key, func() {
		there.do("PATCH", "/api/users/"+here.bobID+"/status", `{"status":"INACTIVE"}`, as(here.root)).want(200)
	})
	role := func(role string) {
		there.do("PATCH", "/api/users/"+here.annID+"/role", `{"role":"`+role+`"}`, as(here.root)).want(200)
	}
	role("ADMIN")
	here.ann, _ = here.signIn(userMail)
	key, _ = here.newKey(here.ann)
	ends("no longer an administrator, with a key", key, func() { role("USER") })
	if got := there.do("GET", "/api/auth/me", "", as(here.ann)); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("%d", got.StatusCode)
	}
}
