package rule

// Needs says which facts programs may ask for that take an effort to prepare.
type Needs uint8

// The facts.
const (
	NeedsQuery   Needs = 1 << iota // Facts.Param
	NeedsVisitor                   // FieldVisitor: whether the visitor has been here before
	NeedsShare                     // Facts.Share
)

// Needs returns the facts that the program may ask for.
func (p *Program) Needs() (n Needs) {
	for i := range p.code {
		n |= p.code[i].needs()
	}
	return n
}

func (t *test) needs() Needs {
	switch {
	case t.code == codeParam:
		return NeedsQuery
	case t.code == codeShare:
		return NeedsShare
	case t.field == FieldVisitor:
		return NeedsVisitor
	}
	return 0
}
