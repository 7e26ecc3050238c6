package webhooks

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/http/httpguts"

	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// Limits of webhooks.
const (
	maxWebhooks    = 100  // per user
	maxName        = 100  // characters
	maxSecret      = 255  // characters
	maxHeaders     = 20   // custom headers
	maxHeaderBytes = 4096 // of all header names and values
)

// Input is the input of Create and Update. A nil field is not given.
type Input struct {
	Name, URL *string
	Secret    *string // "" removes it, so deliveries are not signed; a new webhook gets a generated one
	Events    *[]string
	Headers   *map[string]string
	Scope     *string // ScopeOwn or ScopeAll; ScopeAll requires an ADMIN
	Active    *bool
	OldUntil  *int64 // new end of the old secret of a rotation, in Unix milliseconds; 0, or a time that has passed: now
	Long      *bool  // whether failed deliveries are attempted for three days
	// Past is what a new webhook brings along from another installation.
	Past store.Past
}

// CheckInput returns the problems that a new webhook would have.
func (s *Service) CheckInput(ctx context.Context, in Input) error {
	var v problem.Fields
	in.required(&v)
	s.applyInput(ctx, &in, &Webhook{Headers: map[string]string{}}, &v)
	return v.Err()
}

// The scopes of a webhook: the links of its owner, or all links.
const (
	ScopeOwn = "own"
	ScopeAll = "all"
)

// Scope returns ScopeOwn or ScopeAll.
func (w *Webhook) Scope() string {
	if w.EveryLink {
		return ScopeAll
	}
	return ScopeOwn
}

// required reports the missing fields of a new webhook.
func (in *Input) required(v *problem.Fields) {
	for _, f := range []struct {
		name  string
		given bool
	}{{"name", in.Name != nil}, {"url", in.URL != nil}, {"events", in.Events != nil}} {
		if !f.given {
			v.Add(f.name, "is required")
		}
	}
}

// applyInput validates the given fields and writes them to w, except for the secret.
func (s *Service) applyInput(ctx context.Context, in *Input, w *Webhook, v *problem.Fields) {
	if in.Name != nil {
		w.Name = strings.TrimSpace(*in.Name)
		if n := utf8.RuneCountInString(w.Name); n < 1 || n > maxName {
			v.Add("name", "must be 1 to %d characters long", maxName)
		}
	}
	if in.URL != nil {
		w.URL = strings.TrimSpace(*in.URL)
		if err := s.client.CheckURL(ctx, w.URL); err != nil {
			v.Add("url", "%s", err)
		}
	}
	if in.Secret != nil && utf8.RuneCountInString(*in.Secret) > maxSecret {
		v.Add("secret", "must be at most %d characters long", maxSecret)
	}
	if in.Events != nil {
		w.Events = checkEvents(*in.Events, v)
	}
	if in.Headers != nil {
		s.applyHeaders(*in.Headers, w, v)
	}
	if in.Scope != nil {
		if w.EveryLink = *in.Scope == ScopeAll; !w.EveryLink && *in.Scope != ScopeOwn {
			v.Add("scope", "must be own or all")
		}
	}
	if in.Active != nil {
		w.Active = *in.Active
	}
	if in.Long != nil {
		w.Long = *in.Long
	}
	s.applyOldUntil(in, w, v)
}

// checked copies the fields that apply has validated in a draft, except for the headers.
func (in *Input) checked(draft, to *Webhook) {
	if in.Name != nil {
		to.Name = draft.Name
	}
	if in.URL != nil {
		to.URL = draft.URL
	}
	if in.Events != nil {
		to.Events = draft.Events
	}
	if in.Scope != nil {
		to.EveryLink = draft.EveryLink
	}
	if in.Active != nil {
		to.Active = draft.Active
	}
	if in.Long != nil {
		to.Long = draft.Long
	}
}

func mayHave(w *Webhook, owner store.User) error {
	if w.EveryLink && owner.Role != "ADMIN" {
		return problem.New(problem.Forbidden, "The scope \"all\" requires an administrator.")
	}
	return nil
}

// mayReceive returns an error if the caller is an API key that must not read what the webhook receives.
func mayReceive(p auth.Principal, w *Webhook) error {
	if w.EveryLink && p.KeyID != "" && !p.IsAdmin() {
		return problem.New(problem.Forbidden, "The scope \"all\" requires an administrator, or an unlimited API key of one.")
	}
	for _, event := range w.Events {
		if need := readScopes(event); !p.Scopes.Allow(need) {
			return problem.New(problem.Forbidden, "This API key lacks the scope %s, which the event %s needs.",
				strings.Join(need.Names(), " or "), event)
		}
	}
	return nil
}

// readScopes returns the scopes that permit an API key to read the data of an event. The key needs one of them.
func readScopes(event string) auth.Scopes {
	switch event {
	case URLClicked, RuleMatched, ConversionCreated, ExperimentDecided, AlertFired, AlertResolved:
		return auth.AnalyticsRead
	case DomainVerified, DomainLost, CertificateIssued, CertificateFailed, CertificateExpiring:
		return auth.LinksRead | auth.DomainsScope
	}
	return auth.LinksRead
}

