package linkhealth

import (
	"context"
	"errors"
	"fmt"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/store"
)

// spread lets links know the health of their destinations, in parts: many links may lead to one address.
func (s *Service) spread(ctx context.Context) error {
	for {
		err := s.store.Tx(ctx, func(tx *store.Tx) error {
			_, links, err := tx.UnspreadDestination(ctx, pageSize)
			if err != nil || len(links) == 0 {
				return err
			}
			return s.tell(ctx, tx, links)
		})
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("store the health of links: %w", err)
		}
	}
}

// tell stores the health of links, and tells webhooks which have a broken destination, or none any more.
func (s *Service) tell(ctx context.Context, tx *store.Tx, links []uint64) error {
	changed, err := tx.SpreadHealth(ctx, links, s.nowMillis())
	if err != nil {
		return err
	}
	var told []uint64
	for _, c := range changed {
		if (c.Health == store.HealthBroken) != (c.Before == store.HealthBroken) {
			told = append(told, c.Link)
		}
	}
	if len(told) == 0 {
		return nil
	}
	list, err := tx.LinksByNum(ctx, told)
	if err != nil {
		return err
	}
	var events []webhooks.Event
	for i := range changed {
		c := &changed[i]
		u, ok := list[c.Link]
		if !ok || (c.Health == store.HealthBroken) == (c.Before == store.HealthBroken) {
			continue
		}
		events = append(events, eventOf(tx.Conn, &u, c))
	}
	return webhooks.Emit(ctx, tx, events...)
}

func eventOf(c store.Conn, u *store.Link, change *store.HealthChange) webhooks.Event {
	name := webhooks.DestinationRecovered
	if change.Health == store.HealthBroken {
		name = webhooks.DestinationBroken
	}
	data := webhooks.DestinationChanged{
		URLID: u.ID, Slug: u.Slug, Title: analytics.OrNull(u.Title), UserID: u.UserID, Destination: change.URL, Health: change.Health,
		Reason: analytics.OrNull(change.Reason), Address: webhooks.AddressOf(c, u),
	}
	if change.Status != 0 {
		data.StatusCode = &change.Status
	}
	if change.CheckedAt != 0 {
		at := webhooks.Instant(change.CheckedAt)
		data.CheckedAt = &at
	}
	return webhooks.Event{Name: name, Workspace: u.Workspace, Data: data}
}
