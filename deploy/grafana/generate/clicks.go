package main

// Conditions on clicks.
const (
	visible = "$who"
	ofLink  = "($who) AND link = ${link:raw}"
	all     = "1"
)

// raw are the clicks themselves, for what no rollup has. A row may come twice there, and the first thing that a reader must
// do is to see it once: hence FINAL. The range is on ts, by whose day the table is sorted.
const raw = "FROM clicks FINAL WHERE $__timeFilter_ms(ts) AND "

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
var topLinks = ask("top", "Top links", clicks, "SELECT toString(link) FROM ("+counted{columns: "link", where: visible}.sql("link, sum(n) AS clicks", "GROUP BY link ORDER BY clicks DESC, link LIMIT 25")+") UNION ALL SELECT '0'", everything(2))

func one(expr, where string) question {
	return question{from: clicks, text: "SELECT " + expr + " " + where}
}

const (
	host   = "domain(referer)"
	unseen = "not known"
)

func breakdowns(where string) []panel {
	by := func(column, value, name, none string, n int) question {
		return counted{columns: column, where: where}.top(value, name, none, n)
	}
	return []panel{
		bars("Devices", "Clicks by kind of device.", by("device", "device", "device", unseen, 5)),
		bars("Operating systems", "Clicks by operating system.", by("os", "os", "os", unseen, 10)),
		bars("Browsers", "Clicks by browser.", by("browser", "browser", "browser", unseen, 10)),
		bars("Referrers", "Clicks by the site that the visitor came from.", by("referer", host, "site", "direct", 12)),
		bars("Campaigns", "Clicks by utm_campaign, as the visitor's address had it.", by("utm_campaign", "utm_campaign", "campaign", "none", 12)),
		bars("Cities", "Clicks by city.", by("city", "city", "city", unseen, 12)),
	}
}

func byCountry(where string) panel {
	return panel{title: "Countries", about: "Clicks by country: the larger the disc, the more.", kind: "geomap", unit: "short", width: 12, high: 11,
		ask: []question{counted{columns: "country, visitor", where: "(" + where + ") AND country != ''"}.one("country, sum(n) AS clicks, uniqExact(visitor) AS visitors", "GROUP BY country ORDER BY clicks DESC")}}
}

// share asks which part of the clicks meets a condition.
func share(columns, where, condition, name string) question {
	return counted{columns: columns, where: where}.one("if(sum(n) = 0, 0, sumIf(n, "+condition+") / sum(n)) AS "+name, "")
}

const peopleAndBots = "sumIf(n, NOT bot) AS people, sumIf(n, bot) AS bots"

// overview is what an owner of all links looks at first.
func overview() dashboard {
	traffic := chart("Clicks", "Clicks over time: people, and what is known to be a program.", "short", counted{where: all}.series(peopleAndBots))
	traffic.stacked, traffic.colors = true, map[string]string{"people": calm, "bots": faint}
	best := table("Top links", "The links with the most clicks. A name leads to the link's own page.", "short",
		counted{columns: "link, visitor", where: visible}.one("link, sum(n) AS clicks, uniqExact(visitor) AS visitors, fromUnixTimestamp64Milli(max(last_ms)) AS last", "GROUP BY link ORDER BY clicks DESC, link LIMIT 25"),
		question{from: links, text: "SELECT num AS link, coalesce(nullif(title, ''), slug) AS name, '/' || slug AS path FROM urls WHERE num IN (${top:csv})"})
	best.join, best.high = "link", 11
	best.links = map[string]string{"name": link("shortline-link", "&var-link=${__data.fields.link}")}
	best.units = map[string]string{"last": "dateTimeFromNow", "link": "none"}
	return dashboard{
		file: "overview.json", uid: "shortline-overview", title: "Overview", text: "Clicks on all links: how many, of whom, from where.",
		from: "now-7d", refresh: "1m", sources: []source{clicks, links}, variables: []variable{who, topLinks},
		panels: append([]panel{
			stat("Clicks", "Clicks in the range.", "short", counted{where: visible}.one("sum(n) AS clicks", "")),
			stat("Visitors", "Distinct addresses that clicked, counted exactly.", "short", counted{columns: "visitor", where: visible}.one("uniqExact(visitor) AS visitors", "")),
			stat("Links clicked", "Links with at least one click.", "short", counted{columns: "link", where: visible}.one("uniqExact(link) AS links", "")),
			stat("Bots", "Share of all clicks that came from programs.", "percentunit", share("", all, "bot", "bots"), step{good, 0}, step{warning, 0.5}),
			stat("Routed", "Share of clicks that a routing rule sent somewhere else.", "percentunit", share("rule", visible, "rule != ''", "routed")),
			stat("In an A/B test", "Share of clicks that a variant was drawn for.", "percentunit", share("variant", visible, "variant != ''", "drawn")),
			traffic,
			chart("Visitors", "Distinct visitors in each interval. Who comes in two intervals is counted in both.", "short", counted{columns: "visitor", where: visible}.series("uniqExact(visitor) AS visitors")),
			best, byCountry(visible),
		}, append(breakdowns(visible),
			bars("Bots by name", "Clicks by the program that made them.", counted{columns: "bot_name", where: "bot"}.top("bot_name", "program", unseen, 12)),
			bars("Hours of the day", "Clicks by hour of the day, UTC.", counted{where: visible}.one("concat(leftPad(toString(intDiv(ms, 3600000) % 24), 2, '0'), ':00') AS hour, sum(n) AS clicks", "GROUP BY hour ORDER BY hour")),
			bars("Regions of edges", "Clicks by the region of the edge that answered (REGION).", one("if(edge_region = '', 'none', edge_region) AS answered_in, count() AS clicks", raw+"($who) GROUP BY answered_in ORDER BY clicks DESC, answered_in LIMIT 12")),
			stat("Clicks lost", "Clicks that edges report as lost for want of room, ever. They are in no other figure.", "short",
				one("sum(lost_to - lost_from + 1) AS lost", "FROM losses FINAL"), step{good, 0}, step{bad, 1}).wide(8),
		)...),
	}
}

