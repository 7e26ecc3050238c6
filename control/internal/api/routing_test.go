package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/store"
)

// switches fails the test unless A/B testing and smart routing of the link are on or off as given.
func (w *world) switches(id string, ab, smart bool) {
	w.t.Helper()
	w.do("GET", "/api/urls/"+id, "", as(w.ann)).want(200).shows("isABTesting", ab, "isAbTest", ab, "isSmartRouting", smart)
}

// setCount sets a counter in the database, as package ingest does.
func (w *world) setCount(table, column, id string, n int) {
	w.t.Helper()
	w.ok(w.store.Tx(w.t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(w.t.Context(), `UPDATE `+table+` SET `+column+` = ? WHERE id = ?`, n, id)
		return err
	}))
}

var variantNames = []string{"id", "urlId", "name", "targetUrl", "weight", "isActive", "clickCount", "createdAt", "updatedAt"}

func TestVariants(t *testing.T) {
	w := small(t, withLinks)
	id := w.create("abc")
	all := "/api/urls/" + id + "/variants"
	r := w.do("POST", all, `{"name":" A ","targetUrl":"https://a.example"}`, as(w.ann)).want(201).has("", variantNames...).
		shows("name", "A", "weight", 50, "isActive", true, "urlId", id, "clickCount", 0)
	a := all + "/" + r.str("id")
	row := w.audited("VARIANT_CREATED", "variant", r.str("id"))
	if !strings.Contains(row.Metadata, `"urlChanges":{"isABTesting":{"old":false,"new":true}}`) || !strings.Contains(row.Metadata, id) {
		t.Errorf("audit: %s", row.Metadata)
	}
	w.switches(id, true, false)
	r = w.do("POST", all, `{"name":"B","targetUrl":"https://b.example","weight":0,"isActive":false}`, as(w.ann)).want(201)
	b := all + "/" + r.str("id")
	w.setCount("variants", "click_count", strings.TrimPrefix(a, all+"/"), 2)
	w.setCount("variants", "click_count", strings.TrimPrefix(b, all+"/"), 1)

	w.do("GET", all, "", as(w.ann)).want(200).has("", "variants", "totalWeight", "totalClicks", "stats", "hasExperiment").
		has("variants.0", variantNames...).
		has("stats.0", "variant", "clickThroughRate").has("stats.0.variant", variantNames...).
		shows("variants.0.name", "A", "totalWeight", 50, "totalClicks", 3, "stats.0.clickThroughRate", 66.7,
			"stats.1.clickThroughRate", 33.3)
	w.do("GET", a, "", as(w.ann)).want(200).has("", variantNames...)

	// A partial update keeps the other fields. An update without changes leaves no trace.
	w.do("PUT", a, `{"weight":100}`, as(w.ann)).want(200).shows("weight", 100, "name", "A", "targetUrl", "https://a.example")
	w.unchanged("an update without changes", func() { w.do("PUT", a, `{"weight":100,"name":"A"}`, as(w.ann)).want(200) })
	w.do("PUT", a, `{"weight":null}`, as(w.ann)).want(200).shows("weight", 50)

	// Deactivating the last active variant turns A/B testing off. Activating it again does not turn A/B testing
	// on.
	w.do("PUT", a, `{"isActive":false}`, as(w.ann)).want(200)
	w.audited("VARIANT_UPDATED", "variant", strings.TrimPrefix(a, all+"/"))
	w.switches(id, false, false)
	w.do("PATCH", "/api/urls/"+id, `{"isABTesting":true}`, as(w.ann)).wantField("isABTesting")
	w.do("PUT", a, `{"isActive":true}`, as(w.ann)).want(200)
	w.switches(id, false, false)
	w.do("PATCH", "/api/urls/"+id, `{"isABTesting":true}`, as(w.ann)).want(200)
	w.switches(id, true, false)
	// Deleting the last active variant turns A/B testing off. Deleting the last variant keeps it off.
	w.do("DELETE", a, "", as(w.ann)).want(204)
	w.audited("VARIANT_DELETED", "variant", strings.TrimPrefix(a, all+"/"))
	w.switches(id, false, false)
	w.do("DELETE", b, "", as(w.ann)).want(204)
	w.do("DELETE", b, "", as(w.ann)).want(404)
	w.do("POST", all, `{"name":"C","targetUrl":"https://c.example"}`, as(w.ann)).want(201)
	w.switches(id, true, false)

	c, other := all+"/"+w.do("GET", all, "", as(w.ann)).str("variants.0.id"), w.create("other")
	rules := "/api/urls/" + id + "/routing-rules"
	rule := rules + "/" + w.do("POST", rules, ruleBody("R", formA), as(w.ann)).want(201).str("id")
	w.unchanged("a refused request", func() {
		for body, fields := range map[string][]string{
			`{}`: {"name", "targetUrl"}, `{"name":"","targetUrl":""}`: {"name", "targetUrl"},
			`{"name":5,"targetUrl":5,"weight":"x","isActive":"x","id":"x"}`: {"name", "targetUrl", "weight",
				"isActive", "id"},
			`{"name":"` + strings.Repeat("ü", 101) + `","targetUrl":"javascript:1","weight":101}`: {"name", "targetUrl", "weight"},
			`{"name":"x","targetUrl":"https://sho.rt/abc","weight":-1}`:                           {"targetUrl", "weight"},
			`{"name":"x","targetUrl":"https://x.example","weight":1.5}`:                           {"weight"},
			`{"name":"x","targetUrl":"https://x.example","weight":1e99}`:                          {"weight"},
		} {
			w.do("POST", all, body, as(w.ann)).wantField(fields...)
		}
		for body, field := range map[string]string{`{"name":null}`: "name", `{"targetUrl":""}`: "targetUrl", `{"weight":200}`: "weight",
			`{"clickCount":9}`: "clickCount"} {
			w.do("PUT", c, body, as(w.ann)).wantField(field)
		}
		for _, method := range []string{"GET", "PUT", "DELETE"} { // below another link
			w.do(method, strings.Replace(c, id, other, 1), "", as(w.ann)).want(404)
			w.do(method, strings.Replace(rule, id, other, 1), "", as(w.ann)).want(404)
		}
	})
	w.do("POST", all, `{"name":"`+strings.Repeat("ü", 100)+`","targetUrl":"https://x.example","weight":1e2}`, as(w.root)).want(201)
}

