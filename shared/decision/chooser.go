package decision

import (
	"strings"
	"unsafe"

	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
)

// Chooser chooses the destination of each visit of a link by its compiled rules and variants. It must not be changed.
//
// It has a flat form without pointers, which contains everything but the texts of the destinations. Tables of links keep it
// next to the link, so that a visit compiles nothing and needs no cache.
type Chooser struct {
	// Variants draws an index into the record's variants. It draws nothing unless A/B testing is on.
	Variants Arms
	ends     []end  // destinations of the rules in order, then of the variants
	text     string // backing text of ends
	usual    string // destination if no rule matches and no variant is drawn
	routed   int32  // number of ends that belong to rules
	needs    rule.Needs
	sticky   link.Stickiness // NotSticky unless A/B testing is on
	joined   rule.Set        // compiled rules
}

// end is the destination of a rule or variant as a range of Chooser.text. It has no pointer.
type end struct {
	id         link.ID
	at, length uint32
}

// Needs returns the facts that Choose may ask for. They depend on the compiled rules and on Sticky.
func (c *Chooser) Needs() rule.Needs { return c.needs }

// Sticky returns how visitors keep their variant. It is NotSticky while A/B testing is off.
func (c *Chooser) Sticky() link.Stickiness { return c.sticky }

func (c *Chooser) target(e *end) string { return c.text[e.at : e.at+e.length] }

// Choose returns the destination of a link that may be followed: the first matching rule, else a variant, else the
// link's own destination. draw is 64 random bits for the choice of a variant; a sticky link takes the visitor's Share
// instead.
func (c *Chooser) Choose(f rule.Facts, draw uint64) Choice {
	if c.routed > 0 {
		if i := c.joined.First(f); i >= 0 {
			e := &c.ends[i]
			return Choice{Target: c.target(e), Rule: e.id}
		}
	}
	i := -1
	if c.sticky == link.NotSticky {
		i = c.Variants.Draw(draw)
	} else {
		i = c.Variants.keep(f.Share())
	}
	if i >= 0 {
		e := &c.ends[int(c.routed)+i]
		return Choice{Target: c.target(e), Variant: e.id}
	}
	return Choice{Target: c.usual}
}

// usual returns the destination of visits for which no rule matches and no variant is drawn.
func usual(r *link.Record) string {
	if r.SmartRouting && r.Default != "" {
		return r.Default
	}
	return r.Destination
}

// chooserOf returns the chooser of a record, except for its text: the ends have places in the text that is returned.
func chooserOf(r *link.Record, joined *conditions) (c Chooser, text []byte) {
	c = Chooser{joined: joined.set, needs: joined.needs, usual: usual(r)}
	if r.ABTesting {
		if c.sticky = r.Stickiness; c.sticky == link.NotSticky {
			c.Variants = newArms(r.Variants)
		} else {
			c.Variants = newStickyArms(r.Variants)
			c.needs |= rule.NeedsShare
		}
	}
	add := func(id link.ID, target string) {
		c.ends = append(c.ends, end{id, uint32(len(text)), uint32(len(target))})
		text = append(text, target...)
	}
	if r.SmartRouting {
		for i := range r.Rules {
			add(r.Rules[i].ID, r.Rules[i].Target)
		}
	}
	if c.routed = int32(len(c.ends)); r.ABTesting {
		for i := range r.Variants {
			add(r.Variants[i].ID, r.Variants[i].Target)
		}
	}
	return c, text
}

// size returns the approximate memory of what c refers to in bytes, without usual.
func (c *Chooser) size() int {
	return c.joined.Size() - int(unsafe.Sizeof(c.joined)) + len(c.Variants.columns)*columnSize + len(c.ends)*endSize + len(c.text)
}

// flatHead begins the flat form. The parts of the flat form follow: the set, if there are rules, the columns and the ends.
// Their places are in the texts that the caller of Flat keeps.
type flatHead struct {
	usualAt, usualLength  uint32 // no length: the link's destination
	routed, ends, columns uint16
	needs                 rule.Needs
	sticky                link.Stickiness
}

const (
	flatHeadSize = int(unsafe.Sizeof(flatHead{}))
	columnSize   = int(unsafe.Sizeof(column{}))
	endSize      = int(unsafe.Sizeof(end{}))

	maxEnds = 1000
)

