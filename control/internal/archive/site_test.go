package archive_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/shortline/shortline/control/internal/archive"
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/control/internal/manage/bundles"
	"github.com/shortline/shortline/control/internal/manage/domains"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/routing"
	"github.com/shortline/shortline/control/internal/manage/tags"
	"github.com/shortline/shortline/control/internal/manage/utmtemplates"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// site is an installation without processes, with one user.
type site struct {
	t       testing.TB
	store   *store.Store
	clicks  analytics.Store
	use     archive.Uses
	archive *archive.Service
	p       auth.Principal
}

func newSite(t testing.TB, st *store.Store, clicks analytics.Store, cfg archive.Config) *site {
	t.Helper()
	passwords, err := auth.NewPasswords(bcrypt.MinCost)
	testkit.Must(t, err)
	if clicks == nil {
		duck, err := duckdb.Open(t.Context(), duckdb.Config{Path: filepath.Join(t.TempDir(), "clicks"), Threads: 2})
		testkit.Must(t, err)
		t.Cleanup(func() { _ = duck.Close() })
		clicks = duck
	}
	hooks, err := webhooks.New(webhooks.Config{Settings: webhooks.Settings{AllowPrivate: true, Timeout: time.Second},
		EncryptionKeys: [][]byte{bytes.Repeat([]byte("e"), 32)}}, st)
	testkit.Must(t, err)
	s := &site{t: t, store: st, clicks: clicks, use: archive.Uses{
		Links: links.New(links.Config{BaseURL: "https://sho.rt"}, st, passwords), Routing: routing.New(link.Policy{}, st),
		Bundles: bundles.New(st, clicks, nil), Tags: tags.New(st), UTMTemplates: utmtemplates.New(st),
		Domains: domains.New(domains.Config{}, st), Webhooks: hooks,
	}}
	cfg.Dir = t.TempDir()
	s.archive = archive.New(cfg, st, clicks, s.use)
	s.p = s.user("ann@example.com")
	return s
}

// user adds a user with a personal workspace.
func (s *site) user(email string) auth.Principal {
	s.t.Helper()
	u := store.User{ID: store.NewID(), Email: email, Role: string(auth.User), Active: true, CreatedAt: store.Now(), UpdatedAt: store.Now()}
	testkit.Must(s.t, s.store.Tx(s.t.Context(), func(tx *store.Tx) (err error) {
		u.Num, err = tx.InsertUser(s.t.Context(), u)
		return err
	}))
	return auth.Principal{UserID: u.ID, UserNum: u.Num, Email: email, Role: auth.User,
		Workspace: auth.Workspace{Num: u.Num, ID: u.ID, Personal: true, Role: auth.Owner}}
}

// export returns the archive of the workspace of a caller.
func (s *site) export(p auth.Principal) string {
	s.t.Helper()
	e, err := s.archive.Prepare(s.t.Context(), p)
	testkit.Must(s.t, err)
	defer e.Close()
	path := filepath.Join(s.t.TempDir(), "workspace.zip")
	f, err := os.Create(path)
	testkit.Must(s.t, err)
	testkit.Must(s.t, e.WriteTo(s.t.Context(), f))
	testkit.Must(s.t, f.Close())
	return path
}

func (s *site) importFile(ctx context.Context, p auth.Principal, path string, o archive.Options) (*archive.Report, error) {
	s.t.Helper()
	f, err := os.Open(path)
	testkit.Must(s.t, err)
	defer f.Close()
	info, err := f.Stat()
	testkit.Must(s.t, err)
	return s.archive.Import(ctx, p, f, info.Size(), o)
}

// texts are values that formats mistake: formulas, quotation marks, ends of lines, backslashes, other scripts.
var texts = []string{"", "plain", "=1+1", "'=1", `"quoted", with comma`, `back\slash\r`, "two\nlines", "cr\r\nlf", "größe 日本語 ✓", "  spaces  ",
	"-dash", "@at", "\ttab"}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// fill makes a random workspace.
