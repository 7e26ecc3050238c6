package link

import (
	"bytes"
	"unsafe"
)

// VisitorUTM returns the campaign parameters of a raw query (without "?"), decoded: of each the first that has a value.
//
// Nothing is allocated as long as scratch has room for the values that are written with escapes; the space that they
// took is returned, to be passed in again (cut to length 0) when u is no longer needed. The strings of u alias query and
// the scratch memory: they are valid until either is written to. They may hold any bytes, also such that are not UTF-8.
func VisitorUTM(query, scratch []byte) (u UTM, used []byte) {
	for len(query) > 0 {
		var segment []byte
		segment, query = cutSegment(query)
		name := nameOf(segment)
		i := utmIndex(name)
		if i < 0 || len(segment) <= len(name)+1 || *u.field(i) != "" {
			continue
		}
		value := segment[len(name)+1:]
		if bytes.IndexByte(value, '%') >= 0 || bytes.IndexByte(value, '+') >= 0 {
			start := len(scratch)
			scratch = appendDecoded(scratch, value)
			value = scratch[start:]
		}
		// Strings over the bytes of a request, to spare an allocation for each. They change when the caller reuses the
		// memory, as the comment above warns; TestVisitorUTM_aliases_its_input notices if this ever copies.
		*u.field(i) = unsafe.String(unsafe.SliceData(value), len(value))
	}
	return u, scratch
}

// cutSegment splits off what stands before the first "&".
func cutSegment(query []byte) (segment, rest []byte) {
	if i := bytes.IndexByte(query, '&'); i >= 0 {
		return query[:i], query[i+1:]
	}
	return query, nil
}

// nameOf returns what stands before the first "=", still encoded.
func nameOf[T string | []byte](segment T) T {
	for i := range len(segment) {
		if segment[i] == '=' {
			return segment[:i]
		}
	}
	return segment
}

// utmIndex returns the place in utmNames of an encoded name, or -1.
func utmIndex[T string | []byte](name T) int {
	// The shortest is utm_id, and an escape only makes a name longer.
	if len(name) < len("utm_id") || name[0] != 'u' && name[0] != '%' {
		return -1
	}
	for i, known := range utmNames {
		if sameName(name, known) {
			return i
		}
	}
	return -1
}

// sameName compares two encoded names by what they decode to.
func sameName[A, B string | []byte](a A, b B) bool {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		c, n := decodeByte(a, i)
		d, m := decodeByte(b, j)
		if c != d {
			return false
		}
		i += n
		j += m
	}
	return i == len(a) && j == len(b)
}

// decodeByte decodes the byte at i and says how many it took. A "%" without two hexadecimal digits stands for itself.
func decodeByte[T string | []byte](s T, i int) (c byte, n int) {
	switch s[i] {
	case '+':
		return ' ', 1
	case '%':
		if i+2 < len(s) {
			if hi, lo := unhex(s[i+1]), unhex(s[i+2]); hi >= 0 && lo >= 0 {
				return byte(hi<<4 | lo), 3
			}
		}
	}
	return s[i], 1
}

func appendDecoded(dst, value []byte) []byte {
	for i := 0; i < len(value); {
		c, n := decodeByte(value, i)
		dst = append(dst, c)
		i += n
	}
	return dst
}

// byteSet has a bit for each byte that appendClean leaves as it is.
type byteSet [4]uint64

func (s *byteSet) has(c byte) bool { return s[c>>6]>>(c&63)&1 != 0 }

func without(chars string) byteSet {
	var s byteSet
	for c := byte('!'); c <= '~'; c++ {
		if bytes.IndexByte([]byte(chars), c) < 0 {
			s[c>>6] |= 1 << (c & 63)
		}
	}
	return s
}

var (
	// keep is for what was validated as a whole: all visible ASCII.
	keep = without("")
	// inQuery is for encoded text from a stranger: nothing that ends the query or that a page might misread.
	inQuery = without("#\"<>\\^`{|}")
	// inValue is for plain text that becomes a value.
	inValue = without("#\"<>\\^`{|}%&+=?/:;,@$'()*!~[]")
)

// appendClean appends s with the bytes outside of the set percent-encoded.
func appendClean[T string | []byte](dst []byte, s T, set byteSet) []byte {
	if set == keep && visible(s) {
		return append(dst, s...)
	}
	start := 0
	for i := range len(s) {
		if !set.has(s[i]) {
			dst = append(dst, s[start:i]...)
			dst = appendEscaped(dst, s[i])
			start = i + 1
		}
	}
	return append(dst, s[start:]...)
}

// visible reports whether all bytes are visible ASCII, eight at a time.
func visible[T string | []byte](s T) bool {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		// The terms: a byte from 0x80 on, 0x7F, and one below 0x21. The sums carry only out of bytes that are bad already.
		if (w|(w+ones)|(w-0x21*ones))&high != 0 {
			return false
		}
	}
	for ; i < len(s); i++ {
		if s[i] < 0x21 || s[i] > 0x7E {
			return false
		}
	}
	return true
}
