package rule

import (
	"slices"
	"unicode/utf8"
	"unsafe"
)

// scanner finds all text conditions on one field that hold for a visitor, in one pass over the visitor's value. It is
// an Aho-Corasick automaton over folded bytes; its nodes are the prefixes of the conditions' texts. The time of a pass
// depends on the length of the value and hardly on the number of conditions.
//
// Nodes are numbered breadth first, so the children of a node have consecutive numbers.
type scanner struct {
	field Field
	root  [256]uint32 // children of node 0 by byte; 0: none
	label []byte      // byte of the edge to the node
	ends  []uint8     // kinds of match that end at the node
	first []uint32    // first child; the children end at the first child of the next node
	fail  []uint32    // node of the longest proper suffix
	next  []uint32    // nearest node along fail with a text of contains, or 0
	found []uint32    // start of the node's matches; valid only if ends is not 0
	match []match
}

// match is a bit to set for a kind of match.
type match struct {
	bit  uint16
	how  uint8 // kind of match, see below
	last bool  // last match of its node
}

// Kinds of match.
const (
	inside  = 1 << iota // anywhere
	ahead               // at the start
	behind              // at the end
	exactly             // the whole value
)

// pattern is one text of one condition.
type pattern struct {
	text string // folded
	bit  uint16
	how  uint8
}

// prefixRange is a range of patterns with a common prefix: those of a node and of its descendants.
type prefixRange struct{ from, to, depth int }

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
	queue := []prefixRange{{0, len(patterns), 0}}
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
			queue = append(queue, prefixRange{from, i, at.depth + 1})
			if n == 0 {
				s.root[label] = child
			}
		}
	}
	s.first = append(s.first, uint32(len(queue))) // end of the last node's children
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

// follow consumes one byte from a node, and follows fail links as needed.
func (s *scanner) follow(at uint32, c byte) uint32 {
	for at != 0 {
		if child := s.child(at, c); child != 0 {
			return child
		}
		at = s.fail[at]
	}
	return s.root[c]
}

// child returns the child of a node other than 0, or 0 if there is none.
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

// pass is the state of a scan of one value.
type pass struct {
	*scanner
	at    uint32
	whole bool // at is the whole value so far, not only a suffix of it
	bits  []uint64
}

// scan sets the bits of the conditions whose positive form holds for the value. An empty value sets no bit.
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

// take consumes one byte.
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
	// If a node was marked before, all nodes that follow it were marked too.
	for at != 0 && p.mark(at, inside) {
		at = p.next[at]
	}
}

// mark sets the bits of the texts that end at a node with one kind of match. It reports whether any bit was new.
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

// size returns the memory of the scanner in bytes.
func (s *scanner) size() int {
	return int(unsafe.Sizeof(*s)) + len(s.label)*(1+1+4+4+4+4) + len(s.match)*int(unsafe.Sizeof(match{}))
}
