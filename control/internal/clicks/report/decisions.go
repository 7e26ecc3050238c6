package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/percent"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
)

// Tests reports on the active A/B tests.
type Tests struct {
	Tests           []Test `json:"tests"`
	TotalABTestURLs int    `json:"totalAbTestUrls"`
	TotalTestClicks int64  `json:"totalTestClicks"`

	// Fields that some clients read instead.
	ControlGroupClicks     int64        `json:"controlGroupClicks" doc:"Clicks of these links that neither a variant nor a rule decided, such as those from before the test."`
	VariantClicks          int64        `json:"variantClicks" doc:"The same as totalTestClicks."`
	ControlGroupPercentage float64      `json:"controlGroupPercentage" doc:"Of controlGroupClicks and variantClicks together."`
	VariantPercentage      float64      `json:"variantPercentage"`
	TopPerformingVariants  []TopVariant `json:"topPerformingVariants" doc:"Variants with clicks, most first; limit bounds them."`

	Comparison *Compared[Tests] `json:"comparison,omitempty" doc:"Only with compare."`
}

// TopVariant is a variant in the list of variants with the most clicks.
type TopVariant struct {
	URLDomain        string  `json:"urlDomain"`
	URLSlug          string  `json:"urlSlug"`
	VariantName      string  `json:"variantName"`
	Clicks           int64   `json:"clicks"`
	ClickThroughRate float64 `json:"clickThroughRate" doc:"Percent of its test's clicks."`
}

// Test has the results of a link's variants in a period.
type Test struct {
	URLID       string        `json:"urlId"`
	Domain      string        `json:"domain"`
	Slug        string        `json:"slug"`
	TotalClicks int64         `json:"totalClicks" doc:"Clicks that went to one of the variants."`
	StartDate   *string       `json:"startDate" format:"date-time" doc:"When the first variant was created."`
	Variants    []TestVariant `json:"variants"`

	Comparison *Compared[Test] `json:"comparison,omitempty" doc:"Only with compare."`
}

// TestVariant is one variant of a test.
type TestVariant struct {
	ID               string  `json:"id"`
	Name             string  `json:"name"`
	Clicks           int64   `json:"clicks"`
	Percentage       float64 `json:"percentage" doc:"Of the test's clicks."`
	ActualPercentage float64 `json:"actualPercentage" doc:"The same as percentage."`
	Distinct
	Weight int `json:"weight"`
}

// Tests reports on all of the caller's links with an active A/B test.
func (s *Service) Tests(ctx context.Context, p auth.Principal, a Ask) (*Tests, error) {
	period, err := s.prepare(ctx, p, &a)
	if err != nil {
		return nil, err
	}
	return recall(ctx, s, p, ownScope(p, a), key("tests", a, period), func() (*Tests, error) {
		of := func(period Period) (*Tests, error) { return s.allTests(ctx, p, a, period) }
		t, err := of(period)
		if err == nil {
			t.Comparison, err = compared(a, period, of)
		}
		return t, err
	})
}

func (s *Service) allTests(ctx context.Context, p auth.Principal, a Ask, period Period) (*Tests, error) {
	urls, err := s.store.TestedLinks(ctx, p.Scope())
	if err != nil {
		return nil, fmt.Errorf("list tested links: %w", err)
	}
	urls = slices.DeleteFunc(urls, func(u store.Link) bool { return !a.selected.admits(u.Num) })
	list, drawn, err := s.tests(ctx, urls, a, period)
	if err != nil {
		return nil, err
	}
	t := &Tests{Tests: list, TotalABTestURLs: len(list), TopPerformingVariants: []TopVariant{}}
	for _, test := range list {
		t.TotalTestClicks += test.TotalClicks
		for _, v := range test.Variants {
			if v.Clicks > 0 {
				t.TopPerformingVariants = append(t.TopPerformingVariants, TopVariant{test.Domain, test.Slug, v.Name, v.Clicks,
					v.Percentage})
			}
		}
	}
	slices.SortStableFunc(t.TopPerformingVariants, func(a, b TopVariant) int { return cmp.Compare(b.Clicks, a.Clicks) })
	t.TopPerformingVariants = t.TopPerformingVariants[:min(a.limit(), len(t.TopPerformingVariants))]

	scope := period.limit(a.selected.in(analytics.Scope{Links: numsOf(urls), Home: homeOf(urls)}))
	all, err := s.countClicks(ctx, scope)
	if err != nil {
		return nil, err
	}
	scope.Routed = true
	routed, err := s.countClicks(ctx, scope)
	if err != nil {
		return nil, err
	}
	// Clicks that arrive between the two queries must not make the difference negative.
	t.ControlGroupClicks, t.VariantClicks = max(0, all-routed-drawn), t.TotalTestClicks
	t.ControlGroupPercentage = percent.Of(t.ControlGroupClicks, t.ControlGroupClicks+t.VariantClicks)
	t.VariantPercentage = percent.Of(t.VariantClicks, t.ControlGroupClicks+t.VariantClicks)
	return t, nil
}

