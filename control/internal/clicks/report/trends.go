package report

import (
	"context"
	"fmt"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// maxTrends is the number of links in one request, as on a page of the list of links.
const maxTrends = 100

// Trends are the clicks of people on several links in the last 30 days, today included.
type Trends struct {
	StartDate string  `json:"startDate" doc:"The first of the 30 days."`
	EndDate   string  `json:"endDate" doc:"Today."`
	Trends    []Trend `json:"trends" doc:"In the order of the request, without unknown ids."`
}

// Trend has the clicks on one link.
type Trend struct {
	URLID  string  `json:"urlId"`
	Clicks []int64 `json:"clicks" doc:"One number for each day, today last."`
}

// Trends counts clicks per day in a zone ("": UTC), for up to 100 links. It leaves out links that do not exist, and those that
// the caller may not see.
func (s *Service) Trends(ctx context.Context, p auth.Principal, ids []string, zone string) (*Trends, error) {
	period, err := s.period(Range{Name: "last_30_days", Zone: zone})
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 || len(ids) > maxTrends {
		return nil, problem.OfField("urlIds", "must have 1 to %d ids", maxTrends)
	}
	found, err := s.store.LinksByID(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("find the links of trends: %w", err)
	}
	out := &Trends{StartDate: period.First.String(), EndDate: period.Last.String(), Trends: []Trend{}}
	nums, at, shown := []uint64{}, map[uint64]int{}, []store.Link{}
	for _, id := range ids {
		u, ok := found[id]
		if _, twice := at[u.Num]; !ok || twice || !p.Sees(u.Workspace) {
			continue
		}
		at[u.Num] = len(nums)
		nums, shown = append(nums, u.Num), append(shown, u)
		out.Trends = append(out.Trends, Trend{id, make([]int64, period.Days())})
	}
	if len(nums) == 0 {
		return out, nil
	}
	lines, err := s.clicks.Lines(ctx, analytics.Query{Scope: period.limit(analytics.Scope{Links: nums, Home: homeOf(shown)}),
		Every: period.Every, Zone: period.Zone, ByLink: true})
	if err != nil {
		return nil, err
	}
	for _, l := range lines {
		out.Trends[at[l.Link]].Clicks[l.Day-period.First] += l.Clicks
	}
	return out, nil
}
