package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/manage/accounts"
	"github.com/shortline/shortline/control/internal/manage/domains/dnstest"
	"github.com/shortline/shortline/control/internal/manage/imports"
	"github.com/shortline/shortline/control/internal/manage/keys"
	"github.com/shortline/shortline/control/internal/manage/settings"
	"github.com/shortline/shortline/control/internal/manage/webhooks/webhooktest"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

const (
	baseURL   = "https://sho.rt"
	adminMail = "root@example.com"
	userMail  = "ann@example.com"
	otherMail = "bob@example.com"
	password  = "correct horse"
)

// world is an API with an administrator and two users, who share one password, and their access tokens.
type world struct {
	t                    testing.TB
	store                *store.Store
	server               *api.Server
	clock                *clock
	clicks               analytics.Store  // of whole
	breaks               func()           // makes a use case fail; nil unless a test sets it
	dns                  *dnstest.Server  // of whole
	queue                *queue           // of whole, for conversions
	imports              *imports.Service // of whole
	logs                 *testkit.Buffer
	root, ann, bob       string // access tokens
	rootID, annID, bobID string
}

// clock is the clock of accounts. Sessions and keys use the real time.
type clock struct {
	offset  atomic.Int64
	stopped atomic.Pointer[time.Time] // nil: the clock goes
}

func (c *clock) now() time.Time {
	now := time.Now()
	if at := c.stopped.Load(); at != nil {
		now = *at
	}
	return now.Add(time.Duration(c.offset.Load()))
}

func (c *clock) advance(d time.Duration) { c.offset.Add(int64(d)) }

// stop lets only advance move the clock from now on.
func (c *clock) stop() {
	now := time.Now()
	c.stopped.Store(&now)
}

// newWorld creates a world on an empty store. configure, if not nil, may change the settings and add use cases.
func newWorld(t testing.TB, st *store.Store, configure func(*world, *api.Config, *api.Deps)) *world {
	t.Helper()
	w := &world{t: t, store: st, clock: &clock{}, logs: &testkit.Buffer{}}
	webhooktest.CheckAll(t, st)
	users := w.serve(configure)
	if _, err := users.EnsureAdmin(t.Context(), adminMail, password); err != nil {
		t.Fatal(err)
	}
	w.root, w.rootID = w.signIn(adminMail)
	for _, mail := range []string{userMail, otherMail} {
		w.do("POST", "/api/users", `{"email":"`+mail+`","password":"`+password+`"}`, as(w.root)).want(201)
	}
	w.ann, w.annID = w.signIn(userMail)
	w.bob, w.bobID = w.signIn(otherMail)
	return w
}

// tellFailures shows, after a failure, the log lines of requests that failed with 5xx, because their answers do not tell the cause.
func (w *world) tellFailures() {
	for line := range strings.Lines(w.logs.String()) {
		if w.t.Failed() && strings.Contains(line, `"status":5`) {
			w.t.Log(strings.TrimSpace(line))
		}
	}
}

// replica creates a second API on the same store.
func replica(of *world, st *store.Store, configure func(*world, *api.Config, *api.Deps)) *world {
	w := &world{t: of.t, store: st, clock: of.clock, logs: &testkit.Buffer{}}
	w.serve(configure)
	return w
}

func (w *world) serve(configure func(*world, *api.Config, *api.Deps)) *accounts.Service {
	w.t.Helper()
	w.t.Cleanup(w.tellFailures)
	passwords, err := auth.NewPasswords(bcrypt.MinCost)
	w.ok(err)
	logger := slog.New(slog.NewJSONHandler(w.logs, nil))
	authn, err := auth.NewAuthenticator(auth.Config{Secrets: [][]byte{bytes.Repeat([]byte("s"), 32)}, Logger: logger}, w.store, passwords)
	w.ok(err)
	use := settings.New(w.store)
	users, err := accounts.New(accounts.Config{EncryptionKeys: [][]byte{bytes.Repeat([]byte("e"), 32)}, PasswordSignInOff: use.EnforcesSSO,
		Now: w.clock.now}, w.store, authn, passwords)
	w.ok(err)
	cfg := api.Config{
		BaseURL: baseURL, CORSOrigins: []string{"https://app.example.com"}, Logger: logger,
		Timeout: testkit.Patience, LookUpTimeout: testkit.Patience, CountTimeout: testkit.Patience,
	}
	deps := api.Deps{Store: w.store, Auth: authn, Accounts: users, Keys: keys.New(keys.Config{PerUser: 3}, w.store, passwords),
		Settings: use}
	if configure != nil {
		configure(w, &cfg, &deps)
	}
	w.server, err = api.New(cfg, deps)
	w.ok(err)
	testkit.Run(w.t, authn.Run)
	return users
}

