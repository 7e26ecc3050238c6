package rule

import (
	"cmp"
	"errors"
	"math/bits"
	"time"
	"unsafe"
)

// Options hold defaults for what a group does not specify.
type Options struct {
	// Zone is the default time zone of conditions; nil means UTC. Pass the same Location every time, because a new one
	// costs a few microseconds to read, and each one that differs from the others is kept for the life of the process.
	Zone *time.Location
}

// Program is a compiled group. It is immutable and safe for concurrent use. The zero Program matches nobody.
//
// Its elements contain no pointers, so a cache of many programs costs the garbage collector little, and a Set can be one
// sequence of bytes (see Set.AppendFlat).
type Program struct {
	code    []test
	text    string   // folded constants, concatenated
	fail    []uint16 // failure tables, at the offsets of the constants they belong to
	table   []span   // lists
	numbers []uint64 // operands that few programs need, like params
	params  []param
	source  string // authored group, for Explain
}

// test is one condition and the tests that follow it. Tests are stored in the order of the authored tree.
type test struct {
	code            opcode
	field           Field
	negate          bool
	onTrue, onFalse uint16 // next test, or accept, or reject
	a, b            uint32 // operands, see opcode
}

const (
	reject = 0xFFFE
	accept = 0xFFFF
)

// opcode is the kind of comparison of a test.
type opcode uint8

const (
	codeEquals   opcode = iota // text at a, b bytes long
	codeContains               // text at a, b bytes long, failure table at the same place
	codePrefix                 // text at a, b bytes long
	codeSuffix                 // text at a, b bytes long
	codeFew                    // b spans at a, compared one by one
	codeOneOf                  // hash table of spans at a, with b+1 places
	codeMinutes                // from minute a%minuteBase for a/minuteBase more minutes, past midnight if needed, in the zone with id b
	codeDays                   // days in the bits of a, in the zone with id b
	codeNever                  // the same result for everybody: negate
	codeScanned                // in a Set only: bit a of the scanner's result
	codeAddress                // b ranges of addresses, whose numbers are at a
	codeInstant                // from the first number at a until before the second one
	codeShare                  // a of shareWhole visitors
	codeParam                  // parameter a
)

// span is a range of Program.text. Length 0 marks a free place of a hash table.
type span struct{ at, length uint32 }

// few is the maximum number of values for which separate comparisons are faster than hashing the visitor's value.
const few = 8

const (
	minutesPerDay = 24 * 60
	minuteBase    = 1 << 16
)

// Compile compiles a group. It fails only for a group that Parse did not return.
func Compile(g *Group, opts Options) (*Program, error) {
	if g == nil || g.root.children == nil {
		return nil, errors.New("compile rule: the group is empty")
	}
	opts.Zone = cmp.Or(opts.Zone, time.UTC)
	c := compiler{zone: opts.Zone, p: &Program{source: g.source}}
	c.node(&g.root, accept, reject)
	c.finish()
	return c.p, nil
}

// finish completes the program after its last test.
func (c *compiler) finish() {
	c.p.text = string(c.text)
	if !c.searches {
		return
	}
	c.p.fail = make([]uint16, len(c.text))
	end := uint32(0)
	search := func(t *test) {
		if t.code == codeContains {
			failures(c.p.text[t.a:t.a+t.b], c.p.fail[t.a:t.a+t.b])
			end = max(end, t.a+t.b)
		}
	}
	for i := range c.p.code {
		search(&c.p.code[i])
	}
	for i := range c.p.params {
		search(&c.p.params[i].test)
	}
	c.p.fail = c.p.fail[:end:end]
}

// numbers appends operands and returns the place of the first one.
func (c *compiler) numbers(n ...uint64) uint32 {
	c.p.numbers = append(c.p.numbers, n...)
	return uint32(len(c.p.numbers) - len(n))
}

// Size returns the approximate memory of the program in bytes, for caches.
func (p *Program) Size() int {
	return int(unsafe.Sizeof(*p)) + len(p.code)*int(unsafe.Sizeof(test{})) + len(p.text) + 2*len(p.fail) +
		len(p.table)*int(unsafe.Sizeof(span{})) + 8*len(p.numbers) + len(p.params)*int(unsafe.Sizeof(param{})) + len(p.source)
}

type compiler struct {
	p        *Program
	text     []byte
	searches bool
	zone     *time.Location
}

// node emits the tests of a node, which continue at onTrue or onFalse.
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
		t.a, t.b = from+more*minuteBase, c.zoneID(l.zone)
	case kindDay:
		t.code, t.a, t.b = codeDays, uint32(l.days), c.zoneID(l.zone)
	case kindIP:
		t.code = codeAddress
		t.a, t.b = c.addresses(l.networks)
	case kindDate:
		c.date(l, &t)
	case kindPercentage:
		shareTest(l.share, &t)
	case kindQuery:
		c.param(l, &t)
	default:
		c.comparison(l, &t)
	}
	return t
}

// comparison completes the test of a text.
func (c *compiler) comparison(l *condition, t *test) {
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
			return
		default:
			t.code = codeOneOf
			t.a, t.b = c.set(l.texts)
			return
		}
	}
	s := c.constant(l.texts[0])
	t.a, t.b = s.at, s.length
}

// minutes returns the minutes of the day that a condition on the time covers. HH:MM means that whole minute. between
// includes both ends; before and after exclude theirs.
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

func (c *compiler) zoneID(z *zone) uint32 {
	if z == nil {
		z = zoneOf(c.zone)
	}
	return z.id
}

func (c *compiler) constant(s string) span {
	folded := fold(s)
	at := len(c.text)
	c.text = append(c.text, folded...)
	return span{uint32(at), uint32(len(folded))}
}

// set builds a hash table with open addressing that is at most half full.
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
