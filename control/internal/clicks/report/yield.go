package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/percent"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
)

// Yield has the conversions of a group of clicks.
type Yield struct {
	Clicks         int64    `json:"clicks"`
	Conversions    int64    `json:"conversions" doc:"Conversions of these clicks."`
	ConversionRate float64  `json:"conversionRate" doc:"Conversions as a percentage of clicks; 0 without clicks. It exceeds 100 if clicks have several conversions."`
	Revenue        []Amount `json:"revenue" doc:"Sum of the values of the conversions in each currency."`
}

func (w *Won) yield(clicks int64) Yield {
	sum := Won{Revenue: []Amount{}}
	sum.add(w)
	return Yield{clicks, sum.Conversions, percent.Of(sum.Conversions, clicks), sum.Revenue}
}

// GoalYield has the figures of a goal.
type GoalYield struct {
	Name            string   `json:"name"`
	ConvertedClicks int64    `json:"convertedClicks" doc:"Clicks with at least one conversion of the goal."`
	Conversions     int64    `json:"conversions"`
	ConversionRate  float64  `json:"conversionRate" doc:"Converted clicks as a percentage of all clicks."`
	Revenue         []Amount `json:"revenue"`
}

// NamedYield has the figures of the clicks with a value, or on links with a tag.
type NamedYield struct {
	Name string `json:"name" doc:"Of sources: the site, or Direct. Unknown: clicks without a value, and conversions whose click has not arrived."`
	Yield
}

// LinkYield has the figures of a link.
type LinkYield struct {
	ID     string  `json:"id"`
	Domain string  `json:"domain" doc:"The host name of the link's address."`
	Slug   string  `json:"slug"`
	Title  *string `json:"title"`
	Yield
}

// FunnelStep is a step from clicks to conversions.
type FunnelStep struct {
	Step  string  `json:"step" enum:"CLICK,CONVERSION" doc:"CLICK: all clicks. CONVERSION: those with at least one conversion."`
	Count int64   `json:"count"`
	Rate  float64 `json:"rate" doc:"As a percentage of the first step."`
}

// Yields has the conversions of a workspace.
type Yields struct {
	Yield
	Funnel     []FunnelStep      `json:"funnel"`
	Goals      []GoalYield       `json:"goals" doc:"All goals with conversions, most conversions first."`
	Campaigns  []NamedYield      `json:"campaigns" doc:"By utm_campaign. This list and the next ones have only what has conversions, most conversions first."`
	UTMSources []NamedYield      `json:"utmSources" doc:"By utm_source."`
	Sources    []NamedYield      `json:"sources" doc:"By referring site."`
	Tags       []NamedYield      `json:"tags" doc:"By the tags that links have now. A link can have several tags."`
	Links      []LinkYield       `json:"links" doc:"Without deleted links, whose conversions are in all other figures."`
	Comparison *Compared[Yields] `json:"comparison,omitempty" doc:"Only with compare."`
}

// Yields reports on the conversions of the caller's links. Ask.Goal limits all figures but those of Goals to one goal.
func (s *Service) Yields(ctx context.Context, p auth.Principal, a Ask) (*Yields, error) {
	period, err := s.prepare(ctx, p, &a)
	if err != nil {
		return nil, err
	}
	return recall(ctx, s, p, ownScope(p, a), key("yields", a, period), func() (*Yields, error) {
		scope, err := s.present(ctx, ownScope(p, a))
		if err != nil {
			return nil, err
		}
		of := func(period Period) (*Yields, error) { return s.yields(ctx, p, period.limit(scope), a) }
		y, err := of(period)
		if err == nil {
			y.Comparison, err = compared(a, period, of)
		}
		return y, err
	})
}

// yieldBy are the dimensions by which conversions of a workspace are reported.
var yieldBy = []analytics.Dimension{analytics.UTMCampaign, analytics.UTMSource, analytics.Site}

func (s *Service) yields(ctx context.Context, p auth.Principal, scope analytics.Scope, a Ask) (*Yields, error) {
	var clicks []analytics.Line
	var goals []analytics.GoalLine
	var converted map[string]int64
	var byLink []analytics.ConversionLine
	var byValue map[analytics.Dimension][]analytics.ConversionLine
	err := parallel(ctx, func(ctx context.Context) (err error) {
		clicks, err = s.clicks.Lines(ctx, analytics.Query{Scope: scope, ByLink: true})
		return err
	}, func(ctx context.Context) (err error) {
		goals, err = s.clicks.Goals(ctx, scope)
		return err
	}, func(ctx context.Context) (err error) {
		converted, err = s.clicks.ConvertedClicks(ctx, scope)
		return err
	}, func(ctx context.Context) (err error) {
		byLink, err = s.clicks.ConversionLines(ctx, analytics.Query{Scope: scope, ByLink: true}, only(a.Goal))
		return err
	}, func(ctx context.Context) (err error) {
		byValue, err = s.clicks.ConversionBreakdown(ctx, scope, yieldBy, only(a.Goal))
		return err
	})
	if err != nil {
		return nil, err
	}
	clicksOf, all := make(map[uint64]int64, len(clicks)), int64(0)
	for _, l := range clicks {
		clicksOf[l.Link] = l.Clicks
		all += l.Clicks
	}
	won := wonIn(byLink, func(l analytics.ConversionLine) uint64 { return l.Link })
	y := &Yields{Yield: total(won).yield(all), Goals: goalYields(goals, converted, all)}
	goal := converted[only(a.Goal)]
	y.Funnel = []FunnelStep{{"CLICK", all, percent.Of(all, all)}, {"CONVERSION", goal, percent.Of(goal, all)}}
	if y.Links, err = s.linkYields(ctx, won, clicksOf, a.limit()); err != nil {
		return nil, err
	}
	if y.Tags, err = s.tagYields(ctx, p, won, clicksOf, a.limit()); err != nil {
		return nil, err
	}
	for d, into := range map[analytics.Dimension]*[]NamedYield{analytics.UTMCampaign: &y.Campaigns, analytics.UTMSource: &y.UTMSources,
		analytics.Site: &y.Sources} {
		if *into, err = s.valueYields(ctx, scope, d, byValue[d], a.limit()); err != nil {
			return nil, err
		}
	}
	return y, nil
}

