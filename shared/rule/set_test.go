package rule_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// first is the expected result of a Set: the programs one by one.
func first(programs []*rule.Program, v *visitor) int {
	return slices.IndexFunc(programs, func(p *rule.Program) bool { return p.Eval(v) })
}

// checkSet generates programs that share conditions, some of them constant, and compares their set with them for
// several random visitors.
func checkSet(t *testing.T, seed1, seed2 uint64) {
	t.Helper()
	a := author{rand.New(rand.NewPCG(seed1, seed2))}
	shared := []map[string]any{
		{"type": "time", "operator": "between", "value": map[string]any{"start": "00:00", "end": "23:59"}},
		{"type": "time", "operator": "between", "value": map[string]any{"start": "08:30", "end": "08:29", "timezone": "Asia/Kolkata"}},
		{"type": "time", "operator": "before", "value": "00:00"},
		{"type": "time", "operator": "after", "value": "23:59"},
	}
	for range pick(a, 2, 5, 20, 200) {
		shared = append(shared, a.leaf())
	}
	var group func(depth int) map[string]any
	group = func(depth int) map[string]any {
		var children []any
		for range 1 + a.IntN(3) {
			switch {
			case depth < 4 && a.IntN(3) == 0:
				children = append(children, group(depth+1))
			case a.IntN(5) == 0:
				children = append(children, a.leaf())
			default:
				children = append(children, pick(a, shared...))
			}
		}
		return map[string]any{"operator": pick(a, "AND", "OR"), "conditions": children}
	}
	programs := []*rule.Program{}
	for range pick(a, 0, 1, 3, 10, 60) {
		if a.IntN(20) == 0 {
			programs = append(programs, new(rule.Program))
			continue
		}
		src, err := json.Marshal(group(1))
		testkit.Must(t, err)
		programs = append(programs, compile(t, string(src), pick(a, time.UTC, time.FixedZone("odd", -12345), time.FixedZone("odd", 40000))))
	}
	s, flat := rule.NewSet(programs), new(rule.Set)
	b, hasFlat := s.AppendFlat([]byte("before")) // so that nothing is aligned
	if hasFlat {
		b = append(b, "after"...)
		rest, ok := rule.CheckFlat(b[6:], len(programs))
		if left := flat.Open(b[6:]); !ok || string(rest) != "after" || string(left) != "after" {
			t.Fatalf("%d programs, seeds %d and %d: the flat form is checked as %v, with %q and %q after it", len(programs), seed1, seed2,
				ok, rest, left)
		}
	}
	for range 16 {
		v := a.visitor()
		want := first(programs, v)
		if got := s.First(v); got != want {
			t.Fatalf("%d programs, seeds %d and %d, visitor %+v: %d, want %d", len(programs), seed1, seed2, *v, got, want)
		}
		if hasFlat {
			if got := flat.First(v); got != want {
				t.Fatalf("flat form of %d programs, seeds %d and %d, visitor %+v: %d, want %d", len(programs), seed1, seed2, *v, got, want)
			}
		}
	}
}

// FuzzCheckFlat changes flat forms. What CheckFlat accepts must be safe to use: no index is out of range, and each run ends.
func FuzzCheckFlat(f *testing.F) {
	f.Add(uint64(1), []byte{0, 0, 1})
	f.Add(uint64(7), []byte{0, 20, 255, 1, 3, 7})
	f.Fuzz(func(t *testing.T, seed uint64, changes []byte) {
		a := author{rand.New(rand.NewPCG(seed, 3))}
		var programs []*rule.Program
		for range 1 + seed%5 {
			src, err := json.Marshal(map[string]any{"operator": pick(a, "AND", "OR"), "conditions": []any{a.leaf(), a.leaf(), a.leaf()}})
			testkit.Must(t, err)
			programs = append(programs, compile(t, string(src), nil))
		}
		b, ok := rule.NewSet(programs).AppendFlat(nil)
		if !ok {
			return
		}
		for ; len(changes) >= 3; changes = changes[3:] {
			b[(int(changes[0])<<8|int(changes[1]))%len(b)] ^= changes[2]
		}
		if _, ok := rule.CheckFlat(b, len(programs)); !ok {
			return
		}
		var s rule.Set
		s.Open(b)
		for range 8 {
			if n := s.First(a.visitor()); n < -1 || n >= len(programs) {
				t.Errorf("program %d of %d", n, len(programs))
			}
		}
	})
}

