//go:build proof

package harness_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
)

// deluge sends conversions of many clients to an edge, and counts what the edge accepts.
type deluge struct {
	t         *testing.T
	addr, key string
	perSecond int
	ids       []string // of clicks

	mu       sync.Mutex
	number   int // of the last request
	sent     int
	accepted int            // conversions
	took     map[string]int // accepted conversions by client, since
	since    time.Time
	full     int            // requests refused because the spool was full
	answers  map[string]int // by kind of request and status
}

// shower is one request of a flood.
type shower struct {
	kind, client, origin, key string
	body                      any
	statuses                  string // that are right, as are 429 and 503
}

const (
	shopOrigin  = "https://shop.example.com"
	floodClient = "198.51.%d.%d"
)

// Bodies that an edge refuses, of about 16 KiB: one byte too long, and a list of more items than a client may send in a minute.
var (
	tooLong = strings.Repeat(" ", 16<<10+1)
	tooMany = "[" +
		strings.Repeat(
			`{"clickId":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","name":"elsewhere",`+
				`"value":1.5,"currency":"EUR","externalId":"0123456789","repeatable":true},`, 99) + `{}]`
)

// sale is the JSON of a conversion.
type sale map[string]any

// valid returns conversions of known clicks. Each is new.
func (f *deluge) valid(n, items int, once string) (list []sale) {
	for i := range items {
		number := n*items + i
		list = append(list, sale{"clickId": f.ids[number%len(f.ids)], "name": fmt.Sprintf("goal-%d", number/len(f.ids)%80), "value": 1.5,
			"currency":   "EUR",
			"externalId": fmt.Sprintf("%d%s", number, once), "repeatable": true})
	}
	return list
}

// mixed returns the request with a number. Of ten requests, four have valid conversions, of which one comes from few clients and
// one is always the same.
func (f *deluge) mixed(n int) shower {
	s := shower{client: fmt.Sprintf(floodClient, n/10%250, n%10), origin: shopOrigin, key: f.key, statuses: "202"}
	switch n % 10 {
	case 0, 1:
		s.kind, s.body = "valid", f.valid(n, 1, "")
	case 2:
		s.kind, s.body, s.client = "greedy", f.valid(n, 5, ""), fmt.Sprintf(floodClient, 255, n/10%4)
	case 3:
		s.kind, s.body = "repeated", f.valid(0, 1, "again")
	case 4, 5:
		id := []byte(f.ids[n%len(f.ids)])
		id[n/10%len(id)] ^= 1
		s.kind, s.body = "forged", sale{"clickId": string(id), "name": "forged"}
	case 6:
		s.kind, s.body, s.origin, s.statuses = "wrong origin", sale{"clickId": f.ids[0], "name": "elsewhere"},
			"https://elsewhere.example", "403"
	case 7:
		s.kind, s.body, s.key, s.statuses = "wrong key", sale{"clickId": f.ids[0], "name": "elsewhere"}, fmt.Sprintf("slp_%d", n), "403"
	case 8:
		s.kind, s.body, s.statuses = "big", tooLong, "413"
		if n/10%2 == 0 {
			s.kind, s.body, s.statuses = "long list", tooMany, "400"
		}
	case 9:
		s.kind, s.body, s.statuses = "no conversion", strings.Repeat("[", 2000), "400"
	}
	return s
}

// large returns a request with many long conversions.
func (f *deluge) large(n int) shower {
	list := f.valid(n, 30, strings.Repeat("x", conversion.MaxExternalID-10))
	for _, s := range list {
		s["name"] = fmt.Sprintf("%s-%0*d", s["name"], conversion.MaxName-10, 0)
	}
	return shower{kind: "large", client: fmt.Sprintf(floodClient, n/250%250, n%250), origin: shopOrigin, key: f.key,
		statuses: "202", body: list}
}

// start begins a flood of perSecond requests. stop ends it.
func (f *deluge) start(next func(n int) shower) (stop func()) {
	const senders = 16
	ctx, cancel := context.WithCancel(f.t.Context())
	every := senders * time.Second / time.Duration(f.perSecond)
	var running sync.WaitGroup
	for k := range senders {
		running.Go(func() {
			line := &senderLine{addr: f.addr}
			defer line.close()
			at := time.Now().Add(every * time.Duration(k) / senders)
			for {
				if !fleet.HoldUnless(ctx.Done(), time.Until(at)) {
					return
				}
				if at = at.Add(every); time.Until(at) < -every { // a delayed sender does not catch up
					at = time.Now()
				}
				f.mu.Lock()
				f.number++
				s := next(f.number)
				f.mu.Unlock()
				f.send(line, s)
			}
		})
	}
	return func() {
		cancel()
		running.Wait()
	}
}

