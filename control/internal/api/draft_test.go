package api_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

const fromGermany = `{"operator":"AND","conditions":[{"type":"country","operator":"equals","value":"DE"}]}`

func TestExplain_drafts(t *testing.T) {
	w := small(t, withExplain)
	ann := as(w.ann)
	id := w.do("POST", "/api/urls", `{"originalUrl":"https://own.example/","customSlug":"abc","utmSource":"mail"}`, ann).want(201).str("id")
	base := "/api/urls/" + id
	saved := w.do("POST", base+"/routing-rules", `{"name":"saved","targetUrl":"https://saved.example/","priority":5,"conditions":`+
		fromGermany+
		`}`, ann).want(201).str("id")
	other := w.do("POST", base+"/routing-rules", `{"name":"other","targetUrl":"https://other.example/","isActive":false,"conditions":`+
		fromGermany+`}`, ann).want(201).str("id")
	arm := w.do("POST", base+"/variants", `{"name":"A","targetUrl":"https://a.example/"}`, ann).want(201).str("id")

	why := func(draft string) *reply {
		t.Helper()
		return w.do("POST", base+"/explain", `{"country":"DE","draft":`+draft+`}`, ann).want(200)
	}
	goes := func(draft, by, location string) *reply {
		t.Helper()
		r := why(draft)
		if r.str("destination.chosenBy") != by || r.str("destination.location") != location {
			t.Errorf("%s: want %s to %s: %s", draft, by, location, r.text)
		}
		return r
	}
	w.unchanged("explaining drafts", func() {
		r := goes(`{}`, "RULE", "https://saved.example/?utm_source=mail")
		r.shows("destination.ruleId", saved, "destination.index", nil, "rules.0.index", nil, "variants.0.variantId", arm)
		// A field that the draft does not set is as saved; null clears it.
		goes(`{"utmSource":"push","redirectCode":308}`, "RULE", "https://saved.example/?utm_source=push")
		goes(`{"utmSource":null,"isSmartRouting":false}`, "VARIANT", "https://a.example/")
		goes(`{"isSmartRouting":false,"isABTesting":false,"originalUrl":" https://new.example/ ","utmSource":""}`, "ORIGINAL",
			"https://new.example/")
		why(`{"trackConversions":true}`).shows("destination.clickParameter", "sl_click")
		for draft, outcome := range map[string]string{
			`{"status":"INACTIVE"}`: "GONE", `{"startsAt":"2090-01-01"}`: "ABSENT", `{"password":"secret"}`: "PASSWORD",
			`{"expiresAt":"2020-01-01"}`: "GONE", `{"expiresAt":"2020-01-01","expiredUrl":"https://over.example/"}`: "ENDED",
			`{"maxClicks":1}`: "REDIRECT",
		} {
			if r := why(draft); r.str("outcome") != outcome {
				t.Errorf("%s: want %s: %s", draft, outcome, r.text)
			}
		}

		// Clicks until now count for a new limit.
		w.exec(`UPDATE urls SET click_count = 5 WHERE id = ?`, id)
		for limit, outcome := range map[int]string{5: "GONE", 6: "REDIRECT"} {
			if r := why(fmt.Sprintf(`{"maxClicks":%d}`, limit)); r.str("outcome") != outcome {
				t.Errorf("%d clicks are allowed: want %s: %s", limit, outcome, r.text)
			}
		}

		// Lists replace the saved ones. Parts keep their identity by their ids; the others are named by their place.
		fresh := `{"name":"fresh","targetUrl":"https://fresh.example/","priority":5,"conditions":` + fromGermany + `}`
		r = goes(`{"rules":[`+fresh+`]}`, "RULE", "https://fresh.example/?utm_source=mail")
		r.shows("destination.ruleId", nil, "destination.index", 0, "rules.0.ruleId", nil, "rules.0.index", 0.0, "rules.0.wins", true,
			"rules.1", nil)
		again := `{"id":"` + saved + `","name":"saved","targetUrl":"https://changed.example/","priority":5,"conditions":` +
			fromGermany + `}`
		r = goes(`{"rules":[`+fresh+`,`+again+`]}`, "RULE", "https://changed.example/?utm_source=mail") // the same priority, and older
		r.shows("destination.ruleId", saved, "destination.index", 1, "rules.0.ruleId", saved, "rules.0.index", 1, "rules.1.index", 0,
			"rules.1.wins", false)
		goes(`{"rules":[`+strings.Replace(fresh, `:5,`, `:6,`, 1)+`,`+again+`]}`, "RULE", "https://fresh.example/?utm_source=mail")
		activated := `{"id":"` + other + `","name":"other","targetUrl":"https://other.example/","conditions":` + fromGermany + `}`
		goes(`{"rules":[`+activated+`]}`, "RULE", "https://other.example/?utm_source=mail")
		goes(`{"rules":[]}`, "VARIANT", "https://a.example/?utm_source=mail")
		goes(`{"rules":null,"variants":null}`, "ORIGINAL", "https://own.example/?utm_source=mail")
		r = goes(`{"rules":[],"variants":[{"name":"Z",`+
			`"targetUrl":"https://z.example/","weight":0},{"name":"B","targetUrl":"https://b.example/"}]}`, "VARIANT",
			"https://b.example/?utm_source=mail")
		r.shows("destination.variantId", nil, "destination.index", 1, "variants.0.index", 1, "variants.0.percentage", 100,
			"variants.1", nil)
		goes(`{"rules":[],"variants":[{"id":"`+arm+`","name":"A","targetUrl":"https://a.example/","isActive":false}]}`, "ORIGINAL",
			"https://own.example/?utm_source=mail")
	})

	// A link without rules: the first one turns smart routing on, as saving does, unless the draft says otherwise.
	bare := "/api/urls/" + w.create("bare")
	for draft, by := range map[string]string{
		`{"rules":[{"name":"r","targetUrl":"https://r.example/","conditions":` + fromGermany + `}]}`:                        "RULE",
		`{"isSmartRouting":false,"rules":[{"name":"r","targetUrl":"https://r.example/","conditions":` + fromGermany + `}]}`: "ORIGINAL",
		`{"variants":[{"name":"v","targetUrl":"https://v.example/"}]}`:                                                      "VARIANT",
		`{"isABTesting":true,"variants":[{"name":"v","targetUrl":"https://v.example/","isActive":true}]}`:                   "VARIANT",
		`{"isABTesting":false,"variants":[{"name":"v","targetUrl":"https://v.example/"}]}`:                                  "ORIGINAL",
		`{"variants":[{"name":"v","targetUrl":"https://v.example/","isActive":false}]}`:                                     "ORIGINAL",
	} {
		w.do("POST", bare+"/explain", `{"country":"DE","draft":`+draft+`}`, ann).want(200).shows("destination.chosenBy", by)
	}

	foreign := w.do("POST", bare+"/routing-rules", `{"name":"x","targetUrl":"https://x.example/","conditions":`+fromGermany+`}`, ann).
		want(201).str("id")
	for draft, field := range map[string]string{
		`{"rules":[{"id":"` + foreign + `","name":"x","targetUrl":"https://x.example/","conditions":` + fromGermany +
			`}]}`: "draft.rules.0.id",
		`{"rules":[` + activatedRule(saved) + `,` + activatedRule(saved) +
			`]}`: "draft.rules.1.id",
		`{"variants":[{"id":"` + saved +
			`","name":"x","targetUrl":"https://x.example/"}]}`: "draft.variants.0.id",
		`{"variants":[],"isABTesting":true}`:                                                 "draft.isABTesting",
		`{"rules":[` + strings.Repeat(activatedRule("")+",", 100) + activatedRule("") + `]}`: "draft.rules",
		`{"bundleIds":["nothing"]}`:                                                          "draft.bundleIds.0",
		`{"rules":[{"name":"x"}]}`:                                                           "draft.rules.0.targetUrl",
		`{"rules":1}`:                                                                        "draft.rules",
		`{"rules":[null]}`:                                                                   "draft.rules.0",
		`{"slug":"new"}`:                                                                     "draft.slug",
		`{"rules":[],"variants":[{"weight":-1}]}`:                                            "draft.variants.0.name",
	} {
		w.do("POST", base+"/explain", `{"draft":`+draft+`}`, ann).wantField(field)
	}
	w.do("POST", base+"/explain", `{"draft":null}`, ann).want(200)
}

