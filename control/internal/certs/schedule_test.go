package certs_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mholt/acmez/v3/acme"

	"github.com/shortline/shortline/control/internal/certs"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// shifted is a control plane whose certificate authority is in the same process, so that both follow a shifted clock.
type shifted struct {
	*testing.T
	*certs.Service
	store *store.Store
	clock time.Time
	users int

	mu     sync.Mutex
	root   *x509.Certificate
	key    *ecdsa.PrivateKey
	issued map[string][]time.Time // by host name
	failed map[string]int
	broken func(host string) bool
}

func newShifted(t *testing.T, st *store.Store, orders int, changes ...func(*certs.Config)) *shifted {
	t.Helper()
	w := &shifted{T: t, store: st, clock: time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC), issued: map[string][]time.Time{},
		failed: map[string]int{}, broken: func(string) bool { return false }}
	var err error
	if w.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	w.root = &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Test CA"}, IsCA: true,
		BasicConstraintsValid: true}
	cfg := certs.Config{
		Settings: certs.Settings{Key: key, Email: "operator@example.com", Orders: orders}, Now: func() time.Time { return w.clock },
		Logger: slog.New(slog.DiscardHandler),
	}
	for _, change := range changes {
		change(&cfg)
	}
	w.Service, err = certs.New(cfg, st)
	testkit.Must(t, err)
	w.Local(w.issue)
	return w
}

func (w *shifted) issue(host string, csr *x509.CertificateRequest) ([]byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken(host) {
		w.failed[host]++
		return nil, acme.Problem{Type: acme.ProblemTypeConnection, Detail: "refused"}
	}
	w.issued[host] = append(w.issued[host], w.clock)
	leaf := &x509.Certificate{SerialNumber: big.NewInt(w.clock.UnixNano()), DNSNames: csr.DNSNames, NotBefore: w.clock,
		NotAfter: w.clock.Add(90 * 24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, leaf, w.root, csr.PublicKey, w.key)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), err
}

// domains adds domains of a new workspace. route says whether their names lead to edges.
func (w *shifted) domains(format string, n int, route bool) {
	w.Helper()
	w.users++
	testkit.Must(w, w.store.Tx(w.Context(), func(tx *store.Tx) error {
		owner, err := tx.InsertUser(w.Context(), store.User{ID: store.NewID(), Email: fmt.Sprintf("u%d@example.com", w.users), Role: "USER",
			Active: true})
		if err != nil {
			return err
		}
		for i := range n {
			d := &store.Domain{ID: store.NewID(), Workspace: owner, Hostname: fmt.Sprintf(format, i),
				Status: store.DomainActive, Token: "t",
				Route: store.Found{OK: route}}
			if _, err := tx.InsertDomain(w.Context(), d); err != nil {
				return err
			}
			if err := tx.TouchDomain(w.Context(), d); err != nil {
				return err
			}
		}
		return nil
	}))
	w.do(w.List)
}

func (w *shifted) do(f func(context.Context) error) {
	w.Helper()
	testkit.Must(w, f(w.Context()))
}

func (w *shifted) count(part string) (n int) {
	for host, times := range w.issued {
		if strings.Contains(host, part) {
			n += len(times)
		}
	}
	return n
}

// Domains that came into service on the same day are renewed once each in 90 days, on many days, between five ninths and two
// thirds of the life of their certificates.
func TestRenewals_are_spread(t *testing.T) {
	t.Parallel()
	const n = 200
	w := newShifted(t, storetest.Open(t), 10_000)
	w.domains("d%d.example.com", n, true)
	began := w.clock
	days := map[int]int{}
	for range 85 * 4 {
		w.do(w.Step)
		w.clock = w.clock.Add(6 * time.Hour)
	}
	for host, times := range w.issued {
		if len(times) != 2 {
			t.Errorf("%s has %d certificates after 85 days", host, len(times))
			continue
		}
		after := times[1].Sub(began)
		if after < 50*24*time.Hour || after > 60*24*time.Hour+6*time.Hour {
			t.Errorf("%s is renewed after %v", host, after)
		}
		days[int(after.Hours()/24)]++
	}
	testkit.Equal(t, len(w.issued), n, "domains with certificates")
	for day, renewals := range days {
		if renewals > 2*n/10 {
			t.Errorf("%d renewals on day %d: %v", renewals, day, days)
		}
	}
	// A hash of names must also spread many domains with the same end.
	leaf := &x509.Certificate{NotBefore: began, NotAfter: began.Add(90 * 24 * time.Hour)}
	hours := map[int64]int{}
	for i := range 10_000 {
		hours[certs.RenewAt(leaf, fmt.Sprintf("go.customer-%d.example.com", i)).Unix()/3600]++
	}
	for hour, renewals := range hours {
		if renewals > 100 { // 42 on average
			t.Errorf("%d of 10,000 renewals in hour %d", renewals, hour)
		}
	}
}

