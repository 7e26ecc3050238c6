package certs

import (
	"context"
	"crypto/x509"
	"errors"
	"net/http"
	"time"

	"github.com/caddyserver/certmagic"
	"github.com/mholt/acmez/v3/acme"
	"go.uber.org/zap"

	"github.com/shortline/shortline/control/internal/store"
)

// Local makes s order certificates of a function, which gets the host name and returns a chain in PEM.
func (s *Service) Local(issue func(host string, csr *x509.CertificateRequest) ([]byte, error)) {
	s.issuer.ask = func(context.Context, *x509.Certificate) (acme.RenewalInfo, error) {
		return acme.RenewalInfo{}, errors.New("not offered")
	}
	s.issuer.place = func(_ context.Context, a *attempt, csr *x509.CertificateRequest) (acme.Certificate, error) {
		chain, err := issue(a.cert.Hostname, csr)
		return acme.Certificate{ChainPEM: chain}, err
	}
}

// Step does all work that is due, without waiting for anything later.
func (s *Service) Step(ctx context.Context) error {
	cache := certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert: func(certmagic.Certificate) (*certmagic.Config, error) { return s.config, nil }, Logger: zap.NewNop(),
	})
	defer cache.Stop()
	s.config = s.magic(cache)
	for {
		err := s.start(ctx)
		s.orders.Wait()
		if err != nil {
			return err
		}
		left := 0
		for _, doubtful := range []bool{false, true} {
			due, err := s.store.CertificatesDue(ctx, doubtful, doubt, s.now(), 1)
			if err != nil {
				return err
			}
			if s.now() >= s.pause(doubtful).Load() {
				left += len(due)
			}
		}
		if left == 0 {
			return nil
		}
	}
}

// List adds the certificates that are missing.
func (s *Service) List(ctx context.Context) error {
	s.seen = 0
	for {
		s.listed = time.Time{}
		if err := s.list(ctx); err != nil || !s.listed.IsZero() {
			return err
		}
	}
}

// RotateTickets adds a key of session tickets if one is due.
func (s *Service) RotateTickets(ctx context.Context) error { return s.rotateTickets(ctx) }

// Count reads the figures of the metrics.
func (s *Service) Count(ctx context.Context) error { return s.countStates(ctx) }

// Announce announces certificates that end.
func (s *Service) Announce(ctx context.Context) error { return s.announce(ctx) }

// Files returns the storage of certmagic, with its locks.
func (s *Service) Files() certmagic.Storage { return s.files }

// InWords explains the error of an order.
var InWords = explain

// RenewAt returns when to renew a certificate.
var RenewAt = renewAt

// AskedToWait returns how long an order is put off after an answer of a certificate authority.
func AskedToWait(ctx context.Context, authority http.RoundTripper, request *http.Request) (time.Duration, error) {
	a := &attempt{}
	response, err := retryAfterTransport{authority}.RoundTrip(request.WithContext(context.WithValue(ctx, attemptKey{}, a)))
	if err != nil {
		return 0, err
	}
	return a.retryAfter, response.Body.Close()
}

// Announcement returns which announcement is due.
func Announcement(c store.Certificate, now int64) int64 { return announcement(&c, now) }
