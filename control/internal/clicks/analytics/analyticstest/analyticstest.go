// Package analyticstest is the conformance suite of analytics.Store. It loads generated clicks with the difficulties of
// real ones: bots, equal times, changes to daylight saving time, zones with odd offsets, missing values, invalid UTF-8.
// It compares each answer with one that is computed here in the simplest way.
package analyticstest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"
	_ "time/tzdata" // the suite must not depend on the machine's zones

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Run runs the suite. open returns an empty store, which the suite closes. In make test, it runs only a part, as RunPart does.
func Run(t *testing.T, part int, open func(t *testing.T) analytics.Store) {
	all := testkit.Size(false, true)
	run(t, open, func(n int) bool { return all || n%Parts == part%Parts })
}

// Parts is the number of parts for RunPart.
const Parts = 3

// RunPart is like Run, for a slow store that is tested in several modes. The queries about generated clicks combine
// every query with every scope. RunPart runs one part of these combinations; each part has every query and every scope.
func RunPart(t *testing.T, part int, open func(t *testing.T) analytics.Store) {
	run(t, open, func(n int) bool { return n%Parts == part%Parts })
}

func run(t *testing.T, open func(t *testing.T) analytics.Store, asked func(n int) bool) {
	fresh := func(t *testing.T) analytics.Store {
		t.Parallel()
		s := open(t)
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
		return s
	}
	t.Run("empty", func(t *testing.T) { empty(t, fresh(t)) })
	t.Run("answers", func(t *testing.T) { answers(t, fresh(t), asked) })
	t.Run("intervals", func(t *testing.T) { intervals(t, fresh(t), asked) })
	t.Run("matches", func(t *testing.T) { matching(t, fresh(t), asked) })
	t.Run("insert_is_idempotent", func(t *testing.T) { idempotent(t, fresh(t)) })
	t.Run("insert_keeps_everything", func(t *testing.T) { roundTrip(t, fresh(t)) })
	t.Run("marks_only_rise", func(t *testing.T) { marks(t, fresh(t)) })
	t.Run("losses_count_once", func(t *testing.T) { losses(t, fresh(t)) })
	t.Run("gaps", func(t *testing.T) { gaps(t, fresh(t)) })
	t.Run("reclassify", func(t *testing.T) { reclassify(t, fresh(t)) })
	t.Run("erase", func(t *testing.T) { erase(t, fresh(t)) })
	t.Run("conversions", func(t *testing.T) { conversions(t, fresh(t), asked) })
	t.Run("conversions_wait_for_clicks", func(t *testing.T) { unattributed(t, fresh(t)) })
	t.Run("conversions_follow_clicks", func(t *testing.T) { follow(t, fresh(t)) })
	t.Run("moves", func(t *testing.T) { moves(t, fresh(t)) })
	t.Run("clicks_stops_when_told", func(t *testing.T) { stop(t, fresh(t)) })
	t.Run("readers_beside_a_writer", func(t *testing.T) { beside(t, fresh(t)) })
}

// Clicks generates n clicks of one lane within the given number of days from start. Equal seeds give equal clicks.
func Clicks(seed uint64, n int, start time.Time, days int) []analytics.Row {
	r := rand.New(rand.NewPCG(seed, 7))
	pick := func(list ...string) string { return list[int(float64(len(list))*r.Float64()*r.Float64())] }
	lane := click.Lane{Edge: math.MaxUint64 - seed, Epoch: 3, Lane: uint8(seed)}
	rows := make([]analytics.Row, n)
	for i := range rows {
		row := analytics.Row{
			Identity: analytics.Identity{Lane: lane, Seq: uint64(i + 1)},
			// Rounded, so that some have the same time.
			Time:    start.UnixMilli() + r.Int64N(int64(days)*24*60*60*100)*10,
			Link:    1 + uint64(r.Float64()*r.Float64()*40),
			Country: pick("US", "TW", "", "DE", "GB", "BR"), Region: pick("", "California", "Taipei", "Bayern"),
			City:   pick("London", "", "Taipei", "São Paulo", "München"),
			Device: pick("MOBILE", "DESKTOP", "TABLET", ""), OS: pick("iOS", "Android", "Windows", "macOS"),
			Browser:   pick("Chrome", "Safari", "Firefox"),
			Referer:   referers[int(float64(len(referers))*r.Float64()*r.Float64())],
			UserAgent: "Mozilla/5.0", UTM: link.UTM{Source: pick("", "mail", "social"), Medium: pick("", "cpc"),
				Campaign: pick("", "spring", "Spring"), Term: pick("", "x"), Content: pick("", "y"), ID: pick("", "7"),
				SourcePlatform: pick("", "p")},
			GeoVersion: "test", BotList: "list", EdgeName: []string{"", "fra-1"}[i%2],
			EdgeRegion: []string{"", "eu-central", "us-east"}[i%3],
			Language:   []string{"en", "", "de", "zh", "pt"}[r.IntN(5)],
		}
		row.Owner = 1 + row.Link%3
		if r.IntN(8) > 0 {
			row.IP = netip.AddrFrom4([4]byte{10, 0, byte(r.IntN(3)), byte(r.IntN(200))})
			if r.IntN(4) == 0 {
				a := netip.MustParseAddr("2001:db8::").As16()
				a[15] = byte(r.IntN(50))
				row.IP = netip.AddrFrom16(a)
			}
		}
		if r.IntN(10) == 0 {
			row.Bot, row.BotName = true, pick("Googlebot", "Other", "bingbot")
		}
		switch r.IntN(4) {
		case 0:
			row.Variant = link.ID{0: 1, 15: byte(r.IntN(3))}
		case 1:
			row.Rule = link.ID{0: 2, 15: byte(r.IntN(3))}
		}
		rows[i] = row
	}
	return rows
}

