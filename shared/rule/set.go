package rule

import "encoding/binary"

// Set is several programs that are tried in order, joined so that a condition which occurs in more than one of them
// is evaluated at most once for a visitor, and one that always or never holds not at all. It answers as its
// programs do one by one. It is immutable and may be used by any number of goroutines; the zero Set matches nobody.
type Set struct {
	programs []*Program // in use where the set is too large to be joined
	steps    []step
	leaves   []leaf // those that occur repeatedly come first
	repeated uint16 // how many of them are remembered during a run
	start    uint16
}

// step is one test of one program, and where to go from it: another step, or a program's number plus found, or none.
type step struct{ leaf, onTrue, onFalse uint16 }

const (
	found = 0x8000
	none  = 0xFFFF
)

// leaf is one condition, as it stands in one of the programs.
type leaf struct {
	in   *Program
	test *test
}

// remembered bounds how many outcomes are kept during a run.
const remembered = 128

// NewSet joins programs, which it keeps.
func NewSet(programs []*Program) *Set {
	total := 0
	for _, p := range programs {
		total += len(p.code)
	}
	if total >= found || len(programs) >= none-found {
		return &Set{programs: programs}
	}
	s := &Set{steps: make([]step, 0, total)}
	keys := make([]leafKey, 0, total)
	count := make(map[leafKey]int, total)
	for _, p := range programs {
		for i := range p.code {
			k := p.key(&p.code[i])
			keys = append(keys, k)
			count[k]++
		}
	}
	numbers := make(map[leafKey]uint16, len(count))
	for _, repeated := range []bool{true, false} {
		at := 0
		for _, p := range programs {
			for i := range p.code {
				k := keys[at]
				if _, has := numbers[k]; !has && count[k] > 1 == repeated {
					numbers[k] = uint16(len(s.leaves))
					s.leaves = append(s.leaves, leaf{p, &p.code[i]})
				}
				at++
			}
		}
		if repeated {
			s.repeated = uint16(min(len(s.leaves), remembered))
		}
	}
	for number, p := range programs {
		base := uint16(len(s.steps))
		to := func(target uint16) uint16 {
			switch target {
			case accept:
				return found + uint16(number)
			case reject:
				return base + uint16(len(p.code)) // where the next program begins
			}
			return base + target
		}
		for i := range p.code {
			s.steps = append(s.steps, step{numbers[keys[base+uint16(i)]], to(p.code[i].onTrue), to(p.code[i].onFalse)})
		}
	}
	s.start = s.past(0)
	for i := range s.steps {
		s.steps[i].onTrue, s.steps[i].onFalse = s.past(s.steps[i].onTrue), s.past(s.steps[i].onFalse)
	}
	return s
}

// past gives the first step, from one on, whose outcome is not known beforehand. Steps only lead forward.
func (s *Set) past(at uint16) uint16 {
	for int(at) < len(s.steps) {
		constant, holds := s.leaves[s.steps[at].leaf].test.constant()
		if !constant {
			return at
		}
		if holds {
			at = s.steps[at].onTrue
		} else {
			at = s.steps[at].onFalse
		}
	}
	if int(at) == len(s.steps) {
		return none // behind the last program
	}
	return at
}

// First returns the index of the first program that the visitor matches, -1 if there is none. Like Program.Eval it
// asks only for the facts it needs and allocates nothing; f is used during the call only.
func (s *Set) First(f Facts) int {
	for i, p := range s.programs {
		if p.Eval(f) {
			return i
		}
	}
	if len(s.steps) == 0 {
		return -1
	}
	var now wallClock
	var known, held [remembered / 64]uint64
	at := s.start
	for at < found {
		st := s.steps[at]
		l := &s.leaves[st.leaf]
		var ok bool
		if word, bit := st.leaf/64%(remembered/64), uint64(1)<<(st.leaf%64); st.leaf >= s.repeated {
			ok = l.in.holds(l.test, f, &now)
		} else if known[word]&bit != 0 {
			ok = held[word]&bit != 0
		} else {
			known[word] |= bit
			if ok = l.in.holds(l.test, f, &now); ok {
				held[word] |= bit
			}
		}
		if ok {
			at = st.onTrue
		} else {
			at = st.onFalse
		}
	}
	if at == none {
		return -1
	}
	return int(at - found)
}

// constant reports whether a test has the same outcome for everybody at any time, and which.
func (t *test) constant() (is, holds bool) {
	switch t.code {
	case codeNever:
		return true, false
	case codeMinutes:
		return t.b == minutesPerDay-1, true
	}
	return false, false
}

// leafKey is the same for two tests, of whatever programs, only if they have the same outcome by definition.
type leafKey struct {
	test string
	zone *zone
}

func (p *Program) key(t *test) leafKey {
	b := []byte{byte(t.code), byte(t.field), 0}
	if t.negate {
		b[2] = 1
	}
	switch t.code {
	case codeMinutes, codeDays:
		b = binary.LittleEndian.AppendUint32(b, t.a)
		b = binary.LittleEndian.AppendUint32(b, t.b)
		return leafKey{string(b), p.zones[t.zone]}
	case codeFew, codeOneOf:
		n := t.b
		if t.code == codeOneOf {
			n++ // the size of a hash table less one
		}
		for _, s := range p.table[t.a : t.a+n] {
			b = binary.AppendUvarint(b, uint64(s.length))
			b = append(b, p.text[s.at:s.at+s.length]...)
		}
	case codeNever:
	default:
		b = append(b, p.text[t.a:t.a+t.b]...)
	}
	return leafKey{test: string(b)}
}
