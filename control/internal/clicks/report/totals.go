package report

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/cluster/moves"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/percent"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
)

// Summary has the totals of a period.
type Summary struct {
	TotalClicks int64 `json:"totalClicks"`
	Distinct
	AverageClicksPerDay float64 `json:"averageClicksPerDay"`
	GrowthRate          float64 `json:"growthRate" doc:"In percent, compared with the preceding period of the same length."`
	*Won
}

// DayFigures has the figures of one day, or of another period.
type DayFigures struct {
	Date   string `json:"date" format:"date" doc:"The day. With interval week or month: the first day of the week or month, which may be before startDate."`
	At     string `json:"at,omitempty" format:"date-time" doc:"When the minute or hour begins. Only if interval is minute or hour."`
	Clicks int64  `json:"clicks"`
	Distinct
	*Won
}

// Named, Referred and Valued are entries of lists. They differ only in the name of their first field.
type Named struct {
	Name       string  `json:"name"`
	Clicks     int64   `json:"clicks"`
	Percentage float64 `json:"percentage" doc:"Of all clicks in the period."`
	*Won
}

// Referred is one referring page.
type Referred struct {
	Referer    string  `json:"referer"`
	Clicks     int64   `json:"clicks"`
	Percentage float64 `json:"percentage"`
	*Won
}

// Valued is one value of a campaign parameter.
type Valued struct {
	Value      string  `json:"value"`
	Clicks     int64   `json:"clicks"`
	Percentage float64 `json:"percentage"`
	*Won
}

// Report has all figures about the clicks of a period.
type Report struct {
	Overview    Summary `json:"overview"`
	TotalClicks int64   `json:"totalClicks"`
	Distinct
	TimeSeries       []DayFigures `json:"timeSeries" doc:"Every day of the period, or every other interval."`
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
	Languages        []Named      `json:"languages" doc:"Preferred languages of visitors. Clicks of earlier releases have none."`
	Sites            []SiteClicks `json:"sites" doc:"Referrers, grouped by site: l.instagram.com and www.instagram.com are instagram.com."`

	Series     *Split            `json:"series,omitempty" doc:"Only with series."`
	Comparison *Compared[Report] `json:"comparison,omitempty" doc:"Only with compare."`
}

// SiteClicks has the clicks that came from one site.
type SiteClicks struct {
	Site       string  `json:"site" doc:"Its domain. Direct: without a referrer. Unknown: the referrer has no host."`
	Name       string  `json:"name" doc:"What people call the site, such as X for x.com."`
	Clicks     int64   `json:"clicks"`
	Percentage float64 `json:"percentage"`
	*Won
}

// Split has separate series of people and of bots, whether or not the other figures include bots.
type Split struct {
	People []DayFigures `json:"people,omitempty"`
	Bots   []DayFigures `json:"bots,omitempty"`
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
	Domain string  `json:"domain" doc:"The host name of the link's address."`
	Slug   string  `json:"slug"`
	Title  *string `json:"title"`
	Clicks int64   `json:"clicks"`
	*Won
}

// Link reports on one link, which it also returns.
func (s *Service) Link(ctx context.Context, p auth.Principal, id string, a Ask) (*Report, store.Link, error) {
	u, period, err := s.linkAndPeriod(ctx, p, id, &a)
	if err != nil {
		return nil, u, err
	}
	scope := linkScope(u, a)
	r, err := recall(ctx, s, p, scope, key("link", a, period), func() (*Report, error) { return s.report(ctx, scope, a, period) })
	return r, u, err
}

