package report_test

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/platform/percent"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// dimensions are the lists of a report with the value of a click.
var dimensions = []struct {
	name string
	of   func(*analytics.Row) string
}{
	{"country", func(r *analytics.Row) string { return r.Country }}, {"region", func(r *analytics.Row) string { return r.Region }},
	{"city", func(r *analytics.Row) string { return r.City }},
	{"device", func(r *analytics.Row) string { return r.Device }}, {"os", func(r *analytics.Row) string { return r.OS }},
	{"browser", func(r *analytics.Row) string { return r.Browser }},
	{"referer", func(r *analytics.Row) string { return r.Referer }}, {"site", func(r *analytics.Row) string {
		return analyticstest.Sites[r.Referer]
	}}, {"language", func(r *analytics.Row) string { return r.Language }},
	{"utm_source", func(r *analytics.Row) string { return r.UTM.Source }}, {"utm_medium", func(r *analytics.Row) string {
		return r.UTM.Medium
	}}, {"utm_campaign", func(r *analytics.Row) string { return r.UTM.Campaign }},
	{"utm_term", func(r *analytics.Row) string { return r.UTM.Term }}, {"utm_content", func(r *analytics.Row) string {
		return r.UTM.Content
	}},
}

// maxVisitors is more than the addresses of generated clicks.
const maxVisitors = 1024

// visitors is a set of addresses.
type visitors [maxVisitors / 64]uint64

func (v *visitors) add(n uint16) { v[n/64] |= 1 << (n % 64) }

func (v *visitors) count() (n int64) {
	for _, part := range v {
		n += int64(bits.OnesCount64(part))
	}
	return n
}

// coded is a click with small numbers for its values, so that two million of them are counted thousands of times.
type coded struct {
	time    int64
	kept    uint32 // bit f is set if filters[f] keeps the click
	visitor uint16
	link    uint8
	bot     bool
	values  [14]uint8 // by dimension
}

// oracle counts clicks in memory. It has no code of the reports and no query.
type oracle struct {
	clicks []coded // in the order of time
	values [14][]string

	mu        sync.Mutex
	calendars map[string]map[int64]label // by zone and interval, then by step
	weekHours map[string]map[int64]int   // by zone, then by step
}

func newOracle(rows []analytics.Row) *oracle {
	o := &oracle{clicks: make([]coded, len(rows)), calendars: map[string]map[int64]label{}, weekHours: map[string]map[int64]int{}}
	addresses, codes := map[netip.Addr]uint16{}, [14]map[string]uint8{}
	for i := range codes {
		codes[i] = map[string]uint8{}
	}
	for i := range rows {
		r := &rows[i]
		c := coded{time: r.Time, link: uint8(r.Link), bot: r.Bot}
		n, known := addresses[r.IP]
		if !known {
			n = uint16(len(addresses))
			addresses[r.IP] = n
		}
		c.visitor = n
		for f, filter := range filters {
			if filter.keep(r) {
				c.kept |= 1 << f
			}
		}
		for d, of := range dimensions {
			v := of.of(r)
			code, known := codes[d][v]
			if !known {
				code = uint8(len(o.values[d]))
				codes[d][v], o.values[d] = code, append(o.values[d], v)
			}
			c.values[d] = code
		}
		o.clicks[i] = c
	}
	if len(addresses) > maxVisitors || len(o.values[6]) > math.MaxUint8 || len(filters) > 32 {
		panic("the clicks have too many values to be coded")
	}
	return o
}

// label is how a series names a period.
type label struct{ date, at string }

// quarter is a time within which no zone of the test changes its clock, in milliseconds.
const quarter = 15 * 60_000

// step is a time within which an interval's period is the same.
func step(interval string) int64 {
	if interval == "minute" {
		return 60_000
	}
	return quarter
}

// label names the period of a time with the calendar of package time.
func (o *oracle) label(ms int64, zone *time.Location, interval string) label {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := zone.String() + interval
	if o.calendars[key] == nil {
		o.calendars[key] = map[int64]label{}
	}
	at := ms / step(interval)
	l, known := o.calendars[key][at]
	if !known {
		iv := map[string]analytics.Interval{"minute": analytics.Minutes, "hour": analytics.Hours, "": analytics.Days, "day": analytics.Days,
			"week": analytics.Weeks, "month": analytics.Months}[interval]
		p := analyticstest.PeriodOf(iv, ms, zone)
		l.date = p.Day.String()
		if p.At != 0 {
			at := time.UnixMilli(p.At).In(zone)
			l = label{at.Format(time.DateOnly), at.Format(time.RFC3339)}
		}
		o.calendars[key][at] = l
	}
	return l
}

func (o *oracle) weekHour(ms int64, zone *time.Location) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	key, at := zone.String(), ms/quarter
	if o.weekHours[key] == nil {
		o.weekHours[key] = map[int64]int{}
	}
	h, known := o.weekHours[key][at]
	if !known {
		t := time.UnixMilli(ms).In(zone)
		h = (int(t.Weekday())+6)%7*24 + t.Hour()
		o.weekHours[key][at] = h
	}
	return h
}