func activatedRule(id string) string {
	if id != "" {
		id = `"id":"` + id + `",`
	}
	return `{` + id + `"name":"x","targetUrl":"https://x.example/","conditions":` + fromGermany + `}`
}

// A draft has the problems that saving has, below the field draft.
func TestExplain_checks_drafts_like_saving(t *testing.T) {
	w := small(t, withExplain)
	ann := as(w.ann)
	base := "/api/urls/" + w.create("abc")
	w.do("POST", base+"/variants", `{"name":"A","targetUrl":"https://a.example/"}`, ann).want(201)
	problems := func(r *reply, prefix string) (list []string) {
		t.Helper()
		for _, e := range r.want(400).at("errors").([]any) {
			e := e.(map[string]any)
			list = append(list, prefix+e["field"].(string)+": "+e["message"].(string))
		}
		return list
	}
	agree := func(method, path, body, at, draft string) {
		t.Helper()
		saved := problems(w.do(method, path, body, ann), "draft."+at)
		if got := problems(w.do("POST", base+"/explain", `{"draft":`+draft+`}`, ann), ""); !reflect.DeepEqual(got, saved) {
			t.Errorf("%.200s: %q, want %q", draft, got, saved)
		}
	}
	for _, body := range []string{
		`{"originalUrl":"nowhere"}`, `{"originalUrl":"https://sho.rt/x","defaultUrl":"ftp://x","expiredUrl":"x"}`, `{"originalUrl":""}`,
		`{"startsAt":"2030-01-02","expiresAt":"2030-01-01"}`, `{"expiresAt":"2030-01-01","startsAt":"2031-01-01"}`, `{"status":"DELETED"}`,
		`{"maxClicks":-1}`,
		`{"redirectCode":303}`, `{"stickiness":"glue"}`, `{"password":"x"}`, `{"utmSource":"` + strings.Repeat("x", 256) + `"}`,
		`{"ogImage":"x"}`, `{"twitterCardType":"x"}`,
		`{"tags":[""]}`, `{"isABTesting":1}`, `{"expiresAt":"tomorrow"}`, `{"unknown":1}`,
	} {
		agree("PUT", base, body, "", body)
	}
	long := strings.Repeat("x", 400)
	costly := `{"operator":"AND","conditions":[` +
		strings.TrimSuffix(
			strings.Repeat(`{"type":"query","operator":"in","value":{"name":"a","value":["1","2","3","4","5","6","7","8","9","10"]}},`, 90),
			",") +
		`]}`
	for _, body := range []string{
		`{"name":"","targetUrl":"https://sho.rt/","conditions":{}}`,
		`{"name":"x","targetUrl":"https://x.example/","priority":10001,"conditions":` + fromGermany + `}`,
		`{"name":"x","targetUrl":"https://x.example/",` +
			`"conditions":{"operator":"AND","conditions":[{"type":"country",` +
			`"operator":"equals","value":"DE"},{"type":"country","operator":"equals","value":"Germany"}]}}`,
		`{"name":"x","targetUrl":"https://x.example/",` +
			`"conditions":{"operator":"AND","conditions":[{"operator":"OR","items":[{"type":"ip","operator":"in","value":["x"]}]}]}}`,
		`{"name":"x","targetUrl":"https://x.example/"}`, `{"targetUrl":"https://x.example/","conditions":` + fromGermany + `}`,
		`{"name":"x","targetUrl":null,"conditions":` + fromGermany + `}`,
		`{"name":"x","targetUrl":"https://x.example/","conditions":` + costly + `}`,
	} {
		agree("POST", base+"/routing-rules", body, "rules.0.", `{"rules":[`+body+`]}`)
	}
	for _, body := range []string{`{"name":"` + long + `","targetUrl":"x"}`, `{"name":"x","targetUrl":"https://x.example/","weight":101}`,
		`{"name":"x"}`} {
		agree("POST", base+"/variants", body, "variants.0.", `{"variants":[`+body+`]}`)
	}

	// Rules that are only together too expensive: saving refuses the one that exceeds the limit.
	var conditions []string
	for i := range 60 {
		conditions = append(conditions, fmt.Sprintf(`{"type":"query","operator":"equals","value":{"name":"n%d","value":"v"}}`, i))
	}
	heavy := `{"name":"x","targetUrl":"https://x.example/","conditions":{"operator":"AND","conditions":[` +
		strings.Join(conditions, ",") + `]}}`
	var saved *reply
	var list []string
	for {
		list = append(list, heavy)
		if saved = w.do("POST", base+"/routing-rules", heavy, ann); saved.StatusCode != 201 {
			break
		}
	}
	at := fmt.Sprintf("draft.rules.%d.", len(list)-1)
	if len(list) < 3 {
		t.Fatalf("only %d rules", len(list))
	}
	fresh := "/api/urls/" + w.create("fresh")
	got := problems(w.do("POST", fresh+"/explain", `{"draft":{"rules":[`+strings.Join(list, ",")+`]}}`, ann), "")
	if want := problems(saved, at); !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A saved draft leads visitors where its explanation said.
func TestExplain_draft_agrees_with_the_saved_link(t *testing.T) {
	w := small(t, withExplain)
	ann := as(w.ann)
	rules := []string{
		`{"name":"1","targetUrl":"https://one.example/","priority":1,"conditions":` + fromGermany + `}`,
		`{"name":"2","targetUrl":"https://two.example/",` +
			`"conditions":{"operator":"AND","conditions":[{"type":"percentage","operator":"less_than","value":50}]}}`,
		`{"name":"3","targetUrl":"https://three.example/","priority":1,` +
			`"conditions":{"operator":"OR","conditions":[{"type":"country","operator":"in","value":["DE","FR"]}]}}`,
	}
	id := w.create("abc")
	base := "/api/urls/" + id
	settings := `"utmCampaign":"spring","stickiness":"hash","defaultUrl":"https://default.example/"`
	explain := func(visit, draft string) string {
		t.Helper()
		if draft != "" {
			draft = `,"draft":` + draft
		}
		r := w.do("POST", base+"/explain", `{"userAgent":"curl/8","time":"2026-01-01",`+visit+draft+`}`, ann).want(200)
		return fmt.Sprint(r.str("outcome"), r.num("status"), r.str("destination.chosenBy"), r.str("destination.location"),
			r.num("visitor.percentile"))
	}
	visits := []string{`"country":"DE"`, `"country":"FR"`}
	for i := range 20 {
		visits = append(visits, fmt.Sprintf(`"ip":"198.51.%d.1"`, i))
	}
	draft := `{` + settings + `,"rules":[` + strings.Join(rules, ",") + `],"variants":[{"name":"A","targetUrl":"https://a.example/"}]}`
	var want []string
	for _, v := range visits {
		want = append(want, explain(v, draft))
	}
	w.do("PUT", base, `{`+settings+`}`, ann).want(200)
	for _, r := range rules {
		w.do("POST", base+"/routing-rules", r, ann).want(201)
	}
	w.do("POST", base+"/variants", `{"name":"A","targetUrl":"https://a.example/"}`, ann).want(201)
	seen := map[string]bool{}
	for i, v := range visits {
		if got := explain(v, ""); got != want[i] {
			t.Errorf("%s: %s, the draft said %s", v, got, want[i])
		}
		seen[strings.Fields(want[i])[0]] = true
	}
	if len(seen) < 3 {
		t.Errorf("the test is too easy: %v", seen)
	}
}

func TestExplain_new_links(t *testing.T) {
	w := small(t, withExplain)
	ann := as(w.ann)
	without := w.create("abc")
	w.do("POST", "/api/urls/"+without+"/explain/replay", `{"draft":{}}`, ann).want(503) // this world has no click store
	w.unchanged("explaining a new link", func() {
		r := w.do("POST", "/api/urls/explain",
			`{"country":"DE","draft":{"originalUrl":"https://own.example/","customSlug":"new-one","utmSource":"mail","rules":[`+
				activatedRule("")+
				`]}}`, ann).want(200)
		r.shows("destination.location", "https://x.example/?utm_source=mail", "destination.index", 0, "destination.ruleId", nil,
			"outcome", "REDIRECT")
		r = w.do("POST", "/api/urls/explain", `{"draft":{"originalUrl":"https://own.example/","isSmartRouting":false,"rules":[`+
			activatedRule("")+
			`],"variants":[{"name":"v","targetUrl":"https://v.example/"}]}}`, ann).want(200)
		r.shows("destination.location", "https://v.example/", "destination.index", 0)
		for body, field := range map[string]string{
			`{}`: "draft", `{"draft":{}}`: "draft.originalUrl", `{"draft":{"originalUrl":"x"}}`: "draft.originalUrl",
			`{"draft":{"originalUrl":"https://own.example/","customSlug":"a b"}}`:                                "draft.customSlug",
			`{"draft":{"originalUrl":"https://own.example/","domain":"go.acme.com"}}`:                            "draft.domain",
			`{"draft":{"originalUrl":"https://own.example/","expiresAt":"2020-01-01"}}`:                          "draft.expiresAt",
			`{"draft":{"originalUrl":"https://own.example/","rules":[{"id":"x",` + activatedRule("")[1:] + `]}}`: "draft.rules.0.id",
		} {
			w.do("POST", "/api/urls/explain", body, ann).wantField(field)
		}
		var all []json.RawMessage
		r = w.do("POST", "/api/urls/explain",
			`{"draft":{"originalUrl":"x","rules":[{"name":"","targetUrl":"y","conditions":{}}],"variants":[{"name":"","targetUrl":"z"}]}}`,
			ann).want(400)
		text, _ := json.Marshal(r.at("errors"))
		w.ok(json.Unmarshal(text, &all))
		if len(all) < 6 {
			t.Errorf("not all problems are reported together: %s", r.text)
		}
	})
}
