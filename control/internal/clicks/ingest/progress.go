package ingest

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/job"
	"github.com/shortline/shortline/shared/snapshot"
)

// The sources of a fleet.
const (
	Clicks      = "clicks"
	Conversions = "conversions"
)

const (
	storeProgressEvery = 15 * time.Second
	// silence is how long nobody may report a source, or an edge may not report, until it counts as stopped.
	silence = 2 * time.Minute
	// MaxBehind is the age of the oldest click or conversion that waits, above which figures count as out of date.
	MaxBehind = 5 * time.Minute
)

// Progress tells other processes, through the database, how far this process is with its sources.
type Progress struct {
	job.Group

	store   *store.Store
	process string
	sources []source
}

type source struct {
	name   string
	region string
	behind func() (age time.Duration, assigned bool)
}

// NewProgress returns a Progress without sources. A nil logger is slog.Default().
func NewProgress(st *store.Store, logger *slog.Logger) *Progress {
	p := &Progress{store: st, process: store.NewID()}
	p.Group = job.Group{{Name: "ingest_progress", Every: storeProgressEvery, Do: p.Store, Logger: logger}}
	return p
}

// Watch adds a source. The region is the name of its Kafka cluster; "" if there is only one. behind returns how long ago
// the time was up to which the source is stored, and whether this process has a part of the source at all. It may be
// called at any time. Call Watch before Run.
func (p *Progress) Watch(name, region string, behind func() (age time.Duration, assigned bool)) {
	p.sources = append(p.sources, source{name, region, behind})
}

// Store stores the progress once.
func (p *Progress) Store(ctx context.Context) error {
	err := p.store.Tx(ctx, func(tx *store.Tx) error {
		var all []store.Progress
		for _, s := range p.sources {
			all = append(all, store.Progress{Source: s.name, Region: s.region})
			if age, assigned := s.behind(); assigned {
				if err := tx.NoteProgress(ctx, p.process, s.name, s.region, age); err != nil {
					return err
				}
			}
		}
		return tx.ForgetProgress(ctx, all)
	})
	if err != nil {
		return fmt.Errorf("store the progress of ingest: %w", err)
	}
	return nil
}

// OutOfDate says why figures from the click store are out of date; "" means that they are not. The sources are those that a
// process must have reported. A region whose Kafka nobody can read makes them out of date, too, until the region is
// read again or is removed from KAFKA_REGIONS. Edges that have not reported for two minutes are ignored: nobody knows
// what they have.
func OutOfDate(ctx context.Context, st *store.Store, sources ...string) (string, error) {
	reported, err := st.IngestProgress(ctx)
	if err != nil {
		return "", fmt.Errorf("read the progress of ingest: %w", err)
	}
	known := map[string]bool{}
	for _, p := range latest(reported) {
		if p.Ago > silence && p.Region == "" {
			continue
		}
		known[p.Source] = true
		if p.Behind+p.Ago > MaxBehind {
			if p.Region != "" {
				return fmt.Sprintf("Some %s of the region %s have not been stored for more than five minutes.", p.Source, p.Region), nil
			}
			return fmt.Sprintf("Some %s have not been stored for more than five minutes.", p.Source), nil
		}
	}
	for _, name := range sources {
		if !known[name] {
			return fmt.Sprintf("No process stores %s at present.", name), nil
		}
	}
	edges, err := st.EdgeReports(ctx, time.Now().Add(-silence).UnixMilli())
	if err != nil {
		return "", fmt.Errorf("read the reports of edges: %w", err)
	}
	for _, e := range edges {
		var status snapshot.Status
		if err := json.Unmarshal([]byte(e.Status), &status); err != nil {
			return "", fmt.Errorf("read the report of edge %s: %w", e.Edge, err)
		}
		if status.Spool.OldestMs > MaxBehind.Milliseconds() {
			return "Clicks have waited at an edge for more than five minutes.", nil
		}
	}
	return "", nil
}
