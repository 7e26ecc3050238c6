package rule

import (
	"fmt"

	"github.com/shortline/shortline/shared/click"
)

// MaxWork is how much evaluating all rules of a link may cost, by the estimate of Work. It is in nanoseconds of a slow,
// busy processor; BenchmarkWork_worst_accepted shows what the dearest accepted rules take.
const MaxWork = 1_000_000

// What the estimate of Work is made of, in nanoseconds. Each is several times what BenchmarkWork_worst_accepted measures, to
// leave room for slower processors and for memory that other work has driven out of the caches.
const (
	leafWork   = 40 // a condition that is asked for
	clockWork  = 80 // one on the time or the day, each of which may name a zone of its own
	directWork = 20 // a byte of a visitor's value that is compared
	scanWork   = 60 // a byte of a visitor's value that a scanner reads; one that is not UTF-8 folds to three
	textWork   = 6  // a byte of a scanner's texts: some 17 bytes of memory, which the caches don't hold all of
)

// longest is how many bytes a visitor's value has at most. What a visitor sends is cut by package visitor; the other values
// come from tables of programs and places.
var longest = func() (l [fieldCount]int) {
	for f := range l {
		l[f] = 64
	}
	l[FieldRegionName], l[FieldCity] = 255, 255
	l[FieldLanguage], l[FieldReferer] = click.MaxAcceptLanguage, click.MaxReferer
	for f := FieldUTMSource; f <= FieldUTMContent; f++ {
		l[f] = click.MaxUTM
	}
	l[FieldRegionCode] += l[FieldRegionName] // a condition on the region looks at both
	return l
}()

// Work is an upper bound of what evaluating some groups together costs for any visitor. It depends on the conditions
// only and is the same on every machine. The zero value is no work.
type Work struct {
	leaves int // conditions on a text
	clocks int // and on the time or the day
	fields [fieldCount]fieldWork
}

// fieldWork is what the text conditions on one field ask for.
type fieldWork struct {
	direct int // bytes of the visitor's value that are compared if each condition is looked at by itself
	text   int // bytes of the conditions' texts
}

// scanned reports whether a scanner is the cheaper way.
func (w *fieldWork) scanned(f Field) bool { return w.scanCost(f) < directWork*w.direct }

func (w *fieldWork) scanCost(f Field) int { return scanWork*longest[f] + textWork*w.text }

func (w *fieldWork) cost(f Field) int { return min(directWork*w.direct, w.scanCost(f)) }

// Nanoseconds is the estimate.
func (w *Work) Nanoseconds() int {
	sum := leafWork*w.leaves + clockWork*w.clocks
	for f := range w.fields {
		sum += w.fields[f].cost(Field(f))
	}
	return sum
}

// add counts one condition of a program.
func (w *Work) add(p *Program, t *test) {
	if t.field >= fieldCount {
		w.clocks++
		return
	}
	w.leaves++
	f, most := &w.fields[t.field], longest[t.field]
	switch t.code {
	case codeFew:
		for _, s := range p.table[t.a : t.a+t.b] {
			f.direct += min(most, int(s.length)) + 1
			f.text += int(s.length)
		}
	case codeOneOf:
		f.direct += 2 * most // hashed, and compared
		for _, s := range p.table[t.a : t.a+t.spans()] {
			f.text += int(s.length)
		}
	case codeContains:
		f.direct += most
		f.text += int(t.b)
	default:
		f.direct += min(most, int(t.b)) + 1
		f.text += int(t.b)
	}
}

// Add counts a group. If the group by itself costs more than MaxWork, the error, of type Problems, names the first
// condition with which it does; otherwise it is nil.
func (w *Work) Add(g *Group) error {
	p, err := Compile(g, Options{})
	if err != nil {
		return err
	}
	var own Work
	var over error
	paths := g.root.paths(nil)
	for i := range p.code {
		w.add(p, &p.code[i])
		own.add(p, &p.code[i])
		if over == nil && own.Nanoseconds() > MaxWork {
			over = Problems{{paths[i].child("value").String(), fmt.Sprintf(
				"with this condition, the rule could cost more than %d µs of processor time a visit, which is the limit; use fewer or shorter values",
				MaxWork/1000)}}
		}
	}
	return over
}

// paths appends the places of a node's conditions.
func (n *node) paths(to []*path) []*path {
	if n.children == nil {
		return append(to, n.at)
	}
	for i := range n.children {
		to = n.children[i].paths(to)
	}
	return to
}