func (s *site) fill(r *rand.Rand, linkCount, clickCount int) {
	s.t.Helper()
	ctx := s.t.Context()
	must := func(err error) { s.t.Helper(); testkit.Must(s.t, err) }
	var names, bundleIDs, hosts []string
	for i := range 8 {
		name, color := fmt.Sprintf("Tag %d %s", i, pick(r, []string{"ä", "=x", "b"})), "#123456"
		_, err := s.use.Tags.Create(ctx, s.p, tags.Input{Name: &name, Color: &color})
		must(err)
		names = append(names, name)
		_, err = s.use.UTMTemplates.Create(ctx, s.p, utmtemplates.Input{Name: &name, UTM: map[string]string{"utmSource": "news",
			"utmTerm": "a,b"}})
		must(err)
		text := pick(r, texts)
		b, err := s.use.Bundles.Create(ctx, s.p, bundles.Input{Name: &name, Description: &text}, nil)
		must(err)
		bundleIDs = append(bundleIDs, b.ID)
		address, events := fmt.Sprintf("http://127.0.0.1:%d/hook", 1000+i), []string{"url.created", "url.clicked"}
		_, _, err = s.use.Webhooks.Create(ctx, s.p, webhooks.Input{Name: &name, URL: &address, Events: &events,
			Headers: &map[string]string{"Authorization": "Bearer tell-nobody"}})
		must(err)
	}
	for i := range 3 {
		root, standard := "https://example.com/root", i == 1
		host := fmt.Sprintf("go%d.example.com", i)
		_, err := s.use.Domains.Create(ctx, s.p, host, domains.Input{RootURL: &root, Default: &standard})
		must(err)
		hosts = append(hosts, host)
	}
	var made []store.LinkState
	for len(made) < linkCount {
		items := make([]links.Item, min(500, linkCount-len(made)))
		for i := range items {
			items[i] = s.item(r, len(made)+i, names, append(hosts, "", ""))
		}
		list, err := s.use.Links.Upsert(ctx, s.p, items, false)
		must(err)
		rows := make([]store.Link, len(list))
		for i := range list {
			if list[i].Problem != nil {
				s.t.Fatalf("item %d: %v", i, list[i].Problem)
			}
			rows[i] = list[i].Link
		}
		states, err := s.store.StatesOf(ctx, rows)
		must(err)
		made = append(made, states...)
	}
	for _, id := range bundleIDs {
		var ids []string
		for range 20 {
			ids = append(ids, pick(r, made).Link.ID)
		}
		_, err := s.use.Bundles.AddMany(ctx, s.p, id, ids)
		must(err)
	}
	_, err := s.use.Bundles.Archive(ctx, s.p, bundleIDs[0])
	must(err)
	s.visit(r, made, clickCount)
	must(s.store.Tx(ctx, func(tx *store.Tx) error {
		for i, state := range made {
			if len(state.Variants) < 2 || i > 1000 {
				continue
			}
			at := store.Now() - 1000
			if err := tx.InsertExperiment(ctx, &store.Experiment{Link: state.Link.Num, Goal: "sale", Optimize: "bandit", OnWinner: "notify",
				Status: store.ExperimentWinner, Variant: state.Variants[1].ID, Reason: "It's better.", StartedAt: at, DecidedAt: at + 5,
				CreatedAt: at, UpdatedAt: at + 5}); err != nil {
				return err
			}
		}
		return nil
	}))
}

func (s *site) item(r *rand.Rand, n int, names, hosts []string) links.Item {
	address := fmt.Sprintf("https://example.com/%d?q=%d", n, r.IntN(1000))
	host, status, sticky := pick(r, hosts), pick(r, []string{"ACTIVE", "INACTIVE"}), pick(r, []string{"none", "cookie", "hash"})
	code, limit, track := pick(r, links.RedirectCodes), pick(r, []int64{0, 0, 1000}), r.IntN(2) == 0
	expires, starts := pick(r, []int64{0, store.Now() + 1e9}), pick(r, []int64{0, store.Now() - 1e9})
	some := []string{pick(r, names), pick(r, names)}
	item := links.Item{Creation: links.Creation{CustomSlug: fmt.Sprintf("slug-%d", n), Domain: &host, Input: links.Input{
		OriginalURL: &address,
		Status:      &status, Stickiness: &sticky, RedirectCode: &code, MaxClicks: &limit, TrackConversions: &track, ForwardPath: &track,
		ExpiresAt: &expires, StartsAt: &starts, Tags: &some, Texts: map[string]string{"title": pick(r, texts), "notes": pick(r, texts),
			"utmSource": pick(r, texts),
			"utmId":     "x", "ogTitle": pick(r, texts), "expiredUrl": "https://example.com/over"}}}}
	if n%3 == 0 {
		item.Texts["externalId"] = fmt.Sprintf("external %d", n)
	}
	if n%7 == 0 {
		item.Baseline = &store.Baseline{Count: r.Int64N(1e6), Until: store.Now() - 1e9, Source: "YOURLS"}
	}
	draft := routing.Draft{}
	if n%4 == 0 {
		name, active, priority := pick(r, texts[1:3]), r.IntN(4) > 0, r.IntN(100)
		rule := routing.RuleInput{Name: &name, TargetURL: &address, Active: &active, Priority: &priority,
			Conditions: []byte(`{"operator":"AND","conditions":[{"type":"COUNTRY","operator":"IN","value":["DE","FR"]}]}`)}
		draft.Rules = &[]routing.RuleDraft{{RuleInput: rule}, {RuleInput: rule}}
	}
	if n%5 == 0 {
		a, b, weight := "A", "B "+pick(r, texts[1:5]), 30
		draft.Variants = &[]routing.VariantDraft{{VariantInput: routing.VariantInput{Name: &a, TargetURL: &address}},
			{VariantInput: routing.VariantInput{Name: &b, TargetURL: &address, Weight: &weight}}}
	}
	item.Parts = s.use.Routing.Plan(draft)
	return item
}

