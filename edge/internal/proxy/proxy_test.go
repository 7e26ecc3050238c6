package proxy_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/proxy"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttputil"
)

// edge serves a proxy over TCP in front of an in-memory upstream. It returns the address of the proxy.
func edge(t *testing.T, cfg proxy.Config, upstream http.Handler) (string, *proxy.Proxy) {
	t.Helper()
	if upstream != nil {
		memory := fasthttputil.NewInmemoryListener()
		server := &http.Server{Handler: upstream, ReadHeaderTimeout: time.Minute}
		go func() { _ = server.Serve(memory) }()
		t.Cleanup(func() { _ = server.Close() })
		cfg.Dial = func(context.Context) (net.Conn, error) { return memory.Dial() }
	}
	cfg.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	p, err := proxy.New(cfg)
	testkit.Must(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	s := &fasthttp.Server{
		Handler: func(ctx *fasthttp.RequestCtx) {
			if !p.Owns(ctx.Request.Header.RequestURI()) {
				ctx.SetStatusCode(http.StatusTeapot)
				return
			}
			client := netip.MustParseAddr("203.0.113.7")
			if from := ctx.Request.Header.Peek("Test-Client"); len(from) > 0 {
				client = netip.MustParseAddr(string(from))
			}
			p.Serve(ctx, client)
		},
		StreamRequestBody: true, MaxRequestBodySize: 4096, DisablePreParseMultipartForm: true, NoDefaultServerHeader: true,
		NoDefaultContentType:          true,
		DisableHeaderNamesNormalizing: true, ReadTimeout: 5 * time.Second, WriteTimeout: 5 * time.Second, IdleTimeout: 5 * time.Second,
	}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { p.Close(); _ = s.Shutdown() })
	return l.Addr().String(), p
}

func TestProxy_owns_its_paths_and_what_lies_below(t *testing.T) {
	t.Parallel()
	p, err := proxy.New(proxy.Config{Dial: func(context.Context) (net.Conn, error) { return nil, errors.New("no") }})
	testkit.Must(t, err)
	defer p.Close()
	for path, want := range map[string]bool{
		"/": true, "/api": true, "/api/": true, "/api/urls": true, "/console/x": true, "/login": true, "/admin": true,
		"/static/app.js":                    true,
		"/share/abcdefghijklmnopqrstuvwxyz": true, "/share/abcdefghijklmnopqrstuvwxyz?x=/": true, "/share": false, "/share/": false,
		"/share/info": false, "/share/abcdefghijklmnopqrstuvwxyz/x": false, "/sharex/abcdefghijklmnopqrstuvwxyz": false,
		"/apix": false, "/abc": false, "/x/api": false, "": false, "/API": false,
	} {
		if got := p.Owns([]byte(path)); got != want {
			t.Errorf("Owns(%q) = %v, want %v", path, got, want)
		}
	}
}

func TestProxy_upstream_can_believe_the_forwarded_headers(t *testing.T) {
	t.Parallel()
	got := make(chan *http.Request, 1)
	addr, _ := edge(t, proxy.Config{Scheme: "https", Host: "sho.rt"}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r
		w.Header().Add("Set-Cookie", "a=1")
		w.Header().Add("Set-Cookie", "b=2")
		w.Header().Set("X-Custom", "yes")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, "made")
	}))
	req, _ := http.NewRequest(http.MethodGet, "http://"+addr+"/api/urls?a=1%2F&b", nil)
	for k, v := range map[string]string{
		"X-Forwarded-For": "1.2.3.4", "x-real-ip": "1.2.3.4", "X-Forwarded-Host": "evil.test", "X-Forwarded-Proto": "gopher",
		"Forwarded":  "for=1.2.3.4",
		"Connection": "close, X-Hop", "X-Hop": "secret", "Authorization": "Bearer t", "Cookie": "s=1; t=2",
	} {
		req.Header.Set(k, v)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	testkit.Must(t, err)
	body, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusCreated || string(body) != "made" || resp.Header.Get("X-Custom") != "yes" ||
		len(resp.Header["Set-Cookie"]) != 2 {
		t.Errorf("answer = %d %q %v", resp.StatusCode, body, resp.Header)
	}
	r := <-got
	for k, want := range map[string]string{
		"X-Forwarded-For": "203.0.113.7", "X-Forwarded-Host": "sho.rt", "X-Forwarded-Proto": "https", "X-Real-Ip": "", "Forwarded": "",
		"X-Hop":         "",
		"Authorization": "Bearer t", "Cookie": "s=1; t=2",
	} {
		if v := strings.Join(r.Header.Values(k), "|"); v != want {
			t.Errorf("%s = %q, want %q", k, v, want)
		}
	}
	if r.Host != "sho.rt" || r.RequestURI != "/api/urls?a=1%2F&b" {
		t.Errorf("host %q, target %q", r.Host, r.RequestURI)
	}
}

