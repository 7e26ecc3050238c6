package rule

import (
	"slices"
	"unicode/utf8"
	"unsafe"
)

// scanner finds all text conditions on one field that hold for a visitor, in one pass over the visitor's value. It is an
// Aho-Corasick automaton over folded bytes: its nodes are the beginnings of the conditions' texts. The time of a pass
// depends on the length of the value, and hardly on the number of conditions.
//
// Nodes are numbered breadth first, so the children of a node have consecutive numbers.
type scanner struct {
	field Field
	root  [256]uint32 // children of node 0, by byte; 0: none
	label []byte      // the byte that leads to the node
	ends  []uint8     // which ways of matching end at the node
	first []uint32    // the first child; the children end where those of the next node begin
	fail  []uint32    // the node of the longest proper suffix that is a node
	next  []uint32    // the nearest node along fail that has a text of contains, or 0
	found []uint32    // where in matches those of the node begin; only valid where ends isn't 0
	match []match
}

// match says that a bit is to be set.
type match struct {
	bit  uint16
	how  uint8 // one of the ways below
	last bool  // of its node
}

// The ways in which a text can match.
const (
	inside  = 1 << iota // anywhere
	ahead               // at the beginning
	behind              // at the end
	exactly             // from beginning to end
)

// pattern is one text of one condition.
type pattern struct {
	text string // folded
	bit  uint16
	how  uint8
}

// stretch are patterns that begin with the same bytes: all of a node, and of those below it.
type stretch struct{ from, to, depth int }

func newScanner(field Field, patterns []pattern) *scanner {
	slices.SortFunc(patterns, func(a, b pattern) int {
		switch {
		case a.text < b.text:
			return -1
		case a.text > b.text:
			return 1
		}
		return int(a.bit) - int(b.bit)
	})
	s := &scanner{field: field}
	s.node(0)
	queue := []stretch{{0, len(patterns), 0}}
	for n := 0; n < len(queue); n++ {
		at := queue[n]
		i := at.from
		s.found[n] = uint32(len(s.match))
		for ; i < at.to && len(patterns[i].text) == at.depth; i++ {
			s.ends[n] |= patterns[i].how
			s.match = append(s.match, match{bit: patterns[i].bit, how: patterns[i].how})
		}
		if i > at.from {
			s.match[len(s.match)-1].last = true
		}
		s.first[n] = uint32(len(queue))
		for i < at.to {
			from, label := i, patterns[i].text[at.depth]
			for i < at.to && patterns[i].text[at.depth] == label {
				i++
			}
			child := s.node(label)
			queue = append(queue, stretch{from, i, at.depth + 1})
			if n == 0 {
				s.root[label] = child
			}
		}
	}
	s.first = append(s.first, uint32(len(queue))) // the end of the last node's children
	s.join()
	s.label, s.ends, s.first = slices.Clip(s.label), slices.Clip(s.ends), slices.Clip(s.first)
	s.fail, s.next, s.found, s.match = slices.Clip(s.fail), slices.Clip(s.next), slices.Clip(s.found), slices.Clip(s.match)
	return s
}

func (s *scanner) node(label byte) uint32 {
	s.label, s.ends, s.first = append(s.label, label), append(s.ends, 0), append(s.first, 0)
	s.fail, s.next, s.found = append(s.fail, 0), append(s.next, 0), append(s.found, 0)
	return uint32(len(s.label) - 1)
}

// join computes fail and next. Both lead to shorter texts, whose nodes have lower numbers.
func (s *scanner) join() {
	for n := uint32(0); int(n) < len(s.label); n++ {
		for child := s.first[n]; child < s.first[n+1]; child++ {
			if n > 0 {
				s.fail[child] = s.follow(s.fail[n], s.label[child])
			}
			f := s.fail[child]
			if s.next[child] = s.next[f]; s.ends[f]&inside != 0 {
				s.next[child] = f
			}
		}
	}
}

// follow takes one byte from a node on, along fail if need be.
func (s *scanner) follow(at uint32, c byte) uint32 {
	for at != 0 {
		if child := s.child(at, c); child != 0 {
			return child
		}
		at = s.fail[at]
	}
	return s.root[c]
}

// child returns the child of a node other than 0, or 0.
func (s *scanner) child(at uint32, c byte) uint32 {
	from, to := s.first[at], s.first[at+1]
	for to-from > 8 {
		if middle := (from + to) / 2; s.label[middle] <= c {
			from = middle
		} else {
			to = middle
		}
	}
	for ; from < to; from++ {
		if s.label[from] == c {
			return from
		}
	}
	return 0
}

// pass is where a scan of one value has got to.
type pass struct {
	*scanner
	at    uint32
	whole bool // at is all of the value up to here, not just a suffix of it
	bits  []uint64
}

// scan sets the bits of the conditions whose positive form holds for the value. Of an empty one none does.
func (s *scanner) scan(v string, bits []uint64) {
	if v == "" {
		return
	}
	p := pass{scanner: s, whole: true, bits: bits}
	for i := 0; i < len(v); {
		if c := v[i]; c < utf8.RuneSelf {
			p.take(foldASCII[c])
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(v[i:])
		var buf [utf8.UTFMax]byte
		for _, c := range buf[:utf8.EncodeRune(buf[:], foldRune(r))] {
			p.take(c)
		}
		i += n
	}
	if p.whole {
		p.mark(p.at, exactly)
	}
	for at := p.at; at != 0; at = s.fail[at] {
		p.mark(at, behind)
	}
}

// take goes on by one byte.
func (p *pass) take(c byte) {
	at := p.at
	for {
		if at == 0 {
			at = p.root[c]
			p.whole = p.whole && at != 0
			break
		}
		if child := p.child(at, c); child != 0 {
			at = child
			break
		}
		p.whole = false
		at = p.fail[at]
	}
	p.at = at
	if p.whole {
		p.mark(at, ahead)
	}
	if p.ends[at]&inside == 0 {
		at = p.next[at]
	}
	// A node that has been marked before was marked along with all that follow it.
	for at != 0 && p.mark(at, inside) {
		at = p.next[at]
	}
}

// mark sets the bits of texts that end at a node and match in one way. It reports whether one of them wasn't set yet.
func (p *pass) mark(at uint32, how uint8) (news bool) {
	if p.ends[at]&how == 0 {
		return false
	}
	for i := p.found[at]; ; i++ {
		m := &p.match[i]
		if m.how == how {
			word, bit := &p.bits[m.bit/64], uint64(1)<<(m.bit%64)
			news = news || *word&bit == 0
			*word |= bit
		}
		if m.last {
			return news
		}
	}
}

// size is how many bytes of memory the scanner takes.
func (s *scanner) size() int {
	return int(unsafe.Sizeof(*s)) + len(s.label)*(1+1+4+4+4+4) + len(s.match)*int(unsafe.Sizeof(match{}))
}
