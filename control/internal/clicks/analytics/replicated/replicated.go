// Package replicated keeps the clicks of one shard on several servers, each of which has all of them.
//
// A Store writes to every server of the shard before it acknowledges, and asks one of them. Servers in sync have every
// acknowledged click, so any of them gives the right answer, and a question goes to the next one when a server does not answer.
// A server that does not take a write for some seconds is put out of sync: all processes stop asking it first, then the write is
// acknowledged without it. When it is back, it is filled: see package shards.
//
// Servers need not know of each other. Rows have identities, so writing or copying them again changes nothing, and two servers
// become the same by exchanging what the other lacks.
package replicated

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/sharded"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/shared/metric"
)

// Members knows which servers of a shard are in sync. All processes agree on it.
type Members interface {
	// Read and Write return the servers at one moment. The caller ends the view when it has read or written.
	Read(ctx context.Context) (View, error)
	Write(ctx context.Context) (View, error)
	// Renew reads which servers are in sync again, and returns the version of the directory.
	Renew(ctx context.Context) (uint64, error)
	// Exclude puts a server out of sync, and returns when no process asks it any more. It fails if the server is the only one in
	// sync, or if its state is not the one of the view any more.
	Exclude(ctx context.Context, v View, server, reason string) error
}

// View is the servers of a shard at one moment.
type View struct {
	Context context.Context // ends early if the process loses touch with the other ones
	InSync  []string        // have everything, and get everything
	Filling []string        // get everything, but lack older clicks
	Out     []string        // get nothing
	Version uint64          // of the directory
	Changed uint64          // the newest version in which a server came to be out
	// End ends the view. For a writer it returns an error if the view may have been outdated before the end.
	End func() error
}

// Server is one of the servers. *clickhouse.Store implements it.
type Server interface {
	sharded.Backend
	// Export is ExportWithout for all owners.
	Export(ctx context.Context, f func(*analytics.Row) error) error
	Identity(ctx context.Context) (string, error)
	Identify(ctx context.Context) (string, error)
	SetIdentity(ctx context.Context, id string) error
	HasClicks(ctx context.Context) (bool, error)
	OwnedSlots(ctx context.Context, owners []uint64) ([]analytics.OwnedSlot, error)
	ReadOwned(ctx context.Context, owners []uint64, first, last int64, f func(analytics.Owned) error) error
	WriteOwned(ctx context.Context, o analytics.Owned) error
	OwnedKeys(ctx context.Context, owners []uint64, slot int64, f func(hash uint64)) error
	Forget(ctx context.Context, owners []uint64) error
	Settle(ctx context.Context) error
	LoggedMoves(ctx context.Context) ([]analytics.LoggedMove, error)
	AddLoggedMoves(ctx context.Context, list []analytics.LoggedMove) error
}

var _ Server = (*Store)(nil)

// Store implements Server, and sharded.Backend. It is safe for concurrent use.
type Store struct {
	metric.Set // makes it a prometheus.Collector

	shard   string
	members Members
	servers []*server
	log     *slog.Logger
	limit   time.Duration // how long a write waits for a server, since it began to fail
}

// Patience sets how long a write waits for a server that fails, before the server is put out of sync. The default is 5 seconds.
// Call it before the Store is used.
func (s *Store) Patience(limit time.Duration) { s.limit = limit }

// server is one of the servers of the settings.
type server struct {
	name    string
	opened  atomic.Pointer[Server] // nil until it was opened
	in      atomic.Bool            // in sync, as far as this process knows
	mu      sync.Mutex
	alive   context.Context // ends when the server stops answering
	stop    context.CancelCauseFunc
	back    time.Time // when it answered again after a silence; zero: it was never silent
	failing time.Time // when writes began to fail; zero: the last one succeeded
}

const (
	pingEvery  = time.Second
	pingWithin = 2 * time.Second
	patience   = 5 * time.Second
	retryEvery = 200 * time.Millisecond
)

// New returns a Store of servers that are not open yet: see Use. Names are their addresses, without passwords.
func New(shard string, names []string, members Members, log *slog.Logger) *Store {
	s := &Store{shard: shard, members: members, log: cmp.Or(log, slog.Default()), limit: patience}
	for _, name := range names {
		srv := &server{name: name}
		srv.alive, srv.stop = context.WithCancelCause(context.Background())
		s.servers = append(s.servers, srv)
		s.Set = append(s.Set, metric.Gauge("shortline_click_replica_in_sync", "1 if the server has every acknowledged click of its shard and answers this process, otherwise 0.", srv.up, "shard", shard, "server", name))
	}
	return s
}

