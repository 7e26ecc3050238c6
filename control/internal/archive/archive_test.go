package archive_test

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/shortline/shortline/control/internal/archive"
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// clickIDs are the id of a click before its time, and the tag and the id of the click of a conversion.
var clickIDs = regexp.MustCompile(`^[0-9a-f-]{36},|(,-?[0-9]+)?,([0-9a-f-]{36})?(,[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z,[0-9a-f-]{36},)`)

func idOf(text string) link.ID { return link.ID(uuid.MustParse(text)) }

// A workspace that is exported and imported has the same state and the same figures, also in the other databases. The environment
// variables LINKS and CLICKS choose another size.
func TestArchive_is_the_same_workspace(t *testing.T) {
	t.Parallel()
	source := newSite(t, storetest.Open(t), nil, archive.Config{})
	source.fill(rand.New(rand.NewPCG(1, 2)), number(t, "LINKS", testkit.Size(700, 100_000)),
		number(t, "CLICKS", testkit.Size(5_000, 1_000_000)))
	path := source.export(source.p)
	noSecrets(t, path)
	for name, target := range map[string]func(t *testing.T) *site{
		"SQLite and DuckDB": func(t *testing.T) *site { return newSite(t, storetest.Open(t), nil, archive.Config{}) },
		"PostgreSQL and ClickHouse": func(t *testing.T) *site {
			clicks, err := clickhouse.Open(t.Context(), clickhouse.Config{URL: clickhousetest.Database(t)})
			testkit.Must(t, err)
			t.Cleanup(func() { _ = clicks.Close() })
			return newSite(t, storetest.OpenPostgres(t), clicks, archive.Config{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := target(t)
			dry, err := to.importFile(t.Context(), to.p, path, archive.Options{DryRun: true})
			testkit.Must(t, err)
			if got := len(statesOf(t, to, to.p)); got != 0 {
				t.Fatalf("a dry run made %d links", got)
			}
			done, err := to.importFile(t.Context(), to.p, path, archive.Options{})
			testkit.Must(t, err)
			for i, k := range done.Kinds {
				if k.Created != k.Rows || *k != *dry.Kinds[i] {
					t.Errorf("%+v, dry run %+v", *k, *dry.Kinds[i])
				}
			}
			same(t, source, to, source.p, to.p)
			again, err := to.importFile(t.Context(), to.p, path, archive.Options{})
			testkit.Must(t, err)
			for _, k := range again.Kinds[:6] {
				if k.Present != k.Rows {
					t.Errorf("again: %+v", *k)
				}
			}
			same(t, source, to, source.p, to.p)
		})
	}
}

func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	testkit.Must(t, err)
	return n
}

// same compares two workspaces: rows of the database, members of exports, and figures.
func same(t *testing.T, a, b *site, p, q auth.Principal) {
	t.Helper()
	was, is := statesOf(t, a, p), statesOf(t, b, q)
	if len(was) != len(is) {
		t.Fatalf("%d links, want %d", len(is), len(was))
	}
	for i := range was {
		if was[i] != is[i] {
			t.Fatalf("link %d\n is  %s\n was %s", i, is[i], was[i])
		}
	}
	before, after := members(t, a.export(p)), members(t, b.export(q))
	for name, text := range before {
		switch {
		case strings.HasSuffix(name, ".parquet") || name == "manifest.json":
		case withoutStates(name, text) != withoutStates(name, after[name]):
			t.Errorf("%s differs:%s", name, difference(withoutStates(name, text), withoutStates(name, after[name])))
		}
	}
	if x, y := figures(t, a, p), figures(t, b, q); x != y {
		t.Errorf("figures\n are  %.900s\n were %.900s", y, x)
	}
}

// difference returns the first lines that differ.
func difference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf(" line %d\n is  %s\n was %s", i+1, y[i], x[i])
		}
	}
	return fmt.Sprintf(" %d and %d lines", len(x), len(y))
}

