package board

import "fmt"

// Every question of clicks reads FINAL: a row may come twice, and the first thing that a reader must do is to see it
// once. The range is on ts, by whose day the table is sorted.
const (
	visible = "FROM clicks FINAL WHERE $__timeFilter_ms(ts) AND ($who)"
	ofLink  = visible + " AND link = ${link:raw}"
)

// who chooses between people and programs. Its values are conditions.
var who = choice("who", "Who", [2]string{"People", "NOT bot"}, [2]string{"Bots", "bot"}, [2]string{"Everybody", "1"})

// findLink chooses a link by its name, in two steps since there may be very many.
var findLink = []variable{
	text("find", "Find"),
	ask("link", "Link", links, `SELECT num::text AS __value, coalesce(nullif(title, ''), slug) || ' (/' || slug || ')' AS __text
FROM urls WHERE slug ILIKE '%' || ${find:sqlstring} || '%' OR title ILIKE '%' || ${find:sqlstring} || '%'
ORDER BY num DESC LIMIT 1000`, nil),
}

// topLinks is hidden: the links whose names a table needs. It always has one, since an empty list is no SQL.
var topLinks = ask("top", "Top links", clicks, "SELECT toString(link) FROM (SELECT link, count() AS n "+visible+" GROUP BY link ORDER BY n DESC LIMIT 25) UNION ALL SELECT '0'", everything(2))

func one(expr, where string) question {
	return question{from: clicks, text: "SELECT " + expr + " " + where}
}

func series(columns, where string) question {
	return question{from: clicks, series: true, text: "SELECT $__timeInterval(ts) AS time, " + columns + " " + where + " GROUP BY time ORDER BY time"}
}

// top counts the values of a column, the most frequent first. "" is called something.
func top(column, name, none, where string, n int) question {
	return question{from: clicks, text: fmt.Sprintf("SELECT if(%[1]s = '', '%[3]s', %[1]s) AS %[2]s, count() AS clicks %[4]s GROUP BY %[2]s ORDER BY clicks DESC, %[2]s LIMIT %[5]d",
		column, name, none, where, n)}
}

const (
	host   = "domain(referer)"
	unseen = "not known"
)

func breakdowns(where string) []panel {
	return []panel{
		bars("Devices", "Clicks by kind of device.", top("device", "device", unseen, where, 5)),
		bars("Operating systems", "Clicks by operating system.", top("os", "os", unseen, where, 10)),
		bars("Browsers", "Clicks by browser.", top("browser", "browser", unseen, where, 10)),
		bars("Referrers", "Clicks by the site that the visitor came from.", top(host, "site", "direct", where, 12)),
		bars("Campaigns", "Clicks by utm_campaign, as the visitor's address had it.", top("utm_campaign", "campaign", "none", where, 12)),
		bars("Cities", "Clicks by city.", top("city", "city", unseen, where, 12)),
	}
}

func byCountry(where string) panel {
	return panel{title: "Countries", about: "Clicks by country: the larger the disc, the more.", kind: "geomap", unit: "short", width: 12, high: 11,
		ask: []question{{from: clicks, text: "SELECT country, count() AS clicks, uniqExact(visitor) AS visitors " + where + " AND country != '' GROUP BY country ORDER BY clicks DESC"}}}
}

