package api_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// All endpoints must return the same number for the same clicks: reports, exports, bundles, counters, lists, A/B tests and rules, for
// users and an administrator, over days with clock changes. The tests compare the numbers with a simple count of their own.
func TestAnalytics_figures_agree(t *testing.T) {
	figuresAgree(newClickWorld(t, usual(t)), func() {})
}

// visit is a click, as the test counts it.
type visit struct {
	link, part string // slug; id of the variant or rule
	at         time.Time
	host       byte
	bot, utm   bool
}

// figures is a world with clicks. Its count and query are about a week in a time zone, or about all time if zone is empty.
type figures struct {
	*clickWorld
	ids    map[string]string // of links by slug, without deleted links
	visits []visit
	zone   string
	bots   bool // are included
}

// midnights are before and after midnight in New York, where one of the days has 23 hours, and in Kathmandu.
var midnights = []string{"2026-03-08T04:59:59Z", "2026-03-08T05:00:00Z", "2026-03-09T03:59:59Z", "2026-03-09T04:00:00Z",
	"2026-03-10T18:14:59Z", "2026-03-10T18:15:00Z", "2026-03-04T23:59:59Z", "2026-03-05T00:00:00Z"}

const weekStart, weekEnd = "2026-03-05", "2026-03-11"

func figuresAgree(w *clickWorld, rebuild func()) {
	f := &figures{clickWorld: w, ids: map[string]string{}}
	post := func(path, body, token string) string { return w.do("POST", path, body, as(token)).want(201).str("id") }
	for _, slug := range []string{"plain", "tested", "routed", "gone"} {
		f.ids[slug] = w.create(slug)
	}
	f.ids["bobs"] = post("/api/urls", `{"originalUrl":"https://example.com","customSlug":"bobs"}`, w.bob)
	parts := map[string][]string{}
	for _, name := range []string{"a", "b"} {
		parts["tested"] = append(parts["tested"], w.variant(f.ids["tested"], name))
		parts["routed"] = append(parts["routed"], post("/api/urls/"+f.ids["routed"]+"/routing-rules", ruleBody(name, formA), w.ann))
	}
	bundle := post("/api/bundles", fmt.Sprintf(`{"name":"B","urlIds":[%q,%q,%q]}`, f.ids["plain"], f.ids["tested"], f.ids["routed"]), w.ann)
	links := []string{"plain", "tested", "routed", "tested", "routed", "gone", "bobs"}
	send := func(from, to int) {
		for i := from; i < to; i++ {
			v := visit{link: links[i%len(links)], host: byte(i * i % 50), at: reportDay.Add(-time.Duration(i*i) * 50 * time.Second),
				bot: i%6 == 0, utm: i%4 == 0}
			if i%5 == 0 {
				at, err := time.Parse(time.RFC3339, midnights[i/5%len(midnights)])
				w.ok(err)
				v.at = at
			}
			if of := parts[v.link]; of != nil && i%9 > 0 {
				v.part = of[i/3%2]
			}
			f.visits = append(f.visits, v)
			f.send(v)
		}
	}
	send(0, 90)
	rebuild()
	f.counters(bundle)
	send(90, 120) // some of them fall into quarter hours that are already aggregated
	f.counters(bundle)
	f.reports()
	for _, path := range []string{f.ids["gone"], f.ids["tested"] + "/variants/" + parts["tested"][1],
		f.ids["routed"] + "/routing-rules/" + parts["routed"][1]} {
		w.do("DELETE", "/api/urls/"+path, "", as(w.ann)).want(204)
	}
	delete(f.ids, "gone")
	rebuild()
	f.counters(bundle)
	f.reports()
}

