package domains_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/seal"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// issue returns a certificate for a name and its key in PEM. Its life begins an hour before at.
func issue(t *testing.T, name string, at time.Time, life time.Duration) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	testkit.Must(t, err)
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Acme CA"}, DNSNames: []string{name},
		NotBefore: at.Add(-time.Hour), NotAfter: at.Add(life)}
	der, err := x509.CreateCertificate(rand.Reader, c, c, private.Public(), private)
	testkit.Must(t, err)
	text, err := x509.MarshalPKCS8PrivateKey(private)
	testkit.Must(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text}))
}

func TestDomain_uploaded_certificate(t *testing.T) {
	each(t, func(w *world) {
		ctx, ann, bob := w.Context(), w.user("ann@example.com"), w.user("bob@example.com")
		d := w.create(ann, "go.acme.com")
		w.prove(&d)
		w.verify(ann, &d)
		now := time.UnixMilli(w.clock.Load())
		chain, key := issue(w.T, d.Hostname, now, 100*24*time.Hour)
		_, err := w.Upload(ctx, ann, d.ID, chain, key)
		wantProblem(w.T, err, problem.Conflict, "CERTIFICATE_KEY")

		box, err := seal.New(snapshot.SealPurpose, []byte(strings.Repeat("k", 32)))
		testkit.Must(w, err)
		w.Secure(box, false)
		_, err = w.Upload(ctx, bob, d.ID, chain, key)
		wantProblem(w.T, err, problem.NotFound, "Domain not found")
		wantProblem(w.T, w.RemoveUpload(ctx, bob, d.ID), problem.NotFound, "Domain not found")
		if _, err := w.Upload(ctx, ann, d.ID, chain, key); err != nil {
			w.Fatal(err)
		}
		read := func() store.Certificate {
			w.Helper()
			c, err := w.store.CertificateOf(ctx, d.Num)
			testkit.Must(w, err)
			return c
		}
		first := read()
		if first.Source != store.CertificateUploaded || first.Status != store.CertificateActive || first.Issuer != "Acme CA" ||
			first.Chain != chain || strings.Contains(first.SealedKey, "PRIVATE") {
			w.Errorf("uploaded: %+v", first)
		}
		if der, err := box.Open(snapshot.SealPlace(d.Hostname), first.SealedKey); err != nil {
			w.Error(err)
		} else if _, err := x509.ParsePKCS8PrivateKey([]byte(der)); err != nil {
			w.Error(err)
		}
		if due, err := w.store.CertificatesDue(ctx, false, 10, first.NextAt-1, 10); err != nil || len(due) != 0 {
			w.Errorf("an uploaded certificate is due: %v, %v", due, err)
		}

		// A bad certificate changes nothing.
		_, other := issue(w.T, d.Hostname, now, 100*24*time.Hour)
		_, err = w.Upload(ctx, ann, d.ID, chain, other)
		wantProblem(w.T, err, problem.Invalid, "privateKey")
		foreign, foreignKey := issue(w.T, "go.example.org", now, 100*24*time.Hour)
		_, err = w.Upload(ctx, ann, d.ID, foreign, foreignKey)
		wantProblem(w.T, err, problem.Invalid, "is for go.example.org, not for go.acme.com")
		testkit.Equal(w, read(), first, "the certificate after bad ones")

		second, secondKey := issue(w.T, d.Hostname, now, 200*24*time.Hour)
		if _, err := w.Upload(ctx, ann, d.ID, second, secondKey); err != nil || read().Chain != second || read().Num != first.Num {
			w.Errorf("replaced: %+v, %v", read(), err)
		}
		if log := w.audit(); strings.Count(log, "CERTIFICATE_UPLOADED") != 2 || strings.Contains(log, "PRIVATE") ||
			strings.Contains(log, first.SealedKey) {
			w.Errorf("audit: %s", log)
		}

		// With automatic certificates, the uploaded one stays until the service has another one.
		w.Secure(box, true)
		testkit.Must(w, w.RemoveUpload(ctx, ann, d.ID))
		if c := read(); c.Source != store.CertificateACME || c.Status != store.CertificatePending || c.Chain != second ||
			c.NextAt != w.clock.Load() {
			w.Errorf("after the deletion: %+v", c)
		}
		w.Secure(box, false)
		if _, err := w.Upload(ctx, ann, d.ID, chain, key); err != nil {
			w.Fatal(err)
		}
		for range 2 {
			testkit.Must(w, w.RemoveUpload(ctx, ann, d.ID))
		}
		if c, err := w.store.CertificateOf(ctx, d.Num); err == nil {
			w.Errorf("without automatic certificates: %+v", c)
		}
	})
}

// audit returns all rows of the audit log as text.
func (w *world) audit() (out string) {
	w.Helper()
	rows, err := store.All(w.Context(), w.store.Conn, func(row interface{ Scan(...any) error }) (s string, err error) {
		var old, after *string
		if err := row.Scan(&s, &old, &after); err != nil {
			return "", err
		}
		for _, part := range []*string{old, after} {
			if part != nil {
				s += " " + *part
			}
		}
		return s, nil
	}, `SELECT action, old_value, new_value FROM audit_logs ORDER BY seq`)
	testkit.Must(w, err)
	return strings.Join(rows, "\n")
}
