package kit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"github.com/shortline/shortline/control/internal/fleet/edgeapi"
	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/shared/visitor"
)

// RequestLog collects what handlers add to the log line of a request.
type RequestLog struct {
	id     string
	UserID string
	keyID  string
	Err    error // internal; never shown
	caller context.Context
	url    *url.URL
}

// ID returns the id of the request, under which the audit log and the log have it.
func (n *RequestLog) ID() string { return n.id }

// clientGone reports whether the caller has disconnected. The request's own context does not tell, because it also ends with
// its timeout.
func (n *RequestLog) clientGone() bool { return n.caller != nil && n.caller.Err() != nil }

type requestLogKey struct{}

// RequestLogOf returns that of a request. Outside of a request, nobody reads it.
func RequestLogOf(ctx context.Context) *RequestLog {
	if n, ok := ctx.Value(requestLogKey{}).(*RequestLog); ok {
		return n
	}
	return &RequestLog{}
}

// observe gives the request an id, records its origin for the audit log, counts it, and writes its span and log line.
func (k *Kit) observe(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start, r := time.Now(), c.Request()
		n := &RequestLog{id: r.Header.Get("X-Request-ID"), caller: r.Context(), url: r.URL}
		if !validRequestID(n.id) {
			n.id = uuid.Must(uuid.NewV7()).String()
		}
		c.Response().Header().Set("X-Request-ID", n.id)
		ip := c.RealIP()
		ctx := context.WithValue(r.Context(), requestLogKey{}, n)
		ctx = audit.WithOrigin(ctx, audit.Origin{
			RequestID: n.id, Method: r.Method, Path: PlainText(r.URL.Path), IP: ip, UserAgent: PlainText(r.UserAgent()),
		})
		ctx = auth.WithClient(ctx, ip)
		ctx, span := k.startSpan(ctx, r, n.id)
		c.SetRequest(r.WithContext(ctx))
		k.metrics.inFlight.Inc()
		defer k.metrics.inFlight.Dec()
		if err := next(c); err != nil {
			c.Error(err)
		}
		res, e := c.Response(), k.endpointOf(c)
		k.metrics.recordRequest(e, res.Status, time.Since(start))
		endSpan(span, e, res.Status)
		attrs := []slog.Attr{
			slog.String("request_id", n.id), slog.String("method", r.Method), slog.String("route", c.Path()),
			slog.Int("status", res.Status),
			slog.Int64("bytes", res.Size), slog.Float64("duration_ms", float64(time.Since(start).Microseconds())/1000),
			slog.String("ip", ip),
		}
		if id := span.SpanContext().TraceID(); id.IsValid() {
			attrs = append(attrs, slog.String("trace_id", id.String()))
		}
		if n.UserID != "" {
			attrs = append(attrs, slog.String("user_id", n.UserID))
		}
		if n.keyID != "" {
			attrs = append(attrs, slog.String("key_id", n.keyID))
		}
		level := slog.LevelInfo
		if n.Err != nil {
			attrs = append(attrs, slog.String("error", n.Err.Error()))
			if !n.clientGone() {
				level = slog.LevelError
			}
		}
		k.log.LogAttrs(ctx, level, "api request", attrs...)
		return nil
	}
}

// PlainText makes text from a caller valid for a text column: UTF-8 without NUL, at most 1,000 bytes.
func PlainText(s string) string {
	if len(s) > 1000 {
		s = s[:1000]
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

func validRequestID(id string) bool {
	if id == "" || len(id) > 128 {
		return false
	}
	for _, c := range []byte(id) {
		if c <= ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' {
			return false
		}
	}
	return true
}

func (k *Kit) recoverPanics(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if v == http.ErrAbortHandler {
				panic(v)
			}
			var bug runtime.Error
			if failed, ok := v.(error); ok && c.Response().Committed && !errors.As(failed, &bug) {
				err = fmt.Errorf("write the response: %w", failed) // the caller is gone, so a stack would only fill the log
				return
			}
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}()
		return next(c)
	}
}

// withinTime applies the timeout of the endpoint.
func (k *Kit) withinTime(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		limit := k.timeoutOf(k.endpointOf(c))
		if limit < 0 {
			return next(c)
		}
		ctx, cancel := context.WithTimeout(c.Request().Context(), limit)
		defer cancel()
		c.SetRequest(c.Request().WithContext(ctx))
		return next(c)
	}
}

// timeoutOf returns the timeout of an endpoint; negative means none. An operator who raises REQUEST_TIMEOUT means all requests.
func (k *Kit) timeoutOf(e *Endpoint) time.Duration {
	switch {
	case e == nil:
		return k.cfg.Timeout
	case e.Timeout < 0:
		return e.Timeout
	}
	return max(e.Timeout, k.cfg.Timeout)
}

// clientIP returns the caller's address. X-Forwarded-For is trusted from an edge that has presented its token, and the header of
// CLIENT_IP_HEADER from proxies in TRUSTED_PROXIES.
func (k *Kit) clientIP(r *http.Request) string {
	if edgeapi.Vouched(r.Context()) {
		if addr, ok := visitor.Forwarded(r.Header.Values("X-Forwarded-For")); ok {
			return addr.String()
		}
	}
	socket, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	source := k.cfg.ClientIPHeader
	lines, realIP := r.Header.Values(source.Name()), r.Header.Get("X-Real-IP")
	return visitor.ClientIPFrom(source, socket.Addr(), lines, realIP, k.cfg.TrustedProxies).String()
}

// AddressHeader returns the name of the header in which trusted proxies say where a client comes from.
func (k *Kit) AddressHeader() string { return k.cfg.ClientIPHeader.Name() }
