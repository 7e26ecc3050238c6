package main_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	shortline "github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// liveStream is an open stream of live clicks.
type liveStream struct {
	t     *testing.T
	name  string
	lines chan string // closed at the stream's end
	leave context.CancelFunc
}

// listen opens the stream of live clicks at an address, as the admin.
func listen(t *testing.T, name, addr, token string) *liveStream {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, "GET", "http://"+addr+"/api/analytics/live", nil)
	testkit.Must(t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := (&http.Transport{}).RoundTrip(req)
	testkit.Must(t, err)
	if res.StatusCode != 200 || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		b, _ := io.ReadAll(res.Body)
		t.Fatalf("%s: %s %s", name, res.Status, b)
	}
	l := &liveStream{t: t, name: name, lines: make(chan string, 100), leave: cancel}
	go func() {
		defer close(l.lines)
		defer res.Body.Close()
		for in := bufio.NewScanner(res.Body); in.Scan(); {
			l.lines <- in.Text()
		}
	}()
	return l
}

// next waits for a line with a prefix, and skips other lines.
func (l *liveStream) next(prefix string) (found string) {
	l.t.Helper()
	testkit.Eventually(l.t, l.name+": "+prefix, func() bool {
		select {
		case line, open := <-l.lines:
			if !open {
				l.t.Fatalf("%s: the stream ended before %q", l.name, prefix)
			}
			found = line
			return strings.HasPrefix(line, prefix)
		default:
			return false
		}
	})
	return found
}

// ends waits for the end of the stream.
func (l *liveStream) ends() {
	l.t.Helper()
	testkit.Eventually(l.t, l.name+" ends", func() bool {
		select {
		case _, open := <-l.lines:
			return !open
		default:
			return false
		}
	})
}

// edgeBefore runs the edge program with PROXY_API in front of a standalone. That edge has no links, because a
// standalone does not serve other edges.
func edgeBefore(t *testing.T, p *program) (addr string, stop func()) {
	t.Helper()
	file, err := testkit.Release("edge")
	testkit.Must(t, err)
	addr = testkit.FreeAddr(t)
	output := &testkit.Buffer{}
	cmd := exec.Command(file)
	cmd.Env = append(cleanEnv(), "LISTEN_ADDR="+addr, "OPS_ADDR="+testkit.FreeAddr(t), "BASE_URL=http://"+addr, "DATA_DIR="+t.TempDir(),
		"CONTROL_URL=http://"+p.Addr,
		"EDGE_TOKEN=a-token-that-nobody-knows", "KAFKA_BROKERS="+testkit.FreeAddr(t), "PROXY_API=true")
	cmd.Stdout, cmd.Stderr = output, output
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	testkit.Must(t, cmd.Start())
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have exited already
		if t.Failed() {
			t.Logf("output of the edge:\n%s", tail(output.String(), 30))
		}
	})
	testkit.Eventually(t, "the edge passes the API on", func() bool {
		res, err := http.Get("http://" + addr + "/api/openapi.json")
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	return addr, func() {
		t.Helper()
		testkit.Must(t, cmd.Process.Signal(syscall.SIGTERM))
		if err := <-exited; err != nil {
			t.Errorf("the edge after SIGTERM: %v", err)
		}
	}
}

// Live clicks arrive through the address of the standalone, whose edge forwards the API in memory, and through another
// edge in front of it. They arrive without delay, even after pauses longer than any timeout, until the client
// disconnects or the program ends.
func TestLive_streams_through_edges(t *testing.T) {
	t.Parallel()
	p := start(t)
	admin := p.Login()
	link := admin.link(shortline.CreateLink{OriginalURL: "https://example.com/", CustomSlug: shortline.Set("watched")})
	before, stopEdge := edgeBefore(t, p)

	direct, through := listen(t, "direct", p.Addr, admin.token), listen(t, "through an edge", before, admin.token)
	readers := []*liveStream{direct, through}
	for _, l := range readers {
		l.next("retry:")
	}
	click := func(readers ...*liveStream) {
		t.Helper()
		if status, _ := p.follow(link.Slug, visitor); status != http.StatusFound {
			t.Fatalf("status %d", status)
		}
		for _, l := range readers {
			if line := l.next("data:"); !strings.Contains(line, fmt.Sprintf("%q", link.ID)) {
				t.Errorf("%s: %s", l.name, line)
			}
		}
	}
	click(readers...)
	click(readers...)
	for range testkit.Size(1, 4) { // twenty seconds are longer than an edge's timeout for other responses
		for _, l := range readers {
			l.next(": still here")
		}
	}
	click(readers...)

	open := func() float64 { return p.metric("shortline_live_subscriptions") }
	if n := open(); n != 2 {
		t.Errorf("%v streams are open, want 2", n)
	}
	began := time.Now()
	listen(t, "who leaves", p.Addr, admin.token).leave()
	testkit.Eventually(t, "who left is noticed", func() bool { return open() == 2 })
	t.Logf("the disconnect of a client was noticed after %v", time.Since(began).Round(time.Millisecond))

	began = time.Now()
	stopEdge()
	through.ends()
	t.Logf("the edge ended in %v", time.Since(began).Round(time.Millisecond))
	click(direct)
	began = time.Now()
	p.Stop()
	direct.ends()
	t.Logf("the standalone ended in %v", time.Since(began).Round(time.Millisecond))
	testkit.Within(t, 5*time.Second, began, "stopping with a stream")
}
