package publish_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/shortline/shortline/control/internal/fleet/presence"
	"github.com/shortline/shortline/control/internal/fleet/publish"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/routing"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/snapshot/snapshottest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// world is a store with one owner, and the use cases that change links.
type world struct {
	*testing.T
	store   *store.Store
	links   *links.Service
	routing *routing.Service
	owner   auth.Principal
}

func newWorld(t *testing.T, s *store.Store) *world {
	passwords, err := auth.NewPasswords(bcrypt.MinCost)
	testkit.Must(t, err)
	w := &world{T: t, store: s, links: links.New(links.Config{BaseURL: "https://sho.rt"}, s, passwords),
		routing: routing.New(link.Policy{}, s)}
	u := store.User{ID: store.NewID(), Email: "ann@example.com", Role: "USER", Active: true}
	w.ok(s.Tx(t.Context(), func(tx *store.Tx) (err error) {
		u.Num, err = tx.InsertUser(t.Context(), u)
		return err
	}))
	w.owner = auth.PrincipalOf(u)
	return w
}

func (w *world) ok(err error) {
	w.Helper()
	testkit.Must(w, err)
}

func (w *world) create(slug string) store.Link {
	w.Helper()
	to := "https://example.com/" + slug
	u, err := w.links.Create(w.Context(), w.owner, links.Creation{Input: links.Input{OriginalURL: &to}, CustomSlug: slug})
	w.ok(err)
	return u
}

// edge follows a source the way an edge does.
type edge struct {
	*testing.T
	source *publish.Publisher
	cursor snapshot.Cursor
	links  map[string]link.Record
}

func (e *edge) load() {
	e.Helper()
	r, err := e.source.Snapshot(e.Context())
	testkit.Must(e, err)
	defer r.Close()
	e.links = map[string]link.Record{}
	e.cursor, err = snapshot.Decode(r, snapshot.Limits{}, func(r *link.Record) error {
		e.links[r.Key] = *r
		return nil
	})
	testkit.Must(e, err)
}

// follow applies deltas up to a revision.
func (e *edge) follow(to uint64) {
	e.Helper()
	for e.cursor.Revision < to {
		wire, err := e.source.Changes(e.Context(), e.cursor)
		if errors.Is(err, snapshot.ErrTooOld) {
			e.load()
			continue
		}
		testkit.Must(e, err)
		d, err := snapshot.DecodeDelta(wire)
		testkit.Must(e, err)
		if d.Incarnation != e.cursor.Incarnation || d.From != e.cursor.Revision {
			e.Fatalf("delta of %d from %d, the edge is at %v", d.Incarnation, d.From, e.cursor)
		}
		for _, t := range d.Deletes {
			if e.links[t.Key].Num == t.Num {
				delete(e.links, t.Key)
			}
		}
		for _, r := range d.Upserts {
			e.links[r.Key] = r
		}
		e.cursor.Revision = d.To
		if h := e.hash(); h != d.After {
			e.Fatalf("state hash %v at revision %d, the delta says %v", h, d.To, d.After)
		}
	}
}

func (e *edge) hash() (h snapshot.StateHash) {
	for _, r := range e.links {
		h.Add(r.Key, r.Num, r.Revision)
	}
	return h
}

