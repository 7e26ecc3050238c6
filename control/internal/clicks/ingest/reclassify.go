package ingest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/visitor"
)

// Reclassification selects the clicks of a reclassification.
type Reclassification struct {
	// Since and Until bound the clicks' own times, Since inclusive, Until exclusive; zero means no bound.
	Since, Until time.Time
	// DryRun only counts, and changes nothing.
	DryRun bool
	// Progress, if set, is called every 100,000 clicks and once at the end, from the goroutine that called Reclassify.
	Progress func(Reclassified)
}

// Reclassified reports the result of a reclassification.
type Reclassified struct {
	Seen    int // clicks looked at
	Stale   int // clicks of these that were enriched with another geo database or bot list than the current one
	Changed int // stale clicks whose reported values changed; the others only get the new version names
	Stored  int // clicks that were replaced in the store
}

// progressEvery is the number of clicks between two calls of Progress.
const progressEvery = 100_000

// Reclassify enriches clicks again that were enriched with another geo database or bot list, and then corrects every
// counter. It may be interrupted and run again: finished work is not repeated. Without a geo database (a nil or empty
// geo), places stay as they are. Clicks that count as bots because of a prefetch header stay bots, because that header
// is not stored.
func (in *Ingester) Reclassify(ctx context.Context, r Reclassification) (done Reclassified, err error) {
	scope := analytics.Scope{Bots: analytics.Everyone}
	if !r.Since.IsZero() {
		scope.From = r.Since.UnixMilli()
	}
	if !r.Until.IsZero() {
		scope.To = r.Until.UnixMilli()
	}
	version := in.enrich.geo.Version()
	look := func(row *analytics.Row, again bool) bool {
		var uncounted Reclassified
		count := &done
		if again {
			count = &uncounted
		}
		count.Seen++
		if r.Progress != nil && !again && done.Seen%progressEvery == 0 {
			r.Progress(done)
		}
		geo := version
		geo = cmp.Or(geo, row.GeoVersion)
		if row.GeoVersion == geo && row.BotList == visitor.BotListVersion {
			return false
		}
		count.Stale++
		before := *row
		in.enrich.facts(row, before.BotName == PrefetchName, geo)
		if version == "" {
			row.Country, row.Region, row.City = before.Country, before.Region, before.City
		}
		after := *row
		after.GeoVersion, after.BotList = before.GeoVersion, before.BotList
		if after != before {
			count.Changed++
		}
		return true
	}
	if r.DryRun {
		err = in.clicks.Clicks(ctx, scope, math.MaxInt, func(row *analytics.Row) error {
			copied := *row
			look(&copied, false)
			return ctx.Err()
		})
	} else {
		done.Stored, err = in.clicks.Reclassify(ctx, scope, look)
	}
	if err != nil {
		return done, fmt.Errorf("reclassify clicks: %w", err)
	}
	if done.Stored > 0 {
		if err := in.compareAll(ctx); err != nil {
			return done, fmt.Errorf("set counters after reclassification: %w", err)
		}
	}
	if r.Progress != nil {
		r.Progress(done)
	}
	return done, nil
}
