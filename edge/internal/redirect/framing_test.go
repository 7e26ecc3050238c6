package redirect_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/redirect"
	"github.com/shortline/shortline/shared/framing/corpus"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// A request that another server could parse differently is refused, at any position in a connection. The next request
// gets its own answer.
func TestM4_Framing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, samples())
	for i, r := range corpus.Requests() {
		if err := corpus.Try(w.addr, r, fmt.Sprintf("second-%d", i), true); err != nil {
			t.Error(err)
		}
	}
}

// The same holds for requests for links: as the first request, and as a later one on a good connection, on its own,
// after another one in the same packet, and in two packets.
func TestM4_Framing_of_links(t *testing.T) {
	t.Parallel()
	w := newWorld(t, samples())
	const (
		host = "Host: sho.rt\r\n"
		good = "GET /plain HTTP/1.1\r\n" + host + "\r\n"
		last = "GET /plain HTTP/1.1\r\n" + host + "Connection: close\r\n\r\n"
	)
	bad := map[string]string{
		"bare LF after the request line": "GET /plain HTTP/1.1\n" + host + "\r\n",
		"bare LF after a field":          "GET /plain HTTP/1.1\r\nX: a\n" + host + "\r\n",
		"bare LF at the end":             "GET /plain HTTP/1.1\r\n" + host + "\n",
		"bare LFs and CRLFs":             "GET /plain HTTP/1.1\nHost: sho.rt\nX: y\r\n\r\n",
		"folded":                         "GET /plain HTTP/1.1\r\n" + host + "X: a\r\n b\r\n\r\n",
		"folded by a tab":                "GET /plain HTTP/1.1\r\n" + host + "X: a\r\n\tb\r\n\r\n",
		"folded first":                   "GET /plain HTTP/1.1\r\n X: a\r\n" + host + "\r\n",
		"folded encoding": "GET /plain HTTP/1.1\r\n" + host +
			"Content-Length: 5\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
		"unknown link, bare LF":          "GET /nobody-has-this HTTP/1.1\n" + host + "\r\n",
		"unknown link, bare LF in field": "GET /nobody-has-this HTTP/1.1\r\nX: a\n" + host + "\r\n",
		"unknown link, folded":           "GET /nobody-has-this HTTP/1.1\r\n" + host + "X: a\r\n b\r\n\r\n",
		"info, folded":                   "GET /plain/info HTTP/1.1\r\n" + host + "X: a\r\n b\r\n\r\n",
		"robots, bare LF":                "GET /robots.txt HTTP/1.1\r\nX: a\n" + host + "\r\n",
		"robots, folded":                 "GET /robots.txt HTTP/1.1\r\n" + host + "X: a\r\n b\r\n\r\n",
		"form, folded":                   "GET /hidden HTTP/1.1\r\n" + host + "X: a\r\n b\r\n\r\n",
		"identity":                       "GET /plain HTTP/1.1\r\n" + host + "Transfer-Encoding: identity\r\n\r\n",
		"unknown link, identity":         "GET /nobody-has-this HTTP/1.1\r\n" + host + "Transfer-Encoding: identity\r\n\r\n",
		"another version":                "GET /plain HTTP/2.0\r\n" + host + "\r\n",
		"HEAD, folded":                   "HEAD /plain HTTP/1.1\r\n" + host + "X: a\r\n b\r\n\r\n",
		"LF before it":                   "\nGET /plain HTTP/1.1\r\nX: y\r\n" + host + "\r\n",
		"LF before it and bare LF":       "\nGET /plain HTTP/1.1\n" + host + "\r\n",
		"no Host and bare LF":            "GET /plain HTTP/1.1\n\r\n",
	}
	for name, request := range bad {
		for _, packets := range [][]string{{request}, {good + request}, {good, request}, {good, good, good + request},
			{good, request[:9], request[9:]}, {good, good + good, request + good}} {
			got, answers := w.packets(packets)
			before := strings.Count(strings.Join(packets, ""), good) - strings.Count(packets[len(packets)-1], request+good)
			if want := before + 1; answers != want || !strings.Contains(got[strings.LastIndex(got, "HTTP/1.1 "):], "400 Bad Request") {
				t.Errorf("%s as the last of %d packets: %d answers, want %d, the last of which is 400: %.3000q", name, len(packets),
					answers, want, got)
			}
		}
	}
	// Sound requests are answered, however they are split into packets.
	head := strings.Replace(good, "\r\n\r\n", "\r\nX-Long: "+strings.Repeat("x", 600)+"\r\n\r\n", 1)
	for _, packets := range [][]string{{good, good}, {good, good + good}, {good + good, good, good + good + good}, {head, good, head},
		{head, good[:30], good[30:]}} {
		want := strings.Count(strings.Join(packets, ""), "GET ")
		if got, answers := w.packets(append(packets, last)); answers != want+1 || strings.Count(got, " 302 ") != want+1 {
			t.Errorf("%d sound requests in %d packets: %d answers: %q", want+1, len(packets)+1, answers, got)
		}
	}
	// A body in a packet of its own after a head that announces none.
	withBody := strings.Replace(good, "\r\n\r\n", "\r\nContent-Length: 12\r\n\r\n", 1)
	if got, answers := w.packets([]string{head, withBody[:len(withBody)-2], "\r\n", "twelve bytes", last}); answers != 3 ||
		strings.Count(got, " 302 ") != 3 {
		t.Errorf("a body in parts: %d answers: %q", answers, got)
	}
	info := strings.Replace(head, "/plain", "/plain/info", 1) // which the server answers, not the loop
	if got, answers := w.halves(info, withBody, "twelve bytes"+last); answers != 4 || strings.Count(got, " 302 ") != 2 {
		t.Errorf("a body after its head: %d answers: %q", answers, got)
	}
	// After a large request, two small requests in one packet are as many bytes as one.
	two := good + bad["bare LF after the request line"]
	for _, large := range []string{info, head} {
		if got, answers := w.packets([]string{good, large, large, two}); answers != 5 || !strings.Contains(got, " 400 Bad Request") {
			t.Errorf("%d answers: %q", answers, got)
		}
	}
}