// withoutStates returns a member without what an import changes: the states of domains and webhooks, and the ids of clicks.
func withoutStates(name, text string) string {
	switch name {
	case "domains.ndjson", "webhooks.ndjson":
		return strings.NewReplacer(`"active":true`, `"active":false`).Replace(text)
	case "figures/clicks.csv", "figures/conversions.csv":
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			lines[i] = clickIDs.ReplaceAllString(line, "$3")
		}
		slices.Sort(lines) // clicks of one millisecond have another order
		return strings.Join(lines, "\n")
	}
	return text
}

// statesOf returns all that the database has of the links of a workspace, other than numbers of this database.
func statesOf(t *testing.T, s *site, p auth.Principal) (list []string) {
	t.Helper()
	var created int64 = math.MinInt64
	for num := uint64(0); ; {
		page, err := s.store.LinksAfter(t.Context(), p.Workspace.Num, created, num, 500)
		testkit.Must(t, err)
		states, err := s.store.StatesOf(t.Context(), page)
		testkit.Must(t, err)
		for i := range states {
			u := &states[i].Link
			created, num = u.CreatedAt, u.Num
			u.Num, u.Workspace, u.Domain, u.UserID, u.Revision, u.LimitSince = 0, 0, 0, "", 0, 0
			for n := range states[i].Rules {
				states[i].Rules[n].MatchCount, states[i].Rules[n].LastMatchedAt = 0, 0
			}
			for n := range states[i].Variants {
				states[i].Variants[n].ClickCount = 0
			}
			text, err := json.Marshal(states[i])
			testkit.Must(t, err)
			list = append(list, string(text))
		}
		if len(page) < 500 {
			slices.Sort(list)
			return list
		}
	}
}

// figures returns what reports are made of.
func figures(t *testing.T, s *site, p auth.Principal) string {
	t.Helper()
	ctx := t.Context()
	var out []string
	scope := analytics.Scope{Owner: p.Workspace.Num}
	for _, bots := range []analytics.Bots{analytics.People, analytics.OnlyBots} {
		scope.Bots = bots
		lines, err := s.clicks.Lines(ctx, analytics.Query{Scope: scope, Every: analytics.Days, Visitors: true, Last: true})
		testkit.Must(t, err)
		sums, err := s.clicks.Breakdown(ctx, scope, []analytics.Dimension{analytics.Country, analytics.City, analytics.Referer,
			analytics.Browser, analytics.UTMSource, analytics.Variant, analytics.Rule, analytics.Language}, 1_000_000)
		testkit.Must(t, err)
		out = append(out, fmt.Sprint(lines, sums))
	}
	scope.Bots = analytics.People
	goals, err := s.clicks.ConversionLines(ctx, analytics.Query{Scope: scope, Every: analytics.Days, By: analytics.Country}, "")
	testkit.Must(t, err)
	all, err := s.clicks.Goals(ctx, scope)
	testkit.Must(t, err)
	return fmt.Sprint(out, goals, all)
}

// members reads an archive.
func members(t *testing.T, path string) map[string]string {
	t.Helper()
	z, err := zip.OpenReader(path)
	testkit.Must(t, err)
	defer z.Close()
	out := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		testkit.Must(t, err)
		text, err := io.ReadAll(r)
		testkit.Must(t, err)
		out[f.Name] = string(text)
	}
	return out
}

func noSecrets(t *testing.T, path string) {
	t.Helper()
	for name, text := range members(t, path) {
		for _, secret := range []string{"whsec", "tell-nobody", "$2a$"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s has %q", name, secret)
			}
		}
	}
}