// mutate does one random thing to random links; things that are refused do no harm.
func (w *world) mutate(ctx context.Context, r *rand.Rand, n int) error {
	page, err := w.links.List(ctx, w.owner, links.Query{Limit: 50, SortBy: "slug", Offset: r.IntN(5)})
	if err != nil {
		return err
	}
	list := page.Links
	text := func(s string) *string { return &s }
	creation := func(i int) links.Creation {
		c := links.Creation{Input: links.Input{OriginalURL: text(fmt.Sprintf("https://example.com/%d/%d", n, i))}}
		if r.IntN(2) == 0 {
			c.CustomSlug = fmt.Sprintf("slug%d", r.IntN(30)) // slugs pass from one link to another
		}
		return c
	}
	if len(list) == 0 || r.IntN(6) == 0 {
		_, err = w.links.Create(ctx, w.owner, creation(0))
		return err
	}
	u := list[r.IntN(len(list))]
	flag := r.IntN(2) == 0
	switch r.IntN(11) {
	case 0:
		return w.links.Delete(ctx, w.owner, u.ID, false)
	case 10:
		// The links may meet others there, and move back.
		host := []string{"", "go.acme.com"}[r.IntN(2)]
		which := links.Choice{IDs: []string{u.ID, list[0].ID}}
		if _, err := w.links.StartEdit(ctx, w.owner, which, links.Change{Domain: &host}); err != nil {
			return err
		}
		for more := true; more && err == nil; {
			more, err = w.links.NextEdit(ctx)
		}
		return err
	case 9:
		trash, _, err := w.links.Trash(ctx, w.owner, links.Query{Limit: 5})
		if err != nil || len(trash) == 0 {
			return err
		}
		// The link may get another slug, which another link may have had or has.
		_, err = w.links.Restore(ctx, w.owner, trash[r.IntN(len(trash))].ID, links.Restoration{Slug: fmt.Sprintf("slug%d", r.IntN(30))})
		if problem.Is(err, problem.Conflict) {
			err = nil
		}
		return err
	case 1:
		_, _, err = w.links.CreateMany(ctx, w.owner, []links.Creation{creation(1), creation(2), creation(3)})
	case 2:
		_, err = w.links.DeleteMany(ctx, w.owner, []string{u.ID, list[0].ID})
	case 3:
		status := []string{"ACTIVE", "INACTIVE"}[r.IntN(2)]
		_, err = w.links.UpdateMany(ctx, w.owner, []string{u.ID, list[0].ID}, links.Input{Status: &status})
	case 4:
		weight := r.IntN(3)
		_, err = w.routing.CreateVariant(ctx, w.owner, u.ID, routing.VariantInput{Name: text("v"), TargetURL: text("https://v.example"),
			Weight: &weight, Active: &flag})
	case 5:
		priority := r.IntN(3)
		_, err = w.routing.CreateRule(ctx, w.owner, u.ID, routing.RuleInput{Name: text(fmt.Sprint(n)), TargetURL: text("https://r.example"),
			Priority: &priority, Active: &flag,
			Conditions: json.RawMessage(`{"operator":"AND","conditions":[{"type":"country","operator":"equals","value":"DE"}]}`)})
	case 6:
		rules, err := w.routing.Rules(ctx, w.owner, u.ID)
		if err != nil || len(rules.Rules) == 0 {
			return err
		}
		return w.routing.DeleteRule(ctx, w.owner, u.ID, rules.Rules[0].ID)
	case 7:
		_, err = w.routing.Configure(ctx, w.owner, u.ID, routing.Settings{SmartRouting: &flag, DefaultURL: text("https://d.example")})
	default:
		at := store.Now() + int64(r.IntN(1e6))
		_, err = w.links.Update(ctx, w.owner, u.ID, links.Input{ExpiresAt: &at, Password: text("secret"),
			Texts: map[string]string{"title": fmt.Sprint(n), "utmSource": "x", "ogTitle": "og"}})
	}
	return err
}

// An edge that follows deltas always has the links of a full document.
func TestDeltas_lead_where_a_full_document_is(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		w.ok(s.Tx(t.Context(), func(tx *store.Tx) error {
			_, err := tx.InsertDomain(t.Context(), &store.Domain{ID: store.NewID(), Workspace: w.owner.Workspace.Num,
				Hostname: "go.acme.com", Status: store.DomainActive})
			return err
		}))
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		ctx := t.Context()
		p := publish.New(s, publish.Config{BaseURL: "https://sho.rt/", MaxBehind: 20, MaxDelta: 60})
		// One keeps up, one looks rarely, one wakes up now and then after a long time and must start over.
		edges := []*edge{{T: t, source: p}, {T: t, source: p}, {T: t, source: p}}
		for _, e := range edges {
			e.load()
		}
		done := make(chan error, 2)
		for i := range cap(done) {
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			go func() {
				succeeded := 0
				for n := range 120 {
					var refused *problem.Error // another took the slug or the link; anything else is a fault
					switch err := w.mutate(ctx, r, n); {
					case err == nil:
						succeeded++
					case !errors.As(err, &refused):
						done <- err
						return
					}
				}
				if succeeded < 60 {
					done <- fmt.Errorf("only %d of 120 changes succeeded", succeeded)
					return
				}
				done <- nil
			}()
		}
		head := func() uint64 {
			rev, err := s.Revision(ctx)
			w.ok(err)
			return rev
		}
		for i, running := 0, cap(done); running > 0; i++ {
			select {
			case err := <-done:
				w.ok(err)
				running--
			default:
			}
			edges[0].follow(head())
			if i%7 == 0 {
				edges[1].follow(head())
			}
			if i%50 == 49 {
				edges[2].follow(head())
			}
		}
		truth := &edge{T: t, source: publish.New(s, publish.Config{BaseURL: "https://sho.rt"})}
		truth.load()
		if truth.cursor.Revision != head() || len(truth.links) == 0 {
			t.Fatalf("full document at %v with %d links, the store is at %d", truth.cursor, len(truth.links), head())
		}
		for i, e := range edges {
			e.follow(head())
			if !reflect.DeepEqual(e.links, truth.links) {
				t.Errorf("edge %d has %d links, a full document %d, and they differ", i, len(e.links), len(truth.links))
			}
		}
	})
}

