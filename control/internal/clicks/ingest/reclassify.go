package ingest

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/visitor"
)

// Reclassification is what Reclassify is asked to do.
type Reclassification struct {
	// Since and Until bound the clicks' own times, Since included, Until not; zero leaves that end open.
	Since, Until time.Time
	// DryRun changes nothing: it only counts.
	DryRun bool
	// Progress, if set, is called now and then, and once at the end, from the goroutine that called Reclassify.
	Progress func(Reclassified)
}

// Reclassified is what a reclassification has done.
type Reclassified struct {
	Seen    int // clicks looked at
	Stale   int // of these, enriched with another geo database or bot list than the present ones
	Changed int // of these, different now in what reports show; the others only get the new versions' names
	Stored  int // clicks stored anew
}

// progressEvery is how many clicks lie between two reports of progress.
const progressEvery = 100_000

// Reclassify enriches again the clicks that were enriched with another geo database or bot list, and then sets every
// counter true. It may be interrupted and run again: what was done is not done twice. Without a geo database (a nil
// geo, or one that is empty) places stay as they are. Bots that were known by the browser's announcement that it only
// fetches ahead stay bots, as that announcement is not stored.
func (in *Ingester) Reclassify(ctx context.Context, r Reclassification) (done Reclassified, err error) {
	scope := analytics.Scope{Bots: analytics.Everyone}
	if !r.Since.IsZero() {
		scope.From = r.Since.UnixMilli()
	}
	if !r.Until.IsZero() {
		scope.To = r.Until.UnixMilli()
	}
	version := in.enrich.geo.Version()
	look := func(row *analytics.Row) bool {
		done.Seen++
		if r.Progress != nil && done.Seen%progressEvery == 0 {
			r.Progress(done)
		}
		geo := version
		if geo == "" {
			geo = row.GeoVersion
		}
		if row.GeoVersion == geo && row.BotList == visitor.BotListVersion {
			return false
		}
		done.Stale++
		before := *row
		in.enrich.facts(row, before.BotName == PrefetchName, geo)
		if version == "" {
			row.Country, row.Region, row.City = before.Country, before.Region, before.City
		}
		after := *row
		after.GeoVersion, after.BotList = before.GeoVersion, before.BotList
		if after != before {
			done.Changed++
		}
		return true
	}
	if r.DryRun {
		err = in.clicks.Clicks(ctx, scope, math.MaxInt, func(row *analytics.Row) error {
			again := *row
			look(&again)
			return ctx.Err()
		})
	} else {
		done.Stored, err = in.clicks.Reclassify(ctx, scope, look)
	}
	if err != nil {
		return done, fmt.Errorf("reclassify clicks: %w", err)
	}
	if done.Stored > 0 {
		if err := in.heal(ctx); err != nil {
			return done, fmt.Errorf("set counters after reclassification: %w", err)
		}
	}
	if r.Progress != nil {
		r.Progress(done)
	}
	return done, nil
}
