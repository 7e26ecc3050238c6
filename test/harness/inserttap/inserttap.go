// Package inserttap stands before ClickHouse's HTTP interface and keeps every insert whose outcome its sender can't
// know: the server was killed over it, the sender gave up, or the reply was lost on purpose.
//
// It promises that what it keeps is what was sent, to the byte, so that Judge can tell how much of it the server has.
// It passes everything else on as it is, and knows nothing of what the rows mean but what tells one from another.
package inserttap

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

// Tap is one such place. Its methods may be called by any number of goroutines.
type Tap struct {
	server *httptest.Server
	client *http.Client

	mu     sync.Mutex
	target string // empty: nobody is let through
	lose   float64
	doubts []doubt
	sent   int
	begun  chan struct{} // has room for one: an insert has gone out
}

type doubt struct {
	query  url.Values
	header http.Header
	body   []byte
}

// Doubt counts inserts of clicks in doubt by what the server had of them.
type Doubt struct {
	None, Partial, Full int
	Rows                int // of all of them
}

// Table is where clicks are inserted.
const Table = "clicks"

// New listens on a free port of loopback; nobody is let through before Open.
func New() *Tap {
	t := &Tap{client: &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 16}}, begun: make(chan struct{}, 1)}
	t.server = httptest.NewServer(t)
	return t
}

// Addr is where it listens, host:port.
func (t *Tap) Addr() string { return t.server.Listener.Addr().String() }

// Close ends it and all that goes through it.
func (t *Tap) Close() {
	t.Hold()
	t.server.CloseClientConnections()
	t.server.Close()
	t.client.CloseIdleConnections()
}

// Open lets everybody through to the server at target, http://host:port. Of replies to inserts, a share of lose is lost.
func (t *Tap) Open(target string, lose float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.target, t.lose = target, lose
}

// Hold lets nobody through from now on: connections are broken off.
func (t *Tap) Hold() { t.Open("", 0) }

// Begun is given something when an insert of clicks goes out.
func (t *Tap) Begun() <-chan struct{} { return t.begun }

// Inserts is how many of clicks went out.
func (t *Tap) Inserts() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sent
}

// ServeHTTP passes one request on.
func (t *Tap) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t.mu.Lock()
	target, lose := t.target, t.lose
	t.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if target == "" || err != nil {
		panic(http.ErrAbortHandler)
	}
	d := doubt{r.URL.Query(), r.Header.Clone(), body}
	insert := strings.HasPrefix(d.query.Get("query"), "INSERT INTO "+Table+" ")
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
		panic(http.ErrAbortHandler) // it never had it
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
	_, _ = w.Write(reply) // to a sender that may be gone
}

func (t *Tap) pass(ctx context.Context, target, method string, d *doubt) (status int, header http.Header, reply []byte, err error) {
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

// Judge asks the store how much it has of each insert in doubt since the last Judge: each is put, as it was sent, into
// a table beside, and compared. Nobody may be let through meanwhile, as a sender that tries again settles the doubt.
func (t *Tap) Judge(ctx context.Context, s clickstore.Store) (found Doubt, err error) {
	t.mu.Lock()
	doubts := t.doubts
	t.doubts = nil
	t.mu.Unlock()
	const beside = Table + "_in_doubt"
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
		ask("CREATE TABLE " + beside + " AS " + Table + " ENGINE = Memory")
		if err != nil {
			return found, err
		}
		again := doubt{url.Values{}, d.header, d.body}
		for name, values := range d.query {
			again.query[name] = values
		}
		again.query.Set("query", strings.Replace(d.query.Get("query"), Table, beside, 1))
		status, _, reply, err2 := t.pass(ctx, s.URL, http.MethodPost, &again)
		if err2 != nil || status != http.StatusOK {
			return found, fmt.Errorf("an insert in doubt is not taken beside: %d %.300s %w", status, reply, err2)
		}
		const key = "(edge, epoch, lane, seq)"
		all := ask("SELECT count() FROM " + beside)
		there := ask("SELECT count() FROM " + beside + " WHERE " + key + " IN (SELECT edge, epoch, lane, seq FROM " + Table +
			" WHERE " + key + " IN (SELECT edge, epoch, lane, seq FROM " + beside + "))")
		if err != nil {
			return found, err
		}
		found.Rows += all
		switch there {
		case 0:
			found.None++
		case all:
			found.Full++
		default:
			found.Partial++
		}
	}
	if len(doubts) > 0 {
		ask("DROP TABLE IF EXISTS " + beside)
	}
	return found, err
}
