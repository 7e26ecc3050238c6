package reportapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
)

// Period is embedded in every request about clicks.
type Period struct {
	StartDate   string `query:"startDate" doc:"The first day: a date, or an instant, which stands for its day in the time zone. Default: 30 days ago. If interval is minute or hour, an instant stands for itself."`
	EndDate     string `query:"endDate" doc:"The last day, inclusive. Default: today. The range is at most 365 days. If interval is minute or hour, an instant ends the range."`
	TimeRange   string `query:"timeRange" values:"reportRange" doc:"last_7_days, last_30_days, last_90_days, last_365_days, or custom for startDate and endDate. If interval is minute or hour also last_hour, last_6_hours, last_24_hours."`
	Timezone    string `query:"timezone" doc:"IANA time zone of the days. Default: UTC."`
	IncludeBots bool   `query:"includeBots" doc:"Include bots."`
	Limit       int    `query:"limit" minimum:"1" maximum:"100" doc:"Rows in each list. Default: 10, or 20 for clicks."`
}

// ClickFilters is embedded in every request about clicks. Each parameter can be repeated: a click counts if it has one of
// the values of each parameter. Package report checks the values.
type ClickFilters struct {
	Country   []string `query:"country,explode" doc:"ISO 3166-1 codes, or Unknown. All filters can be repeated, with at most 20 values: clicks with any of the values count. Of several filters, all apply."`
	Region    []string `query:"region,explode" doc:"Regions as reports name them, or Unknown."`
	City      []string `query:"city,explode" doc:"Cities as reports name them, or Unknown."`
	Device    []string `query:"device,explode" doc:"MOBILE, DESKTOP, TABLET or Unknown."`
	OS        []string `query:"os,explode" doc:"Operating systems as reports name them."`
	Browser   []string `query:"browser,explode" doc:"Browsers as reports name them."`
	Referer   []string `query:"referer,explode" doc:"Referring sites, such as instagram.com, or Direct."`
	Language  []string `query:"language,explode" doc:"Language codes, such as de, or Unknown."`
	Source    []string `query:"utmSource,explode" doc:"Values of utm_source, or Unknown for clicks without one. The next four are alike."`
	Medium    []string `query:"utmMedium,explode" doc:"Values of utm_medium."`
	Campaign  []string `query:"utmCampaign,explode" doc:"Values of utm_campaign."`
	Term      []string `query:"utmTerm,explode" doc:"Values of utm_term."`
	Content   []string `query:"utmContent,explode" doc:"Values of utm_content."`
	VariantID []string `query:"variantId,explode" doc:"Ids of variants, or none for clicks that no variant decided."`
	RuleID    []string `query:"ruleId,explode" doc:"Ids of routing rules, or none for clicks that no rule decided."`
	Domain    []string `query:"domain,explode" doc:"Hosts of short URLs."`
	Tag       []string `query:"tag,explode" doc:"Names of tags: clicks on links that have any of the tags now."`
	BundleID  []string `query:"bundleId,explode" doc:"Ids of bundles: clicks on links that are in any of the bundles now."`
	Bot       []string `query:"bot,explode" doc:"true for bots only, false for people only, or names of bots. Replaces includeBots."`
}

func (f ClickFilters) filters() report.Filters {
	return report.Filters{Country: f.Country, Region: f.Region, City: f.City, UTMSource: f.Source, UTMMedium: f.Medium, UTMCampaign: f.Campaign,
		UTMTerm: f.Term, UTMContent: f.Content, Device: f.Device, OS: f.OS, Browser: f.Browser, Referer: f.Referer, Language: f.Language,
		VariantID: f.VariantID, RuleID: f.RuleID, Domain: f.Domain, Tag: f.Tag, BundleID: f.BundleID, Bot: f.Bot}
}

// ClicksQuery is the part that all requests about clicks have.
type ClicksQuery struct {
	Period
	ClickFilters
}

func (p ClicksQuery) ask() report.Ask {
	return report.Ask{
		Range:       report.Range{Start: p.StartDate, End: p.EndDate, Name: p.TimeRange, Zone: p.Timezone},
		IncludeBots: p.IncludeBots, Limit: p.Limit, Filters: p.filters(),
	}
}

