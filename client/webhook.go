package client

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Errors of [WebhookReceiver.Read].
var (
	ErrSignature = errors.New("client: the signature of the webhook is not valid")
	ErrTooOld    = errors.New("client: the delivery of the webhook is too old, or from the future")
)

// WebhookEvent is the body of a delivery.
type WebhookEvent struct {
	Event     Event           `json:"event"`
	Timestamp time.Time       `json:"timestamp"` // when it happened
	Data      json.RawMessage `json:"data"`      // Payload decodes it
	// Delivery is the same in each attempt of a delivery, so that a receiver can ignore repetitions. It is not part of the body.
	Delivery string `json:"-"`
}

// Payload returns the data of the event: a *LinkClicked for url.clicked, for example. Data of an event that this client does not know
// are returned as they are.
func (e WebhookEvent) Payload() (any, error) {
	make := payloads[e.Event]
	if make == nil {
		return e.Data, nil
	}
	payload := make()
	if err := json.Unmarshal(e.Data, payload); err != nil {
		return nil, fmt.Errorf("client: the data of %s cannot be read: %w", e.Event, err)
	}
	return payload, nil
}

// WebhookReceiver verifies deliveries.
type WebhookReceiver struct {
	Secrets []string // of the webhook; several while the secret is being changed
	// Tolerance is how old a delivery may be. 0 means five minutes.
	Tolerance time.Duration
	Now       func() time.Time // nil means time.Now
}

const defaultTolerance = 5 * time.Minute

// prefix begins a secret that stands for bytes in base64, as Standard Webhooks has it.
const prefix = "whsec_"

// Read verifies the signature of a delivery and reads its body. The body must be the bytes that were received, before anything parses
// them. The signature covers the id and the time, so an old delivery that somebody recorded is refused.
func (w WebhookReceiver) Read(header http.Header, body []byte) (*WebhookEvent, error) {
	id, stamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	if !w.signed(id+"."+stamp+"."+string(body), header.Get("webhook-signature")) {
		return nil, ErrSignature
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return nil, ErrSignature
	}
	now, tolerance := time.Now, w.Tolerance
	if w.Now != nil {
		now = w.Now
	}
	if tolerance == 0 {
		tolerance = defaultTolerance
	}
	if now().Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		return nil, ErrTooOld
	}
	event := &WebhookEvent{}
	if err := json.Unmarshal(body, event); err != nil {
		return nil, fmt.Errorf("client: the body of the webhook cannot be read: %w", err)
	}
	event.Delivery = id
	return event, nil
}

// signed tells whether one of several signatures was made with one of the secrets.
func (w WebhookReceiver) signed(text, signatures string) bool {
	ok := false
	for _, secret := range w.Secrets {
		if secret == "" {
			continue
		}
		want := standardSignature(secret, text)
		for _, signature := range strings.Fields(signatures) {
			ok = hmac.Equal([]byte(signature), []byte(want)) || ok
		}
	}
	return ok
}

// SignWebhook returns the headers that a delivery of a body has, for tests of receivers.
func SignWebhook(secret, delivery string, at time.Time, body []byte) http.Header {
	stamp := strconv.FormatInt(at.Unix(), 10)
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("webhook-id", delivery)
	h.Set("webhook-timestamp", stamp)
	h.Set("webhook-signature", standardSignature(secret, delivery+"."+stamp+"."+string(body)))
	h.Set("X-Webhook-Delivery-Id", delivery)
	h.Set("X-Webhook-Timestamp", stamp)
	h.Set("X-Webhook-Signature", "sha256="+hex.EncodeToString(sum([]byte(secret), string(body))))
	return h
}

// standardSignature returns the signature of Standard Webhooks.
func standardSignature(secret, text string) string {
	key := []byte(secret)
	if encoded, found := strings.CutPrefix(secret, prefix); found {
		if decoded, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			key = decoded
		}
	}
	return "v1," + base64.StdEncoding.EncodeToString(sum(key, text))
}

func sum(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}
