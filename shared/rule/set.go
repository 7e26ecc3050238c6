package rule

import (
	"encoding/binary"
	"runtime"
	"unsafe"
)

// Set is several programs in order, joined so that a condition that occurs in several programs is evaluated at most
// once per visitor. A condition with a constant result is never evaluated. If a field has so many text conditions that
// a scanner is cheaper (see Work), one pass over the visitor's value decides all of them. A Set gives the same result
// as its programs one by one. It is immutable and safe for concurrent use; the zero Set matches nobody.
//
// The path to a step determines the results of the conditions on it. Within a budget, steps are duplicated per known
// results, so that no step repeats a condition. Beyond the budget, the programs' own steps are used, and results are
// remembered.
type Set struct {
	steps    []step
	start    uint16
	repeated uint16     // number of leaves whose results are remembered during a run
	leaves   Program    // its tests are the distinct conditions; those that occur repeatedly come first
	scanners []*scanner // for tests with codeScanned
	programs []*Program // used if the set is too large to be joined
}

// step is one test of one program and its successors: another step, the index of a program plus found, or none.
type step struct{ leaf, onTrue, onFalse uint16 }

const (
	found = 0x8000
	none  = 0xFFFF
)

// remembered is the maximum number of results that are known at a time.
const remembered = 128

// outcomes holds the known results of the first leaves.
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

// maxTests is the maximum number of tests in a joined set. A link's rules have fewer: at most 100 times maxLeaves.
const maxTests = found / 2

// NewSet joins programs and may keep them.
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
				return base + uint16(len(p.code)) // start of the next program
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

