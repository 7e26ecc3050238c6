//go:build proof

package edge_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/edge"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// floodName is the host of the edge under attack.
const floodName = "go.acme.com"

// TestFlood_process is no test: it is the process of an edge that TestG38 attacks. It answers each line on its input with its
// counters.
func TestFlood_process(t *testing.T) {
	if os.Getenv("SHORTLINE_FLOOD_EDGE") == "" {
		t.Skip("runs as a process of TestG38")
	}
	c, n, cfg := newControl(), new(names), secure(t)
	c.put(link.Record{Num: 1, Key: link.Key(36, "spring"), Destination: "https://example.com/acme"})
	n.put(snapshot.Hosts{Hosts: []snapshot.Host{issue(t, floodName, 36, 1)}, Tickets: []string{ticket(1)}})
	cfg.TLSLimit, cfg.SpoolSegmentBytes, cfg.SpoolCapBytes = 600, 1<<20, 64<<20
	e, _ := run(t, cfg, edge.Deps{Links: c, Sink: c, Hosts: n, Logger: slog.New(slog.DiscardHandler)})
	testkit.Eventually(t, "ready", func() bool { return e.Ready() && e.Hosts() == 1 })
	for in := bufio.NewScanner(os.Stdin); ; {
		b, err := json.Marshal(flooded{Addr: e.Addr().String(), Secure: e.SecureAddr().String(), Connections: e.Stats().Connections,
			Rejected: e.Stats().TLS.Rejected})
		testkit.Must(t, err)
		fmt.Println("flooded", string(b))
		if !in.Scan() {
			return
		}
	}
}

// flooded is what the process of the edge says.
type flooded struct {
	Addr, Secure string
	Connections  int
	Rejected     map[string]uint64
}

// victim is the process of an edge under attack.
type victim struct {
	flooded
	t   *testing.T
	cmd *exec.Cmd
	in  io.Writer
	out *bufio.Scanner
}

func startVictim(t *testing.T) *victim {
	v := &victim{t: t, cmd: exec.Command(os.Args[0], "-test.run=^TestFlood_process$", "-test.timeout=1h")}
	v.cmd.Env, v.cmd.Stderr = append(os.Environ(), "SHORTLINE_FLOOD_EDGE=1"), os.Stderr
	in, err := v.cmd.StdinPipe()
	testkit.Must(t, err)
	out, err := v.cmd.StdoutPipe()
	testkit.Must(t, err)
	testkit.Must(t, v.cmd.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = v.cmd.Wait()
	})
	v.in, v.out = in, bufio.NewScanner(out)
	v.hear()
	return v
}

func (v *victim) hear() {
	v.t.Helper()
	for v.out.Scan() {
		if said, ok := strings.CutPrefix(v.out.Text(), "flooded "); ok {
			v.flooded = flooded{}
			testkit.Must(v.t, json.Unmarshal([]byte(said), &v.flooded))
			return
		}
	}
	v.t.Fatal("the edge has ended")
}

func (v *victim) ask() { fmt.Fprintln(v.in, "stats"); v.hear() }

// resident returns the memory of the process in MiB.
func (v *victim) resident() int {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", v.cmd.Process.Pid))
	var size, pages int
	_, _ = fmt.Sscan(string(b), &size, &pages)
	return pages * os.Getpagesize() >> 20
}

// call opens a connection from one of many loopback addresses, so that every attack comes from many clients.
func call(to string, client int) (net.Conn, error) {
	from := &net.TCPAddr{IP: net.IPv4(127, 1, byte(client>>8), byte(client))}
	c, err := (&net.Dialer{LocalAddr: from, Timeout: 5 * time.Second}).Dial("tcp", to)
	if err == nil {
		_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	}
	return c, err
}

// steadily calls do at a rate until ctx ends, up to 256 at the same time.
func steadily(ctx context.Context, perSecond int, do func(i int)) {
	var all sync.WaitGroup
	defer all.Wait()
	slots := make(chan struct{}, 256)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	began := time.Now()
	for i := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for due := int(time.Since(began).Seconds() * float64(perSecond)); i < due; i++ {
			select {
			case slots <- struct{}{}:
			default:
				continue // all are busy: the attack is slower than planned
			}
			number := i // i changes while do runs
			all.Go(func() { do(number); <-slots })
		}
	}
}

