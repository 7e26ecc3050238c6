package api_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// count counts, by day, the visits that match the question and for which keep returns true.
func (a *agreeWorld) count(q question, keep func(visit) bool) (days map[string]float64, total float64, visitors int) {
	zone, err := time.LoadLocation(q.zone)
	a.ok(err)
	days, seen := map[string]float64{}, map[netip.Addr]bool{}
	for _, v := range a.visits {
		day := v.at.In(zone).Format(time.DateOnly)
		if day < q.start || day > q.end || v.bot && !q.bots || !keep(v) {
			continue
		}
		days[day]++
		total++
		seen[v.IP] = true
	}
	return days, total, len(seen)
}

func (a *agreeWorld) check(when string, questions []question) {
	a.t.Helper()
	a.counters(when)
	for _, q := range questions {
		for _, q.bots = range []bool{false, true} {
			what := fmt.Sprintf("%s, %+v", when, q)
			everywhere := 0.0
			for name, token := range map[string]string{"ann": a.ann, "bob": a.bob, "root": a.root} {
				everywhere += a.viewer(what+", "+name, q, name, token)
			}
			if _, total, _ := a.count(q, func(visit) bool { return true }); everywhere != 2*total {
				a.t.Errorf("%s: the totals of all users and the administrator add up to %v, want twice %v", what, everywhere, total)
			}
		}
	}
}

// same fails the test unless all figures equal want.
func (a *agreeWorld) same(what string, want float64, figures map[string]float64) {
	a.t.Helper()
	for _, name := range slices.Sorted(maps.Keys(figures)) {
		if figures[name] != want {
			a.t.Errorf("%s: %s is %v, want %v", what, name, figures[name], want)
		}
	}
}

// sum adds up one numeric field of the items of a list.
func (r *reply) sum(list, name string) (n float64) {
	items, _ := r.at(list).([]any)
	if list == "" {
		items, _ = r.json.([]any)
	}
	for _, item := range items {
		v, ok := item.(map[string]any)[name].(float64)
		if !ok {
			r.w.t.Errorf("%s: an item of %q has no %q: %v", r.what, list, name, item)
		}
		n += v
	}
	return n
}

// viewer compares all figures that one user sees for a period, and returns the overview's total.
func (a *agreeWorld) viewer(what string, q question, name, token string) float64 {
	a.t.Helper()
	mine := func(v visit) bool { return name == "root" || v.owner == name }
	standing := func(v visit) bool { return mine(v) && !a.gone[v.link] }
	_, total, _ := a.count(q, mine)
	_, present, _ := a.count(q, standing)

	o := a.report(what, q, "/api/analytics/overview", "/api/analytics/export", token, mine)
	top := a.do("GET", "/api/analytics/top-urls"+q.query(), "", as(token)).want(200)
	a.same(what, present, map[string]float64{"overview's topUrls": o.sum("topUrls", "clicks"), "top-urls": top.sum("", "clickCount")})
	a.bots(what, q, "/api/analytics/bots", token, mine)

	links, tested, control := 0.0, 0.0, 0.0
	for slug, owner := range a.owner {
		if a.gone[slug] || name != "root" && owner != name {
			continue
		}
		path, this := "/api/analytics/urls/"+a.ids[slug], func(v visit) bool { return v.link == slug }
		_, want, _ := a.count(q, this)
		links += want
		if slug == "tested" {
			tested = a.tested(what, q, token)
			_, control, _ = a.count(q, func(v visit) bool { return v.link == slug && v.Variant.IsZero() && v.Rule.IsZero() })
		}
		if slug == "routed" {
			a.routed(what, q, token, want)
		}
		// other combinations are covered by another user
		if q.links && q.bots == (name == "root") && (name != "root" || slug == "tested" || slug == "bob-1") {
			a.report(what+", "+slug, q, path, path+"/export", token, this)
			a.bots(what+", "+slug, q, path+"/bots", token, this)
			recent := a.do("GET", path+"/recent-clicks"+q.query(), "", as(token)).want(200)
			shown, _ := recent.at("clicks").([]any)
			a.same(what+", "+slug, want, map[string]float64{"recent clicks": recent.num("total")})
			a.same(what+", "+slug, min(want, 100), map[string]float64{"recent clicks in the list": float64(len(shown))})
		}
	}
	a.same(what, present, map[string]float64{"the links' sum": links})
	tests := a.do("GET", "/api/analytics/ab-tests"+q.query(), "", as(token)).want(200)
	a.same(what, tested, map[string]float64{"totalTestClicks": tests.num("totalTestClicks"),
		"the tests' sum": tests.sum("tests", "totalClicks"), "variantClicks": tests.num("variantClicks")})
	a.same(what, control, map[string]float64{"controlGroupClicks": tests.num("controlGroupClicks")})
	if got := o.num("totalClicks"); got != total {
		a.t.Errorf("%s: the overview has %v, want %v", what, got, total)
	}
	return o.num("totalClicks")
}

