// Package certs is the role of a control plane that orders and renews certificates for the host names that edges serve,
// rotates the keys of TLS session tickets, and announces certificates that are about to end.
//
// Several control planes can have the role. A table of the database lists each certificate with the time at which somebody
// has to look at it. A control plane claims a row for some seconds, and holds the claim while it works. If it is killed, the
// claim ends, and another one continues. The protocol is that of certmagic and acmez; their files and locks are in the
// database, too. ADR 0019 tells why the schedule is not certmagic's.
//
// Edges answer the questions of the certificate authority: challenges travel to them like other changes of hosts.
package certs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/certmagic"
	"github.com/mholt/acmez/v3/acme"
	"go.uber.org/zap"

	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/job"
	"github.com/shortline/shortline/shared/metric"
	"github.com/shortline/shortline/shared/seal"
	"github.com/shortline/shortline/shared/snapshot"
)

// Config configures a Service. Settings.Key is required.
type Config struct {
	Settings
	// Names are the host names of the service itself that need certificates.
	Names []string
	// Refused are the host names of the service itself that no authority issues certificates for, with the reasons.
	Refused map[string]error
	// Mail announces certificates that are about to end; nil sends nothing.
	Mail *mail.Service
	// Console is the address of the console, for links in e-mails.
	Console string
	// Spread is how long an order waits until edges have its challenge; 0 means 2 s. The only edge of a standalone
	// needs less.
	Spread time.Duration
	// Challenges are the types of challenges that edges answer; nil means http-01 and tls-alpn-01.
	Challenges []string
	// Now is nil for time.Now.
	Now func() time.Time
	// Logger is nil for slog.Default().
	Logger *slog.Logger
}

// Service orders certificates. It is safe for concurrent use.
type Service struct {
	metric.Set // makes it a prometheus.Collector
	job.Group

	cfg    Config
	store  *store.Store
	files  *storage
	edges  *seal.Box // private keys and ticket keys
	issuer *issuer
	slots  chan struct{} // held by orders in progress
	slow   chan struct{} // likewise, by those that are likely to fail
	paused [2]atomic.Int64
	counts counts

	config *certmagic.Config // made by Run
	orders sync.WaitGroup
	seen   uint64    // revision of the hosts that were listed last
	listed time.Time // when that was
}

// atOnce is the number of orders that one control plane places at the same time.
const atOnce = 8

// Box returns what seals private keys of certificates for edges. CERTIFICATE_KEY must not be empty.
func Box(key config.Secret) (*seal.Box, error) { return seal.New(snapshot.SealPurpose, key.Keys()...) }

// New returns a Service. It does not connect to the certificate authority.
func New(cfg Config, st *store.Store) (*Service, error) {
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	cfg.Spread = cmp.Or(cfg.Spread, 2*time.Second)
	cfg.Orders = cmp.Or(cfg.Orders, 250)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Challenges == nil {
		cfg.Challenges = []string{acme.ChallengeTypeHTTP01, acme.ChallengeTypeTLSALPN01}
	}
	s := &Service{cfg: cfg, store: st, slots: make(chan struct{}, atOnce), slow: make(chan struct{}, atOnce/4)}
	edges, files, err := cfg.boxes()
	if err != nil {
		return nil, err
	}
	s.edges, s.files = edges, newStorage(st, files)
	if s.issuer, err = newIssuer(s); err != nil {
		return nil, err
	}
	s.Set = s.metrics()
	s.Group = job.Group{
		{Name: "ticket_keys", Every: maintenanceEvery, Do: s.rotateTickets, Logger: cfg.Logger},
		{Name: "certificates_ending", Every: maintenanceEvery, Do: s.announce, Logger: cfg.Logger},
		{Name: "certificate_states", Every: maintenanceEvery, Do: s.countStates, Logger: cfg.Logger},
		{Name: "certificate_files", Every: time.Hour, Do: s.removeStale, Logger: cfg.Logger},
	}
	if cfg.Enabled() {
		s.Group = append(s.Group, &job.Job{Name: "certificates", Every: tick, Do: s.orderDue, Logger: cfg.Logger})
	}
	return s, nil
}

func (s *Service) now() int64 { return s.cfg.Now().UnixMilli() }

const (
	tick             = time.Second
	maintenanceEvery = time.Minute
	atATime          = 200 // new domains per look
)

// Run works until ctx ends. It is called once. Any number of processes may run it.
func (s *Service) Run(ctx context.Context) error {
	// The cache is required by certmagic, and stays empty: edges have the certificates.
	cache := certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert: func(certmagic.Certificate) (*certmagic.Config, error) { return s.config, nil }, Logger: zap.NewNop(),
	})
	defer cache.Stop()
	s.config = s.magic(cache)
	defer s.files.stopLocks()
	defer s.orders.Wait()
	if s.cfg.Enabled() {
		s.logRefused()
	}
	return s.Group.Run(ctx)
}

// orderDue lists missing certificates, and starts the work on those that are due.
func (s *Service) orderDue(ctx context.Context) error {
	if err := s.list(ctx); err != nil {
		return err
	}
	return s.start(ctx)
}

// magic returns the configuration of certmagic.
func (s *Service) magic(cache *certmagic.Cache) *certmagic.Config {
	return certmagic.New(cache, certmagic.Config{
		Storage: s.files, Issuers: []certmagic.Issuer{s.issuer}, KeySource: certmagic.StandardKeyGenerator{KeyType: certmagic.P256},
		DisableStorageCheck: true, DisableARI: true, Logger: zap.NewNop(),
	})
}

// list adds the certificates that are missing: when hosts have changed, and once a minute.
func (s *Service) list(ctx context.Context) error {
	revision, err := s.store.HostsRevision(ctx)
	if err != nil {
		return fmt.Errorf("look for changed hosts: %w", err)
	}
	if revision == s.seen && time.Since(s.listed) < maintenanceEvery {
		return nil
	}
	began := time.Now()
	now := s.now()
	for _, name := range s.cfg.Names {
		if err := s.addCertificate(ctx, 0, name, now); err != nil {
			return err
		}
	}
	domains, err := s.store.MissingCertificates(ctx, atATime)
	if err != nil {
		return fmt.Errorf("list domains without a certificate: %w", err)
	}
	for i := range domains {
		if err := s.addCertificate(ctx, domains[i].Num, domains[i].Hostname, now); err != nil {
			return err
		}
	}
	if len(domains) < atATime {
		s.seen, s.listed = revision, began
	}
	return nil
}

// addCertificate lists a certificate that has to be ordered, unless it is listed.
func (s *Service) addCertificate(ctx context.Context, domain uint64, name string, now int64) error {
	if domain == 0 {
		if _, err := s.store.OwnCertificate(ctx, name); err == nil {
			return nil
		}
	}
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		if domain != 0 {
			if err := tx.HoldDomain(ctx, domain); err != nil {
				return err
			}
		}
		_, err := tx.InsertCertificate(ctx, &store.Certificate{
			Domain: domain, Hostname: name, Source: store.CertificateACME, Status: store.CertificatePending, NextAt: now, CreatedAt: now,
			UpdatedAt: now,
		})
		return err
	})
	if err != nil && !errors.Is(err, store.ErrNotFound) { // HoldDomain: the domain was deleted meanwhile
		return fmt.Errorf("list the certificate of %s: %w", name, err)
	}
	return nil
}
