package rule

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Problem is one error in an authored group.
type Problem struct {
	Path    string // such as "conditions.items.2.value"; the group itself is "conditions"
	Message string // a sentence for the author
}

// Problems is the error of Parse: all problems in document order, at most a hundred.
type Problems []Problem

// Error joins the problems into one line.
func (p Problems) Error() string {
	var b strings.Builder
	for i, one := range p {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(one.Path)
		b.WriteString(": ")
		b.WriteString(one.Message)
	}
	return b.String()
}

const maxProblems = 100

// Group is a valid condition group. It is immutable.
type Group struct {
	root   node
	source string // authored JSON
}

// node is a group or a condition of the authored tree.
type node struct {
	children []node // members of a group, never empty; nil for a condition
	any      bool   // the group's operator is OR
	condition
}

// condition is a leaf. Its kind determines which of the lower fields are used.
type condition struct {
	kind kind
	op   operator
	raw  string // value as written
	at   *path

	texts    []string // trimmed
	days     uint8    // bit 1 Monday … bit 7 Sunday
	from, to int      // minutes of the day; before and after use from
	zone     *zone    // nil: the compiler's default

	name     string // of the query parameter
	networks []netip.Prefix
	dates    [2]date // before and after use the first
	share    uint32  // of shareWhole
}

// Parse parses an authored condition group. The forms {operator, conditions} and {logicalOperator, items} may be
// nested and mixed. Parse keeps no reference to src. Its error has type Problems.
func Parse(src []byte) (*Group, error) {
	doc, err := readDocument(src)
	root := &path{key: "conditions"}
	if err != nil {
		return nil, Problems{{root.String(), err.Error()}}
	}
	var p parser
	g := &Group{root: p.node(doc, root, 1), source: string(src)}
	if p.leaves > maxLeaves {
		p.report(root, "must hold at most %d conditions", maxLeaves)
	}
	if len(p.problems) > 0 {
		return nil, p.problems
	}
	return g, nil
}

// path is a location in the document: a key, or an index if key is "".
type path struct {
	up    *path
	key   string
	index int
}

func (p *path) child(key string) *path { return &path{up: p, key: key} }
func (p *path) item(i int) *path       { return &path{up: p, index: i} }

func (p *path) String() string {
	key := p.key
	if key == "" {
		key = strconv.Itoa(p.index)
	}
	if p.up == nil {
		return key
	}
	return p.up.String() + "." + key
}

type parser struct {
	problems Problems
	leaves   int
}

func (p *parser) report(at *path, format string, args ...any) {
	if len(p.problems) < maxProblems {
		p.problems = append(p.problems, Problem{at.String(), fmt.Sprintf(format, args...)})
	}
}

// fields are the values of an object by the names of a node's keys.
type fields struct {
	typ, operator, value *value
	logical              *value
	conditions, items    *value
	leafKeys, groupKeys  int // number of keys of each form; "operator" counts for neither
}

func (p *parser) fields(v *value, at *path) fields {
	var f fields
	for i, key := range v.keys {
		var to **value
		var sort *int // counter for the key's form
		switch key {
		case "type":
			to, sort = &f.typ, &f.leafKeys
		case "value":
			to, sort = &f.value, &f.leafKeys
		case "operator":
			to = &f.operator
		case "logicalOperator":
			to, sort = &f.logical, &f.groupKeys
		case "conditions":
			to, sort = &f.conditions, &f.groupKeys
		case "items":
			to, sort = &f.items, &f.groupKeys
		default:
			p.report(at.child(clip(key)),
				"key '%s' is not known; a condition has type, operator and value, a group operator and conditions",
				clip(key))
			continue
		}
		if v.items[i].shape == shapeNull {
			continue // treated as absent: clients write out the keys of the other form
		}
		if sort != nil {
			*sort++
		}
		if *to != nil {
			p.report(at.child(key), "%s must not be given twice", key)
		}
		*to = &v.items[i]
	}
	return f
}

func (p *parser) node(v *value, at *path, depth int) node {
	if v.shape != shapeObject {
		if depth == 1 {
			p.report(at, "must be a group: {operator: AND or OR, conditions: […]}")
		} else {
			p.leaves++
			p.report(at, "must be a condition {type, operator, value} or a group {operator, conditions}")
		}
		return node{}
	}
	f := p.fields(v, at)
	group := f.groupKeys > 0
	if !group && f.leafKeys == 0 && f.operator != nil {
		_, group = logicOf(f.operator)
	}
	switch {
	case f.groupKeys > 0 && f.leafKeys > 0:
		p.report(at, "must be either a condition {type, operator, value} or a group {operator, conditions}, not both")
	case group || depth == 1 && f.leafKeys == 0:
		return p.group(f, at, depth)
	case depth == 1:
		p.report(at, "must be a group {operator: AND or OR, conditions: […]}; put the condition into its list")
	default:
		p.leaves++
		if p.leaves <= maxLeaves {
			return node{condition: p.condition(f, at)}
		}
	}
	return node{}
}

