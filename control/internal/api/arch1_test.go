package api_test

import (
	"encoding/csv"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// 201 of 400 clicks are 50.25 %, which is exactly halfway between two rounded values. Every response must round it up.
func TestArch1_PercentagesAgree(t *testing.T) {
	w := newClickWorld(t, usual(t))
	id := w.create("halves")
	at := "/api/urls/" + id
	const condition = `"conditions":{"operator":"AND","conditions":[{"type":"country","operator":"equals","value":"DE"}]}`
	rules, variants := [2]string{}, [2]string{}
	for i := range 2 {
		rules[i] = w.do("POST", at+"/routing-rules",
			fmt.Sprintf(`{"name":"r%d","targetUrl":"https://r%d.example","priority":%d,%s}`, i, i, 9-i,
				condition), as(w.ann)).want(201).str("id")
		variants[i] = w.do("POST", at+"/variants", fmt.Sprintf(`{"name":"v%d","targetUrl":"https://v%d.example"}`, i, i), as(w.ann)).
			want(201).str("id")
	}
	l, err := w.store.FullLink(t.Context(), id)
	w.ok(err)
	batch := click.Batch{Lane: click.Lane{Edge: 7}, First: 1}
	add := func(n int, change func(*click.Event)) {
		for range n {
			batch.Count++
			e := click.Event{Seq: uint64(batch.Count), Time: reportDay.UnixMilli(), Link: l.Num, Owner: l.Workspace,
				IP: netip.MustParseAddr("192.0.2.1"), UserAgent: safari}
			change(&e)
			batch.Records = click.AppendRecord(batch.Records, &e)
		}
	}
	arm := func(i int) func(*click.Event) {
		return func(e *click.Event) {
			e.Rule, e.Variant = link.ID(uuid.MustParse(rules[i])), link.ID(uuid.MustParse(variants[i]))
			if i == 1 {
				e.UserAgent, e.Referer, e.UTM.Source = chrome, "https://news.example/", "mail"
			}
		}
	}
	add(201, arm(1))
	add(199, arm(0))
	w.ok(w.in.Deliver(t.Context(), &batch))
	testkit.Eventually(w.t, "counters hold all clicks", func() bool {
		return w.do("GET", at+"/routing-rules", "", as(w.ann)).want(200).num("totalMatches") == 400 &&
			w.do("GET", at+"/variants", "", as(w.ann)).
				want(200).num("totalClicks") == 400
	})

	pair := func(path, what, low, high string) {
		t.Helper()
		r := w.do("GET", path, "", as(w.ann)).want(200)
		if r.num(low) != 49.8 || r.num(high) != 50.3 {
			t.Errorf("%s: %v and %v, want 49.8 and 50.3: %s", what, r.num(low), r.num(high), r.text)
		}
	}
	report := "/api/analytics/urls/" + id
	pair(at+"/routing-rules", "list of rules", "stats.0.matchPercentage", "stats.1.matchPercentage")
	pair(at+"/variants", "list of variants", "stats.0.clickThroughRate", "stats.1.clickThroughRate")
	pair(report+"/routing", "report of rules", "rules.0.matchPercentage", "rules.1.matchPercentage")
	pair(report+"/ab-test", "report of a test", "variants.0.percentage", "variants.1.percentage")
	pair("/api/analytics/ab-tests", "report of tests", "tests.0.variants.0.actualPercentage", "tests.0.variants.1.actualPercentage")
	pair(report, "report, browsers", "browsers.1.percentage", "browsers.0.percentage")
	pair(report, "report, referers", "referers.1.percentage", "referers.0.percentage")
	w.do("GET", report, "", as(w.ann)).want(200).shows("utmSources.0.percentage", 50.3)
	sheet := csv.NewReader(strings.NewReader(w.do("GET", report+"/export", "", as(w.ann)).want(200).text))
	sheet.Comment, sheet.FieldsPerRecord = '#', -1
	rows, err := sheet.ReadAll()
	w.ok(err)
	for _, want := range [][]string{{"Chrome", "201", "50.3"}, {"Safari", "199", "49.8"}, {"https://news.example/", "201", "50.3"},
		{"mail", "201", "50.3"}} {
		if !slices.ContainsFunc(rows, func(row []string) bool { return slices.Equal(row, want) }) {
			t.Errorf("the export has no row %v", want)
		}
	}
}
