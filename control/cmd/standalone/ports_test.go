package main_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/shortline/shortline/control/internal/fleet/edgeapi"
	fleetlockout "github.com/shortline/shortline/control/internal/fleet/lockout"
	"github.com/shortline/shortline/control/internal/fleet/presence"
	"github.com/shortline/shortline/control/internal/fleet/publish"
	manageabuse "github.com/shortline/shortline/control/internal/manage/abuse"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/edge/remote"
	"github.com/shortline/shortline/shared/abuse"
	"github.com/shortline/shortline/shared/lockout"
	"github.com/shortline/shortline/shared/lockout/lockouttest"
	"github.com/shortline/shortline/shared/snapshot/snapshottest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

const fleetToken = "the-token-of-the-fleet"

var quiet = slog.New(slog.DiscardHandler)

// remotely connects an edge's client to a control plane over HTTP.
func remotely(t *testing.T, deps edgeapi.Deps) *remote.Source {
	t.Helper()
	handler, err := edgeapi.New(edgeapi.Config{Tokens: []string{fleetToken}, Logger: quiet}, deps)
	testkit.Must(t, err)
	server := httptest.NewServer(handler)
	client, err := remote.NewSource(remote.Control{URL: server.URL, Token: fleetToken})
	testkit.Must(t, err)
	t.Cleanup(func() {
		client.Close()
		server.CloseClientConnections()
		server.Close()
	})
	return client
}

// The lockout exchange over HTTP, with two replicas of the control plane, passes its conformance suite. Package
// fleet/lockout runs the suite in process.
func TestPorts_lockout_over_HTTP(t *testing.T) {
	t.Parallel()
	lockouttest.Run(t, func(t *testing.T) (a, b lockout.Exchange) {
		st := storetest.Open(t)
		replica := func() lockout.Exchange {
			counter := fleetlockout.New(fleetlockout.Config{Logger: quiet}, st)
			testkit.Run(t, counter.Run)
			return remotely(t, edgeapi.Deps{Lockout: counter})
		}
		return replica(), replica()
	})
}

// The sink for visitors' reports over HTTP tells an edge why a report was not stored. Two replicas count reports together.
func TestPorts_reports_over_HTTP(t *testing.T) {
	t.Parallel()
	st := storetest.Open(t)
	u := store.Link{ID: store.NewID(), UserID: "user", Slug: "reported", Active: true, OriginalURL: "https://example.com/"}
	if err := st.Tx(t.Context(), func(tx *store.Tx) error {
		if _, err := tx.InsertUser(t.Context(), store.User{ID: "user", Email: "a", Role: "USER", Active: true}); err != nil {
			return err
		}
		return tx.InsertLinks(t.Context(), []*store.Link{&u})
	}); err != nil {
		t.Fatal(err)
	}
	replica := func() abuse.ReportSink {
		return remotely(t, edgeapi.Deps{Abuse: manageabuse.New(manageabuse.Config{Logger: quiet}, st)})
	}
	sink, other := replica(), replica()
	accept := func(link uint64, reason string) error {
		sink, other = other, sink
		return sink.Accept(t.Context(), abuse.Report{Link: link, Reason: reason, Text: "“<b>” & ü\n2", Email: "me@example.com",
			Client: netip.MustParseAddr("2001:db8::1")})
	}
	testkit.Must(t, accept(u.Num, "PHISHING"))
	if err := accept(u.Num+1, "SPAM"); !errors.Is(err, abuse.ErrUnknown) {
		t.Errorf("a report of no link: %v", err)
	}
	if err := accept(u.Num, "because"); err == nil || errors.Is(err, abuse.ErrUnknown) || errors.Is(err, abuse.ErrBusy) {
		t.Errorf("an unknown reason: %v", err)
	}
	for range 9 { // the report of no link does not count
		testkit.Must(t, accept(u.Num, "SPAM"))
	}
	if err := accept(u.Num, "SPAM"); !errors.Is(err, abuse.ErrBusy) {
		t.Errorf("the eleventh report of a client: %v", err)
	}
	list, total, err := st.Cases(t.Context(), store.CaseFilter{Limit: 10})
	if err != nil || total != 1 || list[0].Reports != 10 || list[0].Reasons["PHISHING"] != 1 ||
		list[0].Messages[0].Text != "“<b>” & ü\n2" || list[0].Messages[0].Email != "me@example.com" {
		t.Errorf("the queue has %+v, %v", list, err)
	}
	none := remotely(t, edgeapi.Deps{})
	if err := none.Accept(t.Context(), abuse.Report{Link: u.Num, Reason: "SPAM"}); !errors.Is(err, abuse.ErrUnsupported) {
		t.Errorf("a control plane without a queue: %v", err)
	}
	testkit.Must(t, st.Close())
	if err := accept(u.Num, "SPAM"); err == nil || errors.Is(err, abuse.ErrUnknown) || errors.Is(err, abuse.ErrBusy) {
		t.Errorf("without a database: %v", err)
	}
}

// The source of links over HTTP passes its conformance suite. Package fleet/publish runs the suite in process.
func TestPorts_links_over_HTTP(t *testing.T) {
	t.Parallel()
	snapshottest.Run(t, func(t *testing.T) snapshottest.Plane {
		st := storetest.Open(t)
		tx := func(f func(ctx context.Context, tx *store.Tx) error) (revision uint64) {
			t.Helper()
			if err := st.Tx(t.Context(), func(tx *store.Tx) error {
				err := f(t.Context(), tx)
				revision = tx.Revision()
				return err
			}); err != nil {
				t.Fatal(err)
			}
			return revision
		}
		tx(func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.InsertUser(ctx, store.User{ID: "user", Email: "a", Role: "USER", Active: true})
			return err
		})
		positions, links := presence.NewPositions(presence.PositionsConfig{}, st), map[string]*store.Link{}
		client := remotely(t, edgeapi.Deps{Links: positions.Observe(publish.New(st, publish.Config{Dir: t.TempDir(), Logger: quiet}))})
		return snapshottest.Plane{
			Source: client,
			Put: func(slug string) uint64 {
				return tx(func(ctx context.Context, tx *store.Tx) error {
					if links[slug] == nil {
						links[slug] = &store.Link{ID: store.NewID(), UserID: "user", Slug: slug, Active: true,
							OriginalURL: "https://example.com/" + slug}
						if err := tx.InsertLinks(ctx, []*store.Link{links[slug]}); err != nil {
							return err
						}
					}
					return tx.Touch(ctx, links[slug].Num, slug)
				})
			},
			Delete: func(slug string) uint64 {
				return tx(func(ctx context.Context, tx *store.Tx) error {
					if err := tx.Touch(ctx, links[slug].Num, slug); err != nil {
						return err
					}
					return tx.DeleteLinks(ctx, []string{links[slug].ID})
				})
			},
			Applied: func(revision uint64) (applied, known int) {
				ctx, cancel := context.WithCancel(t.Context())
				cancel() // Await then returns at once
				applied, known, err := positions.Await(ctx, revision)
				testkit.Must(t, err)
				return applied, known
			},
		}
	})
}