func TestRecord(t *testing.T) {
	t.Parallel()
	rule, variant := store.NewID(), store.NewID()
	l := store.Link{
		Num: 7, Slug: "abc", OriginalURL: "https://example.com", Title: "T", PasswordHash: "h", ExpiresAt: 5, CreatedAt: 4, Revision: 9,
		UTM: link.UTM{Source: "s"}, Active: false, ABTesting: true, SmartRouting: true, DefaultURL: "https://d.example",
		OGTitle: "og", OGDescription: "d", OGImage: "og-images/x/1.webp", TwitterCard: "summary",
		Workspace: 3,
		Rules:     []store.Rule{{ID: rule, Name: "r", TargetURL: "https://r.example", Conditions: "{}"}},
		Variants:  []store.Variant{{ID: variant, TargetURL: "https://v.example", Weight: 20}},
	}
	got := publish.Record(&l, "https://sho.rt")
	want := link.Record{
		Num: 7, Owner: 3, Revision: 9, Key: "abc", Destination: "https://example.com", Default: "https://d.example", Inactive: true,
		ExpiresAt: 5,
		CreatedAt: 4,
		Title:     "T", PasswordHash: "h", UTM: link.UTM{Source: "s"}, SmartRouting: true, ABTesting: true,
		Rules:    []link.Rule{{ID: got.Rules[0].ID, Name: "r", Target: "https://r.example", Conditions: []byte("{}")}},
		Variants: []link.Variant{{ID: got.Variants[0].ID, Target: "https://v.example", Weight: 20}},
		Preview: link.Preview{Title: "og", Description: "d", ImageURL: "https://sho.rt/api/og-images/og-images%2Fx%2F1.webp",
			TwitterCard: "summary"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	for id, b := range map[string]link.ID{rule: got.Rules[0].ID, variant: got.Variants[0].ID} {
		if hex := fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]); hex != id {
			t.Errorf("id %s became %s", id, hex)
		}
	}
}

// A link that can't travel as it is loses its rules; the others, and following by deltas, don't suffer.
func TestRecord_too_large(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t))
	p := publish.New(w.store, publish.Config{Logger: slog.New(slog.DiscardHandler)})
	large, small := w.create("large"), w.create("small")
	e := &edge{T: t, source: p}
	e.load()
	w.ok(w.store.Tx(t.Context(), func(tx *store.Tx) error {
		r := store.Rule{ID: store.NewID(), URLID: large.ID, Name: "x", TargetURL: "https://x.example", Active: true,
			Conditions: strings.Repeat(" ", snapshot.MaxRecord+1)}
		if err := tx.InsertRule(t.Context(), &r); err != nil {
			return err
		}
		return tx.TouchAll(t.Context(), []store.LinkRef{{Num: large.Num, Key: large.Slug}, {Num: small.Num, Key: small.Slug}})
	}))
	e.follow(e.cursor.Revision + 1)
	truth := &edge{T: t, source: publish.New(w.store, publish.Config{Logger: slog.New(slog.DiscardHandler)})}
	truth.load()
	if !reflect.DeepEqual(e.links, truth.links) || len(e.links) != 2 || e.links["large"].Destination != large.OriginalURL ||
		e.links["large"].Rules != nil {
		t.Errorf("%+v", e.links)
	}
}

