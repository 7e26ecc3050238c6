package clickhouse_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// The store's assumptions must hold over both protocols. Compose files and charts use the native one.
func TestProtocols(t *testing.T) {
	t.Parallel()
	http, native := clickhousetest.Database(t), clickhousetest.NativeDatabase(t)
	for name, url := range map[string]string{
		"http": http, "http_zstd": http + "&compress=zstd",
		"native": native + "&compress=lz4", "native_zstd": native + "&compress=zstd", "native_plain": native,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options, err := driver.ParseDSN(url)
			testkit.Must(t, err)
			conn, err := driver.Open(options)
			testkit.Must(t, err)
			defer conn.Close()
			ctx := t.Context()
			testkit.Must(t, conn.Ping(ctx))

			var setting, text, missing string
			limited := driver.Context(ctx, driver.WithSettings(driver.Settings{"max_block_size": 7}))
			if err := conn.QueryRow(limited, "SELECT toString(getSetting('max_block_size'))").Scan(&setting); err != nil || setting != "7" {
				t.Errorf("a setting of a statement is %q there, %v", setting, err)
			}
			if err := conn.QueryRow(ctx, "SELECT toString(getSetting('max_block_size'))").Scan(&setting); err != nil || setting == "7" {
				t.Errorf("a setting outlives its statement: %q, %v", setting, err)
			}
			var number int64
			if err := conn.QueryRow(ctx, "SELECT {n:Int64}, {s:String}", driver.Named("n", "-9007199254740993"),
				driver.Named("s", "it's ünïcode")).Scan(&number, &text); err != nil || number != -9007199254740993 ||
				text != "it's ünïcode" {
				t.Errorf("parameters came back as %d, %q, %v", number, text, err)
			}

			table := "t_" + name
			testkit.Must(t,
				conn.Exec(ctx, "CREATE TABLE "+table+
					" (n UInt64, s String, l LowCardinality(String), at DateTime64(3, 'UTC'), ip IPv6, later String DEFAULT 'x') ENGINE = MergeTree "+
					"ORDER BY n"))
			rows, err := conn.Query(ctx, "SELECT l, n FROM "+table)
			testkit.Must(t, err)
			if rows.Next() || rows.Err() != nil || strings.HasPrefix(name, "native") && strings.Join(rows.Columns(), " ") != "l n" {
				t.Errorf("of an empty table: columns %v, %v", rows.Columns(), rows.Err())
			}
			rows.Close()

			// Two consecutive line feeds end the data behind a statement's text.
			const n = 30_000
			day := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
			batch, err := conn.PrepareBatch(ctx, "INSERT INTO "+table+" (s, n, at, l, ip)")
			testkit.Must(t, err)
			for i := range n {
				testkit.Must(t, batch.Append("a\n\nb", uint64(i), day.Add(time.Duration(i)*time.Millisecond), []string{"x", "", "y"}[i%3],
					"2001:db8::1"))
			}
			testkit.Must(t, batch.Send())
			rows, err = conn.Query(ctx, "SELECT n, s, l, at, later FROM "+table+" ORDER BY n")
			testkit.Must(t, err)
			seen := 0
			for rows.Next() {
				var i uint64
				var s, l, later string
				var at time.Time
				testkit.Must(t, rows.Scan(&i, &s, &l, &at, &later))
				if i != uint64(seen) || s != "a\n\nb" || l != []string{"x", "", "y"}[i%3] || later != "x" ||
					!at.Equal(day.Add(time.Duration(i)*time.Millisecond)) {
					t.Fatalf("row %d: %d %q %q %v %q", seen, i, s, l, at, later)
				}
				seen++
			}
			if err := rows.Err(); err != nil || seen != n {
				t.Errorf("%d rows came back, want %d (%v)", seen, n, err)
			}
			rows.Close()

			// An abandoned insert adds nothing.
			batch, err = conn.PrepareBatch(ctx, "INSERT INTO "+table+" (n)")
			testkit.Must(t, err)
			testkit.Must(t, errors.Join(batch.Append(uint64(1)), batch.Abort()))
			var all uint64
			if err := conn.QueryRow(ctx, "SELECT count() FROM "+table).Scan(&all); err != nil || all != n {
				t.Errorf("%d rows after an insert was given up, want %d (%v)", all, n, err)
			}

			// A failing statement returns an error, and the next statement works.
			err = conn.QueryRow(ctx, "SELECT x FROM nowhere").Scan(&missing)
			if err == nil || !strings.Contains(err.Error(), "60") || !strings.Contains(err.Error(), "nowhere") {
				t.Errorf("a missing table: %v", err)
			}
			var typed *driver.Exception
			if strings.HasPrefix(name, "native") && (!errors.As(err, &typed) || typed.Code != 60) {
				t.Errorf("a missing table: %#v", err)
			}
			if err := conn.QueryRow(driver.Context(ctx, driver.WithSettings(driver.Settings{"max_execution_time": 1, "max_block_size": 1})),
				"SELECT sum(sleepEachRow(0.1)) FROM numbers(600)").Scan(&all); err == nil || !strings.Contains(err.Error(), "159") {
				t.Errorf("a statement over its time: %v", err)
			}
			if err := conn.QueryRow(ctx, "SELECT count() FROM "+table).Scan(&all); err != nil || all != n {
				t.Errorf("after failures: %d, %v", all, err)
			}
			patience, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
			defer cancel()
			if err := conn.QueryRow(patience, "SELECT sleep(1)").Scan(new(uint8)); err == nil {
				t.Error("a statement whose client has given up succeeded")
			}
		})
	}
	t.Run("missing_database", func(t *testing.T) {
		t.Parallel()
		missing := strings.Replace(native, "?", "_new?", 1)
		s := open(t, clickhouse.Config{URL: missing})
		defer drop(t, http, missing)
		defer s.Close()
		insert(t, s, row(time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)))
		testkit.Equal(t, count(t, s), 1, "clicks")
	})
}