func ctx() context.Context { return context.Background() }

// insert adds rows as ingest does: batch by batch, with the lane's mark.
func insert(t *testing.T, s analytics.Store, rows []analytics.Row, size int) {
	t.Helper()
	for part := range slices.Chunk(rows, size) {
		last := part[len(part)-1]
		testkit.Must(t, s.Insert(ctx(), analytics.Batch{Rows: part, Marks: []analytics.Mark{{Lane: last.Lane, Seq: last.Seq}}}))
	}
}

func total(t *testing.T, s analytics.Store, scope analytics.Scope) int64 {
	t.Helper()
	lines, err := s.Lines(ctx(), analytics.Query{Scope: scope})
	testkit.Must(t, err)
	if len(lines) != 1 {
		t.Fatalf("%d lines without a grouping, want 1", len(lines))
	}
	return lines[0].Clicks
}

func everyone() analytics.Scope { return analytics.Scope{Bots: analytics.Everyone} }

func empty(t *testing.T, s analytics.Store) {
	testkit.Must(t, s.Ping(ctx()))
	lines, err := s.Lines(ctx(), analytics.Query{Visitors: true, Last: true})
	testkit.Must(t, err)
	if want := []analytics.Line{{}}; !slices.Equal(lines, want) {
		t.Errorf("Lines = %v, want %v", lines, want)
	}
	lines, err = s.Lines(ctx(), analytics.Query{Every: analytics.Days})
	testkit.Must(t, err)
	if len(lines) != 0 {
		t.Errorf("Lines by day = %v, want none", lines)
	}
	found, err := s.Breakdown(ctx(), everyone(), []analytics.Dimension{analytics.Country, analytics.City}, 10)
	testkit.Must(t, err)
	if len(found) != 0 {
		t.Errorf("Breakdown = %v, want nothing", found)
	}
	list, err := s.Marks(ctx())
	testkit.Must(t, err)
	if len(list) != 0 {
		t.Errorf("Marks = %v, want none", list)
	}
	testkit.Must(t, s.Insert(ctx(), analytics.Batch{}))
}

