package webhooks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/shortline/shortline/control/internal/store"
)

// The events that webhooks can subscribe to.
const (
	URLCreated  = "url.created"
	URLUpdated  = "url.updated"
	URLDeleted  = "url.deleted"
	URLClicked  = "url.clicked"
	RuleCreated = "routing.rule_created"
	RuleUpdated = "routing.rule_updated"
	RuleDeleted = "routing.rule_deleted"
	RuleMatched = "routing.rule_matched"
)

// tested is the event of a test, which nobody subscribes to.
const tested = "webhook.test"

// Names lists all events that webhooks can subscribe to.
var Names = []string{URLCreated, URLUpdated, URLDeleted, URLClicked, RuleCreated, RuleUpdated, RuleDeleted, RuleMatched}

// Event is something that happened to a link.
type Event struct {
	Name    string // one of Names
	OwnerID string // the link's owner
	Data    any    // becomes JSON
	// Otherwise is what a webhook is told that wants its name but not Name: another side of the same action. A webhook
	// that wants both gets one.
	Otherwise *Event
}

// Emit writes down events for the webhooks that want them: active ones of the link's owner, and those of ADMINs that
// see all links. It belongs in the transaction of the change, before its audit entry.
func Emit(ctx context.Context, tx *store.Tx, events ...Event) error {
	var owners []string
	for _, e := range events {
		if !slices.Contains(owners, e.OwnerID) {
			owners = append(owners, e.OwnerID)
		}
	}
	if len(owners) == 0 {
		return nil
	}
	subs, err := tx.SubscriptionsOn(ctx, owners)
	if err != nil {
		return fmt.Errorf("find webhooks: %w", err)
	}
	now := store.Now()
	var list []store.Delivery
	for _, e := range events {
		id, bodies := store.NewID(), map[string]string{}
		for _, sub := range subs {
			if !sub.EveryLink && sub.UserID != e.OwnerID {
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
	if err := tx.InsertDeliveries(ctx, list); err != nil {
		return fmt.Errorf("note webhook deliveries: %w", err)
	}
	return nil
}

// delivery is due at once. Its id follows from webhook and event, so an event that is noted again, because nobody
// knows whether it was, gets the same one.
func delivery(webhookID, eventID, event, body string, now int64) store.Delivery {
	space, err := uuid.Parse(webhookID)
	if err != nil {
		panic("BUG: a webhook's id is no UUID: " + webhookID)
	}
	return store.Delivery{
		ID: uuid.NewSHA1(space, []byte(eventID)).String(), WebhookID: webhookID, EventID: eventID, Event: event, Payload: body, DueAt: now, CreatedAt: now,
	}
}

// envelope is the body of a delivery: compact, and with <, > and & as they are, so that a receiver who writes it
// anew is likely to get the same bytes.
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

func instant(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }
