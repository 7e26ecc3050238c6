package rule

import (
	"errors"
	"math/bits"
	"time"
	"unsafe"
)

// Options say what a group does not say itself.
type Options struct {
	// Zone is the time zone of conditions that name none; nil is UTC. Pass the same Location every time: a new one
	// costs a few microseconds to look through.
	Zone *time.Location
}

// Program is a compiled group. It is immutable and may be used by any number of goroutines. The zero Program matches
// nobody.
//
// It holds few pointers, so that a cache of many programs costs the garbage collector little.
type Program struct {
	code   []test
	text   string   // folded constants, one after the other
	fail   []uint16 // failure tables, beside the constants that are searched for
	table  []span   // the lists
	zones  []*zone
	source string // the authored group, for Explain
}

// test is one condition and where to go from it. The tests stand in the order of the authored tree.
type test struct {
	code            opcode
	field           Field
	negate          bool
	onTrue, onFalse uint16 // the next test, or accept, or reject
	a, b            uint32 // by opcode, see there
}

const (
	reject = 0xFFFE
	accept = 0xFFFF
)

// opcode says how a test compares.
type opcode uint8

const (
	codeEquals   opcode = iota // text at a, b bytes long
	codeContains               // text at a, b bytes long, failure table at the same place
	codePrefix                 // text at a, b bytes long
	codeSuffix                 // text at a, b bytes long
	codeFew                    // b spans at a, one after the other
	codeOneOf                  // hash table of spans at a, whose size less one is b
	codeMinutes                // from minute a%minuteBase on, for a/minuteBase minutes more, through midnight if need be, in zone b
	codeDays                   // days in the bits of a, in zone b
	codeNever
	codeScanned // in a Set only: bit a of what the field's scanner finds
)

// span is a piece of Program.text. Length 0 marks a free place of a hash table.
type span struct{ at, length uint32 }

// few is up to how many values it is faster to compare with each than to hash the visitor's.
const few = 8

const (
	minutesPerDay = 24 * 60
	minuteBase    = 1 << 16
)

// Compile turns a group into a program. It fails only for a group that Parse did not make.
func Compile(g *Group, opts Options) (*Program, error) {
	if g == nil || g.root.children == nil {
		return nil, errors.New("compile rule: the group is empty")
	}
	if opts.Zone == nil {
		opts.Zone = time.UTC
	}
	c := compiler{zone: opts.Zone, p: &Program{source: g.source}}
	c.node(&g.root, accept, reject)
	c.finish()
	return c.p, nil
}

// finish completes the program when all of its tests are there.
func (c *compiler) finish() {
	c.p.text = string(c.text)
	if !c.searches {
		return
	}
	c.p.fail = make([]uint16, len(c.text))
	for i := range c.p.code {
		if t := &c.p.code[i]; t.code == codeContains {
			failures(c.p.text[t.a:t.a+t.b], c.p.fail[t.a:t.a+t.b])
		}
	}
}

// Size is about how many bytes of memory the program holds on to, for caches.
func (p *Program) Size() int {
	return int(unsafe.Sizeof(*p)) + len(p.code)*int(unsafe.Sizeof(test{})) + len(p.text) + 2*len(p.fail) +
		len(p.table)*int(unsafe.Sizeof(span{})) + 8*len(p.zones) + len(p.source)
}

type compiler struct {
	p        *Program
	text     []byte
	searches bool
	zone     *time.Location
}

// node emits the tests of a node, which go to one of two places when it is decided.
func (c *compiler) node(n *node, onTrue, onFalse uint16) {
	if n.children == nil {
		c.p.code = append(c.p.code, c.test(&n.condition, onTrue, onFalse))
		return
	}
	for i := range n.children {
		child := &n.children[i]
		if i == len(n.children)-1 {
			c.node(child, onTrue, onFalse)
			continue
		}
		next := uint16(len(c.p.code) + child.leaves())
		if n.any {
			c.node(child, onTrue, next)
		} else {
			c.node(child, next, onFalse)
		}
	}
}

func (n *node) leaves() int {
	if n.children == nil {
		return 1
	}
	sum := 0
	for i := range n.children {
		sum += n.children[i].leaves()
	}
	return sum
}

func (c *compiler) test(l *condition, onTrue, onFalse uint16) test {
	t := test{field: kinds[l.kind].field, negate: l.op.negative(), onTrue: onTrue, onFalse: onFalse}
	switch l.kind {
	case kindTime:
		var from, more uint32
		t.code, from, more = minutes(l)
		t.a, t.b = from+more*minuteBase, c.zoneIndex(l.zone)
	case kindDay:
		t.code, t.a, t.b = codeDays, uint32(l.days), c.zoneIndex(l.zone)
	default:
		switch l.op {
		case opContains, opNotContains:
			t.code = codeContains
			c.searches = true
		case opStartsWith:
			t.code = codePrefix
		case opEndsWith:
			t.code = codeSuffix
		default:
			switch n := len(l.texts); {
			case n == 1:
				t.code = codeEquals
			case n <= few:
				t.code = codeFew
				t.a, t.b = uint32(len(c.p.table)), uint32(n)
				for _, s := range l.texts {
					c.p.table = append(c.p.table, c.constant(s))
				}
				return t
			default:
				t.code = codeOneOf
				t.a, t.b = c.set(l.texts)
				return t
			}
		}
		s := c.constant(l.texts[0])
		t.a, t.b = s.at, s.length
	}
	return t
}

// minutes gives the minutes of the day that a condition on the time covers. HH:MM means that whole minute: between
// includes both of its ends, before and after leave theirs out.
func minutes(l *condition) (code opcode, from, more uint32) {
	switch {
	case l.op == opBetween:
		return codeMinutes, uint32(l.from), uint32((l.to - l.from + minutesPerDay) % minutesPerDay)
	case l.op == opBefore && l.from > 0:
		return codeMinutes, 0, uint32(l.from - 1)
	case l.op == opAfter && l.from < minutesPerDay-1:
		return codeMinutes, uint32(l.from + 1), uint32(minutesPerDay - 2 - l.from)
	default:
		return codeNever, 0, 0
	}
}

func (c *compiler) zoneIndex(z *zone) uint32 {
	if z == nil {
		z = zoneOf(c.zone)
	}
	for i, known := range c.p.zones {
		if known == z {
			return uint32(i)
		}
	}
	c.p.zones = append(c.p.zones, z)
	return uint32(len(c.p.zones) - 1)
}

func (c *compiler) constant(s string) span {
	folded := fold(s)
	at := len(c.text)
	c.text = append(c.text, folded...)
	return span{uint32(at), uint32(len(folded))}
}

// set makes a hash table with open addressing, at most half full.
func (c *compiler) set(texts []string) (at, mask uint32) {
	size := 1 << bits.Len(uint(2*len(texts)-1))
	at, mask = uint32(len(c.p.table)), uint32(size-1)
	c.p.table = append(c.p.table, make([]span, size)...)
	table := c.p.table[at:]
	for _, s := range texts {
		h := hashFolded(s)
		for table[h&mask].length > 0 {
			h++
		}
		table[h&mask] = c.constant(s)
	}
	return at, mask
}
