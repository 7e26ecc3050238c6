package agent_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/shortline/shortline/edge/internal/agent"
	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func plain(i int) link.Record {
	return link.Record{
		Num: uint64(i) + 1, Owner: 1, Revision: 1, Key: fmt.Sprintf("s%05d", i),
		Destination: fmt.Sprintf("https://example.com/%d", i), CreatedAt: 1750000000000,
	}
}

func plains(n int) (records []link.Record) {
	for i := range n {
		records = append(records, plain(i))
	}
	return records
}

type edge struct {
	*agent.Agent
	table *table.Table
	stop  func() // and waits
}

// control is a control plane as an agent sees it.
type control interface {
	snapshot.Source
	snapshot.Reporter
}

// boot returns an agent that is not running.
func boot(t testing.TB, dir string, from control, change func(*agent.Config)) *edge {
	t.Helper()
	tab, err := table.New(table.Config{PlanBytes: 1 << 20}) // tests start hundreds of agents, and the default takes 5 MB each
	testkit.Must(t, err)
	t.Cleanup(tab.Close)
	cfg := agent.Config{
		Dir: dir, Source: from, Reports: from, Table: tab, Edge: "test", Version: "1", Logger: slog.New(slog.DiscardHandler),
		BackoffMin: time.Millisecond, BackoffMax: 5 * time.Millisecond, ReportEvery: 10 * time.Millisecond,
	}
	if change != nil {
		change(&cfg)
	}
	a, err := agent.New(cfg)
	testkit.Must(t, err)
	return &edge{Agent: a, table: tab, stop: func() {}}
}

func start(t testing.TB, dir string, from control, change func(*agent.Config)) *edge {
	t.Helper()
	e := boot(t, dir, from, change)
	e.stop = testkit.Run(t, e.Run)
	return e
}

