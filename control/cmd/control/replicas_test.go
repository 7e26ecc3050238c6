package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testkit"
)

// says repeats a command until it ends with the exit code want and a text in its output. Backups and restores are not repeated.
func says(t *testing.T, want int, text string, args ...string) {
	t.Helper()
	testkit.Eventually(t, fmt.Sprintf("%s: %d %q", strings.Join(args, " "), want, text), func() bool {
		code, out := call(t, args...)
		ok := code == want && strings.Contains(out, text)
		if !ok && (args[0] == "backup" || args[0] == "restore") {
			t.Fatalf("%s: %d\n%s", strings.Join(args, " "), code, out)
		}
		return ok
	})
}

// noon returns the middle of the UTC day that is some days after today. Clicks of six days from there have dates of seven days, at
// whatever time the test runs.
func noon(days int) time.Time {
	return time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, days).Add(12 * time.Hour)
}

// The life of a second server: it is added to a fleet that has clicks, it fails and comes back, it is in backups and restores, and it is
// removed.
func TestStart_with_replicas(t *testing.T) {
	engine := clickhousetest.Start(t, t.TempDir())
	near, far := clickhousetest.Database(t), engine.URL("clicks")
	other := ",b=" + clickhousetest.Database(t) // a shard with one server
	db := storetest.PostgresURL(t)
	set := func(env map[string]string) {
		for k, v := range env {
			t.Setenv(k, v)
		}
	}
	before := map[string]string{"ROLES": "api,ingest", "DATABASE_URL": db, "CLICKHOUSE_URL": near}
	p := start(t, before)
	p.until(t, 200, "")
	p.end()
	one, err := clickhouse.Open(t.Context(), clickhouse.Config{URL: near})
	testkit.Must(t, err)
	defer one.Close()
	rows := analyticstest.Clicks(41, 2000, noon(-40), 6)
	testkit.Must(t, one.Insert(t.Context(), analytics.Batch{Rows: rows, Marks: []analytics.Mark{{Lane: rows[0].Lane, Seq: rows[len(rows)-1].Seq}}}))

	env := map[string]string{"ROLES": "api,ingest", "DATABASE_URL": db, "CLICKHOUSE_URLS": "main=" + near + "|" + far + other}
	set(map[string]string{"ENCRYPTION_KEY": strings.Repeat("e", 32), "DATA_DIR": t.TempDir(), "DATABASE_URL": db, "CLICKHOUSE_URLS": env["CLICKHOUSE_URLS"]})
	p = start(t, env)
	p.until(t, 200, "")
	says(t, 0, address(far)+": in sync", "shards")
	says(t, 0, "2 servers, 7 days compared", "verify-replicas")
	if n := stored(t, far); n != 2000 {
		t.Errorf("the new server has %d clicks", n)
	}
	says(t, 0, "0 clicks are missing", "verify-clicks")
	t.Run("a server is down", func(t *testing.T) {
		engine.Kill()
		says(t, 1, strings.TrimSuffix(address(far), "/clicks"), "verify-replicas")
		p.until(t, 200, "")
		says(t, 0, "0 clicks are missing", "verify-clicks")
		engine.Restart(t)
	})
	folder := filepath.Join(t.TempDir(), "backup")
	says(t, 0, "and 2000 clicks", "backup", folder)
	t.Run("restore", func(t *testing.T) {
		a, b := clickhousetest.Database(t), clickhousetest.Database(t)
		to := map[string]string{"ROLES": "api,ingest", "DATABASE_URL": storetest.PostgresURL(t), "CLICKHOUSE_URLS": "main=" + a + "|" + b + ",b=" + clickhousetest.Database(t)}
		set(map[string]string{"DATABASE_URL": to["DATABASE_URL"], "CLICKHOUSE_URLS": to["CLICKHOUSE_URLS"]})
		says(t, 0, "2000 clicks", "restore", folder)
		for _, url := range []string{a, b} {
			if n := stored(t, url); n != 2000 {
				t.Errorf("%d clicks were restored", n)
			}
		}
		restored := start(t, to)
		restored.until(t, 200, "")
		says(t, 0, address(b)+": in sync", "shards")
		says(t, 0, "2 servers, 7 days compared", "verify-replicas")
		restored.end()
	})
	set(map[string]string{"DATABASE_URL": db, "CLICKHOUSE_URLS": env["CLICKHOUSE_URLS"]})
	p.end()
	fails(t, map[string]string{"DATABASE_URL": db, "CLICKHOUSE_URLS": "main=" + near + other}, fmt.Sprintf(`the server %s of the shard "main" is missing`, address(far)))
	says(t, 1, "the shard \"main\" has no server x", "remove-replica", "main", "x")
	says(t, 0, "is no longer used", "remove-replica", "main", address(far))
	p = start(t, map[string]string{"ROLES": "api,ingest", "DATABASE_URL": db, "CLICKHOUSE_URLS": "main=" + near + other})
	p.until(t, 200, "")
	says(t, 0, "was forgotten", "remove-replica", "main", address(far))
	p.end()
}