var ruleNames = []string{"id", "urlId", "name", "targetUrl", "priority", "isActive", "conditions", "matchCount", "lastMatchedAt",
	"createdAt", "updatedAt"}

const (
	formA = `{"operator": "AND", "conditions": [{"type":"country","operator":"in","value":["DE","AT"]}, ` +
		`{"operator":"or","conditions":[{"type":"device","operator":"equals","value":"MOBILE"}]}]}`
	formB = `{"logicalOperator":"OR","items":[{"type":"time","operator":"between","value":{"start":"22:00","end":"06:00"}}]}`
)

func ruleBody(name, conditions string) string {
	return fmt.Sprintf(`{"name":%q,"targetUrl":"https://r.example","conditions":%s}`, name, conditions)
}

func TestRoutingRules(t *testing.T) {
	w := small(t, withLinks)
	id := w.create("abc")
	all := "/api/urls/" + id + "/routing-rules"
	r := w.do("POST", all, ruleBody("first", formA), as(w.ann)).want(201).has("", ruleNames...).
		shows("priority", 0, "isActive", true, "lastMatchedAt", nil, "conditions.operator", "AND", "conditions.conditions.0.value.1", "AT")
	first := all + "/" + r.str("id")
	row := w.audited("ROUTING_RULE_CREATED", "routing_rule", r.str("id"))
	if !strings.Contains(row.New.String, `"conditions":{"operator":"AND"`) || !strings.Contains(row.Metadata, "isSmartRouting") {
		t.Errorf("audit: %s %s", row.New.String, row.Metadata)
	}
	w.switches(id, false, true)
	r = w.do("POST", all, `{"name":"second","targetUrl":"https://s.example","priority":10000,"isActive":false,"conditions":`+formB+`}`,
		as(w.ann)).want(201)
	second := all + "/" + r.str("id")
	r.shows("conditions.logicalOperator", "OR", "conditions.items.0.value.start", "22:00")
	w.do("POST", all, ruleBody("third", formB), as(w.ann)).want(201)
	w.setCount("routing_rules", "match_count", strings.TrimPrefix(second, all+"/"), 1)
	w.setCount("routing_rules", "match_count", strings.TrimPrefix(first, all+"/"), 7)

	r = w.do("GET", all, "", as(w.ann)).want(200).has("", "rules", "totalMatches", "stats").has("rules.0", ruleNames...).has("stats.0",
		"ruleId", "name", "matchCount", "matchPercentage")
	if order := r.str("rules.0.name") + r.str("rules.1.name") + r.str("rules.2.name"); order != "secondfirstthird" ||
		r.num("totalMatches") != 8 || r.num("stats.0.matchPercentage") != 12.5 || r.num("stats.1.matchPercentage") != 87.5 {
		t.Error(r.text)
	}
	w.do("GET", first, "", as(w.ann)).want(200).has("", ruleNames...)
	w.do("PUT", first, `{"priority":5,"conditions":`+formB+`}`, as(w.ann)).want(200).
		shows("priority", 5, "name", "first", "conditions.logicalOperator", "OR")
	w.audited("ROUTING_RULE_UPDATED", "routing_rule", strings.TrimPrefix(first, all+"/"))
	w.unchanged("an update without changes", func() { w.do("PUT", first, `{"priority":5,"conditions":`+formB+`}`, as(w.ann)).want(200) })

	// Deleting the last rule turns smart routing off. It stays off if it was turned off by hand.
	w.do("PATCH", all+"/settings", `{"isSmartRouting":false,"defaultUrl":"https://d.example"}`, as(w.ann)).want(200).
		has("", "isSmartRouting", "defaultUrl").
		shows("isSmartRouting", false, "defaultUrl", "https://d.example")
	w.audited("URL_UPDATED", "url", id)
	w.do("POST", all, ruleBody("fourth", formA), as(w.ann)).want(201)
	w.switches(id, false, false)
	for _, empty := range []string{`""`, `null`} {
		w.do("PATCH", all+"/settings", `{"isSmartRouting":true,"defaultUrl":`+empty+`}`, as(w.ann)).want(200).shows("defaultUrl", nil)
	}
	w.switches(id, false, true)
	w.unchanged("a refused setting", func() {
		for body, field := range map[string]string{`{"isSmartRouting":"on"}`: "isSmartRouting", `{"defaultUrl":"x"}`: "defaultUrl",
			`{"defaultUrl":"https://sho.rt/x"}`: "defaultUrl", `{"x":1}`: "x"} {
			w.do("PATCH", all+"/settings", body, as(w.ann)).wantField(field)
		}
		w.do("PATCH", all+"/settings", ``, as(w.ann)).want(200)
	})
	list := w.do("GET", all, "", as(w.ann)).want(200)
	for i := range 4 {
		w.switches(id, false, true)
		w.do("DELETE", all+"/"+list.str(fmt.Sprintf("rules.%d.id", i)), "", as(w.ann)).want(204)
	}
	w.audited("ROUTING_RULE_DELETED", "routing_rule", list.str("rules.3.id"))
	w.switches(id, false, false)
	w.do("DELETE", first, "", as(w.ann)).want(404)
}