// FuzzCheckFlat takes only what is close to a flat form. Nothing else may pass either.
func TestCheckFlat_refuses_other_bytes(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 9))
	good, _ := rule.NewSet([]*rule.Program{compile(t, leaf("os", "equals", `"iOS"`), nil)}).AppendFlat(nil)
	for n := range good {
		if _, ok := rule.CheckFlat(good[:n], 1); ok {
			t.Errorf("accepted when cut to %d bytes", n)
		}
	}
	if _, ok := rule.CheckFlat(good, 0); ok {
		t.Error("accepted a set that finds a program which does not exist")
	}
	b := make([]byte, 400)
	for range testkit.Size(20_000, 100_000) {
		for i := range b {
			b[i] = byte(random.Uint32()) >> (random.Uint32() % 9)
		}
		if _, ok := rule.CheckFlat(b, 3); ok {
			var s rule.Set
			s.Open(b)
			var v visitor
			s.First(&v)
		}
	}
}

func TestSet_answers_as_its_programs(t *testing.T) {
	t.Parallel()
	for seed := range testkit.Size[uint64](150, 600) {
		checkSet(t, seed, 2)
	}
}

func FuzzSet(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Add(uint64(3), uint64(5))
	f.Fuzz(checkSet)
}

// A set of more conditions than can be joined gives the same result.
func TestSet_too_large_to_be_joined(t *testing.T) {
	t.Parallel()
	never := compile(t, leaf("os", "equals", `"BeOS"`), nil)
	programs := slices.Repeat([]*rule.Program{never}, 40_000)
	programs[33_333] = compile(t, leaf("os", "equals", `"iOS"`), nil)
	var v visitor
	v.facts[rule.FieldOS] = "ios"
	if got := rule.NewSet(programs).First(&v); got != 33_333 {
		t.Errorf("%d", got)
	}
	if got := rule.NewSet(programs[:8_000]).First(&v); got != -1 {
		t.Errorf("%d", got)
	}
	var none rule.Set
	if got := none.First(&v); got != -1 {
		t.Errorf("%d of no programs", got)
	}
}

// More zones than an operand of a test can number.
func TestSet_of_many_zones(t *testing.T) {
	t.Parallel()
	v := visitor{now: at(t, "2026-03-04T12:00:30Z")}
	var programs []*rule.Program
	for i := range 300 {
		programs = append(programs,
			compile(t, `{"operator":"AND","conditions":[{"type":"time","operator":"between","value":{"start":"16:59","end":"16:59"}}]}`,
				time.FixedZone("odd", 60*i)))
	}
	for _, n := range []int{300, 250} {
		if got, want := rule.NewSet(programs[:n]).First(&v), first(programs[:n], &v); got != want {
			t.Errorf("%d zones: %d, want %d", n, got, want)
		}
	}
	if got := rule.NewSet(programs).First(&v); got != 299 {
		t.Errorf("%d", got)
	}
}

// askedVisitor counts the calls for each fact.
type askedVisitor struct {
	*visitor
	asked map[rule.Field]int
}

func (v askedVisitor) Fact(f rule.Field) string {
	v.asked[f]++
	return v.visitor.Fact(f)
}

func TestSet_asks_once(t *testing.T) {
	t.Parallel()
	v := askedVisitor{browsing(t), map[rule.Field]int{}}
	if got := rule.NewSet(tenRules(t)).First(v); got != 9 {
		t.Fatalf("rule %d", got)
	}
	// One condition on the device in all ten rules, and in each rule one on the language and one on the country.
	if got := fmt.Sprint(v.asked); got != fmt.Sprint(map[rule.Field]int{rule.FieldDevice: 1, rule.FieldLanguage: 10,
		rule.FieldCountry: 10}) {
		t.Errorf("asked for %v", got)
	}
}

// Not parallel: AllocsPerRun measures the whole process.
func TestSet_allocates_nothing(t *testing.T) {
	s, v := rule.NewSet(tenRules(t)), browsing(t)
	if n := testing.AllocsPerRun(100, func() { s.First(v) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkSet_ten_rules(b *testing.B) {
	s, v := rule.NewSet(tenRules(b)), browsing(b)
	b.ReportAllocs()
	for b.Loop() {
		s.First(v)
	}
}

func BenchmarkNewSet_ten_rules(b *testing.B) {
	programs := tenRules(b)
	b.ReportAllocs()
	for b.Loop() {
		rule.NewSet(programs)
	}
}
