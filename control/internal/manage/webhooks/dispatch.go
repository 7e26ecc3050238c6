package webhooks

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/shortline/shortline/control/internal/store"
)

const (
	poll        = 200 * time.Millisecond
	leaseMargin = 30 * time.Second // between the end of the longest attempt and the end of its lease
	grace       = 4 * time.Second  // for attempts in flight when the service stops
	keepFor     = 30 * 24 * time.Hour
	pruneEvery  = time.Hour
	pruneBatch  = 1000
)

// delays are how long to wait after each failed attempt; after one more than these, the delivery is given up.
var delays = []time.Duration{5 * time.Second, 25 * time.Second, 125 * time.Second}

// longDelays are those of webhooks that want attempts for three days. They take at least three days together, whatever jitter takes off.
var longDelays = slices.Concat(delays, []time.Duration{10 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour, 10 * time.Hour,
	14 * time.Hour, 20 * time.Hour, 24 * time.Hour})

// delaysOf returns the delays of a webhook.
func delaysOf(w *store.Webhook) []time.Duration {
	if w.Long {
		return longDelays
	}
	return delays
}

// outcome is a finished attempt of a delivery.
type outcome struct {
	target   target
	delivery store.Delivery
	delays   []time.Duration // of the webhook
	result
}

// lost reports whether the delivery is given up.
func (o *outcome) lost() bool {
	return !o.aborted && !o.log.Success && (!o.again || o.delivery.Attempts+1 > len(o.delays))
}

// dispatch is the state of one Run. Its single goroutine is the only one that accesses the store. It records results
// and claims due deliveries in one transaction, so many deliveries to a busy receiver need one commit.
type dispatch struct {
	*Service
	ctx     context.Context // for attempts
	results chan outcome    // has capacity for all attempts in flight
	pending []outcome       // finished, but not recorded yet
	busy    shares          // attempts in flight
	failing bool            // the last turn failed
}

// Run sends due deliveries until ctx ends, and then waits up to grace for attempts in flight. Several processes may run
// on the same database.
func (s *Service) Run(ctx context.Context) error {
	attempts, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	d := &dispatch{Service: s, ctx: attempts, results: make(chan outcome, inAll), busy: newShares()}
	if err := s.store.Tx(ctx, func(tx *store.Tx) error { return tx.ReleaseDeliveries(ctx, s.now()) }); err != nil && ctx.Err() == nil {
		d.fail(fmt.Errorf("release deliveries: %w", err)) // other replicas get them when the leases expire
	}
	tick, prune := time.NewTimer(0), time.NewTimer(0)
	defer tick.Stop()
	defer prune.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			continue
		case o := <-d.results:
			d.ended(o)
		case <-s.wake:
		case <-tick.C:
		case <-prune.C:
			prune.Reset(d.prune(ctx))
		}
		d.collect()
		wait := poll
		if err := d.turn(ctx); err != nil {
			d.fail(err)
			wait = time.Second
		} else {
			d.failing = false
			s.metrics.lastTurn.SetToCurrentTime()
		}
		tick.Reset(wait)
	}
	d.stop(ctx, cancel)
	return nil
}

// fail counts an error of the store, and logs the first of several.
func (d *dispatch) fail(err error) {
	d.metrics.errors.Inc()
	if !d.failing {
		d.cfg.Logger.Warn("webhook deliveries delayed", "error", err.Error())
	}
	d.failing = true
}

// collect receives all finished attempts.
func (d *dispatch) collect() {
	for {
		select {
		case o := <-d.results:
			d.ended(o)
		default:
			return
		}
	}
}

// ended frees the slot of an attempt. The slot is used again only after the result is recorded, in the same
// transaction.
func (d *dispatch) ended(o outcome) {
	d.pending = append(d.pending, o)
	d.busy.removeAttempts(o.target, 1)
}

type claim struct {
	target   target
	webhook  store.Webhook
	delivery store.Delivery
}

// turn records finished attempts and starts due ones.
func (d *dispatch) turn(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	now := d.now()
	due, err := d.store.DueWebhooks(ctx, now)
	if err != nil {
		return fmt.Errorf("look for webhook deliveries: %w", err)
	}
	due = slices.DeleteFunc(due, func(w store.DueWebhook) bool { return !d.busy.hasRoom(targetOf(w)) })
	if len(d.pending) == 0 && len(due) == 0 {
		return nil
	}
	// If there are more webhooks than slots, a random order is fair.
	rand.Shuffle(len(due), func(i, j int) { due[i], due[j] = due[j], due[i] })
	var claims []claim
	err = d.store.Tx(ctx, func(tx *store.Tx) (err error) {
		if err := d.record(ctx, tx, d.pending); err != nil {
			return err
		}
		if claims, err = d.claim(ctx, tx, due, now); err != nil {
			return err
		}
		return d.pauseFailing(ctx, tx, d.pending)
	})
	if err != nil {
		for _, c := range claims {
			d.busy.removeAttempts(c.target, 1)
		}
		return err
	}
	d.pending = d.pending[:0]
	for _, c := range claims {
		go func() {
			r := d.send(d.ctx, &c.webhook, message{c.delivery.ID, c.delivery.Event, c.delivery.Payload, c.delivery.Attempts + 1})
			d.results <- outcome{c.target, c.delivery, delaysOf(&c.webhook), r}
		}()
	}
	d.metrics.inFlight.Set(float64(d.busy.total))
	return nil
}

