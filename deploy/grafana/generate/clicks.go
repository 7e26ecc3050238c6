package main

// Conditions on clicks.
const (
	visible = "$who"
	ofLink  = "($who) AND link = ${link:raw}"
	all     = "1"
)

// raw reads single clicks, for columns that no rollup has. A row may exist twice until ClickHouse merges the parts, so
// reads use FINAL. The time range is a condition on ts, since the table is sorted by its day.
const raw = "FROM clicks FINAL WHERE $__timeFilter_ms(ts) AND "

// who selects people, bots or both. Its values are SQL conditions.
var who = choice("who", "Who", [2]string{"People", "NOT bot"}, [2]string{"Bots", "bot"}, [2]string{"Everybody", "1"})

// findLink selects a link. The first variable is a search text, since there may be very many links.
var findLink = []variable{
	text("find", "Find"),
	queryVariable("link", "Link", links, `SELECT num::text AS __value, coalesce(nullif(title, ''), slug) || ' (/' || slug || ')' AS __text
FROM urls WHERE slug ILIKE '%' || ${find:sqlstring} || '%' OR title ILIKE '%' || ${find:sqlstring} || '%'
ORDER BY num DESC LIMIT 1000`, nil),
}

// topLinks is a hidden variable: the links whose names a table needs. It is never empty, since an empty list is invalid
// SQL.
var topLinks = queryVariable("top", "Top links", clicks, "SELECT toString(link) FROM ("+
	counted{columns: "link", where: visible}.sql("link, sum(n) AS clicks", "GROUP BY link ORDER BY clicks DESC, link LIMIT 25")+
	") UNION ALL SELECT '0'", everything(2))

func one(expr, where string) question {
	return question{from: clicks, text: "SELECT " + expr + " " + where}
}

const (
	host   = "domain(referer)"
	unseen = "unknown"
)

func breakdowns(where string) []panel {
	by := func(column, value, name, none string, n int) question {
		return counted{columns: column, where: where}.top(value, name, none, n)
	}
	return []panel{
		bars("Devices", "Clicks by device type.", by("device", "device", "device", unseen, 5)),
		bars("Operating systems", "Clicks by operating system.", by("os", "os", "os", unseen, 10)),
		bars("Browsers", "Clicks by browser.", by("browser", "browser", "browser", unseen, 10)),
		bars("Referrers", "Clicks by referring site.", by("referer", host, "site", "direct", 12)),
		bars("Campaigns", "Clicks by the utm_campaign of the requested URL.", by("utm_campaign", "utm_campaign", "campaign", "none", 12)),
		bars("Cities", "Clicks by city.", by("city", "city", "city", unseen, 12)),
	}
}

func byCountry(where string) panel {
	return panel{title: "Countries", about: "Clicks by country. A larger disc means more clicks.", kind: "geomap", unit: "short",
		width: 12, high: 11,
		ask: []question{counted{columns: "country, visitor", where: "(" + where + ") AND country != ''"}.one(
			"country, sum(n) AS clicks, uniqExact(visitor) AS visitors", "GROUP BY country ORDER BY clicks DESC")}}
}

// share is the fraction of clicks that meet a condition.
func share(columns, where, condition, name string) question {
	return counted{columns: columns, where: where}.one("if(sum(n) = 0, 0, sumIf(n, "+condition+") / sum(n)) AS "+name, "")
}

const peopleAndBots = "sumIf(n, NOT bot) AS people, sumIf(n, bot) AS bots"

