// Package publish tells edges what links there are: it builds full documents and deltas from the store and its
// log of link changes. A Publisher answers edges in the same process and across the network alike; what they
// report is not its matter.
//
// It promises that a document and a delta show one moment of the store each, that a delta leads from exactly the
// state at its From to exactly the state at its To, and that a full document is built once for many edges. Who
// may ask is left to others: documents hold password hashes.
package publish

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/snapshot"
)

// Config is how a Publisher works; the zero value is usable.
type Config struct {
	// BaseURL is where preview images are served, such as "https://sho.rt".
	BaseURL string
	// Dir is where full documents are kept while they are in use; "" means the system's folder for such files.
	Dir string
	// Hold is how long Changes waits for news; 0 means 25 s.
	Hold time.Duration
	// MaxBehind is how many entries of the log of changes the kept document may lack before another one is
	// built; 0 means 2,000.
	MaxBehind int
	// MaxDelta is how many entries of the log a delta may cover before a full document is the better answer;
	// 0 means 50,000.
	MaxDelta int
	// Keep is how many revisions the log of changes remembers; 0 means 100,000.
	Keep uint64
	// Key signs documents and deltas, each once for all edges; the zero value signs nothing.
	Key snapshot.SigningKey
	// Logger receives what Run has to say; nil means slog.Default().
	Logger *slog.Logger
}

// Publisher is a snapshot.Source but for Report. It is safe for concurrent use.
type Publisher struct {
	cfg   Config
	store *store.Store

	building chan struct{} // a token: who holds it looks after kept
	kept     *document     // the newest full document, nil before the first

	delta  deltas
	counts counts
}

// New makes a Publisher of an open store.
func New(s *store.Store, cfg Config) *Publisher {
	cfg.BaseURL = strings.TrimRight(cfg.BaseURL, "/")
	if cfg.Hold == 0 {
		cfg.Hold = 25 * time.Second
	}
	if cfg.MaxBehind == 0 {
		cfg.MaxBehind = 2000
	}
	if cfg.MaxDelta == 0 {
		cfg.MaxDelta = 50_000
	}
	if cfg.Keep == 0 {
		cfg.Keep = 100_000
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	return &Publisher{cfg: cfg, store: s, building: make(chan struct{}, 1)}
}

// Run keeps the log of changes from growing for ever, and lets go of the kept document at the end.
func (p *Publisher) Run(ctx context.Context) error {
	every := time.NewTicker(10 * time.Minute)
	defer every.Stop()
	for {
		if err := p.Trim(ctx); err != nil && ctx.Err() == nil {
			p.cfg.Logger.Error("trimming the log of link changes failed", "error", err.Error())
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			p.building <- struct{}{}
			p.kept.release()
			p.kept = nil
			<-p.building
			return nil
		}
	}
}

// Trim forgets the changes that are more than Keep revisions old. Edges that are farther behind take a full
// document.
func (p *Publisher) Trim(ctx context.Context) error {
	head, err := p.store.Revision(ctx)
	if err != nil || head <= p.cfg.Keep {
		return err
	}
	_, err = p.store.TrimChanges(ctx, head-p.cfg.Keep)
	return err
}

// Changes is snapshot.Source's: one delta from the cursor to the newest revision, as soon as there is one; nil
// when there was none for Config.Hold.
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

// comparable refuses a cursor of another log, and one from the future of this log, which a database has that was
// restored from a backup.
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