// send delivers a visit.
func (f *figures) send(v visit) {
	f.click(f.ids[v.link], v.at.Format(time.RFC3339), v.host, func(e *click.Event) {
		if e.Referer = "https://news.example/"; v.bot {
			bot(e)
		}
		if v.utm {
			e.UTM = link.UTM{Source: "mail", Medium: "cpc", Campaign: "=cmd()", Term: "x", Content: "y"}
		}
		switch {
		case v.part == "":
		case v.link == "tested":
			e.Variant = link.ID(uuid.MustParse(v.part))
		default:
			e.Rule = link.ID(uuid.MustParse(v.part))
		}
	})
}

func (f *figures) query() string {
	if f.zone == "" {
		return fmt.Sprintf("?limit=100&includeBots=%v", f.bots)
	}
	return fmt.Sprintf("?timezone=%s&startDate=%s&endDate=%s&includeBots=%v&limit=100", f.zone, weekStart, weekEnd, f.bots)
}

// count counts the visits for which keep returns true, also by day, and their visitors.
func (f *figures) count(keep func(visit) bool) (days map[string]float64, total, visitors float64) {
	zone, err := time.LoadLocation(f.zone)
	f.ok(err)
	days, seen := map[string]float64{}, map[byte]bool{}
	for _, v := range f.visits {
		day := v.at.In(zone).Format(time.DateOnly)
		if (f.zone == "" || day >= weekStart && day <= weekEnd) && (f.bots || !v.bot) && keep(v) {
			days[day]++
			total++
			seen[v.host] = true
		}
	}
	return days, total, float64(len(seen))
}

// total returns the number of the visits for which keep returns true.
func (f *figures) total(keep func(visit) bool) float64 {
	_, total, _ := f.count(keep)
	return total
}

// viewers calls look for each user and the administrator, with a function that reports whose the visits are.
func (f *figures) viewers(look func(who option, mine func(visit) bool)) {
	look(as(f.root), func(visit) bool { return true })
	look(as(f.bob), func(v visit) bool { return v.link == "bobs" })
	look(as(f.ann), func(v visit) bool { return v.link != "bobs" })
}

// there reports whether the link of a visit has not been deleted.
func (f *figures) there(v visit) bool { return f.ids[v.link] != "" }

// reports compares the reports of some weeks.
func (f *figures) reports() {
	f.t.Helper()
	root := as(f.root)
	for i, zone := range testkit.Size([]string{"America/New_York", "Asia/Kathmandu"},
		[]string{"America/New_York", "Asia/Kathmandu", "UTC", "America/New_York"}) {
		f.zone, f.bots = zone, i%2 == 1
		f.viewers(func(who option, mine func(visit) bool) {
			o := f.report("/api/analytics/overview", "/api/analytics/export", who, mine)
			present := f.total(func(v visit) bool { return mine(v) && f.there(v) })
			top := f.do("GET", "/api/analytics/top-urls"+f.query(), "", who).want(200)
			testkit.Equal(f.t, top.sum("", "clickCount"), present, "top-urls")
			testkit.Equal(f.t, o.sum("topUrls", "clicks"), present, "topUrls of the overview")
		})
		for slug, id := range f.ids {
			this, path := func(v visit) bool { return v.link == slug }, "/api/analytics/urls/"+id
			f.report(path, path+"/export", root, this)
			total := f.total(this)
			f.do("GET", path+"/recent-clicks"+f.query(), "", root).want(200).shows("total", total, "clicks.#", min(total, 100))
		}
		f.parts()
	}
}

