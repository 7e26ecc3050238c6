package api_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/manage/abuse"
	"github.com/shortline/shortline/control/internal/manage/screening"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	visitors "github.com/shortline/shortline/shared/abuse"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// saved is a database that can be backed up, with a function that restores the backup into a new database.
type saved struct {
	open   func(t *testing.T) *store.Store
	backup func(t *testing.T, s *store.Store) (restored *store.Store)
}

// dialects are the two databases with their backups: a copy of the file, and a dump.
var dialects = map[string]saved{
	"sqlite": {func(t *testing.T) *store.Store { return storetest.Open(t) }, func(t *testing.T, s *store.Store) *store.Store {
		path := filepath.Join(t.TempDir(), "copy.db")
		if _, err := s.CopyTo(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		return opened(t, "sqlite:"+path, 0)
	}},
	"postgres": {func(t *testing.T) *store.Store { return opened(t, storetest.PostgresURL(t), 0) },
		func(t *testing.T, s *store.Store) *store.Store {
			parts := map[string]*part{}
			d, err := s.Dump(t.Context(), func(table string) (io.WriteCloser, error) {
				parts[table] = &part{}
				return parts[table], nil
			})
			into := storetest.EmptyPostgresURL(t)
			if err == nil {
				err = store.Restore(t.Context(), store.Config{URL: into}, d, store.RestoreOptions{},
					func(table string) (io.ReadCloser, error) {
						return io.NopCloser(&parts[table].Buffer), nil
					})
			}
			testkit.Must(t, err)
			return opened(t, into, 0)
		}},
}

type part struct{ bytes.Buffer }

func (*part) Close() error { return nil }

// tables returns every table with its rows as texts, in order.
func (w *world) tables(postgres bool) map[string][]string {
	w.t.Helper()
	ctx, out := w.t.Context(), map[string][]string{}
	text := func(row interface{ Scan(...any) error }) (s string, err error) { return s, row.Scan(&s) }
	w.ok(w.store.View(ctx, func(c store.Conn) error {
		list := `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name`
		if postgres {
			list = `SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1`
		}
		names, err := store.All(ctx, c, text, list)
		if err != nil {
			return err
		}
		for _, name := range names {
			query := fmt.Sprintf(`SELECT x::text FROM %s x`, name)
			if !postgres {
				columns, err := store.All(ctx, c, text, `SELECT 'quote(' || name || ')' FROM pragma_table_info(?)`, name)
				if err != nil {
					return err
				}
				query = fmt.Sprintf(`SELECT %s FROM %s`, strings.Join(columns, ` || ',' || `), name)
			}
			rows, err := store.All(ctx, c, text, query)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			slices.Sort(rows)
			out[name] = rows
		}
		return nil
	}))
	return out
}

// A restored backup has the trash, history, tags, templates, missing slugs, abuse cases and counts of limits, and all of
// them can be used.
func TestBackup_has_a_links_whole_life(t *testing.T) {
	t.Parallel()
	for dialect, d := range dialects {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			var guard *abuse.Service
			configure := func(w *world, c *api.Config, d *api.Deps) {
				whole(w, c, d)
				guard = abuse.New(abuse.Config{Screening: screening.New(screening.Config{Logger: c.Logger}), Logger: c.Logger}, w.store)
				d.Abuse = guard
			}
			w := newWorld(t, d.open(t), configure)
			life := w.live(guard)
			before := w.tables(dialect == "postgres")
			for _, name := range life.tables {
				if len(before[name]) == 0 {
					t.Errorf("the test puts nothing into %s", name)
				}
			}
			r := replica(w, d.backup(t, w.store), configure)
			r.root, r.ann = w.root, w.ann
			after := r.tables(dialect == "postgres")
			for name, rows := range before {
				// incarnation; times of migrations
				if name != "config_head" && name != "goose_db_version" && !slices.Equal(rows, after[name]) {
					t.Errorf("%s was\n%.2000s\nand is\n%.2000s", name, strings.Join(rows, "\n"), strings.Join(after[name], "\n"))
				}
			}
			life.check(r)
		})
	}
}

