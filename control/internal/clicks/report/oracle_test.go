package report_test

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/report"
)

// oracle counts clicks in memory. It has no code of the reports.
type oracle struct {
	rows    []analytics.Row
	periods map[string]map[int64]label // by zone and interval, then by step
}

// label is how a series names a period.
type label struct{ date, at string }

// step is a time within which an interval's period is the same: no clock of the test changes within a quarter hour.
func step(interval string) int64 {
	if interval == "minute" || interval == "hour" {
		return 60_000
	}
	return 15 * 60_000
}

func (o *oracle) label(ms int64, zone *time.Location, interval string) label {
	key := zone.String() + interval
	if o.periods[key] == nil {
		o.periods[key] = map[int64]label{}
	}
	at := ms / step(interval)
	l, known := o.periods[key][at]
	if !known {
		iv := map[string]analytics.Interval{"minute": analytics.Minutes, "hour": analytics.Hours, "": analytics.Days, "day": analytics.Days, "week": analytics.Weeks, "month": analytics.Months}[interval]
		p := analyticstest.PeriodOf(iv, ms, zone)
		l.date = p.Day.String()
		if p.At != 0 {
			at := time.UnixMilli(p.At).In(zone)
			l = label{at.Format(time.DateOnly), at.Format(time.RFC3339)}
		}
		o.periods[key][at] = l
	}
	return l
}

// limits are the times of a range. Of dates, from and to are found by looking for the days.
func limits(t *testing.T, s span, zone *time.Location, compare string) (from, to int64) {
	day := func(text string, add int) int64 {
		at, err := time.Parse(time.DateOnly, text)
		if err != nil {
			t.Fatal(err)
		}
		at = at.AddDate(0, 0, add)
		want := at.Format(time.DateOnly)
		ms := at.Add(-30 * time.Hour).UnixMilli()
		for time.UnixMilli(ms).In(zone).Format(time.DateOnly) < want {
			ms += 15 * 60_000
		}
		return ms
	}
	if len(s.start) == len(time.DateOnly) {
		first, _ := time.Parse(time.DateOnly, s.start)
		last, _ := time.Parse(time.DateOnly, s.end)
		switch n := int(last.Sub(first).Hours()/24) + 1; compare {
		case "previous":
			first, last = first.AddDate(0, 0, -n), last.AddDate(0, 0, -n)
		case "year":
			for _, at := range []*time.Time{&first, &last} {
				month := at.Month()
				if *at = at.AddDate(-1, 0, 0); at.Month() != month {
					*at = at.AddDate(0, 0, -1) // 29 February
				}
			}
		}
		return day(first.Format(time.DateOnly), 0), day(last.Format(time.DateOnly), 1)
	}
	at := func(text string) time.Time {
		for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04"} {
			if at, err := time.ParseInLocation(layout, text, zone); err == nil {
				return at.In(zone)
			}
		}
		t.Fatal(text)
		return time.Time{}
	}
	start, end := at(s.start), at(s.end)
	length := end.Sub(start)
	switch compare {
	case "previous":
		start = start.Add(-length)
	case "year":
		// The same time after the beginning of the day, a year before.
		since := start.UnixMilli() - day(start.Format(time.DateOnly), 0)
		start = time.UnixMilli(day(start.AddDate(-1, 0, 0).Format(time.DateOnly), 0) + since)
	}
	return start.UnixMilli(), start.Add(length).UnixMilli()
}

// expected are the figures of a report.
type expected struct {
	clicks, visitors int64
	series           []report.DayFigures
	lists            map[string][]string // "value clicks", most first
	hours            [7][24]int64
	tags             map[string]int64
}

