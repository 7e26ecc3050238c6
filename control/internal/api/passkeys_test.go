package api_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/manage/passkeys"
	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/platform/passkeytest"
	"github.com/shortline/shortline/control/internal/platform/smtp"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

var passkeyNames = []string{"id", "name", "aaguid", "transports", "isSynced", "createdAt", "lastUsedAt", "cloneDetectedAt"}

// withPasskeys adds passkeys for the console at the base URL. Single sign-on is enforced by the setting alone.
func withPasskeys(w *world, cfg *api.Config, deps *api.Deps) {
	var err error
	deps.Passkeys, err = passkeys.New(passkeys.Config{
		BaseURL: cfg.BaseURL, ConsoleURL: cfg.ConsoleURL, Confirm: deps.Accounts.Confirm, Off: deps.Settings.EnforcesSSO,
		Logger: cfg.Logger,
		Now:    w.clock.now,
	}, w.store, deps.Auth)
	w.ok(err)
}

// begin begins the registration of a passkey and lets the device create it.
func (w *world) begin(token string, d *passkeytest.Device) passkeytest.Credential {
	w.t.Helper()
	r := w.do("POST", "/api/auth/passkeys/register/begin", "", as(token)).want(201)
	handle, err := base64.RawURLEncoding.DecodeString(r.str("publicKey.user.id"))
	w.ok(err)
	return d.Create(r.str("publicKey.challenge"), r.str("publicKey.rp.id"), handle)
}

func (w *world) finish(token, name string, c fmt.Stringer) *reply {
	return w.do("POST", "/api/auth/passkeys/register/finish", fmt.Sprintf(`{"name":%s,"credential":%s}`, asJSON(name), c), as(token))
}

// enrol registers a passkey.
func (w *world) enrol(token string, d *passkeytest.Device) *reply {
	w.t.Helper()
	return w.finish(token, "Laptop", w.begin(token, d)).want(201)
}

// challenge begins a sign-in.
func (w *world) challenge() (challenge, host string) {
	w.t.Helper()
	r := w.do("POST", "/api/auth/passkeys/login/begin", "").want(200)
	return r.str("publicKey.challenge"), r.str("publicKey.rpId")
}

func (w *world) answer(c passkeytest.Credential, options ...option) *reply {
	return w.do("POST", "/api/auth/passkeys/login/finish", `{"credential":`+c.String()+`}`, options...)
}

// enter signs in with a passkey.
func (w *world) enter(d *passkeytest.Device, options ...option) *reply {
	w.t.Helper()
	return w.answer(d.Get(w.challenge()), options...)
}

func TestPasskeys_sign_in(t *testing.T) {
	w := small(t, withPasskeys)
	d := passkeytest.New(baseURL)
	begun := w.do("POST", "/api/auth/passkeys/register/begin", "", as(w.ann)).want(201)
	k := "publicKey."
	begun.shows(k+"rp.id", "sho.rt", k+"user.name", userMail, k+"authenticatorSelection.residentKey", "required",
		k+"authenticatorSelection.userVerification", "required", k+"timeout", 300_000, k+"pubKeyCredParams.0.alg", -7)
	made := w.enrol(w.ann, d).has("", passkeyNames...)
	made.shows("name", "Laptop", "lastUsedAt", nil, "aaguid", nil, "isSynced", false)
	w.do("POST", "/api/auth/passkeys/register/begin", "", as(w.ann)).want(201).shows(k+"excludeCredentials.0.id", passkeytest.Encode(d.ID))
	r := w.enter(d).want(200)
	r.has("", "user", "accessToken", "requires2FA").has("user", userNames...)
	r.shows("user.id", w.annID, "user.hasPasskeys", true, "requires2FA", false)
	c := r.cookie("access_token")
	if c == nil || !c.HttpOnly || c.Value != r.str("accessToken") {
		t.Errorf("cookie %v", c)
	}
	token := r.str("accessToken")
	w.do("GET", "/api/auth/me", "", as(token)).want(200).shows("email", userMail)
	var second bool
	w.ok(w.store.Row(t.Context(),
		`SELECT second_factor FROM sessions WHERE user_id = ? ORDER BY created_at DESC, second_factor DESC LIMIT 1`,
		w.annID).Scan(&second))
	if !second {
		t.Error("a passkey does not count as the second factor")
	}
	list := w.do("GET", "/api/auth/passkeys", "", as(token)).want(200)
	list.has("", "data", "total", "page", "pageSize", "totalPages").has("data.0", passkeyNames...)
	if list.num("total") != 1 || list.at("data.0.lastUsedAt") == nil {
		t.Errorf("%s", list.text)
	}
	w.do("GET", "/api/auth/passkeys?page=2&limit=1", "", as(token)).want(200).shows("total", 1, "data.#", 0)
	// Passwords keep working.
	w.signIn(userMail)

	// Only the owner can remove it, and it no longer signs in.
	path := "/api/auth/passkeys/" + made.str("id")
	w.do("DELETE", path, "", as(w.bob)).want(404)
	w.do("DELETE", path, "", as(w.root)).want(404)
	w.enter(d).want(200)
	w.do("DELETE", path, "", as(token)).want(204)
	w.do("DELETE", path, "", as(token)).want(404)
	w.enter(d).want(401)
	w.do("GET", "/api/auth/passkeys", "", as(token)).want(200).shows("total", 0)
	w.do("GET", "/api/audit-logs?entityType=passkey", "", as(w.root)).want(200).
		shows("total", 2, "data.0.action", "PASSKEY_REMOVED", "data.1.action", "PASSKEY_ADDED", "data.1.newValue.name", "Laptop")
	w.do("GET", "/api/audit-logs?action=USER_LOGIN", "", as(w.root)).want(200).
		shows("data.0.metadata.reason", "unknown passkey", "data.0.metadata.success", false)
}

