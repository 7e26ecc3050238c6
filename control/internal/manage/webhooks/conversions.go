package webhooks

import (
	"context"
	"slices"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/each"
)

// NoteConversions stores deliveries of conversion.created for the subscribed webhooks. It is idempotent like Note, and drops
// events beyond a webhook's maximum backlog likewise. Conversions of links that do not exist any more have no event.
func (s *Service) NoteConversions(ctx context.Context, list []analytics.Conversion) error {
	ctx, cancel := context.WithTimeout(ctx, noteTime)
	defer cancel()
	subs, err := s.clickSubscriptions(ctx)
	if err == nil {
		subs = slices.DeleteFunc(slices.Clone(subs), func(sub store.Subscription) bool {
			return !slices.Contains(sub.Events, ConversionCreated)
		})
	}
	if err == nil && len(subs) > 0 {
		for batch := range slices.Chunk(list, noteBatch) {
			if err = s.noteConversions(ctx, subs, batch); err != nil {
				break
			}
		}
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
	if err != nil {
		s.metrics.errors.Inc()
	}
	return err
}

func (s *Service) noteConversions(ctx context.Context, interested []store.Subscription, list []analytics.Conversion) error {
	rows := each.At(list, func(c *analytics.Conversion) analytics.Row { return analytics.Row{Link: c.Click.Link} })
	known, err := s.lookUp(ctx, rows)
	if err != nil {
		return err
	}
	return s.noteEvents(ctx, interested, "conversion", func(subs []store.Subscription) ([]store.Delivery, error) {
		return conversionDeliveries(subs, list, known)
	})
}

func conversionDeliveries(subs []store.Subscription, list []analytics.Conversion, known lookup) (due []store.Delivery, err error) {
	for i := range list {
		c := &list[i]
		url, ok := known.urls[c.Click.Link]
		if !ok {
			continue
		}
		id, body := c.Key().ID(), ""
		for _, sub := range subs {
			if !sub.EveryLink && sub.Workspace != url.Workspace || !slices.Contains(sub.Events, ConversionCreated) {
				continue
			}
			if body == "" {
				if body, err = envelope(ConversionCreated, c.OccurredAt, known.converted(&url, c)); err != nil {
					return nil, err
				}
			}
			due = append(due, delivery(sub.WebhookID, id, ConversionCreated, body, store.Now()))
		}
	}
	return due, nil
}

// converted returns the payload of a conversion.
func (l *lookup) converted(u *store.Link, c *analytics.Conversion) ConversionMade {
	return ConversionMade{
		ID: c.Key().ID(), URLID: u.ID, Slug: u.Slug, Name: c.Name, Value: float64(c.Value) / conversion.ValueScale,
		Currency: analytics.OrNull(c.Currency), ExternalID: analytics.OrNull(c.ExternalID),
		OccurredAt: instant(c.OccurredAt), ClickedAt: instant(c.Click.Time), Address: l.addresses[u.Num],
		VariantID: analytics.OrNull(analytics.IDString(c.Row.Variant)), RuleID: analytics.OrNull(analytics.IDString(c.Row.Rule)),
	}
}
