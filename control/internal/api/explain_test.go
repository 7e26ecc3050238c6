package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/explain"
	"github.com/shortline/shortline/control/internal/store"
)

// withExplain adds links and the explain use case with the time zone of Berlin.
func withExplain(w *world, cfg *api.Config, deps *api.Deps) {
	withLinks(w, cfg, deps)
	zone, err := time.LoadLocation("Europe/Berlin")
	w.ok(err)
	deps.Explain, err = explain.New(explain.Config{BaseURL: baseURL, Zone: zone, Links: deps.Links, Routing: deps.Routing}, w.store, nil)
	w.ok(err)
}

const iPhone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1"

func TestExplain(t *testing.T) {
	w := small(t, withExplain)
	ann := as(w.ann)
	id := w.do("POST", "/api/urls",
		`{"originalUrl":"https://own.example/?utm_source=x#f","customSlug":"abc",`+
			`"utmSource":"preset","utmMedium":"mail","defaultUrl":"https://default.example/"}`, ann).want(201).str("id")
	base := "/api/urls/" + id
	rule := func(name string, priority int, conditions string) string {
		return w.do("POST", base+"/routing-rules",
			fmt.Sprintf(`{"name":%q,"targetUrl":"https://%s.example/","priority":%d,"conditions":%s}`,
				name, name, priority, conditions), ann).want(201).str("id")
	}
	why := func(visit string) *reply {
		t.Helper()
		return w.do("POST", base+"/explain", visit, ann).want(200)
	}
	explained := func(visit, by, location string) *reply {
		t.Helper()
		r := why(visit)
		if r.str("destination.chosenBy") != by || r.str("destination.location") != location || r.str("outcome") != "REDIRECT" ||
			r.num("status") != 302 {
			t.Errorf("%s: want %s to %s: %s", visit, by, location, r.text)
		}
		return r
	}

	r := explained(`{}`, "ORIGINAL", "https://own.example/?utm_source=preset&utm_medium=mail#f")
	r.has("", "outcome", "status", "visitor", "rules", "variants", "destination").has("destination", "chosenBy", "ruleId", "variantId",
		"index", "targetUrl", "location", "clickParameter")
	r.has("visitor", "device", "os", "browser", "isBot", "botName", "isPreviewCrawler", "country", "regionCode", "region",
		"city", "language",
		"ip", "referer",
		"utmSource", "utmMedium", "utmCampaign", "utmTerm", "utmContent", "time", "continent", "isReturning", "percentile")
	r.shows("visitor.country", nil, "visitor.isBot", true)

	low := rule("low", 1, `{"operator":"AND","conditions":[{"type":"device","operator":"equals","value":"MOBILE"}]}`)
	high := rule("high", 2,
		`{"operator":"AND","conditions":[{"type":"country","operator":"in",`+
			`"value":["DE","AT"]},{"type":"time","operator":"before","value":"09:00"}]}`)
	// 07:30 in UTC is 08:30 in Berlin in winter and 09:30 in summer.
	r = explained(fmt.Sprintf(`{"userAgent":%q,"country":"de","time":"2026-01-15T07:30:00Z","query":"?utm_medium=own&a=1"}`, iPhone),
		"RULE", "https://high.example/?utm_source=preset&utm_medium=own&a=1")
	r.has("rules.0", "ruleId", "index", "name", "priority", "targetUrl", "location", "evaluated", "matched", "wins", "trace")
	r.has("rules.0.trace.children.0", "logicalOperator", "children", "type", "operator", "value", "visitorValue", "matched", "evaluated")
	r.shows("destination.ruleId", high, "rules.0.wins", true, "rules.1.wins", false, "rules.1.evaluated", false, "rules.1.matched", true,
		"rules.0.trace.children.0.visitorValue", "DE", "rules.0.trace.children.1.visitorValue", "08:30 Europe/Berlin",
		"visitor.browser", "Safari", "visitor.utmMedium", "own")
	r = explained(fmt.Sprintf(`{"userAgent":%q,"country":"DE","time":"2026-07-15T07:30:00Z"}`, iPhone), "RULE",
		"https://low.example/?utm_source=preset&utm_medium=mail")
	r.shows("destination.ruleId", low, "rules.0.evaluated", true, "rules.0.matched", false, "rules.0.trace.children.1.matched", false)
	explained(`{"userAgent":"curl/8"}`, "DEFAULT", "https://default.example/?utm_source=preset&utm_medium=mail")

	for name, weight := range map[string]int{"a": 1, "b": 0} {
		w.do("POST", base+"/variants", fmt.Sprintf(`{"name":%q,"targetUrl":"https://%s.example/","weight":%d}`, name, name, weight),
			ann).want(201)
	}
	r = explained(`{}`, "VARIANT", "https://a.example/?utm_source=preset&utm_medium=mail")
	r.has("variants.0", "variantId", "index", "name", "targetUrl", "location", "weight", "percentage")
	r.shows("variants.#", 1, "variants.0.percentage", 100, "destination.variantId", r.str("variants.0.variantId"))
	w.do("PATCH", base+"/routing-rules/settings", `{"isSmartRouting":false}`, ann).want(200)
	r = explained(fmt.Sprintf(`{"userAgent":%q,"country":"DE"}`, iPhone), "VARIANT", "https://a.example/?utm_source=preset&utm_medium=mail")
	r.shows("rules.1.evaluated", false, "rules.1.matched", true, "rules.1.wins", false)

	// The checks before a redirect, in order.
	expect := func(visit, outcome string, status float64) {
		t.Helper()
		if r := why(visit); r.str("outcome") != outcome || r.num("status") != status || r.str("destination.location") == "" {
			t.Errorf("want %s: %s", outcome, r.text)
		}
	}
	crawler := `{"userAgent":"facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)"}`
	w.do("PUT", base, `{"ogTitle":"a title"}`, ann).want(200)
	expect(crawler, "PREVIEW", 200)
	expect(`{}`, "REDIRECT", 302)
	w.do("PUT", base, `{"password":"secret word","expiresAt":"2050-01-01"}`, ann).want(200)
	expect(crawler, "PASSWORD", 200)
	expect(`{"time":"2050-01-01T00:00:00Z"}`, "GONE", 410)
	w.do("PUT", base, `{"status":"INACTIVE"}`, ann).want(200)
	expect(`{}`, "GONE", 410)
	if strings.Contains(why(`{}`).text, "$2a$") {
		t.Error("the password's hash is shown")
	}

	w.unchanged("explaining", func() { why(`{}`) })
	w.do("POST", base+"/explain", `{"ip":"nowhere","country":"Germany","userAgent":"`+strings.Repeat("x", 9000)+`","city":"`+
		strings.Repeat("x", 300)+`"}`, ann).wantField("ip", "country", "userAgent", "city")
	r = why(`{"ip":"::ffff:203.0.113.7","region":"US-CA","city":"Los Angeles"}`)
	r.shows("visitor.regionCode", "US-CA", "visitor.region", nil, "visitor.city", "Los Angeles")
	why(`{"region":"Bavaria"}`).shows("visitor.regionCode", nil, "visitor.region", "Bavaria")
}

