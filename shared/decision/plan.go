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
	// Variants draws an index into the record's variants. It draws nothing unless A/B testing is on.
	Variants Arms
	ends     []end  // destinations of the rules in order, then of the variants
	text     string // backing text of ends
	routed   int32  // number of ends that belong to rules
	needs    rule.Needs
	sticky   link.Stickiness // NotSticky unless A/B testing is on
	joined   rule.Set        // compiled rules
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

// end is the destination of a rule or variant as a range of Plan.text. It has no pointer, which saves work for the
// garbage collector.
type end struct {
	id         link.ID
	at, length uint32
}

// Needs returns the facts that Choose may ask for. They depend on the compiled rules and on Sticky.
func (p *Plan) Needs() rule.Needs { return p.needs }

// Sticky returns how visitors keep their variant. It is NotSticky while A/B testing is off.
func (p *Plan) Sticky() link.Stickiness { return p.sticky }

func (p *Plan) target(e *end) string { return p.text[e.at : e.at+e.length] }

// Check returns the error that Compile would return for a record's rules. It is much cheaper than Compile.
func Check(r *link.Record, opts rule.Options) (err error) {
	defer caught(r, &err)
	_, err = compileRules(r, opts)
	return err
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
	p := Plan{Record: *r, joined: joined.set, needs: joined.needs}
	if r.ABTesting {
		if p.sticky = r.Stickiness; p.sticky == link.NotSticky {
			p.Variants = newArms(r.Variants)
		} else {
			p.Variants = newStickyArms(r.Variants)
			p.needs |= rule.NeedsShare
		}
	}
	var text []byte
	add := func(id link.ID, target string) {
		p.ends = append(p.ends, end{id, uint32(len(text)), uint32(len(target))})
		text = append(text, target...)
	}
	if r.SmartRouting {
		for i := range r.Rules {
			add(r.Rules[i].ID, r.Rules[i].Target)
		}
	}
	if p.routed = int32(len(p.ends)); r.ABTesting {
		for i := range r.Variants {
			add(r.Variants[i].ID, r.Variants[i].Target)
		}
	}
	p.text = string(text)
	return p
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
	size := int(unsafe.Sizeof(*p)) - int(unsafe.Sizeof(p.joined)) + p.joined.Size() +
		len(p.Variants.columns)*int(unsafe.Sizeof(column{})) + len(p.ends)*int(unsafe.Sizeof(end{})) + len(p.text)
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
