package links

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/platform/version"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
)

// Rollback gives a link, its rules and its variants the state that they had at an earlier revision, with their ids. Domain, slug,
// workspace, creator, suspension, preview image and counters stay. A destination that is not allowed today is Invalid. It writes nothing
// if nothing differs.
func (s *Service) Rollback(ctx context.Context, p auth.Principal, id string, revision uint64) (store.Link, error) {
	if err := s.screenState(ctx, p, id, revision); err != nil {
		return store.Link{}, err
	}
	var after store.Link
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		u, err := Visible(p)(tx.LockLink(ctx, id))
		if err != nil {
			return err
		}
		if err := version.Check(ctx, Version(&u), u); err != nil {
			return err
		}
		present, err := tx.StateOf(ctx, u)
		if err != nil {
			return err
		}
		wanted, err := stateAt(ctx, tx, &present, revision)
		if errors.Is(err, store.ErrNotFound) {
			return problem.OfField("revision", "is not in the history of this link")
		}
		if err != nil {
			return err
		}
		after = rolledBack(&present.Link, &wanted.Link)
		if err := s.allowed(&after, &wanted); err != nil {
			return err
		}
		return rollBack(ctx, tx, p, &present, &wanted, &after, revision)
	})
	if err != nil {
		return store.Link{}, fmt.Errorf("roll back link: %w", externalIDTaken(err, after.ExternalID))
	}
	return after, nil
}

// rolledBack returns the wanted state of a link with those fields of the present one that a rollback keeps.
func rolledBack(present, wanted *store.Link) store.Link {
	l := *wanted
	l.Domain, l.Hostname, l.Slug = present.Domain, present.Hostname, present.Slug
	l.UserID, l.Workspace = present.UserID, present.Workspace
	l.SuspendedAt, l.SuspendReason = present.SuspendedAt, present.SuspendReason
	l.ClickCount, l.Revision, l.UpdatedAt = present.ClickCount, present.Revision, present.UpdatedAt
	l.Baseline = present.Baseline // a figure, as the number of clicks
	if l.OGImage != "" {
		l.OGImage = present.OGImage // an image that was replaced does not exist any more
	}
	l.MaxClicks, l.LimitSince, l.LimitBase, l.ExhaustedAt = present.MaxClicks, present.LimitSince, present.LimitBase, present.ExhaustedAt
	limit(&l, wanted.MaxClicks) // counts of an earlier limit may be gone
	return l
}

// allowed checks the destinations of a state against today's policy.
func (s *Service) allowed(l *store.Link, state *store.LinkState) error {
	var v problem.Fields
	eachDestination(l, state, func(field, url string) { s.destination(field, url, new(string), &v) })
	return v.Err()
}

// screenState asks the operator's check service about the destinations of an earlier state.
func (s *Service) screenState(ctx context.Context, p auth.Principal, id string, revision uint64) error {
	u, err := s.Get(ctx, p, id)
	if err != nil || s.cfg.Screen == nil {
		return err
	}
	state, err := s.store.StateAt(ctx, u.Num, revision)
	if errors.Is(err, store.ErrNotFound) {
		return nil // the present state, or no state
	}
	if err != nil {
		return fmt.Errorf("read an earlier state of a link: %w", err)
	}
	return s.screenAll(ctx, &state)
}

// screenAll asks the operator's check service about all destinations of a state.
func (s *Service) screenAll(ctx context.Context, state *store.LinkState) error {
	var list []Target
	eachDestination(&state.Link, state, func(field, url string) { list = append(list, Target{field, &url}) })
	return s.cfg.Screen.Check(ctx, s.cfg.Destinations, list...)
}

