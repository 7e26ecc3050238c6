package decision_test

import (
	"math"
	"net/netip"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/decision"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// visitor is a visitor with given facts. Crawler may be called only if the answer matters.
type visitor struct {
	facts   map[rule.Field]string
	now     int64
	crawler bool
	asked   *bool
}

func (v visitor) Fact(f rule.Field) string { return v.facts[f] }
func (v visitor) UnixMilli() int64         { return v.now }
func (v visitor) Address() netip.Addr      { return netip.Addr{} }
func (v visitor) Param(string) string      { return "" }
func (v visitor) Share() uint64            { return 0 }
func (v visitor) Crawler() bool {
	if v.asked != nil {
		*v.asked = true
	}
	return v.crawler
}

func TestBarrier_order(t *testing.T) {
	t.Parallel()
	preview := link.Preview{Title: "a title"}
	for name, q := range map[string]struct {
		r       link.Record
		crawler bool
		want    decision.Outcome
	}{
		"nothing":                     {link.Record{}, true, decision.Follow},
		"inactive":                    {link.Record{Inactive: true, PasswordHash: "x", Preview: preview}, true, decision.Gone},
		"expires now":                 {link.Record{ExpiresAt: 1000, PasswordHash: "x"}, false, decision.Ended},
		"inactive and expired":        {link.Record{Inactive: true, ExpiresAt: 1000}, false, decision.Gone},
		"starts now":                  {link.Record{StartsAt: 1000}, false, decision.Follow},
		"starts next":                 {link.Record{StartsAt: 1001, Inactive: true, PasswordHash: "x"}, false, decision.Absent},
		"expires next":                {link.Record{ExpiresAt: 1001}, false, decision.Follow},
		"password before the preview": {link.Record{PasswordHash: "x", Preview: preview}, true, decision.AskPassword},
		"preview":                     {link.Record{Preview: preview}, true, decision.Preview},
		"preview, but a person":       {link.Record{Preview: preview}, false, decision.Follow},
	} {
		asked := false
		got := decision.BarrierOf(&q.r).Meet(visitor{now: 1000, crawler: q.crawler, asked: &asked})
		if got != q.want {
			t.Errorf("%s: %d, want %d", name, got, q.want)
		}
		if asked && (q.r.Preview.IsZero() || q.r.PasswordHash != "") {
			t.Errorf("%s: Crawler was called without need", name)
		}
	}
}

func TestBarrier_exhausted_links_have_ended_for_everybody(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]decision.Barrier{
		"password": {Exhausted: true, HasPassword: true},
		"preview":  {Exhausted: true, HasPreview: true},
	} {
		if got := b.Meet(visitor{now: 1000, crawler: true}); got != decision.Ended {
			t.Errorf("%s: %d, want Ended", name, got)
		}
	}
	if got := (decision.Barrier{Exhausted: true, Inactive: true}).Meet(visitor{}); got != decision.Gone {
		t.Errorf("inactive and exhausted: %d, want Gone", got)
	}
}

const fromDE = `{"operator":"AND","conditions":[{"type":"country","operator":"equals","value":"DE"}]}`

func record() link.Record {
	return link.Record{
		Destination: "https://own.example/", Default: "https://default.example/", SmartRouting: true, ABTesting: true,
		Rules: []link.Rule{
			{ID: link.ID{1}, Name: "first", Target: "https://first.example/", Conditions: []byte(fromDE)},
			{ID: link.ID{2}, Name: "second", Target: "https://second.example/", Conditions: []byte(fromDE)},
		},
		Variants: []link.Variant{{ID: link.ID{3}, Target: "https://a.example/", Weight: 1}, {ID: link.ID{4}, Target: "https://b.example/",
			Weight: 3}},
	}
}

