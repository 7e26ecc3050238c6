package imports

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Limits of the answers of other services.
const (
	mostBytes     = 32 << 20
	mostRedirects = 3
	answerTime    = time.Minute
	mostAttempts  = 6
	longestWait   = 15 * time.Minute // that a service may ask for
	firstWait     = time.Second
)

// API is the interface of another service.
type API struct {
	Base   *url.URL
	Header http.Header // with the secret
	Client *http.Client
	Wait   func(context.Context, time.Duration) error
	Say    func(format string, args ...any)
	Now    func() time.Time
}

// newAPI returns the interface at an address. The secret leaves this machine without encryption only with inClear.
func newAPI(address string, h *http.Client, inClear bool) (*API, error) {
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	base, err := url.Parse(strings.TrimRight(address, "/"))
	switch {
	case err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" || base.RawQuery != "" || base.Fragment != "":
		return nil, fmt.Errorf("%s is not the address of a service, such as https://links.example.com", quoted(address))
	case base.User != nil:
		return nil, errors.New("the address must not contain a password")
	case base.Scheme == "http" && !inClear && !isLocal(base.Hostname()):
		return nil, errors.New("the token would travel without encryption; use https://, or add --allow-http")
	}
	own := *h
	own.Timeout = answerTime
	own.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if len(via) > mostRedirects || req.URL.Host != base.Host || req.URL.Scheme != base.Scheme {
			return http.ErrUseLastResponse // another host must not get the token
		}
		return nil
	}
	return &API{Base: base, Header: http.Header{"Accept": {"application/json"}}, Client: &own}, nil
}

func isLocal(host string) bool {
	return host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.")
}

// Refusal is an answer of a service that is no success.
type Refusal struct {
	Host    string
	Status  int
	Message string // of the service
	After   time.Duration
}

// Error implements error.
func (e *Refusal) Error() string {
	text := fmt.Sprintf("%s answered %d %s", e.Host, e.Status, http.StatusText(e.Status))
	if e.Message != "" {
		text += ": " + e.Message
	}
	switch e.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		text += "; is the token right, and may it read links?"
	case http.StatusTooManyRequests:
		text += "; run the same command later, and it goes on from here"
	}
	return text
}

// Lost is a request without an answer.
type Lost struct {
	Host string
	Err  error
}

// Error implements error.
func (e *Lost) Error() string { return fmt.Sprintf("%s cannot be reached: %v", e.Host, e.Err) }

// Unwrap returns the cause.
func (e *Lost) Unwrap() error { return e.Err }

// get reads an object.
func (a *API) get(ctx context.Context, path string, query url.Values, into any) error {
	at := *a.Base
	at.Path, at.RawPath = "", ""
	address := at.String() + a.Base.EscapedPath() + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	return a.call(ctx, http.MethodGet, address, "", into)
}

// post sends a form, which is not in logs as a query is, and reads an object.
func (a *API) post(ctx context.Context, path string, form url.Values, into any) error {
	return a.call(ctx, http.MethodPost, a.Base.String()+path, form.Encode(), into)
}

// call sends a request until there is an answer. Requests only read, so they can be repeated.
func (a *API) call(ctx context.Context, method, address, form string, into any) error {
	for attempt := 1; ; attempt++ {
		err := a.once(ctx, method, address, form, into)
		var refused *Refusal
		var lost *Lost
		wait := firstWait << (attempt - 1)
		switch {
		case err == nil || ctx.Err() != nil || attempt == mostAttempts:
			return err
		case errors.As(err, &refused):
			if !retried(refused.Status) || refused.After > longestWait {
				return err
			}
			wait = max(wait, refused.After)
		case errors.As(err, &lost):
			if certificate := new(tls.CertificateVerificationError); errors.As(err, &certificate) {
				return err
			}
		default:
			return err
		}
		a.Say("%v; waiting %s", shortly(err), wait)
		if err := a.Wait(ctx, wait); err != nil {
			return err
		}
	}
}

// shortly returns an error without its advice.
func shortly(err error) string {
	text, _, _ := strings.Cut(err.Error(), ";")
	return text
}

func retried(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable,
		http.StatusGatewayTimeout:
		return true
	}
	return false
}

func (a *API) once(ctx context.Context, method, address, form string, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(form))
	if err != nil {
		return err
	}
	req.Header = a.Header.Clone()
	if form != "" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := a.Client.Do(req)
	if err != nil {
		return a.lost(ctx, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, mostBytes+1))
	switch {
	case err != nil:
		return a.lost(ctx, err)
	case len(body) > mostBytes:
		return fmt.Errorf("%s answered with more than %d MB", a.Base.Host, mostBytes>>20)
	case res.StatusCode >= 300 && res.StatusCode < 400:
		return fmt.Errorf("%s leads to another address; give that one", a.Base.Host)
	case res.StatusCode != http.StatusOK:
		return &Refusal{a.Base.Host, res.StatusCode, message(body), retryAfter(res.Header, a.Now())}
	case isHTML(res.Header, body):
		return fmt.Errorf("%s answered with a page for people; is the address that of its API?", a.Base.Host)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("the answer of %s cannot be read: %w", a.Base.Host, err)
	}
	return nil
}

// lost returns the error of a request without its address.
func (a *API) lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err
	}
	return &Lost{a.Base.Host, err}
}

func isHTML(header http.Header, body []byte) bool {
	kind, _, _ := mime.ParseMediaType(header.Get("Content-Type")) // one that cannot be read is not HTML
	return kind == "text/html" || bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))
}

// message returns the text of an error. Services call it by several names.
func message(body []byte) string {
	var fields map[string]any
	if json.Unmarshal(body, &fields) != nil {
		return ""
	}
	for _, name := range []string{"detail", "description", "message", "error"} {
		switch value := fields[name].(type) {
		case string:
			return quoted(value)
		case map[string]any:
			if text, is := value["message"].(string); is {
				return quoted(text)
			}
		}
	}
	return ""
}

// retryAfter reads Retry-After, which has seconds or a date. It returns 0 without one.
func retryAfter(header http.Header, now time.Time) time.Duration {
	text := header.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil && seconds >= 0 {
		return time.Duration(min(seconds, 1<<30)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}
