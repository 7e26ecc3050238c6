package edge_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/shortline/shortline/edge"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// atServe is a log handler that calls stop when the edge says that it serves, which is just before it does.
type atServe struct {
	slog.Handler
	stop func()
}

func (a atServe) Enabled(context.Context, slog.Level) bool { return true }

func (a atServe) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "edge serves" {
		a.stop()
	}
	return nil
}

// An edge that is told to stop while it starts must not wait for a server that had not begun to serve.
func TestEdge_stops_while_it_starts(t *testing.T) {
	t.Parallel()
	for range 10 {
		ctx, cancel := context.WithCancel(t.Context())
		stop := func() {
			cancel()
			pause(20 * time.Millisecond) // the edge usually learns of it before it serves
		}
		c := newControl()
		e, err := edge.New(config(t), edge.Deps{Links: c, Sink: c, Logger: slog.New(atServe{slog.DiscardHandler, stop})})
		testkit.Must(t, err)
		testkit.Must(t, e.Run(ctx))
	}
}
