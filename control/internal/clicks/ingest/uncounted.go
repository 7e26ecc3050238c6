package ingest

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/store"
)

const hourMillis = int64(time.Hour / time.Millisecond)

// uncountedEvery is the interval at which this process removes or renews the hours that it has recorded.
const uncountedEvery = time.Minute

// uncountedHours are the hours of clicks that this process may have stored but not counted. They are recorded in the database before the
// clicks are stored. While traffic continues, the current hour stays recorded, so a record costs one transaction an hour and
// one a minute to renew it.
//
// Only the holder of Ingester.turn uses hours. Only Run uses recovered.
type uncountedHours struct {
	writer    int64               // number of this process
	hours     map[int64]time.Time // when clicks of an hour were stored last
	failed    time.Time           // when recording failed last; used like hours
	recovered bool                // whether the hours of earlier processes were counted
}

func newUncountedHours() uncountedHours {
	return uncountedHours{writer: rand.Int64(), hours: map[int64]time.Time{}}
}

// recordHours records the hours of clicks that are about to be stored. The caller holds the turn. Clicks must not wait for the database,
// so a failure only delays the correction of counters if this process is killed: until all counters have been compared.
func (in *Ingester) recordHours(ctx context.Context, rows []analytics.Row, now time.Time) {
	var missing []int64
	for i := range rows {
		if rows[i].Bot {
			continue
		}
		hour := rows[i].Time - (rows[i].Time%hourMillis+hourMillis)%hourMillis // also for times before 1970
		if _, known := in.uncounted.hours[hour]; !known {
			missing = append(missing, hour)
		}
		in.uncounted.hours[hour] = now
	}
	if len(missing) == 0 {
		return
	}
	if now.Sub(in.uncounted.failed) >= repairAgain {
		err := in.record(ctx, missing, now)
		if err == nil {
			return
		}
		in.uncounted.failed = now
		in.cfg.Logger.Warn("hours of clicks not recorded, retrying later", "error", err.Error(), "effect",
			"if this process is killed now, some counters are corrected late")
	}
	for _, hour := range missing {
		delete(in.uncounted.hours, hour)
	}
}

// record adds hours to the database.
func (in *Ingester) record(ctx context.Context, hours []int64, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, recordWithin)
	defer cancel()
	return in.store.Tx(ctx, func(tx *store.Tx) error { return tx.AddUncounted(ctx, in.uncounted.writer, now.UnixMilli(), hours) })
}

// recordWithin limits how long clicks wait for a database that does not answer.
const recordWithin = 200 * time.Millisecond

// releaseHours removes the hours without new clicks for some time if all clicks of this process are counted, and renews the others. It
// does nothing while clicks are being stored.
func (in *Ingester) releaseHours(ctx context.Context, now time.Time, quiet time.Duration) error {
	select {
	case in.turn <- struct{}{}:
		defer func() { <-in.turn }()
	default:
		return nil
	}
	in.mu.Lock()
	counted := len(in.dirty) == 0
	in.mu.Unlock()
	var done []store.UncountedHour
	var still []int64
	for hour, last := range in.uncounted.hours {
		if counted && now.Sub(last) >= quiet {
			done = append(done, store.UncountedHour{Hour: hour, Writer: in.uncounted.writer, Seen: now.UnixMilli()})
		} else {
			still = append(still, hour)
		}
	}
	if len(done)+len(still) == 0 {
		return nil
	}
	err := in.store.Tx(ctx, func(tx *store.Tx) error {
		if err := tx.RemoveUncounted(ctx, done); err != nil {
			return err
		}
		return tx.AddUncounted(ctx, in.uncounted.writer, now.UnixMilli(), still)
	})
	if err != nil {
		return err
	}
	for _, h := range done {
		delete(in.uncounted.hours, h.Hour)
	}
	return nil
}
