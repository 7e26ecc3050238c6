package analyticstest

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Sites are referrers of generated clicks, and more, with the site of each.
var Sites = map[string]string{
	"": "", "https://example.com/": "example.com", "https://news.example/a,b": "news.example", `https://q.example/?q="x"`: "q.example",
	"https://l.instagram.com/?u=x": "instagram.com", "https://www.instagram.com/p/1": "instagram.com",
	"http://instagram.com":                 "instagram.com",
	"android-app://com.instagram.android/": "instagram.com",
	"https://t.co/abc":                     "x.com", "https://twitter.com/a": "x.com", "https://x.com/": "x.com",
	"https://mobile.twitter.com/": "x.com",
	"https://out.reddit.com/t3":   "reddit.com",
	"https://m.facebook.com/":     "facebook.com", "https://lm.facebook.com/l.php": "facebook.com",
	"https://amp.www.example.com/x#y": "example.com", "https://m.com/": "m.com",
	"https://www.m.com/": "m.com", "https://www.google.co.uk/": "google.com", "https://google.de?q=1": "google.com",
	"https://news.google.com/":             "news.google.com",
	"android-app://com.google.android.gm/": "mail.google.com", "HTTPS://User:Secret@WWW.Example.COM:8443/path@x": "example.com",
	"https://example.com@evil.example/": "evil.example",
	"about:blank":                       "unknown", "https://[2001:db8::1]/": "unknown", "https://münchen.example/": "unknown",
	"//example.com/": "unknown",
	"https://":       "unknown", "x\ny://z": "unknown",
	"android-app://app.of.nobody/http/x": "app.of.nobody", "https://example.com\n.evil/": "unknown",
	"https://wwww.example.com/": "wwww.example.com", "https://www.": "www.", "?": "unknown",
}

var referers = func() []string {
	list := slices.Sorted(maps.Keys(Sites))
	return slices.Concat([]string{"", "https://example.com/", "https://t.co/abc", "https://www.instagram.com/p/1"}, list)
}()

// PeriodOf returns the period of a time with the calendar of package time. It assumes that a zone's offsets are whole
// minutes.
func PeriodOf(iv analytics.Interval, ms int64, zone *time.Location) analytics.Period {
	t := time.UnixMilli(ms).In(zone)
	y, m, d := t.Date()
	switch iv {
	case analytics.Minutes:
		return analytics.Period{At: ms - ms%60_000}
	case analytics.Hours:
		// Go back to the minute at which the clocks show a full hour, or before which they show another hour.
		at := time.UnixMilli(ms - ms%60_000).In(zone)
		for {
			before := at.Add(-time.Minute)
			if at.Minute() == 0 || before.Hour() != at.Hour() {
				return analytics.Period{At: at.UnixMilli()}
			}
			at = before
		}
	case analytics.Days:
		return analytics.Period{Day: analytics.DayOn(y, m, d)}
	case analytics.Weeks:
		for at := time.Date(y, m, d, 0, 0, 0, 0, time.UTC); ; at = at.AddDate(0, 0, -1) {
			if at.Weekday() == time.Monday {
				return analytics.Period{Day: analytics.DayOn(at.Date())}
			}
		}
	case analytics.Months:
		return analytics.Period{Day: analytics.DayOn(y, m, 1)}
	case analytics.WeekHours:
		return analytics.Period{Hour: (int(t.Weekday())+6)%7*24 + t.Hour()}
	}
	return analytics.Period{}
}

// Weeks in which clocks change, in zones with usual and unusual offsets.
var changes = []struct {
	zone  string
	first time.Time
	days  int
}{
	{"America/New_York", time.Date(2026, 3, 7, 0, 0, 0, 0, time.UTC), 3},
	{"America/New_York", time.Date(2026, 10, 31, 0, 0, 0, 0, time.UTC), 3},
	{"Australia/Lord_Howe", time.Date(2026, 4, 4, 0, 0, 0, 0, time.UTC), 2}, // half an hour back
	{"Australia/Lord_Howe", time.Date(2026, 10, 3, 0, 0, 0, 0, time.UTC), 2},
	{"Asia/Kathmandu", time.Date(2026, 1, 30, 0, 0, 0, 0, time.UTC), 4},  // 5:45
	{"Asia/Kolkata", time.Date(2025, 12, 30, 0, 0, 0, 0, time.UTC), 4},   // 5:30
	{"Pacific/Apia", time.Date(2011, 12, 28, 0, 0, 0, 0, time.UTC), 5},   // 30 December 2011 does not exist
	{"America/Santiago", time.Date(2026, 9, 5, 0, 0, 0, 0, time.UTC), 3}, // a day without midnight
	{"UTC", time.Date(2026, 2, 27, 0, 0, 0, 0, time.UTC), 4},
}

