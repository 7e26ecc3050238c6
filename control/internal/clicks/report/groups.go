package report

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/percent"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// Groups has the clicks of the caller's links by tag, bundle or domain.
type Groups struct {
	By          string  `json:"by" values:"reportGroup"`
	TotalClicks int64   `json:"totalClicks" doc:"Of all links, including those in no group. A link can be in several groups, so groups can have more clicks together."`
	Groups      []Group `json:"groups" doc:"Most clicks first."`
	*Won

	Comparison *Compared[Groups] `json:"comparison,omitempty" doc:"Only with compare."`
}

// Group has the clicks of the links with one tag, in one bundle or on one domain.
type Group struct {
	ID             *string  `json:"id" doc:"Of the tag, bundle or custom domain. Null for the host of the service."`
	Name           string   `json:"name"`
	URLCount       int      `json:"urlCount" doc:"Links that are in the group now."`
	Clicks         int64    `json:"clicks"`
	UniqueVisitors *int64   `json:"uniqueVisitors" doc:"Null for a group of more than 100,000 links, like the next two."`
	Exact          *bool    `json:"uniqueVisitorsIsExact" doc:"Whether uniqueVisitors was counted. Otherwise it is an estimate."`
	Error          *float64 `json:"error" doc:"Relative standard error of uniqueVisitors in percent; 0 if it is exact."`
	Percentage     float64  `json:"percentage" doc:"Of totalClicks."`
	*Won
}

// setVisitors sets the number of visitors, unless it is nil.
func (g *Group) setVisitors(d *Distinct) {
	if d != nil {
		g.UniqueVisitors, g.Exact, g.Error = &d.UniqueVisitors, &d.Exact, &d.Error
	}
}

// grouped is a group while it is counted.
type grouped struct {
	store.LinkGroup
	links  int
	clicks int64
	won    Won
}

// GroupedBy are what Groups can report by.
var GroupedBy = []string{string(store.ByTag), string(store.ByBundle), string(store.ByDomain)}

// Groups reports on the caller's links by one of GroupedBy.
func (s *Service) Groups(ctx context.Context, p auth.Principal, by string, a Ask) (*Groups, error) {
	period, err := s.prepare(ctx, p, &a)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(GroupedBy, by) {
		return nil, problem.OfField("by", "must be one of %s", strings.Join(GroupedBy, ", "))
	}
	scope, err := s.present(ctx, ownScope(p, a))
	if err != nil {
		return nil, err
	}
	of := func(period Period) (*Groups, error) {
		if store.LinkGrouping(by) == store.ByDomain {
			if g, ok, err := s.onlyHost(ctx, p, period.limit(scope), a.Goal); ok || err != nil {
				return g, err
			}
		}
		return s.groups(ctx, p, store.LinkGrouping(by), period.limit(scope), a)
	}
	g, err := of(period)
	if err == nil {
		g.Comparison, err = compared(a, period, of)
	}
	return g, err
}

// onlyHost reports on the host of BASE_URL. ok is false if there are custom domains.
func (s *Service) onlyHost(ctx context.Context, p auth.Principal, scope analytics.Scope, goal string) (out *Groups, ok bool, err error) {
	_, domains, err := s.store.Domains(ctx, p.Scope(), "", 0, 0)
	if err != nil {
		return nil, false, fmt.Errorf("count domains: %w", err)
	}
	custom, err := s.store.LinksNotOn(ctx, p.Scope(), nil, 1)
	if err != nil || len(custom)+domains > 0 {
		return nil, false, err
	}
	stats, err := s.store.LinkStats(ctx, p.Scope(), s.now().UnixMilli())
	if err != nil {
		return nil, false, fmt.Errorf("count links by domain: %w", err)
	}
	lines, err := s.clicks.Lines(ctx, analytics.Query{Scope: scope, Visitors: true})
	if err != nil {
		return nil, false, err
	}
	converted, err := won(ctx, s, goal, analytics.Query{Scope: scope}, func(analytics.ConversionLine) bool { return true })
	if err != nil {
		return nil, false, err
	}
	l, all := lines[0], converted[true].of(lines[0].Clicks, goal)
	host, visitors := Group{Name: s.host, URLCount: stats.Total, Clicks: l.Clicks, Percentage: percent.Of(l.Clicks, l.Clicks), Won: all},
		distinct(l)
	host.setVisitors(&visitors)
	return &Groups{By: "domain", TotalClicks: l.Clicks, Won: all, Groups: []Group{host}}, true, nil
}