// A thousand broken domains get a share of the budget. Others get their certificates at once.
func TestBudget_with_a_thousand_broken_domains(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		const budget = 60
		w := newShifted(t, st, budget)
		w.broken = func(host string) bool { return strings.Contains(host, "broken") }
		w.domains("astray%d.broken.example", 500, false) // their names lead elsewhere
		w.domains("denied%d.broken.example", 500, true)  // everything looks well, and each order fails
		w.domains("good%d.example.com", 20, true)
		w.do(w.Step)
		testkit.Equal(t, w.count("good"), 20, "healthy domains with certificates")
		fails := 0
		for _, n := range w.failed {
			fails += n
		}
		// A quarter of the budget, and those that were placed before the tenth had failed.
		if fails < 10 || fails > budget/4+10+8 {
			t.Errorf("%d orders of broken domains", fails)
		}
		for hour := range 12 {
			w.clock = w.clock.Add(time.Hour)
			name := fmt.Sprintf("late%d-%%d.example.com", hour)
			w.domains(name, 3, true)
			w.do(w.Step)
			testkit.Equal(t, w.count(fmt.Sprintf("late%d-", hour)), 3, "hour %d: new domains with certificates", hour)
		}
		fails = -fails
		for _, n := range w.failed {
			fails += n
		}
		if fails < 10 || fails > 5*budget/4 {
			t.Errorf("%d orders of broken domains in the next 12 hours", fails)
		}
	})
}

// Failures back off, and owners see why. The domain gets its certificate when the cause is gone.
func TestFailures_back_off(t *testing.T) {
	t.Parallel()
	w := newShifted(t, storetest.Open(t), 0)
	broken := true
	w.broken = func(string) bool { return broken }
	w.domains("go%d.example.com", 1, true)
	look := func() store.Certificate {
		d, err := w.store.DomainsNamed(t.Context(), 0, []string{"go0.example.com"})
		testkit.Must(t, err)
		c, err := w.store.CertificateOf(t.Context(), d[0])
		testkit.Must(t, err)
		return c
	}
	for i, want := range []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour,
		24 * time.Hour} {
		w.do(w.Step)
		c := look()
		wait := time.UnixMilli(c.NextAt).Sub(w.clock)
		if c.Failures != i+1 || c.Status != store.CertificateFailed || wait < want || wait > want*6/5 {
			t.Errorf("failure %d: %+v, next in %v", i+1, c, wait)
		}
		if !strings.Contains(c.LastError, "could not connect to go0.example.com") || !strings.HasSuffix(c.LastError, "It says: refused") {
			t.Errorf("owners read %q", c.LastError)
		}
		w.do(w.Step) // not due
		w.clock = time.UnixMilli(c.NextAt)
	}
	broken = false
	w.do(w.Step)
	if c := look(); c.Status != store.CertificateActive || c.Failures != 0 || c.LastError != "" || c.NotAfter == 0 {
		t.Errorf("after all: %+v", c)
	}
	testkit.Equal(t, w.failed["go0.example.com"], 7, "failed orders")
}

// An authority with a wrong clock or a fault must not stop renewals for years.
func TestPatience_is_bounded(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"": 0, "90": 90 * time.Second, "999999999": 24 * time.Hour,
		"Fri, 31 Dec 9999 23:59:59 GMT": 24 * time.Hour} {
		authority := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", text)
			w.WriteHeader(http.StatusServiceUnavailable)
		}))
		request, err := http.NewRequest(http.MethodGet, authority.URL, nil)
		testkit.Must(t, err)
		got, err := certs.AskedToWait(t.Context(), http.DefaultTransport, request)
		if authority.Close(); err != nil || got != want {
			t.Errorf("Retry-After %q: %v %v, want %v", text, got, err, want)
		}
	}
}