func TestRoutingRules_refuse(t *testing.T) {
	w := small(t, withLinks)
	id := w.create("abc")
	all := "/api/urls/" + id + "/routing-rules"
	one := all + "/" + w.do("POST", all, ruleBody("first", formA), as(w.ann)).want(201).str("id")
	w.unchanged("a refused rule", func() {
		for conditions, field := range map[string]string{ // package rule has all problems and limits
			`null`: "conditions", `{}`: "conditions.conditions",
			`{"operator":"AND","conditions":[{"type":"x","operator":"equals","value":"y"}]}`:          "conditions.conditions.0.type",
			`{"logicalOperator":"AND","items":[{"type":"time","operator":"before","value":"25:00"}]}`: "conditions.items.0.value",
		} {
			w.do("POST", all, ruleBody("x", conditions), as(w.ann)).wantField(field)
			w.do("PUT", one, `{"conditions":`+conditions+`}`, as(w.ann)).wantField(field)
		}
		for body, fields := range map[string][]string{
			`{}`: {"name", "targetUrl", "conditions"}, `{"name":"","targetUrl":"","conditions":{}}`: {"name", "targetUrl",
				"conditions.conditions"},
			`{"name":"` + strings.Repeat("x", 101) + `","targetUrl":"file:///x","priority":10001,"conditions":` + formA +
				`}`: {"name", "targetUrl", "priority"},
			`{"name":"x","targetUrl":"https://x.example","priority":-1,"conditions":` + formA + `}`: {"priority"},
			`{"name":"x","targetUrl":"https://x.example","priority":"high","isActive":1,"condition":{},"conditions":{}}`: {"priority",
				"isActive", "condition"},
		} {
			w.do("POST", all, body, as(w.ann)).wantField(fields...)
		}
	})
	for i := range 99 {
		w.do("POST", all, ruleBody(fmt.Sprint(i), formB), as(w.root)).want(201)
	}
	w.unchanged("one rule too many", func() { w.do("POST", all, ruleBody("101", formB), as(w.ann)).want(400) })
}

