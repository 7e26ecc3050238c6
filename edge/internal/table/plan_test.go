package table_test

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/decision"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

const (
	onlyUTM  = `{"operator":"AND","conditions":[{"type":"utm_source","operator":"equals","value":"mail"}]}`
	otherUTM = `{"operator":"AND","conditions":[{"type":"utm_source","operator":"equals","value":"post"}]}`
	broken   = `{"operator":"AND","conditions":[{"type":"no such thing","operator":"equals","value":"x"}]}`
)

func TestSetAside(t *testing.T) {
	t.Parallel()
	smart := func(i int, conditions string) link.Record {
		r := plain(i)
		r.SmartRouting = true
		r.Rules = []link.Rule{{ID: link.ID{9}, Name: "r", Target: "https://rule.example", Conditions: []byte(conditions)}}
		return r
	}
	tab := empty(t)
	load(t, tab, snapshot.Cursor{Incarnation: 1, Revision: 100}, smart(1, onlyUTM), smart(2, broken), plain(3))
	rules := func(i int) int {
		e, ok := tab.Lookup([]byte(plain(i).Key))
		if !ok {
			t.Fatalf("link %d is gone", i)
		}
		if choose(tab, &e, facts{rule.FieldUTMSource: "mail"}, 0).Rule == choose(tab, &e, facts{rule.FieldUTMSource: "post"}, 0).Rule {
			return 0 // the rules have no effect
		}
		return len(e.Record().Rules)
	}
	if list, n := tab.SetAside(); n != 1 || len(list) != 1 || list[0].Slug != plain(2).Key ||
		!strings.Contains(list[0].Reason, "no such thing") {
		t.Fatalf("set aside: %v", list)
	}
	if rules(1) != 1 || rules(2) != 0 {
		t.Fatal("rules of a good link and of a broken one:", rules(1), rules(2))
	}

	// A change breaks a link's rules and turns the link off. The old rules stay; the rest of the change takes effect.
	worse := smart(1, broken)
	worse.Revision, worse.Inactive = 101, true
	apply(t, tab, snapshot.Delta{Upserts: []link.Record{worse}})
	e, _ := tab.Lookup([]byte(worse.Key))
	if !e.Inactive() || e.Revision() != 101 || rules(1) != 1 {
		t.Errorf("inactive %v, %d rules", e.Inactive(), rules(1))
	}
	if _, n := tab.SetAside(); n != 2 {
		t.Errorf("%d set aside", n)
	}
	if got := contents(t, tab)[worse.Key]; !reflect.DeepEqual(got, worse) {
		t.Error("the published form of a link set aside is lost")
	}
	// The same with a full document.
	load(t, tab, snapshot.Cursor{Incarnation: 1, Revision: 102}, worse, smart(2, broken), plain(3))
	if _, n := tab.SetAside(); n != 2 || rules(1) != 1 {
		t.Errorf("%d set aside, %d rules", n, rules(1))
	}

	better := smart(2, otherUTM)
	better.Revision = 103
	apply(t, tab, snapshot.Delta{Upserts: []link.Record{better}, Deletes: []snapshot.Tombstone{{Num: worse.Num, Key: worse.Key}}})
	if slugs, n := tab.SetAside(); n != 0 || rules(2) != 1 {
		t.Errorf("%v still set aside, %d rules", slugs, rules(2))
	}

	var many []link.Record
	for i := range 1500 {
		many = append(many, smart(i, broken))
	}
	load(t, tab, snapshot.Cursor{Incarnation: 1, Revision: 104}, many...)
	if slugs, n := tab.SetAside(); n != 1500 || len(slugs) != 100 || tab.Len() != 1500 {
		t.Errorf("%d of %d listed, %d links", len(slugs), n, tab.Len())
	}
}

type facts map[rule.Field]string

func (f facts) Fact(field rule.Field) string { return f[field] }
func (f facts) UnixMilli() int64             { return 0 }
func (f facts) Address() netip.Addr          { return netip.Addr{} }
func (f facts) Param(string) string          { return "" }
func (f facts) Share() uint64                { return 0 }