// packets sends one piece after the other. It waits for the answer to each piece, or for a short time if the piece
// gets no answer. It returns everything that the server sends until it closes the connection.
func (w *world) packets(pieces []string) (got string, answers int) {
	w.t.Helper()
	conn, err := net.Dial("tcp", w.addr)
	testkit.Must(w.t, err)
	defer conn.Close()
	var all strings.Builder
	b := make([]byte, 64<<10)
	for i, piece := range pieces {
		if _, err := io.WriteString(conn, piece); err != nil {
			break
		}
		half := i < len(pieces)-1 && !strings.HasSuffix(piece, "\r\n\r\n")
		expected := strings.Count(all.String(), "HTTP/1.1 ") + strings.Count(piece, "\r\n\r\n")
		for i == len(pieces)-1 || strings.Count(all.String(), "HTTP/1.1 ") < expected || half {
			var until time.Time
			if half {
				until = time.Now().Add(20 * time.Millisecond) // it gets no answer
			}
			testkit.Must(w.t, conn.SetReadDeadline(until))
			n, err := conn.Read(b)
			all.Write(b[:n])
			if err != nil {
				break
			}
		}
	}
	return all.String(), strings.Count(all.String(), "HTTP/1.1 ")
}

// halves sends a request twice and waits for the answers, so that the server has the connection. Then it sends another request
// whose body comes a moment after its head.
func (w *world) halves(first, head, body string) (got string, answers int) {
	w.t.Helper()
	conn, err := net.Dial("tcp", w.addr)
	testkit.Must(w.t, err)
	defer conn.Close()
	var all strings.Builder
	b := make([]byte, 4096)
	for range 2 {
		_, _ = io.WriteString(conn, first)
		n, _ := conn.Read(b)
		all.Write(b[:n])
	}
	_, _ = io.WriteString(conn, head)
	// The head gets no answer. The time makes head and body two packets.
	_ = conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	_, _ = conn.Read(b)
	_, _ = io.WriteString(conn, body)
	_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second)) // an open connection is not what the test wants
	rest, _ := io.ReadAll(conn)
	all.Write(rest)
	return all.String(), strings.Count(all.String(), "HTTP/1.1 ")
}

// A header name with a space is refused on every path, and the control plane does not see it.
func TestLow_spaces_in_header_names(t *testing.T) {
	t.Parallel()
	w := newWorld(t, samples(), withConsole(t), withHosts(t, acme), func(_ *redirect.Config, d *redirect.Deps) {
		d.Conversions, d.Reports = new(conversionRecorder), &reportRecorder{}
	})
	for _, target := range []string{
		"GET /plain", "HEAD /plain", "GET /nobody-has-this", "GET /plain/info", "GET /hidden", "GET /plain/report", "POST /hidden/verify",
		"GET /robots.txt", "GET /healthz", "GET /sl.js", "POST /c",
		"GET /", "GET /api", "GET /login", "GET /console", "GET /api/urls", "POST /api/urls", "GET /console/links", "GET /admin",
		"GET /static/app.js", "DELETE /api/urls/1", "GET /.well-known/acme-challenge/x",
	} {
		for _, host := range []string{"sho.rt", "go.acme.com"} {
			for _, bad := range []string{"X Y: 1", "X Y:1", "Accept Language: de", "X  Y: a: b", "Content Length: 5"} {
				head := target + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n"
				for _, request := range []string{head + bad + "\r\n\r\n", strings.Replace(head, "Host", bad+"\r\nHost", 1) + "\r\n"} {
					if got := w.raw(request); !strings.HasPrefix(got, "HTTP/1.1 400 ") {
						t.Errorf("%q: %.60q", request, got)
					}
				}
			}
		}
	}
	for _, good := range []string{"X: a b", "X:a b: c", "X:", "X: ", "X:  a", "X-Y:a b"} {
		if got := w.raw("GET /plain HTTP/1.1\r\nHost: sho.rt\r\n" + good + "\r\nConnection: close\r\n\r\n"); !strings.HasPrefix(got,
			"HTTP/1.1 302 ") {
			t.Errorf("%q: %.60q", good, got)
		}
	}
}

// Paths of the control plane are checked like others, also on a connection with earlier requests.
func TestM4_Framing_of_forwarded_paths(t *testing.T) {
	t.Parallel()
	w := newWorld(t, samples(), withConsole(t))
	const good = "GET /plain HTTP/1.1\r\nHost: sho.rt\r\n\r\n"
	for _, path := range []string{"/", "/api", "/login", "/console", "/api/urls"} {
		got, answers := w.packets([]string{good, good, "GET " + path + " HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n"})
		if answers != 3 || !strings.Contains(got[strings.LastIndex(got, "HTTP/1.1 "):], "400 Bad Request") {
			t.Errorf("%s with a folded line: %d answers: %q", path, answers, got)
		}
	}
}
