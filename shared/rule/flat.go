package rule

import (
	"math"
	"unicode/utf8"
	"unsafe"
)

// The flat form of a Set is one sequence of bytes without pointers, so that a table of links can keep it next to its link,
// and a visit finds it in few cache lines and without a cache of its own. All numbers have the byte order and the
// alignment that the processor uses:
//
//	head     the numbers of elements in the parts below, start and repeated, u16 each
//	steps, leaves.code, leaves.table, leaves.params, leaves.numbers, leaves.fail, leaves.text
type flatHead struct {
	steps, tests, spans, params, numbers, fail, text uint16
	start, repeated                                  uint16
}

const (
	headSize = int(unsafe.Sizeof(flatHead{}))

	// maxFlat is the maximum size of a flat form in bytes. A larger one saves nothing, because most of it is never read.
	maxFlat = 16 << 10
)

func (h *flatHead) size() int {
	return headSize + int(h.steps)*int(unsafe.Sizeof(step{})) + int(h.tests)*int(unsafe.Sizeof(test{})) + int(h.spans)*
		int(unsafe.Sizeof(span{})) +
		int(h.params)*int(unsafe.Sizeof(param{})) + 8*int(h.numbers) + 2*int(h.fail) + int(h.text)
}

// AppendFlat appends the flat form of the set. It returns false, and b as it was, if the set has none: because it has
// scanners, could not be joined or is large.
func (s *Set) AppendFlat(b []byte) ([]byte, bool) {
	l := &s.leaves
	if len(s.scanners) > 0 || len(s.programs) > 0 {
		return b, false
	}
	for _, n := range []int{len(s.steps), len(l.code), len(l.table), len(l.params), len(l.numbers), len(l.fail), len(l.text)} {
		if n > maxFlat {
			return b, false
		}
	}
	h := flatHead{
		uint16(len(s.steps)), uint16(len(l.code)), uint16(len(l.table)), uint16(len(l.params)), uint16(len(l.numbers)), uint16(len(l.fail)),
		uint16(len(l.text)),
		s.start, s.repeated,
	}
	if h.size() > maxFlat {
		return b, false
	}
	b = appendBytes(b, []flatHead{h})
	b = appendBytes(b, s.steps)
	b = appendBytes(b, l.code)
	b = appendBytes(b, l.table)
	b = appendBytes(b, l.params)
	b = appendBytes(b, l.numbers)
	b = appendBytes(b, l.fail)
	return append(b, l.text...), true
}

// appendBytes appends the memory of elements without pointers.
func appendBytes[T any](b []byte, elements []T) []byte {
	// unsafe: the elements have no pointers. Nothing depends on the value of padding.
	return append(b, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(elements))), len(elements)*int(unsafe.Sizeof(*new(T))))...)
}

// cut returns the first n elements in b and the bytes after them.
func cut[T any](b []byte, n uint16) ([]T, []byte) {
	if n == 0 {
		return nil, b // a pointer behind the last byte would not be valid
	}
	size := int(n) * int(unsafe.Sizeof(*new(T)))
	_ = b[size-1]
	// unsafe: the line above checks the length. The elements have no pointers, so they may be at any address on
	// the processors that Go programs of this project run on (amd64, arm64).
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n), b[size:]
}

// Open sets s to the set whose flat form b starts with, and returns the bytes after it. The set refers to b, which must not
// be changed. b must come from AppendFlat or have passed CheckFlat.
func (s *Set) Open(b []byte) (rest []byte) {
	h, b := cut[flatHead](b, 1)
	n := &h[0]
	l := &s.leaves
	s.start, s.repeated = n.start, n.repeated
	s.steps, b = cut[step](b, n.steps)
	l.code, b = cut[test](b, n.tests)
	l.table, b = cut[span](b, n.spans)
	l.params, b = cut[param](b, n.params)
	l.numbers, b = cut[uint64](b, n.numbers)
	l.fail, b = cut[uint16](b, n.fail)
	text, b := cut[byte](b, n.text)
	l.text = unsafe.String(unsafe.SliceData(text), len(text))
	return b
}

// CheckFlat reports whether untrusted bytes start with the flat form of a set of so many programs that is safe to use, and
// returns the bytes after it.
func CheckFlat(b []byte, programs int) (rest []byte, ok bool) {
	if len(b) < headSize {
		return nil, false
	}
	h, _ := cut[flatHead](b, 1)
	size := h[0].size()
	if size > maxFlat || size > len(b) {
		return nil, false
	}
	var s Set
	rest = s.Open(b)
	l := &s.leaves
	forward := func(from int, to uint16) bool {
		if to >= found {
			return to == none || int(to-found) < programs
		}
		return int(to) > from && int(to) < len(s.steps)
	}
	for i, st := range s.steps {
		if int(st.leaf) >= len(l.code) || !forward(i, st.onTrue) || !forward(i, st.onFalse) {
			return nil, false
		}
	}
	for i := range l.code {
		if !l.sound(&l.code[i], false) {
			return nil, false
		}
	}
	return rest, forward(-1, s.start)
}

// sound reports whether the operands of an untrusted test are valid.
func (p *Program) sound(t *test, inParam bool) bool {
	// unsafe: a bool whose memory is neither 0 nor 1 would be undefined.
	if *(*byte)(unsafe.Pointer(&t.negate)) > 1 {
		return false
	}
	text := func(at, n uint32) bool {
		return n > 0 && uint64(at)+uint64(n) <= uint64(len(p.text)) && utf8.ValidString(p.text[at:at+n])
	}
	spans := func(n uint32) bool {
		if n > math.MaxUint16 || uint64(t.a)+uint64(n) > uint64(len(p.table)) {
			return false
		}
		for _, s := range p.table[t.a : t.a+n] {
			if !text(s.at, s.length) && (t.code == codeFew || s.length > 0) {
				return false
			}
		}
		return true
	}
	switch t.code {
	case codeEquals, codePrefix, codeSuffix, codeContains:
		if !text(t.a, t.b) || t.code == codeContains && !p.searchable(t) {
			return false
		}
	case codeFew:
		return t.b > 0 && spans(t.b) && (t.field < fieldCount || inParam)
	case codeOneOf:
		// The size is a power of two, and a free place ends each search.
		if t.b > math.MaxUint16 || t.b&(t.b+1) != 0 || !spans(t.b+1) {
			return false
		}
		free := false
		for _, s := range p.table[t.a : t.a+t.b+1] {
			free = free || s.length == 0
		}
		if !free {
			return false
		}
	default:
		return !inParam && p.soundNumbers(t)
	}
	return t.field < fieldCount || inParam
}

// searchable reports whether the failure table of a text leads back to shorter matches only.
func (p *Program) searchable(t *test) bool {
	if uint64(t.a)+uint64(t.b) > uint64(len(p.fail)) {
		return false
	}
	for i, back := range p.fail[t.a : t.a+t.b] {
		if int(back) > i {
			return false
		}
	}
	return true
}

func (p *Program) soundNumbers(t *test) bool {
	switch t.code {
	case codeMinutes, codeDays:
		return zoneByID(t.b) != nil
	case codeNever, codeShare:
		return true
	case codeInstant:
		return uint64(t.a)+2 <= uint64(len(p.numbers))
	case codeAddress:
		return uint64(t.a)+numbersPerRange*uint64(t.b) <= uint64(len(p.numbers))
	case codeParam:
		if uint64(t.a) >= uint64(len(p.params)) {
			return false
		}
		q := &p.params[t.a]
		return uint64(q.name.at)+uint64(q.name.length) <= uint64(len(p.text)) && p.sound(&q.test, true)
	}
	return false
}