func TestProxy_streams_a_large_upload(t *testing.T) {
	t.Parallel()
	addr, _ := edge(t, proxy.Config{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sum := sha256.New()
		n, err := io.Copy(sum, r.Body)
		_, _ = fmt.Fprintf(w, "%d %v %s", n, err, hex.EncodeToString(sum.Sum(nil)))
	}))
	const size = 11 << 20
	text := strings.Repeat("0123456789abcdef", size/16)
	sum := sha256.Sum256([]byte(text))
	want := fmt.Sprintf("%d <nil> %s", size, hex.EncodeToString(sum[:]))
	for _, chunked := range []bool{false, true} {
		var body io.Reader = strings.NewReader(text)
		if chunked {
			body = struct{ io.Reader }{body}
		}
		resp, err := http.Post("http://"+addr+"/api/og-images/upload/x", "application/octet-stream", body)
		testkit.Must(t, err)
		got, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if string(got) != want {
			t.Errorf("chunked %v: got %q, want %q", chunked, got, want)
		}
	}
}

func TestProxy_refuses_a_body_beyond_its_limit(t *testing.T) {
	t.Parallel()
	addr, _ := edge(t, proxy.Config{MaxBody: 100_000}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	resp, err := http.Post("http://"+addr+"/api", "text/plain", struct{ io.Reader }{strings.NewReader(strings.Repeat("x", 200_000))})
	testkit.Must(t, err)
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("status = %d, want 413", resp.StatusCode)
	}
}

func TestProxy_passes_events_on_as_they_come(t *testing.T) {
	t.Parallel()
	next := make(chan struct{})
	left := make(chan struct{})
	addr, p := edge(t, proxy.Config{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(left)
		w.Header().Set("Content-Type", "text/event-stream")
		for i := 0; ; i++ {
			_, _ = fmt.Fprintf(w, "data: %d\n\n", i)
			w.(http.Flusher).Flush()
			select {
			case <-next:
			case <-r.Context().Done():
				return
			}
		}
	}))
	resp, err := http.Get("http://" + addr + "/api/events")
	testkit.Must(t, err)
	lines := bufio.NewReader(resp.Body)
	for i := range 3 {
		line, err := lines.ReadString('\n')
		if err != nil || line != fmt.Sprintf("data: %d\n", i) {
			t.Fatalf("line %d = %q, %v", i, line, err)
		}
		_, _ = lines.ReadString('\n')
		if i < 2 {
			next <- struct{}{}
		}
	}
	p.Close() // as on shutdown: the stream ends, and the upstream notices
	if _, err := io.ReadAll(lines); err == nil {
		t.Error("an interrupted stream ended as if it were complete")
	}
	_ = resp.Body.Close()
	<-left // the upstream notices
	testkit.Eventually(t, "no request in flight", func() bool { return p.Stats().InFlight == 0 })
}