// A device with a wrong origin, relying party, flag, type or signature is refused, at the registration and at the
// sign-in, and its challenge is used up.
func TestPasskeys_refuse_what_does_not_verify(t *testing.T) {
	w := small(t, withPasskeys)
	good := passkeytest.New(baseURL)
	w.enrol(w.ann, good)
	swap := func(c passkeytest.Credential, member, value string) passkeytest.Credential {
		c.Response[member] = value
		return c
	}
	n := 0
	for what, spoil := range map[string]func(*passkeytest.Device){
		"another origin":        func(d *passkeytest.Device) { d.Origin = "https://sho.rt.evil.example" },
		"a subdomain":           func(d *passkeytest.Device) { d.Origin = "https://app.sho.rt" },
		"plain http":            func(d *passkeytest.Device) { d.Origin = "http://sho.rt" },
		"another port":          func(d *passkeytest.Device) { d.Origin = "https://sho.rt:8443" },
		"another relying party": func(d *passkeytest.Device) { d.Host = "evil.example" },
		"an unverified user":    func(d *passkeytest.Device) { d.Flags &^= passkeytest.UserVerified },
		"an absent user":        func(d *passkeytest.Device) { d.Flags &^= passkeytest.UserPresent },
		"backed up, not eligible for it": func(d *passkeytest.Device) {
			d.Flags |= passkeytest.BackedUp
		},
	} {
		n++
		client := from(fmt.Sprintf("198.51.100.%d:1", n)) // so that no client is locked out
		d := passkeytest.New(baseURL)
		spoil(d)
		w.finish(w.ann, "x", w.begin(w.ann, d)).wantField("credential")
		bad := good.Copy()
		spoil(bad)
		if r := w.enter(bad, client).want(401); r.cookie("access_token") != nil {
			t.Errorf("%s: a cookie is set", what)
		}
	}
	if log := w.logs.String(); !strings.Contains(log, "Error validating origin") {
		t.Errorf("the log does not tell why: %s", log)
	}
	other := passkeytest.New(baseURL)
	other.ID, other.UserHandle, other.Counter = good.ID, good.UserHandle, 99
	w.enter(other, from("198.51.100.100:1")).want(401) // another key
	stranger := good.Copy()
	stranger.UserHandle = []byte(w.bobID)
	w.enter(stranger, from("198.51.100.101:1")).want(401)
	made := w.begin(w.ann, passkeytest.New(baseURL))
	w.finish(w.ann, "x", swap(made, "attestationObject", passkeytest.Encode([]byte{0xa0}))).wantField("credential")
	ch, host := w.challenge()
	w.answer(swap(good.Get(ch, host), "authenticatorData", passkeytest.Encode([]byte("short"))), from("198.51.100.102:1")).want(401)
	w.answer(good.Get(ch, host), from("198.51.100.102:1")).want(401) // used up
	if total := w.do("GET", "/api/auth/passkeys", "", as(w.ann)).want(200).num("total"); total != 1 {
		t.Errorf("%v passkeys", total)
	}
	good.Counter = 1000
	w.enter(good).want(200)
}