func checkEvents(list []string, v *problem.Fields) []string {
	if len(list) == 0 {
		v.Add("events", "must contain at least one event")
	}
	var out []string
	for i, name := range list {
		switch {
		case !slices.Contains(Names, name):
			v.Add(fmt.Sprintf("events.%d", i), "must be one of %s", strings.Join(Names, ", "))
		case !slices.Contains(out, name):
			out = append(out, name)
		}
	}
	return out
}

// ours lists the headers that a webhook cannot set: those of deliveries and of the connection.
var ours = []string{
	"host", "connection", "transfer-encoding", "keep-alive", "te", "trailer", "upgrade", "expect", "user-agent", "accept-encoding",
	"proxy-", "content-", "x-webhook-", "webhook-", "http2-settings", "cookie",
}

func checkHeaders(h map[string]string, v *problem.Fields) {
	if len(h) > maxHeaders {
		v.Add("headers", "must have at most %d headers", maxHeaders)
	}
	size := 0
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(h)) {
		field, lower := "headers."+name, strings.ToLower(name)
		size += len(name) + len(h[name])
		switch {
		case !httpguts.ValidHeaderFieldName(name):
			v.Add(field, "is not a valid header name")
		case slices.ContainsFunc(ours, func(o string) bool {
			return lower == o || strings.HasSuffix(o, "-") && strings.HasPrefix(lower, o)
		}):
			v.Add(field, "cannot be set")
		case seen[lower]:
			v.Add(field, "is given twice")
		case !httpguts.ValidHeaderFieldValue(h[name]):
			v.Add(field, "must not contain control characters")
		}
		seen[lower] = true
	}
	if size > maxHeaderBytes {
		v.Add("headers", "must be at most %d bytes long together", maxHeaderBytes)
	}
}

// HeaderMask replaces the values of custom headers in responses. In a change, a header with this value keeps its
// present value, so a client can send back what it has read.
const HeaderMask = "***"

// Masked returns the custom headers with HeaderMask as values, which may be credentials.
func (w *Webhook) Masked() map[string]string {
	out := make(map[string]string, len(w.Headers))
	for name := range w.Headers {
		out[name] = HeaderMask
	}
	return out
}

// applyHeaders replaces the headers of w.
func (s *Service) applyHeaders(in map[string]string, w *Webhook, v *problem.Fields) {
	kept := make(map[string]string, len(w.Headers))
	for name, value := range w.Headers {
		kept[strings.ToLower(name)] = value
	}
	out := make(map[string]string, len(in))
	for _, name := range slices.Sorted(maps.Keys(in)) {
		value := in[name]
		if value == HeaderMask {
			var ok bool
			if value, ok = kept[strings.ToLower(name)]; !ok {
				v.Add("headers."+name, "needs a value, because there is no present value that %s could keep", HeaderMask)
			}
		}
		out[name] = value
	}
	checkHeaders(out, v)
	w.Headers, w.Webhook.Headers = out, s.sealHeaders(w.ID, out)
}

// newSecret returns 32 random bytes in the format of the Standard Webhooks specification.
func newSecret() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(b[:])
}

const secretPrefix = "whsec_"

func secretPlace(id string) string  { return "webhooks|secret|" + id }
func headersPlace(id string) string { return "webhooks|headers|" + id }

// sealHeaders encrypts headers, whose values may be credentials. It returns "" for no headers.
func (s *Service) sealHeaders(id string, h map[string]string) string {
	if len(h) == 0 {
		return ""
	}
	text, err := json.Marshal(h)
	if err != nil {
		panic("BUG: texts can't be encoded: " + err.Error())
	}
	return s.box.Seal(headersPlace(id), string(text))
}

// opened decrypts the headers of a stored webhook.
func (s *Service) opened(row store.Webhook) (Webhook, error) {
	w := Webhook{Webhook: row, Headers: map[string]string{}, HasSecret: row.Secret != ""}
	if row.Headers == "" {
		return w, nil
	}
	text, err := s.box.Open(headersPlace(row.ID), row.Headers)
	if err == nil {
		err = json.Unmarshal([]byte(text), &w.Headers)
	}
	if err != nil {
		return w, fmt.Errorf("decrypt headers of webhook %s: %w", row.ID, err)
	}
	return w, nil
}

// logged returns the fields of a webhook for the audit log: no secret, and only the names of headers.
func logged(w *Webhook) map[string]any {
	return map[string]any{"name": w.Name, "url": w.URL, "events": w.Events, "isActive": w.Active, "scope": w.Scope(),
		"hasSecret": w.HasSecret, "longRetries": w.Long, "oldSecretUntil": untilOf(w),
		"headers": names(w.Headers)}
}

func names(h map[string]string) []string {
	return slices.AppendSeq([]string{}, slices.Values(slices.Sorted(maps.Keys(h))))
}

// changed removes the equal fields from both sides, except for the headers.
func changed(before, after map[string]any) (was, is map[string]any) {
	was, is = map[string]any{}, map[string]any{}
	for name, v := range after {
		if name != "headers" && !reflect.DeepEqual(before[name], v) {
			was[name], is[name] = before[name], v
		}
	}
	return was, is
}
