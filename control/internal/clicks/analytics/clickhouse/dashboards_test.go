package clickhouse_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/jackc/pgx/v5"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// asked is one SQL text of a dashboard.
type asked struct {
	where  string // the dashboard's file and the name of the panel or variable
	source string // the type of the data source
	text   string
	series bool // a time series: the first column is the time
}

// questions returns all SQL texts of the dashboards.
func questions(t *testing.T) (out []asked) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(testkit.Source(t, "deploy/grafana/dashboards"), "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no dashboards: %v", err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		testkit.Must(t, err)
		type source struct{ Type string }
		var d struct {
			Panels []struct {
				Title   string
				Targets []struct {
					Datasource source
					RawSQL     string `json:"rawSql"`
					QueryType  string
				}
			}
			Templating struct {
				List []struct {
					Name, Type, Definition string
					Datasource             source
				}
			}
		}
		if err := json.Unmarshal(b, &d); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		for _, p := range d.Panels {
			for _, q := range p.Targets {
				if q.RawSQL != "" {
					out = append(out, asked{filepath.Base(f) + ", " + p.Title, q.Datasource.Type, q.RawSQL, q.QueryType == "timeseries"})
				}
			}
		}
		for _, v := range d.Templating.List {
			if v.Type == "query" && v.Datasource.Type != "prometheus" {
				out = append(out, asked{filepath.Base(f) + ", $" + v.Name, v.Datasource.Type, v.Definition, false})
			}
		}
	}
	return out
}

var (
	timeFilter   = regexp.MustCompile(`\$__timeFilter_ms\((\w+)\)`)
	timeInterval = regexp.MustCompile(`\$__timeInterval\((\w+)\)`)
)

// expand replaces macros and variables as Grafana and its ClickHouse plugin do.
func expand(t *testing.T, q asked, from, to time.Time, variables map[string]string) string {
	t.Helper()
	text := timeFilter.ReplaceAllString(q.text, fmt.Sprintf("$1 >= fromUnixTimestamp64Milli(%d) AND $1 <= fromUnixTimestamp64Milli(%d)",
		from.UnixMilli(), to.UnixMilli()))
	text = timeInterval.ReplaceAllString(text, "toStartOfInterval(toDateTime($1), INTERVAL 3600 second)")
	text = strings.NewReplacer("${__from}", fmt.Sprint(from.UnixMilli()), "${__to}", fmt.Sprint(to.UnixMilli()), "$who", "($who)").
		Replace(text)
	for name, value := range variables {
		text = strings.ReplaceAll(text, name, value)
	}
	if strings.Contains(text, "$") {
		t.Errorf("%s: a macro or variable is not replaced: %s", q.where, text)
	}
	return text
}

func TestDashboards_clicks(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 5, 30, 0, 0, 0, 0, time.UTC) // across the end of a month: two partitions
	url := pool.Database(t)
	s := open(t, clickhouse.Config{URL: url})
	rows := analyticstest.Clicks(3, 6000, from, 4)
	identity := rows[len(rows)-1].Identity
	identity.Seq++
	batch := analytics.Batch{Rows: rows, Losses: []analytics.Loss{{Identity: identity, Time: from.UnixMilli(), From: 7, To: 9}}}
	for range 2 { // repetitions must not show
		testkit.Must(t, s.Insert(t.Context(), batch))
	}
	options, err := driver.ParseDSN(url)
	testkit.Must(t, err)
	// With Grafana's user and its settings.
	script, err := os.ReadFile(testkit.Source(t, "deploy/clickhouse/grafana.sh"))
	testkit.Must(t, err)
	const apart = "do_not_merge_across_partitions_select_final"
	if !strings.Contains(string(script), apart+" = 1") {
		t.Errorf("dashboards read months together, which %s would spare", apart)
	}
	options.Settings = driver.Settings{apart: 1}
	conn, err := driver.Open(options)
	testkit.Must(t, err)
	defer conn.Close()

	ran := 0
	for _, q := range questions(t) {
		if q.source != "grafana-clickhouse-datasource" {
			continue
		}
		ran++
		if strings.Contains(q.text, "FROM clicks") && (!strings.Contains(q.text, "FROM clicks FINAL") ||
			!strings.Contains(q.text, "$__timeFilter_ms(ts)")) {
			t.Errorf("%s: asks for all clicks, or sees some twice: %s", q.where, q.text)
		}
		conditions := []string{"NOT bot", "bot", "1"}
		if !strings.Contains(q.text, "$who") {
			conditions = conditions[:1]
		}
		if first := ran % len(conditions); testkit.Size(true, false) { // one of them in make test
			conditions = conditions[first : first+1]
		}
		for _, who := range conditions {
			text := expand(t, q, from, from.AddDate(0, 0, 4), map[string]string{"($who)": "(" + who + ")", "${link:raw}": "1",
				"$__interval_s": "3600"})
			answer, err := conn.Query(t.Context(), text)
			if err != nil {
				t.Errorf("%s: %v: %s", q.where, err, text)
				continue
			}
			n := 0
			for answer.Next() {
				n++
			}
			if err := answer.Err(); err != nil || n == 0 {
				t.Errorf("%s: %d rows, %v: %s", q.where, n, err, text)
			}
			if first := answer.ColumnTypes()[0]; q.series &&
				(answer.Columns()[0] != "time" || !strings.HasPrefix(first.DatabaseTypeName(), "DateTime")) {
				t.Errorf("%s: a series begins with %s %s", q.where, answer.Columns()[0], first.DatabaseTypeName())
			}
			answer.Close()
		}
	}
	if ran < 40 {
		t.Errorf("%d questions were found, which can't be all", ran)
	}

	var clicks uint64
	var lost int64
	for _, q := range questions(t) {
		if q.where == "overview.json, Clicks" && !q.series {
			text := expand(t, q, from, from.AddDate(0, 0, 4), map[string]string{"($who)": "(1)"})
			if err := conn.QueryRow(t.Context(), text).Scan(&clicks); err != nil || clicks != uint64(len(rows)) {
				t.Errorf("the overview shows %d clicks (%v), want %d", clicks, err, len(rows))
			}
		}
		if q.where == "overview.json, Clicks lost" {
			if err := conn.QueryRow(t.Context(), q.text).Scan(&lost); err != nil || lost != 3 {
				t.Errorf("the overview shows %d lost (%v), want 3", lost, err)
			}
		}
	}
}

