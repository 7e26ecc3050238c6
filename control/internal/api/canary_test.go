package api_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/fleet/publish"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
)

// canaries are secrets that a client sends or receives. The test then searches for them wherever they must not appear.
type canaries struct {
	t         *testing.T
	known     map[string]string // name by secret
	shown     map[string]string // the only response that may contain it, by secret
	responses []response
}

type response struct{ what, text string }

// plant creates a secret for a request.
func (c *canaries) plant(name string) string {
	secret := "Canary" + fresh()
	c.known[secret] = name
	return secret
}

// learn adds a secret that the service generated and returned.
func (c *canaries) learn(name, secret string, r *reply) {
	c.t.Helper()
	if len(secret) < 8 {
		c.t.Fatalf("%s: no %s: %s", r.what, name, r.text)
	}
	c.known[secret], c.shown[secret] = name, r.what
}

// record keeps the headers and the body of a response.
func (c *canaries) record(r *reply) *reply {
	c.responses = append(c.responses, response{r.what, fmt.Sprint(r.Header) + r.text})
	return r
}

// absent fails the test if a text contains a secret in plain text, hexadecimal or base64.
func (c *canaries) absent(where, text string) {
	c.t.Helper()
	for secret, name := range c.known {
		if strings.HasPrefix(where, "response to ") && c.shown[secret] == strings.TrimPrefix(where, "response to ") {
			continue
		}
		whole := secret[:len(secret)/3*3]
		for _, form := range []string{secret, hex.EncodeToString([]byte(secret)), base64.StdEncoding.EncodeToString([]byte(whole)),
			base64.URLEncoding.EncodeToString([]byte(whole))} {
			if i := strings.Index(text, form); i >= 0 {
				c.t.Errorf("%s contains the %s: …%q…", where, name, text[max(0, i-80):min(len(text), i+80)])
				break
			}
		}
	}
}