func TestChanges_that_can_not_be_told(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		ctx := t.Context()
		p := publish.New(s, publish.Config{Hold: time.Millisecond, MaxDelta: 4, Keep: 2})
		for i := range 5 {
			w.create(fmt.Sprintf("slug%d", i))
		}
		incarnation, head, err := s.Head(ctx)
		w.ok(err)
		for name, q := range map[string]struct {
			after  snapshot.Cursor
			tooOld bool
		}{
			"more than a delta may cover": {snapshot.Cursor{Incarnation: incarnation, Revision: 0}, true},
			"as much as it may":           {snapshot.Cursor{Incarnation: incarnation, Revision: 1}, false},
		} {
			if _, err := p.Changes(ctx, q.after); errors.Is(err, snapshot.ErrTooOld) != q.tooOld || err != nil && !q.tooOld {
				t.Errorf("%s: %v", name, err)
			}
		}
		if b, err := p.Changes(ctx, snapshot.Cursor{Incarnation: incarnation, Revision: head}); b != nil || err != nil {
			t.Errorf("without news: %d bytes, %v", len(b), err)
		}
		w.ok(p.Trim(ctx))
		if _, err := p.Changes(ctx, snapshot.Cursor{Incarnation: incarnation, Revision: head - 3}); !errors.Is(err, snapshot.ErrTooOld) {
			t.Errorf("after trimming: %v", err)
		}
		if b, err := p.Changes(ctx, snapshot.Cursor{Incarnation: incarnation, Revision: head - 2}); err != nil || b == nil {
			t.Errorf("what the log still holds: %v", err)
		}
		canceled, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := p.Changes(canceled, snapshot.Cursor{Incarnation: incarnation, Revision: head}); !errors.Is(err, context.Canceled) {
			t.Errorf("canceled: %v", err)
		}
	})
}

// Domains, certificates and keys take revisions, too. On a new installation, that happens before the first link.
func TestChanges_before_the_first_link(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		e := &edge{T: t, source: publish.New(s, publish.Config{Hold: time.Millisecond})}
		e.load()
		w.ok(s.Tx(t.Context(), func(tx *store.Tx) error { return tx.AnnounceConversions(t.Context(), "keys") }))
		revision, err := s.Revision(t.Context())
		w.ok(err)
		wire, err := e.source.Changes(t.Context(), e.cursor)
		w.ok(err)
		d, err := snapshot.DecodeDelta(wire)
		if err != nil || d.To != revision || d.To == e.cursor.Revision || len(d.Upserts)+len(d.Deletes) > 0 {
			t.Errorf("from revision %d to %d: %+v, %v", e.cursor.Revision, revision, d, err)
		}
		w.create("first")
		revision, err = s.Revision(t.Context())
		w.ok(err)
		if e.follow(revision); len(e.links) != 1 {
			t.Errorf("%d links at revision %d", len(e.links), revision)
		}
	})
}

// plane is the world as the conformance suite sees it, with positions that observe the publisher as in a program.
func (w *world) plane() snapshottest.Plane {
	ids := map[string]string{}
	revision := func() uint64 {
		n, err := w.store.Revision(w.Context())
		w.ok(err)
		return n
	}
	positions := presence.NewPositions(presence.PositionsConfig{}, w.store)
	return snapshottest.Plane{
		Source: positions.Observe(publish.New(w.store, publish.Config{Hold: time.Minute, Dir: w.TempDir()})),
		Put: func(slug string) uint64 {
			if id := ids[slug]; id == "" {
				ids[slug] = w.create(slug).ID
			} else {
				_, err := w.links.Update(w.Context(), w.owner, id, links.Input{Texts: map[string]string{"title": "changed"}})
				w.ok(err)
			}
			return revision()
		},
		Delete: func(slug string) uint64 {
			w.ok(w.links.Delete(w.Context(), w.owner, ids[slug], false))
			return revision()
		},
		Applied: func(revision uint64) (applied, known int) {
			ctx, cancel := context.WithCancel(w.Context())
			cancel() // Await then returns at once
			applied, known, err := positions.Await(ctx, revision)
			w.ok(err)
			return applied, known
		},
	}
}

func TestPublisher_conforms(t *testing.T) {
	t.Parallel()
	for dialect, open := range map[string]func(testing.TB) *store.Store{"sqlite": storetest.Open, "postgres": storetest.OpenPostgres} {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			snapshottest.Run(t, func(t *testing.T) snapshottest.Plane {
				return newWorld(t, open(t)).plane()
			})
		})
	}
}

func TestSnapshot_is_built_once(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		p := publish.New(s, publish.Config{MaxBehind: 3, Dir: t.TempDir()})
		open := func() io.ReadCloser {
			r, err := p.Snapshot(t.Context())
			w.ok(err)
			return r
		}
		read := func(r io.ReadCloser) string {
			b, err := io.ReadAll(r)
			w.ok(err)
			w.ok(r.Close())
			w.ok(r.Close()) // harmless
			return string(b)
		}
		w.create("first")
		early := open()
		first := read(open())
		for i := range 3 {
			w.create(fmt.Sprintf("more%d", i))
		}
		if read(open()) != first {
			t.Error("a document that is little behind was built again")
		}
		w.create("another")
		if read(open()) == first {
			t.Error("a document that is far behind was not built again")
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		w.ok(p.Run(ctx))
		if read(early) != first {
			t.Error("a reader lost its document when another was built")
		}
	})
}
