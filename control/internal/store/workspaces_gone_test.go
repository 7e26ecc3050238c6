package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
)

func TestWorkspaceGone(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		u := addUser(t, s, "ann@example.com", "USER")
		const gone = 1 << 40
		for name, insert := range map[string]func(context.Context, *store.Tx) error{
			"link": func(ctx context.Context, tx *store.Tx) error {
				l := newURL(u, "slug")
				l.Workspace = gone
				return tx.InsertLinks(ctx, []*store.Link{l})
			},
			"bundle": func(ctx context.Context, tx *store.Tx) error {
				return tx.InsertBundle(ctx, &store.Bundle{ID: store.NewID(), UserID: u.ID, Workspace: gone, Name: "n"})
			},
			"webhook": func(ctx context.Context, tx *store.Tx) error {
				return tx.InsertWebhook(ctx, &store.Webhook{ID: store.NewID(), UserID: u.ID, Workspace: gone, Name: "n",
					Events: []string{"url.created"}})
			},
			"key": func(ctx context.Context, tx *store.Tx) error {
				return tx.InsertKey(ctx, store.Key{ID: store.NewID(), UserID: u.ID, Workspace: gone, Name: "n", Lookup: "l"})
			},
		} {
			err := s.Tx(t.Context(), func(tx *store.Tx) error { return insert(t.Context(), tx) })
			if !store.WorkspaceGone(err) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := errors.New("FOREIGN KEY constraint failed"); store.WorkspaceGone(err) || store.WorkspaceGone(nil) {
			t.Error("an error of another kind says that the workspace is gone")
		}
	})
}