func TestCompiled_follows_the_revision(t *testing.T) {
	t.Parallel()
	tab := empty(t)
	r := everything()
	load(t, tab, snapshot.Cursor{Incarnation: 1, Revision: 100}, r)
	plan := func() *table.Plan {
		e, _ := tab.Lookup([]byte(r.Key))
		return tab.Compiled(&e)
	}
	choice := func(f facts) decision.Choice {
		e, _ := tab.Lookup([]byte(r.Key))
		return choose(tab, &e, f, 1<<63)
	}
	p := plan()
	if p != plan() {
		t.Error("compiled twice")
	}
	own := r
	own.Rules, own.Variants = nil, nil
	if !reflect.DeepEqual(p.Record, own) || choice(facts{}).Variant != r.Variants[0].ID {
		t.Errorf("%+v", p)
	}
	byRule := func(source string) bool {
		return choice(facts{rule.FieldUTMSource: source}) == decision.Choice{Target: r.Rules[0].Target, Rule: r.Rules[0].ID}
	}
	if !byRule("mail") || byRule("") {
		t.Error("the rule gives a wrong decision")
	}

	changed := everything()
	changed.Revision, changed.Rules[0].Conditions = 101, []byte(otherUTM)
	apply(t, tab, snapshot.Delta{Upserts: []link.Record{changed}})
	if !byRule("post") || byRule("mail") {
		t.Error("the rule is the old one")
	}
	// Another incarnation may use the same number and revision for another link.
	load(t, tab, snapshot.Cursor{Incarnation: 2, Revision: 101}, r)
	other := everything()
	other.Revision = 101
	load(t, tab, snapshot.Cursor{Incarnation: 3, Revision: 101}, other)
	if !byRule("mail") {
		t.Error("the rule belongs to another incarnation")
	}
	off := everything()
	off.Revision, off.SmartRouting, off.ABTesting = 105, false, false
	apply(t, tab, snapshot.Delta{Upserts: []link.Record{off}})
	if byRule("mail") || choice(facts{}).Target != off.Destination {
		t.Error("rules that are off were compiled")
	}
}

// With more plans than the cache can hold, each link still gets its own plan.
func TestCompiled_is_right_without_the_cache(t *testing.T) {
	t.Parallel()
	tab, err := table.New(table.Config{PlanBytes: 4096})
	testkit.Must(t, err)
	defer tab.Close()
	var records []link.Record
	for i := range 6000 {
		r := plain(i)
		r.ABTesting = true
		r.Variants = []link.Variant{{ID: link.ID{1}, Target: fmt.Sprint("https://v.example/", i), Weight: 1}}
		records = append(records, r)
	}
	load(t, tab, snapshot.Cursor{Incarnation: 1, Revision: 1}, records...)
	for range 3 {
		for i := range records {
			e, _ := tab.Lookup([]byte(records[i].Key))
			if p := tab.Compiled(&e); p.Record.Key != records[i].Key {
				t.Fatalf("link %d has the plan of %s", i, p.Record.Key)
			}
		}
	}
}

// When many visitors want a link that is not compiled, one of them compiles it and all get the result.
func TestCompiled_once_for_many_visitors(t *testing.T) {
	t.Parallel()
	tab := empty(t)
	r := everything()
	for i := range 90 { // so that the compilation takes some time
		r.Rules = append(r.Rules, link.Rule{ID: link.ID{9, byte(i)}, Name: "r", Target: "https://rule.example",
			Conditions: []byte(onlyUTM)})
	}
	for round := range uint64(50) {
		r.Revision = 100 + round
		load(t, tab, snapshot.Cursor{Incarnation: round + 1, Revision: r.Revision}, r)
		e, _ := tab.Lookup([]byte(r.Key))
		var all sync.WaitGroup
		plans := make([]*table.Plan, 16)
		for i := range plans {
			all.Go(func() { plans[i] = tab.Compiled(&e) })
		}
		all.Wait()
		for _, p := range plans {
			if p != plans[0] {
				t.Fatalf("round %d: the link was compiled more than once", round)
			}
		}
	}
}
