package certs_test

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mholt/acmez/v3/acme"

	"github.com/shortline/shortline/control/internal/certs"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/seal"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/acmetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func parse(t *testing.T, c store.Certificate) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode([]byte(c.Chain))
	if block == nil {
		t.Fatalf("no certificate: %+v", c)
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	testkit.Must(t, err)
	return leaf
}

// The authority asks for an early renewal (ARI), for instance because it will revoke the certificate.
func TestOrder_renewal_when_the_authority_asks(t *testing.T) {
	each(t, acmetest.Config{}, func(w *world) {
		w.run()
		d := w.domain("go.acme.test")
		first := w.until("a certificate is issued", d, active)
		w.ca.SuggestRenewal(parse(t, first), time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour))
		w.ahead.Add(int64(8 * time.Hour)) // the authority is asked every six hours, or a bit later
		second := w.until("the certificate is renewed", d, func(c store.Certificate) bool { return active(c) && c.Chain != first.Chain })
		// The edge follows the control plane, so it may get the certificate a moment after the database.
		testkit.Eventually(t, "visitors get the new certificate", func() bool {
			return w.visit("go.acme.test").SerialNumber.Cmp(parse(t, second).SerialNumber) == 0
		})
	})
}

// An authority can forget a certificate, and another account may have ordered it. Then it refuses orders that say which
// certificate they replace. The certificate is renewed by an order that does not say it.
func TestOrder_renewal_of_an_unknown_certificate(t *testing.T) {
	each(t, acmetest.Config{}, func(w *world) {
		renewed := func(d *store.Domain, first store.Certificate) {
			w.Helper()
			c := w.until("the certificate is renewed", d, func(c store.Certificate) bool { return active(c) && c.Chain != first.Chain })
			if c.Failures != 0 || c.LastError != "" {
				w.Errorf("failures before the renewal: %+v", c)
			}
		}
		stop := w.run()
		d := w.domain("go.acme.test")
		first := w.until("a certificate is issued", d, active)
		w.ca.Stop()
		w.ca.Restart()
		w.ahead.Add(int64(61 * 24 * time.Hour))
		renewed(d, first)
		stop()

		other := w.domain("other.acme.test")
		stop = w.run()
		second := w.until("a certificate is issued", other, active)
		stop()
		w.ahead.Add(int64(61 * 24 * time.Hour))
		w.run(func(c *certs.Config) { c.Email = "someone.else@acme.test" })
		renewed(other, second)
	})
}

// Owners learn why there is no certificate. The domain gets it when the cause is gone, also at another authority.
func TestOrder_failures(t *testing.T) {
	each(t, acmetest.Config{Blocked: []string{"blocked.acme.test"}}, func(w *world) {
		w.run()
		w.edge.setDeaf(true)
		failed := func(c store.Certificate) bool { return c.Status == store.CertificateFailed }
		deaf, astray, blocked := w.domain("deaf.acme.test"), w.domain("astray.acme.test"), w.domain("blocked.acme.test")
		w.ca.SetFailing("astray.acme.test", true)
		for d, want := range map[*store.Domain]string{
			deaf:    "Another server answered the certificate authority at deaf.acme.test.",
			astray:  `Could not resolve URL "astray.acme.test"`,
			blocked: "does not issue certificates for blocked.acme.test",
		} {
			c := w.until("the order fails", d, failed)
			if !strings.Contains(c.LastError, want) || c.Failures < 1 || c.Chain != "" {
				t.Errorf("%s: %+v", d.Hostname, c)
			}
		}
		w.edge.setDeaf(false)
		w.ca.Stop()
		w.ahead.Add(int64(2 * time.Minute))
		c := w.until("the authority is down", deaf, func(c store.Certificate) bool { return c.Failures >= 2 })
		if !strings.Contains(c.LastError, "cannot be reached") {
			t.Errorf("without an authority: %q", c.LastError)
		}
		w.ca.Restart() // it has forgotten the account
		w.ahead.Add(int64(10 * time.Minute))
		w.until("a certificate is issued", deaf, active)
		w.visit("deaf.acme.test")
	})
}

