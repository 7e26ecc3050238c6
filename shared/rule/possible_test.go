package rule_test

import (
	"encoding/json"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// partial shows a part of what is known about a visitor.
type partial struct {
	*visitor
	shown   [rule.Fields]string
	certain [rule.Fields]rule.Certainty
	network netip.Prefix
}

func (p *partial) Fact(f rule.Field) string              { return p.shown[f] }
func (p *partial) Certainty(f rule.Field) rule.Certainty { return p.certain[f] }
func (p *partial) Network() netip.Prefix                 { return p.network }
func (p *partial) Address() netip.Addr                   { panic("the address is not known") }
func (p *partial) Param(string) string                   { panic("the query is not known") }

// blur hides facts with a probability in percent.
func (a author) blur(v *visitor, percent int) *partial {
	p := &partial{visitor: v, shown: v.facts}
	if v.ip.IsValid() {
		p.network = netip.PrefixFrom(v.ip, v.ip.BitLen())
		if a.IntN(100) < percent {
			p.network = netip.PrefixFrom(v.ip, a.IntN(v.ip.BitLen()+1)).Masked()
		}
	}
	for f := range p.shown {
		if a.IntN(100) >= percent {
			continue
		}
		switch a.IntN(3) {
		case 0:
			p.certain[f] = rule.OrNone
			if p.shown[f] == "" {
				p.shown[f] = a.word()
			}
		case 1:
			if begin, _, _ := strings.Cut(v.facts[f], "-"); strings.IndexFunc(begin, func(r rune) bool { return r >= 0x80 }) < 0 {
				p.certain[f], p.shown[f] = rule.Begins, begin
			}
		default:
			p.certain[f], p.shown[f] = rule.Unknown, a.word()
		}
	}
	return p
}

// Every result that a visitor can have is possible, and only that one if all facts are known.
func TestPossible_contains_the_result(t *testing.T) {
	t.Parallel()
	seen := map[rule.Truth]int{}
	for seed := range uint64(4000) {
		a := author{rand.New(rand.NewPCG(seed, 7))}
		src, err := json.Marshal(a.group(1))
		testkit.Must(t, err)
		g, err := rule.Parse(src)
		if err != nil {
			continue // more than 100 conditions
		}
		p, err := rule.Compile(g, rule.Options{Zone: time.UTC})
		testkit.Must(t, err)
		for range 8 {
			v := a.visitor()
			want := rule.Fails
			if p.Eval(v) {
				want = rule.Holds
			}
			got, open := p.Possible(a.blur(v, 40))
			if got&want == 0 || (got == rule.Open) != (open != 0) {
				t.Fatalf("%s\nfor %+v: %v because of %v, want %v", src, *v, got, open.Names(), want)
			}
			seen[got]++
			if strings.Contains(strings.ToLower(string(src)), `"query"`) || !v.ip.IsValid() {
				continue
			}
			if got, open := p.Possible(a.blur(v, 0)); got != want {
				t.Fatalf("%s\nfor %+v with all facts: %v because of %v, want %v", src, *v, got, open.Names(), want)
			}
		}
	}
	if seen[rule.Holds] < 500 || seen[rule.Fails] < 500 || seen[rule.Open] < 500 {
		t.Errorf("the test is too easy: %v", seen)
	}
}

func TestPossible(t *testing.T) {
	t.Parallel()
	german := func(language string, c rule.Certainty) *partial {
		p := &partial{visitor: &visitor{}, network: netip.MustParsePrefix("203.0.113.0/24")}
		p.shown[rule.FieldLanguage], p.certain[rule.FieldLanguage] = language, c
		p.shown[rule.FieldRegionCode], p.certain[rule.FieldRegionCode] = "DE", rule.Begins
		p.shown[rule.FieldRegionName] = "Berlin"
		p.shown[rule.FieldUTMSource], p.certain[rule.FieldUTMSource] = "mail", rule.OrNone
		p.certain[rule.FieldVisitor] = rule.Unknown
		return p
	}
	known := german("de", rule.Begins)
	one := func(typ, op, value string) string {
		return `{"operator":"AND","conditions":[{"type":"` + typ + `","operator":"` + op + `","value":` + value + `}]}`
	}
	for _, c := range []struct {
		conditions string
		want       rule.Truth
		open       []string
	}{
		{one("language", "equals", `"fr"`), rule.Fails, nil},
		{one("language", "equals", `"DE"`), rule.Open, []string{"language"}},
		{one("language", "not_in", `["fr","de-AT"]`), rule.Open, []string{"language"}},
		{one("language", "not_in", `["fr","den-AT"]`), rule.Holds, nil},
		{one("language", "in", `["a","b","c","d","e","f","g","h","i","de-AT"]`), rule.Open, []string{"language"}},
		{one("language", "in", `["a","b","c","d","e","f","g","h","i","j"]`), rule.Fails, nil},
		{one("language", "starts_with", `"de"`), rule.Holds, nil},
		{one("language", "starts_with", `"de-"`), rule.Open, []string{"language"}},
		{one("language", "starts_with", `"den"`), rule.Fails, nil},
		{one("language", "contains", `"e"`), rule.Holds, nil},
		{one("language", "contains", `"AT"`), rule.Open, []string{"language"}},
		{one("language", "ends_with", `"de"`), rule.Open, []string{"language"}},
		{one("region", "equals", `"berlin"`), rule.Holds, nil},
		{one("region", "equals", `"DE-BE"`), rule.Open, []string{"region"}},
		{one("region", "not_equals", `"US-CA"`), rule.Holds, nil},
		{one("region", "equals", `"Bavaria"`), rule.Fails, nil},
		{one("utm_source", "equals", `"mail"`), rule.Open, []string{"utm_source"}},
		{one("utm_source", "equals", `"push"`), rule.Fails, nil},
		{one("ip", "in", `["203.0.0.0/16"]`), rule.Holds, nil},
		{one("ip", "in", `["203.0.113.7","::/0"]`), rule.Open, []string{"ip"}},
		{one("ip", "not_in", `["198.51.100.0/24"]`), rule.Holds, nil},
		{one("query", "equals", `{"name":"a","value":"b"}`), rule.Open, []string{"query"}},
		{one("visitor", "equals", `"new"`), rule.Open, []string{"visitor"}},
		{`{"operator":"OR","conditions":[{"type":"visitor","operator":"equals",` +
			`"value":"new"},{"type":"region","operator":"equals","value":"Berlin"}]}`, rule.Holds, nil},
		{`{"operator":"AND","conditions":[{"type":"visitor","operator":"equals",` +
			`"value":"new"},{"type":"region","operator":"equals","value":"Bavaria"}]}`, rule.Fails, nil},
		{`{"operator":"AND","conditions":[{"type":"query","operator":"equals",` +
			`"value":{"name":"a","value":"b"}},{"type":"visitor","operator":"equals","value":"new"}]}`, rule.Open,
			[]string{"query", "visitor"}},
	} {
		p := compile(t, c.conditions, nil)
		if got, open := p.Possible(known); got != c.want || !slices.Equal(open.Names(), c.open) {
			t.Errorf("%s: %v because of %v, want %v because of %v", c.conditions, got, open.Names(), c.want, c.open)
		}
	}
	if got, _ := compile(t, one("ip", "in", `["203.0.113.7"]`), nil).Possible(&partial{visitor: &visitor{}}); got != rule.Open {
		t.Errorf("without a network: %v", got)
	}
	var empty rule.Program
	if got, _ := empty.Possible(known); got != rule.Fails {
		t.Errorf("the zero Program: %v", got)
	}
}

// Not parallel: AllocsPerRun measures the whole process.
func TestPossible_allocates_nothing(t *testing.T) {
	p := compile(t,
		`{"operator":"AND","conditions":[{"type":"language","operator":"not_in",`+
			`"value":["fr","it"]},{"type":"query","operator":"equals","value":{"name":"a","value":"b"}}]}`, nil)
	v := &partial{visitor: &visitor{}}
	v.shown[rule.FieldLanguage], v.certain[rule.FieldLanguage] = "de", rule.Begins
	if n := testing.AllocsPerRun(100, func() {
		if got, _ := p.Possible(v); got != rule.Open {
			t.Error(got)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
