package edge_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/shortline/shortline/edge"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/valyala/fasthttp/fasthttputil"
)

// control is a control plane in memory: a source of links, a reporter and a sink for clicks.
type control struct {
	mu      sync.Mutex
	away    bool
	changed chan struct{} // closed at each change
	rev     uint64
	links   map[string]link.Record
	deltas  map[uint64][]byte // by the revision they come after
	clicks  map[string]click.Event
}

var errAway = errors.New("away")

func newControl() *control {
	return &control{changed: make(chan struct{}), links: map[string]link.Record{}, deltas: map[uint64][]byte{},
		clicks: map[string]click.Event{}}
}

func (c *control) put(r link.Record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rev++
	r.Revision = c.rev
	c.links[r.Key] = r
	c.deltas[c.rev-1] = snapshot.AppendDelta(nil, &snapshot.Delta{Incarnation: 1, From: c.rev - 1, To: c.rev, Upserts: []link.Record{r},
		After: c.hash()})
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *control) hash() snapshot.StateHash {
	var h snapshot.StateHash
	for _, r := range c.links {
		h.Add(r.Key, r.Num, r.Revision)
	}
	return h
}

func (c *control) setAway(away bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.away = away
}

func (c *control) Snapshot(context.Context) (io.ReadCloser, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away {
		return nil, errAway
	}
	var b bytes.Buffer
	w, err := snapshot.NewWriter(&b, snapshot.Cursor{Incarnation: 1, Revision: c.rev})
	if err != nil {
		return nil, err
	}
	for _, r := range c.links {
		if err := w.Add(&r); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return io.NopCloser(&b), nil
}

func (c *control) Changes(ctx context.Context, after snapshot.Cursor) ([]byte, error) {
	for {
		c.mu.Lock()
		away, delta, changed := c.away, c.deltas[after.Revision], c.changed
		c.mu.Unlock()
		switch {
		case away:
			return nil, errAway
		case after.Incarnation != 1:
			return nil, snapshot.ErrTooOld
		case delta != nil:
			return delta, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (c *control) Report(context.Context, snapshot.Status) (a snapshot.Answer, err error) {
	return a, nil
}

func (c *control) Deliver(_ context.Context, b *click.Batch) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away {
		return errAway
	}
	d := click.NewDecoder(b)
	for {
		var e click.Event
		ok, err := d.Next(&e)
		if err != nil || !ok {
			return err
		}
		e.Referer = strings.Clone(e.Referer)
		c.clicks[fmt.Sprint(b.Lane, e.Seq)] = e
	}
}

func (c *control) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.clicks)
}

func config(t *testing.T) edge.Config {
	t.Helper()
	return edge.Config{ListenAddr: "127.0.0.1:0", BaseURL: "https://sho.rt", DataDir: t.TempDir(), SpoolSegmentBytes: 64 << 10,
		SpoolCapBytes: 4 << 20}
}

var quiet = slog.New(slog.DiscardHandler)

// run starts an edge. The returned function stops the edge and checks that the stop succeeds.
func run(t *testing.T, cfg edge.Config, deps edge.Deps) (*edge.Edge, func()) {
	t.Helper()
	deps.Logger = quiet
	e, err := edge.New(cfg, deps)
	testkit.Must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	stop := sync.OnceFunc(func() {
		defer testkit.Within(t, 10*time.Second, time.Now(), "the stop")
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(stop)
	return e, stop
}

// pause lets time pass. It is for the pace of a load or of a measurement. A test that waits for something uses testkit.Eventually.
func pause(d time.Duration) { time.Sleep(d) }

func status(t *testing.T, e *edge.Edge, path string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, "http://"+e.Addr().String()+path, nil)
	testkit.Must(t, err)
	client := http.Transport{DisableKeepAlives: true}
	resp, err := client.RoundTrip(req)
	testkit.Must(t, err)
	_ = resp.Body.Close()
	return resp.StatusCode, resp.Header.Get("Location")
}

func TestEdge_from_change_to_click(t *testing.T) {
	t.Parallel()
	c := newControl()
	cfg := config(t)
	registry := prometheus.NewPedanticRegistry()
	e, stop := run(t, cfg, edge.Deps{Links: c, Sink: c, Reports: c, Registry: registry})
	testkit.Eventually(t, "ready", e.Ready)
	if code, _ := status(t, e, "/abc"); code != 404 {
		t.Errorf("before the link = %d", code)
	}
	c.put(link.Record{Num: 1, Key: "abc", Destination: "https://example.com/1"})
	testkit.Eventually(t, "the link", func() bool { code, to := status(t, e, "/abc"); return code == 302 && to == "https://example.com/1" })
	testkit.Eventually(t, "its click", func() bool { return c.count() >= 1 })
	families, err := registry.Gather()
	testkit.Must(t, err)
	seen := map[string]bool{}
	for _, f := range families {
		seen[f.GetName()] = true
		if n := f.GetName(); !strings.HasPrefix(n, "shortline_") {
			t.Errorf("metric %s", n)
		}
	}
	for _, n := range []string{"shortline_edge_answers_total", "shortline_spool_clicks_appended_total", "shortline_edge_links",
		"shortline_ship_last_success_timestamp_seconds"} {
		if !seen[n] {
			t.Errorf("no metric %s", n)
		}
	}
	if s := e.Stats(); s.Links != 1 || s.Redirect.Redirects < 1 || s.Applied.Revision != 1 {
		t.Errorf("stats = %+v", s)
	}
	stop()

	// While the control plane is down, the edge serves its local state and keeps clicks until they can be delivered.
	c.setAway(true)
	before := c.count()
	e, stop = run(t, cfg, edge.Deps{Links: c, Sink: c, Reports: c, Registry: registry})
	if !e.Ready() {
		t.Fatal("not ready from local state")
	}
	for range 10 {
		if code, _ := status(t, e, "/abc"); code != 302 {
			t.Fatalf("from local state = %d", code)
		}
	}
	stop()
	if c.count() != before {
		t.Fatal("clicks were delivered to a sink that was down")
	}
	c.setAway(false)
	_, stop = run(t, cfg, edge.Deps{Links: c, Sink: c, Reports: c, Registry: registry})
	testkit.Eventually(t, "the clicks of the outage", func() bool { return c.count() == before+10 })
	stop()
}

// told is a control plane that records the last report, with a sink that always fails.
type told struct {
	*control
	last atomic.Pointer[snapshot.Status]
}

func (c *told) Report(_ context.Context, s snapshot.Status) (a snapshot.Answer, err error) {
	c.last.Store(&s)
	return a, nil
}

func (c *told) Deliver(context.Context, *click.Batch) error { return errAway }

func TestEdge_reports_what_waits_and_where_it_is(t *testing.T) {
	t.Parallel()
	c := &told{control: newControl()}
	registry := prometheus.NewPedanticRegistry()
	e, _ := run(t, config(t), edge.Deps{Links: c, Sink: c, Reports: c, Registry: registry})
	if age := oldestPending(t, registry); age != 0 {
		t.Errorf("without clicks the oldest pending click is %v s old", age)
	}
	c.put(link.Record{Num: 1, Key: "abc", Destination: "https://example.com/1"})
	testkit.Eventually(t, "the link", func() bool { code, _ := status(t, e, "/abc"); return code == 302 })
	ask(t, e, 16, "GET /abc HTTP/1.1") // one in sixteen is measured
	testkit.Eventually(t, "a delivery that fails", func() bool { return e.Stats().Ship.Failing > 0 })
	c.put(link.Record{Num: 2, Key: "def", Destination: "https://example.com/2", SmartRouting: true, // a rejected rule triggers a report
		Rules: []link.Rule{{ID: link.ID{9}, Name: "r", Target: "https://example.com/3",
			Conditions: []byte(`{"operator":"AND","conditions":[{"type":"phase of the moon"}]}`)}}})
	testkit.Eventually(t, "a report", func() bool { s := c.last.Load(); return s != nil && s.Cursor.Revision == 2 && s.Spool.OldestMs > 0 })
	testkit.Eventually(t, "an age that rises", func() bool { return oldestPending(t, registry) > 0.3 })
	s := c.last.Load()
	if s.Address != e.Addr().String() || s.Spool.Pending < 1 || s.SetAsideCount != 1 || !strings.Contains(s.SetAsideReasons["def"],
		"phase of the moon") {
		t.Errorf("%+v", s)
	}
	if l := s.Latency; l == nil || l.Samples == 0 || l.P50 <= 0 || l.P99 < l.P50 {
		t.Errorf("latency %+v", l)
	}
}

// oldestPending returns the metric with the age of the oldest pending click, in seconds.
func oldestPending(t *testing.T, registry *prometheus.Registry) float64 {
	t.Helper()
	families, err := registry.Gather()
	testkit.Must(t, err)
	for _, f := range families {
		if f.GetName() == "shortline_spool_oldest_pending_seconds" {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatal("no metric with the age of pending clicks")
	return 0
}

func TestEdge_a_stop_ships_what_was_clicked(t *testing.T) {
	t.Parallel()
	c := newControl()
	c.put(link.Record{Num: 1, Key: "abc", Destination: "https://example.com/1"})
	cfg := config(t)
	cfg.ShipDelay = 5 * time.Second // so clicks are shipped only by the stop
	e, stop := run(t, cfg, edge.Deps{Links: c, Sink: c, Reports: c})
	testkit.Eventually(t, "ready", e.Ready)
	for range 20 {
		status(t, e, "/abc")
	}
	stop()
	if n := c.count(); n != 20 {
		t.Errorf("%d clicks, want 20", n)
	}
}

func TestEdge_passes_the_upstreams_paths_on(t *testing.T) {
	t.Parallel()
	memory := fasthttputil.NewInmemoryListener()
	streaming := make(chan struct{})
	upstream := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/events" {
			_, _ = io.WriteString(w, "data: 1\n\n")
			w.(http.Flusher).Flush()
			close(streaming)
			<-r.Context().Done()
			return
		}
		n, _ := io.Copy(io.Discard, r.Body)
		_, _ = fmt.Fprint(w, r.Host, " ", r.URL.Path, " ", n)
	})}
	go func() { _ = upstream.Serve(memory) }()
	t.Cleanup(func() { _ = upstream.Close() })
	c := newControl()
	c.put(link.Record{Num: 1, Key: "apis", Destination: "https://example.com/1"})
	e, stop := run(t, config(t), edge.Deps{Links: c, Sink: c, Reports: c, Upstream: func(context.Context) (net.Conn, error) {
		return memory.Dial()
	}})
	testkit.Eventually(t, "ready", e.Ready)
	base := "http://" + e.Addr().String()
	resp, err := http.Post(base+"/api/urls", "application/octet-stream", strings.NewReader(strings.Repeat("x", 11<<20)))
	testkit.Must(t, err)
	b, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if want := fmt.Sprint("sho.rt /api/urls ", 11<<20); string(b) != want {
		t.Errorf("the upstream answers %q, want %q", b, want)
	}
	if resp, err := http.Post(base+"/apis/verify", "application/json", strings.NewReader(strings.Repeat("x", 5000))); err != nil ||
		resp.StatusCode != 413 {
		t.Errorf("a large body for a link: %v, %v", resp, err)
	}
	if code, _ := status(t, e, "/apis"); code != 302 {
		t.Errorf("a slug that begins like a path of the upstream = %d", code)
	}
	events, err := http.Get(base + "/api/events")
	testkit.Must(t, err)
	<-streaming
	stop() // in time, although the stream does not end
	_ = events.Body.Close()
}

