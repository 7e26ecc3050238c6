package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// A fleet with two shards is backed up while it runs and one of its workspaces moves, and restored into two other shards.
func TestBackup_of_shards(t *testing.T) {
	key := strings.Repeat("e", 32)
	two := func() map[string]string {
		return map[string]string{"ROLES": "api,ingest", "DATABASE_URL": storetest.PostgresURL(t), "CLICKHOUSE_URLS": "main=" +
			clickhousetest.Database(t) + ",b=" + clickhousetest.Database(t)}
	}
	use := func(env map[string]string) {
		for k, v := range env {
			t.Setenv(k, v)
		}
		t.Setenv("ENCRYPTION_KEY", key)
		t.Setenv("DATA_DIR", t.TempDir())
	}
	from := two()
	p := start(t, from)
	p.until(t, 200, "")
	use(from)
	says(t, 0, "can be assigned to b", "open-shard", "b")

	st, err := store.Open(t.Context(), store.Config{URL: from["DATABASE_URL"]})
	testkit.Must(t, err)
	defer st.Close()
	at := clicksAt{URLs: config.Secret(from["CLICKHOUSE_URLS"])}
	directory, _, end, err := at.running(t.Context(), st)
	testkit.Must(t, err)
	list, _ := at.shards()
	stores, err := at.each(t.Context(), list)
	testkit.Must(t, err)
	all := allShards(list, stores, directory)
	defer all.Close()
	rows := analyticstest.Clicks(41, 2000, noon(-40), 6)
	testkit.Must(t,
		all.Insert(t.Context(), analytics.Batch{Rows: rows, Marks: []analytics.Mark{{Lane: rows[0].Lane, Seq: rows[len(rows)-1].Seq}}}))
	// The copy of a workspace that moves must not be in the backup.
	moving := map[string]string{"main": "b", "b": "main"}
	var source string
	found := map[uint64]string{}
	testkit.Must(t, st.ClickShardsOf(t.Context(), []uint64{rows[0].Owner}, found))
	source = found[rows[0].Owner]
	testkit.Must(t, st.Tx(t.Context(), func(tx *store.Tx) error {
		r := store.ClickMoveRunner{ID: 1}
		_, err := tx.BeginClickMove(t.Context(), 1, []uint64{rows[0].Owner}, source, moving[source], r)
		if err == nil {
			_, err = tx.SetClickMovePhase(t.Context(), 1, r, store.ClickMoveAnnounced, store.ClickMoveBoth)
		}
		if err == nil {
			err = tx.LeaveClickMove(t.Context(), 1, r)
		}
		return err
	}))
	testkit.Must(t, directory.Refresh(t.Context()))
	testkit.Must(t, all.Insert(t.Context(), analytics.Batch{Rows: rows}))
	counts := func(urls string) map[uint64]map[string]int64 {
		t.Helper()
		at := clicksAt{URLs: config.Secret(urls)}
		list, _ := at.shards()
		stores, err := at.each(t.Context(), list)
		testkit.Must(t, err)
		n := map[uint64]map[string]int64{}
		for name, s := range stores {
			for owner := uint64(1); owner <= 6; owner++ {
				lines, err := s.Lines(t.Context(), analytics.Query{Scope: analytics.Scope{Owner: owner, Bots: analytics.Everyone}})
				testkit.Must(t, err)
				if lines[0].Clicks > 0 {
					if n[owner] == nil {
						n[owner] = map[string]int64{}
					}
					n[owner][name] = lines[0].Clicks
				}
			}
			_ = s.Close()
		}
		return n
	}
	before := counts(from["CLICKHOUSE_URLS"])
	if len(before[rows[0].Owner]) != 2 {
		t.Fatalf("the workspace that moves is in %v", before[rows[0].Owner])
	}
	delete(before[rows[0].Owner], moving[source])
	testkit.Must(t, end())
	to := filepath.Join(t.TempDir(), "backup")
	says(t, 0, "and 2000 clicks", "backup", to)

	target := two()
	use(target)
	t.Setenv("CLICKHOUSE_URLS", strings.Split(target["CLICKHOUSE_URLS"], ",b=")[0])
	says(t, 1, "missing: b", "restore", to)
	t.Setenv("CLICKHOUSE_URLS", target["CLICKHOUSE_URLS"])
	says(t, 0, "2000 clicks", "restore", to)
	after := counts(target["CLICKHOUSE_URLS"])
	for owner := range before {
		if !maps.Equal(after[owner], before[owner]) {
			t.Errorf("workspace %d has %v clicks after the restore, want %v", owner, after[owner], before[owner])
		}
	}
	if len(after) != len(before) {
		t.Errorf("after the restore: %v, before: %v", after, before)
	}
	restored := start(t, target) // it would refuse shards with other identities
	restored.until(t, 200, "")
	says(t, 0, "interrupted; the same command continues it", "shards")
	says(t, 0, "the move is cancelled", "move-workspace", "-cancel", fmt.Sprintf("number:%d", rows[0].Owner))
}
