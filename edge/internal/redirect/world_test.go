package redirect_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/listen"
	"github.com/shortline/shortline/edge/internal/redirect"
	"github.com/shortline/shortline/edge/internal/spool"
	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/shared/visitor"
	"golang.org/x/crypto/bcrypt"
)

// epoch is the start of the clock in these tests: a Wednesday, 10:00 UTC.
var epoch = time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)

const (
	phone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 " +
		"Safari/604.1"
	desktop = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
	crawler = "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)"
	browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
)

// secret is the hash of the password "correct horse".
var secret = sync.OnceValue(func() string {
	b, err := bcrypt.GenerateFromPassword([]byte("correct horse"), bcrypt.MinCost)
	if err != nil {
		panic(err)
	}
	return string(b)
})

// world is a Handler with its real dependencies and a port of its own.
type world struct {
	t       *testing.T
	addr    string
	secure  string // address of the port for TLS, whose connections are for sho.rt
	handler *redirect.Handler
	table   *table.Table
	spool   *spool.Spool
	clock   atomic.Int64 // Unix nanoseconds
}

// newWorld returns a world that waits for clients, and that answers them, for as long as a busy machine may need.
func newWorld(t *testing.T, links []link.Record, adjust ...func(*redirect.Config, *redirect.Deps)) *world {
	t.Helper()
	return newWorldWith(t, listen.Timeouts{Read: testkit.Patience, Write: testkit.Patience, Idle: testkit.Patience}, links, adjust...)
}

func newWorldWith(t *testing.T, timeouts listen.Timeouts, links []link.Record, adjust ...func(*redirect.Config, *redirect.Deps)) *world {
	t.Helper()
	w := &world{t: t}
	w.clock.Store(epoch.UnixNano())
	w.table = newTable(t, links)
	w.spool = newSpool(t)
	cfg := redirect.Config{BaseURL: "https://sho.rt", HashWait: testkit.Patience, Now: func() time.Time {
		return time.Unix(0, w.clock.Load())
	}}
	deps := redirect.Deps{Table: w.table, Spool: w.spool, Agents: visitor.NewAgents(64),
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	for _, f := range adjust {
		f(&cfg, &deps)
	}
	h, err := redirect.New(cfg, deps)
	testkit.Must(t, err)
	w.handler = h
	raw, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	l := listen.New(raw, timeouts)
	server := redirect.NewServer(h, l)
	w.addr = raw.Addr().String()
	secure, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	w.secure = secure.Addr().String()
	l.Secure(secure, listen.TLS{
		Config: &tls.Config{Certificates: certificates(), DynamicRecordSizingDisabled: true},
		Hello:  func(*tls.ClientHelloInfo) (string, *tls.Config, error) { return "sho.rt", nil, nil },
	})
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() { _ = l.Run(ctx) })
	group.Go(func() { _ = server.Serve(l) })
	t.Cleanup(func() {
		_ = server.Shutdown()
		cancel()
		group.Wait()
		if n := h.Stats().Panics; n != 0 {
			t.Errorf("%d panics", n)
		}
	})
	return w
}

// certificates are those of a test server.
var certificates = sync.OnceValue(func() []tls.Certificate {
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	return s.TLS.Certificates
})

func newTable(t testing.TB, links []link.Record) *table.Table {
	t.Helper()
	tab, err := table.New(table.Config{})
	testkit.Must(t, err)
	t.Cleanup(tab.Close)
	b := tab.NewBuilder()
	for i := range links {
		r := links[i]
		if r.Num == 0 {
			r.Num = uint64(i + 1)
		}
		r.Owner, r.Revision = 77, 1
		testkit.Must(t, b.Add(&r))
	}
	testkit.Must(t, tab.Load(b, snapshot.Cursor{Incarnation: 1, Revision: 1}))
	return tab
}

func newSpool(t testing.TB) *spool.Spool {
	t.Helper()
	s, err := spool.Open(spool.Config{Dir: t.TempDir(), SegmentBytes: 1 << 20, Lanes: 1,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	testkit.Must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	testkit.Run(t, s.Run)
	return s
}

// replace replaces a link in the table.
func (w *world) replace(r link.Record) {
	w.t.Helper()
	r.Owner, r.Revision = 77, 2
	b := w.table.NewBuilder()
	testkit.Must(w.t, b.Add(&r))
	testkit.Must(w.t, w.table.Load(b, snapshot.Cursor{Incarnation: 1, Revision: 2}))
}

func (w *world) advance(d time.Duration) { w.clock.Add(int64(d)) }

// answer is an answer with its body.
type answer struct {
	*http.Response
	body string
}

// ask sends one request and does not follow redirects. headers alternates names and values.
func (w *world) ask(method, target, body string, headers ...string) answer {
	w.t.Helper()
	req, err := http.NewRequest(method, "http://"+w.addr+target, strings.NewReader(body))
	testkit.Must(w.t, err)
	req.Header.Set("User-Agent", desktop)
	for i := 0; i < len(headers); i += 2 {
		if req.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	testkit.Must(w.t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	testkit.Must(w.t, err)
	return answer{resp, string(b)}
}

func (w *world) get(target string, headers ...string) answer {
	w.t.Helper()
	return w.ask(http.MethodGet, target, "", headers...)
}

// raw sends bytes unchanged and returns everything that the edge sends until it closes the connection.
func (w *world) raw(request string) string {
	w.t.Helper()
	conn, err := net.Dial("tcp", w.addr)
	testkit.Must(w.t, err)
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		w.t.Fatal(err)
	}
	_ = conn.(*net.TCPConn).CloseWrite()
	b, _ := io.ReadAll(bufio.NewReader(conn)) // a reset after the answer counts as a close
	return string(b)
}

// clicks takes all clicks out of the spool. The test fails unless there are n.
func (w *world) clicks(n int) []click.Event {
	w.t.Helper()
	var got []click.Event
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	for _, r := range w.spool.Readers() {
		for r.Backlog() > 0 || len(got) < n && r.Wait(ctx) == nil { // Backlog is a lower bound
			b := r.Next(1000, 1<<20)
			d := click.NewDecoder(b)
			for {
				var e click.Event
				ok, err := d.Next(&e)
				testkit.Must(w.t, err)
				if !ok {
					break
				}
				for _, s := range []*string{&e.UserAgent, &e.Referer, &e.AcceptLanguage, &e.UTM.Source, &e.UTM.Medium, &e.UTM.Campaign,
					&e.UTM.Term,
					&e.UTM.Content, &e.UTM.ID, &e.UTM.SourcePlatform} {
					*s = strings.Clone(*s)
				}
				got = append(got, e)
			}
			r.Ack()
		}
	}
	if len(got) != n {
		w.t.Errorf("%d clicks, want %d: %+v", len(got), n, got)
	}
	return got
}
