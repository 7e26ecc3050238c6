package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrCorrupt is wrapped by errors for bytes that are not a complete, unaltered document or delta. The receiver keeps its
// present state.
var ErrCorrupt = errors.New("snapshot: damaged or foreign bytes")

// ErrFormat is wrapped by errors for a format that this build cannot read; the bytes may be valid.
var ErrFormat = errors.New("snapshot: unknown format")

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
}

// Records use the protocol buffers wire format (varints and length-delimited fields). The code is written by hand, without
// reflection and generated code. Readers skip unknown fields.
const (
	wireVarint = 0
	wireFixed8 = 1
	wireBytes  = 2
	wireFixed4 = 5
)

func appendUint(b []byte, field int, v uint64) []byte {
	if v == 0 {
		return b
	}
	b = binary.AppendUvarint(b, uint64(field)<<3|wireVarint)
	return binary.AppendUvarint(b, v)
}

func appendBool(b []byte, field int, v bool) []byte {
	if !v {
		return b
	}
	return appendUint(b, field, 1)
}

func appendString[T string | []byte](b []byte, field int, v T) []byte {
	if len(v) == 0 {
		return b
	}
	b = binary.AppendUvarint(b, uint64(field)<<3|wireBytes)
	b = binary.AppendUvarint(b, uint64(len(v)))
	return append(b, v...)
}

// appendMessage appends a nested message, even if it is empty: an element of a list counts even if all its fields are zero.
func appendMessage(b []byte, field int, write func([]byte) []byte) []byte {
	return appendSized(binary.AppendUvarint(b, uint64(field)<<3|wireBytes), write)
}

// appendSized appends what write appends, after its length.
func appendSized(b []byte, write func([]byte) []byte) []byte {
	// The length is not known yet. Most messages are shorter than 128 bytes, so one byte is reserved for the length, and
	// the content is moved only if it needs more.
	at := len(b)
	b = write(append(b, 0))
	n := len(b) - at - 1
	if n < 0x80 {
		b[at] = byte(n)
		return b
	}
	var prefix [binary.MaxVarintLen64]byte
	p := binary.PutUvarint(prefix[:], uint64(n))
	b = append(b, prefix[:p-1]...)
	copy(b[at+p:], b[at+1:at+1+n])
	copy(b[at:], prefix[:p])
	return b
}

// fields iterates over the fields of a message in a string. Field contents share that string, so they need no copy.
type fields struct {
	s   string
	err error

	number int
	kind   int
	value  uint64 // of a varint
	bytes  string // of a length-delimited field
}

func (f *fields) next() bool {
	if f.err != nil || f.s == "" {
		return false
	}
	tag, ok := f.uvarint()
	if !ok {
		return false
	}
	if tag>>3 == 0 || tag>>3 > 1<<29-1 {
		f.err = corrupt("field number %d", tag>>3)
		return false
	}
	f.number, f.kind = int(tag>>3), int(tag&7)
	f.value, f.bytes = 0, ""
	switch f.kind {
	case wireVarint:
		f.value, ok = f.uvarint()
		return ok
	case wireBytes:
		n, ok := f.uvarint()
		if !ok {
			return false
		}
		return f.take(n)
	case wireFixed8:
		return f.take(8)
	case wireFixed4:
		return f.take(4)
	}
	f.err = corrupt("wire type %d", f.kind)
	return false
}

func (f *fields) take(n uint64) bool {
	if n > uint64(len(f.s)) {
		f.err = corrupt("field %d is truncated", f.number)
		return false
	}
	f.bytes, f.s = f.s[:n], f.s[n:]
	return true
}

func (f *fields) uvarint() (uint64, bool) {
	var v uint64
	for i := 0; i < len(f.s) && i < binary.MaxVarintLen64; i++ {
		c := f.s[i]
		if c < 0x80 {
			if i == binary.MaxVarintLen64-1 && c > 1 {
				break
			}
			f.s = f.s[i+1:]
			return v | uint64(c)<<(7*i), true
		}
		v |= uint64(c&0x7f) << (7 * i)
	}
	f.err = corrupt("bad varint")
	return 0, false
}
