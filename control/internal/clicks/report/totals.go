package report

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/moves"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/percent"
	"github.com/shortline/shortline/control/internal/store"
)

// Summary has the totals of a period.
type Summary struct {
	TotalClicks         int64   `json:"totalClicks"`
	UniqueVisitors      int64   `json:"uniqueVisitors" doc:"Distinct addresses in the whole period."`
	AverageClicksPerDay float64 `json:"averageClicksPerDay"`
	GrowthRate          float64 `json:"growthRate" doc:"In percent, compared with the preceding period of the same length."`
}

// DayFigures has the figures of one day.
type DayFigures struct {
	Date           string `json:"date" format:"date"`
	Clicks         int64  `json:"clicks"`
	UniqueVisitors int64  `json:"uniqueVisitors"`
}

// Named, Referred and Valued are entries of lists. They differ only in the name of their first field.
type Named struct {
	Name       string  `json:"name"`
	Clicks     int64   `json:"clicks"`
	Percentage float64 `json:"percentage" doc:"Of all clicks in the period."`
}

// Referred is one referring page.
type Referred struct {
	Referer    string  `json:"referer"`
	Clicks     int64   `json:"clicks"`
	Percentage float64 `json:"percentage"`
}

// Valued is one value of a campaign parameter.
type Valued struct {
	Value      string  `json:"value"`
	Clicks     int64   `json:"clicks"`
	Percentage float64 `json:"percentage"`
}

// Report has all figures about the clicks of a period.
type Report struct {
	Overview         Summary      `json:"overview"`
	TotalClicks      int64        `json:"totalClicks"`
	UniqueVisitors   int64        `json:"uniqueVisitors"`
	TimeSeries       []DayFigures `json:"timeSeries" doc:"Every day of the period."`
	Countries        []Named      `json:"countries"`
	Regions          []Named      `json:"regions"`
	Cities           []Named      `json:"cities"`
	Browsers         []Named      `json:"browsers"`
	OperatingSystems []Named      `json:"operatingSystems"`
	Devices          []Named      `json:"devices"`
	Referers         []Referred   `json:"referers"`
	UTMSources       []Valued     `json:"utmSources"`
	UTMMediums       []Valued     `json:"utmMediums"`
	UTMCampaigns     []Valued     `json:"utmCampaigns"`
	UTMTerms         []Valued     `json:"utmTerms"`
	UTMContents      []Valued     `json:"utmContents"`
}

// Overview is the report about everything that the caller may see.
type Overview struct {
	Report
	TotalURLs int       `json:"totalUrls"`
	TopURLs   []TopLink `json:"topUrls"`
}

// TopLink is an entry in the list of links with the most clicks. Deleted links are not listed.
type TopLink struct {
	ID     string  `json:"id"`
	Slug   string  `json:"slug"`
	Title  *string `json:"title"`
	Clicks int64   `json:"clicks"`
}

// Link reports on one link.
func (s *Service) Link(ctx context.Context, p auth.Principal, id string, a Ask) (*Report, error) {
	u, period, err := s.linkAndPeriod(ctx, p, id, a)
	if err != nil {
		return nil, err
	}
	scope := linkScope(u, a)
	return recall(ctx, s, p, scope, key("link", a, period), func() (*Report, error) { return s.report(ctx, scope, period, a.limit()) })
}

// Overview reports on all links of the caller; for an ADMIN, on all links. Its totals include clicks on links that were
// deleted since.
func (s *Service) Overview(ctx context.Context, p auth.Principal, a Ask) (*Overview, error) {
	period, err := s.period(a.Range)
	if err != nil {
		return nil, err
	}
	return recall(ctx, s, p, ownScope(p, a), key("overview", a, period), func() (*Overview, error) { return s.overview(ctx, p, a, period) })
}