// limited sets the default rate limit.
func limited(n int) func(*world, *api.Config, *api.Deps) {
	return func(_ *world, c *api.Config, _ *api.Deps) { c.Limits.Default = n }
}

// each runs f in a world of each dialect, for rules that SQL decides: lists, filters, uniqueness, deletion and concurrency.
func each(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	eachWith(t, nil, f)
}

// usual opens the store of tests whose rules SQL does not decide: SQLite in make test, Postgres in make proof. The test becomes
// parallel.
func usual(t *testing.T) *store.Store {
	t.Helper()
	t.Parallel()
	if testkit.Size(false, true) {
		return storetest.OpenPostgres(t)
	}
	return storetest.Open(t)
}

// walk runs f, which sends thousands of requests, on SQLite in make test and on each dialect in make proof.
func walk(t *testing.T, configure func(*world, *api.Config, *api.Deps), f func(t *testing.T, w *world)) {
	t.Helper()
	if testkit.Size(true, false) {
		f(t, small(t, configure))
		return
	}
	eachWith(t, configure, f)
}

// thinned returns, in make test, every step-th element of a list, the first of them at start. In make proof it returns all.
func thinned[T any](list []T, step, start int) (some []T) {
	step = testkit.Size(step, 1)
	for i := start % step; i < len(list); i += step {
		some = append(some, list[i])
	}
	return some
}

// small creates a world on the usual store.
func small(t *testing.T, configure func(*world, *api.Config, *api.Deps)) *world {
	t.Helper()
	return newWorld(t, usual(t), configure)
}

func (w *world) ok(err error) {
	w.t.Helper()
	testkit.Must(w.t, err)
}

func (w *world) signIn(email string) (token, id string) {
	w.t.Helper()
	r := w.do("POST", "/api/auth/login", `{"email":"`+email+`","password":"`+password+`"}`).want(200)
	return r.str("accessToken"), r.str("user.id")
}

type option func(*http.Request)

func as(token string) option { return with("Authorization", "Bearer "+token) }

