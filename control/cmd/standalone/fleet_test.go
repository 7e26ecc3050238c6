package main_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/control/internal/clicks/ingest"
	"github.com/shortline/shortline/control/internal/clicks/ingest/kafkasource"
	"github.com/shortline/shortline/control/internal/fleet/edgeapi"
	"github.com/shortline/shortline/control/internal/fleet/presence"
	"github.com/shortline/shortline/control/internal/fleet/publish"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/edge"
	"github.com/shortline/shortline/edge/remote"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/kafkaconn"
	"github.com/shortline/shortline/shared/testkit"
)

const (
	fleetToken = "the-token-of-the-fleet"
	fleetTopic = "clicks"
)

var quiet = slog.New(slog.DiscardHandler)

// fleet is a control plane, a Kafka cluster and edges, connected over the network.
type fleet struct {
	*testing.T
	store   *store.Store
	clicks  analytics.Store
	kafka   *kfake.Cluster
	control *httptest.Server
	down    atomic.Bool // whether the control plane is down
	intake  *ingest.Ingester
	raw     atomic.Int64 // clicks read from Kafka, including repetitions

	mu       sync.Mutex
	answered map[string]int64 // 302 responses, by slug
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{T: t, store: storetest.Open(t), answered: map[string]int64{}}
	f.ok(f.store.Tx(t.Context(), func(tx *store.Tx) error {
		_, err := tx.InsertUser(t.Context(), store.User{ID: "user", Email: "a", Role: "USER", Active: true})
		return err
	}))
	pub := publish.New(f.store, publish.Config{Dir: t.TempDir(), Logger: quiet})
	tracker := presence.New(presence.Config{Logger: quiet}, f.store)
	f.background(tracker.Run)
	api, err := edgeapi.New(edgeapi.Config{Tokens: []string{fleetToken}, Logger: quiet}, edgeapi.Deps{Links: pub, Reports: tracker})
	f.ok(err)
	f.control = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f.down.Load() {
			panic(http.ErrAbortHandler)
		}
		api.ServeHTTP(w, r)
	}))
	t.Cleanup(f.control.Close)
	t.Cleanup(f.control.CloseClientConnections)
	f.clicks, err = duckdb.Open(t.Context(), duckdb.Config{Path: filepath.Join(t.TempDir(), "clicks")})
	f.ok(err)
	t.Cleanup(func() { f.clicks.Close() })
	f.intake = ingest.New(ingest.Config{Logger: quiet}, f.store, f.clicks, nil)
	f.kafka, err = kfake.NewCluster(kfake.NumBrokers(3), kfake.SeedTopics(6, fleetTopic), kfake.GroupMinSessionTimeout(100*time.Millisecond))
	f.ok(err)
	t.Cleanup(f.kafka.Close)
	return f
}

func (f *fleet) ok(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// Deliver makes the fleet the sink of its members, so that it can count repetitions.
func (f *fleet) Deliver(ctx context.Context, b *click.Batch) error {
	err := f.intake.Deliver(ctx, b)
	if err == nil {
		f.raw.Add(int64(b.Count))
	}
	return err
}

// background runs a service until the returned function is called or the test ends.
func (f *fleet) background(run func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			f.Error(err)
		}
	})
	f.Cleanup(stop)
	return stop
}

// topic returns the settings of the clicks topic.
func (f *fleet) topic() kafkaconn.Settings {
	return kafkaconn.Settings{Brokers: f.kafka.ListenAddrs(), Topic: fleetTopic}
}

// member is one reader of the topic.
func (f *fleet) member() (*kafkasource.Source, func()) {
	f.Helper()
	s, err := kafkasource.New(kafkasource.Config{
		Kafka: f.topic(), Session: time.Second, Commit: 50 * time.Millisecond, Timeout: 3 * time.Second, Logger: quiet,
	}, f)
	f.ok(err)
	return s, f.background(s.Run)
}

// edge starts an edge on a data folder.
func (f *fleet) edge(dir string) (*edge.Edge, func()) {
	f.Helper()
	source, err := remote.NewSource(remote.Control{URL: f.control.URL, Token: fleetToken})
	f.ok(err)
	sink, err := remote.NewSink(remote.Kafka{Kafka: f.topic(), Dir: filepath.Join(dir, "kafka"), Timeout: 3 * time.Second, Logger: quiet})
	f.ok(err)
	e, err := edge.New(edge.Config{
		ListenAddr: "127.0.0.1:0", BaseURL: "https://sho.rt", DataDir: dir, SpoolSegmentBytes: 256 << 10, SpoolCapBytes: 64 << 20, ShipDelay: 2 * time.Millisecond,
	}, edge.Deps{Links: source, Reports: source, Sink: sink, Logger: quiet})
	f.ok(err)
	stop := f.background(e.Run)
	return e, sync.OnceFunc(func() {
		stop()
		source.Close()
		f.ok(sink.Close())
	})
}

func (f *fleet) create(slug string) *store.Link {
	f.Helper()
	u := &store.Link{ID: store.NewID(), UserID: "user", Slug: slug, Active: true, OriginalURL: "https://example.com/" + slug}
	f.ok(f.store.Tx(f.Context(), func(tx *store.Tx) error {
		if err := tx.InsertLinks(f.Context(), []*store.Link{u}); err != nil {
			return err
		}
		return tx.Touch(f.Context(), u.Num, u.Slug)
	}))
	return u
}