// report compares a report with the count, with the exports of the report, and with the report of bots next to it.
func (f *figures) report(path, export string, who option, keep func(visit) bool) *reply {
	f.t.Helper()
	days, total, visitors := f.count(keep)
	r := f.do("GET", path+f.query(), "", who).want(200).shows("totalClicks", total, "overview.totalClicks", total,
		"uniqueVisitors", visitors, "overview.uniqueVisitors", visitors, "timeSeries.#", 7)
	for i := range 7 {
		r.shows(fmt.Sprintf("timeSeries.%d.clicks", i), days[r.str(fmt.Sprintf("timeSeries.%d.date", i))])
	}
	f.do("GET", export+f.query()+"&format=json&includeClicks=true", "", who).want(200).
		shows("clicks.#", total, "data", fmt.Sprint(r.at("timeSeries")), "summary", fmt.Sprint(r.at("overview")))
	sheet := f.sections(f.do("GET", export+f.query()+"&includeClicks=true", "", who).want(200).text)
	testkit.Equal(f.t, float64(len(sheet["Click Records"])), total, "%s: records of the CSV file", export)
	for list, title := range map[string]string{"timeSeries": "Daily Clicks", "countries": "Top Countries", "browsers": "Browsers",
		"operatingSystems": "Operating Systems", "devices": "Devices", "referers": "Referrers", "utmSources": "UTM Sources",
		"utmMediums": "UTM Mediums", "utmCampaigns": "UTM Campaigns", "utmTerms": "", "utmContents": "", "regions": "", "cities": ""} {
		want, items, inFile := total, r.at(list).([]any), 0.0
		if strings.HasPrefix(list, "utm") {
			want = f.total(func(v visit) bool { return keep(v) && v.utm })
		}
		testkit.Equal(f.t, r.sum(list, "clicks"), want, "%s: %s", path, list)
		for _, row := range sheet[title] {
			inFile += f.number(row[1])
		}
		if title != "" && (inFile != want || len(sheet[title]) != len(items)) {
			f.t.Errorf("%s: %s has %v clicks in %d rows, want %v in %d", export, title, inFile, len(sheet[title]), want, len(items))
		}
	}
	for i, field := range []string{"totalClicks", "uniqueVisitors", "averageClicksPerDay", "growthRate"} {
		r.shows("overview."+field, f.number(sheet["Overview"][i][1]))
	}
	f.ofBots(strings.TrimSuffix(path, "/overview")+"/bots", who, keep)
	return r
}

func (f *figures) number(text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	f.ok(err)
	return n
}

// sections returns the rows of a CSV file by the titles of its sections, without the header rows.
func (f *figures) sections(text string) map[string][][]string {
	out := map[string][][]string{}
	for _, part := range strings.Split(strings.TrimPrefix(text, "\uFEFF"), "\r\n\r\n")[1:] {
		r := csv.NewReader(strings.NewReader(part))
		r.FieldsPerRecord = -1
		rows, err := r.ReadAll()
		f.ok(err)
		out[rows[0][0]] = rows[2:]
	}
	return out
}

// ofBots compares a report of bots. It does not depend on includeBots.
func (f *figures) ofBots(path string, who option, keep func(visit) bool) {
	f.t.Helper()
	r := f.do("GET", path+f.query(), "", who).want(200)
	every := *f
	every.bots = true
	all, bots := every.total(keep), every.total(func(v visit) bool { return keep(v) && v.bot })
	testkit.Equal(f.t, r.sum("botTypes", "clicks"), bots, "%s: clicks by bot", path)
	r.shows("totalBotClicks", bots, "botPercentage", math.Round(bots/max(all, 1)*1000)/10)
}

// parts compares the reports of variants and rules.
func (f *figures) parts() {
	f.t.Helper()
	read := func(slug, report, list, id, clicks string) (r *reply, total float64) {
		r = f.do("GET", "/api/analytics/urls/"+f.ids[slug]+report+f.query(), "", as(f.ann)).want(200)
		for i := range r.at(list).([]any) {
			item := fmt.Sprintf("%s.%d.", list, i)
			part := r.str(item + id)
			_, n, visitors := f.count(func(v visit) bool { return v.part == part })
			if r.shows(item+clicks, n); list == "variants" {
				r.shows(item+"uniqueVisitors", visitors)
			}
			total += n
		}
		return r, total
	}
	test, drawn := read("tested", "/ab-test", "variants", "id", "clicks")
	test.shows("totalClicks", drawn)
	control := f.total(func(v visit) bool { return v.link == "tested" && v.part == "" })
	f.do("GET", "/api/analytics/ab-tests"+f.query(), "", as(f.ann)).want(200).
		shows("totalTestClicks", drawn, "variantClicks", drawn, "tests.0.totalClicks", drawn, "controlGroupClicks", control)
	routing, matched := read("routed", "/routing", "rules", "ruleId", "matchCount")
	total := f.total(func(v visit) bool { return v.link == "routed" })
	routing.shows("totalMatches", f.total(func(v visit) bool { return v.link == "routed" && v.part != "" }), "totalClicks", total)
	testkit.Equal(f.t, routing.sum("timeSeries", "matches"), matched, "days of the rules")
	for _, list := range []string{"geoDistribution", "deviceDistribution"} {
		testkit.Equal(f.t, routing.sum(list, "clicks"), total, "%s", list)
	}
}

