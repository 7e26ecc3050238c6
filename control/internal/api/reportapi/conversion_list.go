package reportapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/platform/problem"
)

// ConversionsQuery is the part that requests about conversions have in common.
type ConversionsQuery struct {
	kit.URLPath
	StartDate   string `query:"startDate" doc:"First day of the clicks, or an instant. Without a range: all time."`
	EndDate     string `query:"endDate" doc:"Last day of the clicks, or an instant."`
	TimeRange   string `query:"timeRange" values:"reportRange" doc:"A range by name, as in reports."`
	Timezone    string `query:"timezone" doc:"Time zone of the days. Default: UTC."`
	IncludeBots bool   `query:"includeBots" doc:"Include clicks of bots."`
	ClickFilters
}

func (q ConversionsQuery) ask() report.Ask {
	return report.Ask{Range: report.Range{Start: q.StartDate, End: q.EndDate, Name: q.TimeRange, Zone: q.Timezone},
		IncludeBots: q.IncludeBots,
		Filters:     q.filters()}
}

type listGoals struct {
	ConversionsQuery
	kit.Paging
}

type listConversions struct {
	ConversionsQuery
	kit.Paging
	Goal string `query:"goal" doc:"Only conversions of this goal."`
}

type exportConversionsIn struct {
	ConversionsQuery
	Goal string `query:"goal" doc:"Only conversions of this goal."`
}

// Pages of conversions. The click store has no way to skip rows, so a page costs as much as all before it.
const (
	conversionsPerPage = 20
	mostConversions    = 10_000
)

func (s *server) registerConversionLists() {
	const path, tag = "/api/urls/{id}", "Conversions"
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: path + "/goals", ID: "listGoals",
		Summary: "List the goals of a short URL", Tag: tag}.
		About("Every name that conversions of the link have, with their number and revenue. A conversion belongs to the time of its click."),
		func(ctx context.Context, in *listGoals) (*kit.Body[kit.List[report.Goal]], error) {
			all, err := s.Reports.Goals(ctx, kit.Principal(ctx), in.ID, in.ask())
			if err != nil {
				return nil, err
			}
			from := min(in.Offset(conversionsPerPage), len(all))
			to := min(from+in.Size(conversionsPerPage), len(all))
			return kit.NewBody(kit.ListOf(all[from:to], len(all), in.Paging, conversionsPerPage)), nil
		})
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: path + "/conversions", ID: "listConversions",
		Summary: "List the conversions of a short URL", Tag: tag}.
		About("Newest click first. A page must end within the first 10,000 conversions; the export has all of them. The figures of the click "+
			"are Unknown until it has arrived, which usually takes seconds."),
		func(ctx context.Context, in *listConversions) (*kit.Body[kit.List[report.Conversion]], error) {
			a := in.ask()
			a.Goal = in.Goal
			offset := in.Offset(conversionsPerPage)
			if offset+in.Size(conversionsPerPage) > mostConversions {
				return nil, problem.OfField("page", "must end within the first %d conversions; the export has all of them", mostConversions)
			}
			list, total, err := s.Reports.Conversions(ctx, kit.Principal(ctx), in.ID, a, offset, in.Size(conversionsPerPage))
			if err != nil {
				return nil, err
			}
			return kit.NewBody(kit.ListOf(list, total, in.Paging, conversionsPerPage)), nil
		})
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: path + "/conversions/export", ID: "exportConversions",
		Summary: "Export the conversions of a short URL as CSV", Tag: tag,
		Limit: kit.LimitExport, Timeout: kit.ExportTimeout, Files: map[string]*huma.Schema{"text/csv": kit.CSVFile()}}.
		About("All conversions in the range as CSV (UTF-8 with a byte-order mark), newest click first. The columns are those of the list."),
		s.exportConversions)
}

func (s *server) exportConversions(ctx context.Context, in *exportConversionsIn) (*huma.StreamResponse, error) {
	a := in.ask()
	a.Goal = in.Goal
	each, err := s.Reports.ExportConversions(ctx, kit.Principal(ctx), in.ID, a)
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		hc.SetHeader("Content-Type", "text/csv; charset=utf-8")
		hc.SetHeader("Content-Disposition", `attachment; filename="conversions.csv"`)
		hc.SetStatus(http.StatusOK)
		err := kit.WriteCSV(hc.BodyWriter(), func(f func(*report.Conversion) error) error { return each(ctx, f) })
		if err != nil {
			kit.RequestLogOf(ctx).Err = err
			panic(http.ErrAbortHandler) // the caller must notice that the file is truncated
		}
	}}, nil
}