func TestDashboards_links(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), storetest.PostgresURL(t))
	testkit.Must(t, err)
	defer conn.Close(context.Background())
	for _, sql := range []string{
		`INSERT INTO users (id, email, email_key, role, created_at, updated_at) VALUES ('u', 'a@example.com', 'a@example.com', 'USER', 1, 1)`,
		`INSERT INTO urls (id, user_id, slug, original_url, title, created_at, updated_at) VALUES ('l', 'u', 'sale', 'https://example.com', ` +
			`'It''s on', 1, 1), ('m', 'u', 'other', 'https://example.com', NULL, 1, 1)`,
		`INSERT INTO variants (id, url_id, name, target_url, weight, created_at, updated_at) VALUES ('v', 'l', 'A', 'https://example.com/a', ` +
			`50, 1, 1)`,
		`INSERT INTO routing_rules (id, url_id, name, target_url, conditions, created_at, updated_at) VALUES ('r', 'l', 'phones', ` +
			`'https://example.com/p', '{}', 1, 1)`,
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	// With Grafana's role and its privileges.
	role, err := os.ReadFile(testkit.Source(t, "deploy/postgres/grafana.sql"))
	testkit.Must(t, err)
	grants := regexp.MustCompile(`(?m)^GRANT [^;]+;`).FindAllString(string(role), -1)
	own := "grafana_" + strings.ToLower(rand.Text()) // roles belong to the server, which other tests use
	defer func() {
		if _, err := conn.Exec(context.Background(), "RESET ROLE; DROP OWNED BY "+own+"; DROP ROLE "+own); err != nil {
			t.Error(err)
		}
	}()
	for _, sql := range append(append([]string{"CREATE ROLE grafana"}, grants...), "SET ROLE grafana") {
		if _, err := conn.Exec(t.Context(), regexp.MustCompile(`\bgrafana\b`).ReplaceAllString(sql, own)); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	if _, err := conn.Exec(t.Context(), "SELECT original_url FROM urls"); err == nil {
		t.Error("dashboards can read where links lead")
	}
	ran := 0
	for _, q := range questions(t) {
		if q.source != "grafana-postgresql-datasource" {
			continue
		}
		ran++
		text := expand(t, q, time.Time{}, time.Time{}, map[string]string{"${find:sqlstring}": `'It''s'`, "${link:raw}": "1",
			"${top:csv}":           "1,0",
			"${rules:singlequote}": `'r',''`})
		answer, err := conn.Query(t.Context(), text)
		if err != nil {
			t.Errorf("%s: %v: %s", q.where, err, text)
			continue
		}
		n := 0
		for answer.Next() {
			n++
		}
		if err := answer.Err(); err != nil || n != 1 {
			t.Errorf("%s: %d rows, want 1 (%v): %s", q.where, n, err, text)
		}
	}
	if ran < 5 {
		t.Errorf("%d questions were found, which can't be all", ran)
	}
}