// A copy in the same installation gets ids and clicks of its own, and leaves the original alone.
func TestArchive_beside_the_original(t *testing.T) {
	t.Parallel()
	s := newSite(t, storetest.Open(t), nil, archive.Config{})
	s.fill(rand.New(rand.NewPCG(3, 4)), 60, 800)
	path := s.export(s.p)
	bob := s.user("bob@example.com")
	_, err := s.importFile(t.Context(), bob, path, archive.Options{})
	var e *problem.Error
	if !errors.As(err, &e) || e.Kind != problem.Conflict || len(statesOf(t, s, bob)) != 0 {
		t.Fatalf("slugs are taken: %v", err)
	}
	states, before := statesOf(t, s, s.p), figures(t, s, s.p)
	report, err := s.importFile(t.Context(), bob, path, archive.Options{SkipConflicts: true})
	testkit.Must(t, err)
	urls := report.Kinds[slices.IndexFunc(report.Kinds, func(k *archive.Kind) bool { return k.Name == "url" })]
	if urls.Created == 0 || urls.Skipped == 0 || urls.Created+urls.Skipped != urls.Rows {
		t.Errorf("%+v", *urls)
	}
	if !slices.Equal(states, statesOf(t, s, s.p)) || before != figures(t, s, s.p) {
		t.Error("the original has changed")
	}
	copied := figures(t, s, bob)
	again, err := s.importFile(t.Context(), bob, path, archive.Options{SkipConflicts: true})
	testkit.Must(t, err)
	if k := again.Kinds[4]; k.Present != urls.Created || copied != figures(t, s, bob) {
		t.Errorf("again: %+v", *k)
	}
	gaps, err := s.clicks.Gaps(t.Context(), time.UnixMilli(0), 10)
	testkit.Must(t, err)
	if len(gaps) > 0 {
		t.Errorf("clicks of archives look lost: %v", gaps)
	}
}

// interrupted ends its context after a number of writes.
type interrupted struct {
	analytics.Store
	left int
}

var errKilled = errors.New("killed")

func (i *interrupted) Insert(ctx context.Context, b analytics.Batch) error {
	if i.left--; i.left < 0 {
		return errKilled
	}
	return i.Store.Insert(ctx, b)
}

// An import that fails is repeated, and then has the same result.
func TestArchive_is_imported_again_after_a_failure(t *testing.T) {
	t.Parallel()
	source := newSite(t, storetest.Open(t), nil, archive.Config{})
	source.fill(rand.New(rand.NewPCG(5, 6)), 300, 1000)
	path := source.export(source.p)
	to := newSite(t, storetest.Open(t), nil, archive.Config{})
	first := archive.New(archive.Config{Dir: t.TempDir()}, to.store, &interrupted{Store: to.clicks}, to.use)
	whole := to.archive
	to.archive = first
	if _, err := to.importFile(t.Context(), to.p, path, archive.Options{}); !errors.Is(err, errKilled) {
		t.Fatalf("err %v", err)
	}
	to.archive = whole
	_, err := to.importFile(t.Context(), to.p, path, archive.Options{})
	testkit.Must(t, err)
	same(t, source, to, source.p, to.p)
}

// Links with a password, and suspended links, do not lead visitors after an import.
func TestArchive_without_passwords(t *testing.T) {
	t.Parallel()
	s := newSite(t, storetest.Open(t), nil, archive.Config{})
	s.fill(rand.New(rand.NewPCG(7, 8)), 5, 10)
	ctx := t.Context()
	testkit.Must(t, s.store.Tx(ctx, func(tx *store.Tx) error {
		l, err := tx.LinksAfter(ctx, s.p.Workspace.Num, 0, 0, 1)
		if err != nil {
			return err
		}
		l[0].PasswordHash, l[0].Active = "$2a$04$abcdefghijklmnopqrstuv", true
		return tx.UpdateLink(ctx, &l[0])
	}))
	path := s.export(s.p)
	noSecrets(t, path)
	to := newSite(t, storetest.Open(t), nil, archive.Config{})
	report, err := to.importFile(ctx, to.p, path, archive.Options{})
	testkit.Must(t, err)
	list, err := to.store.LinksAfter(ctx, to.p.Workspace.Num, 0, 0, 1)
	testkit.Must(t, err)
	if report.Deactivated != 1 || list[0].Active {
		t.Errorf("deactivated %d, active %t", report.Deactivated, list[0].Active)
	}
}