// close closes an agent that was not run.
func (e *edge) close(t testing.TB) {
	t.Helper()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func (e *edge) reaches(t testing.TB, cur snapshot.Cursor) {
	t.Helper()
	testkit.Eventually(t, fmt.Sprintf("revision %v", cur), func() bool { return e.Applied() == cur })
}

func (e *edge) has(slug string) bool {
	_, ok := e.table.Lookup([]byte(slug))
	return ok
}

func (e *edge) contents(t testing.TB) map[string]link.Record {
	t.Helper()
	got := map[string]link.Record{}
	if err := e.table.Records(func(snapshot.Cursor) error { return nil }, func(r *link.Record) error {
		got[r.Key] = *r
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestAgent_follows(t *testing.T) {
	t.Parallel()
	s := newSource()
	s.put(plains(50)...)
	e := start(t, t.TempDir(), s, nil)
	e.reaches(t, s.cur)
	if !e.Ready() || e.table.Len() != 50 {
		t.Fatal("not ready, or links are missing")
	}
	changed := plain(3)
	changed.Destination = "https://example.com/changed"
	e.reaches(t, s.put(changed, plain(99)))
	if got, ok := e.table.Lookup([]byte(changed.Key)); !ok || got.Destination() != changed.Destination {
		t.Error("the change was not applied")
	}
	e.reaches(t, s.drop(plain(4).Key))
	if e.has(plain(4).Key) || e.table.Len() != 50 {
		t.Error("a deleted link is still there")
	}
	if s.fulls != 1 {
		t.Errorf("%d full documents", s.fulls)
	}
	testkit.Eventually(t, "a report of the last state", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.reports) == 0 {
			return false
		}
		r := s.reports[len(s.reports)-1]
		return r.Cursor == s.cur && r.Links == 50 && r.StateHash == s.hash().String() && r.Refused == "" && r.Edge == "test"
	})
	if st := e.Stats(); st.Applied != 2 || st.Loaded != 1 || st.LastSuccess == 0 {
		t.Errorf("%+v", st)
	}
}

func TestAgent_refuses_a_bad_document_whole(t *testing.T) {
	t.Parallel()
	older := newSource()
	older.put(plains(150)...)
	for name, c := range map[string]struct {
		spoil func(doc []byte) (io.Reader, error)
		alter func(s *source) // under its lock
		says  string
	}{
		"cut": {spoil: func(doc []byte) (io.Reader, error) { return bytes.NewReader(doc[:len(doc)-3]), nil }, says: "cut off"},
		"flipped": {spoil: func(doc []byte) (io.Reader, error) { doc[len(doc)/2] ^= 1; return bytes.NewReader(doc), nil },
			says: "snapshot: "},
		"of an older revision": {spoil: func([]byte) (io.Reader, error) { return bytes.NewReader(older.document()), nil },
			says: "of revision 1, but 3 is served"},
		"with few links": {alter: func(s *source) {
			for i := range 80 {
				delete(s.links, plain(i).Key)
			}
		}, says: "of 70 links, but 150 are served"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSource()
			s.put(plains(150)...)
			s.put(plain(1))
			s.put(plain(2))
			e := start(t, t.TempDir(), s, nil)
			e.reaches(t, s.cur)
			before := e.contents(t)
			s.with(func() {
				s.spoilFull = func(doc []byte, _ int) (io.Reader, error) {
					if c.spoil == nil {
						return bytes.NewReader(doc), nil
					}
					return c.spoil(doc)
				}
				if c.alter != nil {
					c.alter(s)
				}
				s.log = nil // so that it must take a full document
				s.cur.Revision++
			})
			testkit.Eventually(t, "a reported refusal", func() bool {
				s.mu.Lock()
				defer s.mu.Unlock()
				n := len(s.reports)
				return n > 0 && strings.Contains(s.reports[n-1].Refused, c.says)
			})
			if !reflect.DeepEqual(e.contents(t), before) || e.Applied().Revision != 3 {
				t.Error("the refused document left traces")
			}
			s.with(func() {
				s.spoilFull = nil
				for _, r := range plains(150) {
					s.links[r.Key] = r
				}
			})
			e.reaches(t, s.cur)
			if e.Status().Refused != "" {
				t.Error("the reason outlives the refusal")
			}
		})
	}
}

// Operators delete the local links to allow a loss on purpose.
func TestAgent_takes_losses_without_local_links_and_from_another_incarnation(t *testing.T) {
	t.Parallel()
	for name, deleted := range map[string]bool{"without local links": true, "incarnation": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSource()
			s.put(plains(150)...)
			s.put(plain(1))
			dir := t.TempDir()
			e := start(t, dir, s, nil)
			e.reaches(t, s.cur)
			s.with(func() {
				s.links = map[string]link.Record{"one": {Num: 1, Revision: 1, Key: "one", Destination: "https://example.com"}}
				s.cur.Revision, s.log = 1, nil
				if !deleted {
					s.cur.Incarnation = 2
				}
			})
			if deleted {
				e.stop()
				testkit.Must(t, os.RemoveAll(dir))
				e = start(t, dir, s, nil)
			}
			e.reaches(t, s.cur)
			if e.table.Len() != 1 || !e.has("one") {
				t.Errorf("%d links", e.table.Len())
			}
		})
	}
}

func TestAgent_bad_deltas(t *testing.T) {
	t.Parallel()
	s := newSource()
	s.put(plains(10)...)
	e := start(t, t.TempDir(), s, nil)
	e.reaches(t, s.cur)
	s.mu.Lock()
	s.spoilDelta = func(wire []byte) ([]byte, error) { wire[len(wire)/2] ^= 4; return wire, nil }
	s.mu.Unlock()
	e.reaches(t, s.put(plain(11))) // by a full document, in the end
	if s.fulls != 2 || !e.has(plain(11).Key) {
		t.Errorf("%d full documents", s.fulls)
	}
	// One that fails to come only delays.
	fails := 2
	s.with(func() {
		s.spoilDelta = func(wire []byte) ([]byte, error) {
			if fails--; fails >= 0 {
				return nil, io.ErrUnexpectedEOF
			}
			return wire, nil
		}
	})
	e.reaches(t, s.put(plain(12)))
	if s.fulls != 2 {
		t.Errorf("%d full documents", s.fulls)
	}
}

