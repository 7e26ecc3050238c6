package rule

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Trace explains how a group or a condition was decided for one visitor. It mirrors the authored tree.
type Trace struct {
	LogicalOperator string  `json:"logicalOperator,omitempty"` // AND or OR, for a group
	Children        []Trace `json:"children,omitempty"`        // members of a group

	Type     string          `json:"type,omitempty"`     // for a condition, like the two below
	Operator string          `json:"operator,omitempty"` // in lower case
	Value    json.RawMessage `json:"value,omitempty"`    // as authored
	// VisitorValue is the visitor's value in the comparison; "" if unknown. A region is shown as code and name, a time
	// as "14:05 Europe/Berlin", a day as "3 Europe/Berlin", a date in UTC. For a percentage it is the visitor's place
	// among all visitors of the link, from 0.0000 to 99.9999: the condition holds for the lower places.
	VisitorValue string `json:"visitorValue,omitempty"`

	Matched   bool `json:"matched"`
	Evaluated bool `json:"evaluated"` // whether Eval reads this node; if not, Matched is the result it would have had
}

// Explain decides like Eval, with the same code, and returns the result of every group and condition, including those
// that Eval skips. The Trace does not alias the visitor's memory. It allocates.
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

// trace builds the trace of a node whose first test is next, and advances next past its last test.
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

// seen returns a copy of the visitor's value that a test reads.
func (p *Program) seen(k kind, t *test, f Facts) string {
	switch k {
	case kindTime, kindDay:
		z := zoneByID(t.b)
		minute, day := z.local(f.UnixMilli())
		if k == kindDay {
			return strconv.Itoa(day) + " " + z.name
		}
		return fmt.Sprintf("%02d:%02d %s", minute/60, minute%60, z.name)
	case kindRegion:
		return strings.TrimSpace(f.Fact(FieldRegionCode) + " " + f.Fact(FieldRegionName))
	case kindIP:
		if a := f.Address(); a.IsValid() {
			return a.String()
		}
		return ""
	case kindQuery:
		q := &p.params[t.a]
		return strings.Clone(f.Param(p.text[q.name.at : q.name.at+q.name.length]))
	case kindDate:
		return time.UnixMilli(f.UnixMilli()).UTC().Format("2006-01-02T15:04:05.000Z")
	case kindPercentage:
		return strconv.FormatFloat(Percentile(f), 'f', shareDecimals, 64)
	default:
		return strings.Clone(f.Fact(t.field))
	}
}