// intervals groups clicks by each interval around changes of clocks.
func intervals(t *testing.T, s analytics.Store, asked func(n int) bool) {
	var all []analytics.Row
	for i, c := range changes {
		rows := Clicks(uint64(60+i), 400, c.first, c.days)
		insert(t, s, rows, 400)
		all = append(all, rows...)
	}
	for i, c := range changes {
		z := zone(t, c.zone)
		from := c.first.Add(7*time.Hour + 3*time.Minute + 11*time.Second).UnixMilli()
		scope := analytics.Scope{From: from, To: c.first.AddDate(0, 0, c.days).UnixMilli(), Bots: analytics.Everyone}
		for _, iv := range []analytics.Interval{analytics.Minutes, analytics.Hours, analytics.Days, analytics.Weeks, analytics.Months,
			analytics.WeekHours} {
			for j, q := range []analytics.Query{{Every: iv, Zone: z, Visitors: true}, {Every: iv, Zone: z, ByLink: true, Last: true},
				{Every: iv, Zone: z, By: analytics.Language}} {
				if !thinned(asked, i)(i + int(iv) + j) {
					continue
				}
				q.Scope = scope
				got, err := s.Lines(ctx(), q)
				testkit.Must(t, err)
				if want := expect(all, q); !slices.Equal(got, want) {
					t.Errorf("%s, interval %d: %d lines, want %d: %s", c.zone, iv, len(got), len(want), firstDifference(got, want))
				}
				known := map[analytics.Period]bool{}
				for _, p := range analytics.PeriodsOf(iv, scope.From, scope.To, z) {
					known[p] = true
				}
				for _, l := range got {
					if !known[l.Period] {
						t.Errorf("%s, interval %d: PeriodsOf lacks %+v", c.zone, iv, l.Period)
					}
				}
			}
		}
	}
	// All time, without bounds.
	for _, iv := range []analytics.Interval{analytics.Weeks, analytics.Months, analytics.WeekHours, analytics.Hours} {
		q := analytics.Query{Every: iv, Zone: zone(t, "Europe/Berlin")}
		got, err := s.Lines(ctx(), q)
		testkit.Must(t, err)
		if want := expect(all, q); !slices.Equal(got, want) {
			t.Errorf("all time, interval %d: %s", iv, firstDifference(got, want))
		}
	}
}

func firstDifference(got, want []analytics.Line) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("line %d: %+v, want %+v", i, got[i], want[i])
		}
	}
	return "one is a part of the other"
}