// A delta whose outcome differs is obeyed all the same, and a full document clears the difference.
func TestAgent_drift_is_repaired(t *testing.T) {
	t.Parallel()
	s := newSource()
	s.put(plains(10)...)
	e := start(t, t.TempDir(), s, nil)
	e.reaches(t, s.cur)
	s.with(func() { delete(s.links, plain(5).Key) }) // a change that the edge is never told of
	e.reaches(t, s.drop(plain(6).Key))
	if e.has(plain(6).Key) {
		t.Error("a link that it was told is gone is still served")
	}
	testkit.Eventually(t, "a full document", func() bool { return !e.has(plain(5).Key) && e.Status().Refused == "" })
	if e.Status().StateHash != s.hash().String() {
		t.Error("states differ")
	}
}

func TestAgent_gives_up_a_stalled_document(t *testing.T) {
	t.Parallel()
	s := newSource()
	s.put(plains(10)...)
	s.spoilFull = func(doc []byte, asked int) (io.Reader, error) {
		if asked == 1 {
			return &stalling{first: doc[:len(doc)/2], until: make(chan struct{})}, nil
		}
		if asked == 2 {
			return iotest.TimeoutReader(iotest.HalfReader(bytes.NewReader(doc))), nil
		}
		return bytes.NewReader(doc), nil
	}
	stuck := &obeying{source: s}
	e := start(t, t.TempDir(), stuck, func(c *agent.Config) { c.Stall = 30 * time.Millisecond })
	e.reaches(t, s.cur)
	if n := e.Stats().SourceErrors; n < 2 || e.Stats().Refused != 0 { // more on a machine that is slow itself
		t.Errorf("%d errors, %d refused", n, e.Stats().Refused)
	}
}

// obeying ends a stalled document when the caller's context ends, as a connection does.
type obeying struct{ *source }

func (o *obeying) Snapshot(ctx context.Context) (io.ReadCloser, error) {
	doc, err := o.source.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return &untilDone{ctx, doc}, nil
}

type untilDone struct {
	ctx context.Context
	io.ReadCloser
}

func (u *untilDone) Read(b []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	got := make(chan result, 1)
	own := make([]byte, len(b))
	go func() {
		n, err := u.ReadCloser.Read(own)
		got <- result{n, err}
	}()
	select {
	case r := <-got:
		return copy(b, own[:r.n]), r.err
	case <-u.ctx.Done():
		return 0, u.ctx.Err()
	}
}

type stalling struct {
	first []byte
	until chan struct{}
}

func (s *stalling) Read(b []byte) (int, error) {
	if len(s.first) == 0 {
		<-s.until
	}
	n := copy(b, s.first)
	s.first = s.first[n:]
	return n, nil
}

func TestAgent_does_not_hammer(t *testing.T) {
	t.Parallel()
	s := newSource()
	s.put(plains(10)...)
	// Each question is answered "too old", also right after a full document.
	s.spoilDelta = func([]byte) ([]byte, error) { return nil, snapshot.ErrTooOld }
	e := start(t, t.TempDir(), &ahead{s}, func(c *agent.Config) { c.BackoffMin, c.BackoffMax = 50*time.Millisecond, 50*time.Millisecond })
	testkit.Eventually(t, "a few rounds", func() bool { return e.Stats().SourceErrors >= 3 })
	if loaded, failed := e.Stats().Loaded, e.Stats().SourceErrors; loaded > failed+1 {
		t.Errorf("%d full documents for %d pauses", loaded, failed)
	}
}

// ahead pretends that there is always a change that it can't tell.
type ahead struct{ *source }

func (*ahead) Changes(context.Context, snapshot.Cursor) ([]byte, error) {
	return nil, snapshot.ErrTooOld
}

func TestNew_names_every_problem(t *testing.T) {
	t.Parallel()
	_, err := agent.New(agent.Config{ReportEvery: -1})
	for _, part := range []string{"Dir", "Source", "Table", "negative"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s is not named in %v", part, err)
		}
	}
}