// A stored click has the names of its device, system and browser, also of rare ones, and no User-Agent.
func TestConsoleLow_explain_visitors_as_clicks_have_them(t *testing.T) {
	w := small(t, withExplain)
	path := "/api/urls/" + w.create("abc") + "/explain"
	w.do("POST", path, `{"device":"TABLET","os":"Fuchsia","browser":"Coc Coc"}`, as(w.ann)).want(200).
		shows("visitor.device", "TABLET", "visitor.os", "Fuchsia", "visitor.browser", "Coc Coc", "visitor.isBot", false)
	w.do("POST", path, fmt.Sprintf(`{"userAgent":%q,"browser":"Ecosia"}`, iPhone), as(w.ann)).want(200).
		shows("visitor.device", "MOBILE", "visitor.os", "iOS", "visitor.browser", "Ecosia")
	w.do("POST", path, `{"userAgent":"curl/8","browser":"Ecosia"}`, as(w.ann)).want(200).shows("visitor.isBot", true)
	w.do("POST", path, `{"device":"PHONE"}`, as(w.ann)).wantField("device")
	w.do("POST", path, `{"browser":"`+strings.Repeat("x", 256)+`"}`, as(w.ann)).wantField("browser")
}

// The path behind the slug belongs to the destination of a link that forwards it. Any other link is missing there.
func TestExplain_paths(t *testing.T) {
	w := small(t, withExplain)
	ann := as(w.ann)
	base := "/api/urls/" + w.do("POST", "/api/urls", `{"originalUrl":"https://own.example/docs?x=1","customSlug":"abc"}`, ann).
		want(201).str("id")
	explain := base + "/explain"
	w.do("POST", explain, `{"path":"/a/b"}`, ann).want(200).shows("outcome", "ABSENT", "status", 404.0)
	w.do("POST", explain, `{"path":"/"}`, ann).want(200).shows("outcome", "REDIRECT")
	w.do("PUT", base, `{"forwardPath":true}`, ann).want(200)
	for path, location := range map[string]string{
		"/a/b": "https://own.example/docs/a/b?x=1&ref=2", "a b": "https://own.example/docs/a%20b?x=1&ref=2",
		"": "https://own.example/docs?x=1&ref=2", "/": "https://own.example/docs?x=1&ref=2",
	} {
		w.do("POST", explain, fmt.Sprintf(`{"path":%q,"query":"ref=2"}`, path), ann).want(200).
			shows("outcome", "REDIRECT", "destination.location", location)
	}
	w.do("POST", explain, `{"path":"/../secret"}`, ann).want(200).shows("outcome", "ABSENT")
	for _, path := range []string{"/a?b", "/a#b", strings.Repeat("/a", 5000)} {
		w.do("POST", explain, fmt.Sprintf(`{"path":%q}`, path), ann).wantField("path")
	}
}

