package kit

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

const (
	idempotencyHeader = "Idempotency-Key"
	replayedHeader    = "Idempotency-Replayed"

	// idempotencyTime is how long a response is repeated.
	idempotencyTime = 24 * time.Hour
	// idempotencyGrace is the time beyond the endpoint's timeout after which a request without an effect counts as abandoned.
	idempotencyGrace  = time.Minute
	maxIdempotencyKey = 255
	// maxReplay is the size from which a compressed response is not kept. A bulk request of a thousand links has some 20 kB.
	maxReplay = 256 << 10
)

// repeatable reports whether an endpoint takes an Idempotency-Key: it answers a caller with a credential, and its request is one JSON body.
// A sign-in is excluded because its response is a cookie.
func (e *Endpoint) repeatable() bool {
	return e.Method == http.MethodPost && !e.Raw && !e.SignsIn && (e.Need == SignedIn || e.Need == Admin)
}

// idempotent lets a POST with an Idempotency-Key take effect once: a repetition gets the response of the first one. The key counts for a
// caller in a workspace at an address. Requests without an effect that fail are forgotten, so they can be corrected and sent again.
//
// The first transaction of the use case records that there is an effect (see store.HeldRequest). If the process is killed afterwards, the
// response is lost, but no repetition does the work again.
func (k *Kit) idempotent(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		e, r := k.endpointOf(c), c.Request()
		given := r.Header.Values(idempotencyHeader)
		if len(given) == 0 || e == nil || e.Method != http.MethodPost || e.Need == Public || e.Need == Anyone || e.SignsIn {
			return next(c)
		}
		key := strings.Trim(given[0], `"`) // the draft of the IETF writes it as a quoted string
		if !e.repeatable() || k.cfg.Replies == nil {
			return problem.OfField(idempotencyHeader, "is not supported here")
		}
		if !validIdempotencyKey(key) || len(given) > 1 {
			return problem.OfField(idempotencyHeader, "must be 1 to %d printable ASCII characters", maxIdempotencyKey)
		}
		body, err := io.ReadAll(r.Body) // readBody has limited it
		if err != nil {
			return fmt.Errorf("read the body again: %w", err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		now := time.Now()
		p := Principal(r.Context())
		request := store.IdempotentRequest{
			ID:        hash(p.UserID, p.Workspace.ID, r.URL.EscapedPath(), key),
			BodyHash:  hash(r.URL.RawQuery, string(body)),
			HeldUntil: now.Add(max(e.Timeout, k.cfg.Timeout) + idempotencyGrace).UnixMilli(),
			ExpiresAt: now.Add(idempotencyTime).UnixMilli(),
		}
		known, err := k.Store.ClaimRequest(r.Context(), request, now.UnixMilli())
		switch {
		case err != nil:
			return err
		case known != nil:
			return k.replay(c, request, known, now)
		}
		return k.process(c, request, next)
	}
}

// process processes a request that is claimed. Its response is stored before it is sent, so nobody sees a response that a repetition would
// not get.
func (k *Kit) process(c echo.Context, request store.IdempotentRequest, next echo.HandlerFunc) (err error) {
	r, res := c.Request(), c.Response()
	ctx, claimed := store.WithRequest(r.Context(), request)
	reply := &held{ResponseWriter: res.Writer}
	response := ""
	defer func() {
		res.Writer = reply.ResponseWriter
		if cause := recover(); cause != nil {
			k.endRequest(r.Context(), claimed, "")
			panic(cause)
		}
		k.endRequest(r.Context(), claimed, response)
		err = errors.Join(err, reply.send())
	}()
	res.Writer = reply
	c.SetRequest(r.WithContext(ctx))
	// A request that failed and still changed something, such as a count of wrong passwords, must not be tried again.
	if err = next(c); err == nil && (reply.status < 300 || claimed.Committed() && reply.status < 500) {
		response, err = k.sealReply(request.ID, reply)
	}
	return err
}

// endRequest stores the response. If that fails, the request stays claimed until its time is over, and a repetition then learns that the
// first one took effect.
func (k *Kit) endRequest(ctx context.Context, held *store.HeldRequest, response string) {
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), k.cfg.LookUpTimeout)
	defer cancel()
	if err := k.Store.EndRequest(within, held, response); err != nil {
		RequestLogOf(ctx).Err = err
	}
}

