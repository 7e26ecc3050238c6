package rule

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Trace tells how a group, or a condition in it, was decided for one visitor. It mirrors the authored tree.
type Trace struct {
	LogicalOperator string  `json:"logicalOperator,omitempty"` // of a group: AND or OR
	Children        []Trace `json:"children,omitempty"`        // of a group

	Type     string          `json:"type,omitempty"`     // of a condition, like the two below
	Operator string          `json:"operator,omitempty"` // in lower case
	Value    json.RawMessage `json:"value,omitempty"`    // as authored
	// VisitorValue is what the condition compared with, "" where it is not known. A region is shown as its code and
	// its name, a time as "14:05 Europe/Berlin", a day as "3 Europe/Berlin".
	VisitorValue string `json:"visitorValue,omitempty"`

	Matched   bool `json:"matched"`
	Evaluated bool `json:"evaluated"` // whether Eval would have looked; if not, Matched says what it would have seen
}

// Explain decides like Eval, by the same code, and tells what each group and condition came to, also those that Eval
// passes over. The Trace does not refer to the visitor's memory. It allocates, and is meant for people.
func (p *Program) Explain(f Facts) Trace {
	g, err := Parse([]byte(p.source))
	if err != nil {
		if len(p.code) == 0 {
			return Trace{} // the zero Program
		}
		panic("BUG: a compiled rule's source does not parse: " + err.Error())
	}
	rec := record{make([]bool, len(p.code)), make([]bool, len(p.code))}
	p.run(f, &rec)
	var now wallClock
	for i := range p.code {
		if !rec.reached[i] {
			rec.matched[i] = p.holds(&p.code[i], f, &now)
		}
	}
	next := 0
	return p.trace(&g.root, &rec, f, &next)
}

// trace makes the trace of a node whose first test is next, and moves next behind its last.
func (p *Program) trace(n *node, rec *record, f Facts, next *int) Trace {
	if n.children == nil {
		i := *next
		*next++
		return Trace{
			Type:         kinds[n.kind].name,
			Operator:     operatorNames[n.op],
			Value:        json.RawMessage(n.raw),
			VisitorValue: p.seen(n.kind, &p.code[i], f),
			Matched:      rec.matched[i],
			Evaluated:    rec.reached[i],
		}
	}
	t := Trace{LogicalOperator: "AND", Matched: true, Children: make([]Trace, len(n.children))}
	if n.any {
		t.LogicalOperator, t.Matched = "OR", false
	}
	for i := range n.children {
		child := p.trace(&n.children[i], rec, f, next)
		if child.Matched == n.any {
			t.Matched = n.any
		}
		t.Evaluated = t.Evaluated || child.Evaluated
		t.Children[i] = child
	}
	return t
}

// seen is the visitor's value that a test looked at, in words of its own memory.
func (p *Program) seen(k kind, t *test, f Facts) string {
	switch k {
	case kindTime, kindDay:
		z := p.zones[t.b]
		minute, day := z.local(f.UnixMilli())
		if k == kindDay {
			return strconv.Itoa(day) + " " + z.name
		}
		return fmt.Sprintf("%02d:%02d %s", minute/60, minute%60, z.name)
	case kindRegion:
		return strings.TrimSpace(f.Fact(FieldRegionCode) + " " + f.Fact(FieldRegionName))
	default:
		return strings.Clone(f.Fact(t.field))
	}
}
