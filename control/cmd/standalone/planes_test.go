package main_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/shortline/shortline/control/internal/fleet/edgeapi"
	"github.com/shortline/shortline/control/internal/fleet/publish"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/edge/remote"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// An edge has two control planes of one database. While the first one holds a request for changes, it dies or falls silent; the
// next change and the next document come from the other.
func TestA11_changes_come_from_another_control_plane(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"dies", "hangs"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			st := storetest.Open(t)
			put := func(slug string) (revision uint64) {
				t.Helper()
				testkit.Must(t, st.Tx(t.Context(), func(tx *store.Tx) error {
					if slug == "one" {
						user := store.User{ID: "user", Email: "a", Role: "USER", Active: true}
						if _, err := tx.InsertUser(t.Context(), user); err != nil {
							return err
						}
					}
					u := &store.Link{ID: store.NewID(), UserID: "user", Slug: slug, Active: true, OriginalURL: "https://example.com/"}
					if err := tx.InsertLinks(t.Context(), []*store.Link{u}); err != nil {
						return err
					}
					err := tx.Touch(t.Context(), u.Num, slug)
					revision = tx.Revision()
					return err
				}))
				return revision
			}
			put("one")
			var silent atomic.Bool
			var held atomic.Int32
			over := make(chan struct{})
			plane := func(first bool) *httptest.Server {
				api, err := edgeapi.New(edgeapi.Config{Tokens: []string{fleetToken}, Logger: quiet},
					edgeapi.Deps{Links: publish.New(st, publish.Config{Dir: t.TempDir(), Logger: quiet})})
				testkit.Must(t, err)
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if first && r.URL.Path == "/edge/v1/changes" {
						held.Add(1)
					}
					if first && silent.Load() {
						<-over
						return
					}
					api.ServeHTTP(w, r)
					if first && silent.Load() {
						<-over // the answer to the held request never leaves
					}
				}))
				t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
				return server
			}
			first, second := plane(true), plane(false)
			t.Cleanup(func() { close(over) }) // before the servers close, which wait for handlers
			source, err := remote.NewSource(remote.Control{URL: first.URL + "," + second.URL, Token: fleetToken})
			testkit.Must(t, err)
			ctx, cancel := context.WithCancel(context.Background())
			var group sync.WaitGroup
			group.Go(func() { _ = source.Run(ctx) })
			t.Cleanup(func() { cancel(); group.Wait(); source.Close() })

			document := func() (at snapshot.Cursor, n int) {
				t.Helper()
				doc, err := source.Snapshot(t.Context())
				testkit.Must(t, err)
				defer doc.Close()
				at, err = snapshot.Decode(doc, snapshot.Limits{}, func(*link.Record) error { n++; return nil })
				testkit.Must(t, err)
				return at, n
			}
			at, n := document()
			if n != 1 {
				t.Fatalf("%d links", n)
			}
			ended := make(chan error, 1)
			go func() {
				_, err := source.Changes(t.Context(), at)
				ended <- err
			}()
			testkit.Eventually(t, "the first control plane holds a request", func() bool { return held.Load() == 1 })
			silent.Store(true)
			if what == "dies" {
				first.CloseClientConnections()
				_ = first.Listener.Close()
			}
			if err := <-ended; err == nil {
				t.Error("the held request ended without an error")
			}
			put("two")
			var wire []byte
			testkit.Eventually(t, "the change comes", func() bool {
				wire, err = source.Changes(t.Context(), at)
				return err == nil && wire != nil
			})
			if d, err := snapshot.DecodeDelta(wire); err != nil || len(d.Upserts) != 1 || d.Upserts[0].Key != "two" {
				t.Errorf("%+v, %v", d, err)
			}
			testkit.Eventually(t, "documents have it", func() bool { _, n := document(); return n == 2 })
		})
	}
}