// overview covers all links.
func overview() dashboard {
	traffic := chart("Clicks", "Clicks over time, by people and by known bots.", "short", counted{where: all}.series(peopleAndBots))
	traffic.stacked, traffic.colors = true, map[string]string{"people": calm, "bots": faint}
	best := table("Top links", "The links with the most clicks. A name opens the dashboard of the link.", "short",
		counted{columns: "link, visitor",
			where: visible}.one("link, sum(n) AS clicks, uniqExact(visitor) AS visitors, fromUnixTimestamp64Milli(max(last_ms)) AS last",
			"GROUP BY link ORDER BY clicks DESC, link LIMIT 25"),
		question{from: links,
			text: "SELECT num AS link, coalesce(nullif(title, ''), slug) AS name, '/' || slug AS path FROM urls WHERE num IN (${top:csv})"})
	best.join, best.high = "link", 11
	best.links = map[string]string{"name": link("shortline-link", "&var-link=${__data.fields.link}")}
	best.units = map[string]string{"last": "dateTimeFromNow", "link": "none"}
	return dashboard{
		file: "overview.json", uid: "shortline-overview", title: "Overview", text: "Clicks on all links.",
		from: "now-7d", refresh: "1m", sources: []source{clicks, links}, variables: []variable{who, topLinks},
		panels: append([]panel{
			stat("Clicks", "Clicks in the time range.", "short", counted{where: visible}.one("sum(n) AS clicks", "")),
			stat("Visitors", "Distinct client addresses, counted exactly.", "short",
				counted{columns: "visitor", where: visible}.one("uniqExact(visitor) AS visitors", "")),
			stat("Links clicked", "Links with at least one click in the time range.", "short",
				counted{columns: "link", where: visible}.one("uniqExact(link) AS links", "")),
			stat("Bots", "Share of clicks by known bots.", "percentunit", share("", all, "bot", "bots"), step{good, 0}, step{warning, 0.5}),
			stat("Routed", "Share of clicks whose destination came from a routing rule.", "percentunit",
				share("rule", visible, "rule != ''", "routed")),
			stat("In an A/B test", "Share of clicks whose destination came from a variant.", "percentunit",
				share("variant", visible, "variant != ''", "drawn")),
			traffic,
			chart("Visitors", "Distinct visitors per interval. A visitor who clicks in two intervals counts in both.", "short",
				counted{columns: "visitor", where: visible}.series("uniqExact(visitor) AS visitors")),
			best, byCountry(visible),
		}, append(breakdowns(visible),
			bars("Bots by name", "Clicks by the name of the bot.", counted{columns: "bot_name", where: "bot"}.top("bot_name", "program",
				unseen, 12)),
			bars("Hours of the day", "Clicks by hour of the day, in UTC.",
				counted{where: visible}.one("concat(leftPad(toString(intDiv(ms, 3600000) % 24), 2, '0'), ':00') AS hour, sum(n) AS clicks",
					"GROUP BY hour ORDER BY hour")),
			bars("Edge regions", "Clicks by the region of the edge that answered (its setting REGION).",
				one("if(edge_region = '', 'none', edge_region) AS answered_in, count() AS clicks",
					raw+"($who) GROUP BY answered_in ORDER BY clicks DESC, answered_in LIMIT 12")),
			stat("Clicks lost", "Clicks that edges dropped because a spool was full, over all time. No other panel counts them.", "short",
				one("sum(lost_to - lost_from + 1) AS lost", "FROM losses FINAL"), step{good, 0}, step{bad, 1}).wide(8),
		)...),
	}
}

// oneLink covers one link.
func oneLink() dashboard {
	last := table("Latest clicks", "The latest clicks in the time range, without client addresses.", "short", one(
		"ts, country, city, device, os, browser, domain(referer) AS site, bot_name, variant != '' AS drawn, rule != '' AS routed, edge_region",
		raw+ofLink+" ORDER BY ts DESC LIMIT 50")).wide(24)
	about := table("Link", "Title, path and creation time of the link.", "none",
		question{from: links, text: `SELECT coalesce(title, '') AS title, '/' || slug AS path, created_at AS created
FROM urls WHERE num = ${link:raw}`}).wide(12)
	about.high, about.units = 4, map[string]string{"created": "dateTimeAsIso"}
	traffic := chart("Clicks", "Clicks on this link over time.", "short", counted{where: "link = ${link:raw}"}.series(peopleAndBots))
	traffic.stacked, traffic.colors = true, map[string]string{"people": calm, "bots": faint}
	return dashboard{
		file: "link.json", uid: "shortline-link", title: "One link", text: "Clicks on one link.",
		from: "now-30d", refresh: "1m", sources: []source{clicks, links}, variables: append(append([]variable{}, findLink...), who),
		panels: append([]panel{
			about,
			stat("Clicks", "Clicks in the time range.", "short", counted{where: ofLink}.one("sum(n) AS clicks", "")),
			stat("Visitors", "Distinct client addresses.", "short",
				counted{columns: "visitor", where: ofLink}.one("uniqExact(visitor) AS visitors", "")),
			stat("Last click", "Time of the last click in the time range.", "dateTimeFromNow",
				counted{where: ofLink}.one("max(last_ms) AS last",
					"HAVING sum(n) > 0")),
			traffic, byCountry(ofLink),
		}, append(breakdowns(ofLink), last)...),
	}
}

