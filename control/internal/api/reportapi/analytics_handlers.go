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
	addReport(s, []string{"/api/analytics/urls/{id}"}, "linkReport", "Report on a short URL",
		"Totals, figures per day, and shares by location, device, browser, referrer and campaign. Bots are excluded unless `includeBots` "+
			"is true.", func(ctx context.Context, in *linkSeries) (*LinkReport, error) {
			made, u, err := r.Link(ctx, kit.Principal(ctx), in.ID, in.ask())
			if err != nil {
				return nil, err
			}
			return &LinkReport{*made, kit.BaselineOf(&u)}, nil
		})
	addReport(s, []string{"/api/analytics/overview"}, "overview", "Report on all short URLs",
		"The same figures over all your links (for administrators, over the links of all users), and the links with most clicks.",
		func(ctx context.Context, in *SeriesQuery) (*report.Overview, error) {
			return r.Overview(ctx, kit.Principal(ctx), in.ask())
		})
	addReport(s, []string{"/api/analytics/top-urls"}, "topURLs", "List the short URLs with most clicks",
		"Links by clicks in the range, most clicks first.", func(ctx context.Context, in *ReportQuery) (*[]TopURL, error) {
			list, err := r.TopLinks(ctx, kit.Principal(ctx), in.ask())
			if err != nil {
				return nil, err
			}
			out := make([]TopURL, len(list))
			for i, u := range list {
				out[i] = TopURL{u.ID, s.Links.Host(&u.Link), u.Slug, s.Links.ShortURL(&u.Link), kit.Text(u.Title), u.OriginalURL, u.Clicks,
					u.Link.Status(store.Now()), kit.Time(u.CreatedAt), u.Compared}
			}
			return &out, nil
		})
	addReport(s, []string{"/api/analytics/urls/{id}/recent-clicks", "/api/analytics/urls/{id}/clicks/recent"}, "recentClicks",
		"List the newest clicks of a short URL",
		"Single clicks, newest first. At most 100.",
		func(ctx context.Context, in *linkClicks) (*report.RecentClicks, error) {
			return r.Recent(ctx, kit.Principal(ctx), in.ID, in.ask())
		})
	addReport(s, []string{"/api/analytics/urls/{id}/bots"}, "linkBots", "Report on the bots that visited a short URL",
		"The share of bots in the link's traffic, and the bots.", func(ctx context.Context, in *linkReport) (*report.Bots, error) {
			return r.LinkBots(ctx, kit.Principal(ctx), in.ID, in.ask())
		})
	addReport(s, []string{"/api/analytics/bots", "/api/analytics/bots/overview"}, "bots", "Report on the bots that visited any short URL",
		"The share of bots in the traffic of all your links, and the bots.",
		func(ctx context.Context, in *ReportQuery) (*report.Bots, error) {
			return r.AllBots(ctx, kit.Principal(ctx), in.ask())
		})
	s.registerComparisons()
	s.registerExports()
}