// counted are clicks and their distinct addresses.
type counted struct {
	clicks   int64
	visitors visitors
}

func (c *counted) add(visitor uint16) {
	c.clicks++
	c.visitors.add(visitor)
}

// expected are the figures of a report.
type expected struct {
	all    counted
	series []report.DayFigures
	lists  [14][]analytics.Count // by dimension, most first
	hours  [7][24]int64
	links  [41]counted
	days   int
	before int64 // clicks of the preceding period
}

// count makes the figures of the clicks that keep selects, in a range without its end.
func (o *oracle) count(from, to int64, zone *time.Location, interval string, keep func(*coded) bool) *expected {
	e := &expected{}
	// The periods of all steps, then the calendar days.
	var periods []counted
	var labels []label
	of, days := map[label]int{}, map[string]bool{}
	every := step(interval)
	first := from / every
	stepped := make([]int, (to-1)/every-first+1)
	for i := range stepped {
		ms := max(from, (first+int64(i))*every)
		l := o.label(ms, zone, interval)
		n, known := of[l]
		if !known {
			n = len(periods)
			of[l], periods, labels = n, append(periods, counted{}), append(labels, l)
		}
		stepped[i] = n
		days[time.UnixMilli(ms).In(zone).Format(time.DateOnly)] = true
	}
	e.days = len(days)
	hours := make([]int, (to-1)/quarter-from/quarter+1)
	for i := range hours {
		hours[i] = o.weekHour((from/quarter+int64(i))*quarter, zone)
	}
	var values [14][256]int64
	start, _ := slices.BinarySearchFunc(o.clicks, from, func(c coded, ms int64) int { return cmp.Compare(c.time, ms) })
	for i := start; i < len(o.clicks) && o.clicks[i].time < to; i++ {
		c := &o.clicks[i]
		if !keep(c) {
			continue
		}
		e.all.add(c.visitor)
		periods[stepped[c.time/every-first]].add(c.visitor)
		e.links[c.link].add(c.visitor)
		h := hours[c.time/quarter-from/quarter]
		e.hours[h/24][h%24]++
		for d, v := range c.values {
			values[d][v]++
		}
	}
	for i, p := range periods {
		e.series = append(e.series, report.DayFigures{Date: labels[i].date, At: labels[i].at, Clicks: p.clicks,
			Distinct: report.Distinct{UniqueVisitors: p.visitors.count(), Exact: true}})
	}
	for d, names := range o.values {
		for code, name := range names {
			if n := values[d][code]; n > 0 {
				e.lists[d] = append(e.lists[d], analytics.Count{Value: name, Clicks: n})
			}
		}
		slices.SortFunc(e.lists[d], func(a, b analytics.Count) int {
			return cmp.Or(cmp.Compare(b.Clicks, a.Clicks), cmp.Compare(a.Value, b.Value))
		})
	}
	return e
}

// group makes the figures of the links that in admits.
func (e *expected) group(name string, in func(link int) bool) report.Group {
	g := report.Group{Name: name}
	var all counted
	for link := 1; link < len(e.links); link++ {
		if in(link) {
			g.URLCount++
			all.clicks += e.links[link].clicks
			for i, part := range e.links[link].visitors {
				all.visitors[i] |= part
			}
		}
	}
	n := all.visitors.count()
	g.Clicks, g.UniqueVisitors, g.Percentage = all.clicks, &n, percent.Of(all.clicks, e.all.clicks)
	return g
}

