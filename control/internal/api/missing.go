package api

import (
	"context"
	"net/http"

	"github.com/shortline/shortline/control/internal/manage/abuse"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// MissingSlug is a slug that visitors ask for and that does not exist.
type MissingSlug struct {
	Host    string `json:"host" doc:"The host that visitors asked. A new link gets it as its domain." example:"sho.rt"`
	Slug    string `json:"slug" example:"summer"`
	Count   uint64 `json:"count" doc:"Requests in the period."`
	FirstAt Time   `json:"firstAt" doc:"The first request in the period. Of an edge of an earlier release, its report."`
	LastAt  Time   `json:"lastAt" doc:"The last request in the period."`
}

const missingPage = 20

type listMissingIn struct {
	Paging
	From string `query:"from" doc:"The first day (UTC), as a date or time in ISO 8601. Default: 30 days ago."`
	To   string `query:"to" doc:"The last day (UTC), inclusive. Default: today."`
}

func (s *Server) registerMissing() {
	handle(s, endpoint{Method: http.MethodGet, Path: "/api/analytics/missing", ID: "listMissingSlugs", Summary: "List slugs that do not exist", Tag: "Analytics", Limit: limitAnalytics},
		func(ctx context.Context, in *listMissingIn) (*body[List[MissingSlug]], error) {
			q := abuse.MissingQuery{Offset: in.offset(missingPage), Limit: in.size(missingPage)}
			var v problem.Fields
			var ok bool
			if q.From, ok = dateOrTime(in.From); !ok {
				v.Add("from", "must be a date or a time in ISO 8601")
			}
			if q.To, ok = dateOrTime(in.To); !ok {
				v.Add("to", "must be a date or a time in ISO 8601")
			}
			if err := v.Err(); err != nil {
				return nil, err
			}
			list, total, err := s.Abuse.Missing(ctx, principal(ctx), q)
			if err != nil {
				return nil, err
			}
			rows := eachOf(func(m store.Missing) MissingSlug {
				host := m.Host
				if host == "" {
					host = s.host
				}
				return MissingSlug{host, m.Slug, m.Count, Time(m.FirstAt), Time(m.LastAt)}
			})(list)
			return &body[List[MissingSlug]]{listOf(rows, total, in.Paging, missingPage)}, nil
		})
}