// oneLink is everything about one link.
func oneLink() dashboard {
	last := table("Newest clicks", "The newest clicks of the range, without addresses.", "short", one(
		"ts, country, city, device, os, browser, domain(referer) AS site, bot_name, variant != '' AS drawn, rule != '' AS routed, edge_region", raw+ofLink+" ORDER BY ts DESC LIMIT 50")).wide(24)
	about := table("The link", "What the link is called and since when it is there.", "none", question{from: links, text: `SELECT coalesce(title, '') AS title, '/' || slug AS path, created_at AS created
FROM urls WHERE num = ${link:raw}`}).wide(12)
	about.high, about.units = 4, map[string]string{"created": "dateTimeAsIso"}
	traffic := chart("Clicks", "Clicks on this link over time.", "short", counted{where: "link = ${link:raw}"}.series(peopleAndBots))
	traffic.stacked, traffic.colors = true, map[string]string{"people": calm, "bots": faint}
	return dashboard{
		file: "link.json", uid: "shortline-link", title: "One link", text: "Clicks on one link.",
		from: "now-30d", refresh: "1m", sources: []source{clicks, links}, variables: append(append([]variable{}, findLink...), who),
		panels: append([]panel{
			about,
			stat("Clicks", "Clicks in the range.", "short", counted{where: ofLink}.one("sum(n) AS clicks", "")),
			stat("Visitors", "Distinct addresses that clicked.", "short", counted{columns: "visitor", where: ofLink}.one("uniqExact(visitor) AS visitors", "")),
			stat("Last click", "When it was last clicked in the range.", "dateTimeFromNow", counted{where: ofLink}.one("max(last_ms) AS last", "HAVING sum(n) > 0")),
			traffic, byCountry(ofLink),
		}, append(breakdowns(ofLink), last)...),
	}
}