// numsOf never returns nil, because nil would select all links.
func numsOf(urls []store.Link) []uint64 {
	return each.Of(urls, func(u store.Link) uint64 { return u.Num })
}

// Test reports on one link's variants, whether or not its test is active.
func (s *Service) Test(ctx context.Context, p auth.Principal, id string, a Ask) (*Test, error) {
	u, period, err := s.linkAndPeriod(ctx, p, id, &a)
	if err != nil {
		return nil, err
	}
	return recall(ctx, s, p, linkScope(u, a), key("test", a, period), func() (*Test, error) {
		of := func(period Period) (*Test, error) {
			list, _, err := s.tests(ctx, []store.Link{u}, a, period)
			if err != nil {
				return nil, err
			}
			return &list[0], nil
		}
		t, err := of(period)
		if err == nil {
			t.Comparison, err = compared(a, period, of)
		}
		return t, err
	})
}

// tests reports on each link's variants. drawn is the number of clicks on any variant, including deleted ones.
func (s *Service) tests(ctx context.Context, urls []store.Link, a Ask, period Period) (list []Test, drawn int64, err error) {
	ids := each.Of(urls, func(u store.Link) string { return u.ID })
	variants, err := s.store.VariantsOf(ctx, ids)
	if err != nil {
		return nil, 0, fmt.Errorf("find the variants of a report: %w", err)
	}
	lines, err := s.clicks.Lines(ctx, analytics.Query{
		Scope:  period.limit(a.selected.in(analytics.Scope{Links: numsOf(urls), Home: homeOf(urls), Drawn: true})),
		ByLink: true, By: analytics.Variant, Visitors: true,
	})
	if err != nil {
		return nil, 0, err
	}
	type arm struct {
		num uint64
		id  string
	}
	found := map[arm]analytics.Line{}
	for _, l := range lines {
		found[arm{l.Link, l.Value}] = l
		drawn += l.Clicks
	}
	list = make([]Test, len(urls))
	for i, u := range urls {
		t := Test{URLID: u.ID, Domain: s.hostOf(&urls[i]), Slug: u.Slug, Variants: []TestVariant{}}
		for _, v := range variants[u.ID] {
			l := found[arm{u.Num, v.ID}]
			t.TotalClicks += l.Clicks
			t.Variants = append(t.Variants, TestVariant{ID: v.ID, Name: v.Name, Clicks: l.Clicks, Distinct: distinct(l), Weight: v.Weight})
			if t.StartDate == nil { // variants are ordered by age, oldest first
				t.StartDate = analytics.OrNull(time.UnixMilli(v.CreatedAt).UTC().Format(instantLayout))
			}
		}
		for j := range t.Variants {
			v := &t.Variants[j]
			v.Percentage = percent.Of(v.Clicks, t.TotalClicks)
			v.ActualPercentage = v.Percentage
		}
		list[i] = t
	}
	return list, drawn, nil
}