// registerComparisons declares the reports that compare variants, rules, hours, groups or several links.
func (s *server) registerComparisons() {
	r := s.Reports
	addReport(s, []string{"/api/analytics/ab-tests", "/api/analytics/ab-test"}, "abTests", "Report on all A/B tests",
		"Every link with variants: clicks and visitors of each variant, and its actual and expected share.",
		func(ctx context.Context, in *ReportQuery) (*report.Tests, error) {
			return r.Tests(ctx, kit.Principal(ctx), in.ask())
		})
	addReport(s, []string{"/api/analytics/urls/{id}/ab-test"}, "abTest", "Report on the A/B test of a short URL",
		"The clicks and visitors of each variant of one link.", func(ctx context.Context, in *linkReport) (*report.Test, error) {
			return r.Test(ctx, kit.Principal(ctx), in.ID, in.ask())
		})
	addReport(s, []string{"/api/analytics/urls/{id}/routing"}, "routingReport", "Report on the routing rules of a short URL",
		"Matches of each rule per day, and the visitors by attribute.", func(ctx context.Context, in *linkReport) (*report.Routing, error) {
			return r.Routing(ctx, kit.Principal(ctx), in.ID, in.ask())
		})
	addReport(s, []string{"/api/analytics/heatmap"}, "heatmap", "Count clicks by weekday and hour",
		"Clicks of all your links by weekday and hour of the time zone. Hours that occur twice when clocks are set back count together.",
		func(ctx context.Context, in *ReportQuery) (*report.Heatmap, error) {
			return r.Heatmap(ctx, kit.Principal(ctx), "", in.ask())
		})
	addReport(s, []string{"/api/analytics/urls/{id}/heatmap"}, "linkHeatmap", "Count clicks on a short URL by weekday and hour",
		"Clicks of one link by weekday and hour of the time zone.", func(ctx context.Context, in *linkReport) (*report.Heatmap, error) {
			return r.Heatmap(ctx, kit.Principal(ctx), in.ID, in.ask())
		})
	addReport(s, []string{"/api/analytics/groups"}, "groupsReport", "Report on short URLs by tag, bundle or domain",
		"Clicks and visitors of the links with each tag, in each bundle or on each domain, most clicks first.",
		func(ctx context.Context, in *groupsIn) (*report.Groups, error) {
			a := in.ask()
			a.Goal = in.Goal
			return r.Groups(ctx, kit.Principal(ctx), in.By, a)
		})
	addReport(s, []string{"/api/analytics/conversions"}, "conversionsReport", "Report on the conversions of all short URLs",
		"Goals, rates and revenue of all your links, by campaign, source, tag and link, and the funnel from clicks to conversions. A conversion "+
			"counts at the time of its click.",
		func(ctx context.Context, in *conversionsIn) (*report.Yields, error) {
			a := in.ask()
			a.Goal = in.Goal
			return r.Yields(ctx, kit.Principal(ctx), a)
		})
	addReport(s, []string{"/api/analytics/trends"}, "trends", "Count the clicks of several short URLs by day",
		"Clicks of people on up to 100 links on each of the last 30 days, for small charts beside the links. Unknown links are left out.",
		func(ctx context.Context, in *struct {
			URLIDs   []string `query:"urlIds,explode" required:"true" doc:"Ids of short URLs; repeat the parameter, at most 100 times."`
			Timezone string   `query:"timezone" doc:"IANA time zone of the days. Default: UTC."`
		}) (*report.Trends, error) {
			return r.Trends(ctx, kit.Principal(ctx), in.URLIDs, in.Timezone)
		})
}

// addReport declares the endpoints of a report, one for each path.
func addReport[In, Out any](s *server, paths []string, id, summary, about string, f func(context.Context, *In) (*Out, error)) {
	for i, path := range paths {
		if i > 0 {
			id, summary, about = id+"Alias", summary+" (the same at another path)", "Same as "+paths[0]+"."
		}
		kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: path, ID: id, Summary: summary, Tag: "Analytics",
			Limit: kit.LimitAnalytics}.About(about),
			func(ctx context.Context, in *In) (*kit.Body[Out], error) {
				return kit.Respond(func(out *Out) Out { return *out })(f(ctx, in))
			})
	}
}

// exportTime is the timeout of an export, including writing it, because its clicks stay in memory until it is written.
const exportTime = 2 * time.Minute

func (s *server) registerExports() {
	files := map[string]*huma.Schema{"text/csv": kit.CSVFile(), "application/json": {
		Type: huma.TypeObject, Required: []string{"exportDate", "dateRange", "data"}, Properties: map[string]*huma.Schema{
			"exportDate": {Type: huma.TypeString, Format: "date-time"}, "summary": {Ref: kit.SchemaPrefix + "Summary"},
			"data":      {Type: huma.TypeArray, Items: &huma.Schema{Ref: kit.SchemaPrefix + "DayFigures"}},
			"dateRange": {Type: huma.TypeObject, AdditionalProperties: &huma.Schema{Type: huma.TypeString, Format: "date"}},
		}}}
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: "/api/analytics/urls/{id}/export", ID: "exportLink",
		Summary: "Export the analytics of a short URL as a file", Tag: "Analytics",
		Limit: kit.LimitExport, Timeout: exportTime, Files: files}.
		About("A CSV file with sections, or JSON. Cells that a spreadsheet could interpret as formulas are prefixed with an apostrophe. "+
			"`includeClicks` adds up to 10,000 single clicks."), func(ctx context.Context, in *exportLinkIn) (*huma.StreamResponse, error) {
		return s.export(ctx, in.ID, in.ask(), in.ExportForm)
	})
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: "/api/analytics/export", ID: "export",
		Summary: "Export the analytics of all short URLs as a file", Tag: "Analytics",
		Limit: kit.LimitExport, Timeout: exportTime, Files: files}.
		About("The same for all your links, or for the link `urlId`."),
		func(ctx context.Context, in *exportIn) (*huma.StreamResponse, error) {
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
