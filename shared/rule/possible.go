package rule

import (
	"net/netip"
	"strings"
)

// Certainty is how much is known of a visitor's value.
type Certainty uint8

// The degrees of certainty.
const (
	Sure    Certainty = iota // Fact returns the visitor's value
	OrNone                   // Fact returns the visitor's value, or the visitor has none
	Begins                   // Fact returns the visitor's value up to a hyphen, in ASCII; nothing or a hyphen and more follows
	Unknown                  // Fact says nothing about the visitor
)

// Partial provides facts about a visitor of whom not everything is known, such as one of the past. The parameters of the
// visitor's query are always unknown, and Address and Param are not called.
type Partial interface {
	Facts
	Certainty(Field) Certainty
	// Network returns addresses among which the visitor's is. The zero Prefix stands for all.
	Network() netip.Prefix
}

// Truth says which results of a group are possible.
type Truth uint8

// The values of Truth. Open means that the result depends on an unknown fact.
const (
	Fails Truth = 1 << iota
	Holds
	Open = Fails | Holds
)

func truthOf(holds bool) Truth {
	if holds {
		return Holds
	}
	return Fails
}

func (t Truth) not() Truth { return t&Holds>>1 | t&Fails<<1 }

// Kinds is a set of types of conditions.
type Kinds uint32

// Names returns the types as authors write them.
func (k Kinds) Names() []string {
	var names []string
	for i := range kinds {
		if k&(1<<i) != 0 {
			names = append(names, kinds[i].name)
		}
	}
	return names
}

// Possible returns the results that Eval can have for the visitor. If the result is Open, it also returns the types of the
// conditions that depend on unknown facts. It treats conditions as independent, so the result can be Open although
// two conditions on the same unknown fact exclude each other. It does not allocate.
func (p *Program) Possible(f Partial) (t Truth, open Kinds) {
	if len(p.code) == 0 {
		return Fails, 0
	}
	// A test only leads to later tests, so one pass in their order finds all that can be reached.
	var reached [maxLeaves]bool
	reached[0] = true
	follow := func(to uint16) {
		switch to {
		case accept:
			t |= Holds
		case reject:
			t |= Fails
		default:
			reached[to] = true
		}
	}
	var now wallClock
	for i := range p.code {
		if !reached[i] {
			continue
		}
		one := &p.code[i]
		result := p.possible(one, f, &now)
		if result&Holds != 0 {
			follow(one.onTrue)
		}
		if result&Fails != 0 {
			follow(one.onFalse)
		}
		if result == Open {
			open |= 1 << one.kind()
		}
	}
	if t != Open {
		open = 0
	}
	return t, open
}

// kind returns the type of the condition that a test was compiled from. It is not for conditions on the time.
func (t *test) kind() kind {
	switch t.code {
	case codeParam:
		return kindQuery
	case codeAddress:
		return kindIP
	}
	for k := range kinds {
		if kinds[k].field == t.field {
			return kind(k)
		}
	}
	return kindRegion
}

func (p *Program) possible(t *test, f Partial, now *wallClock) Truth {
	var result Truth
	switch t.code {
	case codeMinutes, codeDays, codeNever, codeInstant, codeShare:
		return truthOf(p.holds(t, f, now))
	case codeParam:
		return Open
	case codeAddress:
		result = mayContain(p.numbers[t.a:t.a+numbersPerRange*t.b], f.Network())
	default:
		result = p.mayCompare(t, f, t.field)
		if t.field == FieldRegionCode && result != Holds {
			if name := p.mayCompare(t, f, FieldRegionName); name == Holds {
				result = Holds
			} else {
				result |= name
			}
		}
	}
	if t.negate {
		return result.not()
	}
	return result
}

// mayCompare returns the possible results of compares for the visitor's value of a field.
func (p *Program) mayCompare(t *test, f Partial, field Field) Truth {
	certainty := f.Certainty(field)
	if certainty == Unknown {
		return Open
	}
	v := f.Fact(field)
	matches := p.compares(t, v)
	switch {
	case certainty == Sure, certainty == OrNone && !matches:
		return truthOf(matches)
	case certainty == OrNone, v == "":
		return Open
	}
	switch t.code {
	case codeContains, codeSuffix:
		if matches && t.code == codeContains {
			return Holds
		}
		return Open
	case codeFew:
		return p.mayContinue(p.table[t.a:t.a+t.b], v)
	case codeOneOf:
		return p.mayContinue(p.table[t.a:t.a+t.spans()], v)
	case codePrefix:
		if matches {
			return Holds
		}
	}
	return p.mayContinue([]span{{t.a, t.b}}, v)
}

// mayContinue returns Open if one of the texts is v, or continues it after a hyphen.
func (p *Program) mayContinue(texts []span, v string) Truth {
	for _, s := range texts {
		begin, _, _ := strings.Cut(p.text[s.at:s.at+s.length], "-")
		if s.length > 0 && equalFolded(begin, v) {
			return Open
		}
	}
	return Fails
}

// mayContain returns whether sorted ranges contain the addresses of a network.
func mayContain(ranges []uint64, network netip.Prefix) Truth {
	if !network.IsValid() {
		return Open
	}
	of := rangeOf(network)
	for ; len(ranges) > 0; ranges = ranges[numbersPerRange:] {
		first, last := address{ranges[0], ranges[1]}, address{ranges[2], ranges[3]}
		switch {
		case last.less(of.first), of.last.less(first):
		case !of.first.less(first) && !last.less(of.last):
			return Holds
		default:
			return Open
		}
	}
	return Fails
}
