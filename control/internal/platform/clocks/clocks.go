// Package clocks compares the clock of this process with those of the servers that it uses. Clocks that differ lose no data, but
// reports end too early, and a control plane refuses sessions that seem to come from the future.
package clocks

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/shared/job"
)

// Off is the difference between two clocks from which on a Watch warns.
const Off = 2 * time.Second

const (
	every  = time.Minute     // between comparisons
	within = 5 * time.Second // how long an answer may take
)

// Watch compares this clock with those of servers. It does so once a minute, and when a server was
// added. It is safe for concurrent use. It is a prometheus.Collector.
type Watch struct {
	*prometheus.GaugeVec
	job.Group

	log   *slog.Logger
	added chan struct{} // has an element when a server was added since the last comparison

	mu      sync.Mutex
	servers []*server
}

type server struct {
	name string
	ask  func(context.Context) (time.Time, error)
	off  bool // the last comparison that had an answer has found a difference
}

// New returns a Watch without servers.
func New(log *slog.Logger) *Watch {
	w := &Watch{
		GaugeVec: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "shortline_control_clock_ahead_seconds",
			Help: "Offset of this clock to that of the database or of a ClickHouse server; above 0 if this clock is ahead.",
		}, []string{"server"}),
		log: log, added: make(chan struct{}, 1),
	}
	w.Group = job.Group{{Name: "clocks", Every: every, Do: w.compareAll, Wake: w.added, Logger: log}}
	return w
}

// AddServer adds a server. Run calls ask for the time of the server's clock.
func (w *Watch) AddServer(name string, ask func(context.Context) (time.Time, error)) {
	w.mu.Lock()
	w.servers = append(w.servers, &server{name: name, ask: ask})
	w.mu.Unlock()
	select {
	case w.added <- struct{}{}:
	default:
	}
}

func (w *Watch) compareAll(ctx context.Context) error {
	w.mu.Lock()
	servers := w.servers
	w.mu.Unlock()
	for _, s := range servers {
		w.compareClock(ctx, s)
	}
	return nil
}

// compareClock asks a server for its time. It ignores differences that are so small that the delay of the answer can explain them. A
// server that does not answer is noticed elsewhere.
func (w *Watch) compareClock(ctx context.Context, s *server) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	asked := time.Now()
	its, err := s.ask(ctx)
	if err != nil {
		return
	}
	half := time.Since(asked) / 2
	ahead := asked.Add(half).Sub(its)
	w.WithLabelValues(s.name).Set(ahead.Seconds())
	off := ahead.Abs() > Off+half
	switch {
	case off && !s.off:
		w.log.Warn("clocks differ", "server", s.name, "ahead", ahead.Round(time.Millisecond).String(), "remedy",
			"synchronise both clocks, for instance with chrony")
	case !off && s.off:
		w.log.Info("clocks agree again", "server", s.name)
	}
	s.off = off
}
