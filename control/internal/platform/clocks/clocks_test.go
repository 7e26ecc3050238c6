package clocks

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// Clocks that differ are reported once, and again when they agree. The metric follows. An answer that took long, or none, proves
// nothing.
func TestWatch(t *testing.T) {
	type answer struct {
		behind, takes time.Duration
		failing       error
	}
	synctest.Test(t, func(t *testing.T) {
		var out testkit.Buffer
		var clock atomic.Pointer[answer] // what the server answers now
		w := New(slog.New(slog.NewTextHandler(&out, nil)))
		w.AddServer("db", func(context.Context) (time.Time, error) {
			a := clock.Load()
			at := time.Now().Add(-a.behind)
			time.Sleep(a.takes)
			return at, a.failing
		})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		clock.Store(&answer{behind: 10 * time.Minute})
		go func() { ended <- w.Run(ctx) }()
		read := 0 // number of bytes of out that earlier steps have checked
		step := func(a answer, metric float64, says string) {
			t.Helper()
			clock.Store(&a)
			time.Sleep(every + within)
			synctest.Wait()
			if got := testutil.ToFloat64(w.WithLabelValues("db")); got != metric {
				t.Errorf("the metric is %v, want %v", got, metric)
			}
			text := out.String()[read:]
			read += len(text)
			if (says == "") != (text == "") || !strings.Contains(text, says) || strings.Count(text, "\n") > 1 {
				t.Errorf("logged %q, want %q", text, says)
			}
		}
		step(answer{behind: 10 * time.Minute}, 600, `msg="clocks differ" server=db ahead=10m0s`)
		step(answer{behind: 10 * time.Minute}, 600, "")
		step(answer{behind: 10 * time.Minute, failing: errors.New("down")}, 600, "")
		step(answer{}, 0, "clocks agree again")
		step(answer{behind: -3 * time.Second, takes: 4 * time.Second}, -1, "") // the answer took longer than the difference
		step(answer{behind: -3 * time.Second}, -3, `ahead=-3s`)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