// replay answers a request that is known already.
func (k *Kit) replay(c echo.Context, request store.IdempotentRequest, known *store.IdempotentRequest, now time.Time) error {
	switch {
	case known.BodyHash != request.BodyHash:
		return NewAnswer(http.StatusUnprocessableEntity, "This Idempotency-Key was used for another request. Choose a new key.")
	case known.HeldUntil > now.UnixMilli():
		return &problem.Error{Kind: problem.Conflict, RetryAfter: time.Second,
			Message: "The first request with this Idempotency-Key is still being processed. Try again shortly."}
	case known.Response == "":
		return problem.New(problem.Conflict,
			"The first request with this Idempotency-Key took effect, but its response is not known. Look at what it has changed.")
	}
	stored, err := k.openReply(request.ID, known.Response)
	if err != nil {
		return err
	}
	h := c.Response().Header()
	for name, value := range stored.Header {
		h.Set(name, value)
	}
	h.Set(replayedHeader, "true")
	c.Response().WriteHeader(stored.Status)
	_, err = c.Response().Write(stored.Body)
	return err
}

// storedReply is a response as it is kept.
type storedReply struct {
	Status int               `json:"status"`
	Header map[string]string `json:"header"`
	Body   []byte            `json:"body"`
}

// repliedHeaders are the headers that belong to what was done, and not to the request that asks.
var repliedHeaders = []string{"Content-Type", "Location", "ETag", "X-Config-Revision"}

// sealReply returns the response for the store, or "" if it is too large. It is encrypted, because a response may have a new key or secret.
func (k *Kit) sealReply(id string, r *held) (string, error) {
	stored := storedReply{Status: r.status, Header: map[string]string{}, Body: r.body.Bytes()}
	for _, name := range repliedHeaders {
		if value := r.Header().Get(name); value != "" {
			stored.Header[name] = value
		}
	}
	text, err := json.Marshal(stored)
	if err != nil {
		return "", fmt.Errorf("keep a response: %w", err)
	}
	packed := gzipped(text, gzip.DefaultCompression)
	if len(packed) > maxReplay {
		return "", nil
	}
	return k.cfg.Replies.Seal(replyPlace(id), string(packed)), nil
}

func (k *Kit) openReply(id, sealed string) (stored storedReply, err error) {
	text, err := k.cfg.Replies.Open(replyPlace(id), sealed)
	if err != nil {
		return stored, fmt.Errorf("read a kept response: %w", err)
	}
	plain, err := gunzipped([]byte(text))
	if err == nil {
		err = json.Unmarshal(plain, &stored)
	}
	if err != nil {
		return stored, fmt.Errorf("read a kept response: %w", err)
	}
	return stored, nil
}

func replyPlace(id string) string { return "idempotent_requests|response|" + id }

func validIdempotencyKey(key string) bool {
	for _, c := range []byte(key) {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return key != "" && len(key) <= maxIdempotencyKey
}

// hash returns the SHA-256 of texts, in hexadecimal. The lengths keep texts apart.
func hash(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		_, _ = fmt.Fprintf(h, "%d:%s", len(text), text) // a hash never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}

// documentIdempotency adds the header Idempotency-Key to an operation.
func documentIdempotency(op *huma.Operation, e *Endpoint) {
	one, most := 1, maxIdempotencyKey
	op.Parameters = append(op.Parameters, &huma.Param{
		Name: idempotencyHeader, In: "header", Schema: &huma.Schema{Type: huma.TypeString, MinLength: &one, MaxLength: &most},
		Description: "A name of this request, such as a random UUID. For 24 hours, the same request with the same name takes effect once, and " +
			"gets the first response again. Another body gets 422, and 409 means that the first request is still being processed, or that its " +
			"response is not known.",
	})
	if success := op.Responses[strconv.Itoa(e.Status)]; success != nil {
		if success.Headers == nil {
			success.Headers = map[string]*huma.Param{}
		}
		success.Headers[replayedHeader] = &huma.Param{
			Description: "true: this is the response of an earlier request with the same Idempotency-Key.",
			Schema:      &huma.Schema{Type: huma.TypeString},
		}
	}
}