// up is the value of the metric.
func (srv *server) up() int {
	if srv.in.Load() && srv.opened.Load() != nil && srv.context().Err() == nil {
		return 1
	}
	return 0
}

// context ends when the server stops answering.
func (srv *server) context() context.Context {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	return srv.alive
}

// Use opens a server, once.
func (s *Store) Use(name string, to Server) { s.named(name).opened.Store(&to) }

// Server returns one of the servers; nil before it was opened.
func (s *Store) Server(name string) Server {
	if srv := s.named(name); srv != nil {
		if opened := srv.opened.Load(); opened != nil {
			return *opened
		}
	}
	return nil
}

func (s *Store) named(name string) *server {
	if i := slices.IndexFunc(s.servers, func(srv *server) bool { return srv.name == name }); i >= 0 {
		return s.servers[i]
	}
	return nil
}

// errSilent is why what a server was asked ends early.
var errSilent = errors.New("the server does not answer")

// Run watches whether the servers answer, until ctx ends. Without it, a server that hangs delays every question until its
// timeout.
func (s *Store) Run(ctx context.Context) error {
	var running sync.WaitGroup
	for _, srv := range s.servers {
		running.Go(func() {
			for ctx.Err() == nil {
				s.watch(ctx, srv)
				select {
				case <-time.After(pingEvery):
				case <-ctx.Done():
				}
			}
		})
	}
	running.Wait()
	return nil
}

// watch asks a server for a sign of life, and ends what it was asked if it gives none.
func (s *Store) watch(ctx context.Context, srv *server) {
	opened := srv.opened.Load()
	if opened == nil {
		return
	}
	within, cancel := context.WithTimeout(ctx, pingWithin)
	err := (*opened).Ping(within)
	cancel()
	if ctx.Err() != nil {
		return
	}
	srv.mu.Lock()
	defer srv.mu.Unlock()
	switch {
	case err != nil && srv.alive.Err() == nil:
		s.log.Warn("replica does not answer", "shard", s.shard, "server", srv.name, "error", err.Error())
		srv.stop(errSilent)
	case err == nil && srv.alive.Err() != nil:
		s.log.Info("replica answers again", "shard", s.shard, "server", srv.name)
		srv.alive, srv.stop = context.WithCancelCause(context.Background())
		srv.back = time.Now()
	}
}

// since returns since when the server answers.
func (srv *server) since() time.Time {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	if srv.alive.Err() != nil {
		return time.Now()
	}
	return srv.back
}

// While returns a context that ends when a server stops answering.
func (s *Store) While(ctx context.Context, name string) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.named(name).context(), func() { cancel(fmt.Errorf("%s: %w", name, errSilent)) })
	return ctx, func() { stop(); cancel(nil) }
}

// ask calls f with a server. What f does ends when the server stops answering.
func (srv *server) ask(ctx context.Context, f func(context.Context, Server) error) error {
	opened := srv.opened.Load()
	if opened == nil {
		return fmt.Errorf("%s: %w", srv.name, errNotOpen)
	}
	alive := srv.context()
	if alive.Err() != nil {
		return fmt.Errorf("%s: %w", srv.name, errSilent)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(alive, func() { cancel(errSilent) })()
	err := f(ctx, *opened)
	if err != nil && alive.Err() != nil {
		err = errors.Join(errSilent, err)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", srv.name, err)
	}
	return err
}

var errNotOpen = errors.New("this process has not opened the server yet; repeat the command or wait")

// errAway is for questions that no server can answer.
var errAway = &problem.Error{Kind: problem.Unavailable, Message: "The click store of this workspace is not available at the moment. Try again shortly.", RetryAfter: 5 * time.Second}

// note keeps what the view says for metrics.
func (s *Store) note(v View) {
	for _, srv := range s.servers {
		srv.in.Store(slices.Contains(v.InSync, srv.name))
	}
}

// Ping implements analytics.Store. It fails if no server in sync answers.
func (s *Store) Ping(ctx context.Context) error {
	return s.read(ctx, func(ctx context.Context, b Server) error { return b.Ping(ctx) })
}

// Close closes all open servers.
func (s *Store) Close() error {
	var errs []error
	for _, srv := range s.servers {
		if opened := srv.opened.Load(); opened != nil {
			errs = append(errs, (*opened).Close())
		}
	}
	return errors.Join(errs...)
}

// Erase implements analytics.Store.
func (s *Store) Erase(ctx context.Context, ip netip.Addr) (int64, error) {
	return s.EraseCounting(ctx, ip, nil)
}

// Answers reports whether a server is open and answers.
func (s *Store) Answers(name string) bool {
	srv := s.named(name)
	return srv != nil && srv.opened.Load() != nil && srv.context().Err() == nil
}