// matching selects clicks by values of each dimension, alone and together, and breaks them down.
func matching(t *testing.T, s analytics.Store, asked func(n int) bool) {
	rows := Clicks(80, 3000, time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), 20)
	insert(t, s, rows, 1000)
	var every []analytics.Row // one click for each referrer
	for i, ref := range slices.Sorted(maps.Keys(Sites)) {
		row := Clicks(81, i+1, time.Date(2026, 5, 3, 0, 0, 0, 0, time.UTC), 1)[i]
		row.Referer = ref
		every = append(every, row)
		if got := analytics.SiteOf(ref); got != Sites[ref] {
			t.Errorf("SiteOf(%q) = %q, want %q", ref, got, Sites[ref])
		}
	}
	insert(t, s, every, 1000)
	rows = append(rows, every...)
	one := value(rows[0], analytics.Variant)
	list := []analytics.Match{
		{By: analytics.Country, Values: []string{"US", "TW"}}, {By: analytics.Country, Values: []string{""}},
		{By: analytics.Device, Values: []string{"MOBILE"}}, {By: analytics.OS, Values: []string{"iOS", "nothing"}},
		{By: analytics.Browser, Values: []string{"Chrome"}}, {By: analytics.Site, Values: []string{"instagram.com", "x.com"}},
		{By: analytics.Site, Values: []string{""}}, {By: analytics.Site, Values: []string{"unknown"}},
		{By: analytics.Language, Values: []string{"de", "zh"}}, {By: analytics.Variant, Values: []string{one, ""}},
		{By: analytics.Rule, Values: []string{"02000000-0000-0000-0000-000000000000"}},
		{By: analytics.City, Values: []string{"São Paulo", "'; DROP"}}, {By: analytics.BotName, Values: []string{"Googlebot"}},
		{By: analytics.Country, Values: []string{}}, {By: analytics.Referer, Values: []string{"?", "https://t.co/abc"}},
	}
	for i, m := range list {
		scope := analytics.Scope{Bots: analytics.Everyone, Match: []analytics.Match{m}}
		if i%3 == 1 {
			scope.Match = append(scope.Match, list[(i+5)%len(list)])
			scope.From, scope.Owner = time.Date(2026, 5, 2, 3, 4, 5, 0, time.UTC).UnixMilli(), 2
		}
		for j, q := range []analytics.Query{{Visitors: true, Last: true}, {Every: analytics.Hours},
			{By: analytics.Site, TopFirst: true, Visitors: true}, {By: analytics.Variant}} {
			if !asked(i + j) {
				continue
			}
			q.Scope = scope
			got, err := s.Lines(ctx(), q)
			testkit.Must(t, err)
			if want := expect(rows, q); !slices.Equal(got, want) {
				t.Errorf("%+v, by %v: %s", scope.Match, q.By, firstDifference(got, want))
			}
		}
		for j, dims := range [][]analytics.Dimension{{analytics.Site}, {analytics.Site, analytics.Country, analytics.Referer,
			analytics.Language},
			{analytics.Language, analytics.Site}} {
			if !asked(i + j) {
				continue
			}
			found, err := s.Breakdown(ctx(), scope, dims, 5)
			testkit.Must(t, err)
			want := map[analytics.Dimension][]analytics.Count{}
			for _, d := range dims {
				for _, l := range expect(rows, analytics.Query{Scope: scope, By: d, TopFirst: true, Limit: 5}) {
					want[d] = append(want[d], analytics.Count{Value: l.Value, Clicks: l.Clicks})
				}
			}
			if !maps.EqualFunc(found, want, slices.Equal) {
				t.Errorf("%+v, breakdown by %v:\n got %v\nwant %v", scope.Match, dims, found, want)
			}
		}
		n := 0
		testkit.Must(t, s.Clicks(ctx(), scope, 1<<20, func(r *analytics.Row) error { n++; return nil }))
		if want := len(filter(rows, scope)); n != want {
			t.Errorf("%+v: %d clicks, want %d", scope.Match, n, want)
		}
	}
	matchingManyLinks(t, s, rows)
}

// matchingManyLinks selects clicks on as many links as the tags of a filter can have.
func matchingManyLinks(t *testing.T, s analytics.Store, rows []analytics.Row) {
	many := analytics.Scope{Bots: analytics.Everyone, Links: make([]uint64, 100_000),
		Match: []analytics.Match{{By: analytics.Language, Values: []string{"de"}}}}
	for i := range many.Links {
		many.Links[i] = 10 + uint64(i)*7_000_000
	}
	among := analytics.Scope{Bots: analytics.Everyone, Links: []uint64{10}, Match: many.Match}
	if got, want := total(t, s, many), int64(len(filter(rows, among))); got != want || want == 0 {
		t.Errorf("%d clicks on many links, want %d", got, want)
	}
	many.Links, many.NotLinks = nil, many.Links
	others := analytics.Scope{Bots: analytics.Everyone, NotLinks: []uint64{10}, Match: many.Match}
	if got, want := total(t, s, many), int64(len(filter(rows, others))); got != want || want == 0 {
		t.Errorf("%d clicks on other links than many, want %d", got, want)
	}
}