// life is what a test has done in a world.
type life struct {
	tables       []string // that must have rows
	kept, gone   string   // ids of links
	rule         string   // of gone
	bundle       string
	answers      map[string]string // by path
	highest      uint64            // number of a link
	limited, bad string
}

// live uses everything that follows a link through its life.
func (w *world) live(guard *abuse.Service) *life {
	t, ctx := w.t, w.t.Context()
	post := func(path, body string) string {
		t.Helper()
		return w.do("POST", path, body, as(w.ann)).want(201).str("id")
	}
	const rule = `{"name":"R","targetUrl":"https://rule.example","conditions":{"operator":"AND","conditions":[{"type":"country","operator":"in","value":["DE"]}]}}`
	l := &life{tables: []string{
		"urls", "routing_rules", "variants", "bundles", "bundle_urls", "link_history", "link_trash", "tags", "url_tags", "utm_templates",
		"saved_views", "shared_reports", "segments", "annotations", "mail_reports", "mail_report_recipients", "missing_slugs",
		"missing_marks", "abuse_cases",
		"limit_counts", "limit_totals", "limit_head", "link_counts", "utm_values", "audit_logs", "destination_checks",
	}}
	start := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	l.kept = post("/api/urls",
		`{"originalUrl":"https://example.com/1","customSlug":"kept","externalId":"x-1","tags":["red","été"],"notes":"a\tb\\n","startsAt":"`+
			start+`","expiredUrl":"https://over.example","redirectCode":308,"utmCampaign":"spring"}`)
	post("/api/urls/"+l.kept+"/routing-rules", rule)
	post("/api/urls/"+l.kept+"/variants", `{"name":"V","targetUrl":"https://variant.example"}`)
	w.do("PUT", "/api/urls/"+l.kept, `{"originalUrl":"https://example.com/2","title":"Second"}`, as(w.ann)).want(200)
	l.limited, l.bad = post("/api/urls", `{"originalUrl":"https://example.com","customSlug":"limited","maxClicks":3}`), w.create("bad")
	l.gone = post("/api/urls", `{"originalUrl":"https://example.com/gone","customSlug":"gone","tags":["red"],"externalId":"x-2"}`)
	l.rule = post("/api/urls/"+l.gone+"/routing-rules", rule)
	l.bundle = post("/api/bundles", fmt.Sprintf(`{"name":"B","urlIds":[%q,%q]}`, l.kept, l.gone))
	post("/api/utm-templates", `{"name":"Newsletter","utmSource":"news","utmMedium":"email"}`)
	post("/api/annotations", `{"at":"2026-11-27T08:00:00Z","text":"Newsletter","urlId":"`+l.kept+`"}`)
	post("/api/mail-reports", `{"name":"Weekly","every":"WEEK","recipients":["ann@example.com","out@example.org"]}`)
	post("/api/segments", `{"name":"Phones","filters":{"device":["MOBILE"]}}`)
	post("/api/views", `{"name":"Mine","screen":"links","query":"tag=red"}`)
	post("/api/shared-reports", `{"name":"Spring","about":"workspace","password":"correct horse","expiresAt":"2099-01-01"}`)
	w.do("DELETE", "/api/urls/"+l.gone, "", as(w.ann)).want(204) // the link with the highest number
	w.ok(w.store.Row(ctx, `SELECT num FROM link_trash`).Scan(&l.highest))

	u := w.row(l.limited)
	day := time.Now().Unix() / 86400
	w.ok(w.store.Tx(ctx, func(tx *store.Tx) error {
		count := store.LimitCount{LimitKey: store.LimitKey{Link: u.Num, Since: u.LimitSince}, Counter: 1 << 63, Clicks: 2}
		if _, err := tx.RaiseLimitCounts(ctx, []store.LimitCount{count}); err != nil {
			return err
		}
		return tx.CountMissing(ctx, "edge-1", "run", 7, day, store.Now(), []store.Missing{{Slug: "nowhere", Count: 5}})
	}))
	w.ok(guard.Accept(ctx, visitors.Report{
		Link: w.row(l.bad).Num, Reason: "SPAM", Text: "It is \"spam\"\\.", Client: netip.MustParseAddr("192.0.2.1"),
	}))
	w.do("POST", "/api/urls/"+l.bad+"/suspend", `{"reason":"It is spam."}`, as(w.root)).want(200)
	w.ok(guard.Accept(ctx, visitors.Report{Link: u.Num, Reason: "OTHER", Client: netip.MustParseAddr("192.0.2.1")}))
	w.exec(`INSERT INTO destination_checks (name, version, after_num, started_at, finished_at, holder, lease_until) VALUES ('BLOCKLIST', ` +
		`'list 1', 1, 2, 0, 'h', 3)`)

	l.answers = map[string]string{}
	for _, path := range []string{
		"/api/urls", "/api/urls?tag=red", "/api/urls?status=DELETED", "/api/urls/" + l.kept, "/api/urls/" + l.kept + "/history",
		"/api/tags",
		"/api/utm-templates", "/api/views", "/api/shared-reports", "/api/bundles/" + l.bundle,
		"/api/analytics/missing", "/api/admin/reports", "/api/urls/" + l.limited, "/api/urls/" + l.bad, "/api/urls/by-external-id/x-1",
		"/api/urls/stats",
	} {
		l.answers[path] = w.do("GET", path, "", as(w.reader(path))).want(200).text
	}
	return l
}

