package convert

import (
	"context"
	"fmt"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/backoff"
)

// Most clicks arrive before their conversions. A click may be late because its edge was cut off, and most late clicks arrive
// within seconds. So the search for them backs off: conversions of the last minutes are tried often, older ones rarely.
// The state is the time of each search, so memory does not grow with what is pending.
const (
	patience   = 7 * 24 * time.Hour
	sweepEvery = 5 * time.Second
	// sweepPage is the number of conversions that one query returns. It is above the number of conversions of one
	// millisecond, which the next page cannot tell apart.
	sweepPage = 10_000
)

// sweeps are the searches: how often, and how far back. The last one covers the whole patience.
var sweeps = []struct{ every, back time.Duration }{
	{sweepEvery, 2 * time.Minute},
	{time.Minute, time.Hour},
	{20 * time.Minute, 24 * time.Hour},
	{2 * time.Hour, patience},
}

// retrySweep says when a search that failed is repeated.
var retrySweep = backoff.Policy{First: sweepEvery, Most: 5 * time.Minute}

// attribution is the state of the searches.
type attribution struct {
	due     [4]time.Time
	through int64 // conversions that were received before are expired and counted
}

// sweep does the widest search that is due. It includes the narrower ones.
func (in *Ingester) sweep(ctx context.Context) error {
	now := in.cfg.Now()
	for i := len(sweeps) - 1; i >= 0; i-- {
		if now.Before(in.sweeps.due[i]) {
			continue
		}
		full := i == len(sweeps)-1
		since := now.Add(-sweeps[i].back).UnixMilli()
		if full && in.sweeps.through != 0 {
			since = min(since, in.sweeps.through) // those that expired since the last search are tried once more
		}
		pending, expired, err := in.search(ctx, since, now.Add(-patience).UnixMilli())
		if err != nil {
			return err
		}
		for ; i >= 0; i-- {
			in.sweeps.due[i] = now.Add(sweeps[i].every)
		}
		if full {
			if err := in.store.Tx(ctx, func(tx *store.Tx) error {
				return tx.ForgetClaims(ctx, now.Add(-claimMemory).UnixMilli(), forgetClaims)
			}); err != nil {
				return fmt.Errorf("forget numbers of conversions: %w", err)
			}
			in.sweeps.through = now.Add(-patience).UnixMilli()
			in.stats.pending.Store(int64(pending))
			in.stats.expired.Add(uint64(expired))
		}
		return nil
	}
	return nil
}

// search attributes conversions that were received at since or later. It returns how many stay without a click, and how many
// of the others were received before old.
func (in *Ingester) search(ctx context.Context, since, old int64) (pending, expired int, err error) {
	for after := since - 1; ; {
		list, err := in.clicks.Unattributed(ctx, since, after, sweepPage)
		if err != nil {
			return 0, 0, fmt.Errorf("read conversions without a click: %w", err)
		}
		if len(list) == 0 {
			return pending, expired, nil
		}
		last := list[len(list)-1].ReceivedAt
		full := len(list) >= sweepPage
		if full && list[0].ReceivedAt < last {
			// The page may end in the middle of a millisecond, which the next page has as a whole.
			for list[len(list)-1].ReceivedAt == last {
				list = list[:len(list)-1]
			}
			last--
		}
		if err := in.attribute(ctx, list); err != nil {
			return 0, 0, err
		}
		var found []analytics.Conversion
		for i := range list {
			switch {
			case list[i].Attributed:
				found = append(found, list[i])
			case list[i].ReceivedAt < old:
				expired++
			default:
				pending++
			}
		}
		if len(found) > 0 {
			if err := in.clicks.InsertConversions(ctx, found); err != nil {
				return 0, 0, fmt.Errorf("attribute conversions: %w", err)
			}
			in.stats.attributed.Add(uint64(len(found)))
			in.notifyStored(found)
		}
		if !full {
			return pending, expired, nil
		}
		after = last
	}
}