// visit stores random clicks, with conversions of some.
func (s *site) visit(r *rand.Rand, made []store.LinkState, clickCount int) {
	s.t.Helper()
	ctx := s.t.Context()
	start := time.Now().Add(-40 * 24 * time.Hour).UnixMilli()
	counts := map[uint64]int64{}
	var rows []analytics.Row
	var conversions []analytics.Conversion
	var goals []store.Goal
	flush := func() {
		testkit.Must(s.t, s.clicks.Insert(ctx, analytics.Batch{Rows: rows}))
		testkit.Must(s.t, s.clicks.InsertConversions(ctx, conversions))
		rows, conversions = rows[:0], conversions[:0]
	}
	for i := range clickCount {
		state := &made[min(r.IntN(len(made)), r.IntN(len(made)))]
		row := analytics.Row{Identity: analytics.Identity{Lane: click.Lane{Edge: 7, Epoch: 1, Lane: uint8(i % 2)}, Seq: uint64(i/2 + 1)},
			Time: start + r.Int64N(39*24*3600*1000), Link: state.Link.Num, Owner: s.p.Workspace.Num,
			IP:      netip.AddrFrom4([4]byte{10, 0, byte(r.IntN(8)), byte(r.IntN(256))}),
			Country: pick(r, []string{"", "DE", "FR", "US"}), City: pick(r, texts), Device: pick(r, []string{"MOBILE", "DESKTOP"}),
			OS: "Linux", Browser: pick(r, []string{"Firefox", "Chrome"}), Referer: pick(r, texts), UserAgent: pick(r, texts),
			Bot: r.IntN(10) == 0,
			UTM: link.UTM{Source: pick(r, texts), Campaign: pick(r, texts)}, EdgeName: "e1", EdgeRegion: "eu", Language: "de",
			Visitor: r.Uint64N(100), GeoVersion: "g", BotList: "b"}
		if len(state.Variants) > 0 {
			row.Variant = idOf(pick(r, state.Variants).ID)
		} else if len(state.Rules) > 0 && i%2 == 0 {
			row.Rule = idOf(pick(r, state.Rules).ID)
		}
		if !row.Bot {
			counts[row.Link]++
		}
		rows = append(rows, row)
		if state.Link.TrackConversions && i%10 == 0 {
			c := analytics.Conversion{Conversion: conversion.Conversion{Workspace: s.p.Workspace.Num, Name: pick(r, []string{"sale", "signup"}),
				Value: r.Int64N(1e6), Currency: "EUR", OccurredAt: row.Time + 5, ReceivedAt: row.Time + 6, ExternalID: fmt.Sprint(i),
				Repeatable: i%20 == 0, Click: conversion.ClickID{Link: row.Link, Time: row.Time,
					Tag: conversion.TagOf(row.Identity.Lane, row.Seq)}},
				Row: row, Attributed: i%30 != 0}
			if !c.Attributed {
				c.Row = analytics.Row{Time: row.Time, Link: row.Link, Owner: row.Owner}
			}
			conversions, goals = append(conversions, c), append(goals, store.Goal{Link: row.Link, Name: c.Name})
		}
		if len(rows) == 20_000 {
			flush()
		}
	}
	flush()
	var list []store.Counted
	for num, n := range counts {
		list = append(list, store.Counted{Num: num, Count: n})
	}
	testkit.Must(s.t, s.store.Tx(ctx, func(tx *store.Tx) error { return tx.SetClickCounts(ctx, list, store.Raise) }))
	testkit.Must(s.t, s.store.Tx(ctx, func(tx *store.Tx) error {
		_, err := tx.RegisterGoals(ctx, goals, 50, store.Now())
		return err
	}))
}