// throw sends bytes and waits for the end of the connection, or closes it at once.
func throw(to string, client int, sent string, wait bool) {
	c, err := call(to, client)
	if err != nil {
		return
	}
	defer c.Close()
	_, _ = io.WriteString(c, sent)
	if wait {
		_, _ = io.Copy(io.Discard, c)
	}
}

// attack is a kind of hostile clients.
type attack struct {
	name   string
	reason string // what the edge counts, or ""
	run    func(ctx context.Context, v *victim)
}

func attacks(t *testing.T) []attack {
	hello, unknown := helloOf(t, floodName), helloOf(t, "nobody.example")
	flood := func(perSecond int, do func(v *victim, i int)) func(context.Context, *victim) {
		return func(ctx context.Context, v *victim) {
			steadily(ctx, perSecond, func(i int) { do(v, i) })
		}
	}
	return []attack{
		{"unknown names", "unknown_name", flood(1000, func(v *victim, i int) { throw(v.Secure, i%5000, unknown, true) })},
		{"aborted in the hello", "aborted", flood(1000, func(v *victim, i int) { throw(v.Secure, i%5000, hello[:len(hello)/2], false) })},
		{"aborted after the server's answer", "aborted", flood(1000, func(v *victim, i int) {
			if c, err := call(v.Secure, i%5000); err == nil {
				_, _ = io.WriteString(c, hello)
				_, _ = c.Read(make([]byte, 4096))
				_ = c.Close()
			}
		})},
		{"aborted after the handshake", "", flood(100, func(v *victim, i int) {
			if c, err := call(v.Secure, i%5000); err == nil {
				_ = tls.Client(c, &tls.Config{ServerName: floodName, InsecureSkipVerify: true}).Handshake()
				_ = c.Close()
			}
		})},
		{"5,000 slow handshakes", "timeout", func(ctx context.Context, v *victim) {
			var all sync.WaitGroup
			for i := range 5000 {
				all.Go(func() {
					c, err := call(v.Secure, i)
					if err != nil {
						return
					}
					defer c.Close()
					sent := hello
					if i%2 == 0 {
						sent = hello[:len(hello)-1]
					}
					_, _ = io.WriteString(c, sent)
					stop := context.AfterFunc(ctx, func() { _ = c.Close() })
					defer stop()
					_, _ = io.Copy(io.Discard, c)
				})
			}
			<-ctx.Done()
			all.Wait()
		}},
		{"oversized hellos", "oversized", flood(200, func(v *victim, i int) { throw(v.Secure, i%5000, endlessHello(), true) })},
		{"hellos byte by byte", "", flood(20, func(v *victim, i int) {
			c, err := call(v.Secure, i%5000)
			if err != nil {
				return
			}
			defer c.Close()
			for k := range len(hello) {
				if _, err := io.WriteString(c, hello[k:k+1]); err != nil {
					return
				}
				pause(time.Millisecond)
			}
		})},
		{"100 handshakes a second of one client", "too_many", flood(100, func(v *victim, _ int) {
			if c, err := call(v.Secure, 7); err == nil {
				_ = tls.Client(c, &tls.Config{ServerName: floodName, InsecureSkipVerify: true}).Handshake()
				_ = c.Close()
			}
		})},
		{"HTTP without TLS", "protocol", flood(500, func(v *victim, i int) {
			throw(v.Secure, i%5000, "GET /spring HTTP/1.1\r\nHost: go.acme.com\r\n\r\n", true)
		})},
		{"TLS on the port without", "", flood(500, func(v *victim, i int) { throw(v.Addr, i%5000, hello, true) })},
		{"early data", "protocol", flood(500, func(v *victim, i int) { throw(v.Secure, i%5000, withEarlyData(hello), true) })},
	}
}

// clients are well-behaved clients: some with kept connections, and others that open a new connection for each visit.
type clients struct {
	kept, fresh []time.Duration
	failed      atomic.Int64
	why         atomic.Value
}

