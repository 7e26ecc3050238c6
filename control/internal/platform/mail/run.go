package mail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/shortline/shortline/control/internal/platform/smtp"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/backoff"
	"github.com/shortline/shortline/shared/job"
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

// Run sends due e-mails until ctx ends, and then waits a few seconds for attempts in flight. It is called once. Several processes
// may run on the same database: an e-mail is sent twice only if a process ends between sending it and recording that.
//
// If the service is not enabled, Run only deletes expired e-mails, which remain when SMTP_URL is removed.
func (s *Service) Run(ctx context.Context) error {
	attempts, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	s.attempts = attempts
	if s.Enabled() {
		err := s.store.Tx(ctx, func(tx *store.Tx) error { return tx.ReleaseMail(ctx, s.now()) })
		if err != nil && ctx.Err() == nil { // other replicas get them when the leases expire
			s.cfg.Logger.Warn("e-mails delayed", "error", err.Error())
		}
	}
	err := s.Group.Run(ctx)
	cut := time.AfterFunc(grace, cancel)
	defer cut.Stop()
	s.inFlight.Wait()
	return err
}

// turn drops expired e-mails and starts an attempt for each due one, as long as attempts are free.
func (s *Service) turn(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	some, err := s.store.MailDue(ctx, s.now())
	if err != nil {
		return fmt.Errorf("look for e-mails: %w", err)
	}
	if some {
		if err := s.drop(ctx); err != nil {
			return err
		}
	}
	if !s.Enabled() {
		return nil
	}
	if room := parallel - len(s.free); some && room > 0 {
		var list []store.Mail
		err := s.store.Tx(ctx, func(tx *store.Tx) (err error) {
			now := s.now()
			list, err = tx.ClaimMail(ctx, now, now+(smtp.Timeout+leaseMargin).Milliseconds(), store.NewID(), room)
			return err
		})
		if err != nil {
			return fmt.Errorf("claim e-mails: %w", err)
		}
		for _, m := range list {
			s.free <- struct{}{}
			s.inFlight.Go(func() {
				s.attempt(m)
				<-s.free
				s.signal() // more may be due
			})
		}
	}
	return nil
}

// drop deletes expired e-mails.
func (s *Service) drop(ctx context.Context) error {
	for {
		var list []store.Mail
		err := s.store.Tx(ctx, func(tx *store.Tx) (err error) {
			list, err = tx.DropExpiredMail(ctx, s.now(), dropBatch)
			return err
		})
		if err != nil {
			return fmt.Errorf("drop expired e-mails: %w", err)
		}
		for _, m := range list {
			s.metrics.failed.WithLabelValues(m.Kind, expired).Inc()
			s.cfg.Logger.Warn("e-mail expired", "kind", m.Kind, "id", m.ID, "attempts", m.Attempts, "error", m.LastError)
		}
		if len(list) < dropBatch {
			return nil
		}
	}
}

// attempt sends a claimed e-mail and records the result.
func (s *Service) attempt(m store.Mail) {
	began := time.Now()
	err := job.Contain(s.cfg.Logger, func() error { return s.deliver(s.attempts, m) })
	if err != nil && s.attempts.Err() != nil {
		// The service stops. Whether the server has accepted the e-mail is unknown, so send it again.
		s.record(began, func(ctx context.Context, tx *store.Tx) error {
			return tx.PostponeMail(ctx, m.ID, m.Lease, m.Attempts, s.now(), m.LastError)
		})
		return
	}
	var failure *smtp.Error
	switch {
	case err == nil:
		s.metrics.sent.WithLabelValues(m.Kind).Inc()
	case errors.As(err, &failure) && failure.Permanent:
		s.metrics.failed.WithLabelValues(m.Kind, rejected).Inc()
		s.cfg.Logger.Warn("e-mail rejected", "kind", m.Kind, "id", m.ID, "error", err.Error())
	default:
		made := m.Attempts + 1
		s.metrics.retries.Inc()
		if backoff.LogWorthy(made) {
			s.cfg.Logger.Warn("e-mail not sent, retrying", "kind", m.Kind, "id", m.ID, "attempts", made, "error", err.Error())
		}
		s.record(began, func(ctx context.Context, tx *store.Tx) error {
			return tx.PostponeMail(ctx, m.ID, m.Lease, made, s.now()+retry.Delay(made).Milliseconds(), err.Error())
		})
		return
	}
	s.record(began, func(ctx context.Context, tx *store.Tx) error { return tx.FinishMail(ctx, m.ID, m.Lease) })
}

func (s *Service) deliver(ctx context.Context, m store.Mail) error {
	text, err := s.box.Open(place(m.ID), m.Content)
	if err != nil {
		return err // the key may come back
	}
	var r rendered
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return fmt.Errorf("read e-mail: %w", err)
	}
	return s.sender.Send(ctx, smtp.Mail{ID: m.ID, To: m.Recipient, Subject: r.Subject, Text: r.Text, HTML: r.HTML,
		Date: time.UnixMilli(m.CreatedAt), Inline: r.Inline, Unsubscribe: r.Unsubscribe})
}

// record stores the result of an attempt. While the lease holds the e-mail, it repeats a failed write: an e-mail that was
// sent but is not recorded as sent goes out again.
func (s *Service) record(began time.Time, write func(context.Context, *store.Tx) error) {
	ctx, cancel := context.WithDeadline(context.WithoutCancel(s.attempts), began.Add(smtp.Timeout+leaseMargin))
	defer cancel()
	for failures := 1; ; failures++ {
		err := s.store.Tx(ctx, func(tx *store.Tx) error { return write(ctx, tx) })
		if err == nil {
			return
		}
		last := s.attempts.Err() != nil ||
			!backoff.Sleep(ctx, backoff.Policy{First: 100 * time.Millisecond, Most: 5 * time.Second}.Delay(failures))
		if last {
			s.cfg.Logger.Warn("e-mail attempt not recorded, repeating it", "error", err.Error())
			return
		}
	}
}
