package report

import (
	"context"
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/link"
)

// Filters select clicks by their properties. A click counts if it has one of the values of every filter that has
// values. The names that reports show for missing values, Unknown and Direct, select clicks without a value.
type Filters struct {
	Country, Region, City, Device, OS, Browser, Language []string

	UTMSource, UTMMedium, UTMCampaign, UTMTerm, UTMContent []string

	// Referer has sites, such as instagram.com, or complete referrers, which stand for their site.
	Referer []string

	VariantID, RuleID []string // "none" selects clicks that no variant or rule decided

	// Hosts of links, names of tags and ids of bundles. Clicks on links with any of them count.
	Domain, Tag, BundleID []string

	// Bot has "true" for bots, "false" for people, or the names of bots. It replaces Ask.IncludeBots.
	Bot []string
}

// limits of filters.
const (
	maxFilterValues = 20
	maxFilterLength = 255
	maxListedLinks  = 100_000 // with a tag, in a bundle, on a domain or on other domains
)

// Selected is what filters select, after they were checked.
type selected struct {
	match  []analytics.Match
	bots   analytics.Bots
	listed []uint64 // links with one of the tags and in one of the bundles; nil if neither matters
	on     []uint64 // links on one of the domains; nil if all links may be, except for the next ones
	notOn  []uint64 // links on other custom domains
	key    string   // identifies the filters in the cache
}

var (
	countryCode  = regexp.MustCompile(`^[A-Za-z]{2}$`)
	languageCode = regexp.MustCompile(`^[A-Za-z]{2,3}$`)
)

// property is a filter on a dimension. value returns the stored form of a value, and a problem if it has none.
type property struct {
	field  string
	by     analytics.Dimension
	values []string
	value  func(string) (stored, problem string)
}

func (f Filters) properties() []property {
	return []property{
		{"country", analytics.Country, f.Country, func(v string) (string, string) {
			if !countryCode.MatchString(v) {
				return "", "must be an ISO 3166-1 code of two letters, such as DE, or Unknown"
			}
			return strings.ToUpper(v), ""
		}},
		{"region", analytics.Region, f.Region, plain}, {"city", analytics.City, f.City, plain},
		{"utmSource", analytics.UTMSource, f.UTMSource, plain}, {"utmMedium", analytics.UTMMedium, f.UTMMedium, plain},
		{"utmCampaign", analytics.UTMCampaign, f.UTMCampaign, plain},
		{"utmTerm", analytics.UTMTerm, f.UTMTerm, plain}, {"utmContent", analytics.UTMContent, f.UTMContent, plain},
		{"device", analytics.Device, f.Device, func(v string) (string, string) {
			if v = strings.ToUpper(v); v != "MOBILE" && v != "DESKTOP" && v != "TABLET" {
				return "", "must be MOBILE, DESKTOP, TABLET or Unknown"
			}
			return v, ""
		}},
		{"os", analytics.OS, f.OS, plain}, {"browser", analytics.Browser, f.Browser, plain},
		{"language", analytics.Language, f.Language, func(v string) (string, string) {
			if !languageCode.MatchString(v) {
				return "", "must be a language code of two or three letters, such as de, or Unknown"
			}
			return strings.ToLower(v), ""
		}},
		{"referer", analytics.Site, f.Referer, func(v string) (string, string) {
			if strings.EqualFold(v, "Direct") {
				return "", ""
			}
			if !strings.Contains(v, "://") {
				v = "https://" + v
			}
			site := analytics.SiteOf(v)
			if site == analytics.OtherSite {
				return "", "must be a site, such as instagram.com, or Direct or Unknown"
			}
			return site, ""
		}},
		{"variantId", analytics.Variant, f.VariantID, identifier}, {"ruleId", analytics.Rule, f.RuleID, identifier},
	}
}

func plain(v string) (string, string) { return analytics.Plain(v), "" }

func identifier(v string) (string, string) {
	if v == "none" {
		return "", ""
	}
	id, err := uuid.Parse(v)
	if err != nil || len(v) != 36 {
		return "", "must be an id or none"
	}
	return id.String(), ""
}

// selects checks the filters of a. Its problems name the fields.
func (s *Service) selects(ctx context.Context, p auth.Principal, a Ask, problems *problem.Fields) (sel selected, err error) {
	sel.bots = a.bots()
	for _, c := range append(a.Filters.properties(), property{field: "domain", values: a.Domain}, property{field: "tag", values: a.Tag},
		property{field: "bundleId", values: a.BundleID}, property{field: "bot", values: a.Bot}) {
		bounded(c.field, c.values, problems)
		if len(c.values) == 0 || c.value == nil {
			continue
		}
		m := analytics.Match{By: c.by}
		for _, v := range c.values {
			if v == "" {
				continue
			}
			stored, wrong := "", ""
			switch {
			case strings.EqualFold(v, "Unknown") && c.by == analytics.Site:
				stored = analytics.OtherSite
			case !strings.EqualFold(v, "Unknown"):
				stored, wrong = c.value(v)
			}
			if wrong != "" {
				problems.Add(c.field, "%s", wrong)
				break
			}
			m.Values = append(m.Values, stored)
		}
		sel.match = append(sel.match, m)
	}
	sel.selectBots(a.Bot, problems)
	if err := s.selectDomains(ctx, p, a.Domain, &sel, problems); err != nil {
		return sel, err
	}
	if err := s.selectLabels(ctx, p, a.Filters, &sel, problems); err != nil {
		return sel, err
	}
	sum := sha256.New()
	for _, list := range [][]uint64{sel.listed, sel.on, sel.notOn} {
		fmt.Fprint(sum, list == nil)
		for _, n := range list {
			sum.Write(strconv.AppendUint([]byte{' '}, n, 36))
		}
		sum.Write([]byte{'\n'})
	}
	sel.key = fmt.Sprintf("%q %d %x", sel.match, sel.bots, sum.Sum(nil))
	return sel, nil
}

