package alerts_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/manage/alerts"
	"github.com/shortline/shortline/control/internal/manage/tags"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// ruleOf makes a rule with more than causes.
func (w *world) ruleOf(in alerts.RuleInput) store.AlertRule {
	w.Helper()
	name := "Rule"
	in.Name = &name
	r, err := w.service.CreateRule(w.Context(), w.ann, in)
	testkit.Must(w, err)
	return r
}

// tag gives links a tag.
func (w *world) tag(name string, links ...*store.Link) {
	w.Helper()
	of := map[uint64][]string{}
	for _, u := range links {
		of[u.Num] = []string{name}
	}
	w.tx(func(tx *store.Tx) error { return tx.SetTags(w.Context(), w.ann.Workspace.Num, of) })
}

// A rule with tags looks at the links with one of them, for every cause of links. It follows a tag to its new name, and to the links that
// get it or lose it.
func TestLook_tags(t *testing.T) {
	each(t, func(w *world) {
		spring, autumn, other := w.link("spring"), w.link("autumn"), w.link("other")
		w.tag("Spring", spring)
		w.tag("Autumn", autumn)
		w.breakDestination(spring, other)
		for i, u := range []*store.Link{spring, autumn, other} {
			w.exec(`UPDATE urls SET expires_at = ?, max_clicks = 10, limit_since = 1, limit_base = 9 WHERE num = ?`,
				w.now().AddDate(0, 0, i+1).UnixMilli(), u.Num)
		}
		r := w.ruleOf(alerts.RuleInput{Causes: &[]string{"destination", "expiry", "exhaustion"}, Tags: &[]string{"SPRING", "autumn"}})
		testkit.Equal(w, strings.Join(r.Tags, " "), "Spring Autumn", "tags of the rule")
		w.work()
		testkit.Equal(w, strings.Join(w.alerts("open"), "\n"), strings.Join([]string{"A destination on shop.example is broken: the page does not exist (404).",
			"A link ends on 3 December 2026 (UTC).", "A link ends on 4 December 2026 (UTC).",
			"The link autumn has had at least 90 % of its 10 clicks.", "The link spring has had at least 90 % of its 10 clicks."}, "\n"), "open alerts")
		list, _, err := w.service.List(w.Context(), w.ann, alerts.Query{Kind: alerts.Destination, Limit: 10})
		testkit.Must(w, err)
		testkit.Equal(w, strings.Join(list[0].Links, " "), spring.ID, "links of the alert")

		tag, err := w.store.TagByName(w.Context(), w.ann.Workspace.Num, "spring")
		testkit.Must(w, err)
		name := "Winter"
		_, err = tags.New(w.store).Update(w.Context(), w.ann, tag.ID, tags.Input{Name: &name})
		testkit.Must(w, err)
		rules, _, err := w.service.ListRules(w.Context(), w.ann, 0, 10)
		testkit.Must(w, err)
		testkit.Equal(w, strings.Join(rules[0].Tags, " "), "Winter Autumn", "tags of the rule after one was renamed")
		w.work()
		testkit.Equal(w, w.events(), "5 fired, 0 resolved", "events after a tag was renamed")

		w.tag("Winter", other)
		w.tag("elsewhere", spring, autumn)
		w.work()
		testkit.Equal(w, w.events(), "7 fired, 4 resolved", "events after the tags of links have changed")
		testkit.Must(w, tags.New(w.store).Delete(w.Context(), w.ann, tag.ID))
		w.work()
		testkit.Equal(w, len(w.alerts("open")), 0, "open alerts of a rule whose tags are gone")

		// A rule whose tags are gone does not become one about all links, and can still be changed.
		kept := []string{"Winter"}
		changed, err := w.service.UpdateRule(w.Context(), w.ann, r.ID, alerts.RuleInput{Tags: &kept})
		testkit.Must(w, err)
		testkit.Equal(w, strings.Join(changed.Tags, " "), "Winter", "tags that are gone")
	})
}

// Of the links of a workspace, a rule about unusual clicks with a tag watches those with the tag.
func TestLook_judges_clicks_of_tags(t *testing.T) {
	each(t, func(w *world) {
		tagged, other := w.link("tagged"), w.link("other")
		w.tag("Spring", tagged)
		begin := w.now().Truncate(time.Hour)
		w.clicks.of = func(link uint64, at time.Time) int64 {
			if !at.Before(begin) {
				return 500
			}
			return 30
		}
		w.ruleOf(alerts.RuleInput{Causes: &[]string{"clicks"}, Tags: &[]string{"Spring"}})
		for range 12 {
			w.work()
			w.pass(time.Hour)
		}
		list, total, err := w.service.List(w.Context(), w.ann, alerts.Query{Limit: 10})
		testkit.Must(w, err)
		if total != 1 || strings.Join(list[0].Links, " ") != tagged.ID {
			w.Errorf("%d alerts: %+v; the other link is %s", total, list, other.ID)
		}
	})
}

