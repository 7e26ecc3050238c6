package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/percent"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// Groups has the clicks of the caller's links by tag, bundle or domain.
type Groups struct {
	By          string  `json:"by"`
	TotalClicks int64   `json:"totalClicks" doc:"Of all links, including those in no group. A link can be in several groups, so groups can have more clicks together."`
	Groups      []Group `json:"groups" doc:"Most clicks first."`

	Comparison *Compared[Groups] `json:"comparison,omitempty" doc:"Only with compare."`
}

// Group has the clicks of the links with one tag, in one bundle or on one domain.
type Group struct {
	ID             *string `json:"id" doc:"Of the tag or bundle. Null for a domain."`
	Name           string  `json:"name"`
	URLCount       int     `json:"urlCount" doc:"Links that are in the group now."`
	Clicks         int64   `json:"clicks"`
	UniqueVisitors *int64  `json:"uniqueVisitors" doc:"Null for a group of more than 100,000 links."`
	Percentage     float64 `json:"percentage" doc:"Of totalClicks."`
}

// grouped is a group while it is counted.
type grouped struct {
	store.LinkGroup
	links  int
	clicks int64
}

// Groups reports on the caller's links by "tag", "bundle" or "domain".
func (s *Service) Groups(ctx context.Context, p auth.Principal, by string, a Ask) (*Groups, error) {
	period, err := s.prepare(ctx, p, &a)
	if err != nil {
		return nil, err
	}
	if by != "tag" && by != "bundle" && by != "domain" {
		return nil, problem.OfField("by", "must be tag, bundle or domain")
	}
	scope, err := s.present(ctx, ownScope(p, a))
	if err != nil {
		return nil, err
	}
	of := func(period Period) (*Groups, error) {
		if by == "domain" {
			return s.domains(ctx, p, period.limit(scope))
		}
		return s.groups(ctx, p, store.LinkGrouping(by), period.limit(scope), a.limit())
	}
	g, err := of(period)
	if err == nil {
		g.Comparison, err = compare(a, period, of)
	}
	return g, err
}

// domains reports on the only domain.
func (s *Service) domains(ctx context.Context, p auth.Principal, scope analytics.Scope) (*Groups, error) {
	stats, err := s.store.LinkStats(ctx, p.Scope(), s.now().UnixMilli())
	if err != nil {
		return nil, fmt.Errorf("count links by domain: %w", err)
	}
	lines, err := s.clicks.Lines(ctx, analytics.Query{Scope: scope, Visitors: true})
	if err != nil {
		return nil, err
	}
	l := lines[0]
	return &Groups{By: "domain", TotalClicks: l.Clicks, Groups: []Group{{Name: s.host, URLCount: stats.Total, Clicks: l.Clicks, UniqueVisitors: &l.Visitors, Percentage: percent.Of(l.Clicks, l.Clicks)}}}, nil
}

func (s *Service) groups(ctx context.Context, p auth.Principal, by store.LinkGrouping, scope analytics.Scope, limit int) (*Groups, error) {
	lines, err := s.clicks.Lines(ctx, analytics.Query{Scope: scope, ByLink: true})
	if err != nil {
		return nil, err
	}
	out := &Groups{By: string(by), Groups: []Group{}}
	clicks := make(map[uint64]int64, len(lines))
	for _, l := range lines {
		clicks[l.Link] = l.Clicks
		out.TotalClicks += l.Clicks
	}
	var list []grouped
	err = s.store.EachGrouped(ctx, by, p.Scope(), func(g store.LinkGroup, link uint64) {
		if n := len(list); n == 0 || list[n-1].Num != g.Num {
			list = append(list, grouped{LinkGroup: g})
		}
		if last := &list[len(list)-1]; link != 0 {
			last.links++
			last.clicks += clicks[link]
		}
	})
	if err != nil {
		return nil, fmt.Errorf("find the links of each %s: %w", by, err)
	}
	slices.SortStableFunc(list, func(a, b grouped) int {
		return cmp.Or(cmp.Compare(b.clicks, a.clicks), cmp.Compare(a.Name, b.Name))
	})
	list = list[:min(limit, len(list))]
	visitors, err := s.visitors(ctx, p, by, scope, list, clicks)
	if err != nil {
		return nil, err
	}
	for _, g := range list {
		out.Groups = append(out.Groups, Group{&g.ID, g.Name, g.links, g.clicks, visitors[g.Num], percent.Of(g.clicks, out.TotalClicks)})
	}
	return out, nil
}

// visitors counts the distinct visitors of each group that is not too large. Only links with clicks are asked for.
func (s *Service) visitors(ctx context.Context, p auth.Principal, by store.LinkGrouping, scope analytics.Scope, list []grouped, clicks map[uint64]int64) (map[uint64]*int64, error) {
	links := map[uint64][]uint64{}
	for _, g := range list {
		links[g.Num] = []uint64{}
	}
	err := s.store.EachGrouped(ctx, by, p.Scope(), func(g store.LinkGroup, link uint64) {
		if of, listed := links[g.Num]; listed && clicks[link] > 0 && len(of) <= maxTaggedLinks {
			links[g.Num] = append(of, link)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("find the links of each %s: %w", by, err)
	}
	found := map[uint64]*int64{}
	for num, of := range links {
		if len(of) > maxTaggedLinks {
			continue
		}
		within := scope
		within.Links, within.Owner = of, 0
		lines, err := s.clicks.Lines(ctx, analytics.Query{Scope: within, Visitors: true})
		if err != nil {
			return nil, err
		}
		found[num] = &lines[0].Visitors
	}
	return found, nil
}
