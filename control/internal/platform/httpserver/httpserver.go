// Package httpserver runs an HTTP handler as a service, with the protections that net/http lacks.
//
// It limits open connections and closes idle ones to make room (see shared/conns), refuses requests that servers could
// frame differently (see shared/framing), requires a minimum speed of request bodies, and ends long polls when the
// process stops. It leaves routing, authentication and rate limits to the handler.
package httpserver

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/shortline/shortline/shared/conns"
	"github.com/shortline/shortline/shared/framing"
	"github.com/shortline/shortline/shared/service"
)

const (
	// maxConnections is the limit of open connections, unless RLIMIT_NOFILE leaves less: twice the edges that may wait
	// for changes, and as many others, at about 20 KB each.
	maxConnections = 16384
	// drainTimeout is how long requests in progress may take when the server stops.
	drainTimeout = 5 * time.Second
	// writeTimeout is how long a client may take to read a response. Handlers that stream set their own deadlines.
	writeTimeout = 5 * time.Minute
	// bodyPatience is how long a request body may lag behind framing.Rate. It is longer than at an edge, so that the
	// edge, which can send an explanation, cuts off the client first.
	bodyPatience = 2 * framing.Patience
)

// New makes a service of an HTTP handler. It owns ln.
//
// When the service stops, it cancels the contexts of requests made by CancelOnStop at once, and lets other requests
// finish for up to 5 seconds.
func New(ln net.Listener, h http.Handler, log *slog.Logger) service.Service {
	return service.Func(func(ctx context.Context) error {
		limit := conns.Max(maxConnections)
		ln := newLimiter(strict{ln, conns.NewQuota(limit / 4)}, limit, log)
		srv := &http.Server{
			Handler: h, ConnState: ln.State, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute, WriteTimeout: writeTimeout,
			MaxHeaderBytes: 32 << 10,
			ErrorLog:       slog.NewLogLogger(log.Handler(), slog.LevelWarn),
			BaseContext:    func(net.Listener) context.Context { return context.WithValue(context.Background(), stopKey{}, ctx) },
		}
		failed := make(chan error, 1)
		go func() { failed <- srv.Serve(ln) }()
		select {
		case err := <-failed:
			return err
		case <-ctx.Done():
		}
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
		defer cancel()
		if srv.Shutdown(drain) != nil {
			srv.Close()
		}
		<-failed
		return nil
	})
}

// stopKey is the context key of the context that ends when the server stops.
type stopKey struct{}

// Stopping returns the context that ends when the server stops that ctx, a request's context, comes from. Without such
// a server it is context.Background().
func Stopping(ctx context.Context) context.Context {
	if stop, ok := ctx.Value(stopKey{}).(context.Context); ok {
		return stop
	}
	return context.Background()
}

// CancelOnStop cancels requests when the server stops. It is for handlers that hold requests open: an edge that waits
// for changes then asks another replica at once, instead of being cut off when the drain timeout ends.
func CancelOnStop(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(Stopping(r.Context()), cancel)()
		h.ServeHTTP(w, r.WithContext(ctx))
	})
}