func TestChoose_order(t *testing.T) {
	t.Parallel()
	german := visitor{facts: map[rule.Field]string{rule.FieldCountry: "DE"}}
	for name, q := range map[string]struct {
		change func(*link.Record)
		who    visitor
		draw   uint64
		want   decision.Choice
	}{
		"the first rule that matches": {func(*link.Record) {
		}, german, 0, decision.Choice{Target: "https://first.example/", Rule: link.ID{1}}},
		"no rule: a variant": {func(*link.Record) {}, visitor{}, math.MaxUint64, decision.Choice{Target: "https://b.example/",
			Variant: link.ID{4}}},
		"routing off: a variant": {func(r *link.Record) { r.SmartRouting = false }, german, 0,
			decision.Choice{Target: "https://a.example/", Variant: link.ID{3}}},
		"no variants: the default": {func(r *link.Record) { r.ABTesting = false }, visitor{}, 0,
			decision.Choice{Target: "https://default.example/"}},
		"no weight: the default": {func(r *link.Record) { r.Variants[0].Weight, r.Variants[1].Weight = 0, 0 }, visitor{}, 0,
			decision.Choice{Target: "https://default.example/"}},
		"no default": {func(r *link.Record) { r.ABTesting, r.Default = false, "" }, visitor{}, 0,
			decision.Choice{Target: "https://own.example/"}},
		"a default without routing": {func(r *link.Record) { r.ABTesting, r.SmartRouting = false, false }, german, 0,
			decision.Choice{Target: "https://own.example/"}},
	} {
		r := record()
		q.change(&r)
		p, err := decision.Compile(&r, rule.Options{})
		testkit.Must(t, err)
		compact := p.Compact()
		for form, p := range map[string]*decision.Plan{"whole": &p, "compact": &compact} {
			if got := p.Choose(q.who, q.draw); got != q.want {
				t.Errorf("%s, %s: %+v, want %+v", name, form, got, q.want)
			}
		}
	}
}

// Not parallel: it measures the heap of the whole process.
func TestCompact_is_few_pieces_of_memory(t *testing.T) {
	r := record()
	r.Key, r.Title, r.PasswordHash = "a-slug", "a title", "a hash"
	r.UTM, r.Preview = link.UTM{Campaign: "spring"}, link.Preview{Title: "shown"}
	for len(r.Rules) < 10 {
		r.Rules = append(r.Rules, r.Rules[0])
	}
	whole, err := decision.Compile(&r, rule.Options{})
	testkit.Must(t, err)
	own := r
	own.Rules, own.Variants = nil, nil
	if c := whole.Compact(); !reflect.DeepEqual(c.Record, own) || len(c.Rules) != 0 {
		t.Errorf("%+v", c)
	}
	onHeap := func() (objects, bytes int) {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapObjects), int(m.HeapAlloc)
	}
	const n = 2000
	plans := make([]*decision.Plan, n)
	objects, bytes := onHeap()
	for i := range plans {
		p, err := decision.Compile(&r, rule.Options{})
		testkit.Must(t, err)
		c := p.Compact()
		plans[i] = &c
	}
	objectsThen, bytesThen := onHeap()
	if each := float64(objectsThen-objects) / n; each > 10 {
		t.Errorf("%.1f allocations per plan", each)
	}
	// Caches rely on this estimate.
	if each, size := (bytesThen-bytes)/n, plans[0].Size(); size < each*2/3 || size > each*3/2 {
		t.Errorf("%d bytes per plan, but Size returns %d", each, size)
	}
	runtime.KeepAlive(plans)
}

// Links whose rules need nothing special must not pay for those that do.
func TestPlan_Needs(t *testing.T) {
	t.Parallel()
	conditions := func(typ, op, value string) []byte {
		return []byte(`{"operator":"AND","conditions":[{"type":"` + typ + `","operator":"` + op + `","value":` + value + `}]}`)
	}
	for _, c := range []struct {
		conditions []byte
		want       rule.Needs
	}{
		{[]byte(fromDE), 0},
		{conditions("ip", "in", `"192.0.2.1"`), 0},
		{conditions("query", "equals", `{"name":"a","value":"b"}`), rule.NeedsQuery},
		{conditions("visitor", "equals", `"new"`), rule.NeedsVisitor},
		{conditions("percentage", "less_than", `50`), rule.NeedsShare},
		{conditions("percentage", "less_than", `100`), 0},
	} {
		r := link.Record{SmartRouting: true, Rules: []link.Rule{{Conditions: []byte(fromDE)}, {Conditions: c.conditions}}}
		for _, on := range []bool{true, false} {
			r.SmartRouting = on
			p, err := decision.Compile(&r, rule.Options{})
			testkit.Must(t, err)
			want := c.want
			if !on {
				want = 0
			}
			if compact := p.Compact(); p.Needs() != want || compact.Needs() != want {
				t.Errorf("%s, in use %v: %b and %b, want %b", c.conditions, on, p.Needs(), compact.Needs(), want)
			}
		}
	}
}

