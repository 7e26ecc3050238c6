package ingest

import (
	"context"
	"time"
)

// enough is the number of waiting clicks that are committed without a pause. The cost of an insert no longer matters then.
const enough = 1000

// queue adds a delivery to those that wait for a commit.
func (in *Ingester) queue(d *delivery) {
	in.mu.Lock()
	in.waiting = append(in.waiting, d)
	in.queued += len(d.rows)
	many := in.queued >= enough
	in.mu.Unlock()
	if many {
		select {
		case in.many <- struct{}{}:
		default:
		}
	}
}

// awaitMore waits until the last commit began CommitEvery ago, or enough clicks wait. Edges write a message for every few
// clicks at low traffic; without the pause, ClickHouse would spend a processor on the parts of tiny inserts and their merges.
// The caller holds the turn.
func (in *Ingester) awaitMore(ctx context.Context) {
	defer func() { in.began = time.Now() }()
	wait := in.cfg.CommitEvery - time.Since(in.began)
	if wait <= 0 {
		return
	}
	pause := time.NewTimer(wait)
	defer pause.Stop()
	for !in.crowded() {
		select {
		case <-in.many: // it may be about clicks that are committed
		case <-pause.C:
			return
		case <-ctx.Done(): // the process stops, and nothing more will come
			return
		}
	}
}

func (in *Ingester) crowded() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.queued >= enough
}
