package snapshot

import (
	"encoding/binary"
	"encoding/hex"
	"math/bits"
)

// StateHash is a hash of a set of links that does not depend on their order: the sum, modulo 2^128, of a hash of each
// link's slug, number and revision. The control plane and the edges compute it in the same way. If the hashes differ, one
// side missed a change.
//
// It covers the revision instead of the content, because the revision identifies the content. The hash therefore stays
// equal during an upgrade, while the two sides know different sets of fields. Checksums detect damage in transport. The
// hash does not protect against forgery.
//
// The zero StateHash is the hash of no links.
type StateHash struct{ hi, lo uint64 }

// Add adds a link to the set.
func (h *StateHash) Add(slug string, num, revision uint64) {
	hi, lo := linkHash(slug, num, revision)
	var carry uint64
	h.lo, carry = bits.Add64(h.lo, lo, 0)
	h.hi, _ = bits.Add64(h.hi, hi, carry)
}

// Remove removes a link from the set.
func (h *StateHash) Remove(slug string, num, revision uint64) {
	hi, lo := linkHash(slug, num, revision)
	var borrow uint64
	h.lo, borrow = bits.Sub64(h.lo, lo, 0)
	h.hi, _ = bits.Sub64(h.hi, hi, borrow)
}

// Join adds all links of another set. No link may be in both sets.
func (h *StateHash) Join(other StateHash) {
	var carry uint64
	h.lo, carry = bits.Add64(h.lo, other.lo, 0)
	h.hi, _ = bits.Add64(h.hi, other.hi, carry)
}

// IsZero reports whether the hash is that of no links. In a delta that means "unknown".
func (h StateHash) IsZero() bool { return h == StateHash{} }

// String returns 32 hexadecimal digits.
func (h StateHash) String() string {
	b := h.bytes()
	return hex.EncodeToString(b[:])
}

func (h StateHash) bytes() (b [16]byte) {
	binary.BigEndian.PutUint64(b[:8], h.hi)
	binary.BigEndian.PutUint64(b[8:], h.lo)
	return b
}

func stateHash(b []byte) StateHash {
	return StateHash{hi: binary.BigEndian.Uint64(b[:8]), lo: binary.BigEndian.Uint64(b[8:16])}
}

// The mixing constants are the first 256 bits of the fraction of the golden ratio. They are part of the wire format and
// must not change.
const (
	mix0 = 0x9e3779b97f4a7c15
	mix1 = 0xf39cc0605cedc834
	mix2 = 0x1082276bf3a27251
	mix3 = 0xf86c6a11d0c18e95
)

func linkHash(slug string, num, revision uint64) (hi, lo uint64) {
	a := fold(num^mix0, revision^mix1)
	b := fold(revision^mix2, num^mix3)
	for s := slug; s != ""; {
		var w uint64
		if len(s) >= 8 {
			w = uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
				uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
			s = s[8:]
		} else {
			for i := range len(s) {
				w |= uint64(s[i]) << (8 * i)
			}
			s = ""
		}
		a = fold(a^w, mix1)
		b = fold(b^w, mix3)
	}
	n := uint64(len(slug))
	return fold(a^n, mix2), fold(b^n, mix0)
}

// fold multiplies to 128 bits and combines the halves. The additions keep the state if a factor is zero.
func fold(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	return (hi ^ lo) + bits.RotateLeft64(x, 29) + y
}