func TestProxy_answers_without_a_body(t *testing.T) {
	t.Parallel()
	addr, _ := edge(t, proxy.Config{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/none":
			w.WriteHeader(http.StatusNoContent)
		case "/api/same":
			w.Header().Set("ETag", `"1"`)
			w.WriteHeader(http.StatusNotModified)
		default:
			w.Header().Set("Content-Length", "5")
			_, _ = io.WriteString(w, "hello")
		}
	}))
	conn, err := net.Dial("tcp", addr) // one connection for all requests, so that each answer must end at the right byte
	testkit.Must(t, err)
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	in := bufio.NewReader(conn)
	for _, c := range []struct {
		method, path string
		status       int
		body, length string
	}{
		{"HEAD", "/api/x", 200, "", "5"}, {"GET", "/api/none", 204, "", ""}, {"DELETE", "/api/none", 204, "", ""},
		{"GET", "/api/same", 304, "", ""}, {"GET", "/api/x", 200, "hello", "5"},
	} {
		_, _ = fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: x\r\n\r\n", c.method, c.path)
		resp, err := http.ReadResponse(in, &http.Request{Method: c.method})
		if err != nil {
			t.Fatalf("%s %s: %v", c.method, c.path, err)
		}
		body, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != c.status || string(body) != c.body || resp.Header.Get("Content-Length") != c.length {
			t.Errorf("%s %s = %d %q, length %q", c.method, c.path, resp.StatusCode, body, resp.Header.Get("Content-Length"))
		}
	}
}

// deadlines is a listener whose connections have a write deadline that has passed when the upstream answers.
type deadlines struct{ net.Listener }

func (l deadlines) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return c, c.SetWriteDeadline(time.Unix(1, 0))
}

// An answer without a body arrives although the upstream took longer than the server allows.
func TestS2_proxy_writes_late_answers(t *testing.T) {
	t.Parallel()
	memory := fasthttputil.NewInmemoryListener()
	upstream := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/broken" {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(http.StatusNoContent)
	})}
	go func() { _ = upstream.Serve(memory) }()
	p, err := proxy.New(proxy.Config{
		Dial: func(context.Context) (net.Conn, error) { return memory.Dial() }, Logger: slog.New(slog.DiscardHandler),
	})
	testkit.Must(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	s := &fasthttp.Server{Handler: func(ctx *fasthttp.RequestCtx) { p.Serve(ctx, netip.MustParseAddr("203.0.113.7")) }}
	go func() { _ = s.Serve(deadlines{l}) }()
	t.Cleanup(func() { p.Close(); _ = s.Shutdown(); _ = upstream.Close() })
	for path, want := range map[string]int{"/api/none": http.StatusNoContent, "/api/broken": http.StatusBadGateway} {
		resp, err := http.Post("http://"+l.Addr().String()+path, "text/plain", nil)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s = %d, want %d", path, resp.StatusCode, want)
		}
	}
}

func TestProxy_an_answer_before_the_end_of_the_upload(t *testing.T) {
	t.Parallel()
	addr, p := edge(t, proxy.Config{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "no")
	}))
	conn, err := net.Dial("tcp", addr)
	testkit.Must(t, err)
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	_, _ = io.WriteString(conn, "POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"+strings.Repeat("x", 10_000))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	testkit.Must(t, err)
	if body, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusForbidden || string(body) != "no" || !resp.Close {
		t.Errorf("answer = %d %q close %v", resp.StatusCode, body, resp.Close)
	}
	if n := p.Stats().InFlight; n != 0 {
		t.Errorf("%d requests are still in flight", n)
	}
}

// A client that sends its whole body before it reads must get the answer and not a reset of the connection. The connection
// stays usable.
func TestProxy_an_answer_that_does_not_want_the_upload(t *testing.T) {
	t.Parallel()
	addr, p := edge(t, proxy.Config{}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		_, _ = io.WriteString(w, "too large")
	}))
	conn, err := net.Dial("tcp", addr)
	testkit.Must(t, err)
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	r := bufio.NewReader(conn)
	for range 3 {
		if _, err := io.WriteString(conn, "POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\n"+
			strings.Repeat("x", 10_000_000)); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(r, nil)
		testkit.Must(t, err)
		if body, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusRequestEntityTooLarge || string(body) != "too large" ||
			resp.Close {
			t.Errorf("answer = %d %q close %v", resp.StatusCode, body, resp.Close)
		}
	}
	if n := p.Stats().InFlight; n != 0 {
		t.Errorf("%d requests are still in flight", n)
	}
}

