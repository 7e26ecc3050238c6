//go:build proof

package harness_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
)

// TestG16 sends mutated requests to an edge and to a control plane. There must be no panic, no 5xx answer, no injected
// header, and no connection that stays open.
func TestG16_hostile_requests(t *testing.T) {
	t.Parallel()
	n := count(t, 100_000)
	var unlimited []string // rate limits would reject requests before the code under test reads them
	for _, name := range []string{"DEFAULT", "API_KEYS", "WEBHOOKS", "ROUTING", "VARIANTS", "ANALYTICS"} {
		unlimited = append(unlimited, "RATE_LIMIT_"+name+"=0")
	}
	c := startChain(t, fleet.Config{Edges: 1, Controls: 1, ControlEnv: unlimited}, 3)
	e, control := c.Edges[0], c.Controls[0]
	locked := c.api.Create(client.CreateLink{OriginalURL: "https://example.com/", Password: client.Set("open sesame")})
	ruled := c.api.Create(client.CreateLink{OriginalURL: "https://example.com/"})
	c.api.Rule(ruled.ID, client.CreateRule{Name: "Android", TargetURL: "https://example.com/android",
		Conditions: client.And(client.OS("Android"))})
	key := c.api.Key()
	testkit.Eventually(t, "the edge has all five links", func() bool { return e.Metric("shortline_edge_links") == 5 })
	polls := connections(control)
	if polls < 1 {
		t.Fatalf("the control plane has %d connections although an edge is connected", polls)
	}
	slug, one := "/"+c.slugs[0], "/api/urls/"+c.links[0].ID
	for _, target := range []struct {
		name, addr string
		grammar    grammar
	}{
		{"edge", e.Addr, grammar{
			paths: []string{slug, slug, "/" + ruled.Slug, "/" + locked.Slug, slug + "/info", "/nobody-has-this", "/robots.txt"},
			posts: []posting{{"/" + locked.Slug + "/verify", `{"password":"guess"}`}},
		}},
		{"control", control.Addr, grammar{
			auth: "X-API-Key: " + key.Key + "\r\n",
			paths: []string{"/api/urls", one, one + "/variants", "/api/analytics/overview", "/api/analytics/urls/" + c.links[0].ID,
				"/api/bundles",
				"/api/webhooks",
				"/api/audit-logs", "/login", "/console/links", "/api/auth/sso/nobody/callback", "/og-images/x/1.webp"},
			posts: []posting{
				{"/api/urls", `{"originalUrl":"https://example.com/new","tags":["a"]}`},
				{"/api/urls/bulk", `{"urls":[{"originalUrl":"https://example.com/1"}]}`},
				{"/api/auth/login", `{"email":"nobody@example.com","password":"guess"}`},
				{one + "/variants", `{"name":"A","targetUrl":"https://example.com/a","weight":10}`},
				{"/api/bundles", `{"name":"b"}`},
				{"/api/webhooks", `{"name":"h","url":"http://127.0.0.1:1/hook","events":["url.created"]}`},
			},
		}},
	} {
		var mu sync.Mutex
		var answered, silent int
		statuses := map[string]int{}
		judge := func(request, got []byte) {
			head, _, _ := bytes.Cut(got, []byte("\r\n\r\n"))
			mu.Lock()
			defer mu.Unlock()
			if len(got) == 0 {
				silent++
				return
			}
			answered++
			if len(got) >= 12 {
				statuses[string(got[9:12])]++
			}
			if !bytes.HasPrefix(got, []byte("HTTP/1.")) || failure(got) || bytes.Contains(head, []byte("\nInjected")) {
				t.Errorf("%s: %q got the answer %.600q", target.name, request, got)
			}
		}
		const clients = 8
		var throwing sync.WaitGroup
		for k := range clients {
			throwing.Go(func() {
				random := rand.New(rand.NewPCG(7, uint64(len(target.name)*clients+k)))
				for range n / clients {
					request := target.grammar.request(random)
					got, err := throw(target.addr, request)
					if err != nil {
						t.Error(err)
						return
					}
					judge(request, got)
				}
			})
		}
		throwing.Wait()
		t.Logf("%s: %d requests, %d with an answer, %d without; statuses %v", target.name, n, answered, silent, statuses)
		if answered < n/2 {
			t.Errorf("%s answered only %d of %d requests, so the corpus tests little", target.name, answered, n)
		}
	}
	if t.Failed() {
		for line := range strings.Lines(control.Log()) {
			if strings.Contains(line, " status=5") {
				t.Log(line)
			}
		}
	}
	if panics := e.Metric("shortline_edge_panics_total"); panics != 0 || e.Starts != 1 || control.Starts != 1 {
		t.Errorf("%.0f panics", panics)
	}
	testkit.Eventually(t, "no connection is left at the edge", func() bool { return e.Metric("shortline_edge_connections") == 0 })
	testkit.Eventually(t, "only the edge is connected to the control plane", func() bool {
		n := connections(control)
		return n >= 0 && n <= polls+2
	})
	if status, _, err := follow(e.Addr, c.slugs[0]); err != nil || status != http.StatusFound {
		t.Errorf("a redirect after the run: got %d %v", status, err)
	}
}

