package reportapi

import (
	"context"
	"net/http"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/abuse"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// MissingSlug is a slug that visitors ask for and that does not exist.
type MissingSlug struct {
	Host    string   `json:"host" doc:"The host that visitors asked. A new link gets it as its domain." example:"sho.rt"`
	Slug    string   `json:"slug" example:"summer"`
	Count   uint64   `json:"count" doc:"Requests in the period."`
	FirstAt kit.Time `json:"firstAt" doc:"The first request in the period. Of an edge of an earlier release, its report."`
	LastAt  kit.Time `json:"lastAt" doc:"The last request in the period."`
}

const missingPage = 20

type listMissingIn struct {
	kit.Paging
	From string `query:"from" doc:"The first day (UTC), as a date or time in ISO 8601. Default: 30 days ago."`
	To   string `query:"to" doc:"The last day (UTC), inclusive. Default: today."`
}

func (s *server) registerMissing() {
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: "/api/analytics/missing", ID: "listMissingSlugs",
		Summary: "List slugs that do not exist", Tag: "Analytics", Limit: kit.LimitAnalytics}.
		About("Slugs that visitors asked for on custom domains of the workspace and that do not exist, most frequent first, at most 1,000. "+
			"Edges count the 1,000 most frequent ones and report them once a minute; counts are kept for 90 days. Slugs that are links by now "+
			"are left out. The slugs of the shared domain belong to nobody, so only administrators who chose no workspace see them.").
		Fails(http.StatusBadRequest),
		func(ctx context.Context, in *listMissingIn) (*kit.Body[kit.List[MissingSlug]], error) {
			q := abuse.MissingQuery{Offset: in.Offset(missingPage), Limit: in.Size(missingPage)}
			var v problem.Fields
			var ok bool
			if q.From, ok = kit.ParseDateOrTime(in.From); !ok {
				v.Add("from", "must be a date or a time in ISO 8601")
			}
			if q.To, ok = kit.ParseDateOrTime(in.To); !ok {
				v.Add("to", "must be a date or a time in ISO 8601")
			}
			if err := v.Err(); err != nil {
				return nil, err
			}
			list, total, err := s.Abuse.Missing(ctx, kit.Principal(ctx), q)
			if err != nil {
				return nil, err
			}
			rows := kit.EachOf(func(m store.Missing) MissingSlug {
				host := m.Host
				if host == "" {
					host = s.Host
				}
				return MissingSlug{host, m.Slug, m.Count, kit.Time(m.FirstAt), kit.Time(m.LastAt)}
			})(list)
			return kit.NewBody(kit.ListOf(rows, total, in.Paging, missingPage)), nil
		})
}