// ReportQuery is embedded in the requests of reports.
type ReportQuery struct {
	ClicksQuery
	Interval string `query:"interval" values:"reportInterval" doc:"minute (ranges up to 6 hours), hour (up to 31 days), day, week or month. Default: day."`
	Compare  string `query:"compare" values:"reportCompare" doc:"previous: add the figures of the preceding period of the same length. year: add those of the same period one year earlier."`
}

func (p ReportQuery) ask() report.Ask {
	a := p.ClicksQuery.ask()
	a.Interval, a.Compare = p.Interval, p.Compare
	return a
}

// SeriesQuery is embedded in the requests of reports with a series of all clicks.
type SeriesQuery struct {
	ReportQuery
	Series string `query:"series" doc:"people, bots or people,bots: add separate series of people and bots."`
	Goal   string `query:"goal" doc:"Name of a goal: add conversions, conversionRate and revenue to all figures of clicks. A conversion counts at the time of its click."`
}

func (p SeriesQuery) ask() report.Ask {
	a := p.ReportQuery.ask()
	a.Series, a.Goal = p.Series, p.Goal
	return a
}

// linkClicks, linkReport and linkSeries are the requests of reports on one link.
type linkClicks struct {
	kit.URLPath
	ClicksQuery
}

type linkReport struct {
	kit.URLPath
	ReportQuery
}

type linkSeries struct {
	kit.URLPath
	SeriesQuery
}

// groupsIn is the request of the report by groups of links.
type groupsIn struct {
	ReportQuery
	By   string `query:"by" values:"reportGroup" doc:"What the links are grouped by." default:"tag"`
	Goal string `query:"goal" doc:"Name of a goal: add conversions, conversionRate and revenue to all figures of clicks. A conversion counts at the time of its click."`
}

// TopURL is a link in the list of links with the most clicks.
type TopURL struct {
	ID          string   `json:"id"`
	Domain      string   `json:"domain" doc:"The host name of the link's address."`
	Slug        string   `json:"slug"`
	ShortURL    string   `json:"shortUrl"`
	Title       *string  `json:"title"`
	OriginalURL string   `json:"originalUrl"`
	ClickCount  int64    `json:"clickCount" doc:"In the period, or in total if no period is given."`
	Status      string   `json:"status" values:"linkStatus"`
	CreatedAt   kit.Time `json:"createdAt"`

	ComparedClickCount *int64 `json:"comparedClickCount,omitempty" doc:"In the period that compare names."`
}

var analyticsResource = kit.Resource{
	Tag: "Analytics", About: "Reports, exports and a live stream of clicks.",
	Read: kit.Needs(auth.Viewer, auth.AnalyticsRead), Change: kit.Needs(auth.Editor, auth.AnalyticsRead),
	Values: map[string][]any{
		"reportInterval": kit.Enum(report.Intervals()...),
		"reportRange":    kit.Enum(report.RangeNames()...),
		"reportCompare":  kit.Enum(report.Comparisons...),
		"reportGroup":    kit.Enum(report.GroupedBy...),
	},
}

