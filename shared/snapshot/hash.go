package snapshot

import (
	"encoding/binary"
	"encoding/hex"
	"math/bits"
)

// StateHash is a fingerprint of a set of links that doesn't depend on the order they came in: the sum, modulo
// 2^128, of a hash of each link's slug, number and revision. Control plane and edges compute it alike, and
// compare it to notice a change that one of them missed.
//
// It covers the revision instead of the record's content because the revision names the content, and because
// that keeps the hash equal while the two sides know different sets of fields, in the middle of an upgrade.
// Damage in transport is the checksum's matter. The hash is no defence against somebody who forges.
//
// The zero StateHash is that of no links.
type StateHash struct{ hi, lo uint64 }

// Add takes a link into the set.
func (h *StateHash) Add(slug string, num, revision uint64) {
	hi, lo := linkHash(slug, num, revision)
	var carry uint64
	h.lo, carry = bits.Add64(h.lo, lo, 0)
	h.hi, _ = bits.Add64(h.hi, hi, carry)
}

// Remove takes a link out of the set again.
func (h *StateHash) Remove(slug string, num, revision uint64) {
	hi, lo := linkHash(slug, num, revision)
	var borrow uint64
	h.lo, borrow = bits.Sub64(h.lo, lo, 0)
	h.hi, _ = bits.Sub64(h.hi, hi, borrow)
}

// Join takes all links of another set into the set. No link may be in both.
func (h *StateHash) Join(other StateHash) {
	var carry uint64
	h.lo, carry = bits.Add64(h.lo, other.lo, 0)
	h.hi, _ = bits.Add64(h.hi, other.hi, carry)
}

// IsZero reports whether the hash is that of no links, which in a delta means "not stated".
func (h StateHash) IsZero() bool { return h == StateHash{} }

// String gives 32 hexadecimal digits.
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

// The mixing constants are the first 256 bits of the fraction of the golden ratio. They are part of the
// format: other values give hashes that don't compare.
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

// fold multiplies to 128 bits and folds the halves together; the additions keep a zero factor from wiping out
// what came before it.
func fold(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	return (hi ^ lo) + bits.RotateLeft64(x, 29) + y
}