// An account that has to be bound to another account.
func TestOrder_with_external_account_binding(t *testing.T) {
	const hmac = "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W"
	each(t, acmetest.Config{EAB: map[string]string{"kid-1": hmac}}, func(w *world) {
		w.run(func(c *certs.Config) { c.EABKeyID, c.EABKey = "kid-1", hmac })
		w.until("a certificate is issued", w.domain("go.acme.test"), active)
	})
}

// A control plane that is killed after the authority has issued a certificate, and before it has told edges: the next one
// finds the certificate, and places no order.
func TestOrder_of_a_killed_control_plane(t *testing.T) {
	each(t, acmetest.Config{}, func(w *world) {
		stop := w.run()
		d := w.domain("go.acme.test")
		first := w.until("a certificate is issued", d, active)
		stop()
		w.tx(func(ctx context.Context, tx *store.Tx) error { // as if the last transaction was lost
			if err := tx.DeleteCertificate(ctx, first.Num); err != nil {
				return err
			}
			return tx.TouchHost(ctx, d.Hostname)
		})
		w.run()
		testkit.Equal(t, w.until("the certificate is back", d, active).Chain, first.Chain, "the chain")
		w.visit("go.acme.test")
		testkit.Equal(t, w.ca.Orders(), 1, "orders")
	})
}

// Two processes exclude each other. The lock of a killed one expires.
func TestLocks(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		plane := func() *certs.Service {
			s, err := certs.New(certs.Config{Settings: certs.Settings{Key: key}}, st)
			testkit.Must(t, err)
			return s
		}
		one, two := plane().Files(), plane().Files()
		ctx := t.Context()
		var mu sync.Mutex
		inside, most, turns := 0, 0, 0
		var work sync.WaitGroup
		for i := range 8 {
			files := one
			if i%2 == 1 {
				files = two
			}
			work.Go(func() {
				if err := files.Lock(ctx, "a name"); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				inside++
				turns++
				most = max(most, inside)
				mu.Unlock()
				_, _ = files.Load(ctx, "another name") // others have time to come in
				mu.Lock()
				inside--
				mu.Unlock()
				if err := files.Unlock(ctx, "a name"); err != nil {
					t.Error(err)
				}
			})
		}
		work.Wait()
		if most != 1 || turns != 8 {
			t.Errorf("%d at the same time, %d turns", most, turns)
		}
		began := time.Now()
		var taken, again bool
		if err := st.Tx(ctx, func(tx *store.Tx) (err error) {
			if taken, err = tx.TakeLock(ctx, "of a killed process", "it", 400); err != nil {
				return err
			}
			again, err = tx.TakeLock(ctx, "of a killed process", "another", 400)
			return err
		}); err != nil || !taken || again {
			t.Fatalf("taken %v, again %v, %v", taken, again, err)
		}
		testkit.Must(t, one.Lock(ctx, "of a killed process"))
		if waited := time.Since(began); waited < 390*time.Millisecond {
			t.Errorf("the lock was free after %v", waited)
		}
		testkit.Within(t, 20*time.Second, began, "taking over a lock of 400 ms")
		_ = one.Unlock(ctx, "of a killed process")
	})
}

// The files of certmagic: folders, and contents that are sealed in the database.
func TestFiles(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		s, err := certs.New(certs.Config{Settings: certs.Settings{Key: key}}, st)
		testkit.Must(t, err)
		files, ctx := s.Files(), t.Context()
		for _, name := range []string{"a/b/one", "a/b/two", "a/c/three", "ab/four", "five"} {
			testkit.Must(t, files.Store(ctx, name, []byte("content of "+name)))
		}
		if text, err := files.Load(ctx, "a/b/one"); err != nil || string(text) != "content of a/b/one" {
			t.Errorf("%q, %v", text, err)
		}
		if f, err := st.FileNamed(ctx, "a/b/one"); err != nil || strings.Contains(f.Sealed, "content") {
			t.Errorf("stored: %+v, %v", f, err)
		}
		for folder, want := range map[string]string{"a": "a/b a/c", "a/b": "a/b/one a/b/two", "": "a ab five"} {
			if list, err := files.List(ctx, folder, false); err != nil || strings.Join(list, " ") != want {
				t.Errorf("%q has %v, %v", folder, list, err)
			}
		}
		if list, err := files.List(ctx, "a", true); err != nil || strings.Join(list, " ") != "a/b/one a/b/two a/c/three" {
			t.Errorf("below a: %v, %v", list, err)
		}
		if info, err := files.Stat(ctx, "a"); err != nil || info.IsTerminal {
			t.Errorf("a: %+v, %v", info, err)
		}
		if err := files.Delete(ctx, "a/b"); err != nil || files.Exists(ctx, "a/b") || !files.Exists(ctx, "a") ||
			!files.Exists(ctx, "ab/four") {
			t.Errorf("after a deletion: %v", err)
		}
		if err := files.Delete(ctx, "missing"); err != nil {
			t.Error(err)
		}
	})
}

