package ingest

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/store"
)

const hourMillis = int64(time.Hour / time.Millisecond)

// debtsEvery is the interval at which this process removes or renews the hours that it has recorded.
const debtsEvery = time.Minute

// debts are the hours of clicks that this process may have stored but not counted. They are recorded in the database before the
// clicks are stored. While traffic continues, the current hour stays recorded, so a record costs one transaction an hour and
// one a minute to renew it.
//
// Only the holder of Ingester.turn uses hours. Only Run uses recovered.
type debts struct {
	writer    int64               // number of this process
	hours     map[int64]time.Time // when clicks of an hour were stored last
	failed    time.Time           // when recording failed last; used like hours
	recovered bool                // whether the hours of earlier processes were counted
}

func newDebts() debts { return debts{writer: rand.Int64(), hours: map[int64]time.Time{}} }

// owe records the hours of clicks that are about to be stored. The caller holds the turn. Clicks must not wait for the database,
// so a failure only delays the correction of counters if this process is killed: until all counters have been compared.
func (in *Ingester) owe(ctx context.Context, rows []analytics.Row, now time.Time) {
	var missing []int64
	for i := range rows {
		if rows[i].Bot {
			continue
		}
		hour := rows[i].Time - (rows[i].Time%hourMillis+hourMillis)%hourMillis // also for times before 1970
		if _, known := in.debts.hours[hour]; !known {
			missing = append(missing, hour)
		}
		in.debts.hours[hour] = now
	}
	if len(missing) == 0 {
		return
	}
	if now.Sub(in.debts.failed) >= healAgain {
		err := in.record(ctx, missing, now)
		if err == nil {
			return
		}
		in.debts.failed = now
		in.cfg.Logger.Warn("hours of clicks not recorded, retrying later", "error", err.Error(), "effect", "if this process is killed now, some counters are corrected late")
	}
	for _, hour := range missing {
		delete(in.debts.hours, hour)
	}
}

// record adds hours to the database.
func (in *Ingester) record(ctx context.Context, hours []int64, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, oweWithin)
	defer cancel()
	return in.store.Tx(ctx, func(tx *store.Tx) error { return tx.AddUncounted(ctx, in.debts.writer, now.UnixMilli(), hours) })
}

// oweWithin limits how long clicks wait for a database that does not answer.
const oweWithin = 200 * time.Millisecond

// pay removes the hours without new clicks for some time if all clicks of this process are counted, and renews the others. It
// does nothing while clicks are being stored.
func (in *Ingester) pay(ctx context.Context, now time.Time, quiet time.Duration) error {
	select {
	case in.turn <- struct{}{}:
		defer func() { <-in.turn }()
	default:
		return nil
	}
	in.mu.Lock()
	counted := len(in.dirty) == 0
	in.mu.Unlock()
	var paid []store.UncountedHour
	var still []int64
	for hour, last := range in.debts.hours {
		if counted && now.Sub(last) >= quiet {
			paid = append(paid, store.UncountedHour{Hour: hour, Writer: in.debts.writer, Seen: now.UnixMilli()})
		} else {
			still = append(still, hour)
		}
	}
	if len(paid)+len(still) == 0 {
		return nil
	}
	err := in.store.Tx(ctx, func(tx *store.Tx) error {
		if err := tx.RemoveUncounted(ctx, paid); err != nil {
			return err
		}
		return tx.AddUncounted(ctx, in.debts.writer, now.UnixMilli(), still)
	})
	if err != nil {
		return err
	}
	for _, h := range paid {
		delete(in.debts.hours, h.Hour)
	}
	return nil
}
