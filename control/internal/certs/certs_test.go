package certs_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"strings"
	"testing"
	"time"

	"github.com/mholt/acmez/v3/acme"

	"github.com/shortline/shortline/control/internal/certs"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/testing/acmetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// A domain that comes into service gets a certificate, by each type of challenge alone, at a strict authority that rejects
// some nonces.
func TestOrder_by_each_challenge(t *testing.T) {
	for _, kind := range []string{acme.ChallengeTypeHTTP01, acme.ChallengeTypeTLSALPN01} {
		t.Run(kind, func(t *testing.T) {
			each(t, acmetest.Config{Strict: true, NonceReject: 10}, func(w *world) {
				w.run(func(c *certs.Config) { c.Challenges = []string{kind}; c.Names = []string{"sho.test"} })
				d := w.domain("go.acme.test")
				c := w.until("a certificate is issued", d, active)
				leaf := w.visit("go.acme.test")
				if public, ok := leaf.PublicKey.(*ecdsa.PublicKey); !ok || public.Curve != elliptic.P256() {
					t.Errorf("the key is %T", leaf.PublicKey)
				}
				if c.Issuer != certs.IssuerOf(leaf) || c.NotAfter != leaf.NotAfter.UnixMilli() || c.LastError != "" || c.Failures != 0 {
					t.Errorf("stored: %+v", c)
				}
				if strings.Contains(c.SealedKey, "PRIVATE") || strings.Contains(c.Chain, "PRIVATE") {
					t.Error("the private key is not sealed")
				}
				life := leaf.NotAfter.Sub(leaf.NotBefore)
				if in := time.Until(time.UnixMilli(c.NextAt)); in < 5*time.Hour || in > life*2/3 {
					t.Errorf("the next look is in %v", in)
				}
				w.visit("sho.test") // the service's own name
				challenges, err := w.store.Challenges(t.Context())
				if err != nil || len(challenges) != 0 {
					t.Errorf("left challenges %v, %v", challenges, err)
				}
			})
		})
	}
}

// A certificate is renewed once, when it is due. The other control plane, and restarts, change nothing.
func TestOrder_renewal_with_two_control_planes(t *testing.T) {
	each(t, acmetest.Config{}, func(w *world) {
		w.run()
		stop := w.run()
		var list []*store.Domain
		for _, name := range []string{"a.acme.test", "b.acme.test", "c.acme.test", "d.acme.test"} {
			list = append(list, w.domain(name))
		}
		first := map[uint64]store.Certificate{}
		for _, d := range list {
			first[d.Num] = w.until("a certificate is issued", d, active)
			w.visit(d.Hostname)
		}
		if n := w.ca.Orders(); n != len(list) {
			t.Errorf("%d orders for %d domains", n, len(list))
		}
		stop()
		w.run()
		w.ahead.Add(int64(61 * 24 * time.Hour)) // Pebble asks for a renewal after two thirds of 90 days
		for _, d := range list {
			c := w.until("the certificate is renewed", d, func(c store.Certificate) bool {
				return active(c) && c.Chain != first[d.Num].Chain
			})
			if c.SealedKey == first[d.Num].SealedKey {
				t.Errorf("%s has its old key", d.Hostname)
			}
			if leaf := w.visit(d.Hostname); leaf.NotAfter.UnixMilli() < first[d.Num].NotAfter {
				t.Errorf("%s: visitors get a certificate until %v", d.Hostname, leaf.NotAfter)
			}
		}
		w.until("a certificate is issued", w.domain("e.acme.test"), active) // whatever else was due was begun before
		testkit.Equal(t, w.ca.Orders(), 2*len(list)+1, "orders for %d domains, as many renewals, and another domain", len(list))
	})
}
