package api_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/click"
)

// Figures are tested in package report. This test shows that each parameter reaches the report.
func TestAnalytics_filters_intervals_and_comparisons(t *testing.T) {
	w := newClickWorld(t, usual(t))
	id, other := w.create("filter-1"), w.create("filter-2")
	w.do("PUT", "/api/urls/"+id, `{"tags":["Spring"]}`, as(w.ann)).want(200)
	w.click(id, "2026-03-11T01:30:00Z", 1, func(e *click.Event) {
		e.AcceptLanguage, e.Referer = "de-CH,de;q=0.9", "https://l.instagram.com/?u=1"
	})
	w.click(id, "2026-03-11T01:31:00Z", 2, func(e *click.Event) { e.AcceptLanguage, e.UserAgent = "fr", chrome })
	w.click(id, "2026-03-11T02:00:00Z", 2, bot)
	w.click(other, "2026-03-11T02:00:00Z", 3, nil)
	w.click(other, "2026-03-10T02:00:00Z", 3, nil)
	for query, want := range map[string]float64{
		"": 4, "language=de": 1, "language=de&language=fr": 2, "language=Unknown": 2, "device=mobile": 3, "os=iOS&language=fr": 0,
		"browser=Chrome":            1,
		"referer=www.instagram.com": 1, "referer=Direct": 3, "country=US": 0, "country=Unknown": 4, "tag=spring": 2,
		"tag=spring&tag=nothing": 2,
		"tag=nothing":            0,
		"domain=sho.rt":          4, "domain=other.example": 0, "bot=true": 1, "bot=Googlebot": 1, "bot=true&bot=false": 5,
		"bot=false&includeBots=true": 4, "includeBots=true": 5,
		"variantId=none": 4, "ruleId=6b7f2c50-0000-4000-8000-000000000000": 0, "startDate=2026-03-11&endDate=2026-03-11&interval=hour": 3,
		"startDate=2026-03-11T01:30:30Z&endDate=2026-03-11T02:00:00Z&interval=minute": 1,
	} {
		w.do("GET", "/api/analytics/overview?"+query, "", as(w.ann)).want(200).shows("totalClicks", want)
	}
	r := w.do("GET", "/api/analytics/urls/"+id+
		"?startDate=2026-03-11&endDate=2026-03-11&interval=hour&compare=previous&series=people,bots&timezone=Asia/Kathmandu", "",
		as(w.ann)).want(200)
	r.shows("timeSeries.0.at", "2026-03-11T00:00:00+05:45", "timeSeries.#", 24, "timeSeries.7.clicks", 2, "series.bots.7.clicks", 1,
		"comparison.startDate", "2026-03-10", "comparison.figures.totalClicks", 0, "sites.0.site", "Direct", "sites.1.name", "Instagram",
		"languages.0.name", "de")
	w.do("GET", "/api/analytics/heatmap", "", as(w.ann)).want(200).
		shows("weekdays.2.weekday", "WEDNESDAY", "weekdays.2.hours.1", 2, "totalClicks", 4)
	w.do("GET", "/api/analytics/groups", "", as(w.ann)).want(200).
		shows("groups.0.name", "Spring", "groups.0.clicks", 2, "groups.0.uniqueVisitors", 2, "totalClicks", 4)
	w.do("GET", "/api/analytics/groups?by=domain", "", as(w.ann)).want(200).shows("groups.0.name", "sho.rt", "groups.0.clicks", 4)
	many := strings.Repeat("&country=DE", 21)
	for query, field := range map[string]string{
		"interval=second": "interval", "interval=minute&timeRange=last_7_days": "interval",
		"interval=hour&timeRange=last_90_days":                                      "interval",
		"timeRange=last_hour":                                                       "timeRange",
		"interval=minute&startDate=2026-03-11":                                      "interval",
		"interval=hour&startDate=2026-03-11T02:00:00Z&endDate=2026-03-11T02:00:00Z": "endDate", "interval=hour&startDate=x": "startDate",
		"compare=month": "compare", "series=cats": "series", "country=Germany": "country", many[1:]: "country", "device=WATCH": "device",
		"language=de-CH":         "language",
		"referer=not%20a%20site": "referer", "variantId=x": "variantId", "ruleId=" + url.QueryEscape("' OR 1"): "ruleId",
		"domain=a%20b":           "domain",
		"bot=true&bot=Googlebot": "bot", "os=" + strings.Repeat("x", 256): "os",
	} {
		w.do("GET", "/api/analytics/overview?"+query, "", as(w.ann)).want(400).says(`"field":"` + field + `"`)
	}
	w.do("GET", "/api/analytics/groups?by=color", "", as(w.ann)).want(400)
	w.do("GET", "/api/analytics/top-urls?compare=year", "", as(w.ann)).want(400)
	w.do("GET", "/api/analytics/top-urls?compare=previous&timeRange=last_7_days", "", as(w.ann)).want(200).shows("0.comparedClickCount", 0)
}
