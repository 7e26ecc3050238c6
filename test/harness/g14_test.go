package harness_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
)

// TestG14 holds many connections that send a byte a second, five for each two that read nothing and each two that say
// nothing: other visitors are served as before, and the slow ones are cut.
func TestG14_slow_clients(t *testing.T) {
	n := count(t, 400)
	dripping := 5 * n / 2
	p, slugs := published(t, 100)
	f := fleet.Start(t, fleet.Config{Edges: 1, Plane: p})
	e := f.Edges[0]
	c := newCrowd(t)
	cfg := load.Config{Addrs: f.EdgeAddrs(), Slugs: slugs, Clients: 8, Rate: 500}
	before := c.during(cfg, func() { time.Sleep(2 * time.Second) })
	memory := e.Memory()

	var slow sync.WaitGroup
	var cut atomic.Int64
	var longest atomic.Int64 // milliseconds until a byte-a-second request was cut
	over := make(chan struct{})
	// Who is cut comes back.
	open := func(times int, f func(net.Conn)) {
		for range times {
			slow.Go(func() {
				for {
					conn, err := net.DialTimeout("tcp", e.Addr, 5*time.Second) // so many at once overflow a queue of the system
					if err == nil {
						f(conn)
						conn.Close()
					}
					select {
					case <-over:
						return
					case <-time.After(rand.N(200 * time.Millisecond)):
					}
				}
			})
		}
	}
	open(dripping, func(conn net.Conn) { // a byte a second
		began := time.Now()
		request := "GET /link1 HTTP/1.1\r\nHost: sho.rt\r\nX-Slow: " + string(bytes.Repeat([]byte("a"), 4000))
		for i := 0; ; i++ {
			if _, err := conn.Write([]byte{request[i]}); err != nil {
				cut.Add(1)
				for ms := time.Since(began).Milliseconds(); ; {
					old := longest.Load()
					if ms <= old || longest.CompareAndSwap(old, ms) {
						return
					}
				}
			}
			select {
			case <-over:
				return
			case <-time.After(time.Second):
			}
		}
	})
	open(n, func(conn net.Conn) { // asks and asks, and reads nothing
		one := []byte("GET /nobody-has-this-link HTTP/1.1\r\nHost: sho.rt\r\nAccept: text/html\r\n\r\n")
		many := bytes.Repeat(one, 200)
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetReadBuffer(4096) // smaller is only meaner
		}
		for {
			select {
			case <-over:
				return
			default:
			}
			if err := conn.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
				return
			}
			if _, err := conn.Write(many); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
				return
			}
		}
	})
	open(n, func(conn net.Conn) { // says nothing
		go func() {
			<-over
			conn.Close()
		}()
		_, _ = conn.Read(make([]byte, 1)) // until it is cut
	})
	fleet.Eventually(t, time.Minute, "the slow clients are there", func() bool { return e.Metric("shortline_edge_connections") >= 0.95*float64(dripping+2*n) })
	during := c.during(cfg, func() { time.Sleep(long(t, 8*time.Second)) })
	files, grown := e.Files(), e.Memory()-memory
	t.Logf("of the edge's memory, heap in use %.0f MiB, stacks %.0f MiB", e.Metric("go_memstats_heap_inuse_bytes")/mebibyte, e.Metric("go_memstats_stack_inuse_bytes")/mebibyte)
	close(over)
	slow.Wait()
	t.Logf("alone: %v", before)
	t.Logf("among %d, %d and %d slow clients: %v", dripping, n, n, during)
	t.Logf("%d times one of %d that sent a byte a second was cut, after %.1f s at most; %d files open, memory %+d MiB", cut.Load(), dripping, float64(longest.Load())/1000, files, grown/mebibyte)
	if len(during.Other) > 0 || during.Broken > 0 || during.Refused > 0 {
		t.Errorf("others were not served: %v", during)
	}
	if cut.Load() < int64(dripping) || longest.Load() > 9000 {
		t.Errorf("%d times one of %d slow requests was cut, after %d ms at most", cut.Load(), dripping, longest.Load())
	}
	if grown > 128*mebibyte {
		t.Errorf("memory grew by %d MiB", grown/mebibyte)
	}
	fleet.Eventually(t, 90*time.Second, "no connection is left", func() bool { return e.Metric("shortline_edge_connections") == 0 })
}

