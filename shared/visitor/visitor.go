// Package visitor says who is asking: device, system, browser and bot from the User-Agent, the language from
// Accept-Language, the client's address behind trusted proxies, and the place from a geo database.
//
// It promises that every answer is bounded in time and memory whatever the bytes are, that answers for what
// was seen before cost no allocation and no lock, and that one text gives one answer everywhere: the edge's
// rules and the control plane's analytics call the same code. It keeps nothing about people: its only cache
// is of header texts.
//
// What it leaves to others: reading requests, comparing facts with conditions (package rule), and deciding
// what a bot or a preview crawler is served.
//
// Known weaknesses: a browser that hides behind another's User-Agent is taken for that other one. In particular
// an iPad asks for desktop pages as a Mac, and DeX or "desktop site" on Android asks as Linux, and nothing in
// the request tells; only web views give an iPad away. HarmonyOS that says Android is Android.
package visitor

import (
	"net/netip"
	"unsafe"

	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
)

// Input is what a request says about its visitor. The slices may alias the request's memory: the Visitor reads
// them until its next Reset and never writes to them or keeps them longer. It looks at no more of each value than a
// stored click keeps (click.MaxReferer and so on). So rules and analytics see the same text, and what a long header can
// cost is bounded.
type Input struct {
	UserAgent      []byte
	AcceptLanguage []byte
	Referer        []byte
	UTM            link.UTM   // the visitor's own parameters
	IP             netip.Addr // as ClientIP gave it; the zero Addr is nowhere
	UnixMilli      int64      // when the request came
}

// Visitor is the facts about one request's visitor, each found out when it is first asked for and remembered.
// It is reused by Reset, belongs to one goroutine at a time, and implements rule.Facts. Its strings live as long
// as the request that Input aliases. The zero Visitor is a visitor of whom nothing is known.
type Visitor struct {
	in     Input
	agents *Agents
	geo    *Geo

	known    uint8 // which of the following have been found out
	agent    Agent
	place    Place
	language string
}

const (
	knowsAgent = 1 << iota
	knowsPlace
	knowsLanguage
)

var _ rule.Facts = (*Visitor)(nil)

// Reset makes v the visitor of another request. geo and agents may be nil: places are unknown then, and every
// User-Agent is parsed.
func (v *Visitor) Reset(in Input, geo *Geo, agents *Agents) {
	in.UserAgent = in.UserAgent[:min(len(in.UserAgent), click.MaxUserAgent)]
	in.AcceptLanguage = in.AcceptLanguage[:min(len(in.AcceptLanguage), click.MaxAcceptLanguage)]
	in.Referer = in.Referer[:min(len(in.Referer), click.MaxReferer)]
	v.in, v.geo, v.agents, v.known = in, geo, agents, 0
}

// Agent is the visitor's program and device. What it points to is v's until the next Reset.
func (v *Visitor) Agent() *Agent {
	if v.known&knowsAgent == 0 {
		v.agent = v.agents.Lookup(view(v.in.UserAgent))
		v.known |= knowsAgent
	}
	return &v.agent
}

// Place is where the visitor's address is registered. What it points to is v's until the next Reset.
func (v *Visitor) Place() *Place {
	if v.known&knowsPlace == 0 {
		v.place = v.geo.Lookup(v.in.IP)
		v.known |= knowsPlace
	}
	return &v.place
}

// Language is the visitor's most preferred language tag, as sent.
func (v *Visitor) Language() string {
	if v.known&knowsLanguage == 0 {
		v.language = Preferred(view(v.in.AcceptLanguage))
		v.known |= knowsLanguage
	}
	return v.language
}

// UnixMilli is the time of the request.
func (v *Visitor) UnixMilli() int64 { return v.in.UnixMilli }

// Fact returns one fact, "" where it is not known.
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
	}
	return ""
}

// cutUTM is what a stored click keeps of a campaign parameter.
func cutUTM(s string) string { return s[:min(len(s), click.MaxUTM)] }

// view reads b as a string without copying it. That is safe because Input promises that b does not change
// until Reset, and what outlives the request (the cache's keys) is cloned; the race detector notices a caller
// who breaks the promise, and TestVisitor_cache_survives_request_memory a cache that does.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