// A server whose tables are those of an earlier release is upgraded when a process opens it. A server that cannot be upgraded is
// named with the migration and the reason. Meanwhile the other server of the shard answers. When the reason is gone, the server is used
// again, and has all clicks.
func TestStart_with_an_older_schema(t *testing.T) {
	near, far := clickhousetest.Database(t), clickhousetest.Database(t)
	db := storetest.PostgresURL(t)
	env := map[string]string{"ROLES": "api,ingest", "DATABASE_URL": db, "CLICKHOUSE_URLS": "main=" + near + "|" + far}
	t.Setenv("DATABASE_URL", db)
	t.Setenv("CLICKHOUSE_URLS", env["CLICKHOUSE_URLS"])
	const complete = "2 servers, 7 days compared"
	p := start(t, env)
	p.until(t, 200, "")
	says(t, 0, address(far)+": in sync", "shards")
	p.end()
	rows := analyticstest.Clicks(43, 500, noon(-40), 6)
	for _, url := range []string{near, far} {
		s, err := clickhouse.Open(t.Context(), clickhouse.Config{URL: url})
		testkit.Must(t, err)
		err = s.Insert(t.Context(), analytics.Batch{Rows: rows, Marks: []analytics.Mark{{Lane: rows[0].Lane, Seq: rows[len(rows)-1].Seq}}})
		testkit.Must(t, errors.Join(err, s.Close()))
	}

	statement := func(text string) string {
		t.Helper()
		at := strings.LastIndexByte(far, '/')
		out, err := clickhousetest.At(far[:at]+"?database="+far[at+1:]).Ask(t.Context(), text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return out
	}
	older := func() {
		t.Helper()
		for _, text := range []string{"DROP VIEW rollup_sampled", "DROP TABLE rollup_sample", "ALTER TABLE migrations DELETE WHERE version >= 9 SETTINGS mutations_sync = 2"} {
			statement(text)
		}
	}
	older()
	p = start(t, env)
	p.until(t, 200, "")
	says(t, 0, complete, "verify-replicas")
	if has := statement("EXISTS rollup_sample"); has != "1" {
		t.Error("the server was not upgraded")
	}
	p.end()

	older()
	statement("CREATE TABLE rollup_sample (other UInt8) ENGINE = Memory")
	p = start(t, env)
	p.until(t, 200, "")
	for _, want := range []string{`"store":"ClickHouse server ` + address(far) + `"`, "0009_rollup_sample.sql"} {
		testkit.Eventually(t, "the log says "+want, func() bool { return strings.Contains(p.output.String(), want) })
	}
	says(t, 1, "0009_rollup_sample.sql", "verify-replicas")
	if n := stored(t, near); n != 500 {
		t.Errorf("%d clicks", n)
	}
	used := func(want int) {
		t.Helper()
		testkit.Eventually(t, fmt.Sprintf("the metric of the server is %d", want), func() bool {
			_, text := p.ask(t, "GET", "http://"+p.ops+"/metrics", "")
			return strings.Contains(text, fmt.Sprintf(`shortline_click_replica_in_sync{server="%s",shard="main"} %d`, address(far), want))
		})
	}
	used(0)
	statement("DROP TABLE rollup_sample")
	says(t, 0, complete, "verify-replicas")
	used(1)
}
