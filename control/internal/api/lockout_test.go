package api_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/platform/passkeytest"
	"github.com/shortline/shortline/control/internal/store"
)

// secondFactor enables a user's second factor and returns its secret. It advances the clock, so the next code is new.
func (w *world) secondFactor(token string) string {
	w.t.Helper()
	secret := w.do("POST", "/api/auth/2fa/setup", "", as(token)).want(201).str("secret")
	w.do("POST", "/api/auth/2fa/enable", `{"code":"`+w.code(secret)+`"}`, as(token)).want(200)
	w.clock.advance(30 * time.Second)
	return secret
}

// guess tries to sign in from a thousand addresses and counts the responses by status.
func (w *world) guess(body string, address func(i int) string) map[int]int {
	w.t.Helper()
	statuses := map[int]int{}
	for i := range 1000 {
		statuses[w.do("POST", "/api/auth/login", body, from("["+address(i)+"]:4711")).StatusCode]++
	}
	return statuses
}

func inOne64(i int) string { return fmt.Sprintf("2001:db8:1:2::%x", i+1) }
func inOne48(i int) string { return fmt.Sprintf("2001:db8:3:%x::1", i) }

func wantCounts(t *testing.T, what string, got map[int]int, refused, locked int) {
	t.Helper()
	t.Logf("%s: status 401 %d times, status 429 %d times", what, got[401], got[429])
	if got[401] != refused || got[429] != locked || len(got) > 2 {
		t.Errorf("%s: %v, want status 401 %d times and status 429 %d times", what, got, refused, locked)
	}
}

func TestH3_PasswordGuesses(t *testing.T) {
	w := small(t, nil)
	w.clock.stop()
	wrong := login(userMail, "wrong", "")
	wantCounts(t, "passwords from 1,000 addresses of one /64", w.guess(wrong, inOne64), 5, 995)
	wantCounts(t, "passwords from 1,000 /64s of one /48", w.guess(wrong, inOne48), 1000, 0)
	for range 4 {
		w.do("POST", "/api/auth/login", wrong, from("[2001:db8:3:7::1:1]:1")).want(401)
	}
	w.do("POST", "/api/auth/login", wrong, from("[2001:db8:3:7::2:1]:1")).want(429)
	w.do("POST", "/api/auth/login", login(userMail, password, "")).want(200) // the owner, from another address
}

func TestH3_SecondFactorGuesses(t *testing.T) {
	w := small(t, nil)
	w.clock.stop()
	secret := w.secondFactor(w.ann)
	wrong := login(userMail, password, "000000")
	wantCounts(t, "codes from 1,000 addresses of one /64", w.guess(wrong, inOne64), 5, 995)
	right := func() string { return login(userMail, password, w.code(secret)) }
	owner := from("192.0.2.1:1")
	if after, err := strconv.Atoi(w.do("POST", "/api/auth/login", right(), owner).want(429).Header.Get("Retry-After")); err != nil ||
		after < 1 || after > 30 {
		t.Fatalf("Retry-After %d, %v", after, err)
	}
	// A client without the password neither triggers the lockout nor learns of it.
	w.do("POST", "/api/auth/login", login(userMail, "wrong", "000000"), owner).want(401)
	w.clock.advance(30 * time.Second)
	wantCounts(t, "codes from 1,000 /64s of one /48 after the first lock", w.guess(wrong, inOne48), 1, 999)
	w.clock.advance(time.Minute)
	w.do("POST", "/api/auth/login", right(), owner).want(200)
	w.clock.advance(30 * time.Second)
	for range 4 { // a success resets the count
		w.do("POST", "/api/auth/login", wrong, owner).want(401)
	}
	w.do("POST", "/api/auth/login", right(), owner).want(200)

	w.counts(1, `SELECT COUNT(*) FROM audit_logs
		WHERE action = 'USER_LOGIN' AND entity_id = ? AND metadata LIKE '%"lockedSeconds":30%'`, w.annID)
}

func TestH3_SecondFactorGuesses_at_once(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.secondFactor(w.ann)
		wantCounts(t, "concurrent codes", atOnce(40, func(i int) *reply {
			return w.do("POST", "/api/auth/login", login(userMail, password, "000000"), from("["+inOne48(i)+"]:1"))
		}), 5, 35)
	})
}

// Failed logins need no account. They must not fill the log, and each must still be recorded.
func TestLow_FailedLoginsAreBounded(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		rows := func() int { n, _ := w.rowsOf("USER_LOGIN"); return n }
		before := rows()
		w.do("POST", "/api/auth/login", login("first@example.com", "wrong", "")).want(401)
		if n, newest := w.rowsOf("USER_LOGIN"); n != before+1 || !strings.Contains(newest, `"success":false`) ||
			!strings.Contains(newest, "first@example.com") {
			t.Fatalf("%d new rows, the newest %s", n-before, newest)
		}
		for i := range 1500 {
			w.do("POST", "/api/auth/login", login(fmt.Sprintf("nobody-%d@example.com", i), "wrong", ""),
				from(fmt.Sprintf("192.0.%d.%d:1", i/250, i%250+1))).want(401)
		}
		exact := rows() - before
		t.Logf("1,501 failures made %d rows", exact)
		if exact < 10 || exact > 32*10 {
			t.Fatalf("1,501 failures made %d rows", exact)
		}
		w.clock.advance(2 * time.Hour)
		w.do("POST", "/api/auth/login", login("last@example.com", "wrong", "")).want(401)
		counted, list := 0, w.do("GET", "/api/audit-logs?action=USER_LOGIN&limit=100", "", as(w.root)).want(200)
		entries, _ := list.at("logs").([]any)
		for _, e := range entries {
			meta, _ := e.(map[string]any)["metadata"].(map[string]any)
			if n, ok := meta["failures"].(float64); ok {
				counted += int(n)
				text, _ := json.Marshal(meta)
				if meta["success"] != false || meta["from"] == nil || meta["until"] == nil ||
					!strings.Contains(string(text), "@example.com") {
					t.Fatalf("%s", text)
				}
			}
		}
		if counted != 1501-exact {
			t.Errorf("of 1,501 failures, %d have rows of their own and %d are in aggregated rows", exact, counted)
		}
	})
}

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