// send sends a request and notes its answer.
func (f *deluge) send(line *senderLine, s shower) (accepted int) {
	body, err := json.Marshal(s.body)
	if text, ok := s.body.(string); ok {
		body = []byte(text)
	}
	var status, after int
	if err == nil {
		status, after, accepted, err = line.post("/c?key="+url.QueryEscape(s.key), s.client, s.origin, body)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent++
	switch {
	case err != nil:
		f.answers[fmt.Sprintf("WRONG %s: %v", s.kind, err)]++
	case (status == 429 || status == 503) && after < 1:
		f.answers[fmt.Sprintf("WRONG %s: %d without Retry-After", s.kind, status)]++
	case status != 429 && status != 503 && !strings.Contains(s.statuses, fmt.Sprint(status)), accepted > 0 &&
		!strings.Contains(s.statuses, "202"), accepted > 0 && s.kind == "forged":
		f.answers[fmt.Sprintf("WRONG %s: %d with %d accepted", s.kind, status, accepted)]++
	default:
		f.answers[fmt.Sprintf("%s: %d", s.kind, status)]++
	}
	if status == 503 {
		f.full++
	}
	f.accepted += accepted
	f.took[s.client] += accepted
	return accepted
}

// admitted waits until the edge knows the key.
func (f *deluge) admitted() {
	f.t.Helper()
	line := &senderLine{addr: f.addr}
	defer line.close()
	testkit.Eventually(f.t, "the edge knows the publishable key", func() bool {
		f.number++
		return f.send(line, shower{kind: "first", client: "203.0.113.1", origin: shopOrigin, key: f.key, statuses: "202 403",
			body: f.valid(f.number, 1, "first")}) > 0
	})
}

// limited checks that the edge has accepted no more than its limits allow, of each client and with the present key.
func (f *deluge) limited() {
	f.t.Helper()
	minutes := 1 + time.Since(f.since).Minutes()
	all, most := 0, 0
	for _, n := range f.took {
		all, most = all+n, max(most, n)
	}
	f.t.Logf("the edge has accepted %d conversions with the key, at most %d of a client; its limits were %.0f and %.0f", all, most,
		minutes*floodPerKey, minutes*floodPerClient)
	if float64(all) > minutes*floodPerKey || float64(most) > minutes*floodPerClient {
		f.t.Error("the edge has accepted more than its limits allow")
	}
}

// answered checks that each request got an answer that was right for it, and that the edge gave every expected answer.
func (f *deluge) answered(also ...string) {
	f.t.Helper()
	f.t.Logf("answers: %v", f.answers)
	for what, n := range f.answers {
		if strings.HasPrefix(what, "WRONG") {
			f.t.Errorf("%d times: %s", n, what)
		}
	}
	for _, what := range append(also, "valid: 202", "greedy: 429", "forged: 202", "wrong origin: 403", "wrong key: 403", "big: 413",
		"long list: 400") {
		if f.answers[what] == 0 {
			f.t.Errorf("no answer was %q", what)
		}
	}
}

// senderLine is a connection to an edge that is opened when it is needed.
type senderLine struct {
	addr string
	conn net.Conn
	in   *bufio.Reader
}

func (l *senderLine) close() {
	if l.conn != nil {
		_ = l.conn.Close()
		l.conn = nil
	}
}

// post sends a request. It returns the status, the value of Retry-After, and the number of accepted conversions.
func (l *senderLine) post(path, client, origin string, body []byte) (status, after, accepted int, err error) {
	if l.conn == nil {
		if l.conn, err = net.Dial("tcp", l.addr); err != nil {
			l.conn = nil
			return 0, 0, 0, err
		}
		l.in = bufio.NewReader(l.conn)
	}
	_ = l.conn.SetDeadline(time.Now().Add(2 * time.Minute)) // if this fails, the write below fails too
	head := fmt.Appendf(nil,
		"POST %s HTTP/1.1\r\nHost: %s\r\nX-Forwarded-For: %s\r\nOrigin: %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n", path,
		l.addr, client, origin, len(body))
	_, failed := l.conn.Write(append(head, body...)) // the edge may refuse a long body before it has arrived
	res, err := http.ReadResponse(l.in, nil)
	if err != nil {
		l.close()
		return 0, 0, 0, err
	}
	defer res.Body.Close()
	var out struct{ Accepted int }
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil && res.StatusCode == http.StatusAccepted {
		l.close()
		return 0, 0, 0, err
	}
	if res.Close || failed != nil || res.ContentLength < 0 {
		defer l.close()
	}
	_, _ = fmt.Sscan(res.Header.Get("Retry-After"), &after)
	return res.StatusCode, after, out.Accepted, nil
}
