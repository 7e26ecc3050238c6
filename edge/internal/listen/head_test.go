package listen_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/listen"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/valyala/fasthttp"
)

// served is an echoing server behind a Listener. A request must arrive within read.
func served(t *testing.T, limit int, read time.Duration) (addr string, l *listen.Listener) {
	t.Helper()
	raw, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	l = listen.New(raw, listen.Timeouts{Read: read, Write: time.Minute, Idle: time.Minute})
	l.AwaitHeads(limit)
	ctx, stop := context.WithCancel(context.Background())
	swept, over := make(chan error, 1), make(chan error, 1)
	go func() { swept <- l.Run(ctx) }()
	server := &fasthttp.Server{
		Handler: func(ctx *fasthttp.RequestCtx) {
			ctx.SetBodyString(string(ctx.Path()) + " " + string(ctx.PostBody()))
		},
		ReadBufferSize: 8 << 10, ConnState: l.State, CloseOnShutdown: true, Logger: quiet{},
	}
	go func() { over <- server.Serve(l) }()
	t.Cleanup(func() {
		if err := server.Shutdown(); err != nil {
			t.Error(err)
		}
		if err := <-over; err != nil {
			t.Error(err)
		}
		stop()
		if err := <-swept; err != nil {
			t.Error(err)
		}
	})
	return raw.Addr().String(), l
}

// pause lets time pass: it is the pace of a client.
func pause(d time.Duration) { time.Sleep(d) }

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// A first request may arrive in pieces, together with others or with a body, or it may never arrive.
func TestListener_first_requests(t *testing.T) {
	t.Parallel()
	patient, _ := served(t, 1000, time.Hour)
	impatient, _ := served(t, 1000, time.Second)
	const one, post = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n", "POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody"
	for name, c := range map[string]struct {
		send  string
		piece int // bytes at a time, 0: all
		want  []string
	}{
		"at once":               {one, 0, []string{"200 /a "}},
		"byte by byte":          {one, 1, []string{"200 /a "}},
		"three at once":         {one + post + one, 0, []string{"200 /a ", "200 /b body", "200 /a "}},
		"three in pieces":       {one + post + one, 7, []string{"200 /a ", "200 /b body", "200 /a "}},
		"empty lines before":    {"\r\n\r\n" + one, 3, []string{"200 /a "}},
		"a head that is large":  {"GET /a HTTP/1.1\r\nHost: h\r\nX: " + strings.Repeat("x", 7000) + "\r\n\r\n", 0, []string{"200 /a "}},
		"one that is too large": {"GET /a HTTP/1.1\r\nHost: h\r\nX: " + strings.Repeat("x", 9000) + "\r\n\r\n", 0, []string{"431"}},
		"half a head":           {one[:20], 0, []string{"4"}},
		"half a body":           {post[:len(post)-2], 0, []string{"4"}},
		"nothing":               {"", 0, []string{"nothing"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr, late := patient, c.want[0] == "4" || c.want[0] == "nothing"
			if late {
				addr = impatient
			}
			began := time.Now() // the listener may accept before Dial returns
			c1, err := net.Dial("tcp", addr)
			testkit.Must(t, err)
			defer c1.Close()
			for b := []byte(c.send); len(b) > 0; {
				n := len(b)
				if c.piece > 0 {
					n = min(n, c.piece)
				}
				if _, err := c1.Write(b[:n]); err != nil {
					t.Fatal(err)
				}
				if b = b[n:]; c.piece > 0 {
					pause(time.Millisecond) // so that each piece arrives as a packet of its own
				}
			}
			in := bufio.NewReader(c1)
			for _, want := range c.want {
				if want == "nothing" {
					if b, err := io.ReadAll(in); err != nil || len(b) > 0 {
						t.Errorf("got %q, %v", b, err)
					}
					break
				}
				res, err := http.ReadResponse(in, nil)
				if err != nil {
					t.Fatalf("%s: %v", want, err)
				}
				body, _ := io.ReadAll(res.Body) // a cut body differs from the expected one
				if got := res.Status[:3] + " " + string(body); !strings.HasPrefix(got, want) {
					t.Errorf("got %q, want %q", got, want)
				}
			}
			if d := time.Since(began); late && d < time.Second {
				t.Errorf("cut after %v", d)
			}
			testkit.Within(t, 5*time.Second, began, name)
		})
	}
}

