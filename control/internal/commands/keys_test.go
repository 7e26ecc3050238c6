package commands_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/commands"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func TestKeys_lists_keys_and_marks_legacy_ones(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		u := store.User{ID: store.NewID(), Email: "ann@example.com", Role: "USER", Active: true}
		team := store.Workspace{ID: store.NewID(), Name: "Team", Slug: "the-team"}
		at := int64(1_800_000_000_000)
		testkit.Must(t, st.Tx(t.Context(), func(tx *store.Tx) error {
			ctx := t.Context()
			if _, err := tx.InsertUser(ctx, u); err != nil {
				return err
			}
			if err := tx.InsertWorkspace(ctx, &team, u.ID); err != nil {
				return err
			}
			if err := tx.InsertKey(ctx, store.Key{ID: "1", UserID: u.ID, Name: "old\n\x1b[31m\u202e\tname", Prefix: "sl_AAAAAAA",
				Lookup:    "1",
				CreatedAt: 1}); err != nil {
				return err
			}
			if err := tx.InsertKey(ctx, store.Key{
				ID: "2", UserID: u.ID, Workspace: team.Num, Name: "neu ✓", Prefix: "sl_BBBBBBB", Lookup: "2", CreatedAt: 2,
				Checksummed: true,
				Scopes:      "links:read analytics:read", AllowedIPs: "10.0.0.0/8 2001:db8::/32", ExpiresAt: &at,
			}); err != nil {
				return err
			}
			return tx.NoteKeyUse(ctx, "2", "10.1.2.3", at)
		}))
		list := func(args ...string) []string {
			t.Helper()
			var out bytes.Buffer
			testkit.Must(t, commands.Keys(context.Background(), args, st, &out))
			lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
			for i := range lines {
				lines[i] = strings.Join(strings.Fields(lines[i]), " ")
			}
			return lines
		}
		old := `sl_AAAAAAA… LEGACY ann@example.com personal 1970-01-01T00:00Z never - never all all "old\n\x1b[31m\u202e\tname"`
		want := []string{
			"KEY FORM USER WORKSPACE CREATED LAST USED FROM EXPIRES SCOPES ALLOWED NAME",
			`sl_BBBBBBB… - ann@example.com the-team 1970-01-01T00:00Z 2027-01-15T08:00Z 10.1.2.3 2027-01-15T08:00Z links:read,analytics:read ` +
				`10.0.0.0/8,2001:db8::/32 "neu ✓"`,
			old, "2 API keys, 1 of them legacy",
		}
		if got := list(); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if got := list("-legacy"); len(got) != 3 || got[1] != old {
			t.Errorf("-legacy lists\n%s", strings.Join(got, "\n"))
		}
		if err := commands.Keys(context.Background(), []string{"ann"}, st, &bytes.Buffer{}); err == nil {
			t.Error("an unknown argument is accepted")
		}
	})
}
