// Package load is a load generator. Its clients send HTTP/1.1 requests over separate connections, give every request an
// identity, and record the outcome.
//
// A request counts as answered only when its answer was read to the last byte. A request whose bytes may have been sent is
// recorded in any case. The package knows only addresses and slugs of the system.
package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/shortline/shortline/test/harness/truth"
)

// Config describes a run.
type Config struct {
	// Addrs are host:port; client i uses Addrs[i mod len].
	Addrs []string
	// Slugs are requested in turn.
	Slugs []string
	// Slug, if set, returns the slug of a request instead. Clients call it concurrently.
	Slug func(id truth.ID) string
	// Clients is the number of connections; 0 means 8.
	Clients int
	// First is the number of the first client. Runs that share a Log need distinct client numbers.
	First int
	// Rate is the number of requests per second of all clients together; 0 means as fast as possible.
	Rate float64
	// Log records every request; nil records none.
	Log *truth.Log
	// Timeout is the limit for one answer; 0 means two minutes, which is longer than a busy machine takes.
	Timeout time.Duration
	// Query is appended to the query string, such as "&utm_source=x".
	Query string
}

// Result is the summary of a run.
type Result struct {
	Sent    int64         // requests whose bytes may have been sent
	Acked   int64         // 302 answers
	Other   map[int]int64 // complete answers with another status, by status
	Broken  int64         // requests without a complete answer
	Refused int64         // failed connection attempts
	Took    time.Duration
	Slow    Times
}

// String returns a summary in one line.
func (r *Result) String() string {
	return fmt.Sprintf(
		"%d sent, %d redirected (%.0f/s), other answers %v, %d without an answer, %d connection failures, p50 %s p99 %s max %s",
		r.Sent, r.Acked, float64(r.Acked)/r.Took.Seconds(), r.Other, r.Broken, r.Refused, r.Slow.Quantile(0.5),
		r.Slow.Quantile(0.99), r.Slow.Max)
}

const agent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36"

// Run sends requests until ctx ends. It finishes requests in flight.
func Run(ctx context.Context, cfg Config) *Result {
	if cfg.Clients == 0 {
		cfg.Clients = 8
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = 2 * time.Minute
	}
	began := time.Now()
	all := make([]Result, cfg.Clients)
	var running sync.WaitGroup
	for i := range all {
		c := client{cfg: &cfg, number: i, addr: cfg.Addrs[i%len(cfg.Addrs)], result: &all[i]}
		c.result.Other = map[int]int64{}
		running.Go(func() { c.run(ctx) })
	}
	running.Wait()
	sum := &Result{Other: map[int]int64{}, Took: time.Since(began)}
	for i := range all {
		r := &all[i]
		sum.Sent += r.Sent
		sum.Acked += r.Acked
		sum.Broken += r.Broken
		sum.Refused += r.Refused
		for status, n := range r.Other {
			sum.Other[status] += n
		}
		sum.Slow.add(&r.Slow)
	}
	return sum
}

type client struct {
	cfg    *Config
	number int
	addr   string
	result *Result

	conn net.Conn
	in   *bufio.Reader
	out  []byte
}

func (c *client) run(ctx context.Context) {
	defer c.hangUp()
	var every time.Duration
	if c.cfg.Rate > 0 {
		every = time.Duration(float64(c.cfg.Clients) / c.cfg.Rate * float64(time.Second))
	}
	next := time.Now().Add(every * time.Duration(c.number) / time.Duration(c.cfg.Clients))
	pause := time.NewTimer(0)
	<-pause.C
	defer pause.Stop()
	wait := func(d time.Duration) bool {
		if d <= 0 {
			return ctx.Err() == nil
		}
		pause.Reset(d)
		select {
		case <-ctx.Done():
			return false
		case <-pause.C:
			return true
		}
	}
	for n := uint64(1); wait(time.Until(next)) || every == 0 && ctx.Err() == nil; {
		if every > 0 {
			// A delayed client does not catch up, like real visitors.
			if next = next.Add(every); time.Until(next) < -every {
				next = time.Now()
			}
		}
		if c.conn == nil {
			// The system sends a lost SYN again after one second, as it does for visitors.
			conn, err := (&net.Dialer{Timeout: c.cfg.Timeout}).DialContext(ctx, "tcp", c.addr)
			if err != nil {
				c.result.Refused++
				if !wait(10 * time.Millisecond) {
					return
				}
				continue
			}
			c.conn, c.in = conn, bufio.NewReader(conn)
		}
		id := truth.ID{Client: c.cfg.First + c.number, N: n}
		if c.cfg.Slug != nil {
			c.one(id, c.cfg.Slug(id))
		} else {
			c.one(id, c.cfg.Slugs[int(n)%len(c.cfg.Slugs)])
		}
		n++
	}
}

func (c *client) one(id truth.ID, slug string) {
	c.out = append(c.out[:0], "GET /"...)
	c.out = append(c.out, slug...)
	c.out = append(c.out, "?utm_content="...)
	c.out = append(append(c.out, id.String()...), c.cfg.Query...)
	c.out = append(c.out, " HTTP/1.1\r\nHost: "...)
	c.out = append(c.out, c.addr...)
	c.out = append(c.out, "\r\nUser-Agent: "+agent+"\r\nAccept-Language: de-CH, en;q=0.8\r\n\r\n"...)
	sent := time.Now()
	status, err := c.exchange()
	done := time.Now()
	c.result.Sent++
	switch {
	case err != nil:
		status = 0
		c.result.Broken++
		c.hangUp()
	case status == 302:
		c.result.Acked++
		c.result.Slow.Add(done.Sub(sent))
	default:
		c.result.Other[status]++
	}
	if c.cfg.Log != nil {
		c.cfg.Log.Add(truth.Entry{ID: id, Slug: slug, Edge: c.addr, Sent: sent, Done: done, Status: status})
	}
}

func (c *client) hangUp() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}

var errAnswer = errors.New("invalid HTTP answer")

// exchange sends the request in out and reads one complete answer.
func (c *client) exchange() (status int, err error) {
	_ = c.conn.SetDeadline(time.Now().Add(c.cfg.Timeout)) // if this fails, the write below fails too
	if _, err := c.conn.Write(c.out); err != nil {
		return 0, err
	}
	body := 0
	for first := true; ; first = false {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if first {
			if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
				return 0, errAnswer
			}
			if status, err = strconv.Atoi(string(line[9:12])); err != nil {
				return 0, errAnswer
			}
			continue
		}
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if bytes.EqualFold(name, []byte("Content-Length")) {
			if body, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, errAnswer
			}
		}
	}
	_, err = io.CopyN(io.Discard, c.in, int64(body))
	return status, err
}
