package rule

import (
	"encoding/binary"
	"runtime"
	"unsafe"
)

// Set is several programs that are tried in order, joined so that a condition which occurs in more than one of them
// is evaluated at most once for a visitor, and one that always or never holds not at all. Where there are so many text
// conditions on a field that a scanner is cheaper (see Work), one pass over the visitor's value decides them all. It answers
// as its programs do one by one. It is immutable and may be used by any number of goroutines; the zero Set matches nobody.
//
// What joins them is that the way to a step tells the outcome of the conditions on it: steps are unfolded by what is
// known on the way there, as far as a budget allows, so that none asks what is known. Beyond the budget the steps of
// the programs themselves go on, and outcomes are remembered.
type Set struct {
	steps    []step
	start    uint16
	repeated uint16     // how many leaves are remembered during a run
	leaves   Program    // its tests are the distinct conditions, those that occur repeatedly first
	scanners []*scanner // for the tests that are codeScanned
	programs []*Program // in use where the set is too large to be joined
}

// step is one test of one program, and where to go from it: another step, or a program's number plus found, or none.
type step struct{ leaf, onTrue, onFalse uint16 }

const (
	found = 0x8000
	none  = 0xFFFF
)

// remembered bounds how many outcomes are known at a time.
const remembered = 128

// outcomes are what is known of the first leaves.
type outcomes struct{ known, held [remembered / 64]uint64 }

func (o *outcomes) of(leaf uint16) (known, held bool) {
	word, bit := leaf/64%(remembered/64), uint64(1)<<(leaf%64)
	return o.known[word]&bit != 0, o.held[word]&bit != 0
}

func (o *outcomes) note(leaf uint16, held bool) {
	word, bit := leaf/64%(remembered/64), uint64(1)<<(leaf%64)
	o.known[word] |= bit
	if held {
		o.held[word] |= bit
	}
}

// maxTests is how many tests a set can join: more than a link's rules can have, which is 100 times maxLeaves.
const maxTests = found / 2

// NewSet joins programs, which it may keep.
func NewSet(programs []*Program) *Set {
	total := 0
	for _, p := range programs {
		total += len(p.code)
	}
	if total >= maxTests || len(programs) >= none-found {
		return &Set{programs: programs}
	}
	s := &Set{steps: make([]step, 0, total), start: none}
	numbers := s.gather(programs, total)
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
			s.steps = append(s.steps, step{numbers[base+uint16(i)], to(p.code[i].onTrue), to(p.code[i].onFalse)})
		}
	}
	s.start = s.past(0)
	for i := range s.steps {
		s.steps[i].onTrue, s.steps[i].onFalse = s.past(s.steps[i].onTrue), s.past(s.steps[i].onFalse)
	}
	s.unfold()
	return s
}

// gather copies every distinct test and what belongs to it into s.leaves, close together, and returns the number of
// each test's leaf.
func (s *Set) gather(programs []*Program, total int) []uint16 {
	keys := make([]leafKey, 0, total)
	count := make(map[leafKey]int, total)
	var work Work
	for _, p := range programs {
		for i := range p.code {
			k := p.key(&p.code[i])
			keys = append(keys, k)
			count[k]++
			work.add(p, &p.code[i])
		}
	}
	c := compiler{p: &s.leaves}
	var scans scans
	number := make(map[leafKey]uint16, len(count))
	for _, repeated := range []bool{true, false} {
		at := 0
		for _, p := range programs {
			for i := range p.code {
				k := keys[at]
				if _, has := number[k]; !has && count[k] > 1 == repeated {
					number[k] = uint16(len(s.leaves.code))
					if t := &p.code[i]; t.field < fieldCount && work.fields[t.field].scanned(t.field) {
						c.p.code = append(c.p.code, scans.adopt(p, t))
					} else {
						c.adopt(p, t)
					}
				}
				at++
			}
		}
		if repeated {
			s.repeated = uint16(min(len(s.leaves.code), remembered))
		}
	}
	c.finish()
	s.scanners = scans.finish()
	numbers := make([]uint16, total)
	for i, k := range keys {
		numbers[i] = number[k]
	}
	return numbers
}