// eachDestination calls f with every destination of a link, its rules and its variants.
func eachDestination(l *store.Link, state *store.LinkState, f func(field, url string)) {
	f("originalUrl", l.OriginalURL)
	for _, field := range store.LinkTexts {
		if url := *field.Text(l); field.Destination && url != "" {
			f(field.Name, url)
		}
	}
	for i := range state.Rules {
		f(fmt.Sprintf("routingRules.%s.targetUrl", state.Rules[i].ID), state.Rules[i].TargetURL)
	}
	for i := range state.Variants {
		f(fmt.Sprintf("variants.%s.targetUrl", state.Variants[i].ID), state.Variants[i].TargetURL)
	}
}

// rollBack writes the wanted state of a locked link.
func rollBack(ctx context.Context, tx *store.Tx, p auth.Principal, present, wanted *store.LinkState, after *store.Link,
	revision uint64) error {
	changes := Changes(&present.Link, after)
	e := Entry{}
	if err := e.compare(ctx, tx.Conn, present, wanted); err != nil {
		return err
	}
	if len(changes)+len(e.Rules)+len(e.Variants) == 0 {
		return nil
	}
	if len(changes) > 0 {
		after.UpdatedAt = store.Now()
	}
	wantedTags := after.Tags
	after.Tags = present.Link.Tags
	if err := setTags(ctx, tx, map[*store.Link][]string{after: wantedTags}); err != nil {
		return err
	}
	if err := tx.UpdateLink(ctx, after); err != nil {
		return err
	}
	if err := exhaust(ctx, tx, after); err != nil {
		return err
	}
	if err := tx.RestoreParts(ctx, present, wanted); err != nil {
		return err
	}
	if err := RecordChange(ctx, tx, p, "URL_ROLLED_BACK", after, *present); err != nil {
		return err
	}
	if err := webhooks.Emit(ctx, tx, rollbackEvents(tx.Conn, after, changes, e.Rules, present, wanted)...); err != nil {
		return err
	}
	was, is := sides(changes)
	entry := audit.Entry{UserID: p.UserID, Action: "URL_ROLLED_BACK", EntityType: "url", EntityID: after.ID, Workspace: after.Workspace,
		Old: was, New: is,
		Metadata: map[string]any{"revision": revision}}
	for name, parts := range map[string][]PartChange{"routingRules": e.Rules, "variants": e.Variants} {
		if len(parts) > 0 {
			ids := each.At(parts, func(p *PartChange) string { return p.ID })
			entry.Metadata[name] = ids
		}
	}
	return audit.Append(ctx, tx, entry)
}

// exhaust marks a link that was written if its clicks have reached its limit already.
func exhaust(ctx context.Context, tx *store.Tx, l *store.Link) (err error) {
	if l.MaxClicks != 0 && l.ExhaustedAt == 0 {
		l.ExhaustedAt, err = tx.ExhaustLink(ctx, l.Num)
	}
	return err
}

// rollbackEvents returns the webhook events of a rollback: one of the link, and one of each rule.
func rollbackEvents(c store.Conn, u *store.Link, changes map[string]webhooks.Change, rules []PartChange, present,
	wanted *store.LinkState) []webhooks.Event {
	var events []webhooks.Event
	if len(changes) > 0 {
		events = append(events, Updated(c, u, changes))
	}
	find := func(list []store.Rule, id string) *store.Rule {
		for i := range list {
			if list[i].ID == id {
				return &list[i]
			}
		}
		return nil
	}
	for _, c := range rules {
		was, is, name := find(present.Rules, c.ID), find(wanted.Rules, c.ID), webhooks.RuleUpdated
		if was == nil {
			name = webhooks.RuleCreated
		} else if is == nil {
			name = webhooks.RuleDeleted
		}
		r := cmp.Or(is, was)
		events = append(events, webhooks.Event{Name: name, Workspace: u.Workspace, Data: webhooks.RuleChanged{
			ID: r.ID, URLID: u.ID, Name: r.Name, TargetURL: r.TargetURL, Priority: r.Priority, UserID: u.UserID, RuleID: r.ID,
		}})
	}
	return events
}