// Each limit decides on its own whether the same clicks fire.
func TestLook_thresholds_of_clicks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t))
	up, down := w.link("up"), w.link("down")
	begin := w.now().Truncate(time.Hour)
	w.clicks.of = func(link uint64, at time.Time) int64 {
		switch {
		case at.Before(begin):
			return 100
		case link == up.Num:
			return 180 // 80 % more
		case link == down.Num:
			return 30 // 70 % fewer
		}
		return 100
	}
	n := func(v int64) *int64 { return &v }
	s := func(v string) *string { return &v }
	want := map[string]string{}
	for name, c := range map[string]struct {
		in   alerts.RuleInput
		want string
	}{
		"default":                 {alerts.RuleInput{}, "down"},
		"rise of 50 %":            {alerts.RuleInput{MinRise: n(50)}, "down up"},
		"fall of 80 %":            {alerts.RuleInput{MinFall: n(80)}, ""},
		"only above":              {alerts.RuleInput{MinRise: n(50), Direction: s("above")}, "up"},
		"only below":              {alerts.RuleInput{MinRise: n(50), Direction: s("below")}, "down"},
		"more clicks than differ": {alerts.RuleInput{MinRise: n(50), MinClicks: n(100_000)}, ""},
		"less sensitive":          {alerts.RuleInput{MinRise: n(50), Sensitivity: s("low")}, "down"},
		"more sensitive":          {alerts.RuleInput{MinRise: n(50), Sensitivity: s("high")}, "down up"},
	} {
		c.in.Causes = &[]string{"clicks"}
		want[w.ruleOf(c.in).ID] = name + ": " + c.want
	}
	for range 30 {
		w.work()
		w.pass(time.Hour)
	}
	for id, want := range want {
		list, _, err := w.service.List(t.Context(), w.ann, alerts.Query{RuleID: id, Limit: 10})
		testkit.Must(t, err)
		slugs := map[string]bool{}
		for _, a := range list {
			slugs[map[string]string{up.ID: "up", down.ID: "down"}[a.Links[0]]] = true
		}
		name, _, _ := strings.Cut(want, ":")
		testkit.Equal(t, name+": "+strings.Join(slices.Sorted(maps.Keys(slugs)), " "), want, "links that fired")
	}
}

// The share after which a link is nearly exhausted is that of the rule.
func TestLook_threshold_of_exhaustion(t *testing.T) {
	each(t, func(w *world) {
		w.exec(`UPDATE urls SET max_clicks = 10, limit_since = 1, limit_base = 6 WHERE num = ?`, w.link("limited").Num)
		share := int64(60)
		w.ruleOf(alerts.RuleInput{Causes: &[]string{"exhaustion"}})
		w.ruleOf(alerts.RuleInput{Causes: &[]string{"exhaustion"}, Exhaustion: &share})
		w.work()
		testkit.Equal(w, strings.Join(w.alerts(""), "\n"), "The link limited has had at least 60 % of its 10 clicks.", "alerts")
	})
}

// Wrong limits and tags are refused with the name of the field, and change nothing.
func TestRules_refuse_wrong_input(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t))
	w.tag("Spring", w.link("one"))
	id := w.link("two").ID
	r := w.ruleOf(alerts.RuleInput{Causes: &[]string{"clicks"}, Tags: &[]string{"Spring"}})
	n := func(v int64) *int64 { return &v }
	s := func(v string) *string { return &v }
	for i, c := range []struct {
		field string
		in    alerts.RuleInput
	}{
		{"exhaustionPercent", alerts.RuleInput{Exhaustion: n(100)}}, {"exhaustionPercent", alerts.RuleInput{Exhaustion: n(0)}},
		{"minRisePercent", alerts.RuleInput{MinRise: n(9)}}, {"minRisePercent", alerts.RuleInput{MinRise: n(10_001)}},
		{"minFallPercent", alerts.RuleInput{MinFall: n(101)}}, {"minClicks", alerts.RuleInput{MinClicks: n(0)}},
		{"minClicks", alerts.RuleInput{MinClicks: n(-1 << 62)}}, {"sensitivity", alerts.RuleInput{Sensitivity: s("extreme")}},
		{"direction", alerts.RuleInput{Direction: s("")}}, {"tags", alerts.RuleInput{Tags: &[]string{"nobody's"}}},
		{"tags.0", alerts.RuleInput{Tags: &[]string{strings.Repeat("x", 41)}}}, {"tags", alerts.RuleInput{LinkID: &id}},
		{"days", alerts.RuleInput{Days: n(91)}},
	} {
		_, err := w.service.UpdateRule(t.Context(), w.ann, r.ID, c.in)
		if !problem.Is(err, problem.Invalid) || !strings.Contains(fmt.Sprintf("%+v", err), c.field) {
			t.Errorf("%d, %s: %v", i, c.field, err)
		}
	}
	after, _, err := w.service.ListRules(t.Context(), w.ann, 0, 10)
	testkit.Must(t, err)
	testkit.Equal(t, fmt.Sprintf("%+v", after[0]), fmt.Sprintf("%+v", r), "rule after wrong changes")
}