// report compares a report with the test's own counts and with the exports of the report.
func (a *agreeWorld) report(what string, q question, path, export, token string, keep func(visit) bool) *reply {
	a.t.Helper()
	days, total, visitors := a.count(q, keep)
	r := a.do("GET", path+q.query(), "", as(token)).want(200)
	figures := map[string]float64{"totalClicks": r.num("totalClicks"), "overview.totalClicks": r.num("overview.totalClicks"),
		"timeSeries": r.sum("timeSeries", "clicks")}
	for _, list := range []string{"countries", "regions", "cities", "browsers", "operatingSystems", "devices", "referers"} {
		figures[list] = r.sum(list, "clicks")
	}
	a.same(what+": uniqueVisitors", float64(visitors), map[string]float64{"": r.num("uniqueVisitors"),
		"overview": r.num("overview.uniqueVisitors")})
	for list, of := range map[string]func(link.UTM) string{
		"utmSources": func(u link.UTM) string { return u.Source }, "utmMediums": func(u link.UTM) string { return u.Medium },
		"utmCampaigns": func(u link.UTM) string { return u.Campaign },
		"utmTerms":     func(u link.UTM) string { return u.Term }, "utmContents": func(u link.UTM) string { return u.Content },
	} {
		_, want, _ := a.count(q, func(v visit) bool { return keep(v) && of(v.UTM) != "" })
		a.same(what, want, map[string]float64{list: r.sum(list, "clicks")})
	}
	series, _ := r.at("timeSeries").([]any)
	for _, item := range series {
		day := item.(map[string]any)
		if date := day["date"].(string); day["clicks"] != days[date] {
			a.t.Errorf("%s: %v clicks on %s, want %v", what, day["clicks"], date, days[date])
		}
	}

	if q.few && q.bots {
		a.same(what, total, figures)
		return r
	}
	file := a.do("GET", export+q.query()+"&format=json&includeClicks=true", "", as(token)).want(200)
	records, _ := file.at("clicks").([]any)
	figures["the JSON file's summary"], figures["its days"], figures["its records"] = file.num("summary.totalClicks"),
		file.sum("data", "clicks"), float64(len(records))
	if got, want := encode(file.at("data")), encode(r.at("timeSeries")); got != want {
		a.t.Errorf("%s: the days of the JSON file and the report differ: %s, %s", what, got, want)
	}
	if got, want := encode(file.at("summary")), encode(r.at("overview")); got != want {
		a.t.Errorf("%s: the summaries of the JSON file and the report differ: %s, %s", what, got, want)
	}
	sections := a.sections(a.do("GET", export+q.query()+"&includeClicks=true", "", as(token)).want(200).text)
	figures["the CSV file's records"] = float64(len(sections["Click Records"]))
	for title, list := range map[string]string{"Daily Clicks": "timeSeries", "Top Countries": "countries", "Browsers": "browsers",
		"Operating Systems": "operatingSystems", "Devices": "devices",
		"Referrers": "referers", "UTM Sources": "utmSources", "UTM Mediums": "utmMediums", "UTM Campaigns": "utmCampaigns"} {
		got, rows := 0.0, sections[title]
		for _, row := range rows {
			n, err := strconv.ParseFloat(row[1], 64)
			a.ok(err)
			got += n
		}
		items, _ := r.at(list).([]any)
		if got != r.sum(list, "clicks") || len(rows) != len(items) {
			a.t.Errorf("%s: section %s of the CSV file has %v clicks in %d rows, the report has %v in %d", what, title, got, len(rows),
				r.sum(list, "clicks"), len(items))
		}
	}
	for _, row := range sections["Overview"] {
		for label, field := range map[string]string{"Total Clicks": "totalClicks", "Unique Visitors": "uniqueVisitors",
			"Average Clicks Per Day": "averageClicksPerDay", "Growth Rate (%)": "growthRate"} {
			if got, _ := strconv.ParseFloat(row[1], 64); row[0] == label && got != r.num("overview."+field) {
				a.t.Errorf("%s: the CSV file has %q, the report has %v", what, row, r.num("overview."+field))
			}
		}
	}
	if len(sections["Overview"]) != 4 {
		a.t.Errorf("%s: the CSV file's overview is %q", what, sections["Overview"])
	}
	a.same(what, total, figures)
	return r
}

