package webhooks_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/manage/webhooks/webhooktest"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// request is one delivery, as received.
type request struct {
	path, body string
	header     http.Header
}

// receiver is an https server on 127.0.0.2, the one private address that the tests' settings allow.
type receiver struct {
	*httptest.Server
	roots *x509.CertPool

	mu     sync.Mutex
	got    []request
	answer http.HandlerFunc // nil: 200
}

func newReceiver(t testing.TB) *receiver {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Skipf("needs a second loopback address: %v", err)
	}
	r := &receiver{roots: x509.NewCertPool()}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		r.got = append(r.got, request{q.URL.Path, string(body), q.Header.Clone()})
		answer := r.answer
		r.mu.Unlock()
		if answer != nil {
			answer(w, q)
		}
	}))
	r.Server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	r.Listener.Close()
	r.Listener = l
	r.StartTLS()
	t.Cleanup(r.Close)
	r.roots.AddCert(r.Certificate())
	return r
}

func (r *receiver) answers(f http.HandlerFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = f
}

func (r *receiver) status(n int) {
	r.answers(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(n) })
}

// at returns the requests to a path; "" means all paths.
func (r *receiver) at(path string) (out []request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, q := range r.got {
		if path == "" || q.path == path {
			out = append(out, q)
		}
	}
	return out
}

// world is a service on a store with two users, and a receiver.
type world struct {
	*receiver
	t       testing.TB
	store   *store.Store
	service *webhooks.Service
	cfg     webhooks.Config
	offset  atomic.Int64 // of the service's clock from the system's
	logs    *testkit.Buffer
	metrics *prometheus.Registry

	ann, root auth.Principal
}

func newWorld(t testing.TB, st *store.Store, change func(*webhooks.Config)) *world {
	t.Helper()
	w := &world{receiver: newReceiver(t), t: t, store: st, logs: &testkit.Buffer{}, metrics: prometheus.NewRegistry()}
	w.cfg = webhooks.Config{
		Settings:       webhooks.Settings{AllowCIDRs: "127.0.0.2/32", Timeout: 5 * time.Second},
		EncryptionKeys: [][]byte{bytes.Repeat([]byte("e"), 32)}, Registry: w.metrics,
		TLS:    &tls.Config{RootCAs: w.roots, ServerName: "example.com"},
		Logger: slog.New(slog.NewTextHandler(w.logs, nil)),
		Now:    func() time.Time { return time.Now().Add(time.Duration(w.offset.Load())) },
	}
	if change != nil {
		change(&w.cfg)
	}
	var err error
	w.service, err = webhooks.New(w.cfg, st)
	testkit.Must(t, err)
	webhooktest.CheckAll(t, st)
	w.ann, w.root = w.user("ann@example.com", auth.User), w.user("root@example.com", auth.Admin)
	return w
}

func small(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	return newWorld(t, storetest.Open(t), nil)
}

// each runs f with a world of each SQL dialect.
func each(t *testing.T, f func(t *testing.T, w *world)) {
	t.Parallel()
	storetest.EachInProof(t, func(t *testing.T, st *store.Store) { f(t, newWorld(t, st, nil)) })
}

func (w *world) user(email string, role auth.Role) auth.Principal {
	w.t.Helper()
	u := store.User{ID: store.NewID(), Email: email, Role: string(role), Active: true, CreatedAt: 1, UpdatedAt: 1}
	testkit.Must(w.t, w.store.Tx(w.t.Context(), func(tx *store.Tx) (err error) {
		u.Num, err = tx.InsertUser(w.t.Context(), u)
		return err
	}))
	return auth.PrincipalOf(u)
}

// run runs the service until the test ends or stop is called.
func (w *world) run() (stop func()) {
	w.t.Helper()
	return testkit.Run(w.t, w.service.Run)
}

func (w *world) advance(d time.Duration) { w.offset.Add(int64(d)) }

func ptr[T any](v T) *T { return &v }

// add creates a webhook of ann for a path of the receiver.
func (w *world) add(path string, events ...string) webhooks.Webhook {
	w.t.Helper()
	hook, _, err := w.service.Create(w.t.Context(), w.ann, webhooks.Input{Name: ptr("hook"), URL: ptr(w.URL + path), Events: &events,
		Secret: ptr("secret")})
	testkit.Must(w.t, err)
	return hook
}

// emit emits events of ann's links, in one transaction.
func (w *world) emit(name string, data ...any) {
	w.t.Helper()
	testkit.Must(w.t, w.store.Tx(w.t.Context(), func(tx *store.Tx) error {
		var events []webhooks.Event
		for _, d := range data {
			events = append(events, webhooks.Event{Name: name, Workspace: w.ann.UserNum, Data: d})
		}
		return webhooks.Emit(w.t.Context(), tx, events...)
	}))
}

// log returns a webhook's attempts, oldest first.
func (w *world) log(id string) []store.WebhookLog {
	w.t.Helper()
	list, _, err := w.service.Logs(w.t.Context(), w.root, id, webhooks.LogFilter{}, 1000, 0)
	testkit.Must(w.t, err)
	slices.Reverse(list)
	return list
}

func (w *world) backlog(id string) int {
	w.t.Helper()
	n, err := w.store.Backlog(w.t.Context(), id, 1<<20)
	testkit.Must(w.t, err)
	return n
}

func (w *world) figures(id string) string {
	w.t.Helper()
	hook, err := w.service.Get(w.t.Context(), w.root, id)
	testkit.Must(w.t, err)
	return fmt.Sprintf("%d sent, %d succeeded, %d failed, %q", hook.Sent, hook.Succeeded, hook.Failed, hook.LastError)
}

// counterOf returns the value of a counter or gauge without labels.
func (w *world) counterOf(name string) float64 {
	w.t.Helper()
	families, err := w.metrics.Gather()
	testkit.Must(w.t, err)
	for _, f := range families {
		if f.GetName() == name {
			m := f.GetMetric()[0]
			return m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	w.t.Fatalf("no metric %s", name)
	return 0
}