func (s *server) registerAnalytics() {
	r := s.Reports
	ask(s, []string{"/api/analytics/urls/{id}"}, "linkReport", "Report on a short URL",
		"Totals, figures per day, and shares by location, device, browser, referrer and campaign. Bots are excluded unless `includeBots` is true.", func(ctx context.Context, in *linkSeries) (*report.Report, error) {
			return r.Link(ctx, kit.Principal(ctx), in.ID, in.ask())
		})
	ask(s, []string{"/api/analytics/overview"}, "overview", "Report on all short URLs",
		"The same figures over all your links (for administrators, over the links of all users), and the links with most clicks.", func(ctx context.Context, in *SeriesQuery) (*report.Overview, error) {
			return r.Overview(ctx, kit.Principal(ctx), in.ask())
		})
	ask(s, []string{"/api/analytics/top-urls"}, "topURLs", "List the short URLs with most clicks",
		"Links by clicks in the range, most clicks first.", func(ctx context.Context, in *ReportQuery) (*[]TopURL, error) {
			list, err := r.TopLinks(ctx, kit.Principal(ctx), in.ask())
			if err != nil {
				return nil, err
			}
			out := make([]TopURL, len(list))
			for i, u := range list {
				out[i] = TopURL{u.ID, s.Links.Host(&u.Link), u.Slug, s.Links.ShortURL(&u.Link), kit.Text(u.Title), u.OriginalURL, u.Clicks, u.Link.Status(store.Now()), kit.Time(u.CreatedAt), u.Compared}
			}
			return &out, nil
		})
	ask(s, []string{"/api/analytics/urls/{id}/recent-clicks", "/api/analytics/urls/{id}/clicks/recent"}, "recentClicks", "List the newest clicks of a short URL",
		"Single clicks, newest first. At most 100.",
		func(ctx context.Context, in *linkClicks) (*report.RecentClicks, error) {
			return r.Recent(ctx, kit.Principal(ctx), in.ID, in.ask())
		})
	ask(s, []string{"/api/analytics/urls/{id}/bots"}, "linkBots", "Report on the bots that visited a short URL",
		"The share of bots in the link's traffic, and the bots.", func(ctx context.Context, in *linkReport) (*report.Bots, error) {
			return r.LinkBots(ctx, kit.Principal(ctx), in.ID, in.ask())
		})
	ask(s, []string{"/api/analytics/bots", "/api/analytics/bots/overview"}, "bots", "Report on the bots that visited any short URL",
		"The share of bots in the traffic of all your links, and the bots.", func(ctx context.Context, in *ReportQuery) (*report.Bots, error) {
			return r.AllBots(ctx, kit.Principal(ctx), in.ask())
		})
	ask(s, []string{"/api/analytics/ab-tests", "/api/analytics/ab-test"}, "abTests", "Report on all A/B tests",
		"Every link with variants: clicks and visitors of each variant, and its actual and expected share.", func(ctx context.Context, in *ReportQuery) (*report.Tests, error) {
			return r.Tests(ctx, kit.Principal(ctx), in.ask())
		})
	ask(s, []string{"/api/analytics/urls/{id}/ab-test"}, "abTest", "Report on the A/B test of a short URL",
		"The clicks and visitors of each variant of one link.", func(ctx context.Context, in *linkReport) (*report.Test, error) {
			return r.Test(ctx, kit.Principal(ctx), in.ID, in.ask())
		})
	ask(s, []string{"/api/analytics/urls/{id}/routing"}, "routingReport", "Report on the routing rules of a short URL",
		"Matches of each rule per day, and the visitors by attribute.", func(ctx context.Context, in *linkReport) (*report.Routing, error) {
			return r.Routing(ctx, kit.Principal(ctx), in.ID, in.ask())
		})
	ask(s, []string{"/api/analytics/heatmap"}, "heatmap", "Count clicks by weekday and hour",
		"Clicks of all your links by weekday and hour of the time zone. Hours that occur twice when clocks are set back count together.", func(ctx context.Context, in *ReportQuery) (*report.Heatmap, error) {
			return r.Heatmap(ctx, kit.Principal(ctx), "", in.ask())
		})
	ask(s, []string{"/api/analytics/urls/{id}/heatmap"}, "linkHeatmap", "Count clicks on a short URL by weekday and hour",
		"Clicks of one link by weekday and hour of the time zone.", func(ctx context.Context, in *linkReport) (*report.Heatmap, error) {
			return r.Heatmap(ctx, kit.Principal(ctx), in.ID, in.ask())
		})
	ask(s, []string{"/api/analytics/groups"}, "groupsReport", "Report on short URLs by tag, bundle or domain",
		"Clicks and visitors of the links with each tag, in each bundle or on each domain, most clicks first.", func(ctx context.Context, in *groupsIn) (*report.Groups, error) {
			a := in.ask()
			a.Goal = in.Goal
			return r.Groups(ctx, kit.Principal(ctx), in.By, a)
		})
	ask(s, []string{"/api/analytics/trends"}, "trends", "Count the clicks of several short URLs by day",
		"Clicks of people on up to 100 links on each of the last 30 days, for small charts beside the links. Unknown links are left out.", func(ctx context.Context, in *struct {
			URLIDs   []string `query:"urlIds,explode" required:"true" doc:"Ids of short URLs; repeat the parameter, at most 100 times."`
			Timezone string   `query:"timezone" doc:"IANA time zone of the days. Default: UTC."`
		}) (*report.Trends, error) {
			return r.Trends(ctx, kit.Principal(ctx), in.URLIDs, in.Timezone)
		})
	s.registerExports()
}

