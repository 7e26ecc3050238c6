package webhooks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// The events that webhooks can subscribe to.
const (
	URLCreated  = "url.created"
	URLUpdated  = "url.updated"
	URLDeleted  = "url.deleted"
	URLRestored = "url.restored"
	URLClicked  = "url.clicked"
	RuleCreated = "routing.rule_created"
	RuleUpdated = "routing.rule_updated"
	RuleDeleted = "routing.rule_deleted"
	RuleMatched = "routing.rule_matched"

	LinkStarted          = "link.started"
	LinkExpired          = "link.expired"
	LinkExhausted        = "link.exhausted"
	DestinationBroken    = "link.destination_broken"
	DestinationRecovered = "link.destination_recovered"

	AlertFired    = "alert.fired"
	AlertResolved = "alert.resolved"

	ConversionCreated = "conversion.created"
	ExperimentDecided = "experiment.decided"

	DomainVerified      = "domain.verified"
	DomainLost          = "domain.failed"
	CertificateIssued   = "domain.certificate.issued"
	CertificateFailed   = "domain.certificate.failed"
	CertificateExpiring = "domain.certificate.expiring"
)

// tested is the event of a test. It cannot be subscribed to.
const tested = "webhook.test"

// Names lists all events that webhooks can subscribe to.
var Names = []string{URLCreated, URLUpdated, URLDeleted, URLRestored, URLClicked, RuleCreated, RuleUpdated, RuleDeleted, RuleMatched,
	LinkStarted, LinkExpired, LinkExhausted, DestinationBroken, DestinationRecovered,
	ConversionCreated, ExperimentDecided, DomainVerified, DomainLost, CertificateIssued, CertificateFailed, CertificateExpiring,
	AlertFired, AlertResolved}

// Event is a change of a link, of one of its rules, or of a domain.
type Event struct {
	Name      string // one of Names
	Workspace uint64 // number of the workspace of the link or domain
	Left      uint64 // number of the workspace that the link has left, whose webhooks also get the event; usually 0
	Data      any    // payload, encoded as JSON
	// Otherwise is another event for the same action. Webhooks that subscribe to it, but not to Name, get it. A webhook
	// that subscribes to both gets one delivery.
	Otherwise *Event
}

// Emit stores deliveries of events to the subscribed webhooks: active webhooks of the link's workspace, and webhooks of
// ADMINs with the scope "all". Call it in the transaction of the change, before its audit entry.
func Emit(ctx context.Context, tx *store.Tx, events ...Event) error {
	var workspaces []uint64
	for _, e := range events {
		for _, w := range []uint64{e.Workspace, e.Left} {
			if !slices.Contains(workspaces, w) {
				workspaces = append(workspaces, w)
			}
		}
	}
	if len(workspaces) == 0 {
		return nil
	}
	subs, err := tx.SubscriptionsOn(ctx, workspaces)
	if err != nil {
		return fmt.Errorf("find webhooks: %w", err)
	}
	now := store.Now()
	var list []store.Delivery
	for _, e := range events {
		id, bodies := store.NewID(), map[string]string{}
		for _, sub := range subs {
			if !sub.EveryLink && sub.Workspace != e.Workspace && sub.Workspace != e.Left {
				continue
			}
			told := &e
			if !slices.Contains(sub.Events, e.Name) {
				if told = e.Otherwise; told == nil || !slices.Contains(sub.Events, told.Name) {
					continue
				}
			}
			if bodies[told.Name] == "" {
				if bodies[told.Name], err = envelope(told.Name, now, told.Data); err != nil {
					return err
				}
			}
			list = append(list, delivery(sub.WebhookID, id, told.Name, bodies[told.Name], now))
		}
	}
	return problem.Doing("store webhook deliveries", tx.InsertDeliveries(ctx, list))
}

// delivery returns a delivery that is due immediately. Its id is derived from webhook and event, so storing an event
// twice, after an unknown outcome, has no effect.
func delivery(webhookID, eventID, event, body string, now int64) store.Delivery {
	space, err := uuid.Parse(webhookID)
	if err != nil {
		panic("BUG: a webhook's id is no UUID: " + webhookID)
	}
	return store.Delivery{
		ID: uuid.NewSHA1(space, []byte(eventID)).String(), WebhookID: webhookID, EventID: eventID, Event: event, Payload: body, DueAt: now,
		CreatedAt: now,
	}
}

// envelope returns the body of a delivery. It is compact and does not escape <, > and &, so receivers that encode the
// JSON again probably get the same bytes.
func envelope(event string, at int64, data any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(struct {
		Event     string `json:"event"`
		Timestamp string `json:"timestamp"`
		Data      any    `json:"data"`
	}{event, instant(at), data})
	if err != nil {
		return "", fmt.Errorf("encode event %s: %w", event, err)
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// Instant returns a time in Unix milliseconds as payloads have it.
func Instant(ms int64) string { return instant(ms) }

func instant(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }
