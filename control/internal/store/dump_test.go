package store_test

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

type buffer struct{ bytes.Buffer }

func (*buffer) Close() error { return nil }

// dump returns a dump of a database.
func dump(t *testing.T, url string) (store.Dumped, map[string][]byte) {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{URL: url})
	testkit.Must(t, err)
	defer s.Close()
	parts := map[string]*buffer{}
	d, err := s.Dump(t.Context(), func(table string) (io.WriteCloser, error) {
		parts[table] = &buffer{}
		return parts[table], nil
	})
	testkit.Must(t, err)
	content := map[string][]byte{}
	for name, b := range parts {
		content[name] = b.Bytes()
	}
	return d, content
}

func restore(ctx context.Context, url string, d store.Dumped, content map[string][]byte) error {
	return store.Restore(ctx, store.Config{URL: url}, d, store.RestoreOptions{}, func(table string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content[table])), nil
	})
}

// A backup from before the baseline is refused before anything changes, and so is a database.
func TestS11_a_backup_from_before_the_first_release(t *testing.T) {
	t.Parallel()
	url := storetest.PostgresURL(t)
	d, content := dump(t, url)
	into := storetest.EmptyPostgresURL(t)
	old := d
	old.Schema = 50
	if err := restore(t.Context(), into, old, content); err == nil || !strings.Contains(err.Error(), "the backup has schema 50") {
		t.Errorf("an old backup: %v", err)
	}
	var tables int
	testkit.Must(t, connectTo(t, "postgres", into).QueryRow(`SELECT count(*) FROM pg_tables WHERE schemaname = 'public'`).Scan(&tables))
	testkit.Equal(t, tables, 0, "tables after the refusal")
	age(t, "postgres", connectTo(t, "postgres", url))
	if err := store.Restorable(t.Context(), store.Config{URL: url}, d, true); err == nil ||
		!strings.Contains(err.Error(), "the database has schema 50") {
		t.Errorf("an old database: %v", err)
	}
}

// A restored database gives no number of a workspace to another one. The tables may come in any order, because
// other releases dump them in other orders.
func TestRestore_workspaces(t *testing.T) {
	t.Parallel()
	from, into := storetest.PostgresURL(t), storetest.EmptyPostgresURL(t)
	s, err := store.Open(t.Context(), store.Config{URL: from})
	testkit.Must(t, err)
	defer s.Close()
	var team store.Workspace
	inTx(t, s, func(ctx context.Context, tx *store.Tx) (err error) {
		if _, err := tx.Exec(ctx,
			`INSERT INTO users (id, email, email_key, role, created_at, updated_at) VALUES ('u', 'u', 'u', 'USER', 1, 1)`); err != nil {
			return err
		}
		team = store.Workspace{ID: store.NewID(), Name: "Team", Slug: "team", CreatedAt: 1, UpdatedAt: 1}
		if err := tx.InsertWorkspace(ctx, &team, "u"); err != nil {
			return err
		}
		_, err = tx.Exec(ctx,
			`INSERT INTO urls (id, user_id, workspace_num, slug, original_url, created_at, updated_at) VALUES ('l', 'u', ?, 'l', `+
				`'https://example.com/', 1, 1)`, team.Num)
		return err
	})
	d, content := dump(t, from)
	slices.Reverse(d.Tables)
	testkit.Must(t, restore(t.Context(), into, d, content))
	again, err := store.Open(t.Context(), store.Config{URL: into})
	testkit.Must(t, err)
	defer again.Close()
	inTx(t, again, func(ctx context.Context, tx *store.Tx) error {
		next := store.Workspace{ID: store.NewID(), Name: "Next", Slug: "next", CreatedAt: 1, UpdatedAt: 1}
		if err := tx.InsertWorkspace(ctx, &next, "u"); err != nil {
			return err
		}
		if next.Num <= team.Num+1000 {
			t.Errorf("number %d after %d: a lost workspace may have had it", next.Num, team.Num)
		}
		return nil
	})
	var n uint64
	testkit.Must(t, again.Row(t.Context(), `SELECT workspace_num FROM urls WHERE id = 'l'`).Scan(&n))
	testkit.Equal(t, n, team.Num, "the workspace of the link")
}
