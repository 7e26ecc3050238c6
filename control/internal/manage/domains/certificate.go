package domains

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/domains/chain"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/seal"
	"github.com/shortline/shortline/shared/snapshot"
)

// Secure makes s accept certificates. The box seals their private keys for edges. automatic reports that the service orders
// certificates, too. Call it before other methods.
func (s *Service) Secure(box *seal.Box, automatic bool) *Service {
	s.box, s.automatic = box, automatic
	return s
}

// Upload makes edges present a certificate of the domain's owner: a chain and its key in PEM. It replaces an earlier
// certificate, and the service orders none until RemoveUpload.
func (s *Service) Upload(ctx context.Context, p auth.Principal, id, certificate, key string) (store.Domain, error) {
	d, err := s.Get(ctx, p, id)
	if err != nil {
		return store.Domain{}, err
	}
	var v problem.Fields
	got, err := chain.Parse(certificate, d.Hostname, s.cfg.Now())
	if err != nil {
		v.Add("certificate", "%s", err)
	} else if err := got.ParseKey(key); err != nil {
		v.Add("privateKey", "%s", err)
	}
	if err := v.Err(); err != nil {
		return store.Domain{}, err
	}
	if s.box == nil {
		return store.Domain{},
			problem.New(problem.Conflict, "This service does not serve custom domains with TLS. Its operator has to set CERTIFICATE_KEY.")
	}
	now := s.now()
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		if d, err = visible(p)(tx.LockDomain(ctx, id)); err != nil {
			return err
		}
		c := store.Certificate{Domain: d.Num, Hostname: d.Hostname, CreatedAt: now}
		had, err := lockCertificate(ctx, tx, d.Num, &c)
		if err != nil {
			return err
		}
		before := audited(&c)
		c.Source, c.Status, c.LastError, c.Failures, c.Announced = store.CertificateUploaded, store.CertificateActive, "", 0, 0
		c.Chain, c.SealedKey, c.NextAt = got.PEM, s.box.Seal(snapshot.SealPlace(d.Hostname), string(got.Key)), math.MaxInt64
		c.Issuer, c.NotBefore, c.NotAfter, c.UpdatedAt = issuer(got.Leaf), got.Leaf.NotBefore.UnixMilli(),
			got.Leaf.NotAfter.UnixMilli(), now
		if had {
			err = tx.UpdateCertificate(ctx, &c)
		} else {
			_, err = tx.InsertCertificate(ctx, &c)
		}
		if err != nil {
			return err
		}
		if err := tx.TouchHost(ctx, d.Hostname); err != nil {
			return err
		}
		after := audited(&c)
		sum := sha256.Sum256(got.Leaf.Raw)
		after["fingerprint"] = hex.EncodeToString(sum[:])
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "CERTIFICATE_UPLOADED", EntityType: "domain", EntityID: d.ID,
			Workspace: d.Workspace, Old: before, New: after})
	})
	return d, problem.Doing("upload certificate", err)
}

// RemoveUpload ends the use of an uploaded certificate. If the service orders certificates, edges keep the uploaded one until
// there is another one; otherwise they have none from now on. Without an uploaded certificate nothing changes.
func (s *Service) RemoveUpload(ctx context.Context, p auth.Principal, id string) error {
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		d, err := visible(p)(tx.LockDomain(ctx, id))
		if err != nil {
			return err
		}
		var c store.Certificate
		if had, err := lockCertificate(ctx, tx, d.Num, &c); err != nil || !had || c.Source != store.CertificateUploaded {
			return err
		}
		before := audited(&c)
		if s.automatic {
			c.Source, c.Status, c.NextAt, c.UpdatedAt, c.Announced = store.CertificateACME, store.CertificatePending, s.now(), s.now(), 0
			err = tx.UpdateCertificate(ctx, &c)
		} else {
			err = tx.DeleteCertificate(ctx, c.Num)
		}
		if err != nil {
			return err
		}
		if err := tx.TouchHost(ctx, d.Hostname); err != nil {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "CERTIFICATE_DELETED", EntityType: "domain", EntityID: d.ID,
			Workspace: d.Workspace, Old: before})
	})
	return problem.Doing("delete certificate", err)
}

// lockCertificate reads and locks the certificate of a domain into c, and reports whether there is one.
func lockCertificate(ctx context.Context, tx *store.Tx, domain uint64, c *store.Certificate) (bool, error) {
	have, err := tx.CertificateOf(ctx, domain)
	if err == nil {
		have, err = tx.LockCertificate(ctx, have.Num)
	}
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("read the certificate: %w", err)
	}
	*c = have
	return true, nil
}

// audited returns the audited fields of a certificate, nil if there is none.
func audited(c *store.Certificate) map[string]any {
	if c.NotAfter == 0 {
		return nil
	}
	return map[string]any{"hostname": c.Hostname, "source": c.Source, "issuer": c.Issuer,
		"notAfter": time.UnixMilli(c.NotAfter).UTC().Format(time.RFC3339)}
}

// issuer names the authority that issued a certificate.
func issuer(leaf *x509.Certificate) string {
	if len(leaf.Issuer.Organization) > 0 {
		return leaf.Issuer.Organization[0]
	}
	return leaf.Issuer.CommonName
}
