package controlclient_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/controlclient"
	"github.com/shortline/shortline/shared/abuse"
	"github.com/shortline/shortline/shared/limit"
	"github.com/shortline/shortline/shared/lockout"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// control is a control plane that tells its name, and that a test stops, starts and silences.
type control struct {
	t     *testing.T
	name  string
	addr  string
	srv   *http.Server
	hangs atomic.Bool
	fails atomic.Bool // requests, but not probes: its database is gone
	over  chan struct{}
	held  atomic.Int32 // requests that hang
	dials atomic.Int32
}

func newControl(t *testing.T, name string) *control {
	t.Helper()
	c := &control{t: t, name: name, addr: "127.0.0.1:0", over: make(chan struct{})}
	c.start()
	t.Cleanup(func() { close(c.over); c.stop() })
	return c
}

func (c *control) start() {
	c.t.Helper()
	var ln net.Listener
	testkit.Eventually(c.t, "the port is free", func() bool {
		var err error
		ln, err = net.Listen("tcp", c.addr)
		return err == nil
	})
	c.addr = ln.Addr().String()
	c.srv = &http.Server{Handler: c, ReadHeaderTimeout: time.Minute, ConnState: func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			c.dials.Add(1)
		}
	}}
	srv := c.srv
	go func() { _ = srv.Serve(ln) }()
}

func (c *control) stop() { _ = c.srv.Close() }

func (c *control) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if c.hangs.Load() {
		c.held.Add(1)
		select {
		case <-c.over:
		case <-r.Context().Done():
		}
		return
	}
	switch r.URL.Path {
	case "/edge/v1/":
		http.NotFound(w, r)
		return
	case "/edge/v1/changes", "/edge/v1/snapshot", "/api/who":
		if c.fails.Load() {
			http.Error(w, "no database", http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, c.name)
		return
	}
	if c.fails.Load() {
		http.Error(w, "no database", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Plane", c.name)
	w.WriteHeader(http.StatusNoContent)
}

// several returns a client of control planes, which watches them until the test ends.
func several(t *testing.T, planes ...*control) *controlclient.Client {
	t.Helper()
	var list []string
	for _, p := range planes {
		list = append(list, " http://"+p.addr)
	}
	// Only probes find a silent control plane in time.
	c, err := controlclient.New(controlclient.Config{URL: strings.Join(list, ","), Token: token, Hold: time.Hour, Stall: time.Hour})
	testkit.Must(t, err)
	t.Cleanup(func() { c.Close() })
	testkit.Run(t, c.Run)
	return c
}

// who returns the name of the control plane that answers, or what went wrong.
func who(t *testing.T, c *controlclient.Client) string {
	wire, err := c.Changes(t.Context(), snapshot.Cursor{})
	if err != nil {
		return "error"
	}
	return string(wire)
}

// forwarded asks for a path as the proxy does.
func forwarded(t *testing.T, c *controlclient.Client, path string) string {
	conn, err := c.Dial(t.Context())
	if err != nil {
		return "error"
	}
	defer conn.Close()
	_, _ = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", path)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return "error"
	}
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	return string(b)
}

// An edge whose control plane dies, hangs or has no database uses another one for everything, and returns when it is back.
func TestA11_another_control_plane_takes_over(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"dies", "hangs", "fails"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			first, second := newControl(t, "first"), newControl(t, "second")
			c := several(t, first, second)
			if got := who(t, c) + " " + forwarded(t, c, "/api/who"); got != "first first" {
				t.Fatalf("at first: %s", got)
			}
			held := make(chan string, 2)
			switch what {
			case "dies":
				first.stop()
			case "hangs":
				first.hangs.Store(true)
				go func() { held <- who(t, c) }()
				go func() { held <- forwarded(t, c, "/api/who") }()
				for range 2 { // both were sent before the plane is given up, and end
					if got := <-held; got != "error" && got != "second" {
						t.Errorf("a request to a silent control plane: %q", got)
					}
				}
			case "fails":
				first.fails.Store(true)
			}
			testkit.Eventually(t, "the second control plane answers", func() bool { return who(t, c) == "second" })
			if what != "fails" { // edges cannot know what a forwarded request needs
				testkit.Eventually(t, "it answers forwarded requests", func() bool { return forwarded(t, c, "/api/who") == "second" })
			}
			for kind, err := range map[string]error{"hosts": each(c.Hosts(t.Context(), snapshot.Cursor{})),
				"status":  each(c.Report(t.Context(), snapshot.Status{})),
				"guesses": each(c.ReportAttempts(t.Context(), lockout.Report{})), "states": each(c.StateChanges(t.Context(), 1)),
				"limits": each(c.ShareCounts(t.Context(), limit.Report{})), "reports": c.Accept(t.Context(), abuse.Report{}),
			} {
				if err != nil {
					t.Errorf("%s: %v", kind, err)
				}
			}
			doc, err := c.Snapshot(t.Context())
			testkit.Must(t, err)
			if b, err := io.ReadAll(doc); string(b) != "second" {
				t.Errorf("the document: %q, %v", b, err)
			}
			_ = doc.Close()

			first.hangs.Store(false)
			first.fails.Store(false)
			if what == "dies" {
				first.start()
			}
			testkit.Eventually(t, "the first control plane is used again", func() bool {
				return who(t, c) == "first" && forwarded(t, c, "/api/who") == "first"
			})
			second.stop()
			if got := who(t, c); got != "first" {
				t.Errorf("after the second one has ended: %s", got)
			}
		})
	}
}

func each[T any](_ T, err error) error { return err }

// If all are down, each call tries the one that was left alone for longest, so the first that is back is found also without probes.
func TestA11_all_control_planes_are_down(t *testing.T) {
	t.Parallel()
	first, second := newControl(t, "first"), newControl(t, "second")
	c := several(t, first, second)
	first.stop()
	second.stop()
	for range 3 {
		if got := who(t, c); got != "error" {
			t.Fatal(got)
		}
	}
	second.start()
	testkit.Eventually(t, "the second control plane answers", func() bool { return who(t, c) == "second" })
	if got := forwarded(t, c, "/api/who"); got != "second" {
		t.Errorf("forwarded to %s", got)
	}
}

// A single control plane is not probed.
func TestA11_one_control_plane(t *testing.T) {
	t.Parallel()
	only := newControl(t, "only")
	c := several(t, only)
	only.fails.Store(true)
	for range 3 {
		_ = who(t, c)
	}
	only.fails.Store(false)
	if got := who(t, c); got != "only" {
		t.Error(got)
	}
	for _, bad := range []string{"", ",", "http://a, ftp://b", "http://a,b", "http://a?x"} {
		if _, err := controlclient.New(controlclient.Config{URL: bad, Token: token}); err == nil ||
			!strings.Contains(err.Error(), "CONTROL_URL") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
