package app_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/control/internal/app"
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/service"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/shared/tracing"
)

// asked is a click store that reports its first query.
type asked struct {
	analytics.Store
	once  sync.Once
	first chan struct{}
}

func (a *asked) Lines(ctx context.Context, q analytics.Query) ([]analytics.Line, error) {
	a.once.Do(func() { close(a.first) })
	return a.Store.Lines(ctx, q)
}

type log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Parts that use the click store wait until it is open, also with tracing. Earlier, with tracing the wait ended
// at once, and ingest logged an error every five seconds.
func TestArch2_with_traces_nobody_asks_a_store_that_is_not_open(t *testing.T) {
	t.Parallel()
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {}))
	t.Cleanup(collector.Close)
	late := analytics.NewLate()
	var out log
	logger := slog.New(slog.NewTextHandler(&out, nil))
	control, err := app.NewFleet(app.Config{
		Settings: app.Settings{BaseURL: "https://sho.rt", Tracing: tracing.Settings{Endpoint: collector.URL, Service: "test", Ratio: 1}},
		DataDir:  t.TempDir(),
	}, app.Deps{Store: storetest.Open(t), Registry: prometheus.NewRegistry(), Logger: logger})
	testkit.Must(t, err)
	if _, err := control.Ingest(app.Clicks{Store: late, Opened: late.Opened()}, 0, nil); err != nil {
		t.Fatal(err)
	}
	g := service.Group{Logger: slog.New(slog.DiscardHandler)}
	control.AddTo(&g)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(ctx) }()
	<-g.Ready()
	if strings.Contains(out.String(), "level=ERROR") {
		t.Errorf("before the store was open:\n%s", out.String())
	}
	clicks, err := duckdb.Open(t.Context(), duckdb.Config{Path: filepath.Join(t.TempDir(), "clicks")})
	testkit.Must(t, err)
	open := &asked{Store: clicks, first: make(chan struct{})}
	late.Use(open)
	<-open.first
	stop()
	if err := errors.Join(<-ended, late.Close()); err != nil {
		t.Error(err)
	}
	if strings.Contains(out.String(), "level=ERROR") {
		t.Errorf("in the end:\n%s", out.String())
	}
}