// Keys of session tickets: two rotations a day, however many control planes there are.
func TestTickets(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		now := time.Now()
		planes := make([]*certs.Service, 3)
		for i := range planes {
			var err error
			if planes[i], err = certs.New(certs.Config{Settings: certs.Settings{Key: key}, Now: func() time.Time { return now }},
				st); err != nil {
				t.Fatal(err)
			}
		}
		seen := map[string]bool{}
		for range 48 {
			var work sync.WaitGroup
			for _, s := range planes {
				work.Go(func() {
					if err := s.RotateTickets(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
			work.Wait()
			keys, err := st.TicketKeys(t.Context())
			if err != nil || len(keys) > 3 {
				t.Fatalf("%d keys, %v", len(keys), err)
			}
			for _, k := range keys {
				seen[k.Sealed] = true
			}
			now = now.Add(time.Hour)
		}
		testkit.Equal(t, len(seen), 4, "keys in two days")
		box, err := certs.Box(key)
		testkit.Must(t, err)
		for sealed := range seen {
			if text, err := box.Open(snapshot.TicketPlace, sealed); err != nil || len(text) != 64 {
				t.Errorf("a key of %d characters, %v", len(text), err)
			}
		}
	})
}

// After a rotation of CERTIFICATE_KEY, everything is sealed with the new key, and edges get it.
func TestReseal(t *testing.T) {
	each(t, acmetest.Config{}, func(w *world) {
		stop := w.run()
		d := w.domain("go.acme.test")
		w.until("a certificate is issued", d, active)
		stop()
		fresh := config.Secret("a new key of certificates for rotation")
		s, err := certs.New(w.config(func(c *certs.Config) { c.Key = fresh + "," + key }), w.store)
		testkit.Must(t, err)
		n, err := s.Reseal(t.Context())
		if err != nil || n < 5 { // account, three files, the key, and ticket keys
			t.Fatalf("%d texts, %v", n, err)
		}
		if n, err := s.Reseal(t.Context()); err != nil || n != 0 {
			t.Errorf("again: %d texts, %v", n, err)
		}
		only, err := seal.New(snapshot.SealPurpose, []byte(fresh))
		testkit.Must(t, err)
		if _, err := only.Open(snapshot.SealPlace(d.Hostname), w.certificate(d).SealedKey); err != nil {
			t.Error(err)
		}
	})
}

func TestInWords(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		acme.ProblemTypeCAA: "CAA record of go.acme.com", acme.ProblemTypeDNS: "could not look up go.acme.com",
		acme.ProblemTypeConnection: "could not connect to go.acme.com",
		acme.ProblemTypeTLS:        "TLS connection to go.acme.com", acme.ProblemTypeUnauthorized: "Another server answered",
		acme.ProblemTypeRateLimited:             "no more orders",
		acme.ProblemTypeRejectedIdentifier:      "does not issue certificates for go.acme.com",
		acme.ProblemTypeExternalAccountRequired: "operator",
		"urn:other":                             "refused the order",
	} {
		err := fmt.Errorf("solving: %w", acme.Problem{Type: kind, Detail: "the\ndetail\x00 " + strings.Repeat("ü", 300)})
		if got := certs.InWords("go.acme.com", err); !strings.Contains(got, want) || !strings.Contains(got, "It says: the detail") ||
			len(got) > 700 {
			t.Errorf("%s: %q", kind, got)
		}
	}
	for err, want := range map[error]string{context.DeadlineExceeded: "in time", fmt.Errorf("secret"): "inside the service"} {
		if got := certs.InWords("go.acme.com", err); !strings.Contains(got, want) || strings.Contains(got, "secret") {
			t.Errorf("%v: %q", err, got)
		}
	}
}