// Overview reports on all links of the caller; for an ADMIN, on all links. Its totals include clicks on links that were
// deleted since.
func (s *Service) Overview(ctx context.Context, p auth.Principal, a Ask) (*Overview, error) {
	period, err := s.prepare(ctx, p, &a)
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
	r, err := s.report(ctx, scope, a, period)
	if err != nil {
		return nil, err
	}
	top, err := s.top(ctx, period.limit(scope), a.limit())
	if err != nil {
		return nil, err
	}
	nums := each.At(top, func(c *CountedLink) uint64 { return c.Num })
	scope = period.limit(scope)
	scope.Links = nums
	converted, err := s.wonByLink(ctx, a.Goal, scope)
	if err != nil {
		return nil, err
	}
	o := &Overview{Report: *r, TotalURLs: stats.Total, TopURLs: make([]TopLink, 0, len(top))}
	for _, t := range top {
		l := TopLink{ID: t.ID, Domain: s.hostOf(&t.Link), Slug: t.Slug, Clicks: t.Clicks, Won: converted[t.Num].of(t.Clicks, a.Goal)}
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
	return s.series(ctx, period.limit(analytics.Scope{Links: links}), period, "")
}

// CountedLink is a link and its clicks in the requested period.
type CountedLink struct {
	store.Link
	Clicks   int64
	Compared *int64 // clicks in the period that the caller compares with; nil if there is none
}

// compareTop adds the clicks of the period with which a list is compared.
func (s *Service) compareTop(ctx context.Context, scope analytics.Scope, a Ask, period Period, list []CountedLink) error {
	before := map[uint64]int64{}
	_, err := compared(a, period, func(other Period) (*int, error) {
		scope := other.limit(scope)
		scope.Links = make([]uint64, len(list))
		for i := range list {
			scope.Links[i] = list[i].Num
		}
		lines, err := s.clicks.Lines(ctx, analytics.Query{Scope: scope, ByLink: true})
		for _, l := range lines {
			before[l.Link] += l.Clicks
		}
		return new(int), err
	})
	for i := range list {
		n := before[list[i].Num]
		if a.Compare == "weeks" {
			n = int64(math.Round(float64(n) / meanOf))
		}
		list[i].Compared = &n
	}
	return err
}

// TopLinks returns the caller's links with the most clicks. Without a range and without bots, these are the links'
// counters, which cover all time.
func (s *Service) TopLinks(ctx context.Context, p auth.Principal, a Ask) ([]CountedLink, error) {
	period, err := s.prepare(ctx, p, &a)
	if err != nil {
		return nil, err
	}
	scope := ownScope(p, a)
	if a.isOpen() {
		if a.Compare != "" {
			return nil, problem.OfField("compare", "needs a range: startDate, endDate or timeRange")
		}
		if !a.IncludeBots && !a.narrowed() {
			list, err := s.store.LinksByClicks(ctx, p.Scope(), a.limit())
			if err != nil {
				return nil, fmt.Errorf("list links by clicks: %w", err)
			}
			out := make([]CountedLink, 0, len(list))
			for _, u := range list {
				out = append(out, CountedLink{Link: u, Clicks: u.ClickCount})
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
		if err == nil && a.Compare != "" {
			err = s.compareTop(ctx, scope, a, period, list)
		}
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
		nums := each.Of(lines, func(l analytics.Line) uint64 { return l.Link })
		urls, err := s.store.LinksByNum(ctx, nums)
		if err != nil {
			return nil, fmt.Errorf("find the links of a report: %w", err)
		}
		out = out[:0]
		for _, l := range lines {
			if u, ok := urls[l.Link]; ok && len(out) < limit {
				out = append(out, CountedLink{Link: u, Clicks: l.Clicks})
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
	analytics.Language, analytics.Site,
}

// report makes all figures of a scope, and those of the period with which the caller compares.
func (s *Service) report(ctx context.Context, scope analytics.Scope, a Ask, period Period) (*Report, error) {
	of := func(period Period) (*Report, error) {
		r, err := s.figures(ctx, scope, a, period)
		if err == nil && (a.ofPeople || a.ofBots) {
			r.Series, err = s.split(ctx, scope, a, period)
		}
		return r, err
	}
	r, err := of(period)
	if err == nil {
		r.Comparison, err = compared(a, period, of)
	}
	return r, err
}

// split makes the series of people and of bots. A filter on bots applies to them too.
func (s *Service) split(ctx context.Context, scope analytics.Scope, a Ask, period Period) (*Split, error) {
	split := &Split{}
	for _, part := range []struct {
		asked bool
		bots  analytics.Bots
		into  *[]DayFigures
	}{{a.ofPeople, analytics.People, &split.People}, {a.ofBots, analytics.OnlyBots, &split.Bots}} {
		if !part.asked {
			continue
		}
		within := period.limit(scope)
		if len(a.Bot) > 0 && within.Bots != analytics.Everyone && within.Bots != part.bots {
			within.Links = []uint64{}
		}
		within.Bots = part.bots
		var err error
		if *part.into, err = s.series(ctx, within, period, a.Goal); err != nil {
			return nil, err
		}
	}
	return split, nil
}

func (s *Service) figures(ctx context.Context, scope analytics.Scope, a Ask, period Period) (*Report, error) {
	within, limit := period.limit(scope), a.limit()
	var series []DayFigures
	var visitors []analytics.Line
	var before int64
	var found map[analytics.Dimension][]analytics.Count
	var converted map[analytics.Dimension]map[string]*Won
	err := parallel(ctx, func(ctx context.Context) (err error) {
		series, err = s.series(ctx, within, period, a.Goal)
		return err
	}, func(ctx context.Context) (err error) {
		visitors, err = s.clicks.Lines(ctx, analytics.Query{Scope: within, Visitors: true})
		return err
	}, func(ctx context.Context) (err error) {
		before, err = s.countClicks(ctx, period.before().limit(scope))
		return err
	}, func(ctx context.Context) (err error) {
		found, err = s.clicks.Breakdown(ctx, within, reported, limit+1) // one more, because clicks without a campaign are not listed
		return err
	}, func(ctx context.Context) (err error) {
		converted, err = s.wonByValue(ctx, a.Goal, within)
		return err
	})
	if err != nil {
		return nil, err
	}
	sum := summary(period, series, visitors[0], before, a.Goal)
	wonBy := func(d analytics.Dimension, c analytics.Count) *Won { return converted[d][c.Value].of(c.Clicks, a.Goal) }
	names := func(d analytics.Dimension) []Named {
		list := named(found[d], sum.TotalClicks, limit)
		for i := range list {
			list[i].Won = wonBy(d, found[d][i])
		}
		return list
	}
	values := func(d analytics.Dimension) []Valued {
		list := []Valued{}
		for _, c := range found[d] {
			if c.Value != "" && len(list) < limit {
				list = append(list, Valued{c.Value, c.Clicks, percent.Of(c.Clicks, sum.TotalClicks), wonBy(d, c)})
			}
		}
		return list
	}
	r := &Report{
		Overview: sum, TotalClicks: sum.TotalClicks, Distinct: sum.Distinct, TimeSeries: series,
		Countries: names(analytics.Country), Regions: names(analytics.Region), Cities: names(analytics.City),
		Browsers: names(analytics.Browser), OperatingSystems: names(analytics.OS), Devices: names(analytics.Device), Referers: []Referred{},
		UTMSources: values(analytics.UTMSource), UTMMediums: values(analytics.UTMMedium), UTMCampaigns: values(analytics.UTMCampaign),
		UTMTerms: values(analytics.UTMTerm), UTMContents: values(analytics.UTMContent),
		Languages: names(analytics.Language), Sites: []SiteClicks{},
	}
	for _, c := range found[analytics.Site][:min(limit, len(found[analytics.Site]))] {
		site := c.Value
		if site == "" || site == analytics.OtherSite {
			site = analytics.SiteName(site)
		}
		r.Sites = append(r.Sites, SiteClicks{site, analytics.SiteName(c.Value), c.Clicks, percent.Of(c.Clicks, sum.TotalClicks),
			wonBy(analytics.Site, c)})
	}
	for _, c := range found[analytics.Referer][:min(limit, len(found[analytics.Referer]))] {
		r.Referers = append(r.Referers, Referred{cmp.Or(c.Value, "Direct"), c.Clicks, percent.Of(c.Clicks, sum.TotalClicks),
			wonBy(analytics.Referer, c)})
	}
	return r, nil
}

// series returns every day of the period with its figures, or every other interval.
func (s *Service) series(ctx context.Context, within analytics.Scope, period Period, goal string) ([]DayFigures, error) {
	lines, err := s.clicks.Lines(ctx, analytics.Query{Scope: within, Every: period.Every, Zone: period.Zone, Visitors: true})
	if err != nil {
		return nil, err
	}
	converted, err := won(ctx, s, goal, analytics.Query{Scope: within, Every: period.Every, Zone: period.Zone},
		func(l analytics.ConversionLine) analytics.Period { return l.Period })
	if err != nil {
		return nil, err
	}
	periods := analytics.PeriodsOf(period.Every, within.From, within.To, period.Zone)
	if period.To == 0 && period.Every == analytics.Days {
		periods = make([]analytics.Period, period.Days()) // also if a zone skipped the last day
		for i := range periods {
			periods[i].Day = period.First + analytics.Day(i)
		}
	}
	series, at := make([]DayFigures, len(periods)), make(map[analytics.Period]int, len(periods))
	for i, of := range periods {
		series[i].Date, series[i].At = period.label(of)
		series[i].Distinct = none
		at[of] = i
	}
	for _, l := range lines {
		if i, ok := at[l.Period]; ok {
			series[i].Clicks, series[i].Distinct = l.Clicks, distinct(l)
		}
	}
	for i, of := range periods {
		series[i].Won = converted[of].of(series[i].Clicks, goal)
	}
	return series, nil
}

// label returns the day of an entry in a series and, for minutes and hours, when it begins.
func (p Period) label(of analytics.Period) (date, at string) {
	if p.Every == analytics.Minutes || p.Every == analytics.Hours {
		return analytics.DayOf(of.At, p.Zone).String(), clock(of.At, p.Zone)
	}
	return of.Day.String(), ""
}

// summary sums the days, so that both agree even if clicks arrive in between.
func summary(period Period, series []DayFigures, visitors analytics.Line, before int64, goal string) (sum Summary) {
	converted := &Won{}
	for _, d := range series {
		sum.TotalClicks += d.Clicks
		converted.add(d.Won)
	}
	sum.Won = converted.of(sum.TotalClicks, goal)
	sum.Distinct = distinct(visitors)
	sum.AverageClicksPerDay = math.Round(float64(sum.TotalClicks)/float64(period.Days())*100) / 100
	sum.GrowthRate = growth(sum.TotalClicks, before)
	return sum
}

func named(counts []analytics.Count, total int64, limit int) []Named {
	list := []Named{}
	for _, c := range counts[:min(limit, len(counts))] {
		list = append(list, Named{cmp.Or(c.Value, "Unknown"), c.Clicks, percent.Of(c.Clicks, total), nil})
	}
	return list
}