// adopt copies one test of another program.
func (c *compiler) adopt(from *Program, t *test) {
	own := *t
	text := func(at, n uint32) uint32 {
		c.text = append(c.text, from.text[at:at+n]...)
		return uint32(len(c.text)) - n
	}
	switch t.code {
	case codeMinutes, codeDays:
		own.b = c.zoneIndex(from.zones[t.b])
	case codeFew, codeOneOf:
		own.a = uint32(len(c.p.table))
		for _, w := range from.table[t.a : t.a+t.spans()] {
			c.p.table = append(c.p.table, span{text(w.at, w.length), w.length})
		}
	case codeNever:
	default:
		own.a = text(t.a, t.b)
		c.searches = c.searches || t.code == codeContains
	}
	c.p.code = append(c.p.code, own)
}

// spans is how many entries of the table belong to a test of a list.
func (t *test) spans() uint32 {
	if t.code == codeOneOf {
		return t.b + 1 // the size of a hash table less one
	}
	return t.b
}

// past gives the first step, from one on, whose outcome is not known beforehand. Steps only lead forward.
func (s *Set) past(at uint16) uint16 {
	for int(at) < len(s.steps) {
		constant, holds := s.leaves.code[s.steps[at].leaf].constant()
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

// place is a step and what is known on the way to it.
type place struct {
	at uint16
	outcomes
}

// unfold makes a step for every place, within a budget. Places near the start come first.
func (s *Set) unfold() {
	// What is known of a condition matters only where it occurs later.
	live := make([][remembered / 64]uint64, len(s.steps)+1)
	for at := len(s.steps) - 1; at >= 0; at-- {
		live[at] = live[at+1]
		if leaf := s.steps[at].leaf; leaf < s.repeated {
			live[at][leaf/64] |= 1 << (leaf % 64)
		}
	}
	base := uint16(len(s.steps))
	budget := min(4*len(s.steps)+64, found-1-len(s.steps))
	made := map[place]uint16{}
	var queue []place
	whole := true
	enter := func(p place) uint16 {
		for p.at < found {
			known, held := false, false
			if leaf := s.steps[p.at].leaf; leaf < s.repeated {
				known, held = p.of(leaf)
			}
			if !known {
				break
			}
			if held {
				p.at = s.steps[p.at].onTrue
			} else {
				p.at = s.steps[p.at].onFalse
			}
		}
		if p.at >= found {
			return p.at
		}
		for word := range p.known {
			p.known[word] &= live[p.at][word]
			p.held[word] &= p.known[word]
		}
		if n, has := made[p]; has {
			return n
		}
		if len(queue) == budget {
			whole = false
			return p.at
		}
		made[p] = base + uint16(len(queue))
		queue = append(queue, p)
		return made[p]
	}
	start := enter(place{at: s.start})
	for i := 0; i < len(queue); i++ {
		p := queue[i]
		from := s.steps[p.at]
		yes, no := p, p
		if from.leaf < s.repeated {
			yes.note(from.leaf, true)
			no.note(from.leaf, false)
		}
		yes.at, no.at = from.onTrue, from.onFalse
		s.steps = append(s.steps, step{from.leaf, enter(yes), enter(no)})
	}
	s.start = start
	if whole {
		// Nothing leads back to the programs' own steps, and nothing needs to be remembered.
		s.repeated = 0
		down := func(at uint16) uint16 {
			if at < found {
				return at - base
			}
			return at
		}
		own := make([]step, 0, len(s.steps)-int(base))
		for _, st := range s.steps[base:] {
			own = append(own, step{st.leaf, down(st.onTrue), down(st.onFalse)})
		}
		s.steps, s.start = own, down(start)
	}
}

// First returns the index of the first program that the visitor matches, -1 if there is none. Like Program.Eval it
// asks only for the facts it needs and allocates nothing; f is used during the call only.
func (s *Set) First(f Facts) int {
	for i, p := range s.programs {
		if p.Eval(f) {
			return i
		}
	}
	if len(s.steps) == 0 && s.start < found {
		return -1 // the zero Set, or one that was not joined; where all is known beforehand, start is the answer
	}
	if s.scanners != nil {
		return s.firstScanning(f)
	}
	return s.walk(f, nil)
}

// firstScanning is First with memory for what scanners find.
func (s *Set) firstScanning(f Facts) int {
	var scanned scanned
	return s.walk(f, &scanned)
}

func (s *Set) walk(f Facts, scanned *scanned) int {
	var now wallClock
	var memory outcomes
	at := s.start
	if at < found {
		s.touch()
	}
	for at < found {
		st := s.steps[at]
		known, ok := false, false
		if st.leaf < s.repeated {
			known, ok = memory.of(st.leaf)
		}
		if !known {
			if t := &s.leaves.code[st.leaf]; t.code == codeScanned {
				if scanned.fields>>t.field&1 == 0 {
					s.scan(t.field, f, scanned)
				}
				ok = scanned.bits[t.a/64%(maxTests/64)]>>(t.a%64)&1 != 0 != t.negate
			} else {
				ok = s.leaves.holds(t, f, &now)
			}
			if st.leaf < s.repeated {
				memory.note(st.leaf, ok)
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

// touch reads what a run will need, in places that do not depend on each other, so that the processor fetches them
// side by side; the run itself would wait for one after the other.
func (s *Set) touch() {
	l := &s.leaves
	read := uint32(s.steps[len(s.steps)-1].leaf) | l.code[0].a | l.code[len(l.code)-1].a
	if len(l.table) > 0 {
		read |= l.table[0].at
	}
	if len(l.text) > 0 {
		read |= uint32(l.text[0])
	}
	runtime.KeepAlive(read) // else the compiler drops the reads
}

// Size is about how many bytes of memory the set holds on to, for caches.
func (s *Set) Size() int {
	size := int(unsafe.Sizeof(*s)) - int(unsafe.Sizeof(s.leaves)) + s.leaves.Size() + len(s.steps)*int(unsafe.Sizeof(step{}))
	for _, p := range s.programs {
		size += p.Size()
	}
	for _, one := range s.scanners {
		size += one.size()
	}
	return size
}

// scans collects what becomes scanners.
type scans struct {
	patterns [fieldCount][]pattern
	bits     int
}

// adopt takes one text test of a program and gives the test that replaces it.
func (c *scans) adopt(p *Program, t *test) test {
	own := test{code: codeScanned, field: t.field, negate: t.negate, a: uint32(c.bits)}
	add := func(text string, how uint8) {
		if text != "" { // a free place of a hash table
			c.patterns[t.field] = append(c.patterns[t.field], pattern{text, uint16(own.a), how})
		}
	}
	c.bits++
	switch t.code {
	case codeFew, codeOneOf:
		for _, w := range p.table[t.a : t.a+t.spans()] {
			add(p.text[w.at:w.at+w.length], exactly)
		}
	case codeContains:
		add(p.text[t.a:t.a+t.b], inside)
	case codePrefix:
		add(p.text[t.a:t.a+t.b], ahead)
	case codeSuffix:
		add(p.text[t.a:t.a+t.b], behind)
	default:
		add(p.text[t.a:t.a+t.b], exactly)
	}
	return own
}

func (c *scans) finish() (made []*scanner) {
	for f := range c.patterns {
		if len(c.patterns[f]) > 0 {
			made = append(made, newScanner(Field(f), c.patterns[f]))
		}
	}
	return made
}

// scanned is what scanners have found during a run.
type scanned struct {
	fields uint32 // those that have been scanned
	bits   [maxTests / 64]uint64
}

// scan finds out which of a field's tests hold.
func (s *Set) scan(field Field, f Facts, found *scanned) {
	found.fields |= 1 << field
	for _, one := range s.scanners {
		if one.field != field {
			continue
		}
		one.scan(f.Fact(field), found.bits[:])
		if field == FieldRegionCode {
			one.scan(f.Fact(FieldRegionName), found.bits[:])
		}
	}
}

// constant reports whether a test has the same outcome for everybody at any time, and which.
func (t *test) constant() (is, holds bool) {
	switch t.code {
	case codeNever:
		return true, false
	case codeMinutes:
		return t.a/minuteBase == minutesPerDay-1, true
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
		return leafKey{string(b), p.zones[t.b]}
	case codeFew, codeOneOf:
		for _, s := range p.table[t.a : t.a+t.spans()] {
			b = binary.AppendUvarint(b, uint64(s.length))
			b = append(b, p.text[s.at:s.at+s.length]...)
		}
	case codeNever:
	default:
		b = append(b, p.text[t.a:t.a+t.b]...)
	}
	return leafKey{test: string(b)}
}