func (o *oracle) count(from, to int64, zone *time.Location, interval string, keep func(*analytics.Row) bool) expected {
	e := expected{lists: map[string][]string{}, tags: map[string]int64{}}
	all, figures, ofPeriod := map[netip.Addr]bool{}, map[label]*report.DayFigures{}, map[label]map[netip.Addr]bool{}
	for ms := from; ms < to; ms += step(interval) - ms%step(interval) {
		l := o.label(ms, zone, interval)
		if figures[l] == nil {
			figures[l], ofPeriod[l] = &report.DayFigures{Date: l.date, At: l.at}, map[netip.Addr]bool{}
		}
	}
	names := []string{"country", "region", "city", "browser", "os", "device", "referer", "campaign", "language", "site"}
	values := make([]map[string]int64, len(names))
	for i := range values {
		values[i] = map[string]int64{}
	}
	first, _ := slices.BinarySearchFunc(o.rows, from, func(r analytics.Row, ms int64) int { return cmp.Compare(r.Time, ms) })
	for i := first; i < len(o.rows) && o.rows[i].Time < to; i++ {
		r := &o.rows[i]
		if !keep(r) {
			continue
		}
		e.clicks++
		all[r.IP] = true
		l := o.label(r.Time, zone, interval)
		figures[l].Clicks++
		ofPeriod[l][r.IP] = true
		for i, v := range [...]string{r.Country, r.Region, r.City, r.Browser, r.OS, r.Device, r.Referer, r.UTM.Campaign, r.Language, analyticstest.Sites[r.Referer]} {
			values[i][v]++
		}
		at := time.UnixMilli(r.Time).In(zone)
		e.hours[(int(at.Weekday())+6)%7][at.Hour()]++
		if r.Link%3 == 0 {
			e.tags["third"]++
		}
		if r.Link%2 == 0 {
			e.tags["even"]++
		}
	}
	e.visitors = int64(len(all))
	for l, d := range figures {
		d.UniqueVisitors = int64(len(ofPeriod[l]))
	}
	// Instants of different offsets are ordered by time, not by text.
	order := func(d report.DayFigures) string {
		if at, err := time.Parse(time.RFC3339, d.At); err == nil {
			return at.UTC().Format(time.RFC3339)
		}
		return d.Date
	}
	for _, d := range figures {
		e.series = append(e.series, *d)
	}
	slices.SortFunc(e.series, func(a, b report.DayFigures) int { return cmp.Compare(order(a), order(b)) })
	for i, of := range values {
		name := names[i]
		if name == "campaign" {
			delete(of, "")
		}
		keys := slices.SortedFunc(maps.Keys(of), func(a, b string) int { return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b)) })
		for _, k := range keys[:min(10, len(keys))] {
			e.lists[name] = append(e.lists[name], fmt.Sprint(k, " ", of[k]))
		}
	}
	return e
}

// differs compares a report with the expected figures.
func (e expected) differs(r *report.Report) string {
	if r.TotalClicks != e.clicks || r.UniqueVisitors != e.visitors {
		return fmt.Sprintf("%d clicks of %d visitors, want %d of %d", r.TotalClicks, r.UniqueVisitors, e.clicks, e.visitors)
	}
	if !slices.Equal(r.TimeSeries, e.series) {
		for i := range min(len(r.TimeSeries), len(e.series)) {
			if r.TimeSeries[i] != e.series[i] {
				return fmt.Sprintf("entry %d is %+v, want %+v", i, r.TimeSeries[i], e.series[i])
			}
		}
		return fmt.Sprintf("%d entries, want %d", len(r.TimeSeries), len(e.series))
	}
	unknown := func(list []report.Named) (out []string) {
		for _, n := range list {
			out = append(out, fmt.Sprint(strings.Replace(n.Name, "Unknown", "", 1), " ", n.Clicks))
		}
		return out
	}
	var referers, campaigns, sites []string
	for _, v := range r.Referers {
		referers = append(referers, fmt.Sprint(strings.Replace(v.Referer, "Direct", "", 1), " ", v.Clicks))
	}
	for _, v := range r.UTMCampaigns {
		campaigns = append(campaigns, fmt.Sprint(v.Value, " ", v.Clicks))
	}
	for _, v := range r.Sites {
		sites = append(sites, fmt.Sprint(strings.Replace(strings.Replace(v.Site, "Direct", "", 1), "Unknown", "unknown", 1), " ", v.Clicks))
	}
	for name, got := range map[string][]string{"country": unknown(r.Countries), "region": unknown(r.Regions), "city": unknown(r.Cities), "browser": unknown(r.Browsers), "os": unknown(r.OperatingSystems),
		"device": unknown(r.Devices), "language": unknown(r.Languages), "referer": referers, "campaign": campaigns, "site": sites} {
		if !slices.Equal(got, e.lists[name]) {
			return fmt.Sprintf("by %s %q, want %q", name, got, e.lists[name])
		}
	}
	return ""
}
