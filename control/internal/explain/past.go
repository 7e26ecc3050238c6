package explain

import (
	"cmp"
	"hash/fnv"
	"net/netip"
	"regexp"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/visitor"
)

// past is a stored visit. It has the facts that rules saw when the visit happened, as far as the click store keeps them.
type past struct {
	row    analytics.Row
	preset link.UTM // of the stored link; clicks have it where the visitor has no parameter of the same name

	continent  string
	regionCode string // if sure
	regionSure bool
	regionName string
	share      uint64
	draw       uint64 // stands for the random number of the visit, the same for every configuration
}

var storedCode = regexp.MustCompile(`^[A-Z]{2}-[A-Z0-9]{1,3}$`)

// remember makes a stored click a visitor.
func (s *Service) remember(row *analytics.Row, stored *configuration) *past {
	v := &past{row: *row, preset: stored.link.UTM, continent: visitor.ContinentOf(row.Country)}
	switch found := s.geo.Lookup(row.IP); {
	case row.Region == "":
		v.regionSure = true
	case found.Country == row.Country && cmp.Or(found.RegionName, found.RegionCode) == row.Region:
		v.regionSure, v.regionCode, v.regionName = true, found.RegionCode, found.RegionName
	case storedCode.MatchString(row.Region):
		v.regionSure, v.regionCode = true, row.Region // clicks have the code only of regions without a name
	default:
		v.regionName = row.Region
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(row.ID())) // never fails
	v.draw = h.Sum64()
	switch {
	case row.Visitor != 0:
		v.share = row.Visitor
	case row.IP.IsValid():
		var who visitor.Visitor
		who.Reset(visitor.Input{UserAgent: []byte(row.UserAgent), IP: row.IP}, nil, nil)
		who.Extend(visitor.Extras{Link: stored.link.Num})
		v.share = who.Share()
	default:
		v.share = v.draw // nothing recognises the visitor
	}
	return v
}

// Fact implements rule.Facts. Certainty tells what the result means.
func (v *past) Fact(f rule.Field) string {
	r := &v.row
	switch f {
	case rule.FieldDevice:
		return r.Device
	case rule.FieldOS:
		return r.OS
	case rule.FieldBrowser:
		return r.Browser
	case rule.FieldCountry:
		return r.Country
	case rule.FieldRegionCode:
		if v.regionSure {
			return v.regionCode
		}
		return r.Country // with which every code of its regions begins
	case rule.FieldRegionName:
		return v.regionName
	case rule.FieldCity:
		return r.City
	case rule.FieldContinent:
		return v.continent
	case rule.FieldLanguage:
		return r.Language
	case rule.FieldReferer:
		return r.Referer
	}
	stored, _ := v.campaign(f)
	return stored
}

// campaign returns a campaign parameter of the click, and that of the link.
func (v *past) campaign(f rule.Field) (stored, preset string) {
	u, p := &v.row.UTM, &v.preset
	switch f {
	case rule.FieldUTMSource:
		return u.Source, p.Source
	case rule.FieldUTMMedium:
		return u.Medium, p.Medium
	case rule.FieldUTMCampaign:
		return u.Campaign, p.Campaign
	case rule.FieldUTMTerm:
		return u.Term, p.Term
	case rule.FieldUTMContent:
		return u.Content, p.Content
	}
	return "", ""
}

// Certainty implements rule.Partial.
func (v *past) Certainty(f rule.Field) rule.Certainty {
	switch f {
	case rule.FieldDevice, rule.FieldOS, rule.FieldBrowser, rule.FieldCountry, rule.FieldRegionName, rule.FieldCity, rule.FieldContinent,
		rule.FieldReferer:
		return rule.Sure
	case rule.FieldLanguage:
		if v.row.Language == "" {
			return rule.Unknown // older clicks have no language
		}
		return rule.Begins // clicks have no region of a language
	case rule.FieldRegionCode:
		if !v.regionSure {
			return rule.Begins
		}
		return rule.Sure
	case rule.FieldUTMSource, rule.FieldUTMMedium, rule.FieldUTMCampaign, rule.FieldUTMTerm, rule.FieldUTMContent:
		if stored, preset := v.campaign(f); stored != "" && stored == preset {
			return rule.OrNone
		}
		return rule.Sure
	}
	return rule.Unknown // such as who has been here before: clicks do not say it
}

// Network implements rule.Partial. An address that looks shortened counts as its network.
func (v *past) Network() netip.Prefix {
	ip := v.row.IP
	bits := ip.BitLen()
	if ip.IsValid() && visitor.TruncateAddress.Address(ip) == ip {
		if bits = 48; ip.Is4() {
			bits = 24
		}
	}
	return netip.PrefixFrom(ip, bits)
}

func (v *past) UnixMilli() int64    { return v.row.Time }
func (v *past) Share() uint64       { return v.share }
func (v *past) Address() netip.Addr { return netip.Addr{} } // see Network
func (v *past) Param(string) string { return "" }           // never stored

// Crawler reports whether the visitor is a preview crawler.
func (v *past) Crawler() bool { return visitor.Parse(v.row.UserAgent).Preview }

// drawn is a past visitor whose choice of a variant is random.
type drawn struct{ *past }

func (d drawn) Share() uint64 { return d.draw }
