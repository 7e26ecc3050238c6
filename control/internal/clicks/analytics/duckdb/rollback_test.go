package duckdb_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	duck "github.com/duckdb/duckdb-go/v2"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// The release before the column language gives an appender one value for each column of its own schema, and the appender
// expects one for each column of the table. CHANGELOG.md tells operators to remove the later columns before they go back to that
// release. It then stores clicks, and the file works again after the next upgrade.
func TestStore_goes_back_to_the_release_before_languages(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "clicks.duckdb")
	rows := analyticstest.Clicks(1, 20, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 1)
	s := open(t, path)
	testkit.Must(t, errors.Join(s.Insert(t.Context(), analytics.Batch{Rows: rows}), s.Rebuild(t.Context(), distant), s.Close()))
	db, err := sql.Open("duckdb", path)
	testkit.Must(t, err)
	// earlier copies the first click as the previous release would, with another number.
	earlier := func(seq uint64) error {
		var click [32]any // of that release's columns
		to := make([]any, len(click))
		for i := range click {
			to[i] = &click[i]
		}
		const columns = `edge, epoch, lane, seq, ts, link, owner, variant, rule, ip, visitor, country, region, city, device, os, browser, referer, user_agent, bot, bot_name,
			utm_source, utm_medium, utm_campaign, utm_term, utm_content, utm_id, utm_source_platform, geo_version, bot_list, edge_name, edge_region`
		if err := db.QueryRowContext(t.Context(), `SELECT `+columns+` FROM clicks WHERE seq = 1`).Scan(to...); err != nil {
			return err
		}
		click[3] = seq
		conn, err := db.Conn(t.Context())
		if err != nil {
			return err
		}
		defer conn.Close()
		return conn.Raw(func(c any) error {
			a, err := duck.NewAppenderFromConn(c.(driver.Conn), "", "clicks")
			if err != nil {
				return err
			}
			values := make([]driver.Value, len(click))
			for i := range click {
				values[i] = click[i]
			}
			return errors.Join(a.AppendRow(values...), a.Close())
		})
	}
	if earlier(1000) == nil {
		t.Error("the previous release stores clicks in this file, so CHANGELOG.md is wrong")
	}
	if _, err := db.ExecContext(t.Context(), `ALTER TABLE clicks DROP COLUMN participant; ALTER TABLE clicks DROP COLUMN language`); err != nil {
		t.Fatal(err)
	}
	testkit.Must(t, errors.Join(earlier(1001), db.Close()))

	s = open(t, path)
	testkit.Must(t, s.Rebuild(t.Context(), distant))
	var stored []string
	testkit.Must(t, s.Clicks(context.Background(), analytics.Scope{Bots: analytics.Everyone}, 100, func(r *analytics.Row) error {
		stored = append(stored, fmt.Sprint(r.Seq, r.Language))
		return nil
	}))
	if len(stored) != len(rows)+1 || !slices.Contains(stored, "1001") {
		t.Errorf("the file has %q", stored)
	}
	lines, err := s.Lines(t.Context(), analytics.Query{Scope: analytics.Scope{Bots: analytics.Everyone}, By: analytics.Language})
	if err != nil || len(lines) != 1 || lines[0].Clicks != int64(len(stored)) {
		t.Errorf("languages: %+v, %v", lines, err)
	}
}
