package webhooks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// LogFilter selects attempts of a webhook. A zero field selects everything.
type LogFilter struct {
	Status     string // success or failed
	Event      string
	DeliveryID string
}

// Logs returns a page of the webhook's attempts that the filter selects, newest first, and the total number.
func (s *Service) Logs(ctx context.Context, p auth.Principal, id string, f LogFilter, limit, offset int) ([]store.WebhookLog, int, error) {
	var v problem.Fields
	if f.Status != "" && f.Status != "success" && f.Status != "failed" {
		v.Add("status", "must be success or failed")
	}
	if f.Event != "" && f.Event != tested && !slices.Contains(Names, f.Event) {
		v.Add("event", "must be one of %s, %s", strings.Join(Names, ", "), tested)
	}
	if f.DeliveryID != "" {
		if _, err := uuid.Parse(f.DeliveryID); err != nil {
			v.Add("deliveryId", "must be the id of a delivery")
		}
	}
	if err := v.Err(); err != nil {
		return nil, 0, err
	}
	if err := s.mayReadLog(ctx, p, id); err != nil {
		return nil, 0, err
	}
	list, total, err := s.store.WebhookLogs(ctx, id, store.WebhookLogFilter{Failed: f.Status == "failed", Succeeded: f.Status == "success",
		Event: f.Event, DeliveryID: f.DeliveryID, Limit: limit, Offset: offset})
	if err != nil {
		return nil, 0, fmt.Errorf("list webhook attempts: %w", err)
	}
	return list, total, nil
}

func (s *Service) mayReadLog(ctx context.Context, p auth.Principal, id string) error {
	w, err := s.Get(ctx, p, id)
	if err == nil {
		err = mayReceive(p, &w)
	}
	return err
}

// logDays is the number of days that Days counts. A webhook about clicks may have millions of attempts in all the 30 days of the log.
const logDays = 14

// Days counts the webhook's attempts of the last 14 days in UTC, of which the present one is not over, oldest first.
func (s *Service) Days(ctx context.Context, p auth.Principal, id string) ([]store.WebhookDay, error) {
	if err := s.mayReadLog(ctx, p, id); err != nil {
		return nil, err
	}
	const day = 24 * int64(time.Hour/time.Millisecond)
	first := (s.now()/day - logDays + 1) * day
	found, err := s.store.WebhookDays(ctx, id, first)
	if err != nil {
		return nil, fmt.Errorf("count webhook attempts: %w", err)
	}
	days := make([]store.WebhookDay, logDays)
	for i := range days {
		days[i].At = first + int64(i)*day
		for _, d := range found {
			if d.At == days[i].At {
				days[i] = d
			}
		}
	}
	return days, nil
}

// Test sends webhook.test immediately, also to an inactive webhook, logs the attempt and returns it. A failure of the
// receiver is not an error. It takes up to Timeout.
func (s *Service) Test(ctx context.Context, p auth.Principal, id string) (store.WebhookLog, error) {
	w, err := s.Get(ctx, p, id)
	if err != nil {
		return store.WebhookLog{}, err
	}
	body, err := envelope(tested, s.now(), Tested{"This is a test delivery from Shortline.", w.ID, w.Name})
	if err != nil {
		return store.WebhookLog{}, err
	}
	return s.sendNow(ctx, &w.Webhook, message{uuid.NewString(), tested, body, 1})
}

// Retry sends the payload of a failed attempt again immediately, with the same delivery id, to the webhook's present
// address. It returns the new attempt, which may fail too. For a successful attempt the error is Invalid, and for a
// webhook whose owner is deactivated it is Conflict. It takes up to Timeout.
func (s *Service) Retry(ctx context.Context, p auth.Principal, id, logID string) (store.WebhookLog, error) {
	w, err := s.Get(ctx, p, id)
	if err != nil {
		return store.WebhookLog{}, err
	}
	failed, err := s.store.WebhookLogByID(ctx, id, logID)
	switch {
	case err != nil:
		return store.WebhookLog{}, auth.Missing("Webhook log", err)
	case failed.Success:
		return store.WebhookLog{}, problem.New(problem.Invalid, "This delivery has succeeded. Only failed deliveries can be repeated.")
	}
	if err := s.mayRepeat(ctx, &w); err != nil {
		return store.WebhookLog{}, err
	}
	last, err := s.store.LastAttempt(ctx, failed.DeliveryID)
	if err != nil {
		return store.WebhookLog{}, fmt.Errorf("count webhook attempts: %w", err)
	}
	return s.sendNow(ctx, &w.Webhook, message{failed.DeliveryID, failed.Event, failed.Payload, last + 1})
}

func (s *Service) mayRepeat(ctx context.Context, w *Webhook) error {
	owner, err := s.store.UserByID(ctx, w.UserID)
	if err != nil {
		return fmt.Errorf("read owner of webhook: %w", err)
	}
	if !owner.Active {
		return problem.New(problem.Conflict, "The webhook's owner is deactivated, so nothing is sent.")
	}
	return nil
}

// RetryFailed makes all deliveries due again whose last attempt failed and which are still in the log, and returns their number.
// Tests are not repeated. More deliveries than may wait for a webhook are left to another call.
func (s *Service) RetryFailed(ctx context.Context, p auth.Principal, id string) (queued int64, err error) {
	w, err := s.Get(ctx, p, id)
	if err != nil {
		return 0, err
	}
	if !w.Active {
		return 0, problem.New(problem.Conflict, "The webhook is disabled, so nothing is sent. Enable it first.")
	}
	if err := s.mayRepeat(ctx, &w); err != nil {
		return 0, err
	}
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		if _, err := s.visible(p)(tx.LockWebhook(ctx, id)); err != nil {
			return err
		}
		waiting, err := tx.Backlog(ctx, id, s.cfg.MaxBacklog)
		if err != nil {
			return fmt.Errorf("count webhook deliveries: %w", err)
		}
		if queued, err = tx.RepeatFailed(ctx, id, tested, s.now(), s.cfg.MaxBacklog-waiting); err != nil {
			return fmt.Errorf("repeat webhook deliveries: %w", err)
		}
		if queued == 0 {
			return nil
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "WEBHOOK_RESENT", EntityType: "webhook", EntityID: id,
			Workspace: w.Workspace, Metadata: map[string]any{"count": queued, "name": w.Name}})
	})
	if err != nil {
		return 0, err
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return queued, nil
}

// sendNow makes one attempt and logs it, even if the caller disconnects.
func (s *Service) sendNow(ctx context.Context, w *store.Webhook, m message) (store.WebhookLog, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Timeout())
	defer cancel()
	r := s.send(ctx, w, m)
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		var sum store.Attempts
		sum.Append(&r.log)
		there, err := tx.NoteAttempts(ctx, w.ID, sum)
		if err != nil {
			return fmt.Errorf("record webhook attempt: %w", err)
		}
		if !there {
			return problem.Missing("Webhook")
		}
		if err := tx.InsertWebhookLog(ctx, &r.log); err != nil {
			return fmt.Errorf("log webhook attempt: %w", err)
		}
		if !r.log.Success {
			return nil
		}
		// A pending automatic attempt is no longer needed.
		return problem.Doing("finish webhook delivery", tx.FinishDelivery(ctx, m.delivery, ""))
	})
	return r.log, err
}
