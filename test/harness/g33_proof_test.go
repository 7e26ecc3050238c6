//go:build proof

package harness_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	shortline "github.com/shortline/shortline/client"
	"github.com/shortline/shortline/test/harness/fleet"
)

// TestG33_H1_slow_requests has N clients on a tenth as many loopback addresses that send headers, bodies and chunks
// slowly, again and again, for DUR. The targets are a standalone, and an edge with the control plane behind it.
// Meanwhile other clients sign in, open the console and follow a link.
func TestG33_H1_slow_requests(t *testing.T) {
	unlimited := []string{"RATE_LIMIT_DEFAULT=0", "LOG_LEVEL=warn"}
	t.Run("standalone", func(t *testing.T) {
		n := fleet.StartAlone(t, unlimited...)
		slug := n.Login(t).Create(shortline.CreateLink{OriginalURL: "https://example.com/"}).Slug
		slowly(t, n, []*fleet.Node{n}, slug)
	})
	t.Run("fleet", func(t *testing.T) {
		c := startChain(t, fleet.Config{Edges: 1, Controls: 1, EdgeEnv: []string{"PROXY_API=true"}, ControlEnv: unlimited}, 1)
		slowly(t, c.Edges[0], []*fleet.Node{c.Edges[0], c.Controls[0]}, c.slugs[0])
	})
}

// slowly attacks nodes while other clients use one of them.
func slowly(t *testing.T, used *fleet.Node, attacked []*fleet.Node, slug string) {
	n, lasting := count(t, 3000), long(t, 5*time.Minute)
	calm := measure(t, used.Addr, slug, 3*time.Second)
	var memory []int64
	for _, a := range attacked {
		memory = append(memory, a.Memory())
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var crowd sync.WaitGroup
	var opened, cut, refused atomic.Int64
	for i := range n {
		crowd.Go(func() {
			random := rand.New(rand.NewPCG(33, uint64(i)))
			from := net.IPv4(127, 0, byte(1+i%(max(n/10, 1))/250), byte(1+i%(max(n/10, 1))%250))
			for ctx.Err() == nil {
				status, err := dribble(ctx, from, attacked[i%len(attacked)].Addr, slowRequest(random))
				switch {
				case status != 0:
					refused.Add(1)
				case err == nil:
					cut.Add(1)
				}
				opened.Add(1)
				// Slow clients, not a flood.
				fleet.HoldUnless(ctx.Done(), time.Second+time.Duration(random.IntN(8000))*time.Millisecond)
			}
		})
	}
	grown := make([]int64, len(attacked))
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		for ctx.Err() == nil {
			for i, a := range attacked {
				grown[i] = max(grown[i], a.Memory()-memory[i])
			}
			fleet.HoldUnless(ctx.Done(), 200*time.Millisecond)
		}
	}()
	under := measure(t, used.Addr, slug, lasting)
	cancel()
	crowd.Wait()
	<-watching
	t.Logf("%d clients on %d addresses for %s: %d slow requests, %d answered, %d closed", n, max(n/10, 1), lasting, opened.Load(),
		refused.Load(), cut.Load())
	for i, a := range attacked {
		t.Logf("%s grew by %d MiB at most", a.Name, grown[i]/mebibyte)
		if grown[i] > 64*mebibyte {
			t.Errorf("%s grew by %d MiB", a.Name, grown[i]/mebibyte)
		}
	}
	if opened.Load() < int64(n) || refused.Load()+cut.Load() < int64(n)/2 {
		t.Errorf("%d slow requests, of which the server ended %d; the attack had no effect", opened.Load(), refused.Load()+cut.Load())
	}
	for what, u := range under {
		t.Logf("%s: %d requests, %d failed; p50 %s, p99 %s, max %s (without the attack p50 %s, p99 %s)", what,
			len(u.times)+u.failed, u.failed,
			percentile(u.times, 0.5).Round(time.Millisecond),
			percentile(u.times, 0.99).Round(time.Millisecond), percentile(u.times, 1).Round(time.Millisecond),
			percentile(calm[what].times, 0.5).Round(time.Millisecond), percentile(calm[what].times, 0.99).Round(time.Millisecond))
		if u.failed > 0 || len(u.times) == 0 {
			t.Errorf("%s: %d requests failed, the last with %s", what, u.failed, u.last)
		}
		if p99 := percentile(u.times, 0.99); p99 > time.Second {
			t.Errorf("%s: p99 is %s", what, p99)
		}
	}
}