func answers(t *testing.T, s analytics.Store, asked func(n int) bool) {
	newYork, taipei, kathmandu, santiago := zone(t, "America/New_York"), zone(t, "Asia/Taipei"), zone(t, "Asia/Kathmandu"),
		zone(t, "America/Santiago")
	// One period of three weeks around the start of daylight saving time in New York; another around the day on which
	// midnight does not exist in Santiago.
	rows := Clicks(1, 4000, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), 21)
	more := Clicks(2, 2000, time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC), 9)
	insert(t, s, rows, 700)
	insert(t, s, more, 2000)
	all := slices.Concat(rows, more)

	march8 := analytics.DayOn(2026, 3, 8)
	scopes := []analytics.Scope{
		{}, everyone(), {Bots: analytics.OnlyBots}, {Owner: 2}, {Links: []uint64{1}},
		{Links: []uint64{1, 2, 3, 999}, Bots: analytics.Everyone},
		{Links: []uint64{}},
		{From: march8.Start(newYork), To: (march8 + 1).Start(newYork)}, {From: march8.Start(taipei)},
		{To: march8.Start(kathmandu), Owner: 1},
		{From: all[5].Time, To: all[5].Time + 1, Bots: analytics.Everyone}, {Routed: true}, {Drawn: true, Owner: 3},
		{Links: []uint64{math.MaxInt64}},
		{NotLinks: []uint64{1}}, {NotLinks: []uint64{1, 2, math.MaxInt64}, Owner: 2, Bots: analytics.Everyone},
		{Links: []uint64{1, 2}, NotLinks: []uint64{2, 3}},
		{LinkFrom: 2}, {LinkTo: 3, Bots: analytics.Everyone}, {LinkFrom: 2, LinkTo: 4, Owner: 2}, {LinkFrom: 3, LinkTo: 3},
	}
	for i, scope := range scopes {
		asked := thinned(asked, i)
		for j, q := range []analytics.Query{
			{Visitors: true, Last: true}, {Every: analytics.Days, Visitors: true}, {Every: analytics.Days, Zone: newYork},
			{Every: analytics.Days, Zone: taipei, Last: true}, {Every: analytics.Days, Zone: kathmandu, Visitors: true},
			{Every: analytics.Days, Zone: santiago}, {ByLink: true, Last: true}, {ByLink: true, TopFirst: true, Limit: 5},
			{By: analytics.Country, TopFirst: true}, {By: analytics.City, TopFirst: true, Limit: 2},
			{By: analytics.BotName}, {By: analytics.Variant, Visitors: true}, {ByLink: true, By: analytics.Variant},
			{Every: analytics.Days, By: analytics.Rule, Zone: newYork, Last: true}, {By: analytics.UTMCampaign},
		} {
			if !asked(i + j) {
				continue
			}
			q.Scope = scope
			got, err := s.Lines(ctx(), q)
			testkit.Must(t, err)
			if want := expect(all, q); !slices.Equal(got, want) {
				t.Errorf("scope %d, query %d: %+v\n got %v\nwant %v", i, j, q, got, want)
			}
		}
		dims := []analytics.Dimension{analytics.Country, analytics.Region, analytics.City, analytics.Device, analytics.OS,
			analytics.Browser,
			analytics.Referer,
			analytics.UTMSource, analytics.UTMMedium, analytics.UTMCampaign, analytics.UTMTerm, analytics.UTMContent}
		for j, dims := range [][]analytics.Dimension{dims, {analytics.Rule}, {analytics.Referer, analytics.BotName}} {
			if !asked(i + j) {
				continue
			}
			got, err := s.Breakdown(ctx(), scope, dims, 3)
			testkit.Must(t, err)
			want := map[analytics.Dimension][]analytics.Count{}
			for _, d := range dims {
				for _, l := range expect(all, analytics.Query{Scope: scope, By: d, TopFirst: true, Limit: 3}) {
					want[d] = append(want[d], analytics.Count{Value: l.Value, Clicks: l.Clicks})
				}
			}
			if !maps.EqualFunc(got, want, slices.Equal) {
				t.Errorf("scope %d, breakdown by %v:\n got %v\nwant %v", i, dims, got, want)
			}
		}
		want := filter(all, scope)
		slices.SortFunc(want, func(a, b analytics.Row) int {
			return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(b.Edge, a.Edge), cmp.Compare(b.Seq, a.Seq))
		})
		limits := []int{25, 100_000}
		if first := i % 2; testkit.Size(true, false) { // one of them in make test
			limits = limits[first : first+1]
		}
		for _, limit := range limits {
			var got []analytics.Row
			testkit.Must(t, s.Clicks(ctx(), scope, limit, func(r *analytics.Row) error { got = append(got, *r); return nil }))
			if newest := want[:min(limit, len(want))]; !slices.Equal(got, newest) {
				t.Errorf("scope %d: the newest %d clicks: %d, want %d, or others", i, limit, len(got), len(newest))
			}
		}
	}
}

// thinned asks, in make test, half of the questions that asked selects.
func thinned(asked func(n int) bool, at int) func(n int) bool {
	return func(n int) bool { return asked(n) && testkit.Size((n/Parts+at/2)%2 == 0, true) }
}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	testkit.Must(t, err)
	return z
}

func filter(rows []analytics.Row, s analytics.Scope) []analytics.Row {
	var out []analytics.Row
	for _, r := range rows {
		if (s.Links == nil || slices.Contains(s.Links, r.Link)) && !slices.Contains(s.NotLinks, r.Link) && r.Link >= s.LinkFrom &&
			(s.LinkTo == 0 || r.Link < s.LinkTo) && (s.Owner == 0 || s.Owner == r.Owner) &&
			(s.From == 0 || r.Time >= s.From) && (s.To == 0 || r.Time < s.To) &&
			(s.Bots == analytics.Everyone || r.Bot == (s.Bots == analytics.OnlyBots)) &&
			(!s.Routed || !r.Rule.IsZero()) && (!s.Drawn || !r.Variant.IsZero()) && matches(r, s.Match) {
			out = append(out, r)
		}
	}
	return out
}