// completeDomains adds the host of BASE_URL to the custom domains, and sets the numbers of links that exist. Clicks on links of
// deleted domains count for none. custom has all links that were ever on a custom domain.
func (s *Service) completeDomains(ctx context.Context, p auth.Principal, list []grouped, clicks map[uint64]int64,
	converted map[uint64]*Won) (all []grouped, custom []uint64, err error) {
	stats, err := s.store.LinkStats(ctx, p.Scope(), s.now().UnixMilli())
	if err != nil {
		return nil, nil, fmt.Errorf("count links by domain: %w", err)
	}
	counts, err := s.store.CountByDomain(ctx, p.Scope())
	if err != nil {
		return nil, nil, err
	}
	if custom, err = s.store.LinksNotOn(ctx, p.Scope(), nil, math.MaxInt32); err != nil {
		return nil, nil, err
	}
	ours := grouped{LinkGroup: store.LinkGroup{Name: s.host}, links: stats.Total}
	for i := range list {
		list[i].links = counts[list[i].Num]
		ours.links -= list[i].links
	}
	for _, n := range clicks {
		ours.clicks += n
	}
	ours.won = *total(converted)
	for _, link := range custom {
		ours.won.less(converted[link])
	}
	custom = slices.DeleteFunc(custom, func(link uint64) bool { return clicks[link] == 0 })
	for _, link := range custom {
		ours.clicks -= clicks[link]
	}
	return append(list, ours), custom, nil
}

func (s *Service) groups(ctx context.Context, p auth.Principal, by store.LinkGrouping, scope analytics.Scope, a Ask) (*Groups, error) {
	lines, err := s.clicks.Lines(ctx, analytics.Query{Scope: scope, ByLink: true})
	if err != nil {
		return nil, err
	}
	converted, err := s.wonByLink(ctx, a.Goal, scope)
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
			last.won.add(converted[link])
		}
	})
	if err != nil {
		return nil, fmt.Errorf("find the links of each %s: %w", by, err)
	}
	var custom []uint64
	if by == store.ByDomain {
		if list, custom, err = s.completeDomains(ctx, p, list, clicks, converted); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(list, func(a, b grouped) int {
		return cmp.Or(cmp.Compare(b.clicks, a.clicks), cmp.Compare(a.Name, b.Name))
	})
	list = list[:min(a.limit(), len(list))]
	out.Won = total(converted).of(out.TotalClicks, a.Goal)
	visitors, err := s.visitors(ctx, p, by, scope, list, clicks)
	if err != nil {
		return nil, err
	}
	for _, g := range list {
		of := visitors[g.Num]
		if by == store.ByDomain && g.Num == 0 && len(custom) <= maxListedLinks {
			rest := scope
			rest.NotLinks = slices.Concat(scope.NotLinks, custom)
			lines, err := s.clicks.Lines(ctx, analytics.Query{Scope: rest, Visitors: true})
			if err != nil {
				return nil, err
			}
			d := distinct(lines[0])
			of = &d
		}
		group := Group{ID: analytics.OrNull(g.ID), Name: g.Name, URLCount: g.links, Clicks: g.clicks,
			Percentage: percent.Of(g.clicks, out.TotalClicks), Won: g.won.of(g.clicks, a.Goal)}
		group.setVisitors(of)
		out.Groups = append(out.Groups, group)
	}
	return out, nil
}

// visitors counts the distinct visitors of each group that is not too large. Only links with clicks are asked for.
func (s *Service) visitors(ctx context.Context, p auth.Principal, by store.LinkGrouping, scope analytics.Scope, list []grouped,
	clicks map[uint64]int64) (map[uint64]*Distinct, error) {
	links := map[uint64][]uint64{}
	for _, g := range list {
		if g.Num != 0 { // the host of BASE_URL, which has all links that are in no other group
			links[g.Num] = []uint64{}
		}
	}
	err := s.store.EachGrouped(ctx, by, p.Scope(), func(g store.LinkGroup, link uint64) {
		if of, listed := links[g.Num]; listed && clicks[link] > 0 && len(of) <= maxListedLinks {
			links[g.Num] = append(of, link)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("find the links of each %s: %w", by, err)
	}
	found := map[uint64]*Distinct{}
	for num, of := range links {
		if len(of) > maxListedLinks {
			continue
		}
		within := scope
		within.Links = of
		if by != store.ByDomain { // links with a tag or in a bundle belong to its workspace, with all their clicks
			within.Owner, within.Home = 0, scope.Owner
		}
		lines, err := s.clicks.Lines(ctx, analytics.Query{Scope: within, Visitors: true})
		if err != nil {
			return nil, err
		}
		d := distinct(lines[0])
		found[num] = &d
	}
	return found, nil
}
