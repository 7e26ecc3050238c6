package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/job"
)

// Anybody can cause failures, such as a wrong password. With one row each they could fill the log, whose rows are
// never deleted. So only the first CountedExactly failures of one action and bucket in a window get a row. Later ones
// are counted, and the count gets one row when the window ends. Separate buckets keep a flood of one kind from hiding
// failures of another kind; their number must be bounded.
const (
	CountedExactly = 10
	CountedWindow  = time.Hour
)

// AppendCounted writes an entry about a failure, or counts it. Like Append it belongs at the end of tx. now is the
// caller's clock.
func AppendCounted(ctx context.Context, tx *store.Tx, now time.Time, bucket string, e Entry) error {
	if err := appendCounts(ctx, tx, now); err != nil {
		return err
	}
	latest, err := json.Marshal(e.Metadata)
	if err != nil {
		return fmt.Errorf("audit: encode metadata: %w", err)
	}
	n, err := tx.HitAuditCount(ctx, store.AuditCount{
		Action: e.Action, Bucket: bucket, EntityType: e.EntityType, LastAt: now.UnixMilli(), Address: OriginOf(ctx).IP,
		Latest: string(latest),
		EndsAt: now.Add(CountedWindow).UnixMilli(),
	}, CountedExactly)
	if err != nil {
		return fmt.Errorf("audit: count: %w", err)
	}
	if n > CountedExactly {
		return nil
	}
	return Append(ctx, tx, e)
}

// appendCounts writes the counts of ended windows.
func appendCounts(ctx context.Context, tx *store.Tx, now time.Time) error {
	ended, err := tx.TakeAuditCounts(ctx, now.UnixMilli())
	if err != nil {
		return fmt.Errorf("audit: read counts: %w", err)
	}
	var entries []Entry
	for _, c := range ended {
		if c.Count <= CountedExactly {
			continue
		}
		entries = append(entries, Entry{Action: c.Action, EntityType: c.EntityType, Metadata: map[string]any{
			"success": false, "failures": c.Count - CountedExactly, "from": time.UnixMilli(c.FirstAt).UTC(),
			"until":  time.UnixMilli(c.LastAt).UTC(),
			"latest": json.RawMessage(c.Latest), "latestAddress": c.Address,
		}})
	}
	return Append(WithOrigin(ctx, Origin{}), tx, entries...)
}

// CountWriter writes the counts of ended windows. Without it a count is written only with the next failure.
func CountWriter(st *store.Store, log *slog.Logger) job.Group {
	return job.Group{{Name: "audit_counts", Every: time.Minute, Logger: log, Do: func(ctx context.Context) error {
		return st.Tx(ctx, func(tx *store.Tx) error { return appendCounts(ctx, tx, time.Now()) })
	}}}
}