func TestExplain_special_conditions(t *testing.T) {
	w := small(t, withExplain)
	ann := as(w.ann)
	base := "/api/urls/" + w.do("POST", "/api/urls", `{"originalUrl":"https://own.example/","customSlug":"abc"}`, ann).want(201).str("id")
	w.do("POST", base+"/routing-rules", `{"name":"all","targetUrl":"https://all.example/","conditions":{"operator":"OR","conditions":[
			{"type":"ip","operator":"in","value":["203.0.113.0/24","2001:db8::/32"]},
			{"type":"continent","operator":"equals","value":"EU"},
			{"type":"query","operator":"equals","value":{"name":"ref","value":"a b"}},
			{"type":"date","operator":"between","value":{"start":"2026-12-24","end":"2026-12-26"}},
			{"type":"visitor","operator":"equals","value":"returning"},
			{"type":"percentage","operator":"less_than","value":0.0001}]}}`, ann).want(201)
	const visit = `"ip":"198.51.100.1","userAgent":"curl/8","time":"2026-12-23T22:59:59Z"`
	for _, c := range []struct {
		visit     string
		condition int // that matches; -1: none
		seen      string
	}{
		{`{` + visit + `}`, -1, ""},
		{`{"ip":"::ffff:203.0.113.7","userAgent":"curl/8","time":"2026-01-01T00:00:00Z"}`, 0, "203.0.113.7"},
		{`{` + visit + `,"country":"fr"}`, 1, "EU"},
		{`{` + visit + `,"query":"?ref=a+b"}`, 2, "a b"},
		{`{"time":"2026-12-23T23:00:00Z"}`, 3, "2026-12-23T23:00:00.000Z"}, // midnight in Berlin
		{`{` + visit + `,"returning":true}`, 4, "returning"},
		{`{` + visit + `,"cookie":"0123456789abcdef"}`, 4, "returning"},
	} {
		r := w.do("POST", base+"/explain", c.visit, ann).want(200)
		for i := range 6 {
			path := fmt.Sprint("rules.0.trace.children.", i)
			if r.at(path+".matched") != (i == c.condition) || i == c.condition && r.str(path+".visitorValue") != c.seen {
				t.Errorf("%s: condition %d: %s", c.visit, i, r.text)
			}
		}
		if wins := r.str("destination.chosenBy") == "RULE"; wins != (c.condition >= 0) {
			t.Errorf("%s: %s", c.visit, r.text)
		}
	}
	r := w.do("POST", base+"/explain", `{`+visit+`,"country":"JP"}`, ann).want(200)
	place := r.num("visitor.percentile")
	if r.str("visitor.continent") != "AS" || r.at("visitor.isReturning") != false || place <= 0 || place >= 100 ||
		r.str("rules.0.trace.children.5.visitorValue") != fmt.Sprintf("%.4f", place) ||
		r.str("rules.0.trace.children.4.visitorValue") != "new" {
		t.Error(r.text)
	}
	// The same network and browser have the same place, and another cookie has another one.
	w.do("POST", base+"/explain", `{"ip":"198.51.100.99","userAgent":"curl/8","returning":true}`, ann).want(200).
		shows("visitor.percentile", place)
	if other := w.do("POST", base+"/explain", `{`+visit+`,"cookie":"0123456789abcdef"}`, ann).
		want(200); other.num("visitor.percentile") == place {
		t.Error(other.text)
	}
	for _, bad := range []string{`"x"`, `"0123456789ABCDEF"`, `"0123456789abcdef0"`} {
		w.do("POST", base+"/explain", `{"cookie":`+bad+`}`, ann).wantField("cookie")
	}
}

