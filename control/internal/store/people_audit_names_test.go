package store_test

import (
	"maps"
	"testing"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
)

// Objects have names as long as they exist. Another workspace does not learn them.
func TestAuditNames(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ann, bob := addUser(t, s, "ann@example.com", "USER"), addUser(t, s, "bob@example.com", "USER")
		u := &store.Link{ID: store.NewID(), UserID: ann.ID, Workspace: ann.Num, Slug: "spring", OriginalURL: "https://example.com",
			CreatedAt: 1,
			UpdatedAt: 1}
		addURLs(t, s, u)
		bundle, hook := addBundle(t, s, ann, "Campaign"), addWebhook(t, s, store.Webhook{UserID: ann.ID, Workspace: ann.Num, Name: "Shop"})
		for kind, want := range map[string][2]string{"url": {u.ID, "/spring"}, "experiment": {u.ID, "/spring"},
			"bundle":  {bundle.ID, "Campaign"},
			"webhook": {hook.ID, "Shop"}} {
			ids := []string{want[0], store.NewID()}
			for workspace, seen := range map[uint64]bool{0: true, ann.Num: true, bob.Num: false} {
				expected := map[string]string{}
				if seen {
					expected[want[0]] = want[1]
				}
				if got, err := s.AuditNames(t.Context(), kind, workspace, ids); err != nil || !maps.Equal(got, expected) {
					t.Errorf("%s in workspace %d: %v, %v", kind, workspace, got, err)
				}
			}
		}
		if got, err := s.AuditNames(t.Context(), "user", 0, []string{bob.ID}); err != nil || got[bob.ID] != "bob@example.com" {
			t.Errorf("%v, %v", got, err)
		}
		if got, err := s.AuditNames(t.Context(), "user", ann.Num, []string{bob.ID}); err != nil || len(got) > 0 {
			t.Errorf("a workspace learns %v, %v", got, err)
		}
		for _, kind := range audit.EntityTypes {
			for _, workspace := range []uint64{0, ann.Num} {
				if got, err := s.AuditNames(t.Context(), kind, workspace, []string{"none"}); err != nil || len(got) > 0 {
					t.Errorf("%s: %v, %v", kind, got, err)
				}
			}
		}
	})
}