// A connection that the client closes before its first request is complete is closed without an answer.
func TestListener_first_requests_of_nobody(t *testing.T) {
	t.Parallel()
	addr, _ := served(t, 1000, time.Hour)
	for _, sent := range []string{"", "GET /a HT", "GET /a HTTP/1.1\r\nHost: h\r\n"} {
		c, err := net.Dial("tcp", addr)
		testkit.Must(t, err)
		if _, err := io.Copy(c, bytes.NewReader([]byte(sent))); err != nil {
			t.Fatal(err)
		}
		testkit.Must(t, c.(*net.TCPConn).CloseWrite())
		if answer, err := io.ReadAll(c); err != nil {
			t.Errorf("after %q and the end of the stream: answer %q, %v", sent, answer, err)
		}
		c.Close()
	}
}

// At the limit, the listener closes the connections that have been silent for longest.
func TestListener_full_of_silence(t *testing.T) {
	t.Parallel()
	const limit = 40
	addr, l := served(t, limit, time.Hour) // so no silent connection is closed for being late
	var silent []net.Conn
	for range 3 * limit {
		c, err := net.Dial("tcp", addr)
		testkit.Must(t, err)
		defer c.Close()
		silent = append(silent, c)
	}
	for range 10 {
		res, err := http.Get("http://" + addr + "/a")
		testkit.Must(t, err)
		res.Body.Close()
	}
	if n := l.Open(); n > limit {
		t.Errorf("%d connections are open, want at most %d", n, limit)
	}
	if l.Shed() < 2*limit {
		t.Errorf("%d connections were shed", l.Shed())
	}
	if _, err := silent[0].Read(make([]byte, 1)); err == nil {
		t.Errorf("the connection that was silent for longest: %v", err)
	}
}

// At the limit, the listener closes the connections that have been idle for longest, so that new ones are served.
func TestListener_full_of_idle_ones(t *testing.T) {
	t.Parallel()
	const limit = 40
	addr, l := served(t, limit, time.Hour)
	ask := func() (net.Conn, error) {
		c, err := net.Dial("tcp", addr)
		testkit.Must(t, err)
		t.Cleanup(func() { c.Close() })
		if _, err := io.WriteString(c, "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
			return c, err
		}
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err == nil {
			_, err = io.Copy(io.Discard, res.Body)
		}
		return c, err
	}
	first, err := ask()
	testkit.Must(t, err)
	sweeps(t, l, 2) // the sweep's clock, which measures idleness, shows that the others become idle later
	for i := range 3 * limit {
		if _, err := ask(); err != nil {
			t.Fatalf("client %d of %d connections: %v", i, limit, err)
		}
	}
	if n := l.Open(); n > limit {
		t.Errorf("%d connections are open, want at most %d", n, limit)
	}
	if l.Shed() < limit {
		t.Errorf("%d connections were shed", l.Shed())
	}
	if n, err := first.Read(make([]byte, 1)); n > 0 || err != io.EOF {
		t.Errorf("the connection that was idle for longest: %d bytes, %v", n, err)
	}
}

// A server that shuts down still answers a request that has begun to arrive.
func TestListener_waits_for_heads_at_the_end(t *testing.T) {
	t.Parallel()
	raw, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	l := listen.New(raw, listen.Timeouts{Read: time.Hour, Write: time.Minute, Idle: time.Minute})
	l.AwaitHeads(10)
	server := &fasthttp.Server{Handler: func(*fasthttp.RequestCtx) {}, ConnState: l.State, CloseOnShutdown: true}
	over := make(chan error, 1)
	go func() { over <- server.Serve(l) }()
	c, err := net.Dial("tcp", raw.Addr().String())
	testkit.Must(t, err)
	defer c.Close()
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\n"); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the connection is accepted", func() bool { return l.Open() == 1 })
	ended := make(chan error, 1)
	go func() { ended <- server.Shutdown() }()
	testkit.Eventually(t, "the listener is closed", func() bool {
		c, err := net.Dial("tcp", raw.Addr().String())
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	})
	if _, err := io.WriteString(c, "Host: h\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || res.StatusCode != 200 {
		t.Errorf("%v, %v", res, err)
	}
	for _, end := range []chan error{ended, over} {
		if err := <-end; err != nil {
			t.Error(err)
		}
	}
}
