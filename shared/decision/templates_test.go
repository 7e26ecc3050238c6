package decision_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/shortline/shortline/shared/decision"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// templated returns a link whose rules have the conditions of a template, and destinations of its own.
func templated(num uint64, template int) link.Record {
	r := link.Record{Num: num, Key: fmt.Sprint("slug-", num), Destination: fmt.Sprint("https://example.com/", num), SmartRouting: true,
		ABTesting: num%3 == 0}
	for i := range 1 + template%4 {
		r.Rules = append(r.Rules, link.Rule{
			ID: link.ID{byte(num), byte(i)}, Name: fmt.Sprint("rule ", i), Target: fmt.Sprintf("https://example.com/%d/rule/%d", num, i),
			Conditions: fmt.Appendf(nil,
				`{"operator":"AND","conditions":[{"type":"utm_source","operator":"in",`+
					`"value":["s%d","t%d"]},{"type":"country","operator":"equals","value":"%c%c"}]}`,
				(template+i)%7, template, 'A'+template%5, 'A'+i),
		})
	}
	r.Variants = []link.Variant{{ID: link.ID{200}, Target: fmt.Sprintf("https://example.com/%d/variant", num), Weight: 1}}
	return r
}

// Plans that share conditions decide like plans that do not, while conditions are forgotten and while others compile.
func TestTemplates_decide_like_Compile(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1, 3, 1000} {
		templates := decision.NewTemplates(rule.Options{}, limit)
		var all sync.WaitGroup
		for worker := range uint64(4) {
			all.Go(func() {
				random := rand.New(rand.NewPCG(worker, uint64(limit)))
				for range 500 {
					r := templated(random.Uint64N(1000), random.IntN(12))
					want, err := decision.Compile(&r, rule.Options{})
					if err != nil {
						t.Error(err)
						return
					}
					got, shared, err := templates.Compile(&r)
					if err != nil || shared <= 0 || shared >= got.Size() || got.Needs() != want.Needs() {
						t.Errorf("%d of %d bytes are shared, needs %v and %v, %v", shared, got.Size(), got.Needs(), want.Needs(), err)
						return
					}
					for range 10 {
						v := visitor{facts: map[rule.Field]string{
							rule.FieldUTMSource: fmt.Sprintf("%c%d", "st"[random.IntN(2)], random.IntN(12)),
							rule.FieldCountry:   fmt.Sprintf("%c%c", 'A'+random.IntN(5), 'A'+random.IntN(4)),
						}}
						if a, b := want.Choose(v, 1), got.Choose(v, 1); !reflect.DeepEqual(a, b) {
							t.Errorf("%+v chooses %+v, want %+v", v.facts, b, a)
							return
						}
					}
				}
			})
		}
		all.Wait()
	}
}

// The border between the conditions of two rules belongs to a template, and so does their order.
func TestTemplates_distinguish_rules(t *testing.T) {
	t.Parallel()
	templates := decision.NewTemplates(rule.Options{}, 10)
	mail := `{"operator":"AND","conditions":[{"type":"utm_source","operator":"equals","value":"mail"}]}`
	post := strings.Replace(mail, "mail", "post", 1)
	rules := func(conditions ...string) (r link.Record) {
		r.SmartRouting = true
		for i, c := range conditions {
			r.Rules = append(r.Rules, link.Rule{ID: link.ID{byte(i + 1)}, Target: fmt.Sprint("https://example.com/", i),
				Conditions: []byte(c)})
		}
		return r
	}
	for i, q := range []struct {
		r    link.Record
		want byte // first rule that a visitor with the source "post" meets, counted from 1
	}{{rules(mail, post), 2}, {rules(post, mail), 1}, {rules(post), 1}, {rules(mail), 0}, {rules(mail, mail, post), 3},
		{rules(mail, post), 2},
		{rules(), 0}} {
		p, _, err := templates.Compile(&q.r)
		testkit.Must(t, err)
		if got := p.Choose(visitor{facts: map[rule.Field]string{rule.FieldUTMSource: "post"}}, 0).Rule; got != (link.ID{q.want}) {
			t.Errorf("link %d: rule %v, want %d", i, got, q.want)
		}
	}
	broken := rules(mail, `{"operator":"AND","conditions":[{"type":"no such thing","operator":"equals","value":"x"}]}`)
	for range 2 {
		if _, _, err := templates.Compile(&broken); err == nil {
			t.Error("broken conditions compile")
		}
	}
}