// counters compares the figures of all time, which exclude bots unless they are asked for.
func (f *figures) counters(bundle string) {
	f.t.Helper()
	f.zone, f.bots = "", false
	get := func(path string, who option) *reply { return f.do("GET", path, "", who).want(200) }
	ann, root := as(f.ann), as(f.root)
	testkit.Eventually(f.t, "the counters of links", func() bool {
		return get("/api/urls/stats", root).num("totalClicks") == f.total(f.there)
	})
	for _, f.bots = range []bool{true, false} {
		f.viewers(func(who option, mine func(visit) bool) {
			want := f.total(func(v visit) bool { return mine(v) && f.there(v) })
			testkit.Equal(f.t, get("/api/analytics/top-urls"+f.query(), who).sum("", "clickCount"), want, "top-urls, bots %v", f.bots)
			if !f.bots {
				get("/api/urls/stats", who).shows("totalClicks", want)
				testkit.Equal(f.t, get("/api/urls?limit=100&sortBy=clickCount", who).sum("data", "clickCount"), want, "the list of links")
			}
		})
		for slug, id := range f.ids {
			get("/api/analytics/urls/"+id+"/clicks/recent"+f.query(), root).
				shows("total", f.total(func(v visit) bool { return v.link == slug }))
		}
	}
	for slug, id := range f.ids {
		get("/api/urls/"+id, root).shows("clickCount", f.total(func(v visit) bool { return v.link == slug }))
	}
	inside := func(v visit) bool { return slices.Contains([]string{"plain", "tested", "routed"}, v.link) }
	b, stats := get("/api/bundles/"+bundle, ann), get("/api/bundles/"+bundle+"/stats?timezone=America/New_York", ann)
	b.shows("totalClicks", f.total(inside))
	stats.shows("totalClicks", f.total(inside))
	testkit.Equal(f.t, b.sum("urls", "clickCount"), f.total(inside), "the links of the bundle")
	testkit.Equal(f.t, stats.sum("topUrls", "clickCount"), f.total(inside), "topUrls of the bundle")
	week := *f
	week.zone = "America/New_York"
	days, _, _ := week.count(inside)
	for i := range 7 {
		stats.shows(fmt.Sprintf("clickTrend.%d.clicks", i), days[stats.str(fmt.Sprintf("clickTrend.%d.date", i))])
	}
	for path, c := range map[string][3]string{"tested/variants": {"variants", "clickCount", "totalClicks"},
		"routed/routing-rules": {"rules", "matchCount", "totalMatches"}} {
		slug, part, _ := strings.Cut(path, "/")
		testkit.Eventually(f.t, "the counters of "+path, func() bool { // are written after those of links
			r, want := get("/api/urls/"+f.ids[slug]+"/"+part, ann), 0.0
			for i := range r.at(c[0]).([]any) {
				id := r.str(fmt.Sprintf("%s.%d.id", c[0], i))
				want += f.total(func(v visit) bool { return v.part == id })
			}
			return r.sum(c[0], c[1]) == want && r.num(c[2]) == want && want > 0
		})
	}
}
