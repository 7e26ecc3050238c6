package rule

import (
	"fmt"

	"github.com/shortline/shortline/shared/click"
)

// MaxWork is the maximum cost of evaluating all rules of a link, as estimated by Work, in nanoseconds of a slow, busy
// processor. BenchmarkWork_worst_accepted measures the most expensive accepted rules.
const MaxWork = 1_000_000

// Weights of the estimate, in nanoseconds. Each is several times the result of BenchmarkWork_worst_accepted, to allow
// for slower processors and for caches that other work has evicted.
const (
	leafWork   = 40 // one condition
	clockWork  = 80 // one condition on the time or the day, which may name its own zone
	directWork = 20 // one byte of a visitor's value in a direct comparison
	scanWork   = 60 // one byte of a visitor's value in a scanner; a byte that is not UTF-8 folds to three
	textWork   = 6  // one byte of a scanner's texts: about 17 bytes of memory, too much for the caches

	addressWork  = 300    // one condition on the address
	paramWork    = 4_000  // one condition on a query parameter, without the comparison
	queryWork    = 25_000 // once, if any condition is on a query parameter
	identityWork = 25_000 // once, if any condition needs to recognise the visitor
)

// longest is the maximum length of a visitor's value in bytes. Package visitor truncates what a visitor sends; the
// other values come from tables of programs and locations.
var longest = func() (l [fieldCount]int) {
	for f := range l {
		l[f] = 64
	}
	l[FieldRegionName], l[FieldCity] = 255, 255
	l[FieldLanguage], l[FieldReferer] = click.MaxAcceptLanguage, click.MaxReferer
	for f := FieldUTMSource; f <= FieldUTMContent; f++ {
		l[f] = click.MaxUTM
	}
	l[FieldRegionCode] += l[FieldRegionName] // a condition on the region reads both
	return l
}()

// Work is an upper bound of the cost of evaluating several groups for any visitor. It depends only on the conditions,
// so it is the same on every machine. The zero value means no work.
type Work struct {
	leaves int // conditions on a text
	clocks int // conditions on the time or the day
	places int // conditions on the address
	params int // conditions on query parameters
	// compared is the number of bytes of query parameters, summed over the conditions.
	compared int
	needs    Needs
	fields   [fieldCount]fieldWork
}

// fieldWork is the work of the text conditions on one field.
type fieldWork struct {
	direct int // bytes of the visitor's value, if each condition is compared separately
	text   int // bytes of the conditions' texts
}

// scanned reports whether a scanner is cheaper than separate comparisons.
func (w *fieldWork) scanned(f Field) bool { return w.scanCost(f) < directWork*w.direct }

func (w *fieldWork) scanCost(f Field) int { return scanWork*longest[f] + textWork*w.text }

func (w *fieldWork) cost(f Field) int { return min(directWork*w.direct, w.scanCost(f)) }

// Nanoseconds returns the estimate.
func (w *Work) Nanoseconds() int {
	sum := leafWork*w.leaves + clockWork*w.clocks + addressWork*w.places + paramWork*w.params + directWork*w.compared
	if w.needs&NeedsQuery != 0 {
		sum += queryWork
	}
	if w.needs&(NeedsShare|NeedsVisitor) != 0 {
		sum += identityWork
	}
	for f := range w.fields {
		sum += w.fields[f].cost(Field(f))
	}
	return sum
}

// addTest adds one condition of a program.
func (w *Work) addTest(p *Program, t *test) {
	w.needs |= t.needs()
	switch t.code {
	case codeMinutes, codeDays, codeNever:
		w.clocks++
	case codeAddress:
		w.places++
	case codeInstant, codeShare:
		w.leaves++
	case codeParam:
		var f fieldWork
		f.add(p, &p.params[t.a].test, maxParam)
		w.params++
		w.compared += f.direct
	default:
		w.leaves++
		w.fields[t.field].add(p, t, longest[t.field])
	}
}

// add adds one comparison with a value of at most the given length.
func (f *fieldWork) add(p *Program, t *test, most int) {
	switch t.code {
	case codeFew:
		for _, s := range p.table[t.a : t.a+t.b] {
			f.direct += min(most, int(s.length)) + 1
			f.text += int(s.length)
		}
	case codeOneOf:
		f.direct += 2 * most // hashed and compared
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

// Add adds a group. It returns nil unless the group alone costs more than MaxWork. Then the error has type Problems
// and names the first condition that exceeds the limit.
func (w *Work) Add(g *Group) error {
	p, err := Compile(g, Options{})
	if err != nil {
		return err
	}
	var own Work
	var over error
	paths := g.root.paths(nil)
	for i := range p.code {
		w.addTest(p, &p.code[i])
		own.addTest(p, &p.code[i])
		if over == nil && own.Nanoseconds() > MaxWork {
			over = Problems{{paths[i].child("value").String(), fmt.Sprintf(
				"with this condition, the rule could cost more than %d µs of processor time a visit, which is the limit; use fewer or shorter values",
				MaxWork/1000)}}
		}
	}
	return over
}

// paths appends the paths of a node's conditions.
func (n *node) paths(to []*path) []*path {
	if n.children == nil {
		return append(to, n.at)
	}
	for i := range n.children {
		to = n.children[i].paths(to)
	}
	return to
}
