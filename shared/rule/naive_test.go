package rule_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// naive decides an authored tree in the simplest way: encoding/json, recursion, strings.EqualFold on slices of runes,
// and package time. It expects trees that Parse accepts.
func naive(n map[string]any, v *visitor, zone *time.Location) bool {
	children, group := n["conditions"].([]any)
	if !group {
		children, group = n["items"].([]any)
	}
	if group {
		logic, ok := n["operator"].(string)
		if !ok {
			logic = n["logicalOperator"].(string)
		}
		matched := 0
		for _, c := range children {
			if naive(c.(map[string]any), v, zone) {
				matched++
			}
		}
		if strings.ToUpper(logic) == "OR" {
			return matched > 0
		}
		return matched == len(children)
	}

	typ, op := strings.ToLower(n["type"].(string)), strings.ToLower(n["operator"].(string))
	if typ == "time" || typ == "day_of_week" {
		return naiveClock(typ, op, n["value"], v, zone)
	}
	if decide, ok := naiveTypes[typ]; ok {
		return decide(op, n["value"], v, zone)
	}
	field := textFields[typ]
	if typ == "visitor" {
		field = rule.FieldVisitor
	}
	return naiveTexts(typ, op, n["value"], v.facts[field], v)
}

func naiveTexts(typ, op string, value any, fact string, v *visitor) bool {
	seen := []string{fact}
	if typ == "region" {
		seen = append(seen, v.facts[rule.FieldRegionName])
	}
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	positive, negated := strings.CutPrefix(op, "not_")
	found := false
	for _, s := range seen {
		for _, want := range list {
			found = found || s != "" && naiveText(positive, s, strings.TrimSpace(want.(string)))
		}
	}
	return found != negated
}

func naiveText(op, s, want string) bool {
	have, n := []rune(s), len([]rune(want))
	switch op {
	case "contains":
		for i := 0; i+n <= len(have); i++ {
			if strings.EqualFold(string(have[i:i+n]), want) {
				return true
			}
		}
		return false
	case "starts_with":
		return len(have) >= n && strings.EqualFold(string(have[:n]), want)
	case "ends_with":
		return len(have) >= n && strings.EqualFold(string(have[len(have)-n:]), want)
	default:
		return strings.EqualFold(string(have), want)
	}
}

func naiveClock(typ, op string, value any, v *visitor, zone *time.Location) bool {
	object, _ := value.(map[string]any)
	if name, _ := object["timezone"].(string); name != "" {
		loc, err := time.LoadLocation(name)
		if err != nil {
			panic(err)
		}
		zone = loc
	}
	now := time.UnixMilli(v.now).In(zone)
	if typ == "day_of_week" {
		if object != nil {
			value = object["days"]
		}
		list, ok := value.([]any)
		if !ok {
			list = []any{value}
		}
		found := false
		for _, day := range list {
			n, err := strconv.Atoi(fmt.Sprint(day))
			if err != nil {
				panic(err)
			}
			found = found || n%7 == int(now.Weekday())
		}
		return found != strings.HasPrefix(op, "not_")
	}
	clock := now.Format("15:04")
	text := func(key string) string {
		if object == nil {
			return strings.TrimSpace(value.(string))
		}
		s, _ := object[key].(string)
		return s
	}
	switch op {
	case "after":
		return clock > text("start")
	case "before":
		if text("start") == "" {
			return clock < text("end")
		}
		return clock < text("start")
	}
	start, end := text("start"), text("end")
	if start <= end {
		return start <= clock && clock <= end
	}
	return clock >= start || clock <= end
}

// author generates random trees and random visitors from few words, so that they often match.
type author struct{ *rand.Rand }

func pick[T any](a author, of ...T) T { return of[a.IntN(len(of))] }

func (a author) word() string {
	words := []string{"zh", "zh-TW", "ZH-tw", "iOS", "ios", "Σίσυφος", "ΣΊΣΥΦΟΣ", "σ", "ς", "k", "\u212A", "S", "\u017F",
		"aab", "aaab", "İ", "ı",
		"ẞ", "ß", "\uFFFD", "日本", "本", "a", "é", "É", "ab", "TW", "us", "California", "US-CA"}
	s := pick(a, words...)
	for a.IntN(3) == 0 {
		s += pick(a, words...)
	}
	return s
}