// overview is what an owner of all links looks at first.
func overview() Dashboard {
	traffic := chart("Clicks", "Clicks over time: people, and what is known to be a program.", "short",
		series("countIf(NOT bot) AS people, countIf(bot) AS bots", "FROM clicks FINAL WHERE $__timeFilter_ms(ts)"))
	traffic.stacked, traffic.colors = true, map[string]string{"people": calm, "bots": faint}
	best := table("Top links", "The links with the most clicks. A name leads to the link's own page.", "short",
		one("link, count() AS clicks, uniqExact(visitor) AS visitors, max(ts) AS last", visible+" GROUP BY link ORDER BY clicks DESC LIMIT 25"),
		question{from: links, text: "SELECT num AS link, coalesce(nullif(title, ''), slug) AS name, '/' || slug AS path FROM urls WHERE num IN (${top:csv})"})
	best.join, best.high = "link", 11
	best.links = map[string]string{"name": link("shortline-link", "&var-link=${__data.fields.link}")}
	best.units = map[string]string{"last": "dateTimeFromNow", "link": "none"}
	return Dashboard{
		File: "overview.json", uid: "shortline-overview", title: "Overview", text: "Clicks on all links: how many, of whom, from where.",
		from: "now-7d", refresh: "1m", sources: []source{clicks, links}, variables: []variable{who, topLinks},
		panels: append([]panel{
			stat("Clicks", "Clicks in the range.", "short", one("count() AS clicks", visible)),
			stat("Visitors", "Distinct addresses that clicked, counted exactly.", "short", one("uniqExact(visitor) AS visitors", visible)),
			stat("Links clicked", "Links with at least one click.", "short", one("uniqExact(link) AS links", visible)),
			stat("Bots", "Share of all clicks that came from programs.", "percentunit", one("if(count() = 0, 0, countIf(bot) / count()) AS bots", "FROM clicks FINAL WHERE $__timeFilter_ms(ts)"), step{good, 0}, step{warning, 0.5}),
			stat("Routed", "Share of clicks that a routing rule sent somewhere else.", "percentunit", one("if(count() = 0, 0, countIf(rule != '') / count()) AS routed", visible)),
			stat("In an A/B test", "Share of clicks that a variant was drawn for.", "percentunit", one("if(count() = 0, 0, countIf(variant != '') / count()) AS drawn", visible)),
			traffic,
			chart("Visitors", "Distinct visitors in each interval. Who comes in two intervals is counted in both.", "short", series("uniqExact(visitor) AS visitors", visible)),
			best, byCountry(visible),
		}, append(breakdowns(visible),
			bars("Bots by name", "Clicks by the program that made them.", top("bot_name", "program", unseen, "FROM clicks FINAL WHERE $__timeFilter_ms(ts) AND bot", 12)),
			bars("Hours of the day", "Clicks by hour of the day, UTC.", one("concat(leftPad(toString(toHour(ts)), 2, '0'), ':00') AS hour, count() AS clicks", visible+" GROUP BY hour ORDER BY hour")),
			stat("Clicks lost", "Clicks that edges report as lost for want of room, ever. They are in no other figure.", "short",
				one("sum(lost_to - lost_from + 1) AS lost", "FROM losses FINAL"), step{good, 0}, step{bad, 1}).wide(8),
		)...),
	}
}

// oneLink is everything about one link.
func oneLink() Dashboard {
	last := table("Newest clicks", "The newest clicks of the range, without addresses.", "short", one(
		"ts, country, city, device, os, browser, domain(referer) AS site, bot_name, variant != '' AS drawn, rule != '' AS routed", ofLink+" ORDER BY ts DESC LIMIT 50")).wide(24)
	about := table("The link", "What the link is called and since when it is there.", "none", question{from: links, text: `SELECT coalesce(title, '') AS title, '/' || slug AS path, created_at AS created
FROM urls WHERE num = ${link:raw}`}).wide(12)
	about.high, about.units = 4, map[string]string{"created": "dateTimeAsIso"}
	traffic := chart("Clicks", "Clicks on this link over time.", "short", series("countIf(NOT bot) AS people, countIf(bot) AS bots", "FROM clicks FINAL WHERE $__timeFilter_ms(ts) AND link = ${link:raw}"))
	traffic.stacked, traffic.colors = true, map[string]string{"people": calm, "bots": faint}
	return Dashboard{
		File: "link.json", uid: "shortline-link", title: "One link", text: "Clicks on one link.",
		from: "now-30d", refresh: "1m", sources: []source{clicks, links}, variables: append(append([]variable{}, findLink...), who),
		panels: append([]panel{
			about,
			stat("Clicks", "Clicks in the range.", "short", one("count() AS clicks", ofLink)),
			stat("Visitors", "Distinct addresses that clicked.", "short", one("uniqExact(visitor) AS visitors", ofLink)),
			stat("Last click", "When it was last clicked in the range.", "dateTimeFromNow", one("toUnixTimestamp64Milli(max(ts)) AS last", ofLink+" HAVING count() > 0")),
			traffic, byCountry(ofLink),
		}, append(breakdowns(ofLink), last)...),
	}
}