// visitFor lets clients visit for a time. Those with new connections come from 50 addresses.
func (v *victim) visitFor(d time.Duration) *clients {
	g := &clients{}
	var mu sync.Mutex
	var all sync.WaitGroup
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	note := func(to *[]time.Duration, began time.Time, err error) {
		mu.Lock()
		defer mu.Unlock()
		if *to = append(*to, time.Since(began)); err != nil {
			g.failed.Add(1)
			g.why.Store(err.Error())
		}
	}
	open := func(client int) (*tls.Conn, error) {
		raw, err := call(v.Secure, 20_000+client)
		if err != nil {
			return nil, err
		}
		_ = raw.SetDeadline(time.Time{})
		c := tls.Client(raw, &tls.Config{ServerName: floodName, InsecureSkipVerify: true})
		return c, c.Handshake()
	}
	spring := func(c *tls.Conn) error {
		resp, _, err := askOver(c, floodName, "/spring")
		if err == nil && resp.StatusCode != 302 {
			err = errors.New(resp.Status)
		}
		return err
	}
	for i := range 8 {
		all.Go(func() {
			c, err := open(i)
			if err != nil {
				note(&g.kept, time.Now(), err)
				return
			}
			defer c.Close()
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			for ctx.Err() == nil {
				<-tick.C
				began := time.Now()
				note(&g.kept, began, spring(c))
			}
		})
	}
	all.Go(func() {
		steadily(ctx, 20, func(i int) {
			began := time.Now()
			c, err := open(100 + i%50)
			if err == nil {
				err = spring(c)
			}
			note(&g.fresh, began, err)
			if c != nil {
				_ = c.Close()
			}
		})
	})
	all.Wait()
	return g
}

func p99(v []time.Duration) time.Duration {
	v = slices.Sorted(slices.Values(v))
	return v[(len(v)-1)*99/100].Round(10 * time.Microsecond)
}

// under lets clients visit an edge while an attack hits the same edge or another one, and returns the most memory that the
// attacked edge used, in MiB.
func (v *victim) under(a attack, target *victim, d time.Duration) (g *clients, most int) {
	ctx, cancel := context.WithCancel(v.t.Context())
	var all sync.WaitGroup
	all.Go(func() { a.run(ctx, target) })
	all.Go(func() {
		for ctx.Err() == nil {
			most = max(most, target.resident())
			pause(50 * time.Millisecond)
		}
	})
	g = v.visitFor(d)
	cancel()
	all.Wait()
	return g, most
}

// TestG38 attacks an edge with hostile TLS clients of every kind. Visitors must be served meanwhile, memory must stay bounded, and
// every rejection must be counted. The attackers need processor time on this machine, too, so the visitors' waiting time
// is compared with that during the same attack on another edge.
func TestG38_hostile_TLS_clients(t *testing.T) {
	const length, bound = 7 * time.Second, 500
	v, decoy := startVictim(t), startVictim(t)
	v.visitFor(time.Second) // warm
	decoy.visitFor(time.Second)
	base := v.resident()
	for _, a := range attacks(t) {
		quiet := v.visitFor(length)
		elsewhere, _ := v.under(a, decoy, length)
		v.ask()
		before := v.Rejected
		under, most := v.under(a, v, length)
		v.ask()
		rejected := map[string]uint64{}
		for reason, n := range v.Rejected {
			if n > before[reason] {
				rejected[reason] = n - before[reason]
			}
		}
		t.Logf("%-38s p99 of kept connections %v, with the attack elsewhere %v, without %v; of new ones %v, %v, %v; %d MiB; rejected %v",
			a.name, p99(under.kept), p99(elsewhere.kept), p99(quiet.kept), p99(under.fresh), p99(elsewhere.fresh), p99(quiet.fresh),
			most, rejected)
		for _, g := range []*clients{quiet, elsewhere, under} {
			if n := g.failed.Load(); n > 0 {
				t.Errorf("%s: %d of %d visits failed: %v", a.name, n, len(g.kept)+len(g.fresh), g.why.Load())
			}
		}
		if a.reason != "" && rejected[a.reason] == 0 {
			t.Errorf("%s: no rejection for the reason %s", a.name, a.reason)
		}
		if usual := max(p99(elsewhere.kept), p99(quiet.kept)); p99(under.kept) > 2*usual {
			t.Errorf("%s: the p99 of kept connections is %v instead of %v", a.name, p99(under.kept), usual)
		}
		if !raceEnabled && most > base+bound {
			t.Errorf("%s: %d MiB, before the attacks %d", a.name, most, base)
		}
	}
	testkit.Eventually(t, "no connection of an attack stays", func() bool { v.ask(); return v.Connections == 0 })
}