// The test covers passwords, keys, tokens and secrets of other systems. The service never stores or shows a received
// secret in plain text. It returns a generated secret in one response only.
func TestSecrets_stay_secret(t *testing.T) {
	t.Parallel()
	storetest.EachOwner(t, func(t *testing.T, st *store.Store) { // pg_dump needs the address of the server
		w := newWorld(t, st, whole)
		c := &canaries{t: t, known: map[string]string{}, shown: map[string]string{}}
		do := func(method, path, body string, options ...option) *reply {
			t.Helper()
			return c.record(w.do(method, path, body, options...))
		}
		first, second, third := c.plant("user's password"), c.plant("changed password"), c.plant("reset password")
		email := fresh() + "@example.com"
		user := do("POST", "/api/users", fmt.Sprintf(`{"email":%q,"password":%q,"role":"ADMIN"}`, email, first), as(w.root)).
			want(201).str("id")
		signIn := func(password, code string) string {
			t.Helper()
			r := do("POST", "/api/auth/login", login(email, password, code)).want(200)
			c.learn("access token", r.str("accessToken"), r)
			return r.str("accessToken")
		}
		token := signIn(first, "")
		me := as(token)
		do("POST", "/api/auth/login", login(email, c.plant("wrong password"), "")).want(401)
		do("POST", "/api/auth/password", fmt.Sprintf(`{"currentPassword":%q,"newPassword":%q}`, first, second), me).want(200)
		do("POST", "/api/auth/password", fmt.Sprintf(`{"currentPassword":%q,"newPassword":%q}`, c.plant("wrong current password"),
			c.plant("refused new password")), me).want(400)
		do("PUT", "/api/auth/password", fmt.Sprintf(`{"password":%q}`, c.plant("password in an unknown field")), me).want(400)

		setup := do("POST", "/api/auth/2fa/setup", "", me).want(201)
		c.learn("second factor", setup.str("secret"), setup)
		on := do("POST", "/api/auth/2fa/enable", fmt.Sprintf(`{"code":%q}`, w.code(setup.str("secret"))), me).want(200)
		recovery := on.str("recoveryCodes.0")
		for i := range 10 {
			c.learn("recovery code", on.str(fmt.Sprintf("recoveryCodes.%d", i)), on)
		}
		signIn(second, recovery)
		do("POST", "/api/auth/login", login(email, second, recovery)).want(401)

		key := do("POST", "/api/api-keys", `{"name":"K"}`, me).want(201)
		c.learn("API key", key.str("key"), key)
		do("GET", "/api/auth/me", "", with("X-API-Key", key.str("key"))).want(200)
		for _, o := range []option{
			as("sl_" + c.plant("unknown key")), as(c.plant("bad token")), with("Authorization", "Basic "+c.plant("basic credential")),
			with("X-API-Key", c.plant("key of another form")),
			with("Cookie", "access_token="+c.plant("bad cookie")),
		} {
			do("GET", "/api/auth/me", "", o).want(401)
		}

		hook := do("POST", "/api/webhooks",
			fmt.Sprintf(
				`{"name":"W","url":"http://127.0.0.1:1/","secret":%q,"scope":"all",`+
					`"events":["url.created","url.updated","url.deleted","routing.rule_created"]}`, c.plant("webhook's secret")),
			me).want(201)
		c.shown[hook.str("secret")] = "POST /api/webhooks"
		made := do("POST", "/api/webhooks", `{"name":"W","url":"http://127.0.0.1:1/","events":["url.created"]}`, me).want(201)
		c.learn("webhook's secret that was made", made.str("secret"), made)
		do("PUT", "/api/webhooks/"+hook.str("id"), fmt.Sprintf(`{"secret":%q}`, c.plant("webhook's new secret")), me).want(200)
		do("POST", "/api/webhooks/"+hook.str("id")+"/test", "", me).want(201)
		do("POST", "/api/webhooks", fmt.Sprintf(`{"name":"","url":"x","secret":%q,"events":[]}`, c.plant("refused webhook's secret")),
			me).want(400)

		provider := "p" + fresh()
		do("POST", "/api/admin/oidc-providers",
			fmt.Sprintf(`{"name":"P","slug":%q,"discoveryUrl":"http://127.0.0.1:1/","clientId":"id","clientSecret":%q}`, provider,
				c.plant("client secret")), me).want(201)
		do("PUT", "/api/admin/oidc-providers/"+provider, fmt.Sprintf(`{"clientSecret":%q}`, c.plant("new client secret")), me).want(200)
		do("GET", "/api/auth/sso/"+provider+"/login", "").want(302)
		do("GET", "/api/auth/sso/"+provider+"/callback?state=x&code="+c.plant("authorization code"), "").want(302)

		url := do("POST", "/api/urls", fmt.Sprintf(`{"originalUrl":"https://example.com/","password":%q}`, c.plant("link's password")),
			me).want(201).str("id")
		do("PUT", "/api/urls/"+url, fmt.Sprintf(`{"password":%q,"title":"T"}`, c.plant("link's new password")), me).want(200)
		do("PATCH", "/api/urls/"+url, fmt.Sprintf(`{"password":%q,"originalUrl":"nowhere"}`, c.plant("refused link password")),
			me).want(400)
		do("POST", "/api/urls", fmt.Sprintf(`{"password":%q,"customSlug":"a b"}`, c.plant("refused new link's password")), me).want(400)
		do("POST", "/api/urls", fmt.Sprintf(`{"originalUrl":"https://example.com/","password":[%q]}`, c.plant("password of another type")),
			me).want(400)
		do("POST", "/api/urls", fmt.Sprintf(`{"password":"%s" "x"}`, c.plant("password in broken JSON")), me).want(400)
		do("POST", "/api/urls/bulk",
			fmt.Sprintf(`{"urls":[{"originalUrl":"https://example.com/","password":%q},{"originalUrl":"x","password":%q}]}`,
				c.plant("bulk link's password"), c.plant("refused bulk link's password")), me).want(201)

		// All other endpoints, on the resources with secrets where possible.
		th := w.thingsOf(token)
		th.ids["url"], th.ids["webhook"], th.ids["provider"], th.ids["key"], th.ids["user"] = url, hook.str("id"), provider,
			key.str("id"), user
		for _, r := range table(t) {
			if r.method == "GET" {
				c.record(w.send(r, th.id, me))
				c.record(w.send(r, th.id, as(w.root)))
			}
		}
		do("POST", "/api/urls/"+url+"/explain", `{}`, me).want(200)
		for _, r := range table(t) {
			for _, kind := range r.kinds() {
				th.id(kind) // created before the session ends
			}
		}
		do("POST", "/api/users/"+user+"/reset-password", fmt.Sprintf(`{"newPassword":%q}`, third), as(w.root)).want(200)
		do("PATCH", "/api/users/"+user+"/2fa", `{}`, as(w.root)).want(200)
		signIn(third, "")
		dump, published := w.dump(), w.snapshot()
		for _, r := range table(t) {
			if r.method == "DELETE" {
				c.record(w.send(r, th.id, as(w.root)))
			}
		}

		for _, h := range c.responses {
			c.absent("response to "+h.what, h.text)
		}
		c.absent("the log", w.logs.String())
		c.absent("the database", dump)
		c.absent("the database after all deletions", w.dump())
		c.absent("the snapshot", published)
		if !strings.Contains(dump, email) || !strings.Contains(dump, "USER_LOGIN") || !strings.Contains(dump, "url.created") {
			t.Error("the dump lacks expected data")
		}
		if len(c.known) < 35 || len(c.responses) < 100 {
			t.Errorf("only %d secrets, %d responses", len(c.known), len(c.responses))
		}
	})
}

