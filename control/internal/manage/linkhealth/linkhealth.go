// Package linkhealth asks the destinations of links once a day whether they still work.
//
// Hosts are asked politely: with a User-Agent that names Shortline, one request at a time, at most one question every two seconds, and not
// before the time that a host names with Retry-After. A question is HEAD, and GET if the host does not answer HEAD well. All requests
// go through package outbound, which connects to public addresses only, and each redirect is checked again.
//
// All state is in the database: which addresses links lead to, when each is due, and which links do not know the health of theirs yet.
// So a process that is killed loses nothing: its questions are due again after some minutes, and each change of a link's health is told
// to webhooks in the transaction that stores it. One process at a time asks.
//
// A destination is broken after several failures in a row, over some hours, so that a restart of its server is no event. Answers that
// say nothing about visitors, such as 403 for robots, make it unknown.
package linkhealth

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/control/internal/platform/outbound"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/job"
	"github.com/shortline/shortline/shared/metric"
)

// Settings are the settings of the service.
type Settings struct {
	Enabled      bool `env:"DESTINATION_HEALTH" envDefault:"true" help:"ask the destinations of links once a day whether they still work; false also forgets what is known"`
	AllowPrivate bool `env:"DESTINATION_HEALTH_ALLOW_PRIVATE" envDefault:"false" help:"also ask destinations at private addresses"`
}

// Config configures New.
type Config struct {
	Settings
	// BaseURL is part of the User-Agent, so that hosts recognise the installation.
	BaseURL string
	// Client sends the requests; nil: one that connects to public addresses, or to all with AllowPrivate.
	Client *outbound.Client
	// Spacing is the time between two questions to a host; 0 means 2 s.
	Spacing time.Duration
	// Logger is nil for slog.Default().
	Logger *slog.Logger
	// Now returns the time; nil means time.Now.
	Now func() time.Time
}

const (
	every      = 10 * time.Second
	askTime    = 10 * time.Second // for a question, redirects included
	pageSize   = 500              // links
	dueBatch   = 500              // destinations
	perHost    = 15               // questions to a host in one batch
	askers     = 16
	firstAfter = 5 * time.Minute // of a new destination
	claimFor   = 15 * time.Minute
)

// Service asks. It is a service.Service and a prometheus.Collector.
type Service struct {
	metric.Set
	job.Group

	cfg    Config
	store  *store.Store
	client *outbound.Client
	agent  string
	holder string // of cursors
	lease  *job.Lease

	works, moved, failed, unclear atomic.Uint64
}

// New returns a Service. Close it when it has ended.
func New(cfg Config, st *store.Store) *Service {
	cfg.Logger, cfg.Spacing = cmp.Or(cfg.Logger, slog.Default()), cmp.Or(cfg.Spacing, 2*time.Second)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Service{cfg: cfg, store: st, client: cfg.Client, holder: store.NewID(), lease: st.Lease("destination_health"),
		agent: "Mozilla/5.0 (compatible; ShortlineBot/1.0; destination check; +" + cfg.BaseURL + ")"}
	if s.client == nil {
		s.client = outbound.New(outbound.Policy{AllowPrivate: cfg.AllowPrivate, Ports: []uint16{80, 443}, Timeout: askTime,
			MaxBody: maxBody})
	}
	checks := func(result string, n *atomic.Uint64) prometheus.Collector {
		return metric.Total("shortline_destination_health_checks_total", "Destinations that were asked whether they work, by the result.", n.Load,
			"result", result)
	}
	s.Set = metric.Set{
		checks("ok", &s.works), checks("redirected", &s.moved), checks("failed", &s.failed), checks("unclear", &s.unclear),
	}
	s.Group = job.Group{{Name: "destination_health", Every: every, Do: s.Work, Logger: cfg.Logger}}
	if !cfg.Enabled {
		s.Group = job.Group{{Name: "destination_health", Every: time.Hour, Do: s.forget, Logger: cfg.Logger}}
	}
	return s
}

// Close closes idle connections.
func (s *Service) Close() { s.client.Close() }

// Work does what is due, if no other process does: it notes which addresses links lead to, asks, and tells links and webhooks. It
// returns job.ErrMore if there is more.
func (s *Service) Work(ctx context.Context) error {
	// Reading first spares the database a write every few seconds.
	todo, err := s.look(ctx)
	if err != nil || !todo.any() {
		return err
	}
	more := false
	err = s.lease.Hold(ctx, func(ctx context.Context) error {
		if todo.links {
			if more, err = s.collect(ctx); err != nil {
				return err
			}
		}
		asked, err := s.askDue(ctx)
		if err != nil {
			return err
		}
		more = more || asked
		return s.spread(ctx)
	})
	switch {
	case errors.Is(err, job.ErrTaken):
		return nil
	case err == nil && more:
		return job.ErrMore
	}
	return err
}

type work struct {
	store.DestinationWork
	links bool // changed links have not been read
}

func (w *work) any() bool { return w.Due || w.Unspread || w.links }

func (s *Service) look(ctx context.Context) (w work, err error) {
	if w.DestinationWork, err = s.store.DestinationWork(ctx, s.nowMillis()); err != nil {
		return w, err
	}
	log, err := s.store.CursorNamed(ctx, logCursor)
	if err != nil {
		return w, err
	}
	revision, err := s.store.Revision(ctx)
	w.links = log.FinishedAt == 0 || log.After != revision
	return w, err
}

func (s *Service) nowMillis() int64 { return s.cfg.Now().UnixMilli() }

// forget deletes the health of all links, because it is not kept up to date.
func (s *Service) forget(ctx context.Context) error {
	for {
		n := 0
		err := s.store.Tx(ctx, func(tx *store.Tx) (err error) {
			n, err = tx.ForgetHealth(ctx, pageSize)
			return err
		})
		if err != nil || n < pageSize {
			return err
		}
	}
}