// limits are the times of a range after shifts to the previous period, the same weekdays before or the previous year. Of dates, from
// and to are found by looking for the days.
func limits(t *testing.T, s span, zone *time.Location, shifts ...string) (from, to int64) {
	day := func(text string, add int) int64 {
		at, err := time.Parse(time.DateOnly, text)
		testkit.Must(t, err)
		at = at.AddDate(0, 0, add)
		want := at.Format(time.DateOnly)
		ms := at.Add(-30 * time.Hour).UnixMilli()
		for time.UnixMilli(ms).In(zone).Format(time.DateOnly) < want {
			ms += quarter
		}
		return ms
	}
	if len(s.start) == len(time.DateOnly) {
		first, _ := time.Parse(time.DateOnly, s.start)
		last, _ := time.Parse(time.DateOnly, s.end)
		for _, shift := range shifts {
			switch n := int(last.Sub(first).Hours()/24) + 1; shift {
			case "previous":
				first, last = first.AddDate(0, 0, -n), last.AddDate(0, 0, -n)
			case "weekday":
				for end := first; !last.Before(end); {
					first, last = first.AddDate(0, 0, -7), last.AddDate(0, 0, -7)
				}
			case "year":
				for _, at := range []*time.Time{&first, &last} {
					month := at.Month()
					if *at = at.AddDate(-1, 0, 0); at.Month() != month {
						*at = at.AddDate(0, 0, -1) // 29 February
					}
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
	for _, shift := range shifts {
		switch shift {
		case "previous":
			start = start.Add(-length)
		case "weekday":
			// The same time after the beginning of the day, so many weeks before that no day is in both periods.
			since, earlier := start.UnixMilli()-day(start.Format(time.DateOnly), 0), start
			first, last := start.Format(time.DateOnly), start.Add(length-time.Millisecond)
			for last.Format(time.DateOnly) >= first {
				earlier, last = earlier.AddDate(0, 0, -7), last.AddDate(0, 0, -7)
			}
			start = time.UnixMilli(day(earlier.Format(time.DateOnly), 0) + since).In(zone)
		case "year":
			// The same time after the beginning of the day, a year before.
			since := start.UnixMilli() - day(start.Format(time.DateOnly), 0)
			start = time.UnixMilli(day(start.AddDate(-1, 0, 0).Format(time.DateOnly), 0) + since).In(zone)
		}
	}
	return start.UnixMilli(), start.Add(length).UnixMilli()
}

// top lists the ten links with the most clicks.
func (e *expected) top() []int {
	var links []int
	for link := 1; link < len(e.links); link++ {
		if e.links[link].clicks > 0 {
			links = append(links, link)
		}
	}
	slices.SortFunc(links, func(a, b int) int {
		return cmp.Or(cmp.Compare(e.links[b].clicks, e.links[a].clicks), cmp.Compare(a, b))
	})
	return links[:min(10, len(links))]
}

// clicksIn counts the clicks of a range that keep selects.
func (o *oracle) clicksIn(from, to int64, keep func(*coded) bool) (n int64) {
	start, _ := slices.BinarySearchFunc(o.clicks, from, func(c coded, ms int64) int { return cmp.Compare(c.time, ms) })
	for i := start; i < len(o.clicks) && o.clicks[i].time < to; i++ {
		if keep(&o.clicks[i]) {
			n++
		}
	}
	return n
}

// differs compares a report with the expected figures.
func (of truth) differs(r *report.Report) string {
	want := of.all
	n := want.all.clicks
	sum := report.Summary{TotalClicks: n, Distinct: report.Distinct{UniqueVisitors: want.all.visitors.count(), Exact: true},
		AverageClicksPerDay: math.Round(float64(n)/float64(want.days)*100) / 100}
	if sum.GrowthRate = percent.Of(n-want.before, want.before); want.before == 0 && n > 0 {
		sum.GrowthRate = 100
	}
	if r.Overview != sum || r.TotalClicks != n || r.Distinct != sum.Distinct {
		return fmt.Sprintf("%+v, %d clicks of %d visitors, want %+v", r.Overview, r.TotalClicks, r.UniqueVisitors, sum)
	}
	for _, s := range []struct {
		name      string
		got, want []report.DayFigures
	}{{"series", r.TimeSeries, want.series}, {"series of people", r.Series.People, of.people.series},
		{"series of bots", r.Series.Bots, of.bots.series}} {
		for i := range min(len(s.got), len(s.want)) {
			if s.got[i] != s.want[i] {
				return fmt.Sprintf("entry %d of the %s is %+v, want %+v", i, s.name, s.got[i], s.want[i])
			}
		}
		if len(s.got) != len(s.want) {
			return fmt.Sprintf("%d entries in the %s, want %d", len(s.got), s.name, len(s.want))
		}
	}
	for d, got := range lists(r) {
		var list []report.Named
		for _, v := range want.lists[d] {
			name := dimensions[d].name
			if v.Value == "" && strings.HasPrefix(name, "utm_") {
				continue // clicks without a campaign are not listed
			}
			if v.Value == "" {
				v.Value = map[bool]string{true: "Direct", false: "Unknown"}[name == "referer" || name == "site"]
			}
			if name == "site" && v.Value == "unknown" {
				v.Value = "Unknown"
			}
			if len(list) < 10 {
				list = append(list, report.Named{Name: v.Value, Clicks: v.Clicks, Percentage: percent.Of(v.Clicks, n)})
			}
		}
		if !slices.Equal(got, list) {
			return fmt.Sprintf("by %s %v, want %v", dimensions[d].name, got, list)
		}
	}
	return ""
}

// lists returns the lists of a report in the order of dimensions.
func lists(r *report.Report) [14][]report.Named {
	values := func(list []report.Valued) (out []report.Named) {
		for _, v := range list {
			out = append(out, report.Named{Name: v.Value, Clicks: v.Clicks, Percentage: v.Percentage})
		}
		return out
	}
	var referers, sites []report.Named
	for _, v := range r.Referers {
		referers = append(referers, report.Named{Name: v.Referer, Clicks: v.Clicks, Percentage: v.Percentage})
	}
	for _, v := range r.Sites {
		sites = append(sites, report.Named{Name: v.Site, Clicks: v.Clicks, Percentage: v.Percentage})
	}
	return [14][]report.Named{r.Countries, r.Regions, r.Cities, r.Devices, r.OperatingSystems, r.Browsers, referers, sites, r.Languages,
		values(r.UTMSources), values(r.UTMMediums), values(r.UTMCampaigns), values(r.UTMTerms), values(r.UTMContents)}
}
