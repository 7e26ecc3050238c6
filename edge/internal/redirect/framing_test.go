package redirect_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/framing/corpus"
)

// Requests that another server could read differently are refused, whichever of a connection they are, and whatever
// comes next has its own answer.
func TestM4_Framing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, samples())
	for i, r := range corpus.Requests() {
		if err := corpus.Try(w.addr, r, fmt.Sprintf("second-%d", i), true); err != nil {
			t.Error(err)
		}
	}
}

// The same of requests for links, as first ones, and as later ones on a connection that was good so far: on their own,
// behind another in one packet, and in two packets.
func TestM4_Framing_of_links(t *testing.T) {
	t.Parallel()
	w := newWorld(t, samples())
	const (
		host = "Host: sho.rt\r\n"
		good = "GET /plain HTTP/1.1\r\n" + host + "\r\n"
	)
	bad := map[string]string{
		"bare LF after the request line": "GET /plain HTTP/1.1\n" + host + "\r\n",
		"bare LF after a field":          "GET /plain HTTP/1.1\r\nX: a\n" + host + "\r\n",
		"bare LF at the end":             "GET /plain HTTP/1.1\r\n" + host + "\n",
		"bare LFs and CRLFs":             "GET /plain HTTP/1.1\nHost: sho.rt\nX: y\r\n\r\n",
		"folded":                         "GET /plain HTTP/1.1\r\n" + host + "X: a\r\n b\r\n\r\n",
		"folded by a tab":                "GET /plain HTTP/1.1\r\n" + host + "X: a\r\n\tb\r\n\r\n",
		"folded first":                   "GET /plain HTTP/1.1\r\n X: a\r\n" + host + "\r\n",
		"folded encoding":                "GET /plain HTTP/1.1\r\n" + host + "Content-Length: 5\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
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
		for _, packets := range [][]string{{request}, {good + request}, {good, request}, {good, good, good + request}, {good, request[:9], request[9:]}, {good, good + good, request + good}} {
			got, answers := w.packets(packets)
			before := strings.Count(strings.Join(packets, ""), good) - strings.Count(packets[len(packets)-1], request+good)
			if want := before + 1; answers != want || !strings.Contains(got[strings.LastIndex(got, "HTTP/1.1 "):], "400 Bad Request") {
				t.Errorf("%s as the last of %d packets: %d answers, want %d, the last of which is 400: %.3000q", name, len(packets), answers, want, got)
			}
		}
	}
	// What is sound stays so, in any packets.
	head := strings.Replace(good, "\r\n\r\n", "\r\nX-Long: "+strings.Repeat("x", 600)+"\r\n\r\n", 1)
	for _, packets := range [][]string{{good, good}, {good, good + good}, {good + good, good, good + good + good}, {head, good, head}, {head, good[:30], good[30:]}} {
		want := strings.Count(strings.Join(packets, ""), "GET ")
		if got, answers := w.packets(append(packets, "GET /plain HTTP/1.1\r\n"+host+"Connection: close\r\n\r\n")); answers != want+1 || strings.Count(got, " 302 ") != want+1 {
			t.Errorf("%d sound requests in %d packets: %d answers: %q", want+1, len(packets)+1, answers, got)
		}
	}
	// A body that comes after its head in a packet of its own, where none was to be expected.
	withBody := strings.Replace(good, "\r\n\r\n", "\r\nContent-Length: 12\r\n\r\n", 1)
	if got, answers := w.packets([]string{head, withBody[:len(withBody)-2], "\r\n", "twelve bytes"}); answers != 2 || strings.Count(got, " 302 ") != 2 {
		t.Errorf("a body in parts: %d answers: %q", answers, got)
	}
	if got, answers := w.halves(head, withBody, "twelve bytes"); answers != 2 || strings.Count(got, " 302 ") != 2 || !strings.Contains(got, "Connection: close") {
		t.Errorf("a body after its head: %d answers: %q", answers, got)
	}
	// A small request and another one in one packet, after a large one on its own, could be one request as far as the
	// connection has looked. The first is answered, and nothing of the second.
	if got, answers := w.packets([]string{good, head, head, good + bad["bare LF after the request line"]}); answers != 4 || !strings.HasSuffix(got, "Connection: close\r\n\r\n") {
		t.Errorf("%d answers: %q", answers, got)
	}
}

// packets sends one piece after the other, each when the one before has been answered or time enough has passed for that,
// and returns all that comes back until the server closes.
func (w *world) packets(pieces []string) (got string, answers int) {
	w.t.Helper()
	conn, err := net.Dial("tcp", w.addr)
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close()
	var all strings.Builder
	b := make([]byte, 64<<10)
	for i, piece := range pieces {
		if _, err := io.WriteString(conn, piece); err != nil {
			break
		}
		within := 10 * time.Second
		if i < len(pieces)-1 && !strings.HasSuffix(piece, "\r\n\r\n") {
			within = 20 * time.Millisecond // half a request, which gets no answer
		}
		expected := strings.Count(all.String(), "HTTP/1.1 ") + strings.Count(piece, "\r\n\r\n")
		for i == len(pieces)-1 || strings.Count(all.String(), "HTTP/1.1 ") < expected || within < time.Second {
			if err := conn.SetReadDeadline(time.Now().Add(within)); err != nil {
				w.t.Fatal(err)
			}
			n, err := conn.Read(b)
			all.Write(b[:n])
			if err != nil {
				break
			}
		}
	}
	return all.String(), strings.Count(all.String(), "HTTP/1.1 ")
}

// halves sends a request, and when it is answered another one whose body comes a moment after its head.
func (w *world) halves(first, head, body string) (got string, answers int) {
	w.t.Helper()
	conn, err := net.Dial("tcp", w.addr)
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		w.t.Fatal(err)
	}
	var all strings.Builder
	b := make([]byte, 4096)
	_, _ = io.WriteString(conn, first)
	n, _ := conn.Read(b)
	all.Write(b[:n])
	_, _ = io.WriteString(conn, head)
	time.Sleep(50 * time.Millisecond) // so that they are two packets
	_, _ = io.WriteString(conn, body)
	_ = conn.SetReadDeadline(time.Now().Add(2 * time.Second))
	rest, _ := io.ReadAll(conn)
	all.Write(rest)
	return all.String(), strings.Count(all.String(), "HTTP/1.1 ")
}
