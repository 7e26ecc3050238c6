package rule_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// attack makes a link's rules expensive: the conditions of one rule, none of which ever holds, so that all are
// evaluated, and the visitors with the highest cost.
type attack struct {
	rule     func(a author, number int) []map[string]any
	visitors func(a author, rules [][]map[string]any) []*visitor
}

// sent lists the types whose values a visitor chooses freely, and their maximum lengths.
var sent = []struct {
	typ   string
	field rule.Field
	most  int
}{
	{"referer", rule.FieldReferer, click.MaxReferer}, {"utm_source", rule.FieldUTMSource, click.MaxUTM},
	{"utm_medium", rule.FieldUTMMedium, click.MaxUTM},
	{"utm_campaign", rule.FieldUTMCampaign, click.MaxUTM}, {"utm_term", rule.FieldUTMTerm, click.MaxUTM},
	{"utm_content", rule.FieldUTMContent, click.MaxUTM},
	{"language", rule.FieldLanguage, click.MaxAcceptLanguage},
}

func (a author) letters(alphabet []string, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(pick(a, alphabet...))
	}
	return b.String()
}

func (a author) condition(i int, op string, value any) map[string]any {
	return map[string]any{"type": sent[i%len(sent)].typ, "operator": op, "value": value}
}

// Letters of one byte, of two bytes that fold to others, of three bytes that fold slowly, and of four bytes.
var alphabets = [][]string{strings.Split("abcdefghijklmnopqrstuvwxyz", ""), strings.Split("абвгдежзийклмнопςσ", ""),
	strings.Split("ⰰⰱⰲⰳⰴⰵⰶⰷᲐᲑᲒᲓ", ""), strings.Split("𐐀𐐁𐐂𐐃𐐨𐐩𐐪𐐫", "")}

// wandering visitors lead a scanner far from the root, again and again, through texts that it does not visit
// otherwise.
func wandering(a author, rules [][]map[string]any) []*visitor {
	var texts [fieldsOfSent][]string
	for _, r := range rules {
		for _, c := range r {
			for i := range sent {
				if sent[i].typ != c["type"] {
					continue
				}
				if list, ok := c["value"].([]any); ok {
					for _, one := range list {
						texts[i] = append(texts[i], one.(string))
					}
				} else {
					texts[i] = append(texts[i], c["value"].(string))
				}
			}
		}
	}
	visitors := make([]*visitor, 64)
	for k := range visitors {
		v := &visitor{now: 1_780_000_000_000}
		for i, s := range sent {
			text := ""
			for len(texts[i]) > 0 && len(text) < s.most {
				t := []rune(pick(a, texts[i]...))
				text += string(t[:len(t)-1])
			}
			v.facts[s.field] = strings.ToUpper(text)[:min(len(text), s.most)]
		}
		visitors[k] = v
	}
	return visitors
}

const fieldsOfSent = 7

// broken visitors send bytes that are not UTF-8; each folds to three bytes.
func broken(author, [][]map[string]any) []*visitor {
	v := &visitor{now: 1_780_000_000_000}
	for _, s := range sent {
		v.facts[s.field] = strings.Repeat("\xff", s.most)
	}
	return []*visitor{v}
}

func contains(alphabet []string, length int) func(a author, number int) []map[string]any {
	return func(a author, _ int) (all []map[string]any) {
		for i := range 100 {
			all = append(all, a.condition(i, "contains", a.letters(alphabet, length)+"!"))
		}
		return all
	}
}