// TestG15 asks for links that are not there, N of them, no two alike: memory stays, nobody upstream hears of it, no
// click is kept.
func TestG15_unknown_links(t *testing.T) {
	n := count(t, 200_000)
	p, slugs := published(t, 1000)
	f := fleet.Start(t, fleet.Config{Edges: 1, Plane: p})
	e := f.Edges[0]
	scan := func(n int) {
		var running sync.WaitGroup
		const clients = 4
		for k := range clients {
			running.Go(func() {
				conn, err := net.Dial("tcp", e.Addr)
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				if err := conn.SetDeadline(time.Now().Add(10 * time.Minute)); err != nil {
					t.Error(err)
					return
				}
				random := rand.New(rand.NewPCG(uint64(k), uint64(n)))
				const batch = 50
				missing := []byte("HTTP/1.1 404")
				var out bytes.Buffer
				in := make([]byte, 64<<10)
				for left := n / clients; left > 0; left -= batch {
					out.Reset()
					for range batch {
						fmt.Fprintf(&out, "GET /u%016x HTTP/1.1\r\nHost: sho.rt\r\nAccept: application/json\r\n\r\n", random.Uint64())
					}
					if _, err := conn.Write(out.Bytes()); err != nil {
						t.Error(err)
						return
					}
					kept := 0 // bytes of a status line whose rest comes with the next piece
					for answers := 0; answers < batch; {
						m, err := conn.Read(in[kept:])
						if err != nil {
							t.Error(err)
							return
						}
						piece := in[:kept+m]
						if bytes.Contains(piece, []byte("HTTP/1.1 5")) {
							t.Error("a 5xx")
							return
						}
						answers += bytes.Count(piece, missing)
						kept = min(len(piece), len(missing)-1)
						if last := bytes.LastIndex(piece, missing); last >= 0 {
							kept = min(kept, len(piece)-last-len(missing))
						}
						copy(in, piece[len(piece)-kept:])
					}
				}
			})
		}
		running.Wait()
	}
	scan(20_000)
	c := newCrowd(t)
	cfg := load.Config{Addrs: f.EdgeAddrs(), Slugs: slugs, Clients: 2, Rate: 200}
	before := c.during(cfg, func() { time.Sleep(2 * time.Second) })
	memory, asked := e.Memory(), p.Asked()
	began := time.Now()
	r := c.during(cfg, func() { scan(n) })
	grown := e.Memory() - memory
	t.Logf("%d unknown links in %s; memory %+.1f MiB; %d requests upstream (long polls)", n, time.Since(began).Round(time.Millisecond), float64(grown)/mebibyte, p.Asked()-asked)
	t.Logf("others before: %v; meanwhile: %v", before, r)
	if answered := e.Metric(`shortline_edge_answers_total{outcome="not_found"}`); int(answered) != n+20_000 {
		t.Errorf("%.0f links were not found of %d", answered, n+20_000)
	}
	if grown > 32*mebibyte {
		t.Errorf("memory grew by %d MiB", grown/mebibyte)
	}
	if more := p.Asked() - asked; more > 2+int(time.Since(began)/(10*time.Second)) {
		t.Errorf("%d requests upstream", more)
	}
	if kept := e.Metric("shortline_spool_clicks_appended_total"); int64(kept) != before.Acked+r.Acked {
		t.Errorf("%.0f clicks are kept of %d redirects", kept, before.Acked+r.Acked)
	}
	inTopic(t, f, c)
}

// TestG16 throws mutated requests at an edge and at a control plane: no panic, no answer of 5xx, no header of the
// attacker's making, and no connection that stays.
func TestG16_hostile_requests(t *testing.T) {
	n := count(t, 4000)
	c := startChain(t, fleet.Config{Edges: 1, Controls: 1}, 3)
	e, control := c.Edges[0], c.Controls[0]
	for _, target := range []struct{ name, addr, path string }{{"edge", e.Addr, "/" + c.slugs[0]}, {"control", control.Addr, "/api/urls"}} {
		random := rand.New(rand.NewPCG(7, uint64(len(target.name))))
		var answered, silent int
		statuses := map[string]int{}
		for range n {
			request := hostile(random, target.path)
			got := throw(t, target.addr, request, true)
			if failure(got) {
				// A server that sees its client hang up may give the request up; one that waits has no excuse.
				got = throw(t, target.addr, request, false)
			}
			head, _, _ := bytes.Cut(got, []byte("\r\n\r\n"))
			if len(got) == 0 {
				silent++
				continue
			}
			answered++
			if len(got) >= 12 {
				statuses[string(got[9:12])]++
			}
			if !bytes.HasPrefix(got, []byte("HTTP/1.")) || failure(got) || bytes.Contains(head, []byte("\nInjected")) {
				t.Fatalf("%s: %q is answered with %.300q", target.name, request, got)
			}
		}
		t.Logf("%s: %d requests, %d answered, %d not, %v", target.name, n, answered, silent, statuses)
		if answered < n/2 {
			t.Errorf("%s answered %d of %d: the corpus is noise", target.name, answered, n)
		}
	}
	if panics := e.Metric("shortline_edge_panics_total"); panics != 0 || e.Starts != 1 || control.Starts != 1 {
		t.Errorf("%.0f panics", panics)
	}
	fleet.Eventually(t, 30*time.Second, "no connection is left at the edge", func() bool { return e.Metric("shortline_edge_connections") == 0 })
	if status, _, err := follow(e.Addr, c.slugs[0]); err != nil || status != http.StatusFound {
		t.Errorf("afterwards: %d %v", status, err)
	}
}