// gather copies every distinct test and its data into s.leaves, close together, and returns the leaf of each test.
func (s *Set) gather(programs []*Program, total int) []uint16 {
	type distinct struct {
		count int
		leaf  uint16
	}
	all := make([]distinct, 0, total)
	known := make(map[string]uint16, total)
	numbers := make([]uint16, 0, total) // indices of all, later leaves
	var work Work
	var key []byte
	for _, p := range programs {
		for i := range p.code {
			key = p.appendKey(key[:0], &p.code[i])
			n, has := known[string(key)]
			if !has {
				n = uint16(len(all))
				known[string(key)] = n
				all = append(all, distinct{})
			}
			all[n].count++
			numbers = append(numbers, n)
			work.addTest(p, &p.code[i])
		}
	}
	c := compiler{p: &s.leaves}
	c.p.code = make([]test, 0, len(all))
	var scans scans
	for _, repeated := range []bool{true, false} {
		at, next := 0, uint16(0) // distinct tests have increasing numbers at their first occurrences
		for _, p := range programs {
			for i := range p.code {
				if n := numbers[at]; n == next {
					if next++; all[n].count > 1 == repeated {
						all[n].leaf = uint16(len(s.leaves.code))
						if t := &p.code[i]; t.field < fieldCount && work.fields[t.field].scanned(t.field) {
							c.p.code = append(c.p.code, scans.adopt(p, t))
						} else {
							c.adopt(p, t)
						}
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
	for i, n := range numbers {
		numbers[i] = all[n].leaf
	}
	return numbers
}

// adopt copies one test of another program.
func (c *compiler) adopt(from *Program, t *test) { c.p.code = append(c.p.code, c.copied(from, t)) }

// copied returns a test of another program whose data is copied.
func (c *compiler) copied(from *Program, t *test) test {
	own := *t
	text := func(at, n uint32) uint32 {
		c.text = append(c.text, from.text[at:at+n]...)
		return uint32(len(c.text)) - n
	}
	switch t.code {
	case codeFew, codeOneOf:
		own.a = uint32(len(c.p.table))
		for _, w := range from.table[t.a : t.a+t.spans()] {
			c.p.table = append(c.p.table, span{text(w.at, w.length), w.length})
		}
	case codeNever, codeShare, codeMinutes, codeDays:
	case codeAddress, codeInstant:
		own.a = c.numbers(from.numbers[t.a : t.a+t.numbers()]...)
	case codeParam:
		q := &from.params[t.a]
		one := param{name: span{text(q.name.at, q.name.length), q.name.length}, test: c.copied(from, &q.test)}
		own.a = uint32(len(c.p.params))
		c.p.params = append(c.p.params, one)
	default:
		own.a = text(t.a, t.b)
		c.searches = c.searches || t.code == codeContains
	}
	return own
}

// spans returns the number of table entries of a list test.
func (t *test) spans() uint32 {
	if t.code == codeOneOf {
		return t.b + 1 // b is the size of the hash table less one
	}
	return t.b
}

// numbers returns how many numbers of Program.numbers a test has.
func (t *test) numbers() uint32 {
	if t.code == codeInstant {
		return 2
	}
	return numbersPerRange * t.b
}

// past returns the first step from at on whose result is not known yet. Steps only lead forward.
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
		return none // after the last program
	}
	return at
}

// First returns the index of the first program that the visitor matches, or -1 if there is none. Like Program.Eval it
// reads only the facts that it needs, does not allocate, and keeps no reference to f.
func (s *Set) First(f Facts) int {
	for i, p := range s.programs {
		if p.Eval(f) {
			return i
		}
	}
	if len(s.steps) == 0 && s.start < found {
		return -1 // the zero Set, or one that was not joined; if everything is known beforehand, start is the result
	}
	if s.scanners != nil {
		return s.firstScanning(f)
	}
	return s.walk(f, nil)
}

// firstScanning is First with memory for the results of scanners.
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

// touch reads the data of a run at independent addresses, so that the processor fetches them in parallel. The run
// itself would wait for one after the other.
func (s *Set) touch() {
	l := &s.leaves
	read := uint32(s.steps[len(s.steps)-1].leaf) | l.code[0].a | l.code[len(l.code)-1].a
	if len(l.table) > 0 {
		read |= l.table[0].at
	}
	if len(l.text) > 0 {
		read |= uint32(l.text[0])
	}
	runtime.KeepAlive(read) // prevents the compiler from removing the reads
}

// Size returns the approximate memory of the set in bytes, for caches.
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

// scans collects the patterns of future scanners.
type scans struct {
	patterns [fieldCount][]pattern
	bits     int
}

// adopt collects one text test of a program and returns the test that replaces it.
func (c *scans) adopt(p *Program, t *test) test {
	own := test{code: codeScanned, field: t.field, negate: t.negate, a: uint32(c.bits)}
	add := func(text string, how uint8) {
		if text != "" { // not a free place of a hash table
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

// scanned holds the results of scanners during a run.
type scanned struct {
	fields uint32 // fields that were scanned
	bits   [maxTests / 64]uint64
}

// scan finds the tests of a field that hold.
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

// constant reports whether a test has the same result for everybody at any time, and that result.
func (t *test) constant() (is, holds bool) {
	switch t.code {
	case codeNever:
		return true, t.negate
	case codeMinutes:
		return t.a/minuteBase == minutesPerDay-1, true
	}
	return false, false
}

// appendKey appends a key that is equal for two tests, of any programs, only if their results are always equal.
func (p *Program) appendKey(b []byte, t *test) []byte {
	negate := byte(0)
	if t.negate {
		negate = 1
	}
	b = append(b, byte(t.code), byte(t.field), negate)
	switch t.code {
	case codeMinutes, codeDays:
		b = binary.LittleEndian.AppendUint32(b, t.a)
		b = binary.LittleEndian.AppendUint32(b, t.b)
	case codeFew, codeOneOf:
		for _, s := range p.table[t.a : t.a+t.spans()] {
			b = binary.AppendUvarint(b, uint64(s.length))
			b = append(b, p.text[s.at:s.at+s.length]...)
		}
	case codeNever:
	case codeShare:
		b = binary.LittleEndian.AppendUint32(b, t.a)
	case codeAddress, codeInstant:
		for _, n := range p.numbers[t.a : t.a+t.numbers()] {
			b = binary.LittleEndian.AppendUint64(b, n)
		}
	case codeParam:
		q := &p.params[t.a]
		b = binary.AppendUvarint(b, uint64(q.name.length))
		b = append(b, p.text[q.name.at:q.name.at+q.name.length]...)
		b = p.appendKey(b, &q.test)
	default:
		b = append(b, p.text[t.a:t.a+t.b]...)
	}
	return b
}