// ask declares the endpoints of a report, one for each path.
func ask[In, Out any](s *server, paths []string, id, summary, about string, f func(context.Context, *In) (*Out, error)) {
	for i, path := range paths {
		if i > 0 {
			id, summary, about = id+"Alias", summary+" (the same at another path)", "Same as "+paths[0]+"."
		}
		kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: path, ID: id, Summary: summary, Tag: "Analytics", Limit: kit.LimitAnalytics}.About(about),
			func(ctx context.Context, in *In) (*kit.Body[Out], error) {
				return kit.Respond(func(out *Out) Out { return *out })(f(ctx, in))
			})
	}
}

// ExportForm is embedded in the requests of exports.
type ExportForm struct {
	Format        string `query:"format" enum:"csv,json" default:"csv" doc:"Format of the file."`
	IncludeClicks bool   `query:"includeClicks" doc:"Add the newest clicks, at most 10,000."`
}

type exportLinkIn struct {
	kit.URLPath
	ReportQuery
	ExportForm
}

type exportIn struct {
	ReportQuery
	ExportForm
	URLID string `query:"urlId" doc:"Only this short URL."`
}

// exportTime is the timeout of an export, including writing it, because its clicks stay in memory until it is written.
const exportTime = 2 * time.Minute

func (s *server) registerExports() {
	files := map[string]*huma.Schema{"text/csv": kit.CSVFile(), "application/json": {
		Type: huma.TypeObject, Required: []string{"exportDate", "dateRange", "data"}, Properties: map[string]*huma.Schema{
			"exportDate": {Type: huma.TypeString, Format: "date-time"}, "summary": {Ref: kit.SchemaPrefix + "Summary"}, "data": {Type: huma.TypeArray, Items: &huma.Schema{Ref: kit.SchemaPrefix + "DayFigures"}},
			"dateRange": {Type: huma.TypeObject, AdditionalProperties: &huma.Schema{Type: huma.TypeString, Format: "date"}},
		}}}
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: "/api/analytics/urls/{id}/export", ID: "exportLink", Summary: "Export the analytics of a short URL as a file", Tag: "Analytics",
		Limit: kit.LimitExport, Timeout: exportTime, Files: files}.
		About("A CSV file with sections, or JSON. Cells that a spreadsheet could interpret as formulas are prefixed with an apostrophe. `includeClicks` adds up to 10,000 single clicks."), func(ctx context.Context, in *exportLinkIn) (*huma.StreamResponse, error) {
		return s.export(ctx, in.ID, in.ask(), in.ExportForm)
	})
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: "/api/analytics/export", ID: "export", Summary: "Export the analytics of all short URLs as a file", Tag: "Analytics",
		Limit: kit.LimitExport, Timeout: exportTime, Files: files}.
		About("The same for all your links, or for the link `urlId`."), func(ctx context.Context, in *exportIn) (*huma.StreamResponse, error) {
		return s.export(ctx, in.URLID, in.ask(), in.ExportForm)
	})
}

func (s *server) export(ctx context.Context, id string, a report.Ask, form ExportForm) (*huma.StreamResponse, error) {
	e, err := s.Reports.Export(ctx, kit.Principal(ctx), id, a, form.IncludeClicks)
	if err != nil {
		return nil, err
	}
	media, ending, write := "text/csv; charset=utf-8", "csv", e.WriteCSV
	if form.Format == "json" {
		media, ending, write = "application/json", "json", e.WriteJSON
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		hc.SetHeader("Content-Type", media)
		hc.SetHeader("Content-Disposition", `attachment; filename="`+e.FileName()+`.`+ending+`"`)
		hc.SetStatus(http.StatusOK)
		if err := write(ctx, hc.BodyWriter()); err != nil {
			kit.RequestLogOf(ctx).Err = err
			panic(http.ErrAbortHandler) // the caller must notice that the file is truncated
		}
	}}, nil
}