func TestCompile_refuses_what_is_no_rule(t *testing.T) {
	t.Parallel()
	r := record()
	r.Rules[1].Conditions = []byte(`{}`)
	if _, err := decision.Compile(&r, rule.Options{}); err == nil || !strings.Contains(err.Error(), "rule 1") {
		t.Errorf("%v", err)
	}
}

func TestArms_draw_by_weight(t *testing.T) {
	t.Parallel()
	for _, weights := range [][]uint32{{1}, {50, 50}, {0, 7, 0, 93}, {100, 1, 1}, {10, 20, 30, 40, 0}, {33, 33, 34}, {0, 0}, {}} {
		r := link.Record{ABTesting: true}
		for _, w := range weights {
			r.Variants = append(r.Variants, link.Variant{Weight: w})
		}
		p, err := decision.Compile(&r, rule.Options{})
		testkit.Must(t, err)
		// Evenly spaced values instead of random ones: the shares must match exactly.
		const draws = 1 << 20
		got, total := make([]int, len(weights)), 0
		for i := range uint64(draws) {
			if v := p.Variants.Draw(i<<44 | 1<<43); v >= 0 {
				got[v]++
				total++
			}
		}
		var sum float64
		for i := range weights {
			chance := 0.0
			if weight, total := decision.Odds(r.Variants, i); total > 0 {
				chance = float64(weight) / float64(total)
			}
			sum += chance
			if math.Abs(float64(got[i])-chance*draws) > float64(len(weights)+1) {
				t.Errorf("weights %v: variant %d was drawn %d times, want a share of %f", weights, i, got[i], chance)
			}
		}
		if total != 0 && total != draws || math.Abs(sum-float64(total)/draws) > 1e-9 {
			t.Errorf("weights %v: %d of %d drawn, the chances add up to %f", weights, total, draws, sum)
		}
		for _, random := range []uint64{0, math.MaxUint64} {
			if v := p.Variants.Draw(random); v >= 0 && weights[v] == 0 {
				t.Errorf("weights %v: %d was drawn", weights, v)
			}
		}
	}
}

func TestHome(t *testing.T) {
	t.Parallel()
	for base, q := range map[string]struct{ here, elsewhere []string }{
		"https://Sho.rt": {
			[]string{"https://sho.rt", "http://SHO.RT:8443/x", "https://user:pw@sho.rt./?a", "https://sho.rt\\x", "https://sho.rt#f"},
			[]string{"https://sho.rtx/", "https://x.sho.rt/", "https://sho.rt@else.example/", "sho.rt", "", ":", "x:/", "https:"},
		},
		"http://localhost:8080": {[]string{"http://localhost:8080/x"}, []string{"http://localhost/x", "http://localhost:80"}},
		"http://127.0.0.1": {[]string{"http://127.0.0.1:80/", "http://127.0.0.1"},
			[]string{"https://127.0.0.1", "http://127.0.0.1:81"}},
		"https://[2001:db8::1]/": {[]string{"https://[2001:DB8::1]/x", "https://[2001:db8::1]:443"}, []string{"https://[2001:db8::2]/"}},
	} {
		h, err := decision.ParseHome(base)
		testkit.Must(t, err)
		for _, u := range q.here {
			if !h.Has(u) {
				t.Errorf("%s is not at %s", u, base)
			}
		}
		for _, u := range q.elsewhere {
			if h.Has(u) {
				t.Errorf("%s is at %s", u, base)
			}
		}
	}
	for _, base := range []string{"", "sho.rt", "ftp://sho.rt", "https://", "%"} {
		if _, err := decision.ParseHome(base); err == nil {
			t.Errorf("%q was accepted", base)
		}
	}
}

// Not parallel: AllocsPerRun measures the whole process.
func TestDecisions_allocate_nothing(t *testing.T) {
	r := record()
	p, err := decision.Compile(&r, rule.Options{})
	testkit.Must(t, err)
	v := &visitor{facts: map[rule.Field]string{rule.FieldCountry: "FR"}}
	h, _ := decision.ParseHome("https://sho.rt")
	if n := testing.AllocsPerRun(100, func() {
		if decision.BarrierOf(&p.Record).Meet(v) == decision.Follow && h.Has(p.Choose(v, 1<<63).Target) {
			t.Error("a loop")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkChoose(b *testing.B) {
	r := record()
	p, err := decision.Compile(&r, rule.Options{})
	testkit.Must(b, err)
	v := &visitor{facts: map[rule.Field]string{rule.FieldCountry: "FR"}}
	b.ReportAllocs()
	for b.Loop() {
		p.Choose(v, 1<<63)
	}
}
