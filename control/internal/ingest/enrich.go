package ingest

import (
	"github.com/shortline/shortline/control/internal/analytics"
	"github.com/shortline/shortline/shared/click"
)

// PrefetchName names, among bots, the browsers that fetched a link before anybody followed it.
const PrefetchName = "Prefetch"

// read decodes a batch and derives from each click's raw facts what reports ask for.
func (in *Ingester) read(b *click.Batch) (*delivery, error) {
	d := &delivery{lane: b.Lane, repair: b.Repair, first: b.First, last: b.First + uint64(b.Count) - 1, rows: make([]analytics.Row, 0, b.Count)}
	dec := click.NewDecoder(b)
	version := in.geo.Version()
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
		agent, place := in.agents.Lookup(e.UserAgent), in.geo.Lookup(e.IP)
		row := analytics.Row{
			Identity: id, Time: e.Time, Link: e.Link, Owner: e.Owner, Variant: e.Variant, Rule: e.Rule, IP: e.IP,
			Country: place.Country, Region: place.RegionName, City: place.City,
			Device: agent.Device, OS: agent.OS, Browser: agent.Browser, Bot: agent.Bot, BotName: agent.BotName,
			Referer: e.Referer, UserAgent: e.UserAgent, UTM: e.UTM, GeoVersion: version,
		}
		if row.Region == "" {
			row.Region = place.RegionCode
		}
		if e.Prefetch && !row.Bot {
			row.Bot, row.BotName = true, PrefetchName
		}
		d.rows = append(d.rows, row)
	}
}
