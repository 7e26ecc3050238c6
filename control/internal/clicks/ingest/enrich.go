package ingest

import (
	"cmp"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/visitor"
)

// PrefetchName is the bot name of browsers that fetched a link before the visitor followed it.
const PrefetchName = "Prefetch"

// Enricher derives what reports show from the raw facts of a click. It is safe for concurrent use.
//
// A process with both consumer groups, ingest and hooks, gives the same Enricher to both. The groups keep their own
// offsets, so that slow webhooks never delay reports; each therefore has to decode a batch for itself. With one Enricher
// they share the cache of User-Agents, which is the expensive part of the work.
type Enricher struct {
	geo    *visitor.Geo
	agents *visitor.Agents
}

// NewEnricher returns an Enricher. With a nil geo, places are unknown.
func NewEnricher(geo *visitor.Geo) *Enricher {
	return &Enricher{geo: geo, agents: visitor.NewAgents(visitor.DefaultAgents)}
}

// facts sets the derived columns: from the address, from the User-Agent, and from whether the browser only prefetched.
func (en *Enricher) facts(row *analytics.Row, prefetch bool, version string) {
	agent, place := en.agents.Lookup(row.UserAgent), en.geo.Lookup(row.IP)
	row.Country, row.Region, row.City = place.Country, place.RegionName, place.City
	row.Region = cmp.Or(row.Region, place.RegionCode)
	row.Device, row.OS, row.Browser = agent.Device, agent.OS, agent.Browser
	row.Bot, row.BotName = agent.Bot, agent.BotName
	if prefetch && !row.Bot {
		row.Bot, row.BotName = true, PrefetchName
	}
	row.GeoVersion, row.BotList = version, visitor.BotListVersion
}

// decode decodes a batch and enriches its clicks.
func (en *Enricher) decode(b *click.Batch) (*delivery, error) {
	d := &delivery{lane: b.Lane, repair: b.Repair, first: b.First, last: b.First + uint64(b.Count) - 1,
		rows: make([]analytics.Row, 0, b.Count)}
	dec := click.NewDecoder(b)
	version := en.geo.Version()
	var e click.Event
	for {
		more, err := dec.Next(&e)
		if err != nil {
			return nil, err
		}
		if !more {
			return d, nil
		}
		id := analytics.Identity{Lane: b.Lane, Seq: e.Seq}
		if e.LostTo != 0 {
			d.losses = append(d.losses, analytics.Loss{Identity: id, Time: e.Time, From: e.LostFrom, To: e.LostTo})
			continue
		}
		row := analytics.Row{
			Identity: id, Time: e.Time, Link: e.Link, Owner: e.Owner, Variant: e.Variant, Rule: e.Rule, IP: e.IP,
			Referer: e.Referer, UserAgent: e.UserAgent, UTM: e.UTM, EdgeName: b.Origin.Edge, EdgeRegion: b.Origin.Region,
			Language: visitor.Language(e.AcceptLanguage), Visitor: e.Visitor,
		}
		en.facts(&row, e.Prefetch, version)
		d.rows = append(d.rows, row)
	}
}
