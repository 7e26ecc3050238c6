package webhooks

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/platform/outbound"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/backoff"
	"github.com/shortline/shortline/shared/job"
)

const (
	maxAnswer     = 64 << 10         // bytes read of a response
	maxKept       = 1000             // characters logged of a response
	maxRetryAfter = 10 * time.Minute // the longest Retry-After that is respected
	userAgent     = "Shortline-Webhook/1"
)

// message is the content of one attempt.
type message struct {
	delivery string
	event    string
	payload  string
	attempt  int // 1, 2, …
}

// result is the result of one attempt.
type result struct {
	log        store.WebhookLog
	again      bool          // a later attempt may succeed
	retryAfter time.Duration // from the receiver; 0 if not given
	aborted    bool          // ctx ended during the attempt
}

// send makes one attempt. It always returns a result, with a complete log entry.
func (s *Service) send(ctx context.Context, w *store.Webhook, m message) (r result) {
	start := time.Now()
	r.log = store.WebhookLog{
		ID: store.NewID(), WebhookID: w.ID, DeliveryID: m.delivery, Event: m.event, Payload: m.payload, Attempt: m.attempt, SentAt: s.now(),
	}
	if err := job.Contain(s.cfg.Logger, func() error { s.attempt(ctx, w, m, &r); return nil }); err != nil {
		r.log.Error, r.log.Success, r.again = "The service failed at the attempt. Its log says why.", false, true
	}
	r.log.Duration = time.Since(start).Milliseconds()
	s.metrics.attempt(r.log.Success, time.Since(start))
	return r
}

// attempt sends a request, and sets in r what has come of it.
func (s *Service) attempt(ctx context.Context, w *store.Webhook, m message, r *result) {
	res, err := s.request(ctx, w, m, r.log.SentAt)
	if err == nil {
		defer res.Body.Close()
		r.log.StatusCode = res.StatusCode
		var body []byte
		body, err = io.ReadAll(res.Body)
		r.log.Response = excerpt(body)
		if !timedOut(err) {
			err = nil // the status decides; the body may be incomplete
		}
	}
	switch {
	case err != nil && ctx.Err() != nil:
		r.aborted = true
		r.log.Error = "The service stopped during the attempt."
	case err != nil:
		r.log.Error, r.again = describe(err, s.cfg.Timeout), !errors.Is(err, errUnusable)
	case res.StatusCode >= 200 && res.StatusCode < 300:
		r.log.Success = true
	default:
		r.log.Error = strings.TrimSpace(fmt.Sprintf("The receiver answered %d %s", res.StatusCode, http.StatusText(res.StatusCode))) + "."
		r.again, r.retryAfter = worthRetrying(res.StatusCode), backoff.RetryAfter(res.Header.Get("Retry-After"), s.cfg.Now(), maxRetryAfter)
	}
}

// errUnusable is the error of a webhook that cannot be used. Retries do not help.
var errUnusable = errors.New("unusable webhook")

func (s *Service) request(ctx context.Context, w *store.Webhook, m message, at int64) (*http.Response, error) {
	opened, err := s.opened(*w)
	if err != nil {
		s.cfg.Logger.Error("webhook headers not readable", "webhook_id", w.ID, "error", err.Error())
		return nil, fmt.Errorf("%w: its headers could not be decrypted", errUnusable)
	}
	secrets, err := s.secrets(w, at)
	if err != nil {
		s.cfg.Logger.Error("webhook secret not readable", "webhook_id", w.ID, "error", err.Error())
		return nil, fmt.Errorf("%w: its secret could not be decrypted", errUnusable)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, strings.NewReader(m.payload))
	if err != nil {
		return nil, fmt.Errorf("%w: its address is not valid", errUnusable)
	}
	for name, value := range opened.Headers {
		req.Header.Set(name, value)
	}
	for name, value := range headers(secrets, m, at/1000) {
		req.Header.Set(name, value)
	}
	// An idempotency key without values allows the transport to repeat the request on a new connection if the present
	// one was just closed. The header itself is not sent. Receivers detect duplicates by the delivery id.
	if req.Header.Get("Idempotency-Key") == "" {
		req.Header["Idempotency-Key"] = []string{}
	}
	return s.client.Do(req)
}