// rulesOf returns the path of a link's rules.
func rulesOf(url string) string { return "/api/urls/" + url + "/routing-rules" }

// bombBody returns the body of a rule with the given conditions.
func bombBody(conditions string) string {
	return `{"name":"bomb","targetUrl":"https://a.example","conditions":` + conditions + `}`
}

// needles returns a group of conditions that each search the referer for a different text.
func needles(n, length, from int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`{"type":"referer","operator":"contains","value":"%0*d"}`, length, from+i))
	}
	return `{"logicalOperator":"OR","items":[` + strings.Join(all, ",") + `]}`
}

// dictionaries returns a group of conditions with long lists.
func dictionaries(n int) string {
	var all []string
	for i := range n {
		var list []string
		for k := range 300 {
			list = append(list, fmt.Sprintf(`"%060d"`, i*300+k))
		}
		all = append(all, `{"type":"referer","operator":"in","value":[`+strings.Join(list, ",")+`]}`)
	}
	return `{"logicalOperator":"OR","items":[` + strings.Join(all, ",") + `]}`
}

// Rules that are too expensive together are rejected, no matter which endpoint adds the last one. Existing rules stay
// and can be made cheaper, even if they are older than the limit.
func TestH2_ExpensiveRulesTogether(t *testing.T) {
	w := small(t, withLinks)
	id := w.create("abc")
	var rules []string
	for i := 0; ; i++ {
		r := w.do("POST", rulesOf(id), bombBody(needles(100, 200, 100*i)), as(w.ann))
		if r.StatusCode == 201 {
			rules = append(rules, r.str("id"))
			continue
		}
		r.wantField("conditions")
		r.says("the limit is 1000 µs", "bomb")
		break
	}
	if len(rules) < 3 || len(rules) > 20 {
		t.Fatalf("%d rules of 100 conditions were accepted", len(rules))
	}
	last := rulesOf(id) + "/" + rules[len(rules)-1]
	w.do("PUT", last, `{"conditions":`+needles(100, 400, 0)+`}`, as(w.ann)).wantField("conditions")
	w.do("PUT", last, `{"isActive":false}`, as(w.ann)).want(200)
	w.do("PUT", last, `{"conditions":`+needles(100, 400, 0)+`}`, as(w.ann)).wantField("conditions")

	// As if an older release had accepted an expensive rule.
	w.ok(w.store.Tx(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(t.Context(), `UPDATE routing_rules SET conditions = ? WHERE id = ?`, dictionaries(40), rules[0])
		return err
	}))
	first := rulesOf(id) + "/" + rules[0]
	w.do("PUT", first, `{"name":"renamed"}`, as(w.ann)).want(200)
	w.do("POST", rulesOf(id)+"/from-template", `{"templateKey":"MOBILE_ONLY","targetUrl":"https://a.example"}`, as(w.ann)).
		wantField("conditions")
	w.do("PUT", first, `{"conditions":`+dictionaries(39)+`}`, as(w.ann)).want(200)
	w.do("PUT", first, `{"conditions":`+dictionaries(40)+`}`, as(w.ann)).want(400)
	w.do("PUT", first, `{"conditions":`+needles(1, 10, 0)+`}`, as(w.ann)).want(200)
	w.do("POST", rulesOf(id)+"/from-template", `{"templateKey":"MOBILE_ONLY","targetUrl":"https://a.example"}`, as(w.ann)).want(201)
}

// A single rule that is too expensive to evaluate is rejected on save. The error names the condition and the limit.
func TestH2_ExpensiveRule(t *testing.T) {
	w := small(t, withLinks)
	id := w.create("abc")
	bomb := dictionaries(40)
	w.unchanged("a rule that is too expensive", func() {
		w.do("POST", rulesOf(id), bombBody(bomb), as(w.ann)).wantField("conditions.items.24.value").says("1000 µs")
	})
	rule := w.do("POST", rulesOf(id), bombBody(dictionaries(10)), as(w.ann)).want(201).str("id")
	w.unchanged("a change to a rule that is too expensive", func() {
		w.do("PUT", rulesOf(id)+"/"+rule, `{"conditions":`+bomb+`}`, as(w.ann)).wantField("conditions.items.24.value")
	})
}
