package decision

import (
	"fmt"

	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
)

// Plan is the compiled form of a link's record. It may be shared and must not be changed.
//
// What every visit looks at comes first, close together: a plan is seldom near the processor.
type Plan struct {
	joined *rule.Set // the rules' programs, nil where there are none
	// Variants draws an index into Record.Variants, and nothing unless A/B testing is on.
	Variants Arms
	drawn    []link.Variant // Record.Variants
	// Rules are the link's rules in the order they are tried, empty unless smart routing is on.
	Rules  []Rule
	Record link.Record
}

// Rule is one compiled rule.
type Rule struct {
	ID      link.ID
	Name    string
	Target  string
	Program *rule.Program
}

// Check reports what keeps a record's rules from compiling, nil if they do. It is Compile for those who don't want the
// plan yet, at a fraction of the price.
func Check(r *link.Record, opts rule.Options) (err error) {
	defer caught(r, &err)
	_, err = compileRules(r, opts)
	return err
}

// caught turns a panic of the rule compiler into an error: rules are written by people, and one link's must stop nobody
// else's.
func caught(r *link.Record, err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("compiling the rules of link %d panicked: %v", r.Num, v)
	}
}

// Compile makes a plan, which keeps the record's slices. After an error there is none.
func Compile(r *link.Record, opts rule.Options) (p Plan, err error) {
	defer caught(r, &err)
	p = Plan{Record: *r}
	if r.SmartRouting {
		if p.Rules, err = compileRules(r, opts); err != nil {
			return Plan{}, err
		}
		p.joined = join(p.Rules)
	}
	if r.ABTesting {
		p.Variants, p.drawn = newArms(r.Variants), r.Variants
	}
	return p, nil
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

func join(rules []Rule) *rule.Set {
	if len(rules) == 0 {
		return nil
	}
	programs := make([]*rule.Program, len(rules))
	for i := range rules {
		programs[i] = rules[i].Program
	}
	return rule.NewSet(programs)
}
