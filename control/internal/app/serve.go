package app

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/shortline/shortline/shared/framing"
	"github.com/shortline/shortline/shared/service"
)

// finishWithin is how long requests that are being answered may take at the end.
const finishWithin = 5 * time.Second

// answerWithin is how long a caller may take to read an answer. Handlers that answer in parts set deadlines of their own.
const answerWithin = 5 * time.Minute

// bodyPatience is how long a request's body may lag behind framing.Rate. It is longer than at an edge, so that an edge, which
// can say so, is the first to cut a client off.
const bodyPatience = 2 * framing.Patience

// Serve makes a service of an HTTP handler. It owns ln.
//
// At the end, requests whose handler waits for something end at once: contexts of requests made by Until end with
// the service. Others are finished.
func Serve(ln net.Listener, h http.Handler, log *slog.Logger) service.Service {
	return service.Func(func(ctx context.Context) error {
		limit := service.MaxConnections(mostConnections)
		ln := newRoom(guard{ln, newQuota(limit / 4)}, limit, log)
		srv := &http.Server{
			Handler: h, ConnState: ln.State, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute, WriteTimeout: answerWithin, MaxHeaderBytes: 32 << 10,
			ErrorLog:    slog.NewLogLogger(log.Handler(), slog.LevelWarn),
			BaseContext: func(net.Listener) context.Context { return context.WithValue(context.Background(), stopping{}, ctx) },
		}
		failed := make(chan error, 1)
		go func() { failed <- srv.Serve(ln) }()
		select {
		case err := <-failed:
			return err
		case <-ctx.Done():
		}
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishWithin)
		defer cancel()
		if srv.Shutdown(last) != nil {
			srv.Close()
		}
		<-failed
		return nil
	})
}

// stopping is the key of the context that ends when the server is told to stop.
type stopping struct{}

// Until makes requests end when the server is told to stop, for handlers that hold them open: an edge that waits
// for changes asks another replica at once instead of being cut off at the end of the server's patience.
func Until(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stop, ok := r.Context().Value(stopping{}).(context.Context)
		if !ok {
			h.ServeHTTP(w, r)
			return
		}
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(stop, cancel)()
		h.ServeHTTP(w, r.WithContext(ctx))
	})
}
