package explain

import (
	"cmp"
	"math/rand/v2"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/decision"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/visitor"
)

// Visit describes the request of a visit. A zero field is absent from the request.
type Visit struct {
	UserAgent string
	IP        string
	Language  string // Accept-Language header
	Referer   string
	Query     string // query of the short URL, with or without the question mark
	Path      string // behind the slug, with or without its first slash; a slash alone is none
	UnixMilli int64  // 0: now
	Cookie    string // value of the cookie sl_v; a visitor who sends it is a returning one
	Returning bool   // whether the visitor has been here before; only the cookie tells with which identity

	// Device, OS and Browser override what UserAgent says, as stored clicks have them. With one of them, a visitor without UserAgent
	// is no bot.
	Device, OS, Browser string

	// Country overrides the location of IP, including region and city. Region and City each override only themselves.
	Country, Region, City string
}

const (
	maxHeader = 8 << 10
	maxPlace  = 255
)

var (
	countryCode = regexp.MustCompile(`^[A-Za-z]{2}$`)
	regionCode  = regexp.MustCompile(`^[A-Za-z]{2}-[A-Za-z0-9]{1,3}$`)
)

// simulatedVisitor is a visitor with a given or detected location.
type simulatedVisitor struct {
	visitor.Visitor
	ip, referer string
	utm         link.UTM
	extras      visitor.Extras
	path        []byte // behind the slug, from its first slash; nil: none
}

// meet builds the visitor and returns the raw query that is passed on to the destination.
func (s *Service) meet(v *Visit) (*simulatedVisitor, []byte, error) {
	var problems problem.Fields
	for _, f := range []struct {
		name, value string
		max         int
	}{
		{"userAgent", v.UserAgent, maxHeader}, {"language", v.Language, maxHeader}, {"referer", v.Referer, maxHeader},
		{"query", v.Query, maxHeader}, {"path", v.Path, maxHeader},
		{"region", v.Region, maxPlace}, {"city", v.City, maxPlace},
		{"os", v.OS, maxPlace}, {"browser", v.Browser, maxPlace},
	} {
		if len(f.value) > f.max {
			problems.Add(f.name, "must be at most %d bytes long", f.max)
		}
	}
	if strings.ContainsAny(v.Path, "?#") {
		problems.Add("path", "must have no ? and no #; the query is a field of its own")
	}
	if !slices.Contains([]string{"", visitor.Mobile, visitor.Tablet, visitor.Desktop}, v.Device) {
		problems.Add("device", "must be %s, %s or %s", visitor.Mobile, visitor.Tablet, visitor.Desktop)
	}
	if v.Country != "" && !countryCode.MatchString(v.Country) {
		problems.Add("country", "must be an ISO 3166-1 code of two letters, such as DE")
	}
	var ip netip.Addr
	identity, known := visitor.ParseIdentity(v.Cookie)
	if v.Cookie != "" && !known {
		problems.Add("cookie", "must be the value of the cookie %s: 16 hexadecimal digits in lower case", visitor.Cookie)
	}
	if v.IP != "" {
		var err error
		if ip, err = netip.ParseAddr(v.IP); err != nil {
			problems.Add("ip", "must be an IPv4 or IPv6 address")
		}
		ip = ip.Unmap().WithZone("")
	}
	if err := problems.Err(); err != nil {
		return nil, nil, err
	}

	text, _, _ := strings.Cut(strings.TrimPrefix(v.Query, "?"), "#")
	query := []byte(text)
	now := v.UnixMilli
	now = cmp.Or(now, store.Now())
	utm, _ := link.VisitorUTM(query, nil)
	g := &simulatedVisitor{ip: v.IP, referer: v.Referer, utm: utm}
	if path := strings.TrimPrefix(v.Path, "/"); path != "" {
		g.path = []byte("/" + path)
	}
	g.Reset(visitor.Input{
		UserAgent: []byte(v.UserAgent), AcceptLanguage: []byte(v.Language), Referer: []byte(v.Referer), UTM: utm, IP: ip, UnixMilli: now,
	}, s.geo, nil)
	v.describe(g.Agent())
	if v.Returning && !known {
		identity, known = g.Identity(), true // as if the visitor had come from the same network, with the same browser
	}
	g.extras = visitor.Extras{Query: query, Known: known, Identity: identity}
	v.locate(g.Place())
	return g, query, nil
}

// describe overrides what the User-Agent says.
func (v *Visit) describe(a *visitor.Agent) {
	a.Device, a.OS, a.Browser = cmp.Or(v.Device, a.Device), cmp.Or(v.OS, a.OS), cmp.Or(v.Browser, a.Browser)
	if v.UserAgent == "" && cmp.Or(v.Device, v.OS, v.Browser) != "" {
		a.Bot, a.BotName = false, ""
	}
}

// locate overrides what the address says.
func (v *Visit) locate(p *visitor.Place) {
	if v.Country != "" {
		*p = visitor.Place{Country: strings.ToUpper(v.Country), Continent: visitor.ContinentOf(v.Country)}
	}
	if v.Region != "" {
		p.RegionCode, p.RegionName = "", v.Region
		if regionCode.MatchString(v.Region) {
			p.RegionCode, p.RegionName = strings.ToUpper(v.Region), ""
		}
	}
	p.City = cmp.Or(v.City, p.City)
}

// visit makes g a visitor of a link. A new visitor of a link that is sticky by cookie has a fresh identity, as at an edge.
func (g *simulatedVisitor) visit(plan *decision.Plan) {
	g.extras.Link = plan.Record.Num
	if !g.extras.Known && plan.Sticky() == link.StickyCookie {
		g.extras.Identity, g.extras.Fresh = rand.Uint64(), true
	}
	g.Extend(g.extras)
}

// Crawler reports whether the visitor is a preview crawler.
func (g *simulatedVisitor) Crawler() bool { return g.Agent().Preview }

func (g *simulatedVisitor) seen() Seen {
	return Seen{Agent: *g.Agent(), Place: *g.Place(), Language: g.Language(), IP: g.ip, Referer: g.referer, UTM: g.utm,
		UnixMilli: g.UnixMilli(),
		Returning: g.extras.Known, Percentile: rule.Percentile(g)}
}
