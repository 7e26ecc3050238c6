// Package visitor derives facts about a visitor from a request: device, system, browser and bot from the User-Agent,
// the language from Accept-Language, the client's address behind trusted proxies, and the place from a geo database.
//
// Every result takes bounded time and memory, whatever the input. A cached result takes no allocation and no lock.
// The same text gives the same result everywhere, because the rules of edges and the analytics of the control plane
// call the same code. The package stores nothing about people; it caches only the texts of headers.
//
// Other packages read requests, compare facts with conditions (package rule), and decide what a bot or a preview
// crawler is served.
//
// Known weaknesses: a browser that sends the User-Agent of another browser is taken for that browser. An iPad
// pretends to be a Mac when it requests desktop pages, and only web views reveal it. Samsung DeX and "desktop site"
// on Android pretend to be Linux. HarmonyOS that claims to be Android counts as Android.
package visitor

import (
	"net/netip"
	"unsafe"

	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
)

// Input holds the parts of a request that describe its visitor. The slices may alias the request's memory. The Visitor
// only reads them, and only until its next Reset. It reads no more of each value than a stored click keeps
// (click.MaxReferer and so on), so rules and analytics see the same text, and a long header has a bounded cost.
type Input struct {
	UserAgent      []byte
	AcceptLanguage []byte
	Referer        []byte
	UTM            link.UTM   // the visitor's own parameters
	IP             netip.Addr // the result of ClientIP; the zero Addr has no place
	UnixMilli      int64      // when the request arrived
}

// Visitor provides facts about the visitor of one request. It derives each fact on first use and remembers it. Reset
// makes it ready for another request. Only one goroutine may use it at a time. It implements rule.Facts. Its strings
// are valid as long as the memory that Input aliases. The zero Visitor is a visitor about whom nothing is known.
type Visitor struct {
	in     Input
	agents *Agents
	geo    *Geo

	known    uint8 // which of the following fields are set
	agent    Agent
	place    Place
	language string

	extras   Extras
	identity uint64
	params   link.Params
}

const (
	knowsAgent = 1 << iota
	knowsPlace
	knowsLanguage
	knowsExtras
	knowsParams
	knowsIdentity
)

var _ rule.Facts = (*Visitor)(nil)

// Reset makes v the visitor of another request. If geo is nil, places are unknown. If agents is nil, every User-Agent
// is parsed.
func (v *Visitor) Reset(in Input, geo *Geo, agents *Agents) {
	in.UserAgent = in.UserAgent[:min(len(in.UserAgent), click.MaxUserAgent)]
	in.AcceptLanguage = in.AcceptLanguage[:min(len(in.AcceptLanguage), click.MaxAcceptLanguage)]
	in.Referer = in.Referer[:min(len(in.Referer), click.MaxReferer)]
	v.in, v.geo, v.agents, v.known = in, geo, agents, 0
}

// Agent returns the visitor's program and device. v owns the result, which is valid until the next Reset.
func (v *Visitor) Agent() *Agent {
	if v.known&knowsAgent == 0 {
		v.agent = v.agents.Lookup(view(v.in.UserAgent))
		v.known |= knowsAgent
	}
	return &v.agent
}

// Place returns the place where the visitor's address is registered. v owns the result, which is valid until the next
// Reset.
func (v *Visitor) Place() *Place {
	if v.known&knowsPlace == 0 {
		v.place = v.geo.Lookup(v.in.IP)
		v.known |= knowsPlace
	}
	return &v.place
}

// Language returns the visitor's most preferred language tag, as sent.
func (v *Visitor) Language() string {
	if v.known&knowsLanguage == 0 {
		v.language = Preferred(view(v.in.AcceptLanguage))
		v.known |= knowsLanguage
	}
	return v.language
}

// UnixMilli returns the time of the request.
func (v *Visitor) UnixMilli() int64 { return v.in.UnixMilli }

// Fact returns one fact, or "" if it is unknown.
func (v *Visitor) Fact(f rule.Field) string {
	switch f {
	case rule.FieldDevice:
		return v.Agent().Device
	case rule.FieldOS:
		return v.Agent().OS
	case rule.FieldBrowser:
		return v.Agent().Browser
	case rule.FieldCountry:
		return v.Place().Country
	case rule.FieldRegionCode:
		return v.Place().RegionCode
	case rule.FieldRegionName:
		return v.Place().RegionName
	case rule.FieldCity:
		return v.Place().City
	case rule.FieldLanguage:
		return v.Language()
	case rule.FieldReferer:
		return view(v.in.Referer)
	case rule.FieldUTMSource:
		return cutUTM(v.in.UTM.Source)
	case rule.FieldUTMMedium:
		return cutUTM(v.in.UTM.Medium)
	case rule.FieldUTMCampaign:
		return cutUTM(v.in.UTM.Campaign)
	case rule.FieldUTMTerm:
		return cutUTM(v.in.UTM.Term)
	case rule.FieldUTMContent:
		return cutUTM(v.in.UTM.Content)
	case rule.FieldContinent:
		return v.Place().Continent
	case rule.FieldVisitor:
		switch {
		case v.known&knowsExtras == 0:
			return ""
		case v.extras.Known:
			return rule.ReturningVisitor
		}
		return rule.NewVisitor
	}
	return ""
}

// cutUTM returns the part of a campaign parameter that a stored click keeps.
func cutUTM(s string) string { return s[:min(len(s), click.MaxUTM)] }

// view returns b as a string without copying it. That is safe because b must not change until Reset (see Input), and
// because the cache, which outlives the request, clones its keys. The race detector finds a caller that changes b.
// TestVisitor_cache_survives_request_memory finds a cache that keeps it.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