func matches(r analytics.Row, list []analytics.Match) bool {
	for _, m := range list {
		if !slices.Contains(m.Values, value(r, m.By)) {
			return false
		}
	}
	return true
}

func value(r analytics.Row, d analytics.Dimension) string {
	id := func(id link.ID) string {
		if id.IsZero() {
			return ""
		}
		return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	}
	switch d {
	case analytics.None:
		return ""
	case analytics.Variant:
		return id(r.Variant)
	case analytics.Rule:
		return id(r.Rule)
	case analytics.Site:
		return Sites[r.Referer]
	}
	return map[analytics.Dimension]string{analytics.Country: r.Country, analytics.Region: r.Region, analytics.City: r.City,
		analytics.Device: r.Device,
		analytics.OS:     r.OS, analytics.Browser: r.Browser, analytics.Referer: r.Referer, analytics.UTMSource: r.UTM.Source,
		analytics.UTMMedium:   r.UTM.Medium,
		analytics.UTMCampaign: r.UTM.Campaign, analytics.UTMTerm: r.UTM.Term, analytics.UTMContent: r.UTM.Content,
		analytics.BotName:  r.BotName,
		analytics.Language: r.Language}[d]
}

// expect answers a query from rows in memory. Periods come from the calendar of package time.
func expect(rows []analytics.Row, q analytics.Query) []analytics.Line {
	type key struct {
		period analytics.Period
		link   uint64
		value  string
	}
	lines, visitors := map[key]*analytics.Line{}, map[key]map[netip.Addr]bool{}
	if q.Every == analytics.NoInterval && !q.ByLink && q.By == analytics.None {
		lines[key{}] = &analytics.Line{}
	}
	for _, r := range filter(rows, q.Scope) {
		k := key{value: value(r, q.By)}
		if q.ByLink {
			k.link = r.Link
		}
		z := q.Zone
		if z == nil {
			z = time.UTC
		}
		k.period = PeriodOf(q.Every, r.Time, z)
		l := lines[k]
		if l == nil {
			l = &analytics.Line{Period: k.period, Link: k.link, Value: k.value}
			lines[k] = l
		}
		if visitors[k] == nil {
			visitors[k] = map[netip.Addr]bool{}
		}
		visitors[k][r.IP] = true
		l.Clicks++
		if q.Last {
			l.Last = max(l.Last, r.Time)
		}
		if q.Visitors {
			l.Visitors = int64(len(visitors[k]))
		}
	}
	out := []analytics.Line{}
	for _, l := range lines {
		out = append(out, *l)
	}
	slices.SortFunc(out, func(a, b analytics.Line) int {
		top := 0
		if q.TopFirst {
			top = cmp.Compare(b.Clicks, a.Clicks)
		}
		return cmp.Or(top, cmp.Compare(a.Day, b.Day), cmp.Compare(a.At, b.At), cmp.Compare(a.Hour, b.Hour), cmp.Compare(a.Link, b.Link),
			cmp.Compare(a.Value, b.Value))
	})
	if q.Limit > 0 && len(out) > q.Limit {
		out = out[:q.Limit]
	}
	return out
}

func idempotent(t *testing.T, s analytics.Store) {
	rows := Clicks(3, 600, time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC), 2)
	insert(t, s, rows, 100)
	insert(t, s, rows, 250) // again, in batches of another size
	testkit.Must(t, s.Insert(ctx(), analytics.Batch{Rows: rows[100:400]}))
	if n := total(t, s, everyone()); n != 600 {
		t.Errorf("%d clicks after inserting 600 three times", n)
	}
	// A repair fills a hole below the mark; rows without a mark come twice.
	other := Clicks(4, 300, time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC), 2)
	testkit.Must(t, s.Insert(ctx(), analytics.Batch{Rows: other[200:], Marks: []analytics.Mark{{Lane: other[0].Lane, Seq: 300}}}))
	testkit.Must(t, s.Insert(ctx(), analytics.Batch{Rows: other[:250]}))
	third := Clicks(5, 50, time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC), 2)
	testkit.Must(t, s.Insert(ctx(), analytics.Batch{Rows: third}))
	testkit.Must(t, s.Insert(ctx(), analytics.Batch{Rows: third}))
	if n := total(t, s, everyone()); n != 950 {
		t.Errorf("%d clicks, want 950", n)
	}
	var ids []string
	testkit.Must(t, s.Clicks(ctx(), everyone(), 10_000, func(r *analytics.Row) error { ids = append(ids, r.ID()); return nil }))
	slices.Sort(ids)
	if n := len(slices.Compact(ids)); n != 950 {
		t.Errorf("%d ids, want 950", n)
	}
}