// connections returns the number of client connections on the node's port, including half-closed ones that the node has
// not closed yet; -1 if it is unknown.
func connections(n *fleet.Node) int {
	addr, err := netip.ParseAddrPort(n.Addr)
	if err != nil {
		return -1
	}
	table, err := os.ReadFile("/proc/net/tcp") // proc_net_tcp(5): slot, local address, remote address, state
	if err != nil {
		return -1
	}
	count := 0
	for line := range strings.Lines(string(table)) {
		f := strings.Fields(line)
		// ESTABLISHED or CLOSE_WAIT
		if len(f) > 3 && strings.HasSuffix(f[1], fmt.Sprintf(":%04X", addr.Port())) && (f[3] == "01" || f[3] == "08") {
			count++
		}
	}
	return count
}

// throw sends bytes and returns everything that arrives until the server closes the connection. After a silence the
// client closes its sending side.
func throw(addr string, request []byte) (got []byte, err error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := conn.SetWriteDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		return nil, err
	}
	_, _ = conn.Write(request) // the server may close the connection early
	for _, within := range []time.Duration{150 * time.Millisecond, 2 * time.Minute} {
		if err := conn.SetReadDeadline(time.Now().Add(within)); err != nil {
			return nil, err
		}
		more, err := io.ReadAll(io.LimitReader(conn, 1<<20)) // an incomplete answer is judged too
		got = append(got, more...)
		if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.CloseWrite() // the server may have closed the connection already
		}
	}
	return got, nil
}

// failure reports whether an answer has a 5xx status, in HTTP/1.0 or 1.1. The statuses for an unknown transfer coding
// or version are excluded: the request is wrong there.
func failure(got []byte) bool {
	status, _, _ := bytes.Cut(bytes.TrimPrefix(bytes.TrimPrefix(got, []byte("HTTP/1.1 ")), []byte("HTTP/1.0 ")), []byte(" "))
	return bytes.HasPrefix(status, []byte("5")) && !bytes.Equal(status, []byte("501")) && !bytes.Equal(status, []byte("505"))
}

// grammar lists the parts from which requests are built.
type grammar struct {
	auth  string // header line with valid credentials
	paths []string
	posts []posting
}

// posting is a request body and its path.
type posting struct{ path, body string }

