package rule_test

import (
	"cmp"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// tenRules are rules of a typical busy link: nested, on device, country, language and time. Only the last one matches
// the visitor of browsing.
func tenRules(t testing.TB) []*rule.Program {
	countries := []string{"DE", "FR", "JP", "KR", "BR", "IN", "GB", "CA", "AU", "US"}
	var all []*rule.Program
	for i, country := range countries {
		all = append(all, compile(t, fmt.Sprintf(`{"operator":"AND","conditions":[
			{"type":"device","operator":"in","value":["MOBILE","TABLET"]},
			{"operator":"OR","conditions":[
				{"type":"language","operator":"starts_with","value":"xx-%d"},
				{"type":"country","operator":"in","value":["%s","NZ","ZA","MX","ES"]}]},
			{"logicalOperator":"AND","items":[
				{"type":"time","operator":"between","value":{"start":"08:00","end":"20:00","timezone":"America/New_York"}},
				{"type":"day_of_week","operator":"in","value":[1,2,3,4,5]}]}]}`, i, country), nil))
	}
	return all
}

func browsing(t testing.TB) *visitor {
	v := &visitor{now: at(t, "2026-03-04T15:00:00Z")}
	v.facts[rule.FieldDevice], v.facts[rule.FieldCountry], v.facts[rule.FieldLanguage] = "MOBILE", "US", "en-US"
	v.facts[rule.FieldReferer] = "https://www.example.com/some/page?with=query"
	v.facts[rule.FieldCity], v.facts[rule.FieldRegionName] = "São Paulo", "Österreich"
	return v
}

func TestEval_allocates_nothing(t *testing.T) {
	v := browsing(t)
	programs := tenRules(t)
	for i, p := range programs {
		if p.Eval(v) != (i == len(programs)-1) {
			t.Fatalf("rule %d decides wrongly", i)
		}
	}
	for _, typ := range allTypes {
		for _, op := range textOps {
			src := leaf(typ, op, cmp.Or(validValues[typ], `"PAULO ö ß"`))
			if _, err := rule.Parse([]byte(src)); err == nil { // the type has this operator
				programs = append(programs, compile(t, src, nil))
			}
		}
	}
	programs = append(programs, compile(t, leaf("city", "in", `["são paulo x","Ö","SÃO PAULO"]`), nil))
	for _, src := range []string{
		leaf("ip", "in", `["10.0.0.0/8","2001:db8::/32"]`), leaf("date", "between", `{"start":"2026-12-24","end":"2026-12-26"}`),
		leaf("visitor", "equals", `"new"`), leaf("percentage", "less_than", `12.5`),
	} {
		programs = append(programs, compile(t, src, nil))
	}
	v.ip, v.params = netip.MustParseAddr("192.0.2.1"), map[string]string{"ref": "São Paulo"}
	past := *v
	past.now = -5_000_000_000_000 // outside the zones' tables
	for _, v := range []*visitor{v, &past} {
		if n := testing.AllocsPerRun(100, func() {
			for _, p := range programs {
				p.Eval(v)
			}
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
}

// Program.Size must follow the real size, because caches rely on it.
func TestProgram_Size(t *testing.T) {
	t.Parallel()
	small := compile(t, leaf("os", "equals", `"iOS"`), nil).Size()
	large := compile(t, leaf("os", "in", `["`+strings.Repeat("x", 500)+`","`+strings.Repeat("y", 500)+`"]`), nil).Size()
	if small < 100 || small > 1000 || large < small+2000 {
		t.Errorf("sizes %d and %d", small, large)
	}
}

func BenchmarkEval_ten_rules(b *testing.B) {
	programs, v := tenRules(b), browsing(b)
	b.ReportAllocs()
	for b.Loop() {
		for _, p := range programs {
			if p.Eval(v) {
				break
			}
		}
	}
}

// The most expensive search that an author and a visitor can produce together.
func BenchmarkEval_hostile_search(b *testing.B) {
	p := compile(b, leaf("referer", "contains", `"`+strings.Repeat("a", 511)+`b"`), nil)
	var v visitor
	v.facts[rule.FieldReferer] = strings.Repeat("a", 8192)
	b.ReportAllocs()
	for b.Loop() {
		p.Eval(&v)
	}
}

func BenchmarkParse_and_Compile(b *testing.B) {
	src := []byte(`{"operator":"AND","conditions":[{"type":"device","operator":"equals","value":"MOBILE"},{"operator":"OR","conditions":[` +
		`{"type":"country","operator":"in","value":["DE","AT","CH"]},{"type":"language","operator":"starts_with","value":"de"}]},` +
		`{"type":"time","operator":"between","value":{"start":"08:00","end":"20:00","timezone":"Europe/Berlin"}}]}`)
	b.ReportAllocs()
	for b.Loop() {
		g, err := rule.Parse(src)
		testkit.Must(b, err)
		if _, err := rule.Compile(g, rule.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