func roundTrip(t *testing.T, s analytics.Store) {
	row := Clicks(6, 1, time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC), 2)[0]
	row.Referer, row.UserAgent = "bad \xff and \x00 text", "'; DROP TABLE clicks; -- \u202e 𝒳"
	row.IP = netip.MustParseAddr("::ffff:192.0.2.1")
	row.Variant, row.Rule = link.ID{1, 2, 3}, link.ID{15: 9}
	testkit.Must(t, s.Insert(ctx(), analytics.Batch{Rows: []analytics.Row{row}, Marks: []analytics.Mark{{Lane: row.Lane, Seq: row.Seq}}}))
	var got analytics.Row
	testkit.Must(t, s.Clicks(ctx(), everyone(), 2, func(r *analytics.Row) error { got = *r; return nil }))
	row.Referer, row.IP = "bad \uFFFD and \uFFFD text", netip.MustParseAddr("192.0.2.1")
	if got != row {
		t.Errorf("got  %+v\nwant %+v", got, row)
	}
}

func marks(t *testing.T, s analytics.Store) {
	a, b := click.Lane{Edge: 1 << 63, Epoch: math.MaxUint32, Lane: 255}, click.Lane{Edge: 5}
	testkit.Must(t, s.Insert(ctx(), analytics.Batch{Marks: []analytics.Mark{{Lane: a, Seq: 10}, {Lane: b, Seq: 3}}}))
	testkit.Must(t, s.Insert(ctx(), analytics.Batch{Marks: []analytics.Mark{{Lane: a, Seq: 4}, {Lane: b, Seq: 7}, {Lane: b, Seq: 5}}}))
	got, err := s.Marks(ctx())
	testkit.Must(t, err)
	slices.SortFunc(got, func(x, y analytics.Mark) int { return cmp.Compare(x.Edge, y.Edge) })
	if want := []analytics.Mark{{Lane: b, Seq: 7}, {Lane: a, Seq: 10}}; !slices.Equal(got, want) {
		t.Errorf("Marks = %v, want %v", got, want)
	}
}

func losses(t *testing.T, s analytics.Store) {
	l := analytics.Loss{Identity: analytics.Identity{Lane: click.Lane{Edge: 1 << 63}, Seq: 20}, Time: 1, From: 11, To: 19}
	for range 2 {
		testkit.Must(t, s.Insert(ctx(), analytics.Batch{Losses: []analytics.Loss{l}, Marks: []analytics.Mark{{Lane: l.Lane, Seq: 20}}}))
	}
	n, err := s.Losses(ctx())
	testkit.Must(t, err)
	if n != 9 {
		t.Errorf("Losses = %d, want 9", n)
	}
}

func stop(t *testing.T, s analytics.Store) {
	insert(t, s, Clicks(7, 50, time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC), 2), 50)
	enough, n := errors.New("enough"), 0
	err := s.Clicks(ctx(), everyone(), 50, func(*analytics.Row) error {
		if n++; n == 3 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || n != 3 {
		t.Errorf("Clicks = %v after %d, want its own error after 3", err, n)
	}
	cancelled, cancel := context.WithCancel(ctx())
	cancel()
	if _, err := s.Lines(cancelled, analytics.Query{}); err == nil {
		t.Error("Lines with a cancelled context gave no error")
	}
	if n := total(t, s, everyone()); n != 50 {
		t.Errorf("%d clicks after the interruptions, want 50", n)
	}
}

func beside(t *testing.T, s analytics.Store) {
	rows := Clicks(8, 3000, time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC), 2)
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			last := int64(-1)
			for {
				lines, err := s.Lines(ctx(), analytics.Query{Scope: everyone(), Visitors: true})
				if err != nil {
					t.Error(err)
					return
				}
				// A batch becomes visible as a whole, and stays visible.
				if n := lines[0].Clicks; n%200 != 0 || n < last {
					t.Errorf("a reader saw %d clicks after %d", n, last)
					return
				}
				last = lines[0].Clicks
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	insert(t, s, rows, 200)
	if n := total(t, s, everyone()); n != 3000 {
		t.Errorf("%d clicks right after the insert, want 3000", n)
	}
	close(done)
	wg.Wait()
}