func attacks() map[string]attack {
	all := map[string]attack{
		"a condition for each value, broken bytes": {contains([]string{"\uFFFD"}, 30), broken},
		"repeated letters": {func(a author, number int) (all []map[string]any) {
			for i := range 100 {
				all = append(all, a.condition(i, "contains", strings.Repeat("a", 1+(number*100+i)%250)+"!"))
			}
			return all
		}, func(a author, _ [][]map[string]any) []*visitor {
			v := &visitor{now: 1_780_000_000_000}
			for _, s := range sent {
				v.facts[s.field] = strings.Repeat("a", s.most)
			}
			return []*visitor{v}
		}},
		"lists": {func(a author, number int) (all []map[string]any) {
			for i := range 10 {
				list := make([]any, 50)
				for k := range list {
					list[k] = a.letters(alphabets[0], 12)
				}
				all = append(all, a.condition(i, pick(a, "in"), list))
			}
			return all
		}, wandering},
		"long prefixes": {func(a author, _ int) (all []map[string]any) {
			for i := range 10 {
				all = append(all, a.condition(i, "starts_with", strings.Repeat("σ", 100)+a.letters(alphabets[0], 20)))
			}
			return all
		}, func(author, [][]map[string]any) []*visitor {
			v := &visitor{now: 1_780_000_000_000}
			for _, s := range sent {
				v.facts[s.field] = strings.Repeat("Σ", s.most/2)
			}
			return []*visitor{v}
		}},
		"clocks": {func(a author, number int) (all []map[string]any) {
			zones := []string{"America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Europe/Berlin", "Africa/Casablanca", "Asia/Tokyo",
				"America/Sao_Paulo", "Europe/London"}
			for i := range 100 {
				all = append(all, map[string]any{"type": "time", "operator": "between", "value": map[string]any{
					// An hour that contains the visits in no zone, and a different one each time.
					"start": fmt.Sprintf("00:%02d", i%30), "end": fmt.Sprintf("00:%02d", 30+number%30), "timezone": zones[i%len(zones)]}})
			}
			return all
		}, func(author, [][]map[string]any) []*visitor { return []*visitor{{now: 1_780_000_500_000}} }},
		"few conditions on every value": {func(a author, number int) (all []map[string]any) {
			if number > 0 {
				return []map[string]any{a.condition(number, "equals", a.letters(alphabets[1], 20))}
			}
			for i := range 5 * len(sent) {
				all = append(all, a.condition(i, "contains", strings.Repeat("σ", 100)+"!"))
			}
			return all
		}, func(author, [][]map[string]any) []*visitor {
			v := &visitor{now: 1_780_000_000_000}
			for _, s := range sent {
				v.facts[s.field] = strings.Repeat("ς", s.most/2)
			}
			return []*visitor{v}
		}},
	}
	addSpecial(all)
	for i, alphabet := range alphabets {
		for _, length := range testkit.Size([]int{3, 120}, []int{3, 40, 120}) {
			all[fmt.Sprintf("contains, letters of %d bytes, %d of them", i+1, length)] = attack{contains(alphabet, length), wandering}
		}
	}
	return all
}

// worst generates the rules of an attack, as many as are accepted.
func worst(t testing.TB, attack attack) (programs []*rule.Program, work rule.Work, visitors []*visitor) {
	a := author{rand.New(rand.NewPCG(1, 1))}
	var accepted [][]map[string]any
	for number := range 100 {
		leaves := attack.rule(a, number)
		for ; len(leaves) > 0; leaves = leaves[:len(leaves)/2] {
			src, err := json.Marshal(map[string]any{"operator": "OR", "conditions": leaves})
			testkit.Must(t, err)
			g, err := rule.Parse(src)
			testkit.Must(t, err)
			with := work
			if err := with.Add(g); err != nil || with.Nanoseconds() > rule.MaxWork {
				continue
			}
			p, err := rule.Compile(g, rule.Options{})
			testkit.Must(t, err)
			work, programs, accepted = with, append(programs, p), append(accepted, leaves)
			break
		}
	}
	return programs, work, attack.visitors(a, accepted)
}

// The estimate bounds the cost of any accepted rules. The conditions of an attack hold for nobody, so a visitor's
// values do not end the evaluation early.
func TestH2_WorstAcceptedRules(t *testing.T) {
	t.Parallel()
	for name, attack := range attacks() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			programs, work, visitors := worst(t, attack)
			if work.Nanoseconds() > rule.MaxWork || len(programs) == 0 {
				t.Fatalf("%d programs of %d", len(programs), work.Nanoseconds())
			}
			s := rule.NewSet(programs)
			for _, v := range visitors[:min(4, len(visitors))] {
				if got, want := s.First(v), first(programs, v); got != want || got != -1 {
					t.Fatalf("rule %d, %d one by one", got, want)
				}
			}
		})
	}
}

// BenchmarkWork_worst_accepted calibrates the limit. It reports the time of each attack next to the estimate.
func BenchmarkWork_worst_accepted(b *testing.B) {
	for name, attack := range attacks() {
		b.Run(name, func(b *testing.B) {
			programs, work, visitors := worst(b, attack)
			began := time.Now()
			s := rule.NewSet(programs)
			joined := time.Since(began)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				s.First(visitors[i%len(visitors)])
				i++
			}
			b.ReportMetric(float64(work.Nanoseconds()), "estimate-ns")
			b.ReportMetric(float64(s.Size())/1024, "KiB")
			b.ReportMetric(float64(joined.Microseconds()), "join-us")
		})
	}
}