// selectLabels selects links by their tags and bundles. Those that the caller does not have select nothing.
func (s *Service) selectLabels(ctx context.Context, p auth.Principal, f Filters, sel *selected, problems *problem.Fields) error {
	for _, id := range f.BundleID {
		if _, wrong := identifier(id); wrong != "" || id == "none" {
			problems.Add("bundleId", "must be the id of a bundle")
		}
	}
	for _, label := range []struct {
		field  string
		values []string
		links  func(ctx context.Context, workspace uint64, values []string) ([]uint64, error)
	}{{"tag", f.Tag, s.store.LinkNumsOfTags}, {"bundleId", f.BundleID, s.store.LinkNumsOfBundles}} {
		if len(label.values) == 0 || len(*problems) > 0 {
			continue
		}
		links, err := label.links(ctx, p.Scope(), label.values)
		if err != nil {
			return fmt.Errorf("find the links of %s: %w", label.field, err)
		}
		if len(links) > maxListedLinks {
			problems.Add(label.field, "has %d links; reports filter by at most %d links", len(links), maxListedLinks)
		}
		if sel.listed == nil {
			sel.listed = append([]uint64{}, links...)
		} else {
			sel.listed = slices.DeleteFunc(sel.listed, func(n uint64) bool { _, found := slices.BinarySearch(links, n); return !found })
		}
	}
	return nil
}

// selectDomains selects links by the hosts of their addresses. A name that the caller has no domain with selects nothing. Links
// keep their domain when they are deleted, so their clicks still count.
func (s *Service) selectDomains(ctx context.Context, p auth.Principal, hosts []string, sel *selected, problems *problem.Fields) error {
	if len(hosts) == 0 {
		return nil
	}
	names, ours := []string{}, false
	for _, host := range hosts {
		host = store.WithoutPort(host)
		if strings.EqualFold(host, s.host) {
			ours = true
			continue
		}
		name, err := link.Host(host)
		if err != nil {
			problems.Add("domain", "must be a host name, such as sho.rt")
			return nil
		}
		names = append(names, name)
	}
	domains, err := s.store.DomainsNamed(ctx, p.Scope(), names)
	if err != nil {
		return fmt.Errorf("find domains: %w", err)
	}
	if ours {
		sel.notOn, err = s.store.LinksNotOn(ctx, p.Scope(), domains, maxListedLinks+1)
	} else {
		sel.on, err = s.store.LinksOn(ctx, p.Scope(), domains, maxListedLinks+1)
	}
	if n := len(sel.on) + len(sel.notOn); err == nil && n > maxListedLinks {
		problems.Add("domain", "cannot be filtered by: more than %d links would have to be listed", maxListedLinks)
	}
	return err
}

// bounded checks the number and the length of a filter's values.
func bounded(field string, values []string, problems *problem.Fields) {
	if len(values) > maxFilterValues {
		problems.Add(field, "must have at most %d values", maxFilterValues)
	}
	for _, v := range values {
		if v == "" || len(v) > maxFilterLength {
			problems.Add(field, "must have values of 1 to %d bytes", maxFilterLength)
			return
		}
	}
}

func (sel *selected) selectBots(values []string, problems *problem.Fields) {
	if len(values) == 0 {
		return
	}
	people, bots, names := slices.Contains(values, "false"), slices.Contains(values, "true"), []string{}
	for _, v := range values {
		switch {
		case v == "true" || v == "false":
		case strings.EqualFold(v, "Unknown"):
			names = append(names, "")
		default:
			names = append(names, analytics.Plain(v))
		}
	}
	switch {
	case len(names) > 0 && (people || bots):
		problems.Add("bot", "must be true, false or the names of bots, but not both")
	case len(names) > 0:
		sel.bots = analytics.OnlyBots
		sel.match = append(sel.match, analytics.Match{By: analytics.BotName, Values: names})
	case people && bots:
		sel.bots = analytics.Everyone
	case people:
		sel.bots = analytics.People
	default:
		sel.bots = analytics.OnlyBots
	}
}

// in returns the part of a scope that the filters select.
func (sel selected) in(scope analytics.Scope) analytics.Scope {
	scope.Bots, scope.Match = sel.bots, append(slices.Clone(scope.Match), sel.match...)
	switch {
	case scope.Links != nil:
		scope.Links = slices.DeleteFunc(slices.Clone(scope.Links), func(n uint64) bool { return !sel.admits(n) })
	case sel.listed != nil:
		// All clicks of a link count for the workspace that has the link, and the tag or bundle, now.
		scope.Owner, scope.Home = 0, scope.Owner
		scope.Links = slices.DeleteFunc(slices.Clone(sel.listed), func(n uint64) bool { return !sel.admits(n) })
	case sel.on != nil:
		scope.Links = sel.on
	default:
		scope.NotLinks = sel.notOn
	}
	return scope
}

// admits reports whether the filters on links admit a link.
func (sel selected) admits(link uint64) bool {
	in := func(list []uint64) bool {
		_, found := slices.BinarySearch(list, link)
		return found
	}
	return (sel.listed == nil || in(sel.listed)) && (sel.on == nil || in(sel.on)) && !in(sel.notOn)
}

// narrowed reports whether any filter is set.
func (f Filters) narrowed() bool {
	for _, c := range f.properties() {
		if len(c.values) > 0 {
			return true
		}
	}
	return len(f.Domain)+len(f.Tag)+len(f.BundleID)+len(f.Bot) > 0
}
