package clocks

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

// Clocks that differ are reported once, and again when they agree. The metric follows. An answer that took long, or none, proves
// nothing.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		w := New(slog.New(slog.NewTextHandler(&out, nil)))
		behind, takes, failing := 10*time.Minute, time.Duration(0), error(nil)
		w.Add("db", func(context.Context) (time.Time, error) {
			at := time.Now().Add(-behind)
			time.Sleep(takes)
			return at, failing
		})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- w.Run(ctx) }()
		step := func(metric float64, says string) {
			t.Helper()
			out.Reset()
			time.Sleep(every + within)
			synctest.Wait()
			if got := testutil.ToFloat64(w.WithLabelValues("db")); got != metric {
				t.Errorf("the metric is %v, want %v", got, metric)
			}
			if text := out.String(); (says == "") != (text == "") || !strings.Contains(text, says) || strings.Count(text, "\n") > 1 {
				t.Errorf("logged %q, want %q", text, says)
			}
		}
		step(600, `msg="clocks differ" server=db ahead=10m0s`)
		step(600, "")
		failing = errors.New("down")
		step(600, "")
		failing, behind = nil, 0
		step(0, "clocks agree again")
		behind, takes = -3*time.Second, 4*time.Second // the answer took longer than the difference
		step(-1, "")
		behind, takes = -3*time.Second, 0
		step(-3, `ahead=-3s`)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
