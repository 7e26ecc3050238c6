// Package snapshottest is the conformance suite of snapshot.Source. Every implementation runs it: in process, over HTTP,
// and the fake that the edge's tests use.
package snapshottest

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Plane is a control plane under test, without links at first.
type Plane struct {
	// Source is the implementation under test.
	Source snapshot.Source
	// Put creates or changes a link, Delete deletes it. Each makes one revision and returns it.
	Put, Delete func(slug string) (revision uint64)
	// Applied returns how many edges have applied a revision, and how many are known. It is nil if the plane does not
	// track edges.
	Applied func(revision uint64) (applied, known int)
}

// Run runs the suite. For each test, open returns a new Plane.
func Run(t *testing.T, open func(t *testing.T) Plane) {
	for name, test := range map[string]func(s *suite){
		"deltas_lead_to_the_state_of_a_document":  (*suite).deltas,
		"wakes_every_edge_that_waits":             (*suite).wakes,
		"refuses_a_cursor_that_cannot_be_reached": (*suite).tooOld,
		"ends_with_the_context_of_the_caller":     (*suite).contexts,
		"gives_the_bytes_to_the_caller":           (*suite).owned,
		"learns_what_an_edge_has_applied":         (*suite).asker,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(&suite{T: t, Plane: open(t)})
		})
	}
}

type suite struct {
	*testing.T
	Plane
}

// state is what an edge holds.
type state struct {
	cursor snapshot.Cursor
	links  map[string]link.Record
}

// document reads a document, which may lack the newest revisions.
func (s *suite) document() state {
	s.Helper()
	doc, err := s.Source.Snapshot(s.Context())
	testkit.Must(s, err)
	defer doc.Close()
	at := state{links: map[string]link.Record{}}
	at.cursor, err = snapshot.Decode(doc, snapshot.Limits{}, func(r *link.Record) error {
		at.links[r.Key] = *r
		return nil
	})
	testkit.Must(s, err)
	return at
}

// next applies one delta. A source may answer without one, after a while.
func (s *suite) next(at *state) {
	s.Helper()
	var wire []byte
	for wire == nil {
		var err error
		if wire, err = s.Source.Changes(s.Context(), at.cursor); err != nil {
			s.Fatal(err)
		}
	}
	d, err := snapshot.DecodeDelta(wire)
	if err != nil || d.Incarnation != at.cursor.Incarnation || d.From != at.cursor.Revision || d.To <= d.From {
		s.Fatalf("delta of %d from %d to %d after %v, %v", d.Incarnation, d.From, d.To, at.cursor, err)
	}
	for _, dead := range d.Deletes {
		delete(at.links, dead.Key)
	}
	for _, r := range d.Upserts {
		at.links[r.Key] = r
	}
	at.cursor.Revision = d.To
	var hash snapshot.StateHash
	for _, r := range at.links {
		hash.Add(r.Key, r.Num, r.Revision)
	}
	if hash != d.After {
		s.Fatalf("state hash %v at revision %d, the delta has %v", hash, d.To, d.After)
	}
}

// at returns the state at a revision: a document and the deltas after it.
func (s *suite) at(revision uint64) state {
	s.Helper()
	at := s.document()
	s.follow(&at, revision)
	return at
}

func (s *suite) follow(at *state, revision uint64) {
	s.Helper()
	for at.cursor.Revision < revision {
		s.next(at)
	}
}

func (s *suite) deltas() {
	at := s.document()
	for _, slug := range []string{"one", "two", "three", "one"} {
		s.Put(slug)
	}
	revision := s.Delete("two")
	s.follow(&at, revision)
	if len(at.links) != 2 || at.links["one"].Key == "" || at.links["three"].Key == "" {
		s.Errorf("links after the deltas: %v", at.links)
	}
	if other := s.at(revision); !reflect.DeepEqual(at, other) {
		s.Errorf("by deltas %+v, by a newer document %+v", at, other)
	}
}

func (s *suite) wakes() {
	at := s.at(s.Put("one"))
	woken := make(chan []byte, 3)
	for range cap(woken) {
		go func() {
			var wire []byte
			var err error
			for wire == nil && err == nil {
				wire, err = s.Source.Changes(s.Context(), at.cursor)
			}
			woken <- wire
		}()
	}
	select {
	case <-woken:
		s.Fatal("woken without a change")
	case <-time.After(20 * time.Millisecond):
	}
	s.Put("two")
	for range cap(woken) {
		if d, err := snapshot.DecodeDelta(<-woken); err != nil || len(d.Upserts) != 1 || d.Upserts[0].Key != "two" {
			s.Errorf("%+v, %v", d, err)
		}
	}
}

func (s *suite) tooOld() {
	at := s.at(s.Put("one")).cursor
	for what, cursor := range map[string]snapshot.Cursor{
		"no state":            {},
		"another incarnation": {Incarnation: at.Incarnation + 1, Revision: at.Revision},
		"a future revision":   {Incarnation: at.Incarnation, Revision: at.Revision + 1},
	} {
		if wire, err := s.Source.Changes(s.Context(), cursor); !errors.Is(err, snapshot.ErrTooOld) {
			s.Errorf("after %s: %d bytes, %v", what, len(wire), err)
		}
	}
}

func (s *suite) contexts() {
	at := s.at(s.Put("one"))
	ctx, cancel := context.WithTimeout(s.Context(), 10*time.Millisecond)
	defer cancel()
	if wire, err := s.Source.Changes(ctx, at.cursor); len(wire) > 0 || errors.Is(err, snapshot.ErrTooOld) {
		s.Errorf("%d bytes without a change, %v", len(wire), err)
	}
}

func (s *suite) owned() {
	before := s.at(s.Put("one")).cursor
	s.Put("two")
	for range 2 {
		wire, err := s.Source.Changes(s.Context(), before)
		testkit.Must(s, err)
		if _, err := snapshot.DecodeDelta(wire); err != nil {
			s.Fatalf("a caller's writes damage the delta of the next caller: %v", err)
		}
		clear(wire)
	}
}

func (s *suite) asker() {
	if s.Applied == nil {
		s.Skip("this control plane does not track edges")
	}
	before := s.at(s.Put("one")).cursor
	if _, known := s.Applied(before.Revision); known != 0 {
		s.Errorf("%d edges are known by calls without a name", known)
	}
	revision := s.Put("two")
	if _, err := s.Source.Changes(snapshot.WithAsker(s.Context(), "e1"), before); err != nil {
		s.Fatal(err)
	}
	if applied, known := s.Applied(before.Revision); applied != 1 || known != 1 {
		s.Errorf("%d of %d edges applied the revision that one asked from", applied, known)
	}
	if applied, known := s.Applied(revision); applied != 0 || known != 1 {
		s.Errorf("%d of %d edges applied the next revision", applied, known)
	}
}
