package ingest

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/metric"
)

// ObserverSink is a click.Sink that stores nothing. It enriches clicks and passes them to an Observer. It belongs to a
// consumer group of its own, so that a slow Observer does not delay reports.
type ObserverSink struct {
	metric.Set // makes it a prometheus.Collector

	observer Observer
	enrich   *Enricher

	passed, failed atomic.Uint64
}

var _ click.Sink = (*ObserverSink)(nil)

// NewObserverSink returns an ObserverSink. The observer receives every click at least once: repeated deliveries are
// passed on again.
func NewObserverSink(o Observer, enrich *Enricher) *ObserverSink {
	s := &ObserverSink{observer: o, enrich: enrich}
	s.Set = metric.Set{
		metric.Total("shortline_hooks_clicks_total", "Clicks passed to webhooks, repetitions included.", s.passed.Load),
		metric.Total("shortline_hooks_errors_total", "Batches that could not be recorded for webhooks. Each is repeated.", s.failed.Load),
	}
	return s
}

// Deliver implements click.Sink. When it returns nil, the Observer has recorded the clicks permanently. Bytes that are
// not clicks return an error that wraps click.ErrCorrupt or click.ErrSchema.
func (s *ObserverSink) Deliver(ctx context.Context, b *click.Batch) error {
	d, err := s.enrich.decode(b)
	if err != nil {
		return fmt.Errorf("hooks: %w", err)
	}
	if len(d.rows) == 0 {
		return nil
	}
	if err := s.observer.Note(ctx, d.rows); err != nil {
		s.failed.Add(1)
		return fmt.Errorf("hooks: %w", err)
	}
	s.passed.Add(uint64(len(d.rows)))
	return nil
}