// Routing has the results of a link's rules in a period.
type Routing struct {
	URLID              string        `json:"urlId"`
	IsSmartRouting     bool          `json:"isSmartRouting"`
	TotalMatches       int64         `json:"totalMatches" doc:"Clicks decided by a rule, including rules that were deleted since."`
	TotalClicks        int64         `json:"totalClicks"`
	MatchRate          float64       `json:"matchRate" doc:"Percent of the clicks that a rule decided."`
	Rules              []RuleFigures `json:"rules" doc:"In the order of evaluation."`
	TimeSeries         []RuleDay     `json:"timeSeries" doc:"Days, or other periods, in which a rule matched."`
	GeoDistribution    []Named       `json:"geoDistribution" doc:"All clicks by country."`
	DeviceDistribution []Named       `json:"deviceDistribution" doc:"All clicks by device."`

	Comparison *Compared[Routing] `json:"comparison,omitempty" doc:"Only with compare."`
}

// RuleFigures has the matches of one rule.
type RuleFigures struct {
	RuleID          string  `json:"ruleId"`
	RuleName        string  `json:"ruleName"`
	TargetURL       string  `json:"targetUrl"`
	MatchCount      int64   `json:"matchCount"`
	MatchPercentage float64 `json:"matchPercentage" doc:"Of all clicks in the period."`
	IsActive        bool    `json:"isActive"`
}

// RuleDay has the matches of one rule on one day, or in another period.
type RuleDay struct {
	Date     string `json:"date" format:"date"`
	At       string `json:"at,omitempty" format:"date-time" doc:"When the minute or hour begins. Only if interval is minute or hour."`
	RuleID   string `json:"ruleId"`
	RuleName string `json:"ruleName"`
	Matches  int64  `json:"matches"`
}

// Routing reports on a link's rules.
func (s *Service) Routing(ctx context.Context, p auth.Principal, id string, a Ask) (*Routing, error) {
	u, period, err := s.linkAndPeriod(ctx, p, id, &a)
	if err != nil {
		return nil, err
	}
	return recall(ctx, s, p, linkScope(u, a), key("routing", a, period), func() (*Routing, error) {
		of := func(period Period) (*Routing, error) { return s.routing(ctx, u, a, period) }
		r, err := of(period)
		if err == nil {
			r.Comparison, err = compared(a, period, of)
		}
		return r, err
	})
}

func (s *Service) routing(ctx context.Context, u store.Link, a Ask, period Period) (*Routing, error) {
	rules, err := s.store.Rules(ctx, u.ID)
	if err != nil {
		return nil, fmt.Errorf("find the rules of a report: %w", err)
	}
	scope := period.limit(linkScope(u, a))
	routed := scope
	routed.Routed = true
	days, err := s.clicks.Lines(ctx, analytics.Query{Scope: routed, Every: period.Every, Zone: period.Zone, By: analytics.Rule})
	if err != nil {
		return nil, err
	}
	total, err := s.countClicks(ctx, scope)
	if err != nil {
		return nil, err
	}
	found, err := s.clicks.Breakdown(ctx, scope, []analytics.Dimension{analytics.Country, analytics.Device}, a.limit())
	if err != nil {
		return nil, err
	}
	r := &Routing{URLID: u.ID, IsSmartRouting: u.SmartRouting, TotalClicks: total, Rules: []RuleFigures{}, TimeSeries: []RuleDay{},
		GeoDistribution: named(found[analytics.Country], total, a.limit()), DeviceDistribution: named(found[analytics.Device],
			total, a.limit())}
	names, matches := map[string]string{}, map[string]int64{}
	for _, rule := range rules {
		names[rule.ID] = rule.Name
	}
	for _, l := range days {
		r.TotalMatches += l.Clicks
		matches[l.Value] += l.Clicks
		if name, exists := names[l.Value]; exists {
			date, at := period.label(l.Period)
			r.TimeSeries = append(r.TimeSeries, RuleDay{date, at, l.Value, name, l.Clicks})
		}
	}
	for _, rule := range rules {
		r.Rules = append(r.Rules, RuleFigures{rule.ID, rule.Name, rule.TargetURL, matches[rule.ID], percent.Of(matches[rule.ID], total),
			rule.Active})
	}
	r.MatchRate = percent.Of(r.TotalMatches, total)
	return r, nil
}