func goalYields(lines []analytics.GoalLine, converted map[string]int64, clicks int64) []GoalYield {
	sums := map[string]*Won{}
	for _, l := range lines {
		if sums[l.Goal] == nil {
			sums[l.Goal] = &Won{}
		}
		sums[l.Goal].Conversions += l.Conversions
		sums[l.Goal].earn(l.Currency, l.Revenue, 1)
	}
	list := []GoalYield{}
	for name, won := range sums {
		y := won.yield(clicks)
		list = append(list, GoalYield{name, converted[name], y.Conversions, percent.Of(converted[name], clicks), y.Revenue})
	}
	slices.SortFunc(list, func(a, b GoalYield) int {
		return cmp.Or(cmp.Compare(b.Conversions, a.Conversions), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// valueYields returns the values of a dimension with most conversions.
func (s *Service) valueYields(ctx context.Context, scope analytics.Scope, d analytics.Dimension, lines []analytics.ConversionLine,
	limit int) ([]NamedYield, error) {
	won := wonIn(lines, func(l analytics.ConversionLine) string { return l.Value })
	values := most(won, limit, cmp.Compare[string])
	list := []NamedYield{}
	if len(values) == 0 {
		return list, nil
	}
	scope.Match = append(slices.Clone(scope.Match), analytics.Match{By: d, Values: values})
	found, err := s.clicks.Lines(ctx, analytics.Query{Scope: scope, By: d})
	if err != nil {
		return nil, err
	}
	clicks := map[string]int64{}
	for _, l := range found {
		clicks[l.Value] = l.Clicks
	}
	for _, v := range values {
		name := cmp.Or(v, "Unknown")
		if d == analytics.Site && (v == "" || v == analytics.OtherSite) {
			name = analytics.SiteName(v)
		}
		list = append(list, NamedYield{name, won[v].yield(clicks[v])})
	}
	return list, nil
}

// most returns the keys with most conversions, and in order among those with equal ones.
func most[K comparable](won map[K]*Won, limit int, compare func(a, b K) int) []K {
	keys := make([]K, 0, len(won))
	for k, w := range won {
		if w.Conversions > 0 {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b K) int { return cmp.Or(cmp.Compare(won[b].Conversions, won[a].Conversions), compare(a, b)) })
	return keys[:min(limit, len(keys))]
}

// linkYields returns the existing links with most conversions.
func (s *Service) linkYields(ctx context.Context, won map[uint64]*Won, clicks map[uint64]int64, limit int) ([]LinkYield, error) {
	list := []LinkYield{}
	for part := range slices.Chunk(most(won, len(won), cmp.Compare[uint64]), 2*limit+20) { // usually the first few links exist
		links, err := s.store.LinksByNum(ctx, part)
		if err != nil {
			return nil, fmt.Errorf("find the links of conversions: %w", err)
		}
		for _, num := range part {
			if u, ok := links[num]; ok && len(list) < limit {
				list = append(list, LinkYield{u.ID, s.hostOf(&u), u.Slug, analytics.OrNull(u.Title), won[num].yield(clicks[num])})
			}
		}
		if len(list) == limit {
			break
		}
	}
	return list, nil
}

// tagYields returns the tags whose links have most conversions.
func (s *Service) tagYields(ctx context.Context, p auth.Principal, won map[uint64]*Won, clicks map[uint64]int64,
	limit int) ([]NamedYield, error) {
	names, sums, counts := map[uint64]string{}, map[uint64]*Won{}, map[uint64]int64{}
	err := s.store.EachGrouped(ctx, store.ByTag, p.Scope(), func(g store.LinkGroup, link uint64) {
		if sums[g.Num] == nil {
			names[g.Num], sums[g.Num] = g.Name, &Won{}
		}
		sums[g.Num].add(won[link])
		counts[g.Num] += clicks[link]
	})
	if err != nil {
		return nil, fmt.Errorf("find the links of each tag: %w", err)
	}
	tags := most(sums, limit, func(a, b uint64) int { return cmp.Or(cmp.Compare(names[a], names[b]), cmp.Compare(a, b)) })
	return each.Of(tags, func(num uint64) NamedYield { return NamedYield{names[num], sums[num].yield(counts[num])} }), nil
}
