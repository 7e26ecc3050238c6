// Package abuse implements what administrators do against abuse, and the list of missing slugs: the queue of reported
// links, suspending links, and the checks of all destinations.
//
// A case in the queue belongs to one link and one source: visitors who reported it, the list of blocked hosts, or the check
// service. A link has at most one open case per source, which counts further reports. A suspended link answers visitors
// with 410. Its owners see why, and only administrators lift the suspension. A suspension by a check is lifted by the check
// itself once the destination is no longer blocked, unless an administrator has confirmed it.
package abuse

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/control/internal/manage/screening"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/job"
	"github.com/shortline/shortline/shared/metric"
)

// Config has a working zero value.
type Config struct {
	// Screening checks all destinations; nil checks none.
	Screening *screening.Service
	// Logger is nil for slog.Default().
	Logger *slog.Logger
	// Now returns the time; nil means time.Now.
	Now func() time.Time
}

// Service implements the use cases. It is safe for concurrent use.
type Service struct {
	metric.Set // makes it a prometheus.Collector
	job.Group

	cfg     Config
	store   *store.Store
	holder  string // of leases
	notices notices

	checked atomic.Int64 // Unix milliseconds of the last finished check
}

// New returns a Service.
func New(cfg Config, st *store.Store) *Service {
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Service{cfg: cfg, store: st, holder: store.NewID()}
	s.Set = metric.Set{
		metric.Time("shortline_destinations_last_success_timestamp_seconds",
			"Time when this process last finished a check of all destinations, 0 for never.", s.checked.Load),
	}
	s.Group = job.Group{
		{Name: "destinations", Every: 10 * time.Second, Do: s.CheckAll, Logger: cfg.Logger},
		{Name: "old_cases", Every: forgetEvery, Do: s.deleteOldCases, Logger: cfg.Logger},
	}
	return s
}

// MostMissing is the number of missing slugs that can be listed.
const MostMissing = 1000

const (
	missingDays    = 30  // the default period
	maxMissingDays = 366 // more than are kept
)

// MissingQuery selects a page of missing slugs. From and To are days as Unix milliseconds, both included; 0 means the last
// 30 days.
type MissingQuery struct {
	From, To      int64
	Offset, Limit int
}

// Missing lists the slugs that visitors asked for on the workspace's domains and that do not exist, most frequent first, at most
// MostMissing. The slugs of the shared domain belong to nobody, and what others look for is nobody's business: only an ADMIN who
// chose no workspace sees them, and those of all domains.
func (s *Service) Missing(ctx context.Context, p auth.Principal, q MissingQuery) ([]store.Missing, int, error) {
	const day = 24 * 60 * 60 * 1000
	last := s.cfg.Now().UnixMilli() / day
	if q.To != 0 {
		last = q.To / day
	}
	first := last - missingDays + 1
	if q.From != 0 {
		first = q.From / day
	}
	switch {
	case first > last:
		return nil, 0, problem.OfField("from", "must not be after to")
	case last-first >= maxMissingDays:
		return nil, 0, problem.OfField("from", "must be at most %d days before to", maxMissingDays)
	}
	list, total, err := s.store.MissingSlugs(ctx, p.Scope(), first, last, MostMissing, q.Offset, q.Limit)
	if err != nil {
		return nil, 0, fmt.Errorf("list missing slugs: %w", err)
	}
	return list, total, nil
}
