//go:build proof

package harness_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/shortline/shortline/test/harness/clickstore"
)

// insertTap is a proxy for ClickHouse's HTTP interface. It keeps every insert whose outcome the sender cannot know: the
// server was killed during the insert, the sender gave up, or the proxy dropped the reply on purpose.
//
// It keeps the exact bytes of such an insert, so judge can determine how much of it the server has stored. It forwards
// everything else unchanged, and knows only the columns that identify a row. Its methods are safe for concurrent use.
type insertTap struct {
	server *httptest.Server
	client *http.Client

	mu     sync.Mutex
	target string // empty: all requests are rejected
	lose   float64
	doubts []unsettledInsert
	sent   int
	begun  chan struct{} // receives a value when an insert of clicks is forwarded; it has room for one
}

type unsettledInsert struct {
	query  url.Values
	header http.Header
	body   []byte
}

// insertOutcomes counts inserts with an unknown outcome by how much of them the server has stored.
type insertOutcomes struct {
	none, partial, full int
	rows                int // rows of all these inserts
}

const clickTable = "clicks"

// newInsertTap listens on a free loopback port. It rejects requests until open is called.
func newInsertTap() *insertTap {
	t := &insertTap{client: &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 16}},
		begun: make(chan struct{}, 1)}
	t.server = httptest.NewServer(t)
	return t
}

// addr returns the address of the listener, host:port.
func (t *insertTap) addr() string { return t.server.Listener.Addr().String() }

// close closes the proxy and all its connections.
func (t *insertTap) close() {
	t.hold()
	t.server.CloseClientConnections()
	t.server.Close()
	t.client.CloseIdleConnections()
}

// open forwards requests to the server at target, http://host:port. It drops the share lose of the replies to inserts.
func (t *insertTap) open(target string, lose float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.target, t.lose = target, lose
}

// hold rejects requests from now on and breaks connections.
func (t *insertTap) hold() { t.open("", 0) }

// inserts returns the number of forwarded inserts of clicks.
func (t *insertTap) inserts() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sent
}

// ServeHTTP forwards one request.
func (t *insertTap) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t.mu.Lock()
	target, lose := t.target, t.lose
	t.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if target == "" || err != nil {
		panic(http.ErrAbortHandler)
	}
	d := unsettledInsert{r.URL.Query(), r.Header.Clone(), body}
	insert := strings.HasPrefix(d.query.Get("query"), "INSERT INTO "+clickTable+" ")
	if insert {
		t.mu.Lock()
		t.sent++
		t.mu.Unlock()
		select {
		case t.begun <- struct{}{}:
		default:
		}
	}
	status, header, reply, err := t.pass(r.Context(), target, r.Method, &d)
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		panic(http.ErrAbortHandler) // the server did not receive the insert
	}
	if insert && (err != nil || rand.Float64() < lose) {
		t.mu.Lock()
		t.doubts = append(t.doubts, d)
		t.mu.Unlock()
		panic(http.ErrAbortHandler)
	}
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	for name, values := range header {
		w.Header()[name] = values
	}
	w.WriteHeader(status)
	_, _ = w.Write(reply) // the sender may have disconnected
}

func (t *insertTap) pass(ctx context.Context, target, method string, d *unsettledInsert) (status int, header http.Header, reply []byte,
	err error) {
	req, err := http.NewRequestWithContext(ctx, method, target+"/?"+d.query.Encode(), bytes.NewReader(d.body))
	if err != nil {
		return 0, nil, nil, err
	}
	req.Header = d.header.Clone()
	res, err := t.client.Do(req)
	if err != nil {
		return 0, nil, nil, err
	}
	defer res.Body.Close()
	reply, err = io.ReadAll(res.Body)
	return res.StatusCode, res.Header, reply, err
}

// judge determines how much the server has stored of each insert with an unknown outcome since the last call. It inserts
// the same bytes into a second table and compares. The tap must be on hold meanwhile, since a retry would change the
// result.
func (t *insertTap) judge(ctx context.Context, s clickstore.Store) (found insertOutcomes, err error) {
	t.mu.Lock()
	doubts := t.doubts
	t.doubts = nil
	t.mu.Unlock()
	const beside = clickTable + "_in_doubt"
	ask := func(statement string) (n int) {
		if err != nil {
			return 0
		}
		var lines []string
		if lines, err = s.Ask(ctx, statement); err == nil && len(lines) == 1 {
			n, err = strconv.Atoi(lines[0])
		}
		return n
	}
	for _, d := range doubts {
		ask("DROP TABLE IF EXISTS " + beside)
		ask("CREATE TABLE " + beside + " AS " + clickTable + " ENGINE = Memory")
		if err != nil {
			return found, err
		}
		again := unsettledInsert{url.Values{}, d.header, d.body}
		for name, values := range d.query {
			again.query[name] = values
		}
		again.query.Set("query", strings.Replace(d.query.Get("query"), clickTable, beside, 1))
		status, _, reply, err2 := t.pass(ctx, s.URL, http.MethodPost, &again)
		if err2 != nil || status != http.StatusOK {
			return found, fmt.Errorf("repeat an insert into the second table: %d %.300s %w", status, reply, err2)
		}
		const key = "(edge, epoch, lane, seq)"
		all := ask("SELECT count() FROM " + beside)
		there := ask("SELECT count() FROM " + beside + " WHERE " + key + " IN (SELECT edge, epoch, lane, seq FROM " + clickTable +
			" WHERE " + key + " IN (SELECT edge, epoch, lane, seq FROM " + beside + "))")
		if err != nil {
			return found, err
		}
		found.rows += all
		switch there {
		case 0:
			found.none++
		case all:
			found.full++
		default:
			found.partial++
		}
	}
	if len(doubts) > 0 {
		ask("DROP TABLE IF EXISTS " + beside)
	}
	return found, err
}