// experiments compares the variants of one link.
func experiments() dashboard {
	const drawn = ofLink + " AND variant != ''"
	of := func(columns string) counted { return counted{columns: columns, where: drawn} }
	variants := table("Variants",
		"Clicks and visitors of each variant, its share of clicks, and the share of clicks from mobile devices. Investigate a share that "+
			"differs much from the variant's weight after many clicks.", "short",
		of("variant, visitor, device").
			one("variant, sum(n) AS clicks, uniqExact(visitor) AS visitors, sum(n) / sum(sum(n)) OVER () AS share, sumIf(n, device = 'MOBILE') / "+
				"sum(n) AS mobile", "GROUP BY variant ORDER BY variant"),
		question{from: links,
			text: "SELECT variants.id AS variant, variants.name FROM variants JOIN urls ON urls.id = variants.url_id WHERE urls.num = ${link:raw}"}).
		wide(16)
	variants.join, variants.hide, variants.units = "variant", []string{"variant"},
		map[string]string{"share": "percentunit", "mobile": "percentunit"}
	pie := panel{title: "Split", about: "Share of clicks by variant.", kind: "piechart", unit: "short", width: 8, high: 9,
		ask: []question{of("variant").one("substring(variant, 25) AS variant_end, sum(n) AS clicks",
			"GROUP BY variant_end ORDER BY variant_end")}}
	split := chart("Clicks by variant", "Clicks over time by variant. A series is named after the end of the variant's ID.", "short",
		of("variant").group("substring(variant, 25)", "variant_end", "sum(n) AS clicks")).wide(24)
	return dashboard{
		file: "experiments.json", uid: "shortline-experiments", title: "A/B tests", text: "Clicks on the variants of one link.",
		from: "now-30d", refresh: "1m", sources: []source{clicks, links}, variables: append(append([]variable{}, findLink...), who),
		panels: []panel{
			stat("Clicks in the test", "Clicks whose destination came from a variant.", "short",
				of("variant").one("sum(n) AS draws", "")).wide(6),
			stat("Variants with clicks", "Variants with at least one click.", "short",
				of("variant").one("uniqExact(variant) AS variants", "")).
				wide(6),
			stat("Visitors", "Distinct client addresses in the test.", "short", of("visitor").one("uniqExact(visitor) AS visitors", "")).
				wide(6),
			stat("Outside the test", "Share of the link's clicks whose destination did not come from a variant.", "percentunit",
				share("variant", ofLink, "variant = ''", "outside")).wide(6),
			variants, pie, split,
			bars("Devices", "Clicks in the test by device type.", of("device").top("device", "device", unseen, 5)).wide(12),
			bars("Countries", "Clicks in the test by country.", of("country").top("country", "country", unseen, 12)).wide(12),
		},
	}
}

// routing covers the rules of all links.
func routing() dashboard {
	const routed = "($who) AND rule != ''"
	of := func(columns string) counted { return counted{columns: columns, where: routed} }
	topRules := queryVariable("rules", "Rules", clicks, "SELECT rule FROM ("+of("rule").sql("rule, sum(n) AS clicks",
		"GROUP BY rule ORDER BY clicks DESC, rule LIMIT 25")+") UNION ALL SELECT ''", everything(2))
	rules := table("Rules", "The rules that matched most often. A name opens the dashboard of the rule's link.", "short",
		of("rule, link, visitor").
			one("rule, min(link) AS of_link, sum(n) AS matches, uniqExact(visitor) AS visitors, fromUnixTimestamp64Milli(max(last_ms)) AS last",
				"GROUP BY rule ORDER BY matches DESC, rule LIMIT 25"),
		question{from: links,
			text: "SELECT routing_rules.id AS rule, routing_rules.name, routing_rules.priority, '/' || urls.slug AS path FROM routing_rules JOIN " +
				"urls ON urls.id = routing_rules.url_id WHERE routing_rules.id IN (${rules:singlequote})"}).wide(24)
	rules.join, rules.hide = "rule", []string{"rule"}
	rules.links = map[string]string{"name": link("shortline-link", "&var-link=${__data.fields.of_link}")}
	rules.units = map[string]string{"last": "dateTimeFromNow", "priority": "none", "of_link": "none"}
	ways := chart("Source of the destination", "Clicks by what chose the destination: a rule, a variant, or neither.", "short",
		counted{columns: "rule, variant",
			where: visible}.series(
			"sumIf(n, rule != '') AS rules, sumIf(n, rule = '' AND variant != '') AS variants, sumIf(n, rule = '' AND variant = '') AS neither")).
		wide(24)
	ways.stacked, ways.colors = true, map[string]string{"rules": calm, "variants": "purple", "neither": faint}
	return dashboard{
		file: "routing.json", uid: "shortline-routing", title: "Routing", text: "Matches of routing rules.",
		from: "now-7d", refresh: "1m", sources: []source{clicks, links}, variables: []variable{who, topRules},
		panels: []panel{
			stat("Matches", "Clicks whose destination came from a rule.", "short", of("rule").one("sum(n) AS matches", "")).wide(6),
			stat("Share", "Share of all clicks whose destination came from a rule.", "percentunit",
				share("rule", visible, "rule != ''", "share")).wide(6),
			stat("Rules that matched", "Rules with at least one match.", "short", of("rule").one("uniqExact(rule) AS rules", "")).wide(6),
			stat("Links with matches", "Links on which a rule matched.", "short", of("link").one("uniqExact(link) AS links", "")).wide(6),
			ways, rules,
			bars("Devices", "Routed clicks by device type.", of("device").top("device", "device", unseen, 5)),
			bars("Operating systems", "Routed clicks by operating system.", of("os").top("os", "os", unseen, 10)),
			bars("Countries", "Routed clicks by country.", of("country").top("country", "country", unseen, 12)),
		},
	}
}