// A challenge works once, for five minutes, for one purpose, and in the session that began a registration.
func TestPasskeys_challenges(t *testing.T) {
	eachWith(t, withPasskeys, func(t *testing.T, w *world) {
		d := passkeytest.New(baseURL)
		const challenge = "credential.response.clientDataJSON"
		made := w.begin(w.ann, d)
		w.finish(w.bob, "x", made).wantField(challenge)
		sister, _ := w.signIn(userMail)
		w.finish(sister, "x", made).wantField(challenge)
		w.finish(w.ann, "x", made).want(201)
		w.finish(w.ann, "x", made).wantField(challenge)
		w.finish(w.ann, "x", w.begin(w.ann, d.Copy())).want(409) // the same credential
		w.finish(w.bob, "x", w.begin(w.bob, d.Copy())).want(409)

		signed := d.Get(w.challenge())
		w.answer(signed).want(200)
		if r := w.answer(signed).want(401); !strings.Contains(r.str("message"), "used already") {
			t.Errorf("a replay: %s", r.text)
		}
		w.answer(d.Get("aGFsbG8gaGFsbG8gaGFsbG8gaGFsbG8", "sho.rt")).want(401)
		begun := w.do("POST", "/api/auth/passkeys/register/begin", "", as(w.ann)).want(201)
		w.answer(d.Get(begun.str("publicKey.challenge"), "sho.rt")).want(401)
		ch, host := w.challenge()
		w.finish(w.ann, "x", passkeytest.New(baseURL).Create(ch, host, []byte(w.annID))).wantField(challenge)

		w.enter(d).want(200) // resets the failures
		ch, host = w.challenge()
		made = w.begin(w.ann, passkeytest.New(baseURL))
		w.clock.advance(passkeys.PendingFor + time.Second)
		w.answer(d.Get(ch, host)).want(401)
		w.finish(w.ann, "x", made).wantField(challenge)

		// Of many uses of one response at the same time, one succeeds.
		signed = d.Get(w.challenge())
		var won atomic.Int32
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				switch r := w.answer(signed, from(fmt.Sprintf("198.51.100.%d:1", i))); r.StatusCode {
				case 200:
					won.Add(1)
				case 401:
				default:
					t.Errorf("status %d: %s", r.StatusCode, r.text)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 {
			t.Errorf("%d sign-ins with one response", won.Load())
		}
	})
}

// Begin and finish may reach different replicas.
func TestPasskeys_with_replicas(t *testing.T) {
	t.Parallel()
	url := storetest.PostgresURL(t)
	stores := make([]*store.Store, 2)
	for i := range stores {
		st, err := store.Open(t.Context(), store.Config{URL: url, MaxConns: 4})
		testkit.Must(t, err)
		t.Cleanup(func() { _ = st.Close() })
		stores[i] = st
	}
	w := newWorld(t, stores[0], withPasskeys)
	other := replica(w, stores[1], withPasskeys)
	d := passkeytest.New(baseURL)
	other.finish(w.ann, "x", w.begin(w.ann, d)).want(201)
	signed := d.Get(other.challenge())
	w.answer(signed).want(200)
	other.answer(signed).want(401)
}

// An authenticator whose counter does not increase was copied, or is a copy: the sign-in is refused, and the user and
// the administrator can see it.
func TestPasskeys_clones(t *testing.T) {
	w := small(t, withPasskeys)
	d := passkeytest.New(baseURL)
	made := w.enrol(w.ann, d)
	clone := d.Copy()
	w.enter(d).want(200)
	w.enter(d).want(200)
	r := w.enter(clone).want(401)
	if !strings.Contains(r.str("message"), "copied") || r.cookie("access_token") != nil {
		t.Errorf("%s", r.text)
	}
	w.enter(d).want(200) // the original goes on
	clone.Counter = d.Counter - 1
	w.enter(clone).want(401) // the same counter as the newest
	clone.Counter = 0
	w.enter(clone).want(401)
	list := w.do("GET", "/api/auth/passkeys", "", as(w.ann)).want(200)
	if list.at("data.0.cloneDetectedAt") == nil {
		t.Errorf("%s", list.text)
	}
	w.do("GET", "/api/audit-logs?action=PASSKEY_CLONED", "", as(w.root)).want(200).
		shows("total", 3, "data.0.entityId", made.str("id"), "data.0.metadata.userId", w.annID)
	if !strings.Contains(w.logs.String(), "passkey counter did not increase") {
		t.Error("the log does not mention it")
	}

	// Authenticators that do not count always send 0. Once they count, they must go on.
	quiet := passkeytest.New(baseURL)
	quiet.Counter, quiet.Counts = 0, false
	w.enrol(w.bob, quiet)
	w.enter(quiet).want(200)
	w.enter(quiet).want(200)
	quiet.Counter = 4_000_000_000
	w.enter(quiet).want(200)
	quiet.Counter = 0
	w.enter(quiet).want(401)
}

func TestPasskeys_users(t *testing.T) {
	w := small(t, withPasskeys)
	d := passkeytest.New(baseURL)
	w.enrol(w.ann, d)
	ann := "/api/users/" + w.annID
	w.do("GET", ann, "", as(w.root)).want(200).shows("hasPasskeys", true, "twoFactorEnabled", false)
	// Inactive users.
	w.do("PATCH", ann+"/status", `{"status":"INACTIVE"}`, as(w.root)).want(200)
	w.enter(d, from("198.51.100.1:1")).want(401)
	w.do("PATCH", ann+"/status", `{"status":"ACTIVE"}`, as(w.root)).want(200)
	w.enter(d).want(200)

	// After a user has lost the devices, an administrator removes the passkeys.
	w.do("PATCH", ann+"/2fa", `{"enabled":false}`, as(w.root)).want(200).shows("hasPasskeys", false)
	w.enter(d, from("198.51.100.2:1")).want(401)
	w.do("GET", "/api/audit-logs?action=TWO_FACTOR_DISABLED", "", as(w.root)).want(200).
		shows("total", 1, "data.0.metadata.removedPasskeys", 1)

	// A passkey of a stranger does not outlive the reset of a compromised account.
	token, _ := w.signIn(userMail)
	w.enrol(token, passkeytest.New(baseURL))
	pending := w.begin(token, passkeytest.New(baseURL))
	w.do("POST", ann+"/reset-password", `{"newPassword":"`+password+`"}`, as(w.root)).want(200)
	w.finish(token, "x", pending).want(401)
	token, _ = w.signIn(userMail)
	if n := w.do("GET", "/api/auth/passkeys", "", as(token)).want(200).num("total"); n != 0 {
		t.Errorf("%v passkeys", n)
	}
	// Nor the user.
	e := passkeytest.New(baseURL)
	w.enrol(token, e)
	w.do("DELETE", ann, "", as(w.root)).want(200)
	w.enter(e, from("198.51.100.3:1")).want(401)
}

func TestPasskeys_registration(t *testing.T) {
	w := small(t, withPasskeys)
	const begin = "/api/auth/passkeys/register/begin"
	for _, name := range []string{strings.Repeat("x", 101), "a\nb", "\x7f", "x\u0085y"} {
		made := w.begin(w.ann, passkeytest.New(baseURL))
		w.finish(w.ann, name, made).wantField("name")
		w.finish(w.ann, strings.Repeat("😀", 100), made).want(201) // a wrong name does not use the challenge up
	}
	d := passkeytest.New(baseURL)
	d.Flags |= passkeytest.BackupEligible | passkeytest.BackedUp
	w.finish(w.ann, "  ", w.begin(w.ann, d)).want(201).shows("name", "Passkey", "isSynced", true)
	for range passkeys.MaxPerUser - 5 - 1 {
		w.enrol(w.ann, passkeytest.New(baseURL))
	}
	two := []passkeytest.Credential{w.begin(w.ann, passkeytest.New(baseURL)), w.begin(w.ann, passkeytest.New(baseURL))}
	w.finish(w.ann, "20", two[0]).want(201)
	w.finish(w.ann, "21", two[1]).want(409)
	w.do("POST", begin, "", as(w.ann)).want(409)

	// After ten minutes, the password is required.
	w.clock.advance(11 * time.Minute)
	w.do("POST", begin, "", as(w.bob)).want(403)
	w.do("POST", begin, `{"password":"wrong password"}`, as(w.bob)).want(400).shows("errors.0.field", "password")
	w.do("POST", begin, `{"password":"`+password+`"}`, as(w.bob)).want(201)
}

// Malformed credentials are a 400 that names the field, and never an internal error.
func TestPasskeys_malformed(t *testing.T) {
	w := small(t, withPasskeys)
	d := passkeytest.New(baseURL)
	w.enrol(w.ann, d)
	made, signed := w.begin(w.ann, passkeytest.New(baseURL)), d.Get(w.challenge())
	for _, member := range []string{"clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"} {
		for _, value := range []string{"", "not base64!", "AA=A", strings.Repeat("A", 31_000)} {
			for _, c := range []passkeytest.Credential{made, signed} {
				was, has := c.Response[member]
				if !has {
					continue
				}
				c.Response[member] = value
				field := "credential.response." + member
				if c.ID == signed.ID {
					w.answer(c).wantField(field)
				} else {
					w.finish(w.ann, "x", c).wantField(field)
				}
				c.Response[member] = was
			}
		}
	}
	for member, spoil := range map[string]func(*passkeytest.Credential){
		"id":    func(c *passkeytest.Credential) { c.ID = "*" },
		"rawId": func(c *passkeytest.Credential) { c.RawID = "AAAA" },
		"type":  func(c *passkeytest.Credential) { c.Type = "password" },
	} {
		c := signed
		spoil(&c)
		w.answer(c).wantField("credential." + member)
		c = made
		spoil(&c)
		w.finish(w.ann, "x", c).wantField("credential." + member)
	}
	for _, client := range []string{"{}", "null", "[]", `{"challenge":1}`, `{"challenge":""}`, "{"} {
		c := d.Get("x", "sho.rt")
		c.Response["clientDataJSON"] = passkeytest.Encode([]byte(client))
		w.answer(c).wantField("credential.response.clientDataJSON")
	}
	w.do("POST", "/api/auth/passkeys/login/finish", `{}`).wantField("credential")
	w.do("POST", "/api/auth/passkeys/login/finish", `{"credential":{"id":"AA"}}`).wantField("credential.response")
	w.do("POST", "/api/auth/passkeys/login/finish", `{"credential":`+signed.String()+`,"admin":true}`).wantField("admin")
	w.do("POST", "/api/auth/passkeys/login/begin", `{"user":"x"}`).wantField("user")
	w.do("POST", "/api/auth/passkeys/login/finish", `{"x":"`+strings.Repeat("x", 70_000)+`"}`).want(413)
	// None of these used the challenges up.
	w.finish(w.ann, "x", made).want(201)
	w.answer(signed).want(200)
}

// E-mails tell the owner of a new, a removed and a copied passkey. A copy that is used again does not cause another one.
func TestPasskeys_mail(t *testing.T) {
	eachWith(t, func(w *world, cfg *api.Config, deps *api.Deps) {
		outbox, err := mail.New(mail.Config{
			Settings: smtp.Settings{URL: "smtp://127.0.0.1:1", From: "links@sho.rt"}, BaseURL: cfg.BaseURL,
			EncryptionKeys: [][]byte{[]byte(strings.Repeat("m", 32))}, Logger: cfg.Logger,
		}, w.store)
		w.ok(err)
		deps.Passkeys, err = passkeys.New(passkeys.Config{BaseURL: cfg.BaseURL, Confirm: deps.Accounts.Confirm, Mail: outbox,
			Logger: cfg.Logger,
			Now:    w.clock.now}, w.store, deps.Auth)
		w.ok(err)
	}, func(t *testing.T, w *world) {
		waiting := func(kind string, want int) {
			t.Helper()
			var n int
			w.ok(w.store.Row(t.Context(), `SELECT COUNT(*) FROM mail_outbox WHERE recipient = ? AND kind = ?`, userMail, kind).Scan(&n))
			if n != want {
				t.Errorf("%d e-mails of the kind %s, want %d", n, kind, want)
			}
		}
		d := passkeytest.New(baseURL)
		made := w.enrol(w.ann, d)
		waiting("second_factor_changed", 1)
		clone := d.Copy()
		w.enter(d).want(200)
		waiting("passkey_cloned", 0)
		w.enter(clone).want(401)
		w.enter(d).want(200)
		w.enter(clone).want(401)
		waiting("passkey_cloned", 1)
		w.clock.advance(time.Hour)
		clone.Counter = 1
		w.enter(clone).want(401)
		waiting("passkey_cloned", 2)
		w.do("DELETE", "/api/auth/passkeys/"+made.str("id"), "", as(w.ann)).want(204)
		waiting("second_factor_changed", 2)
	})
}

// Failures with a passkey lock a client out of it, but not other clients.
func TestPasskeys_lockout(t *testing.T) {
	w := small(t, withPasskeys)
	d := passkeytest.New(baseURL)
	w.enrol(w.ann, d)
	bad := d.Copy()
	bad.Origin = "https://evil.example"
	for range 5 {
		w.enter(bad).want(401)
	}
	if r := w.enter(d).want(429); r.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	w.enter(d, from("198.51.100.1:1")).want(200)
	w.clock.advance(time.Hour)
	w.enter(d).want(200)
}
