package agent_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/snapshot/snapshottest"
)

// source is a control plane in memory. Tests can make it misbehave.
type source struct {
	mu      sync.Mutex
	cur     snapshot.Cursor
	links   map[string]link.Record
	log     []snapshot.Delta // gapless, up to cur
	news    chan struct{}    // closed and replaced at each change
	reports []snapshot.Status
	fulls   int
	asked   int

	// Faults, if set. The functions are called under the lock.
	spoilFull  func(doc []byte, asked int) (io.Reader, error)
	spoilDelta func(wire []byte) ([]byte, error)
	lieHash    bool

	key snapshot.SigningKey
}

func newSource() *source {
	return &source{cur: snapshot.Cursor{Incarnation: 1}, links: map[string]link.Record{}, news: make(chan struct{})}
}

func (s *source) hash() (h snapshot.StateHash) {
	for _, r := range s.links {
		h.Add(r.Key, r.Num, r.Revision)
	}
	return h
}

// put publishes records as one change; drop deletes slugs.
func (s *source) put(records ...link.Record) snapshot.Cursor { return s.change(records, nil) }

func (s *source) drop(slugs ...string) snapshot.Cursor { return s.change(nil, slugs) }

func (s *source) change(records []link.Record, slugs []string) snapshot.Cursor {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := snapshot.Delta{Incarnation: s.cur.Incarnation, From: s.cur.Revision, To: s.cur.Revision + 1}
	for _, slug := range slugs {
		d.Deletes = append(d.Deletes, snapshot.Tombstone{Num: s.links[slug].Num, Key: slug})
		delete(s.links, slug)
	}
	for _, r := range records {
		r.Revision = d.To
		d.Upserts = append(d.Upserts, r)
		s.links[r.Key] = r
	}
	d.After = s.hash()
	if s.lieHash {
		d.After.Add("never was", 1, 1)
	}
	s.cur.Revision = d.To
	s.log = append(s.log, d)
	close(s.news)
	s.news = make(chan struct{})
	return s.cur
}

// with changes the source under its lock and wakes waiting calls.
func (s *source) with(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn()
	close(s.news)
	s.news = make(chan struct{})
}

func (s *source) document() []byte {
	var b bytes.Buffer
	w, err := snapshot.NewWriter(&b, s.cur)
	if err != nil {
		panic(err)
	}
	w.Sign(s.key)
	for _, r := range s.links {
		if err := w.Add(&r); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func (s *source) Snapshot(context.Context) (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fulls++
	doc := s.document()
	if s.spoilFull != nil {
		r, err := s.spoilFull(doc, s.fulls)
		if err != nil {
			return nil, err
		}
		return io.NopCloser(r), nil
	}
	return io.NopCloser(bytes.NewReader(doc)), nil
}

func (s *source) Changes(ctx context.Context, after snapshot.Cursor) ([]byte, error) {
	for {
		s.mu.Lock()
		s.asked++
		news := s.news
		if after.Incarnation != s.cur.Incarnation || after.Revision > s.cur.Revision {
			s.mu.Unlock()
			return nil, snapshot.ErrTooOld
		}
		if after.Revision < s.cur.Revision {
			defer s.mu.Unlock()
			if len(s.log) == 0 || s.log[0].From > after.Revision {
				return nil, snapshot.ErrTooOld
			}
			wire := snapshot.AppendSignedDelta(nil, &s.log[after.Revision-s.log[0].From], s.key)
			if s.spoilDelta != nil {
				return s.spoilDelta(wire)
			}
			return wire, nil
		}
		s.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-news:
		}
	}
}

func (s *source) Report(_ context.Context, status snapshot.Status) (a snapshot.Answer, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reports = append(s.reports, status)
	return a, nil
}

// dead is a control plane that is down.
type dead struct{}

func (dead) Snapshot(context.Context) (io.ReadCloser, error) {
	return nil, fmt.Errorf("no control plane")
}
func (dead) Changes(context.Context, snapshot.Cursor) ([]byte, error) {
	return nil, fmt.Errorf("no control plane")
}
func (dead) Report(context.Context, snapshot.Status) (a snapshot.Answer, err error) {
	return a, fmt.Errorf("no control plane")
}

func TestSource_conforms(t *testing.T) {
	t.Parallel()
	snapshottest.Run(t, func(*testing.T) snapshottest.Plane {
		s := newSource()
		return snapshottest.Plane{
			Source: s,
			Put: func(slug string) uint64 {
				return s.put(link.Record{Num: uint64(slug[0])<<8 | uint64(len(slug)), Owner: 1, Key: slug,
					Destination: "https://example.com/"}).
					Revision
			},
			Delete: func(slug string) uint64 { return s.drop(slug).Revision },
		}
	})
}

// questions returns how often changes were asked for.
func (s *source) questions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}