// reader returns the token of a user who may read a path.
func (w *world) reader(path string) string {
	if strings.HasPrefix(path, "/api/admin/") || path == "/api/analytics/missing" {
		return w.root
	}
	return w.ann
}

// check compares a restored world with the one that was backed up, and uses what was restored.
func (l *life) check(w *world) {
	t, ctx := w.t, context.WithoutCancel(w.t.Context())
	for path, was := range l.answers {
		if is := w.do("GET", path, "", as(w.reader(path))).want(200).text; is != was {
			t.Errorf("%s answered\n%s\nand answers\n%s", path, was, is)
		}
	}
	// A new link gets no number of a link in the trash, whose clicks would count for it.
	fresh := w.row(w.create("fresh"))
	if fresh.Num <= l.highest {
		t.Errorf("the new link has number %d, and the one in the trash %d", fresh.Num, l.highest)
	}
	w.do("POST", "/api/urls/"+l.gone+"/restore", `{}`, as(w.ann)).want(200).shows("slug", "gone", "externalId", "x-2", "tags.0", "red")
	w.do("GET", "/api/urls/"+l.gone+"/routing-rules/"+l.rule, "", as(w.ann)).want(200)
	w.do("GET", "/api/bundles/"+l.bundle, "", as(w.ann)).want(200).shows("urls.1.id", l.gone)
	first := w.do("GET", "/api/urls/"+l.kept+"/history", "", as(w.ann)).want(200)
	oldest := first.at("data").([]any)
	revision := oldest[len(oldest)-1].(map[string]any)["revision"]
	w.do("POST", "/api/urls/"+l.kept+"/rollback", fmt.Sprintf(`{"revision":%v}`, revision), as(w.ann)).want(200).
		shows("originalUrl", "https://example.com/1")
	w.do("POST", "/api/tags", `{"name":"RED"}`, as(w.ann)).want(409)
	w.do("POST", "/api/utm-templates", `{"name":"newsletter"}`, as(w.ann)).want(409)
	w.do("DELETE", "/api/urls/"+l.bad+"/suspend", "", as(w.root)).want(204)
	// The counts of the limit go on where they were.
	u := w.row(l.limited)
	w.ok(w.store.Tx(ctx, func(tx *store.Tx) error {
		_, err := tx.RaiseLimitCounts(ctx,
			[]store.LimitCount{{LimitKey: store.LimitKey{Link: u.Num, Since: u.LimitSince}, Counter: 2, Clicks: 1}})
		return err
	}))
	w.do("GET", "/api/urls/"+l.limited, "", as(w.ann)).want(200).shows("status", "EXHAUSTED")
}
