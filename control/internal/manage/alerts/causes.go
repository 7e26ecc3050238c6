package alerts

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
)

// cause is what holds at present. Its key identifies it within the rule.
type cause struct {
	kind, key, summary string
	links              []string // ids
}

const (
	failingStreak   = 5 // attempts of a webhook
	failingOrders   = 3 // orders of a certificate
	certificateEnds = 3 * 24 * time.Hour
)

// reasons are the words for reasons of broken destinations; see package linkhealth.
var reasons = map[string]string{
	"not_found": "the page does not exist (404)", "gone": "the page was removed (410)", "server_error": "the server fails",
	"no_address": "the host name does not exist", "unreachable": "the server cannot be reached",
	"bad_certificate": "its certificate is not valid", "too_slow": "the server is too slow", "redirect_loop": "it redirects again and again",
}

// holding lists the causes of a rule that hold, except for clicks.
func (s *Service) holding(ctx context.Context, r *store.AlertRule) (list []cause, err error) {
	for _, kind := range r.Causes {
		var some []cause
		switch kind {
		case Destination:
			some, err = s.broken(ctx, r)
		case Expiry:
			some, err = s.ending(ctx, r)
		case Exhaustion:
			some, err = s.exhausted(ctx, r)
		case Domain:
			some, err = s.domains(ctx, r)
		case Webhook:
			some, err = s.webhooks(ctx, r)
		}
		if err != nil {
			return nil, fmt.Errorf("look at the cause %s: %w", kind, err)
		}
		list = append(list, some...)
	}
	return list, nil
}

// broken groups links by the destination that is broken.
func (s *Service) broken(ctx context.Context, r *store.AlertRule) (list []cause, err error) {
	found, err := s.store.BrokenDestinations(ctx, r, maxCauses)
	for _, b := range found {
		key := fmt.Sprintf("destination:%d", b.Destination)
		if len(list) == 0 || list[len(list)-1].key != key {
			why := reasons[b.Reason]
			if why == "" {
				why = "it does not answer"
			}
			list = append(list, cause{kind: Destination, key: key, summary: fmt.Sprintf("A destination on %s is broken: %s.", b.Host, why)})
		}
		last := &list[len(list)-1]
		last.links = append(last.links, b.LinkID)
	}
	return list, err
}

// ending groups links by the day on which they end.
func (s *Service) ending(ctx context.Context, r *store.AlertRule) (list []cause, err error) {
	now := s.cfg.Now()
	found, err := s.store.EndingLinks(ctx, r, now.UnixMilli(), now.AddDate(0, 0, int(r.Days)).UnixMilli(), maxCauses)
	for i := range found {
		at := time.UnixMilli(found[i].ExpiresAt).UTC()
		key := "expiry:" + at.Format(time.DateOnly)
		if len(list) == 0 || list[len(list)-1].key != key {
			list = append(list, cause{kind: Expiry, key: key})
		}
		last := &list[len(list)-1]
		last.links = append(last.links, found[i].ID)
		day := at.Format("2 January 2006")
		if last.summary = fmt.Sprintf("A link ends on %s (UTC).", day); len(last.links) > 1 {
			last.summary = fmt.Sprintf("%d links end on %s (UTC).", len(last.links), day)
		}
	}
	return list, err
}

func (s *Service) exhausted(ctx context.Context, r *store.AlertRule) (list []cause, err error) {
	found, err := s.store.NearlyExhausted(ctx, r, maxCauses)
	for i := range found {
		u := &found[i]
		list = append(list, cause{Exhaustion, "exhaustion:" + u.ID,
			fmt.Sprintf("The link %s has had at least %d %% of its %d clicks.", u.Name(), r.Exhaustion, u.MaxClicks), []string{u.ID}})
	}
	return list, err
}

func (s *Service) domains(ctx context.Context, r *store.AlertRule) ([]cause, error) {
	found, err := s.store.DomainsInTrouble(ctx, r.Workspace, failingOrders, s.cfg.Now().Add(certificateEnds).UnixMilli())
	return each.Of(found, func(t store.Trouble) cause {
		text := "The domain %s is out of service: its TXT record was missing for a week."
		if t.Why == "certificate" {
			text = "The certificate of the domain %s cannot be renewed, or ends within three days."
		}
		return cause{kind: Domain, key: "domain:" + t.ID + ":" + t.Why, summary: fmt.Sprintf(text, t.Name)}
	}), err
}

func (s *Service) webhooks(ctx context.Context, r *store.AlertRule) ([]cause, error) {
	found, err := s.store.WebhooksInTrouble(ctx, r.Workspace, failingStreak)
	return each.Of(found, func(t store.Trouble) cause {
		text := "The webhook %q fails: the last attempts got no answer that is a success."
		if t.Why == "paused" {
			text = "The webhook %q is paused, because nothing could be delivered for three days."
		}
		// A webhook that is paused because it fails is the same cause.
		return cause{kind: Webhook, key: "webhook:" + t.ID, summary: fmt.Sprintf(text, t.Name)}
	}), err
}

// holds reports whether a rule looks for a kind of causes.
func holds(r *store.AlertRule, kind string) bool { return r.Active && slices.Contains(r.Causes, kind) }