func encode(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// sections returns the rows of a CSV file by section title, without the header rows.
func (a *agreeWorld) sections(text string) map[string][][]string {
	a.t.Helper()
	out := map[string][][]string{}
	for _, part := range strings.Split(strings.TrimPrefix(text, "\uFEFF"), "\r\n\r\n")[1:] {
		r := csv.NewReader(strings.NewReader(part))
		r.FieldsPerRecord = -1
		rows, err := r.ReadAll()
		a.ok(err)
		out[rows[0][0]] = rows[2:]
	}
	return out
}

// bots compares the bot report. It must not depend on includeBots.
func (a *agreeWorld) bots(what string, q question, path, token string, keep func(visit) bool) {
	a.t.Helper()
	r := a.do("GET", path+q.query(), "", as(token)).want(200)
	q.bots = true
	_, all, _ := a.count(q, keep)
	_, bots, _ := a.count(q, func(v visit) bool { return keep(v) && v.bot })
	a.same(what, bots, map[string]float64{"totalBotClicks": r.num("totalBotClicks"), "botTypes": r.sum("botTypes", "clicks")})
	if all > 0 {
		a.same(what, math.Round(bots/all*1000)/10, map[string]float64{"botPercentage": r.num("botPercentage")})
	}
}

func (a *agreeWorld) tested(what string, q question, token string) float64 {
	a.t.Helper()
	r := a.do("GET", "/api/analytics/urls/"+a.ids["tested"]+"/ab-test"+q.query(), "", as(token)).want(200)
	list, _ := r.at("variants").([]any)
	total := 0.0
	for i, item := range list {
		v := item.(map[string]any)
		_, want, visitors := a.count(q, func(c visit) bool { return !c.Variant.IsZero() && uuid.UUID(c.Variant).String() == v["id"] })
		if v["clicks"] != want || v["uniqueVisitors"] != float64(visitors) {
			a.t.Errorf("%s: variant %d has %v, want %v clicks of %d visitors", what, i, v, want, visitors)
		}
		total += want
	}
	a.same(what, total, map[string]float64{"the test's totalClicks": r.num("totalClicks"), "its variants": r.sum("variants", "clicks")})
	return total
}

func (a *agreeWorld) routed(what string, q question, token string, all float64) {
	a.t.Helper()
	r := a.do("GET", "/api/analytics/urls/"+a.ids["routed"]+"/routing"+q.query(), "", as(token)).want(200)
	_, matches, _ := a.count(q, func(v visit) bool { return !v.Rule.IsZero() })
	list, _ := r.at("rules").([]any)
	standing := 0.0
	for i, item := range list {
		rule := item.(map[string]any)
		_, want, _ := a.count(q, func(v visit) bool { return !v.Rule.IsZero() && uuid.UUID(v.Rule).String() == rule["ruleId"] })
		if rule["matchCount"] != want {
			a.t.Errorf("%s: rule %d: %v, want %v", what, i, rule, want)
		}
		standing += want
	}
	a.same(what, matches, map[string]float64{"totalMatches": r.num("totalMatches")})
	a.same(what, standing, map[string]float64{"the rules' sum": r.sum("rules", "matchCount"), "their days": r.sum("timeSeries", "matches")})
	a.same(what, all, map[string]float64{"routing's totalClicks": r.num("totalClicks"),
		"geoDistribution":    r.sum("geoDistribution", "clicks"),
		"deviceDistribution": r.sum("deviceDistribution", "clicks")})
}

// counters compares the all-time figures, which exclude bots.
func (a *agreeWorld) counters(when string) {
	a.t.Helper()
	ever := func(bots bool, keep func(visit) bool) (n float64) {
		for _, v := range a.visits {
			if (bots || !v.bot) && keep(v) {
				n++
			}
		}
		return n
	}
	standing := func(v visit) bool { return !a.gone[v.link] }
	testkit.Eventually(a.t, when+": the counters", func() bool {
		return a.do("GET", "/api/urls/stats", "", as(a.root)).num("totalClicks") == ever(false, standing)
	})
	for name, token := range map[string]string{"ann": a.ann, "bob": a.bob, "root": a.root} {
		mine := func(v visit) bool { return standing(v) && (name == "root" || v.owner == name) }
		want := ever(false, mine)
		list := a.do("GET", "/api/urls?limit=100&sortBy=clickCount", "", as(token)).want(200)
		top := a.do("GET", "/api/analytics/top-urls?limit=100", "", as(token)).want(200)
		a.same(when+", "+name+", all time", want,
			map[string]float64{"urls/stats": a.do("GET", "/api/urls/stats", "", as(token)).num("totalClicks"),
				"the list's clickCount": list.sum("data", "clickCount"), "top-urls": top.sum("", "clickCount")})
		a.same(when+", "+name+", all time", ever(true, mine),
			map[string]float64{"top-urls with bots": a.do("GET", "/api/analytics/top-urls?limit=100&includeBots=true", "",
				as(token)).sum("",
				"clickCount")})
	}
	members := 0.0
	for slug, id := range a.ids {
		if a.gone[slug] {
			continue
		}
		this := func(v visit) bool { return v.link == slug }
		want := ever(false, this)
		a.same(when+", "+slug+", all time", want,
			map[string]float64{"clickCount": a.do("GET", "/api/urls/"+id, "", as(a.root)).num("clickCount"),
				"recent clicks": a.do("GET", "/api/analytics/urls/"+id+"/recent-clicks", "", as(a.root)).num("total")})
		a.same(when+", "+slug+", all time", ever(true, this),
			map[string]float64{"recent clicks with bots": a.do("GET", "/api/analytics/urls/"+id+"/clicks/recent?includeBots=true", "",
				as(a.root)).
				num("total")})
		if slug == "plain" || slug == "tested" || slug == "routed" {
			members += want
		}
	}
	b, stats := a.do("GET", "/api/bundles/"+a.bundle, "", as(a.ann)).want(200),
		a.do("GET", "/api/bundles/"+a.bundle+"/stats?timezone=America/New_York", "", as(a.ann)).want(200)
	a.same(when, members, map[string]float64{"the bundle's totalClicks": b.num("totalClicks"), "its links": b.sum("urls", "clickCount"),
		"its stats": stats.num("totalClicks"), "its topUrls": stats.sum("topUrls", "clickCount")})
	days, _, _ := a.count(question{zone: "America/New_York", start: "2026-03-05", end: "2026-03-11"}, func(v visit) bool {
		return v.link == "plain" || v.link == "tested" || v.link == "routed"
	})
	for i := range 7 {
		if date := stats.str(fmt.Sprintf("clickTrend.%d.date", i)); stats.num(fmt.Sprintf("clickTrend.%d.clicks", i)) != days[date] ||
			date == "" {
			a.t.Errorf("%s: the bundle's trend for %q is not %v: %s", when, date, days[date], stats.text)
		}
	}
	a.ofParts(when, ever)
}

// ofParts compares the counters of variants and rules. They are written after those of links.
func (a *agreeWorld) ofParts(when string, ever func(bots bool, keep func(visit) bool) float64) {
	a.t.Helper()
	read := func(slug, path, list string) (answer *reply, want float64) {
		answer = a.do("GET", "/api/urls/"+a.ids[slug]+path, "", as(a.ann)).want(200)
		for _, item := range answer.at(list).([]any) {
			id := item.(map[string]any)["id"]
			want += ever(false, func(v visit) bool {
				return !v.Variant.IsZero() && uuid.UUID(v.Variant).String() == id || !v.Rule.IsZero() && uuid.UUID(v.Rule).String() == id
			})
		}
		return answer, want
	}
	testkit.Eventually(a.t, when+": the counters of variants and rules", func() bool {
		variants, drawn := read("tested", "/variants", "variants")
		rules, matched := read("routed", "/routing-rules", "rules")
		return variants.sum("variants", "clickCount") == drawn && rules.sum("rules", "matchCount") == matched
	})
	variants, drawn := read("tested", "/variants", "variants")
	rules, matched := read("routed", "/routing-rules", "rules")
	a.same(when, drawn, map[string]float64{"the variants' clickCount": variants.sum("variants", "clickCount"),
		"their total": variants.num("totalClicks")})
	a.same(when, matched, map[string]float64{"the rules' matchCount": rules.sum("rules", "matchCount"),
		"their total": rules.num("totalMatches"), "their stats": rules.sum("stats", "matchCount")})
}
