package webhooks

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
)

const (
	subscriptionsFor = time.Second      // how long subscriptions are cached
	noteTime         = 30 * time.Second // timeout of one call
	noteBatch        = 2000             // clicks in one transaction
)

// clicks is the state of Note between calls.
type clicks struct {
	mu     sync.Mutex
	subs   []store.Subscription // to events of clicks and conversions
	readAt time.Time            // zero: no cache
}

// invalidate makes the next call read the subscriptions again.
func (c *clicks) invalidate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readAt = time.Time{}
}

// Note stores deliveries of url.clicked and routing.rule_matched for the subscribed webhooks. It is idempotent: after
// an error, which may come after a part of the clicks, the caller passes all of them again. Events beyond a webhook's
// maximum backlog are dropped and counted. Changes of a webhook on another replica take effect within a second.
func (s *Service) Note(ctx context.Context, rows []analytics.Row) error {
	ctx, cancel := context.WithTimeout(ctx, noteTime)
	defer cancel()
	subs, err := s.clickSubscriptions(ctx)
	if err == nil && len(subs) > 0 {
		err = s.store.Owners().Refresh(ctx)
	}
	if err == nil && len(subs) > 0 {
		wanted := slices.DeleteFunc(slices.Clone(rows), func(r analytics.Row) bool {
			owner := s.store.Owners().Of(r.Link, r.Owner)
			return !slices.ContainsFunc(subs, func(sub store.Subscription) bool {
				return wants(sub, owner, &r, URLClicked) || wants(sub, owner, &r, RuleMatched)
			})
		})
		for batch := range slices.Chunk(wanted, noteBatch) {
			if err = s.noteClicks(ctx, subs, batch); err != nil {
				break
			}
			select {
			case s.wake <- struct{}{}:
			default:
			}
		}
	}
	if err != nil {
		s.metrics.errors.Inc()
	}
	return err
}

func (s *Service) dropped(why string, n int) {
	s.metrics.dropped.Add(float64(n))
	s.cfg.Logger.Warn("click events dropped", "reason", why, "count", n)
}

// clickSubscriptions returns the subscriptions to events of clicks and conversions.
func (s *Service) clickSubscriptions(ctx context.Context) ([]store.Subscription, error) {
	c := &s.clicks
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.readAt) < subscriptionsFor {
		return c.subs, nil
	}
	at := time.Now()
	all, err := s.store.Subscriptions(ctx)
	if err != nil {
		return nil, fmt.Errorf("read webhook subscriptions: %w", err)
	}
	c.subs = slices.DeleteFunc(all, func(sub store.Subscription) bool {
		return !slices.ContainsFunc(sub.Events, func(event string) bool {
			return event == URLClicked || event == RuleMatched || event == ConversionCreated
		})
	})
	c.readAt = at
	return c.subs, nil
}

// wants reports whether a subscription includes a click on a link of a workspace as the given event.
func wants(sub store.Subscription, workspace uint64, r *analytics.Row, event string) bool {
	return (sub.EveryLink || sub.Workspace == workspace) && slices.Contains(sub.Events, event) && (event != RuleMatched || !r.Rule.IsZero())
}

func (s *Service) noteClicks(ctx context.Context, interested []store.Subscription, rows []analytics.Row) error {
	known, err := s.lookUp(ctx, rows)
	if err != nil {
		return err
	}
	return s.noteEvents(ctx, interested, "click", func(subs []store.Subscription) ([]store.Delivery, error) {
		return clickDeliveries(subs, rows, known)
	})
}

// noteEvents stores what deliveries makes for those of the subscriptions that still exist, within the maximum backlog of each webhook.
func (s *Service) noteEvents(ctx context.Context, interested []store.Subscription, kind string,
	deliveries func(subs []store.Subscription) ([]store.Delivery, error)) error {
	var workspaces []uint64
	for _, sub := range interested {
		workspaces = append(workspaces, sub.Workspace)
	}
	lost := 0
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		lost = 0
		subs, err := tx.SubscriptionsOn(ctx, store.Distinct(workspaces))
		if err != nil {
			return fmt.Errorf("find webhooks: %w", err)
		}
		list, err := deliveries(subs)
		if err != nil {
			return err
		}
		if list, lost, err = s.withinBacklog(ctx, tx, list); err != nil {
			return err
		}
		return tx.InsertDeliveries(ctx, list)
	})
	if err != nil {
		return fmt.Errorf("store %s events: %w", kind, err)
	}
	if lost > 0 {
		s.dropped("a webhook has too much that is still to be sent", lost)
	}
	return nil
}

