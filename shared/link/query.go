package link

import (
	"bytes"
	"unsafe"
)

// VisitorUTM returns the campaign parameters of a raw query (without "?"), decoded. For each, the first one with a
// value counts.
//
// It does not allocate while scratch has room for the values that contain escapes. The used part of scratch is
// returned; pass it in again, cut to length 0, when u is no longer needed. The strings of u alias query and scratch,
// so they are valid until either is overwritten. They may contain any bytes, including invalid UTF-8.
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
		// The strings alias the bytes of the request, which saves one allocation each. They change if the caller
		// reuses that memory, as documented above. TestVisitorUTM_aliases_its_input fails if this code starts to copy.
		*u.field(i) = unsafe.String(unsafe.SliceData(value), len(value))
	}
	return u, scratch
}

// cutSegment splits query at the first "&".
func cutSegment(query []byte) (segment, rest []byte) {
	if i := bytes.IndexByte(query, '&'); i >= 0 {
		return query[:i], query[i+1:]
	}
	return query, nil
}

// nameOf returns the part before the first "=", still encoded.
func nameOf[T string | []byte](segment T) T {
	for i := range len(segment) {
		if segment[i] == '=' {
			return segment[:i]
		}
	}
	return segment
}

// utmIndex returns the index of an encoded name in utmNames, or -1.
func utmIndex[T string | []byte](name T) int {
	// utm_id is the shortest name, and escapes only make names longer.
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

// sameName compares two encoded names after decoding.
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

// decodeByte decodes the byte at i and returns its encoded length. A "%" without two hexadecimal digits is literal.
func decodeByte[T string | []byte](s T, i int) (c byte, n int) {
	switch s[i] {
	case '+':
		return ' ', 1
	case '%':
		if i+2 < len(s) {
			if hi, lo := Unhex(s[i+1]), Unhex(s[i+2]); hi >= 0 && lo >= 0 {
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

// byteSet is a set of the bytes that appendClean does not encode.
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
	// keep is for validated text: all visible ASCII.
	keep = without("")
	// inQuery is for encoded text from a visitor: no byte that ends the query or is special in HTML.
	inQuery = without("#\"<>\\^`{|}")
	// inValue is for plain text that becomes a parameter's value.
	inValue = without("#\"<>\\^`{|}%&+=?/:;,@$'()*!~[]")
)

// appendClean appends s and percent-encodes bytes outside the set.
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

// visible reports whether all bytes are visible ASCII. It tests eight bytes at a time.
func visible[T string | []byte](s T) bool {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		// The terms detect bytes from 0x80 on, 0x7F, and bytes below 0x21. Only bytes that are already bad cause a
		// carry.
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