func TestEdge_a_bad_configuration_names_every_problem(t *testing.T) {
	t.Parallel()
	_, err := edge.New(edge.Config{ListenAddr: "nowhere", BaseURL: "ftp://x", TrustedProxies: "1.2.3.4.5", BrandLogoURL: "data:x",
		SpoolSync: "never"}, edge.Deps{})
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range []string{"LISTEN_ADDR", "BASE_URL", "DATA_DIR", "TRUSTED_PROXIES", "BRAND_LOGO_URL", "Deps.Links", "Deps.Sink"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in: %v", part, err)
		}
	}
}

// stuck is a log handler that blocks at a message until it is released.
type stuck struct {
	slog.Handler
	at       string
	reached  chan struct{}
	released chan struct{}
}

func (s *stuck) Handle(_ context.Context, r slog.Record) error {
	if r.Message == s.at {
		close(s.reached)
		<-s.released
	}
	return nil
}

// An edge that has not come to accept connections is not reported as started, whatever delays it.
func TestEdge_Started_means_that_the_port_accepts(t *testing.T) {
	t.Parallel()
	log := &stuck{Handler: slog.NewTextHandler(io.Discard, nil), at: "edge serves", reached: make(chan struct{}),
		released: make(chan struct{})}
	c := newControl()
	e, err := edge.New(edge.Config{DataDir: t.TempDir(), ListenAddr: "127.0.0.1:0", BaseURL: "https://sho.rt"},
		edge.Deps{Links: c, Sink: c, Logger: slog.New(log)})
	testkit.Must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	<-log.reached
	select {
	case <-e.Started():
		t.Error("started before the port accepts")
	default:
	}
	close(log.released)
	<-e.Started()
	if code, _ := status(t, e, "/robots.txt"); code != 200 {
		t.Errorf("%d after the start", code)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestEdge_a_taken_port_leaves_nothing_open(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	defer l.Close()
	c := newControl()
	cfg := config(t)
	cfg.ListenAddr = l.Addr().String()
	if _, err := edge.New(cfg, edge.Deps{Links: c, Sink: c, Reports: c, Logger: quiet}); err == nil {
		t.Fatal("no error")
	}
	cfg.ListenAddr = "127.0.0.1:0"
	e, err := edge.New(cfg, edge.Deps{Links: c, Sink: c, Reports: c, Logger: quiet})
	if err != nil {
		t.Fatalf("the data folder is still locked: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