func with(name, value string) option {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// both applies two options.
func both(a, b option) option {
	return func(r *http.Request) { a(r); b(r) }
}

func from(address string) option {
	return func(r *http.Request) { r.RemoteAddr = address }
}

// reply is a response of the API.
type reply struct {
	*http.Response
	w    *world
	what string
	text string
	json any
}

// do sends a request, and compares the answer with the OpenAPI document. A body is sent as JSON unless an option says otherwise.
func (w *world) do(method, path, body string, options ...option) *reply {
	w.t.Helper()
	r := httptest.NewRequest(method, "http://sho.rt"+path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, o := range options {
		o(r)
	}
	rec := httptest.NewRecorder()
	ctx, leave := context.WithCancel(r.Context())
	defer leave()
	w.server.Handler().ServeHTTP(&brief{rec, leave}, r.WithContext(ctx))
	res := rec.Result()
	text, err := io.ReadAll(res.Body)
	w.ok(err)
	out := &reply{Response: res, w: w, what: method + " " + path, text: string(text)}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(text, &out.json); err != nil && res.Header.Get("Content-Encoding") == "" {
			w.t.Fatalf("%s: not JSON: %s", out.what, text)
		}
	}
	out.documented(method, r.URL.EscapedPath())
	return out
}

// brief records a response. It leaves a stream after its first event.
type brief struct {
	*httptest.ResponseRecorder
	leave func()
}

func (b *brief) Write(p []byte) (int, error) {
	if strings.HasPrefix(b.Header().Get("Content-Type"), "text/event-stream") {
		defer b.leave()
	}
	return b.ResponseRecorder.Write(p)
}

// want fails the test unless the response has the status and, if it is an error, the documented body.
func (r *reply) want(status int) *reply {
	r.w.t.Helper()
	if r.StatusCode != status {
		r.w.t.Fatalf("%s: status %d, want %d: %s", r.what, r.StatusCode, status, r.text)
	}
	if status >= 400 && (r.num("statusCode") != float64(status) || r.str("message") == "" || r.str("error") == "") {
		r.w.t.Fatalf("%s: not the documented error body: %s", r.what, r.text)
	}
	if status == http.StatusNoContent && r.text != "" {
		r.w.t.Fatalf("%s: a body: %q", r.what, r.text)
	}
	// The message about a wrong current password is a plain sentence, because clients show it unchanged.
	if first := strings.TrimPrefix(r.str("errors.0.field")+": "+r.str("errors.0.message"), ": "); status == 400 && first != "" &&
		r.str("message") != "The current password is not right." && !strings.HasPrefix(r.str("message"), first) {
		r.w.t.Errorf("%s: the message does not carry the first problem: %s", r.what, r.text)
	}
	return r
}

// wantField fails the test unless the response is a 400 that names the field.
func (r *reply) wantField(fields ...string) *reply {
	r.w.t.Helper()
	r.want(400)
	list, _ := r.at("errors").([]any)
	got := map[string]bool{}
	for _, e := range list {
		f, _ := e.(map[string]any)["field"].(string)
		got[f] = true
	}
	for _, f := range fields {
		if !got[f] {
			r.w.t.Fatalf("%s: no problem is reported for %q: %s", r.what, f, r.text)
		}
	}
	return r
}

// at returns the value at a path such as "user.id" or "data.0.name", or nil if there is none.
func (r *reply) at(path string) any {
	v := r.json
	for _, step := range strings.Split(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[step]
		case []any:
			i := 0
			for _, c := range step {
				i = i*10 + int(c-'0')
			}
			if i < 0 || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

// list returns a response that is a plain array, which must not be null.
func (r *reply) list() []any {
	r.w.t.Helper()
	list, ok := r.json.([]any)
	if !ok {
		r.w.t.Fatalf("%s: not a plain array: %s", r.what, r.text)
	}
	return list
}

func (r *reply) str(path string) string {
	s, _ := r.at(path).(string)
	return s
}

func (r *reply) num(path string) float64 {
	n, _ := r.at(path).(float64)
	return n
}

// has fails the test unless the object at path has exactly these names; "" is the whole body.
func (r *reply) has(path string, names ...string) *reply {
	r.w.t.Helper()
	o, _ := r.json.(map[string]any)
	if path != "" {
		o, _ = r.at(path).(map[string]any)
	}
	for _, n := range names {
		if _, ok := o[n]; !ok {
			r.w.t.Errorf("%s: no %q in %q: %s", r.what, n, path, r.text)
		}
	}
	if len(o) != len(names) {
		r.w.t.Errorf("%s: %d names in %q, want %d: %s", r.what, len(o), path, len(names), r.text)
	}
	return r
}

func (r *reply) cookie(name string) *http.Cookie {
	for _, c := range r.Cookies() {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// expire sets the expiry of a key to the past, because waiting takes too long.
func (w *world) expire(keyID string) (int64, error) {
	var n int64
	err := w.store.Tx(w.t.Context(), func(tx *store.Tx) (err error) {
		n, err = tx.Exec(w.t.Context(), `UPDATE api_keys SET expires_at = 1 WHERE id = ?`, keyID)
		return err
	})
	return n, err
}

// opened opens another store of a database.
func opened(t *testing.T, url string, conns int) *store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), store.Config{URL: url, MaxConns: conns, Trash: 30 * 24 * time.Hour})
	testkit.Must(t, err)
	t.Cleanup(func() { st.Close() })
	return st
}

// variant gives a link another variant, and returns its id.
func (w *world) variant(link, name string) string {
	w.t.Helper()
	body := `{"name":"` + name + `","targetUrl":"https://` + name + `.example"}`
	return w.do("POST", "/api/urls/"+link+"/variants", body, as(w.ann)).want(201).str("id")
}

// counts fails the test unless a query counts n rows.
func (w *world) counts(n int, query string, args ...any) {
	w.t.Helper()
	var got int
	w.ok(w.store.Row(w.t.Context(), query, args...).Scan(&got))
	if got != n {
		w.t.Errorf("%d rows, want %d: %s", got, n, query)
	}
}

// row returns the row of a link.
func (w *world) row(id string) store.Link {
	w.t.Helper()
	u, err := w.store.LinkByID(w.t.Context(), id)
	w.ok(err)
	return u
}

// eachWith runs f in a configured world of each dialect.
func eachWith(t *testing.T, configure func(*world, *api.Config, *api.Deps), f func(t *testing.T, w *world)) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) { f(t, newWorld(t, st, configure)) })
}
