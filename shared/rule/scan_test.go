package rule_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// checkScan generates many conditions on one text, so that a scanner decides them, and compares each with naive. The
// words have few letters, so that they overlap and contain each other in every way.
func checkScan(t *testing.T, seed1, seed2 uint64) {
	t.Helper()
	a := author{rand.New(rand.NewPCG(seed1, seed2))}
	letters := pick(a, []string{"a", "b", "A"}, []string{"a", "b"}, []string{"Σ", "σ", "ς", "x"}, []string{"k", "\u212A", "\uFFFD", "ⰰ"},
		[]string{"a", "б", "Б", "日"})
	word := func(most int) string { return a.letters(letters, 1+a.IntN(most)) }
	typ := pick(a, "city", "region", "referer", "utm_source", "language")
	var leaves []map[string]any
	for range 40 + a.IntN(20) {
		n := map[string]any{"type": typ, "operator": pick(a, textOps...), "value": word(9)}
		if strings.HasSuffix(n["operator"].(string), "in") {
			list := make([]any, 1+a.IntN(20))
			for i := range list {
				list[i] = word(5)
			}
			n["value"] = list
		}
		leaves = append(leaves, n)
	}
	sources := make([]*rule.Program, len(leaves))
	trees := make([]map[string]any, len(leaves))
	for i, leaf := range leaves {
		src, err := json.Marshal(map[string]any{"operator": "AND", "conditions": []any{leaf}})
		testkit.Must(t, err)
		testkit.Must(t, json.Unmarshal(src, &trees[i]))
		sources[i] = compile(t, string(src), nil)
	}
	visitors := make([]*visitor, 6)
	for i := range visitors {
		v := &visitor{}
		for f := range v.facts {
			if a.IntN(5) > 0 {
				v.facts[f] = a.letters(append(letters, "\xff", "\xe2\x82"), a.IntN(12))
			}
		}
		visitors[i] = v
	}
	// Each condition is first once, so that its own result shows.
	for i := range leaves {
		s := rule.NewSet(append(append([]*rule.Program{}, sources[i:]...), sources[:i]...))
		if s.Scanners() != 1 {
			t.Fatalf("%d scanners for %d conditions on %s", s.Scanners(), len(leaves), typ)
		}
		for _, v := range visitors {
			want := -1
			for k := range trees {
				if naive(trees[(i+k)%len(trees)], v, time.UTC) {
					want = k
					break
				}
			}
			if got := s.First(v); got != want {
				t.Fatalf("seeds %d and %d, condition %v first, visitor %q: %d, want %d", seed1, seed2, leaves[i], v.facts, got, want)
			}
		}
	}
}

func TestSet_scans_as_a_naive_interpreter_decides(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		checkScan(t, seed, 3)
	}
}

func FuzzScan(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Add(uint64(3), uint64(5))
	f.Fuzz(checkScan)
}

// Not parallel: AllocsPerRun measures the whole process.
func TestSet_scanning_allocates_nothing(t *testing.T) {
	programs, _, visitors := worst(t, attacks()["contains, letters of 2 bytes, 3 of them"])
	s := rule.NewSet(programs)
	if s.Scanners() == 0 {
		t.Fatal("nothing is scanned")
	}
	if n := testing.AllocsPerRun(20, func() { s.First(visitors[0]) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A few conditions, as in nearly all links, are compared one by one.
func TestSet_of_few_conditions_has_no_scanner(t *testing.T) {
	t.Parallel()
	if n := rule.NewSet(tenRules(t)).Scanners(); n != 0 {
		t.Errorf("%d scanners", n)
	}
}

// The estimate includes what other groups cost, and the error names the condition that exceeds the limit alone.
func TestH2_WorkNamesTheCondition(t *testing.T) {
	t.Parallel()
	a := author{rand.New(rand.NewPCG(2, 2))}
	group := func(leaves int) *rule.Group {
		inner := make([]any, leaves)
		for i := range inner {
			list := make([]any, 300)
			for k := range list {
				list[k] = a.letters(alphabets[0], 60)
			}
			inner[i] = map[string]any{"type": "referer", "operator": "in", "value": list}
		}
		src, err := json.Marshal(map[string]any{"operator": "OR", "conditions": []any{
			map[string]any{"type": "os", "operator": "equals", "value": "iOS"},
			map[string]any{"logicalOperator": "AND", "items": inner}}})
		testkit.Must(t, err)
		g, err := rule.Parse(src)
		testkit.Must(t, err)
		return g
	}
	var work rule.Work
	if err := work.Add(group(15)); err != nil || work.Nanoseconds() > rule.MaxWork || work.Nanoseconds() < rule.MaxWork/2 {
		t.Fatalf("15 lists: %v, %d", err, work.Nanoseconds())
	}
	if err := work.Add(group(15)); err != nil || work.Nanoseconds() <= rule.MaxWork {
		t.Errorf("15 more: %v, %d", err, work.Nanoseconds())
	}
	work = rule.Work{}
	err := work.Add(group(40))
	if problems, ok := err.(rule.Problems); !ok || len(problems) != 1 || problems[0].Path != "conditions.conditions.1.items.24.value" ||
		!strings.Contains(problems[0].Message, "1000 µs") {
		t.Errorf("40 lists: %v", err)
	}
}