// slowRequest has a part that is sent at once and a part that is sent byte by byte, in an endless loop.
func slowRequest(random *rand.Rand) string {
	pick := func(s ...string) string { return s[random.IntN(len(s))] }
	head := pick("GET", "POST", "PUT") + " " + pick("/", "/api/auth/login", "/api/auth/sso", "/api/urls", "/console", "/console/links",
		"/nobody-has-this", "/api/nobody-has-this", "/nobody/verify") +
		" HTTP/1.1\r\nHost: sho.rt\r\nContent-Type: application/json\r\n"
	switch random.IntN(4) {
	case 0:
		return head + "X-Slow: "
	case 1:
		return head + "Transfer-Encoding: chunked\r\n\r\n" + pick("fff\r\n", "40\r\n", "1000;") + strings.Repeat("x", random.IntN(60))
	case 2:
		return head + "Content-Length: " + pick("1000", "100000", "900000") + "\r\n\r\n" + strings.Repeat("x", random.IntN(900))
	default:
		return head + "Content-Length: 100000\r\n\r\n" + strings.Repeat("x", 6000)
	}
}

// dribble sends a request from an address, the last part byte by byte, until the server answers or closes the
// connection. It returns the status of the answer, or 0.
func dribble(ctx context.Context, from net.IP, addr, request string) (status int, err error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: from}}
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if _, err := io.WriteString(conn, request); err != nil {
		return 0, nil
	}
	go func() {
		for pause := time.Duration(200) * time.Millisecond; ; pause = min(2*pause, 4*time.Second) {
			if !fleet.HoldUnless(ctx.Done(), pause) {
				return
			}
			if _, err := conn.Write([]byte("a")); err != nil {
				return
			}
		}
	}()
	b := make([]byte, 16)
	if err := conn.SetReadDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		return 0, err
	}
	k, err := io.ReadFull(conn, b)
	var ne net.Error
	switch {
	case errors.As(err, &ne) && ne.Timeout():
		return 0, err
	case k >= 12 && string(b[:5]) == "HTTP/":
		_, _ = fmt.Sscanf(string(b[9:12]), "%d", &status)
		_, _ = io.Copy(io.Discard, conn) // until the server closes it
	}
	return status, nil
}

// use is the result for one kind of request.
type use struct {
	times  []time.Duration
	failed int
	last   string
}

// measure signs in, opens the console and follows a link in turn, one of them every 100 ms, each on a new connection.
// Ten sign-ins a second would be more bcrypt than its two slots can do.
func measure(t *testing.T, addr, slug string, lasting time.Duration) map[string]*use {
	t.Helper()
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	kinds := map[string]func() (*http.Response, error){
		"sign-in": func() (*http.Response, error) {
			return client.Post("http://"+addr+"/api/auth/login", "application/json",
				strings.NewReader(`{"email":"admin@example.com","password":"the-admin-of-this-test"}`))
		},
		"console":  func() (*http.Response, error) { return client.Get("http://" + addr + "/console/") },
		"redirect": func() (*http.Response, error) { return client.Get("http://" + addr + "/" + slug) },
	}
	want := map[string]int{"sign-in": 200, "console": 200, "redirect": 302}
	turn := map[string]time.Duration{"sign-in": 0, "console": 1, "redirect": 2}
	all := map[string]*use{}
	var mu sync.Mutex
	var asking sync.WaitGroup
	for kind, ask := range kinds {
		u := &use{}
		all[kind] = u
		asking.Go(func() {
			fleet.Hold(turn[kind] * 100 * time.Millisecond)
			tick := time.NewTicker(300 * time.Millisecond)
			defer tick.Stop()
			for end := time.Now().Add(lasting); time.Now().Before(end); <-tick.C {
				asking.Go(func() {
					began := time.Now()
					res, err := ask()
					took := time.Since(began)
					mu.Lock()
					defer mu.Unlock()
					switch {
					case err != nil:
						u.failed, u.last = u.failed+1, err.Error()
					case res.StatusCode != want[kind]:
						u.failed, u.last = u.failed+1, res.Status
					default:
						u.times = append(u.times, took)
					}
					if err == nil {
						_, _ = io.Copy(io.Discard, res.Body)
						res.Body.Close()
					}
				})
			}
		})
	}
	asking.Wait()
	for _, u := range all {
		slices.Sort(u.times)
	}
	return all
}
