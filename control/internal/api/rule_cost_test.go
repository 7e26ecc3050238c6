package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/store"
)

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