func TestProxy_says_so_when_the_upstream_is_away(t *testing.T) {
	t.Parallel()
	refuse := func(context.Context) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("refused")}
	}
	cutoff := func(context.Context) (net.Conn, error) {
		here, there := net.Pipe()
		go func() { _, _ = there.Read(make([]byte, 64)); _ = there.Close() }()
		return here, nil
	}
	silent := func(context.Context) (net.Conn, error) {
		here, there := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, there) }()
		return here, nil
	}
	for name, c := range map[string]struct {
		dial func(context.Context) (net.Conn, error)
		want int
	}{"refused": {refuse, 503}, "cut": {cutoff, 502}, "silent": {silent, 504}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr, p := edge(t, proxy.Config{Dial: c.dial, Patience: 200 * time.Millisecond}, nil)
			resp, err := http.Get("http://" + addr + "/api/urls")
			testkit.Must(t, err)
			defer resp.Body.Close()
			var body struct {
				StatusCode int
				Message    string
				Error      string
			}
			testkit.Must(t, json.NewDecoder(resp.Body).Decode(&body))
			if resp.StatusCode != c.want || body.StatusCode != c.want || body.Message == "" || body.Error == "" {
				t.Errorf("answer = %d %+v, want %d", resp.StatusCode, body, c.want)
			}
			if s := p.Stats(); s.Failed != 1 || s.InFlight != 0 {
				t.Errorf("stats = %+v", s)
			}
		})
	}
}

func TestProxy_bounds_what_is_in_flight(t *testing.T) {
	t.Parallel()
	inside, leave := make(chan struct{}), make(chan struct{})
	addr, p := edge(t, proxy.Config{MaxInFlight: 1, MaxPerClient: 2}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		inside <- struct{}{}
		<-leave
	}))
	done := make(chan error, 1)
	go func() {
		resp, err := http.Get("http://" + addr + "/api/slow")
		if err == nil {
			_ = resp.Body.Close()
		}
		done <- err
	}()
	<-inside
	resp, err := http.Get("http://" + addr + "/api/other")
	testkit.Must(t, err)
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusServiceUnavailable || p.Stats().Refused != 1 {
		t.Errorf("status = %d, stats = %+v", resp.StatusCode, p.Stats())
	}
	close(leave)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// One client must not take all places: others are served while its requests are in flight.
func TestProxy_bounds_what_a_client_has_in_flight(t *testing.T) {
	t.Parallel()
	inside, leave := make(chan struct{}), make(chan struct{})
	addr, p := edge(t, proxy.Config{MaxInFlight: 8}, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/slow" {
			inside <- struct{}{}
			<-leave
		}
	}))
	get := func(path, from string) int {
		req, err := http.NewRequest(http.MethodGet, "http://"+addr+path, nil)
		if err != nil {
			t.Error(err)
			return 0
		}
		req.Header.Set("Test-Client", from)
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Error(err)
			return 0
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	done := make(chan int, 2)
	for i := range 2 { // a quarter of all places; a /64 is one client
		go func() { done <- get("/api/slow", "2001:db8::"+strconv.Itoa(i+1)) }()
		<-inside
	}
	for from, want := range map[string]int{"2001:db8::9": http.StatusTooManyRequests, "2001:db8:0:1::1": http.StatusOK,
		"203.0.113.8": http.StatusOK} {
		if got := get("/api/quick", from); got != want {
			t.Errorf("%s: %d, want %d", from, got, want)
		}
	}
	close(leave)
	for range 2 {
		if got := <-done; got != http.StatusOK {
			t.Errorf("an earlier request got %d", got)
		}
	}
	if got := get("/api/quick", "2001:db8::9"); got != http.StatusOK || p.Stats().Refused != 1 {
		t.Errorf("afterwards: %d, %+v", got, p.Stats())
	}
}