// secrets returns the secrets of a webhook that are valid at a time, the newest first.
func (s *Service) secrets(w *store.Webhook, at int64) (list []string, err error) {
	sealed := []string{w.Secret}
	if w.OldUntil > at {
		sealed = append(sealed, w.OldSecret)
	}
	for _, one := range sealed {
		if one == "" {
			continue
		}
		secret, err := s.box.Open(secretPlace(w.ID), one)
		if err != nil {
			return nil, err
		}
		list = append(list, secret)
	}
	return list, nil
}

// headers returns the headers of a delivery that is sent at a time, in Unix seconds: our own, and those of the Standard
// Webhooks specification (standardwebhooks.com), whose signature includes id and time. secrets are those that are valid, the newest
// first. Standard Webhooks knows several signatures. Our own header has one, by the oldest secret, so that a receiver which does not know
// the new one yet accepts it.
func headers(secrets []string, m message, at int64) map[string]string {
	stamp := strconv.FormatInt(at, 10)
	h := map[string]string{
		"Content-Type": "application/json", "User-Agent": userAgent,
		"X-Webhook-Event": m.event, "X-Webhook-Delivery-Id": m.delivery, "X-Webhook-Timestamp": stamp,
		"X-Webhook-Attempt": strconv.Itoa(m.attempt),
		"webhook-id":        m.delivery, "webhook-timestamp": stamp,
	}
	var signatures []string
	for _, secret := range secrets {
		h["X-Webhook-Signature"] = "sha256=" + hex.EncodeToString(sign([]byte(secret), m.payload))
		standard := sign(standardKey(secret), m.delivery+"."+stamp+"."+m.payload)
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(standard))
	}
	if len(signatures) > 0 {
		h["webhook-signature"] = strings.Join(signatures, " ")
	}
	return h
}

// standardKey returns the key of a secret in Standard Webhooks: what follows whsec_ in base64, or else the bytes of the text.
func standardKey(secret string) []byte {
	if encoded, ok := strings.CutPrefix(secret, secretPrefix); ok {
		if decoded, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			return decoded
		}
	}
	return []byte(secret)
}

func sign(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// worthRetrying reports whether a later attempt of the same request can succeed.
func worthRetrying(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return status < 400 || status >= 500
}

func timedOut(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout() || errors.Is(err, context.DeadlineExceeded)
}

// describe returns an error text for the owner, without details of the operator's network.
func describe(err error, timeout time.Duration) string {
	var dns *net.DNSError
	var op *net.OpError
	var cert *tls.CertificateVerificationError
	var u *url.Error
	switch {
	case errors.Is(err, errUnusable):
		return "The webhook can't be used: " + strings.TrimPrefix(err.Error(), errUnusable.Error()+": ") + "."
	case errors.Is(err, outbound.ErrForbidden):
		return "Nothing was sent: the address is not a public one."
	case timedOut(err):
		return fmt.Sprintf("The receiver did not answer within %s.", timeout)
	case errors.As(err, &dns):
		return "The host name could not be resolved."
	case errors.As(err, &cert):
		return excerpt([]byte("The certificate was not accepted: " + cert.Err.Error() + "."))
	case errors.As(err, &op) && op.Err != nil:
		return excerpt([]byte("The connection failed: " + op.Err.Error() + "."))
	case errors.As(err, &u):
		err = u.Err
	}
	return excerpt([]byte("The request failed: " + err.Error() + "."))
}

// excerpt returns the beginning of a response as valid text without control characters.
func excerpt(b []byte) string {
	var out strings.Builder
	n := 0
	for _, r := range strings.ToValidUTF8(string(b[:min(len(b), 4*maxKept)]), "\uFFFD") {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7F && r < 0xA0 {
			continue
		}
		if n++; n > maxKept {
			break
		}
		out.WriteRune(r)
	}
	return out.String()
}