func TestRoutingTemplates(t *testing.T) {
	w := small(t, withLinks)
	id := w.create("abc")
	r := w.do("GET", "/api/routing-templates", "", as(w.ann)).want(200).has("", "templates").has("templates.0", "key", "name",
		"description", "conditions")
	path := "/api/urls/" + id + "/routing-rules/from-template"
	var keys []string
	for i := range len(r.at("templates").([]any)) {
		key := r.str(fmt.Sprintf("templates.%d.key", i))
		keys = append(keys, key)
		form := []string{"templateKey", "templateId"}[i%2]
		rule := w.do("POST", path, fmt.Sprintf(`{%q:%q,"targetUrl":"https://x.example/%d"}`, form, key, i), as(w.ann)).want(201).has("",
			ruleNames...)
		if rule.str("name") != r.str(fmt.Sprintf("templates.%d.name", i)) || rule.at("conditions") == nil ||
			rule.str("targetUrl") != fmt.Sprintf("https://x.example/%d", i) {
			t.Error(rule.text)
		}
	}
	if got := strings.Join(keys,
		" "); got != "APP_DOWNLOAD_IOS APP_DOWNLOAD_ANDROID MULTILANG_TW MULTILANG_CN BUSINESS_HOURS MOBILE_ONLY DESKTOP_ONLY" {
		t.Error(got)
	}
	w.switches(id, false, true)
	w.do("POST", path, `{"templateKey":"MOBILE_ONLY","targetUrl":"https://x.example","name":"Mine","priority":3,"isActive":false}`,
		as(w.ann)).want(201).
		shows("name", "Mine", "priority", 3, "isActive", false)
	w.unchanged("a refused template", func() {
		for body, field := range map[string]string{
			`{"targetUrl":"https://x.example"}`: "templateKey", `{"templateKey":"NOPE","targetUrl":"https://x.example"}`: "templateKey",
			`{"templateKey":null,"targetUrl":"https://x.example"}`:                                      "templateKey",
			`{"templateKey":"MOBILE_ONLY"}`:                                                             "targetUrl",
			`{"templateKey":"MOBILE_ONLY","targetUrl":"x"}`:                                             "targetUrl",
			`{"templateKey":"MOBILE_ONLY","templateId":"DESKTOP_ONLY","targetUrl":"https://x.example"}`: "templateId",
			`{"templateKey":"MOBILE_ONLY","targetUrl":"https://x.example","conditions":{}}`:             "conditions",
		} {
			w.do("POST", path, body, as(w.ann)).wantField(field)
		}
	})
}
