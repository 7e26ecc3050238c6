// Package publish builds full documents and deltas of the links from the store and its log of link changes. A Publisher is
// the snapshot.Source of edges in the same process and across the network.
//
// Each document and each delta is a consistent view of the store. A delta leads exactly from the state at its From to the
// state at its To. One full document serves many edges. Callers authorize edges, because documents contain password
// hashes.
package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/job"
	"github.com/shortline/shortline/shared/metric"
	"github.com/shortline/shortline/shared/snapshot"
)

// Config has a working zero value.
type Config struct {
	// BaseURL is the address of preview images, such as "https://sho.rt".
	BaseURL string
	// Dir is the folder of full documents while they are in use; "" means the system's temporary folder.
	Dir string
	// Hold is how long Changes waits for a change; 0 means 25 s.
	Hold time.Duration
	// MaxBehind is how many entries of the log of changes the kept document may lack before it is rebuilt; 0 means 2,000.
	MaxBehind int
	// MaxDelta is how many entries of the log a delta may cover; beyond it edges need a full document. 0 means 50,000.
	MaxDelta int
	// Keep is how many revisions the log of changes keeps; 0 means 100,000.
	Keep uint64
	// Key signs documents and deltas; the zero value signs nothing.
	Key snapshot.SigningKey
	// Logger is nil for slog.Default().
	Logger *slog.Logger
}

// Publisher implements snapshot.Source. It is safe for concurrent use.
type Publisher struct {
	metric.Set // makes it a prometheus.Collector
	job.Group

	cfg   Config
	store *store.Store

	building chan struct{} // capacity 1: the holder may use kept
	kept     *document     // the newest full document, nil before the first

	delta  deltas
	counts counts
}

// New returns a Publisher of an open store.
func New(s *store.Store, cfg Config) *Publisher {
	cfg.BaseURL = strings.TrimRight(cfg.BaseURL, "/")
	cfg.Hold = cmp.Or(cfg.Hold, 25*time.Second)
	cfg.MaxBehind = cmp.Or(cfg.MaxBehind, 2000)
	cfg.MaxDelta = cmp.Or(cfg.MaxDelta, 50_000)
	cfg.Keep = cmp.Or(cfg.Keep, 100_000)
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	p := &Publisher{cfg: cfg, store: s, building: make(chan struct{}, 1)}
	p.Set = p.counts.metrics()
	p.Group = job.Group{{Name: "link_changes", Every: 10 * time.Minute, Do: p.Trim, Logger: cfg.Logger}}
	return p
}

// Run trims the log of changes regularly until ctx ends, then releases the kept document.
func (p *Publisher) Run(ctx context.Context) error {
	err := p.Group.Run(ctx)
	p.building <- struct{}{}
	p.kept.release()
	p.kept = nil
	<-p.building
	return err
}

// Trim deletes changes that are more than Keep revisions old. Edges that are farther behind need a full document.
func (p *Publisher) Trim(ctx context.Context) error {
	head, err := p.store.Revision(ctx)
	if err != nil || head <= p.cfg.Keep {
		return err
	}
	_, err = p.store.TrimChanges(ctx, head-p.cfg.Keep)
	return err
}

// Changes implements snapshot.Source. It returns one delta from the cursor to the newest revision, or nil after Config.Hold
// without a change.
func (p *Publisher) Changes(ctx context.Context, after snapshot.Cursor) ([]byte, error) {
	wait, cancel := context.WithTimeout(ctx, p.cfg.Hold)
	defer cancel()
	if err := p.comparable(ctx, after); err != nil {
		return nil, err
	}
	p.counts.held.Add(1)
	_, err := p.store.WaitRevision(wait, after.Revision)
	p.counts.held.Add(-1)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, nil
	}
	b, err := p.deltaAfter(ctx, after.Revision)
	if err != nil && !errors.Is(err, snapshot.ErrTooOld) {
		return nil, fmt.Errorf("build changes after revision %d: %w", after.Revision, err)
	}
	return b, err
}

// comparable rejects a cursor of another incarnation, and a cursor beyond the newest revision. The latter happens after the
// database was restored from a backup.
func (p *Publisher) comparable(ctx context.Context, after snapshot.Cursor) error {
	incarnation, head, err := p.store.Head(ctx)
	if err != nil {
		return fmt.Errorf("read the newest revision: %w", err)
	}
	if after.Incarnation != incarnation || after.Revision > head {
		return snapshot.ErrTooOld
	}
	return nil
}