func (s *Service) overview(ctx context.Context, p auth.Principal, a Ask, period Period) (*Overview, error) {
	// The number of links and the moves of links are those of the same moment.
	var stats store.LinkStats
	var last store.LastMove
	err := s.store.View(ctx, func(c store.Conn) (err error) {
		if stats, err = c.LinkStats(ctx, p.Scope(), s.now().UnixMilli()); err == nil {
			last, err = c.LastMove(ctx, p.Scope())
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count links for the overview: %w", err)
	}
	scope := ownScope(p, a)
	if scope.Owner != 0 {
		if scope, err = moves.ApplyAt(ctx, s.store, s.clicks, scope, last); err != nil {
			return nil, err
		}
	}
	r, err := s.report(ctx, scope, period, a.limit())
	if err != nil {
		return nil, err
	}
	top, err := s.top(ctx, period.limit(scope), a.limit())
	if err != nil {
		return nil, err
	}
	o := &Overview{Report: *r, TotalURLs: stats.Total, TopURLs: make([]TopLink, 0, len(top))}
	for _, t := range top {
		l := TopLink{ID: t.ID, Slug: t.Slug, Clicks: t.Clicks}
		if t.Title != "" {
			l.Title = &t.Title
		}
		o.TopURLs = append(o.TopURLs, l)
	}
	return o, nil
}

// Trend counts clicks of people on several links together, for every day of the range. The caller of Trend has already
// checked access to these links.
func (s *Service) Trend(ctx context.Context, links []uint64, r Range) ([]DayFigures, error) {
	period, err := s.period(r)
	if err != nil {
		return nil, err
	}
	if links == nil {
		links = []uint64{} // nil would select all links
	}
	return s.series(ctx, period.limit(analytics.Scope{Links: links}), period)
}

// CountedLink is a link and its clicks in the requested period.
type CountedLink struct {
	store.Link
	Clicks int64
}

// TopLinks returns the caller's links with the most clicks. Without a range and without bots, these are the links'
// counters, which cover all time.
func (s *Service) TopLinks(ctx context.Context, p auth.Principal, a Ask) ([]CountedLink, error) {
	period, err := s.period(a.Range)
	if err != nil {
		return nil, err
	}
	scope := ownScope(p, a)
	if a.open() {
		if !a.IncludeBots {
			list, err := s.store.LinksByClicks(ctx, p.Scope(), a.limit())
			if err != nil {
				return nil, fmt.Errorf("list links by clicks: %w", err)
			}
			out := make([]CountedLink, 0, len(list))
			for _, u := range list {
				out = append(out, CountedLink{u, u.ClickCount})
			}
			return out, nil
		}
	} else {
		scope = period.limit(scope)
	}
	list, err := recall(ctx, s, p, scope, key("top", a, period), func() (*[]CountedLink, error) {
		scope, err := s.present(ctx, scope)
		if err != nil {
			return nil, err
		}
		list, err := s.top(ctx, scope, a.limit())
		return &list, err
	})
	if err != nil {
		return nil, err
	}
	return *list, nil
}

// top returns the existing links of a scope with the most clicks.
func (s *Service) top(ctx context.Context, scope analytics.Scope, limit int) ([]CountedLink, error) {
	out := []CountedLink{}
	// Usually the first few links exist. All are read only if many were deleted.
	for _, page := range []int{2*limit + 20, 0} {
		lines, err := s.clicks.Lines(ctx, analytics.Query{Scope: scope, ByLink: true, TopFirst: true, Limit: page})
		if err != nil {
			return nil, err
		}
		nums := make([]uint64, len(lines))
		for i, l := range lines {
			nums[i] = l.Link
		}
		urls, err := s.store.LinksByNum(ctx, nums)
		if err != nil {
			return nil, fmt.Errorf("find the links of a report: %w", err)
		}
		out = out[:0]
		for _, l := range lines {
			if u, ok := urls[l.Link]; ok && len(out) < limit {
				out = append(out, CountedLink{u, l.Clicks})
			}
		}
		if len(out) == limit || len(lines) < page {
			break
		}
	}
	return out, nil
}

var reported = []analytics.Dimension{
	analytics.Country, analytics.Region, analytics.City, analytics.Device, analytics.OS, analytics.Browser, analytics.Referer,
	analytics.UTMSource, analytics.UTMMedium, analytics.UTMCampaign, analytics.UTMTerm, analytics.UTMContent,
}

func (s *Service) report(ctx context.Context, scope analytics.Scope, period Period, limit int) (*Report, error) {
	within := period.limit(scope)
	series, err := s.series(ctx, within, period)
	if err != nil {
		return nil, err
	}
	sum, err := s.summary(ctx, scope, period, series)
	if err != nil {
		return nil, err
	}
	found, err := s.clicks.Breakdown(ctx, within, reported, limit+1) // one more, because clicks without a campaign are not listed
	if err != nil {
		return nil, err
	}
	names := func(d analytics.Dimension) []Named { return named(found[d], sum.TotalClicks, limit) }
	values := func(d analytics.Dimension) []Valued {
		list := []Valued{}
		for _, c := range found[d] {
			if c.Value != "" && len(list) < limit {
				list = append(list, Valued{c.Value, c.Clicks, percent.Of(c.Clicks, sum.TotalClicks)})
			}
		}
		return list
	}
	r := &Report{
		Overview: sum, TotalClicks: sum.TotalClicks, UniqueVisitors: sum.UniqueVisitors, TimeSeries: series,
		Countries: names(analytics.Country), Regions: names(analytics.Region), Cities: names(analytics.City),
		Browsers: names(analytics.Browser), OperatingSystems: names(analytics.OS), Devices: names(analytics.Device), Referers: []Referred{},
		UTMSources: values(analytics.UTMSource), UTMMediums: values(analytics.UTMMedium), UTMCampaigns: values(analytics.UTMCampaign),
		UTMTerms: values(analytics.UTMTerm), UTMContents: values(analytics.UTMContent),
	}
	for _, c := range found[analytics.Referer][:min(limit, len(found[analytics.Referer]))] {
		r.Referers = append(r.Referers, Referred{cmp.Or(c.Value, "Direct"), c.Clicks, percent.Of(c.Clicks, sum.TotalClicks)})
	}
	return r, nil
}

// series returns every day of the period with its figures.
func (s *Service) series(ctx context.Context, within analytics.Scope, period Period) ([]DayFigures, error) {
	lines, err := s.clicks.Lines(ctx, analytics.Query{Scope: within, Every: analytics.Days, Zone: period.Zone, Visitors: true})
	if err != nil {
		return nil, err
	}
	series := make([]DayFigures, period.Days())
	for i := range series {
		series[i].Date = (period.First + analytics.Day(i)).String()
	}
	for _, l := range lines {
		d := &series[l.Day-period.First]
		d.Clicks, d.UniqueVisitors = l.Clicks, l.Visitors
	}
	return series, nil
}

// summary sums the days, so that both agree even if clicks arrive in between.
func (s *Service) summary(ctx context.Context, scope analytics.Scope, period Period, series []DayFigures) (sum Summary, err error) {
	lines, err := s.clicks.Lines(ctx, analytics.Query{Scope: period.limit(scope), Visitors: true})
	if err != nil {
		return sum, err
	}
	before, err := s.count(ctx, period.before().limit(scope))
	if err != nil {
		return sum, err
	}
	for _, d := range series {
		sum.TotalClicks += d.Clicks
	}
	sum.UniqueVisitors = lines[0].Visitors
	sum.AverageClicksPerDay = math.Round(float64(sum.TotalClicks)/float64(len(series))*100) / 100
	sum.GrowthRate = growth(sum.TotalClicks, before)
	return sum, nil
}

func named(counts []analytics.Count, total int64, limit int) []Named {
	list := []Named{}
	for _, c := range counts[:min(limit, len(counts))] {
		list = append(list, Named{cmp.Or(c.Value, "Unknown"), c.Clicks, percent.Of(c.Clicks, total)})
	}
	return list
}
