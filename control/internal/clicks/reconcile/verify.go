package reconcile

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// Report describes the consistency of a whole click store.
type Report struct {
	Clicks  int64           // stored clicks, including bots
	Gaps    []analytics.Gap // at most MaxReported
	Missing uint64          // clicks in all gaps
	More    bool            // whether there are more gaps than Gaps has
	Drift   analytics.Drift // over all days with clicks
	Lost    uint64          // clicks that edges report as lost because their spool was full
}

// MaxReported is the maximum number of gaps in a Report.
const MaxReported = 10_000

// Clean reports whether every recorded click is stored and reports agree with the clicks.
func (r Report) Clean() bool { return len(r.Gaps) == 0 && len(r.Drift.Hours) == 0 && r.Lost == 0 }

// VerifyClicks checks all clicks of a store, day by day. It changes nothing.
func VerifyClicks(ctx context.Context, clicks analytics.Store) (r Report, err error) {
	days, err := clicks.Lines(ctx, analytics.Query{Scope: analytics.Scope{Bots: analytics.Everyone}, Every: analytics.Days})
	if err != nil {
		return r, fmt.Errorf("count clicks: %w", err)
	}
	for _, day := range days {
		r.Clicks += day.Clicks
		d, err := clicks.Drift(ctx, time.UnixMilli(day.Day.Start(nil)), time.UnixMilli((day.Day + 1).Start(nil)))
		if err != nil {
			return r, fmt.Errorf("compare the reports on %s with its clicks: %w", day.Day, err)
		}
		r.Drift.Intervals += d.Intervals
		r.Drift.Clicks += d.Clicks
		r.Drift.Short += d.Short
		r.Drift.Hours = append(r.Drift.Hours, d.Hours...)
	}
	if r.Gaps, err = clicks.Gaps(ctx, time.Time{}, MaxReported+1); err != nil {
		return r, fmt.Errorf("look for missing clicks: %w", err)
	}
	if len(r.Gaps) > MaxReported {
		r.Gaps, r.More = r.Gaps[:MaxReported], true
	}
	for _, g := range r.Gaps {
		r.Missing += g.Len()
	}
	if r.Lost, err = clicks.Losses(ctx); err != nil {
		return r, fmt.Errorf("count lost clicks: %w", err)
	}
	return r, nil
}

// WriteTo writes the report as text for an operator.
func (r Report) WriteTo(w io.Writer) (written int64, err error) {
	line := func(format string, args ...any) {
		if err == nil {
			var n int
			n, err = fmt.Fprintf(w, format+"\n", args...)
			written += int64(n)
		}
	}
	line("%d clicks are stored", r.Clicks)
	line("%d clicks are missing, in %d gaps", r.Missing, len(r.Gaps))
	for i, g := range r.Gaps {
		if i == 20 {
			line("  and others")
			break
		}
		line("  edge %016x, epoch %d, lane %d: %d to %d, between %s and %s", g.Edge, g.Epoch, g.Lane, g.From, g.To,
			time.UnixMilli(g.Before).UTC().Format(time.RFC3339), time.UnixMilli(g.After).UTC().Format(time.RFC3339))
	}
	if r.More {
		line("  there are more than %d gaps; the others are not counted", MaxReported)
	}
	line("%d clicks were lost by edges whose spool was full", r.Lost)
	line("in %d compared quarter hours, reports have %d clicks and the store has %d; %d hours differ", r.Drift.Intervals, r.Drift.Short,
		r.Drift.Clicks, len(r.Drift.Hours))
	for i, at := range r.Drift.Hours {
		if i == 20 {
			line("  and others")
			break
		}
		line("  %s", time.UnixMilli(at).UTC().Format(time.RFC3339))
	}
	return written, err
}
