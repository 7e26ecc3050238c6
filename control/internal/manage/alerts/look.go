package alerts

import (
	"context"
	"errors"
	"slices"

	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/store"
)

// lookAt compares what holds with the open alerts of a rule.
func (s *Service) lookAt(ctx context.Context, r *store.AlertRule) error {
	causes, err := s.holding(ctx, r)
	if err != nil {
		return err
	}
	unusual, judged, err := s.unusual(ctx, r)
	if err != nil {
		return err
	}
	return s.settleAlerts(ctx, r.ID, append(causes, unusual...), judged)
}

// settleAlerts stores alerts that have fired or are resolved, with their messages and events.
func (s *Service) settleAlerts(ctx context.Context, ruleID string, causes []cause, judged *judgement) error {
	return s.store.Tx(ctx, func(tx *store.Tx) error {
		r, err := tx.LockAlertRule(ctx, ruleID)
		if errors.Is(err, store.ErrNotFound) || err == nil && !r.Active { // it was deleted or turned off meanwhile
			return nil
		} else if err != nil {
			return err
		}
		if judged != nil {
			if err := tx.SaveAlertWatches(ctx, r.Num, judged.hour, judged.watches); errors.Is(err, store.ErrNotFound) {
				return nil // another process has judged the hour
			} else if err != nil {
				return err
			}
		}
		open, err := tx.OpenAlerts(ctx, r.Num)
		if err != nil {
			return err
		}
		channels, err := tx.AlertChannelsByID(ctx, r.Workspace, r.Channels)
		if err != nil {
			return err
		}
		at := s.nowMillis()
		var events []webhooks.Event
		for _, c := range causes {
			known := slices.ContainsFunc(open, func(a store.Alert) bool { return a.Cause == c.key })
			if known || !holds(&r, c.kind) {
				continue
			}
			a := store.Alert{ID: store.NewID(), Rule: r.Num, RuleID: r.ID, RuleName: r.Name, Workspace: r.Workspace, Kind: c.kind,
				Cause:   c.key,
				Summary: c.summary, Links: append([]string{}, c.links[:min(len(c.links), shownLinks)]...),
				LinkCount: int64(len(c.links)), FiredAt: at}
			if err := s.fire(ctx, tx, &a, channels); err != nil {
				return err
			}
			events = append(events, eventOf(webhooks.AlertFired, &a))
		}
		for i := range open {
			a := &open[i]
			if slices.ContainsFunc(causes, func(c cause) bool { return c.key == a.Cause }) && holds(&r, a.Kind) {
				continue
			}
			a.ResolvedAt = at
			if err := s.resolve(ctx, tx, a, channels); err != nil {
				return err
			}
			events = append(events, eventOf(webhooks.AlertResolved, a))
		}
		return webhooks.Emit(ctx, tx, events...)
	})
}

// fire stores a new alert and its messages.
func (s *Service) fire(ctx context.Context, tx *store.Tx, a *store.Alert, channels []store.AlertChannel) error {
	if err := tx.InsertAlert(ctx, a); err != nil {
		return err
	}
	for i := range channels {
		c := &channels[i]
		if !c.Active {
			continue
		}
		if err := tx.InsertAlertMessage(ctx, a.Num, c.Num, store.AlertFired, audible(c, s.cfg.Now()).UnixMilli(), a.FiredAt); err != nil {
			return err
		}
	}
	return nil
}

// resolve ends an alert. Channels that have not been told that it fired are not told that it is over.
func (s *Service) resolve(ctx context.Context, tx *store.Tx, a *store.Alert, channels []store.AlertChannel) error {
	if err := tx.ResolveAlert(ctx, a.Num, a.ResolvedAt); err != nil {
		return err
	}
	for i := range channels {
		c := &channels[i]
		if untold, err := tx.DropAlertMessage(ctx, a.Num, c.Num, store.AlertFired); err != nil {
			return err
		} else if untold || !c.Active || c.CreatedAt > a.FiredAt {
			continue
		}
		if err := tx.InsertAlertMessage(ctx, a.Num, c.Num, store.AlertResolved, audible(c, s.cfg.Now()).UnixMilli(),
			a.ResolvedAt); err != nil {
			return err
		}
	}
	return nil
}

func eventOf(name string, a *store.Alert) webhooks.Event {
	data := webhooks.AlertChanged{AlertID: a.ID, RuleID: a.RuleID, RuleName: a.RuleName, Kind: a.Kind, Summary: a.Summary, URLIDs: a.Links,
		URLCount: a.LinkCount, FiredAt: webhooks.Instant(a.FiredAt)}
	if a.ResolvedAt != 0 {
		at := webhooks.Instant(a.ResolvedAt)
		data.ResolvedAt = &at
	}
	return webhooks.Event{Name: name, Workspace: a.Workspace, Data: data}
}