// dump returns the contents of the SQLite files, or the output of pg_dump.
func (w *world) dump() string {
	w.t.Helper()
	var at, name string
	if !w.store.Shared() {
		var seq int
		w.ok(w.store.Row(w.t.Context(), `PRAGMA database_list`).Scan(&seq, &name, &at))
		files, err := filepath.Glob(at + "*")
		w.ok(err)
		var all strings.Builder
		for _, f := range files {
			b, err := os.ReadFile(f)
			w.ok(err)
			all.Write(b)
		}
		return all.String()
	}
	w.ok(w.store.Row(w.t.Context(), `SELECT current_database(), current_setting('unix_socket_directories')`).Scan(&name, &at))
	program := "pg_dump"
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pg_dump"); len(found) > 0 {
		program = found[len(found)-1]
	}
	out, err := exec.CommandContext(w.t.Context(), program, "-h", at, "-U", "postgres", "--inserts", name).Output()
	if err != nil {
		w.t.Fatalf("pg_dump: %v", err)
	}
	return string(out)
}

// snapshot returns the readable snapshot for edges, with all links and a new link with a password.
func (w *world) snapshot() string {
	w.t.Helper()
	w.do("POST", "/api/urls", `{"originalUrl":"https://example.com/","password":"secret word"}`, as(w.root)).want(http.StatusCreated)
	p := publish.New(w.store, publish.Config{BaseURL: baseURL, Dir: w.t.TempDir()})
	body, err := p.Snapshot(w.t.Context())
	w.ok(err)
	defer body.Close()
	var all strings.Builder
	_, err = snapshot.Decode(body, snapshot.Limits{}, func(r *link.Record) error {
		fmt.Fprintf(&all, "%+v %s\n", *r, r.PasswordHash)
		return nil
	})
	w.ok(err)
	if text := all.String(); !strings.Contains(text, "$2a$") || strings.Contains(text, "secret word") {
		w.t.Errorf("unexpected snapshot: %s", text)
	}
	return all.String()
}
