package decision

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
)

// Plan is the compiled form of a link's record. It may be shared and must not be changed.
//
// The fields that every visit reads come first, close together, because a plan is seldom in the processor's cache.
type Plan struct {
	Chooser
	// Record is the record; in a Compact plan without rules and variants.
	Record link.Record
	// Rules are the compiled rules in evaluation order. Empty if smart routing is off, and in a Compact plan.
	Rules []Rule
}

// Rule is one compiled rule.
type Rule struct {
	ID      link.ID
	Name    string
	Target  string
	Program *rule.Program
}

// caught turns a panic of the rule compiler into an error, because users write rules and one faulty link must not
// affect others.
func caught(r *link.Record, err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("compiling the rules of link %d panicked: %v", r.Num, v)
	}
}

// Compile compiles a record. The plan keeps the record's slices.
func Compile(r *link.Record, opts rule.Options) (p Plan, err error) {
	defer caught(r, &err)
	var rules []Rule
	var joined conditions
	if r.SmartRouting {
		if rules, err = compileRules(r, opts); err != nil {
			return Plan{}, err
		}
		joined = join(rules)
	}
	p = assemble(r, &joined)
	p.Rules = rules
	return p, nil
}

// conditions are the compiled conditions of all rules of a link.
type conditions struct {
	set   rule.Set
	needs rule.Needs
}

// assemble returns the plan of a record without Rules.
func assemble(r *link.Record, joined *conditions) Plan {
	c, text := chooserOf(r, joined)
	c.text = string(text)
	return Plan{Chooser: c, Record: *r}
}

// Compact returns a plan that decides like p, for caches of many plans. It omits data that only explanations need. It
// consists of a few allocations with very few pointers, shared with nobody, because garbage collection costs time per
// allocation and per pointer.
func (p *Plan) Compact() Plan {
	c := *p
	c.Rules, c.Record.Rules, c.Record.Variants = nil, nil, nil
	c.ends = slices.Clip(slices.Clone(p.ends))
	texts := recordTexts(&c.Record)
	var b strings.Builder
	size := len(p.text)
	for _, s := range texts {
		size += len(*s)
	}
	b.Grow(size)
	b.WriteString(p.text)
	for _, s := range texts {
		b.WriteString(*s)
	}
	all := b.String()
	c.text = all[:len(p.text)]
	at := len(p.text)
	for _, s := range texts {
		*s, at = all[at:at+len(*s)], at+len(*s)
	}
	c.usual = usual(&c.Record)
	return c
}

// recordTexts returns the record's own texts, without those of rules and variants.
func recordTexts(r *link.Record) [18]*string {
	u, v := &r.UTM, &r.Preview
	return [...]*string{
		&r.Key, &r.Destination, &r.Default, &r.Title, &r.PasswordHash, &r.ExpiredURL, &r.ClickParameter,
		&u.Source, &u.Medium, &u.Campaign, &u.Term, &u.Content, &u.ID, &u.SourcePlatform,
		&v.Title, &v.Description, &v.ImageURL, &v.TwitterCard,
	}
}

// Size returns the approximate memory of a Compact plan in bytes, for caches.
func (p *Plan) Size() int {
	size := int(unsafe.Sizeof(*p)) + p.Chooser.size()
	for _, s := range recordTexts(&p.Record) {
		size += len(*s)
	}
	return size
}

func compileRules(r *link.Record, opts rule.Options) ([]Rule, error) {
	rules := make([]Rule, 0, len(r.Rules))
	for i := range r.Rules {
		from := &r.Rules[i]
		group, err := rule.Parse(from.Conditions)
		if err != nil {
			return nil, fmt.Errorf("link %d, rule %d: %w", r.Num, i, err)
		}
		program, err := rule.Compile(group, opts)
		if err != nil {
			return nil, fmt.Errorf("link %d, rule %d: %w", r.Num, i, err)
		}
		rules = append(rules, Rule{ID: from.ID, Name: from.Name, Target: from.Target, Program: program})
	}
	return rules, nil
}

func join(rules []Rule) (c conditions) {
	if len(rules) == 0 {
		return c
	}
	programs := make([]*rule.Program, len(rules))
	for i := range rules {
		programs[i] = rules[i].Program
		c.needs |= programs[i].Needs()
	}
	c.set = *rule.NewSet(programs)
	return c
}