// visit follows a link and returns the status, or 0 if there was no response.
func (f *fleet) visit(e *edge.Edge, slug string) int {
	req, err := http.NewRequest("GET", "http://"+e.Addr().String()+"/"+slug, nil)
	if err != nil {
		f.Error(err)
		return 0
	}
	req.Header.Set("User-Agent", laptop)
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return 0
	}
	res.Body.Close()
	if res.StatusCode == http.StatusFound {
		f.mu.Lock()
		f.answered[slug]++
		f.mu.Unlock()
	}
	return res.StatusCode
}

// total returns the number of answered visits.
func (f *fleet) total() (n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, visits := range f.answered {
		n += visits
	}
	return n
}

// TestFleet runs two edges against a control plane and a Kafka cluster over real connections. Brokers fail, readers
// join and leave, the control plane fails, and an edge restarts. Each answered visit is stored exactly once, and each
// change of a link reaches every edge.
func TestFleet(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	var urls []*store.Link
	for i := range 20 {
		urls = append(urls, f.create(fmt.Sprintf("link%d", i)))
	}
	first, stopFirst := f.member()
	f.member()
	firstDir := t.TempDir()
	one, stopOne := f.edge(firstDir)
	two, stopTwo := f.edge(t.TempDir())
	var edges atomic.Pointer[[]*edge.Edge]
	edges.Store(&[]*edge.Edge{one, two})
	for _, e := range *edges.Load() {
		testkit.Eventually(t, "an edge has links", e.Ready)
	}

	var visitors sync.WaitGroup
	over := make(chan struct{})
	for w := range 4 {
		visitors.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(w)))
			pace := time.NewTicker(time.Millisecond)
			defer pace.Stop()
			for {
				select {
				case <-over:
					return
				case <-pace.C:
				}
				list := *edges.Load()
				f.visit(list[rng.IntN(len(list))], urls[rng.IntN(len(urls))].Slug)
			}
		})
	}
	visits := func(n int64) {
		from := f.total()
		testkit.Eventually(t, "visits are answered", func() bool { return f.total() >= from+n })
	}

	// Brokers fail before and after they have stored messages; leaders move.
	for i, err := range []*kerr.Error{kerr.RequestTimedOut, kerr.NotLeaderForPartition, kerr.NotEnoughReplicasAfterAppend, kerr.RequestTimedOut} {
		h := f.kafka.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: err, Count: 4})
		testkit.Eventually(t, "the fault takes effect", func() bool { return h.Hits() >= 4 })
		if i%2 == 1 {
			f.kafka.ShufflePartitionLeaders()
		}
	}
	visits(200)

	// A link changes while the edges' connections to the control plane are broken.
	f.control.CloseClientConnections()
	added := f.create("news")
	for _, e := range *edges.Load() {
		testkit.Eventually(t, "the new link is on every edge", func() bool { return f.visit(e, "news") == http.StatusFound })
	}
	began := time.Now()
	f.ok(f.store.Tx(t.Context(), func(tx *store.Tx) error {
		if err := tx.DeleteLinks(t.Context(), []string{added.ID}); err != nil {
			return err
		}
		return tx.Touch(t.Context(), added.Num, added.Slug)
	}))
	for _, e := range *edges.Load() {
		testkit.Eventually(t, "the deleted link is on no edge", func() bool { return f.visit(e, "news") == http.StatusNotFound })
	}
	t.Logf("every edge had the deletion after %v", time.Since(began).Round(time.Millisecond))

	// One reader leaves, another joins.
	stopFirst()
	third, _ := f.member()
	visits(200)
	testkit.Eventually(t, "the new reader has partitions", func() bool { return third.Stats().Partitions > 0 })

	// While Kafka and the control plane are down, an edge restarts and serves its local state.
	f.down.Store(true)
	f.control.CloseClientConnections()
	outage := f.kafka.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.KafkaStorageError, Count: -1})
	visits(100)
	edges.Store(&[]*edge.Edge{two})
	stopOne()
	one, stopOne = f.edge(firstDir)
	if !one.Ready() {
		t.Error("an edge cannot start without the control plane")
	}
	edges.Store(&[]*edge.Edge{one, two})
	visits(200)
	outage.Remove()
	f.down.Store(false)
	visits(200)
	close(over)
	visitors.Wait()

	want := f.total()
	testkit.Eventually(t, "all clicks are stored", func() bool { return int64(f.intake.Stats().Stored) >= want })
	stopOne()
	stopTwo()
	lines, err := f.clicks.Lines(t.Context(), analytics.Query{Scope: analytics.Scope{Bots: analytics.Everyone}, ByLink: true})
	f.ok(err)
	stored := map[uint64]int64{}
	for _, l := range lines {
		stored[l.Link] = l.Clicks
	}
	for _, u := range append(urls, added) {
		if stored[u.Num] != f.answered[u.Slug] {
			t.Errorf("%s: %d visits were answered, %d clicks are stored", u.Slug, f.answered[u.Slug], stored[u.Num])
		}
	}
	st := f.intake.Stats()
	if raw := f.raw.Load(); raw <= want || st.Lost != 0 || st.Stored != uint64(want) {
		t.Errorf("%d clicks were read from Kafka for %d visits, want more, because the faults cause repetitions; %+v", raw, want, st)
	}
	t.Logf("%d visits, %d clicks read from Kafka, %d of them repetitions; the first reader had %d generations", want, f.raw.Load(), st.Repeated, first.Stats().Generations)
}