// request builds a request with some odd parts. A third of the requests have hardly any, so that the code that reads
// the last part is reached. In another third nearly half of the parts are odd.
func (g *grammar) request(random *rand.Rand) []byte {
	bad := [...]float64{0.02, 0.08, 0.4}[random.IntN(3)]
	odd := func() bool { return random.Float64() < bad }
	any := func(s []string) string { return s[random.IntN(len(s))] }
	pick := func(usual string, strange ...string) string {
		if odd() {
			return any(strange)
		}
		return usual
	}
	method, path, body := any([]string{"GET", "GET", "GET", "HEAD"}), any(g.paths), ""
	if random.IntN(4) == 0 {
		p := g.posts[random.IntN(len(g.posts))]
		method, path, body = "POST", p.path, p.body
	}
	var b bytes.Buffer
	b.WriteString(pick(method, "PUT", "PATCH", "OPTIONS", "TRACE", "get", "", "G\x00T", "CONNECT", "PRI") + pick(" ", "  ", "\t"))
	b.WriteString(pick(path, "//"+path, path+"/info", path+"/verify", path+"/..;/", "/%2e%2e"+path, "http://x"+path, "*", path+"%00",
		path+"%0d%0aInjected:1", path+"%2f2", path+"\xff", "/"))
	b.WriteString(any([]string{"", "", "?page=2&limit=5", "?utm_source=a&utm_content=b", "?search=a&sortBy=clickCount"}))
	b.WriteString(pick("", "?", "?page=1&limit=99999999999999999999", "?a=%0d%0aInjected:1", "?utm_source=%00%ff",
		"?utm_content=\r\nInjected: 1", "?search=%25%27--", "?\xff\xfe", "?startDate=+1e9&endDate=%2d",
		"?code=%00&state="+strings.Repeat("a", 3000)))
	b.WriteString(pick(" HTTP/1.1\r\n", " HTTP/1.0\r\n", " HTTP/2.0\r\n", "\r\n", " HTTP/1.1\n"))
	b.WriteString(pick("Host: sho.rt\r\n", "", "Host: a\r\nHost: b\r\n", "Host: \r\n", "Host: x\x00y\r\n"))
	b.WriteString(pick(g.auth, "", "Authorization: Bearer \xff\xff\r\n", "Authorization: Basic Og==\r\n", "X-API-Key: sl_"+
		strings.Repeat("a", 61)+"\r\n", "Cookie: access_token=a.b.c\r\n", g.auth+g.auth))
	b.WriteString(pick("Connection: close\r\n", "", "Connection: keep-alive\r\n", "Connection: \xff\r\n"))
	if body != "" {
		body = pick(body, "abc", "0\r\n\r\n", "ffffffffffffffff\r\n", "{\"originalUrl\":", strings.Repeat("[", 10000), body+body,
			body[:len(body)-1], strings.Replace(body, "a", "\x00", 1), "null", "[]", `""`)
		b.WriteString(pick("Content-Type: application/json\r\n", "", "Content-Type: application/json; =\r\n",
			"Content-Type: text/plain\r\n",
			"Content-Type: multipart/form-data\r\n"))
		b.WriteString(pick(fmt.Sprintf("Content-Length: %d\r\n", len(body)), "Content-Length: 3\r\n", "Content-Length: -1\r\n",
			"Content-Length: 99999999999999999999\r\n", "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: x, chunked\r\n", ""))
	}
	for range random.IntN(4) {
		b.WriteString(any([]string{"User-Agent: facebookexternalhit/1.1\r\n",
			"User-Agent: Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X)\r\n", "Accept: text/html\r\n",
			"Accept-Language: de-CH, en;q=0.8\r\n",
			"Referer: https://www.example.com/\r\n", "X-Forwarded-For: 203.0.113.7\r\n", "Accept-Encoding: gzip\r\n",
			"Origin: https://sho.rt\r\n",
			"Cookie: a=b\r\n"}))
	}
	for range 3 {
		b.WriteString(pick("", ": x\r\n", "Accept: text/html;q=\xff\r\n", "Cookie: access_token=\x01\r\n", " folded\r\n",
			"X-Forwarded-For: ,,[::\r\n", "Expect: 100-continue\r\n", "X-Request-ID: a\r\n b\r\n",
			"Range: bytes=-1,,\r\n", "Origin: null\r\n", "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAAA\r\n",
			"Accept-Encoding: "+strings.Repeat("gzip,", 300)+"\r\n",
			"Content-Length: 3\r\n", "Transfer-Encoding: chunked\r\n", "Accept-Language: "+strings.Repeat("a-b;q=", 200)+"\r\n",
			"If-None-Match: \xff\r\n", "If-Modified-Since: never\r\n"))
	}
	b.WriteString(pick("\r\n", "\n", "") + body)
	out := b.Bytes()
	for range 2 {
		if odd() {
			out[random.IntN(len(out))] = byte(random.IntN(256))
		}
	}
	return out
}
