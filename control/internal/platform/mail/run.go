package mail

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/shortline/shortline/control/internal/platform/smtp"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/backoff"
)

const (
	parallel    = 4                // attempts at the same time
	leaseMargin = 30 * time.Second // between the end of the longest attempt and the end of its lease
	grace       = 4 * time.Second  // for attempts in flight when the service stops
	dropBatch   = 100
	pruneEvery  = 10 * time.Minute // without SMTP_URL
)

// retry says when an e-mail is tried again. The limit is short, so that e-mails arrive soon after an outage.
var retry = backoff.Policy{First: 5 * time.Second, Most: 5 * time.Minute}

// worker is the state of one Run.
type worker struct {
	*Service
	attempts context.Context // ends when attempts in flight must stop
	free     chan struct{}   // has a token for each attempt in flight
	inFlight sync.WaitGroup
	failures int // consecutive failed turns
}

// Run sends due e-mails until ctx ends, and then waits a few seconds for attempts in flight. Several processes may run on
// the same database: an e-mail is sent twice only if a process ends between sending it and recording that.
//
// If the service is not enabled, Run only deletes expired e-mails, which remain when SMTP_URL is removed.
func (s *Service) Run(ctx context.Context) error {
	attempts, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	w := &worker{Service: s, attempts: attempts, free: make(chan struct{}, parallel)}
	wait := cmp.Or(s.cfg.Poll, 2*time.Second)
	if !s.Enabled() {
		wait = pruneEvery
	} else if err := s.store.Tx(ctx, func(tx *store.Tx) error { return tx.ReleaseMail(ctx, s.now()) }); err != nil && ctx.Err() == nil {
		w.fail(fmt.Errorf("release e-mails: %w", err)) // other replicas get them when the leases expire
	}
	tick := time.NewTicker(wait)
	defer tick.Stop()
	for ctx.Err() == nil {
		if err := w.turn(ctx); err != nil && ctx.Err() == nil {
			w.fail(err)
		}
		select {
		case <-ctx.Done():
		case <-s.wake:
		case <-tick.C:
		}
	}
	cut := time.AfterFunc(grace, cancel)
	defer cut.Stop()
	w.inFlight.Wait()
	return nil
}

// fail counts an error of the store, and logs some of a row.
func (w *worker) fail(err error) {
	w.metrics.errors.Inc()
	w.failures++
	if backoff.LogWorthy(w.failures) {
		w.cfg.Logger.Warn("e-mails delayed", "error", err.Error(), "failures", w.failures)
	}
}

// turn drops expired e-mails and starts an attempt for each due one, as long as attempts are free.
func (w *worker) turn(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	some, err := w.store.MailDue(ctx, w.now())
	if err != nil {
		return fmt.Errorf("look for e-mails: %w", err)
	}
	if some {
		if err := w.drop(ctx); err != nil {
			return err
		}
	}
	if !w.Enabled() {
		return nil
	}
	if room := parallel - len(w.free); some && room > 0 {
		var list []store.Mail
		err := w.store.Tx(ctx, func(tx *store.Tx) (err error) {
			now := w.now()
			list, err = tx.ClaimMail(ctx, now, now+(smtp.Timeout+leaseMargin).Milliseconds(), store.NewID(), room)
			return err
		})
		if err != nil {
			return fmt.Errorf("claim e-mails: %w", err)
		}
		for _, m := range list {
			w.free <- struct{}{}
			w.inFlight.Go(func() {
				w.attempt(m)
				<-w.free
				w.signal() // more may be due
			})
		}
	}
	w.failures = 0
	w.metrics.lastTurn.SetToCurrentTime()
	return nil
}

// drop deletes expired e-mails.
func (w *worker) drop(ctx context.Context) error {
	for {
		var list []store.Mail
		err := w.store.Tx(ctx, func(tx *store.Tx) (err error) {
			list, err = tx.DropExpiredMail(ctx, w.now(), dropBatch)
			return err
		})
		if err != nil {
			return fmt.Errorf("drop expired e-mails: %w", err)
		}
		for _, m := range list {
			w.metrics.failed.WithLabelValues(m.Kind, expired).Inc()
			w.cfg.Logger.Warn("e-mail expired", "kind", m.Kind, "id", m.ID, "attempts", m.Attempts, "error", m.LastError)
		}
		if len(list) < dropBatch {
			return nil
		}
	}
}

// attempt sends a claimed e-mail and records the result.
func (w *worker) attempt(m store.Mail) {
	began := time.Now()
	err := w.deliver(w.attempts, m)
	if err != nil && w.attempts.Err() != nil {
		// The service stops. Whether the server has accepted the e-mail is unknown, so send it again.
		w.record(began, func(ctx context.Context, tx *store.Tx) error {
			return tx.PostponeMail(ctx, m.ID, m.Lease, m.Attempts, w.now(), m.LastError)
		})
		return
	}
	var failure *smtp.Error
	switch {
	case err == nil:
		w.metrics.sent.WithLabelValues(m.Kind).Inc()
	case errors.As(err, &failure) && failure.Permanent:
		w.metrics.failed.WithLabelValues(m.Kind, rejected).Inc()
		w.cfg.Logger.Warn("e-mail rejected", "kind", m.Kind, "id", m.ID, "error", err.Error())
	default:
		made := m.Attempts + 1
		w.metrics.retries.Inc()
		if backoff.LogWorthy(made) {
			w.cfg.Logger.Warn("e-mail not sent, retrying", "kind", m.Kind, "id", m.ID, "attempts", made, "error", err.Error())
		}
		w.record(began, func(ctx context.Context, tx *store.Tx) error {
			return tx.PostponeMail(ctx, m.ID, m.Lease, made, w.now()+retry.Delay(made).Milliseconds(), err.Error())
		})
		return
	}
	w.record(began, func(ctx context.Context, tx *store.Tx) error { return tx.FinishMail(ctx, m.ID, m.Lease) })
}

func (w *worker) deliver(ctx context.Context, m store.Mail) error {
	text, err := w.box.Open(place(m.ID), m.Content)
	if err != nil {
		return err // the key may come back
	}
	var r rendered
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return fmt.Errorf("read e-mail: %w", err)
	}
	return w.sender.Send(ctx, smtp.Mail{ID: m.ID, To: m.Recipient, Subject: r.Subject, Text: r.Text, HTML: r.HTML, Date: time.UnixMilli(m.CreatedAt)})
}

// record stores the result of an attempt. While the lease holds the e-mail, it repeats a failed write: an e-mail that was
// sent but is not recorded as sent goes out again.
func (w *worker) record(began time.Time, write func(context.Context, *store.Tx) error) {
	ctx, cancel := context.WithDeadline(context.WithoutCancel(w.attempts), began.Add(smtp.Timeout+leaseMargin))
	defer cancel()
	for failures := 1; ; failures++ {
		err := w.store.Tx(ctx, func(tx *store.Tx) error { return write(ctx, tx) })
		if err == nil {
			return
		}
		w.metrics.errors.Inc()
		last := w.attempts.Err() != nil || !backoff.Sleep(ctx, backoff.Policy{First: 100 * time.Millisecond, Most: 5 * time.Second}.Delay(failures))
		if last {
			w.cfg.Logger.Warn("e-mail attempt not recorded, repeating it", "error", err.Error())
			return
		}
	}
}