// AppendFlat appends the flat form of a chooser. texts are bytes that contain the destinations of the rules and variants, and
// the default one if the link has one, which the caller keeps for Open. AppendFlat returns false if the chooser has no
// flat form. Then the link needs a Plan.
func (c *Chooser) AppendFlat(b []byte, texts, destination string) (flat []byte, ok bool) {
	if len(c.ends) > maxEnds {
		return b, false
	}
	h := flatHead{
		routed: uint16(c.routed), ends: uint16(len(c.ends)), columns: uint16(len(c.Variants.columns)), needs: c.needs, sticky: c.sticky,
	}
	// Destinations are short, and a record has few other texts, so a search is cheap and needs to know nothing about the form
	// of the texts.
	place := func(s string) (at, length uint32) {
		i := strings.Index(texts, s)
		ok = ok && i >= 0
		return uint32(max(i, 0)), uint32(len(s))
	}
	ok = true
	if c.usual != destination {
		h.usualAt, h.usualLength = place(c.usual)
	}
	from := len(b)
	b = append(b, bytesOf([]flatHead{h})...)
	if c.routed > 0 && ok {
		b, ok = c.joined.AppendFlat(b)
	}
	b = append(b, bytesOf(c.Variants.columns)...)
	for i := range c.ends {
		e := c.ends[i]
		e.at, e.length = place(c.target(&c.ends[i]))
		b = append(b, bytesOf([]end{e})...)
	}
	if !ok {
		return b[:from], false
	}
	return b, true
}

// bytesOf returns the memory of elements without pointers.
func bytesOf[T any](elements []T) []byte {
	// unsafe: the elements have no pointers, and the caller copies the bytes.
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(elements))), len(elements)*int(unsafe.Sizeof(*new(T))))
}

// elements returns the first n elements in b.
func elements[T any](b []byte, n uint16) []T {
	if n == 0 {
		return nil // a pointer behind the last byte would not be valid
	}
	_ = b[int(n)*int(unsafe.Sizeof(*new(T)))-1]
	// unsafe: the line above checks the length. The elements have no pointers, so any address will do, see
	// rule.Set.Open.
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// Open sets c to the chooser with a flat form. It refers to flat and texts, which must not change. texts and destination must
// be those of AppendFlat. flat must come from AppendFlat or have passed CheckFlat.
func (c *Chooser) Open(flat []byte, texts, destination string) {
	h := &elements[flatHead](flat, 1)[0]
	c.text, c.usual = texts, destination
	c.routed, c.needs, c.sticky = int32(h.routed), h.needs, h.sticky
	if h.usualLength > 0 {
		c.usual = texts[h.usualAt : h.usualAt+h.usualLength]
	}
	b := flat[flatHeadSize:]
	if h.routed > 0 {
		b = c.joined.Open(b)
	}
	c.Variants.columns = elements[column](b, h.columns)
	c.ends = elements[end](b[int(h.columns)*columnSize:], h.ends)
}

// CheckFlat reports whether untrusted bytes are a flat form that is safe to use with texts of a length in bytes.
func CheckFlat(flat []byte, texts int) bool {
	if len(flat) < flatHeadSize {
		return false
	}
	h := &elements[flatHead](flat, 1)[0]
	within := func(at, length uint32) bool { return uint64(at)+uint64(length) <= uint64(texts) }
	if h.ends > maxEnds || h.routed > h.ends || h.columns != 0 && h.columns != h.ends-h.routed || h.sticky > link.StickyHash ||
		!within(h.usualAt, h.usualLength) {
		return false
	}
	b := flat[flatHeadSize:]
	if h.routed > 0 {
		var ok bool
		if b, ok = rule.CheckFlat(b, int(h.routed)); !ok {
			return false
		}
	}
	if len(b) != int(h.columns)*columnSize+int(h.ends)*endSize {
		return false
	}
	for _, c := range elements[column](b, h.columns) {
		if h.sticky == link.NotSticky && c.alias >= uint32(h.columns) {
			return false
		}
	}
	for _, e := range elements[end](b[int(h.columns)*columnSize:], h.ends) {
		if !within(e.at, e.length) {
			return false
		}
	}
	return true
}
