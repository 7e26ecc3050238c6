package report

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
)

// lists returns the values of each filter by its name in requests.
func (f *Filters) lists() map[string]*[]string {
	return map[string]*[]string{
		"country": &f.Country, "region": &f.Region, "city": &f.City, "device": &f.Device, "os": &f.OS, "browser": &f.Browser,
		"language": &f.Language, "referer": &f.Referer, "utmSource": &f.UTMSource, "utmMedium": &f.UTMMedium,
		"utmCampaign": &f.UTMCampaign, "utmTerm": &f.UTMTerm, "utmContent": &f.UTMContent, "variantId": &f.VariantID,
		"ruleId": &f.RuleID, "domain": &f.Domain, "tag": &f.Tag, "bundleId": &f.BundleID, "bot": &f.Bot,
	}
}

// Named returns the filters with values by their names in requests.
func (f Filters) Named() map[string][]string {
	out := map[string][]string{}
	for name, values := range f.lists() {
		if len(*values) > 0 {
			out[name] = *values
		}
	}
	return out
}

// FiltersNamed is the inverse of Named. Its error is a *problem.Error that names what is no filter.
func FiltersNamed(named map[string][]string) (f Filters, err error) {
	lists, problems := f.lists(), problem.Fields{}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if to, known := lists[name]; known {
			*to = named[name]
		} else {
			problems.Add(name, "is not a filter")
		}
	}
	return f, problems.Err()
}

// CheckFilters checks filters by name as a report does. Its error is a *problem.Error that names the filters, or one of the database.
func (s *Service) CheckFilters(ctx context.Context, p auth.Principal, named map[string][]string) error {
	f, err := FiltersNamed(named)
	if err != nil {
		return err
	}
	var problems problem.Fields
	if _, err := s.selects(ctx, p, Ask{Filters: f}, &problems); err != nil {
		return fmt.Errorf("find what filters select: %w", err)
	}
	return problems.Err()
}

// Bounds returns the instants at which a range begins and ends, in Unix milliseconds. Its error is a *problem.Error.
func (s *Service) Bounds(r Range) (from, to int64, err error) {
	period, err := s.period(r)
	if err != nil {
		return 0, 0, err
	}
	scope := period.limit(analytics.Scope{})
	return scope.From, scope.To, nil
}