// experiments compares the variants of one link.
func experiments() Dashboard {
	drawn := ofLink + " AND variant != ''"
	share := table("Variants", "How often each variant was drawn, whom it met, and the share of mobile visitors. A share far from the weight after many clicks is worth a look.", "short",
		one("variant, count() AS clicks, uniqExact(visitor) AS visitors, count() / sum(count()) OVER () AS share, countIf(device = 'MOBILE') / count() AS mobile", drawn+" GROUP BY variant ORDER BY variant"),
		question{from: links, text: "SELECT variants.id AS variant, variants.name FROM variants JOIN urls ON urls.id = variants.url_id WHERE urls.num = ${link:raw}"}).wide(16)
	share.join, share.hide, share.units = "variant", []string{"variant"}, map[string]string{"share": "percentunit", "mobile": "percentunit"}
	pie := panel{title: "Split", about: "Share of the clicks that each variant got.", kind: "piechart", unit: "short", width: 8, high: 9,
		ask: []question{one("substring(variant, 25) AS variant_end, count() AS clicks", drawn+" GROUP BY variant_end ORDER BY variant_end")}}
	split := chart("Clicks by variant", "Draws over time. The names are the ends of the variants' ids.", "short", question{from: clicks, series: true,
		text: "SELECT $__timeInterval(ts) AS time, substring(variant, 25) AS variant_end, count() AS clicks " + drawn + " GROUP BY time, variant_end ORDER BY time"}).wide(24)
	return Dashboard{
		File: "experiments.json", uid: "shortline-experiments", title: "A/B tests", text: "What the variants of one link got.",
		from: "now-30d", refresh: "1m", sources: []source{clicks, links}, variables: append(append([]variable{}, findLink...), who),
		panels: []panel{
			stat("Draws", "Clicks for which a variant was drawn.", "short", one("count() AS draws", drawn)).wide(6),
			stat("Variants drawn", "Variants that at least one click got.", "short", one("uniqExact(variant) AS variants", drawn)).wide(6),
			stat("Visitors", "Distinct addresses in the test.", "short", one("uniqExact(visitor) AS visitors", drawn)).wide(6),
			stat("Outside the test", "Share of the link's clicks that no variant was drawn for.", "percentunit", one("if(count() = 0, 0, countIf(variant = '') / count()) AS outside", ofLink)).wide(6),
			share, pie, split,
			bars("Devices", "Clicks in the test by kind of device.", top("device", "device", unseen, drawn, 5)).wide(12),
			bars("Countries", "Clicks in the test by country.", top("country", "country", unseen, drawn, 12)).wide(12),
		},
	}
}

// routing is about rules, of all links.
func routing() Dashboard {
	topRules := ask("rules", "Rules", clicks, "SELECT rule FROM (SELECT rule, count() AS n "+visible+" AND rule != '' GROUP BY rule ORDER BY n DESC LIMIT 25) UNION ALL SELECT ''", everything(2))
	rules := table("Rules", "The rules that matched most often. A name leads to the rule's link.", "short",
		one("rule, any(link) AS link, count() AS matches, uniqExact(visitor) AS visitors, max(ts) AS last", visible+" AND rule != '' GROUP BY rule ORDER BY matches DESC LIMIT 25"),
		question{from: links, text: "SELECT routing_rules.id AS rule, routing_rules.name, routing_rules.priority, '/' || urls.slug AS path FROM routing_rules JOIN urls ON urls.id = routing_rules.url_id WHERE routing_rules.id IN (${rules:singlequote})"}).wide(24)
	rules.join, rules.hide = "rule", []string{"rule"}
	rules.links = map[string]string{"name": link("shortline-link", "&var-link=${__data.fields.link}")}
	rules.units = map[string]string{"last": "dateTimeFromNow", "priority": "none", "link": "none"}
	ways := chart("Ways", "What chose the destination: a rule, a variant, or neither.", "short",
		series("countIf(rule != '') AS rules, countIf(rule = '' AND variant != '') AS variants, countIf(rule = '' AND variant = '') AS neither", visible)).wide(24)
	ways.stacked, ways.colors = true, map[string]string{"rules": calm, "variants": "purple", "neither": faint}
	routed := visible + " AND rule != ''"
	return Dashboard{
		File: "routing.json", uid: "shortline-routing", title: "Routing", text: "Which routing rules match, and for whom.",
		from: "now-7d", refresh: "1m", sources: []source{clicks, links}, variables: []variable{who, topRules},
		panels: []panel{
			stat("Matches", "Clicks that a rule chose the destination of.", "short", one("count() AS matches", routed)).wide(6),
			stat("Share", "Share of all clicks that a rule matched.", "percentunit", one("if(count() = 0, 0, countIf(rule != '') / count()) AS share", visible)).wide(6),
			stat("Rules that matched", "Rules with at least one match.", "short", one("uniqExact(rule) AS rules", routed)).wide(6),
			stat("Links with matches", "Links on which a rule matched.", "short", one("uniqExact(link) AS links", routed)).wide(6),
			ways, rules,
			bars("Devices", "Routed clicks by kind of device.", top("device", "device", unseen, routed, 5)),
			bars("Operating systems", "Routed clicks by operating system.", top("os", "os", unseen, routed, 10)),
			bars("Countries", "Routed clicks by country.", top("country", "country", unseen, routed, 12)),
		},
	}
}