// lookup has the current state of the links, rules and variants of clicks, without deleted ones.
type lookup struct {
	urls     map[uint64]store.Link
	rules    map[string]store.Rule
	variants map[string]store.Variant

	addresses map[uint64]Address // of the links
}

func (s *Service) lookUp(ctx context.Context, rows []analytics.Row) (l lookup, err error) {
	var nums []uint64
	var rules, variants []string
	for i := range rows {
		nums = append(nums, rows[i].Link)
		if !rows[i].Rule.IsZero() {
			rules = append(rules, analytics.IDString(rows[i].Rule))
		}
		if !rows[i].Variant.IsZero() {
			variants = append(variants, analytics.IDString(rows[i].Variant))
		}
	}
	if l.urls, err = s.store.LinksByNum(ctx, store.Distinct(nums)); err != nil {
		return l, fmt.Errorf("find clicked links: %w", err)
	}
	l.addresses = make(map[uint64]Address, len(l.urls))
	for num, u := range l.urls {
		l.addresses[num] = AddressOf(s.store.Conn, &u)
	}
	if l.rules, err = s.store.RulesByID(ctx, store.Distinct(rules)); err != nil {
		return l, fmt.Errorf("find matched rules: %w", err)
	}
	if l.variants, err = s.store.VariantsByID(ctx, store.Distinct(variants)); err != nil {
		return l, fmt.Errorf("find chosen variants: %w", err)
	}
	return l, nil
}

// clickDeliveries returns the deliveries of clicks. Clicks of deleted links have none.
func clickDeliveries(subs []store.Subscription, rows []analytics.Row, known lookup) ([]store.Delivery, error) {
	var list []store.Delivery
	for i := range rows {
		r := &rows[i]
		url, ok := known.urls[r.Link]
		if !ok {
			continue
		}
		for _, event := range []string{URLClicked, RuleMatched} {
			body := ""
			for _, sub := range subs {
				if !wants(sub, url.Workspace, r, event) { // not r.Owner: the link may have moved since
					continue
				}
				id, data := r.ID(), any(nil)
				if event == URLClicked {
					data = known.clicked(&url, r)
				} else {
					id += ".rule"
					rule := known.rules[analytics.IDString(r.Rule)]
					data = MatchedRule{url.ID, analytics.IDString(r.Rule), analytics.OrNull(rule.Name),
						analytics.OrNull(rule.TargetURL), r.Data()}
				}
				if body == "" {
					var err error
					if body, err = envelope(event, r.Time, data); err != nil {
						return nil, err
					}
				}
				list = append(list, delivery(sub.WebhookID, id, event, body, store.Now()))
			}
		}
	}
	return list, nil
}

// withinBacklog removes deliveries that exist already, and those beyond the maximum backlog of their webhook.
func (s *Service) withinBacklog(ctx context.Context, tx *store.Tx, list []store.Delivery) (kept []store.Delivery, lost int, err error) {
	ids := each.At(list, func(d *store.Delivery) string { return d.ID })
	before, err := tx.AttemptedDeliveries(ctx, ids)
	if err != nil {
		return nil, 0, err
	}
	room := map[string]int{}
	for _, d := range list {
		if before[d.ID] {
			continue
		}
		if _, ok := room[d.WebhookID]; !ok {
			n, err := tx.Backlog(ctx, d.WebhookID, s.cfg.MaxBacklog)
			if err != nil {
				return nil, 0, err
			}
			room[d.WebhookID] = s.cfg.MaxBacklog - n
		}
		if room[d.WebhookID] == 0 {
			lost++
			continue
		}
		room[d.WebhookID]--
		kept = append(kept, d)
	}
	return kept, lost, nil
}

// clicked returns the payload of a click. The destination comes from the present link, rule or variant, because a click
// stores only their ids.
func (l *lookup) clicked(u *store.Link, r *analytics.Row) LinkClicked {
	variant := l.variants[analytics.IDString(r.Variant)]
	to := u.OriginalURL
	switch {
	case !r.Rule.IsZero():
		to = l.rules[analytics.IDString(r.Rule)].TargetURL
	case !r.Variant.IsZero():
		to = variant.TargetURL
	case u.SmartRouting && u.DefaultURL != "":
		to = u.DefaultURL
	}
	return LinkClicked{u.ID, analytics.OrNull(analytics.IDString(r.Variant)), r.Data(), u.Slug, analytics.OrNull(to),
		analytics.OrNull(variant.Name), l.addresses[u.Num]}
}