// throw sends bytes and returns all that comes back, within two seconds unless the client hangs up its half.
func throw(t *testing.T, addr string, request []byte, hangUp bool) []byte {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	within := 2 * time.Second
	if hangUp {
		within = 10 * time.Second
	}
	if err := conn.SetDeadline(time.Now().Add(within)); err != nil {
		t.Fatal(err)
	}
	_, _ = conn.Write(request) // it may be refused half way
	if tcp, ok := conn.(*net.TCPConn); ok && hangUp {
		_ = tcp.CloseWrite() // that was all
	}
	got, _ := io.ReadAll(io.LimitReader(conn, 1<<20)) // cut off is an answer too
	return got
}

// failure reports an answer of 5xx, of either version. That a transfer coding or a version is not known is the
// request's fault, and says so in these two.
func failure(got []byte) bool {
	status, _, _ := bytes.Cut(bytes.TrimPrefix(bytes.TrimPrefix(got, []byte("HTTP/1.1 ")), []byte("HTTP/1.0 ")), []byte(" "))
	return bytes.HasPrefix(status, []byte("5")) && !bytes.Equal(status, []byte("501")) && !bytes.Equal(status, []byte("505"))
}

// hostile puts a request together from pieces and damages some of it.
func hostile(random *rand.Rand, path string) []byte {
	pick := func(s ...string) string { return s[random.IntN(len(s))] }
	var b bytes.Buffer
	b.WriteString(pick("GET", "GET", "GET", "HEAD", "POST", "PUT", "TRACE", "get", "", "G\x00T", "CONNECT", "PRI") + pick(" ", " ", " ", "  ", "\t"))
	b.WriteString(pick(path, path, path, "//"+path, path+"/info", path+"/verify", path+"/..;/", "/%2e%2e"+path, "http://x"+path, "*", path+"%00", path+"%0d%0aInjected:1", "/api/urls/1%2f2", "/"))
	b.WriteString(pick("", "", "?", "?page=1&limit=99999999999999999999", "?a=%0d%0aInjected:1", "?utm_source=%00%ff", "?utm_content=\r\nInjected: 1", "?search=%25%27--", "?\xff\xfe"))
	b.WriteString(pick(" HTTP/1.1\r\n", " HTTP/1.1\r\n", " HTTP/1.1\r\n", " HTTP/1.0\r\n", " HTTP/2.0\r\n", "\r\n", " HTTP/1.1\n"))
	b.WriteString(pick("Host: sho.rt\r\n", "Host: sho.rt\r\n", "Host: sho.rt\r\n", "", "Host: a\r\nHost: b\r\n", "Host: \r\n", "Host: x\x00y\r\n"))
	for range random.IntN(6) {
		b.WriteString(pick("Content-Length: 3\r\n", "Content-Length: -1\r\n", "Content-Length: 99999999999999999999\r\n", "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: x, chunked\r\n",
			": x\r\n", "Accept: text/html;q=\xff\r\n", "Cookie: access_token=\x01\r\n", "Cookie: access_token=a.b.c\r\n", " folded\r\n", "X-Forwarded-For: ,,[::\r\n", "Expect: 100-continue\r\n",
			"Authorization: Bearer \xff\xff\r\n", "Authorization: Basic Og==\r\n", "X-API-Key: sl_"+string(bytes.Repeat([]byte("a"), 61))+"\r\n", "X-Request-ID: a\r\n b\r\n", "Content-Type: application/json; =\r\n",
			"Range: bytes=-1,,\r\n", "Origin: null\r\n", "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAAA\r\n", "Accept-Encoding: "+string(bytes.Repeat([]byte("gzip,"), 300))+"\r\n"))
	}
	b.WriteString(pick("\r\n", "\r\n", "\r\n", "\n", "") + pick("", "", "abc", "0\r\n\r\n", "ffffffffffffffff\r\n", "{\"originalUrl\":", string(bytes.Repeat([]byte("["), 10000))))
	out := b.Bytes()
	for range random.IntN(3) {
		out[random.IntN(len(out))] = byte(random.IntN(256))
	}
	return out
}
