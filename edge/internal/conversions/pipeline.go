// Package conversions accepts conversions at an edge: it checks what browsers send, remembers what it has accepted a short
// time ago, and keeps accepted conversions in a spool until a sink has them.
//
// The package knows no HTTP. Package redirect answers requests, and package hosts knows keys and web sites.
package conversions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/shortline/shortline/edge/internal/ship"
	"github.com/shortline/shortline/edge/internal/spool"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/service"
)

// ErrFull means that the spool has no space. Retry later; items accepted by a previous attempt are not counted twice.
var ErrFull = errors.New("conversions: the spool is full")

// Defaults of Config. Conversions are far fewer than clicks, so the files are small.
const (
	DefaultCapBytes = 256 << 20
	segmentBytes    = 1 << 20
	lanes           = 2
)

// Config has the settings of a Pipeline. Dir is required; a zero value of another field means its default.
type Config struct {
	Dir          string         // of the spool; only one process may use it
	Sync         spool.SyncMode // what a power failure can lose
	CapBytes     int64          // size of the spool above which conversions are refused, default 256 MiB
	SegmentBytes int64          // size of the spool's files, default 1 MiB
	Linger       time.Duration  // how long a conversion waits for others before a batch is shipped
	Watched      func() bool    // whether somebody looks at conversions, see ship.Config
	Origin       click.Origin   // of this edge
	Logger       *slog.Logger   // nil for slog.Default()
}

func (c Config) spool() spool.Config {
	return spool.Config{
		Dir: c.Dir, Lanes: lanes, Sync: c.Sync, CapBytes: cmp.Or(c.CapBytes, DefaultCapBytes),
		SegmentBytes: cmp.Or(c.SegmentBytes, segmentBytes),
		RetainFor:    -1, // nobody asks for conversions again: the sink has them
		Logger:       c.Logger,
	}
}

// Validate reports all invalid settings.
func (c Config) Validate() error { return c.spool().Validate() }

// Pipeline keeps conversions in a spool and ships them to a sink. Append and Stats are safe for concurrent use.
type Pipeline struct {
	log    *slog.Logger
	spool  *spool.Spool
	ship   *ship.Shipper
	recent *recent
}

// Open opens the spool. The caller must call Run, and Close after Run has returned.
func Open(cfg Config, sink click.Sink) (*Pipeline, error) {
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	s, err := spool.Open(cfg.spool())
	if err != nil {
		return nil, fmt.Errorf("open the spool of conversions: %w", err)
	}
	shipper, err := ship.New(ship.Config{Linger: cfg.Linger, Watched: cfg.Watched, Origin: cfg.Origin, Logger: cfg.Logger}, s, sink)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &Pipeline{log: cfg.Logger, spool: s, ship: shipper, recent: newRecent()}, nil
}

// Append stores conversions. When it returns nil, they survive a sudden end of the process, and a crash of the machine as
// the SyncMode of clicks says. The error is ErrFull. After an error, a part of the list may be stored: the caller sends the
// whole list again, and the click store counts each conversion once.
func (r *Pipeline) Append(list []conversion.Conversion) error {
	for i := range list {
		e := list[i].Event()
		// One click's conversions stay in order, because the click spreads them over lanes.
		if !r.spool.Append(uint32(list[i].Click.Tag), &e) {
			return ErrFull
		}
	}
	return nil
}

// Run maintains the spool and ships until ctx ends. It then ships the rest for a few seconds. It returns nil.
func (r *Pipeline) Run(ctx context.Context) error {
	var g service.Group
	g.Logger, g.StopTimeout = r.log, drainFor+time.Second
	g.Add("conversion spool", r.spool)
	g.Add("conversion shipper", service.Func(r.deliver))
	return g.Run(ctx)
}

// drainFor is how long a stop ships what is left.
const drainFor = 3 * time.Second

func (r *Pipeline) deliver(ctx context.Context) error {
	if err := r.ship.Run(ctx); err != nil {
		return err
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainFor)
	defer cancel()
	if err := r.ship.Drain(last); err != nil {
		r.log.Info("conversions left in the spool", "pending", r.spool.Stats().Pending)
	}
	return nil
}

// Delivered waits until the sink has everything that was appended before the call. It returns ctx's error if ctx ends first.
func (r *Pipeline) Delivered(ctx context.Context) error { return r.spool.Delivered(ctx) }

// Close closes the spool. What was not shipped stays for the next start.
func (r *Pipeline) Close() error { return r.spool.Close() }

// Stats are the counters of the spool and of the shipper.
type Stats struct {
	Spool spool.Stats
	Ship  ship.Stats
}

// Stats returns the counters.
func (r *Pipeline) Stats() Stats { return Stats{r.spool.Stats(), r.ship.Stats()} }