func (a author) leaf() map[string]any {
	typ := pick(a, allTypes...)
	n := map[string]any{"type": pick(a, typ, strings.ToUpper(typ))}
	value := func() any {
		switch typ {
		case "device":
			return pick(a, "MOBILE", "desktop", "Tablet ")
		case "country":
			return pick(a, "TW", "us", " jp")
		case "continent":
			return pick(a, "EU", "na", " As ")
		case "visitor":
			return pick(a, "new", "Returning", "NEW ")
		}
		return pick(a, "", " ", "\t") + a.word() + pick(a, "", " ")
	}
	op := pick(a, textOps...)
	zone := pick[any](a, nil, "", "UTC", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe")
	switch typ {
	case "time":
		op = pick(a, timeOps...)
		clock := func() string { return fmt.Sprintf("%02d:%02d", a.IntN(24), a.IntN(60)) }
		switch {
		case op == "between":
			n["value"] = map[string]any{"start": clock(), "end": clock(), "timezone": zone}
		case a.IntN(2) == 0:
			n["value"] = clock()
		case op == "before" && a.IntN(2) == 0:
			n["value"] = map[string]any{"end": clock(), "timezone": zone}
		default:
			n["value"] = map[string]any{"start": clock(), "timezone": zone}
		}
	case "day_of_week":
		op = pick(a, dayOps...)
		days := []any{a.IntN(8)}
		for strings.HasSuffix(op, "in") && a.IntN(3) > 0 {
			days = append(days, strconv.Itoa(a.IntN(8)))
		}
		n["value"] = pick[any](a, days, map[string]any{"days": days, "timezone": zone}, days)
		if len(days) == 1 && a.IntN(2) == 0 {
			n["value"] = days[0]
		}
	case "ip", "date", "percentage":
		op, n["value"] = a.special(typ)
	default:
		if typ == "visitor" {
			op = pick(a, dayOps...)
		}
		n["value"] = value()
		if strings.HasSuffix(op, "in") && a.IntN(4) > 0 {
			list := make([]any, 1+a.IntN(14))
			for i := range list {
				list[i] = value()
			}
			n["value"] = list
		}
	}
	if typ == "query" {
		n["value"] = map[string]any{"name": pick(a, a.param(), a.param()+" "), "value": n["value"]}
	}
	n["operator"] = pick(a, op, strings.ToUpper(op))
	return n
}

func (a author) group(depth int) map[string]any {
	children := make([]any, 1+a.IntN(3))
	for i := range children {
		if depth < 5 && a.IntN(3) == 0 {
			children[i] = a.group(depth + 1)
		} else {
			children[i] = a.leaf()
		}
	}
	return map[string]any{
		pick(a, "operator", "logicalOperator"): pick(a, "AND", "OR", "or", "And"),
		pick(a, "conditions", "items"):         children,
	}
}

func (a author) visitor() *visitor {
	v := &visitor{now: a.Int64N(4_000_000_000_000) - 1_000_000_000_000}
	for i := range v.facts {
		switch {
		case a.IntN(4) == 0:
		case i == int(rule.FieldDevice):
			v.facts[i] = pick(a, "MOBILE", "DESKTOP", "TABLET")
		case i == int(rule.FieldCountry):
			v.facts[i] = pick(a, "TW", "US", "JP")
		case i == int(rule.FieldContinent):
			v.facts[i] = pick(a, "EU", "NA", "AS")
		case i == int(rule.FieldVisitor):
			v.facts[i] = pick(a, rule.NewVisitor, rule.ReturningVisitor)
		default:
			v.facts[i] = a.word() + pick(a, "", "", "\xff", "\xe2\x82")
		}
	}
	a.describe(v)
	return v
}

// checkAgainstNaive compares one random tree with naive for several random visitors.
func checkAgainstNaive(t *testing.T, seed1, seed2 uint64) {
	t.Helper()
	a := author{rand.New(rand.NewPCG(seed1, seed2))}
	tree := a.group(1)
	src, err := json.Marshal(tree)
	testkit.Must(t, err)
	var authored map[string]any
	testkit.Must(t, json.Unmarshal(src, &authored))
	zone := pick(a, time.UTC, time.FixedZone("odd", -12345))
	g, err := rule.Parse(src)
	if err != nil {
		if strings.Contains(err.Error(), "at most 100 conditions") {
			return
		}
		t.Fatalf("Parse(%s): %v", src, err)
	}
	p, err := rule.Compile(g, rule.Options{Zone: zone})
	testkit.Must(t, err)
	for range 8 {
		v := a.visitor()
		want := naive(authored, v, zone)
		if got := p.Eval(v); got != want {
			t.Fatalf("%s\nfor %+v: %v, want %v", src, *v, got, want)
		}
		checkTrace(t, p.Explain(v), authored, v, zone)
	}
}

// checkTrace compares each node of a trace with naive, and Evaluated with what short-circuiting reaches.
func checkTrace(t *testing.T, trace rule.Trace, authored map[string]any, v *visitor, zone *time.Location) {
	t.Helper()
	var walk func(trace rule.Trace, n map[string]any, reached bool)
	walk = func(trace rule.Trace, n map[string]any, reached bool) {
		if want := naive(n, v, zone); trace.Matched != want || trace.Evaluated != reached {
			t.Fatalf("trace of %v: matched %v, evaluated %v; want %v, %v", n, trace.Matched, trace.Evaluated, want, reached)
		}
		children, ok := n["conditions"].([]any)
		if !ok {
			children, _ = n["items"].([]any)
		}
		for i, c := range children {
			walk(trace.Children[i], c.(map[string]any), reached)
			if trace.Children[i].Matched == (trace.LogicalOperator == "OR") {
				reached = false
			}
		}
	}
	walk(trace, authored, true)
}

func TestEval_agrees_with_a_naive_interpreter(t *testing.T) {
	t.Parallel()
	for seed := range uint64(1000) {
		checkAgainstNaive(t, seed, 1)
	}
}

func FuzzEval(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Add(uint64(3), uint64(5))
	f.Fuzz(checkAgainstNaive)
}

// Words of two letters repeat themselves in every way that can mislead a search.
func TestEval_contains_in_repetitive_text(t *testing.T) {
	t.Parallel()
	a := author{rand.New(rand.NewPCG(7, 7))}
	word := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(pick(a, "a", "b", "A"))
		}
		return b.String()
	}
	for range testkit.Size(150, 500) {
		want := word(1 + a.IntN(9))
		p := compile(t, leaf("city", "contains", `"`+want+`"`), nil)
		for range 40 {
			var v visitor
			v.facts[rule.FieldCity] = word(a.IntN(40))
			if got := p.Eval(&v); got != naiveText("contains", v.facts[rule.FieldCity], want) {
				t.Fatalf("%q contains %q: %v", v.facts[rule.FieldCity], want, got)
			}
		}
	}
}

// FuzzContains compares the linear search with a plain one.
func FuzzContains(f *testing.F) {
	f.Add("aabaab", "aab")
	f.Add("σίσυφος", "ΣΥΦ")
	f.Add("a\xff\xe2\x82b", "\uFFFD")
	f.Fuzz(func(t *testing.T, s, want string) {
		want = strings.TrimSpace(strings.ToValidUTF8(want, "\uFFFD"))
		if want == "" || len(want) > 512 || s == "" {
			return
		}
		value, err := json.Marshal(want)
		testkit.Must(t, err)
		for _, op := range textOps {
			var v visitor
			v.facts[rule.FieldReferer] = s
			positive, negated := strings.CutPrefix(op, "not_")
			if got, want := compile(t, leaf("referer", op, string(value)), nil).Eval(&v),
				naiveText(positive, s, want) != negated; got != want {
				t.Fatalf("%q %s %q: %v", s, op, value, got)
			}
		}
	})
}