// claim claims deliveries of the webhooks while there are slots. It returns all deliveries counted in busy, also with
// an error.
func (d *dispatch) claim(ctx context.Context, tx *store.Tx, due []store.DueWebhook, now int64) (claims []claim, err error) {
	lease, until := store.NewID(), now+(d.cfg.Timeout+leaseMargin).Milliseconds()
	for _, one := range due {
		t := targetOf(one)
		room := d.busy.reserveAttempts(t)
		if room == 0 {
			continue
		}
		list, err := tx.ClaimDeliveries(ctx, one.ID, now, until, lease, room)
		d.busy.removeAttempts(t, room-len(list))
		for _, delivery := range list {
			claims = append(claims, claim{target: t, delivery: delivery})
		}
		if err != nil {
			return claims, fmt.Errorf("claim webhook deliveries: %w", err)
		}
		if len(list) == 0 {
			continue
		}
		w, err := tx.WebhookByID(ctx, one.ID)
		if err != nil {
			return claims, fmt.Errorf("read webhook: %w", err)
		}
		for i := len(claims) - len(list); i < len(claims); i++ {
			claims[i].webhook = w
		}
	}
	return claims, nil
}

// record stores the results of attempts: log, figures and the state of the delivery. It locks webhooks first and in
// order, as their deletion does, to prevent deadlocks.
func (s *Service) record(ctx context.Context, tx *store.Tx, list []outcome) error {
	sums := map[string]store.Attempts{}
	for _, o := range slices.SortedStableFunc(slices.Values(list), func(a, b outcome) int {
		return cmp.Compare(a.log.SentAt, b.log.SentAt)
	}) {
		if o.aborted {
			continue
		}
		sum := sums[o.log.WebhookID]
		sum.Append(&o.log)
		sums[o.log.WebhookID] = sum
	}
	gone := map[string]bool{}
	for _, id := range slices.Sorted(maps.Keys(sums)) {
		there, err := tx.NoteAttempts(ctx, id, sums[id])
		if err != nil {
			return fmt.Errorf("record webhook attempts: %w", err)
		}
		gone[id] = !there
	}
	for _, o := range slices.SortedFunc(slices.Values(list), func(a, b outcome) int { return cmp.Compare(a.delivery.ID, b.delivery.ID) }) {
		if gone[o.log.WebhookID] {
			continue
		}
		if !o.aborted {
			if err := tx.InsertWebhookLog(ctx, &o.log); err != nil {
				return fmt.Errorf("log webhook attempt: %w", err)
			}
		}
		if err := s.settle(ctx, tx, o); err != nil {
			return fmt.Errorf("settle webhook delivery: %w", err)
		}
	}
	return nil
}

// settle decides whether a delivery is finished after an attempt, or when it is due again.
func (s *Service) settle(ctx context.Context, tx *store.Tx, o outcome) error {
	d, made := o.delivery, o.delivery.Attempts+1
	switch {
	case o.aborted:
		return tx.PostponeDelivery(ctx, d.ID, d.Lease, d.Attempts, s.now())
	case o.log.Success, o.lost():
		return tx.FinishDelivery(ctx, d.ID, d.Lease)
	}
	wait := max(jitter(o.delays[made-1]), o.retryAfter)
	return tx.PostponeDelivery(ctx, d.ID, d.Lease, made, s.now()+wait.Milliseconds())
}

// jitter is within a fifth of d, so that what failed together does not come back together. Of hours, a twentieth is enough.
func jitter(d time.Duration) time.Duration {
	part := 0.2
	if d >= 10*time.Minute {
		part = 0.05
	}
	return d + time.Duration((2*rand.Float64()-1)*part*float64(d))
}

// stop waits for attempts in flight, cancels those that take too long, and records the results. Canceled deliveries are
// due again immediately.
func (d *dispatch) stop(ctx context.Context, cancel context.CancelFunc) {
	cut := time.AfterFunc(grace, cancel)
	defer cut.Stop()
	for d.busy.total > 0 {
		d.ended(<-d.results)
	}
	if len(d.pending) > 0 {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
		defer cancel()
		if err := d.store.Tx(ctx, func(tx *store.Tx) error {
			if err := d.record(ctx, tx, d.pending); err != nil {
				return err
			}
			return d.pauseFailing(ctx, tx, d.pending)
		}); err != nil {
			d.cfg.Logger.Warn("webhook attempts not recorded, repeating them", "count", len(d.pending), "error", err.Error())
		}
	}
	d.metrics.inFlight.Set(0)
	d.client.Close()
}

// prune deletes a batch of old logs and returns the time until the next call. Small batches keep transactions short.
func (d *dispatch) prune(ctx context.Context) time.Duration {
	var logs, given int64
	err := d.store.Tx(ctx, func(tx *store.Tx) (err error) {
		logs, given, err = tx.PruneWebhooks(ctx, d.now()-keepFor.Milliseconds(), pruneBatch)
		return err
	})
	switch {
	case err != nil && ctx.Err() == nil:
		d.fail(fmt.Errorf("prune webhook logs: %w", err))
		return time.Minute
	case logs == pruneBatch || given == pruneBatch:
		return poll
	}
	if given > 0 {
		d.cfg.Logger.Warn("deliveries of inactive webhooks abandoned", "count", given)
	}
	return pruneEvery
}
