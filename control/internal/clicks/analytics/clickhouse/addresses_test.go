package clickhouse_test

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// gateway is one of several addresses of an engine.
type gateway struct {
	t      *testing.T
	addr   string
	behind string

	mu     sync.Mutex
	listen net.Listener
	conns  []net.Conn
	made   int // connections
}

func newGateway(t *testing.T, behind string) *gateway {
	g := &gateway{t: t, addr: testkit.FreeAddr(t), behind: behind}
	g.start(true)
	t.Cleanup(g.stop)
	return g
}

// start listens. If it does not answer, it accepts connections and leaves them alone.
func (g *gateway) start(answers bool) {
	l, err := net.Listen("tcp", g.addr)
	testkit.Must(g.t, err)
	g.mu.Lock()
	g.listen = l
	g.mu.Unlock()
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			g.mu.Lock()
			g.made++
			g.conns = append(g.conns, from)
			g.mu.Unlock()
			if !answers {
				continue
			}
			to, err := net.Dial("tcp", g.behind)
			if err != nil {
				g.t.Error(err)
				return
			}
			g.mu.Lock()
			g.conns = append(g.conns, to)
			g.mu.Unlock()
			go func() { _, _ = io.Copy(to, from); _ = to.Close() }()
			go func() { _, _ = io.Copy(from, to); _ = from.Close() }()
		}
	}()
}

// stop closes the address and its connections.
func (g *gateway) stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	_ = g.listen.Close()
	for _, c := range g.conns {
		_ = c.Close()
	}
	g.conns = nil
}

// used returns how many connections were made since the last call.
func (g *gateway) used() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.made
	g.made = 0
	return n
}

// The addresses of a service are tried in turn: when one refuses connections, when one accepts them and does not answer, and when
// one breaks its connections. All connections stay with an address that works, also when an earlier one is back.
func TestF37_addresses_are_tried_in_turn(t *testing.T) {
	t.Parallel()
	for name, find := range map[string]func(testing.TB) string{"http": pool.Database, "native": pool.NativeDatabase} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			behind := find(t)
			scheme, rest, _ := strings.Cut(behind, "://")
			host, database, _ := strings.Cut(rest, "/")
			a, b := newGateway(t, host), newGateway(t, host)
			// Half of the time is for each address. It has to be longer than a handshake takes on a slow machine.
			cfg := clickhouse.Config{URL: scheme + "://" + a.addr + "," + b.addr + "/" + database + "&dial_timeout=20s"}
			s := open(t, cfg)
			rows := analyticstest.Clicks(3, 400, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), 2)
			stored := int64(0)
			works := func(now, idle *gateway, what string) {
				t.Helper()
				now.used()
				idle.used()
				testkit.Must(t, s.Insert(t.Context(), analytics.Batch{Rows: rows[stored : stored+50]}))
				stored += 50
				var asking sync.WaitGroup
				for range 8 { // several connections
					asking.Go(func() {
						if n := count(t, s); n != stored {
							t.Errorf("%s: %d clicks, want %d", what, n, stored)
						}
					})
				}
				asking.Wait()
				if n := idle.used(); n != 0 {
					t.Errorf("%s: %d connections to the other address", what, n)
				}
			}
			works(a, b, "both answer")
			a.stop()
			works(b, a, "the first refuses connections")
			a.start(true)
			works(b, a, "the first is back")
			b.stop()
			works(a, b, "the second refuses connections")
			a.stop()
			a.start(false)
			b.start(true)
			// A new store: over HTTP, the driver cannot tell that a server does not answer from one that takes long, so statements on
			// connections that were made before would wait for their limit of time.
			s = open(t, cfg)
			if a.used() == 0 {
				t.Error("the address that does not answer was not tried")
			}
			works(b, a, "the first does not answer")

			a.stop()
			b.stop()
			if err := s.Insert(t.Context(), analytics.Batch{Rows: rows}); err == nil ||
				!strings.Contains(err.Error(), "no address of the service answers") {
				t.Errorf("no address answers: %v", err)
			}
		})
	}
}