// logicOf parses AND (false) or OR (true).
func logicOf(v *value) (any, ok bool) {
	if v.shape != shapeText {
		return false, false
	}
	name := strings.TrimSpace(v.text)
	if strings.EqualFold(name, "OR") {
		return true, true
	}
	return false, strings.EqualFold(name, "AND")
}

func (p *parser) group(f fields, at *path, depth int) node {
	var n node
	if depth > maxDepth {
		p.report(at, "must not be nested deeper than %d groups", maxDepth)
		return n
	}

	logic, key := f.operator, "operator"
	if logic == nil {
		logic, key = f.logical, "logicalOperator"
	}
	switch {
	case logic == nil:
		p.report(at.child("operator"), "operator is required: AND or OR")
	case f.operator != nil && f.logical != nil:
		p.report(at.child("logicalOperator"), "logicalOperator means the same as operator; give one of them")
	default:
		var ok bool
		if n.any, ok = logicOf(logic); !ok {
			p.report(at.child(key), "%s must be AND or OR", key)
		}
	}

	list, key := f.conditions, "conditions"
	if list == nil && f.items != nil {
		list, key = f.items, "items"
	}
	switch {
	case list == nil:
		p.report(at.child(key), "%s is required: a list of conditions and groups", key)
	case f.conditions != nil && f.items != nil:
		p.report(at.child("items"), "items means the same as conditions; give one of them")
	case list.shape != shapeList:
		p.report(at.child(key), "%s must be a list of conditions and groups", key)
	case len(list.items) == 0:
		p.report(at.child(key), "%s must hold at least one condition", key)
	default:
		inside := at.child(key)
		n.children = make([]node, len(list.items))
		for i := range list.items {
			n.children[i] = p.node(&list.items[i], inside.item(i), depth+1)
		}
	}
	return n
}

func (p *parser) condition(f fields, at *path) condition {
	c := condition{at: at}
	typ, haveType := p.name(f.typ, "type", at, kindChoices)
	if haveType {
		if c.kind, haveType = kindOf(typ); !haveType {
			p.report(at.child("type"), "type '%s' is not known; use one of %s", clip(typ), kindChoices)
		}
	}

	choices := operatorChoices
	if haveType {
		choices = choicesOf[c.kind]
	}
	op, haveOp := p.name(f.operator, "operator", at, choices)
	if haveOp {
		if c.op, haveOp = operatorOf(op); !haveOp {
			p.report(at.child("operator"), "operator '%s' is not known; use one of %s", clip(op), choices)
		} else if haveType && !slices.Contains(kinds[c.kind].operators, c.op) {
			p.report(at.child("operator"), "operator '%s' cannot be used with type '%s'; use one of %s",
				operatorNames[c.op], kinds[c.kind].name, choices)
			haveOp = false
		}
	}

	inside := at.child("value")
	if f.value == nil {
		p.report(inside, "value is required")
		return c
	}
	c.raw = string(f.value.raw)
	if haveType && haveOp {
		p.value(&c, f.value, inside)
	}
	return c
}

// name reads a required name and trims white space.
func (p *parser) name(v *value, key string, at *path, choices string) (string, bool) {
	switch {
	case v == nil:
		p.report(at.child(key), "%s is required; use one of %s", key, choices)
		return "", false
	case v.shape != shapeText:
		p.report(at.child(key), "%s must be a string; use one of %s", key, choices)
		return "", false
	}
	return strings.TrimSpace(v.text), true
}

func kindOf(name string) (kind, bool) {
	for k := range kinds {
		if strings.EqualFold(kinds[k].name, name) {
			return kind(k), true
		}
	}
	return 0, false
}

func operatorOf(name string) (operator, bool) {
	for o, known := range operatorNames {
		if strings.EqualFold(known, name) {
			return operator(o), true
		}
	}
	return 0, false
}

var (
	kindChoices     = joinKinds()
	operatorChoices = strings.Join(operatorNames[:], ", ")
)

// choicesOf lists the operators of each type.
var choicesOf = func() (of [len(kinds)]string) {
	for k := range kinds {
		of[k] = joinOperators(kinds[k].operators)
	}
	return of
}()

func joinKinds() string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return strings.Join(names, ", ")
}

func joinOperators(list []operator) string {
	names := make([]string, len(list))
	for i, o := range list {
		names[i] = operatorNames[o]
	}
	return strings.Join(names, ", ")
}

// clip shortens a word of a request that an error quotes.
func clip(s string) string {
	const most = 40
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '\uFFFD'
		}
		return r
	}, s)
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most]) + "…"
	}
	return s
}