// experiments compares the variants of one link.
func experiments() dashboard {
	const drawn = ofLink + " AND variant != ''"
	of := func(columns string) counted { return counted{columns: columns, where: drawn} }
	variants := table("Variants", "How often each variant was drawn, whom it met, and the share of mobile visitors. A share far from the weight after many clicks is worth a look.", "short",
		of("variant, visitor, device").one("variant, sum(n) AS clicks, uniqExact(visitor) AS visitors, sum(n) / sum(sum(n)) OVER () AS share, sumIf(n, device = 'MOBILE') / sum(n) AS mobile", "GROUP BY variant ORDER BY variant"),
		question{from: links, text: "SELECT variants.id AS variant, variants.name FROM variants JOIN urls ON urls.id = variants.url_id WHERE urls.num = ${link:raw}"}).wide(16)
	variants.join, variants.hide, variants.units = "variant", []string{"variant"}, map[string]string{"share": "percentunit", "mobile": "percentunit"}
	pie := panel{title: "Split", about: "Share of the clicks that each variant got.", kind: "piechart", unit: "short", width: 8, high: 9,
		ask: []question{of("variant").one("substring(variant, 25) AS variant_end, sum(n) AS clicks", "GROUP BY variant_end ORDER BY variant_end")}}
	split := chart("Clicks by variant", "Draws over time. The names are the ends of the variants' ids.", "short",
		of("variant").group("substring(variant, 25)", "variant_end", "sum(n) AS clicks")).wide(24)
	return dashboard{
		file: "experiments.json", uid: "shortline-experiments", title: "A/B tests", text: "What the variants of one link got.",
		from: "now-30d", refresh: "1m", sources: []source{clicks, links}, variables: append(append([]variable{}, findLink...), who),
		panels: []panel{
			stat("Draws", "Clicks for which a variant was drawn.", "short", of("variant").one("sum(n) AS draws", "")).wide(6),
			stat("Variants drawn", "Variants that at least one click got.", "short", of("variant").one("uniqExact(variant) AS variants", "")).wide(6),
			stat("Visitors", "Distinct addresses in the test.", "short", of("visitor").one("uniqExact(visitor) AS visitors", "")).wide(6),
			stat("Outside the test", "Share of the link's clicks that no variant was drawn for.", "percentunit", share("variant", ofLink, "variant = ''", "outside")).wide(6),
			variants, pie, split,
			bars("Devices", "Clicks in the test by kind of device.", of("device").top("device", "device", unseen, 5)).wide(12),
			bars("Countries", "Clicks in the test by country.", of("country").top("country", "country", unseen, 12)).wide(12),
		},
	}
}

// routing is about rules, of all links.
func routing() dashboard {
	const routed = "($who) AND rule != ''"
	of := func(columns string) counted { return counted{columns: columns, where: routed} }
	topRules := ask("rules", "Rules", clicks, "SELECT rule FROM ("+of("rule").sql("rule, sum(n) AS clicks", "GROUP BY rule ORDER BY clicks DESC, rule LIMIT 25")+") UNION ALL SELECT ''", everything(2))
	rules := table("Rules", "The rules that matched most often. A name leads to the rule's link.", "short",
		of("rule, link, visitor").one("rule, min(link) AS of_link, sum(n) AS matches, uniqExact(visitor) AS visitors, fromUnixTimestamp64Milli(max(last_ms)) AS last", "GROUP BY rule ORDER BY matches DESC, rule LIMIT 25"),
		question{from: links, text: "SELECT routing_rules.id AS rule, routing_rules.name, routing_rules.priority, '/' || urls.slug AS path FROM routing_rules JOIN urls ON urls.id = routing_rules.url_id WHERE routing_rules.id IN (${rules:singlequote})"}).wide(24)
	rules.join, rules.hide = "rule", []string{"rule"}
	rules.links = map[string]string{"name": link("shortline-link", "&var-link=${__data.fields.of_link}")}
	rules.units = map[string]string{"last": "dateTimeFromNow", "priority": "none", "of_link": "none"}
	ways := chart("Ways", "What chose the destination: a rule, a variant, or neither.", "short",
		counted{columns: "rule, variant", where: visible}.series("sumIf(n, rule != '') AS rules, sumIf(n, rule = '' AND variant != '') AS variants, sumIf(n, rule = '' AND variant = '') AS neither")).wide(24)
	ways.stacked, ways.colors = true, map[string]string{"rules": calm, "variants": "purple", "neither": faint}
	return dashboard{
		file: "routing.json", uid: "shortline-routing", title: "Routing", text: "Which routing rules match, and for whom.",
		from: "now-7d", refresh: "1m", sources: []source{clicks, links}, variables: []variable{who, topRules},
		panels: []panel{
			stat("Matches", "Clicks that a rule chose the destination of.", "short", of("rule").one("sum(n) AS matches", "")).wide(6),
			stat("Share", "Share of all clicks that a rule matched.", "percentunit", share("rule", visible, "rule != ''", "share")).wide(6),
			stat("Rules that matched", "Rules with at least one match.", "short", of("rule").one("uniqExact(rule) AS rules", "")).wide(6),
			stat("Links with matches", "Links on which a rule matched.", "short", of("link").one("uniqExact(link) AS links", "")).wide(6),
			ways, rules,
			bars("Devices", "Routed clicks by kind of device.", of("device").top("device", "device", unseen, 5)),
			bars("Operating systems", "Routed clicks by operating system.", of("os").top("os", "os", unseen, 10)),
			bars("Countries", "Routed clicks by country.", of("country").top("country", "country", unseen, 12)),
		},
	}
}
