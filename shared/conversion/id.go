// Package conversion defines what a visitor does after a click, such as a purchase: the click id that leads from one to the
// other, the input that shops send, and the record that travels to the click store.
//
// It has no storage. Edges and the control plane use it, so both accept the same input and give the same verdicts.
package conversion

import (
	"encoding/base64"
	"encoding/binary"

	"github.com/shortline/shortline/shared/click"
)

// IDLength is the length of a click id as text.
const IDLength = 32

// ClickID names one click of one link. Its text is the base64url form of 24 bytes, big-endian: 128 bits of what it names, and
// a MAC of them (SipHash-2-4, 64 bits). From the highest bit on, the first part has 36 bits of Link, 42 bits of Time and 50 bits
// of Tag. The key of the MAC depends on Time (see Keys).
type ClickID struct {
	Link uint64 // number of the link
	Time int64  // of the click, in Unix milliseconds by the edge's clock
	Tag  uint64 // distinguishes the clicks of a link in a millisecond, see TagOf
}

// Sizes of the parts of a ClickID in bits.
const (
	linkBits = 36
	timeBits = 42
	tagBits  = 50
)

// TagOf returns the tag of a click: a hash of its identity. Clicks of one lane that are fewer than 2^50 numbers apart
// practically never share a tag, and neither do clicks of the same link in the same millisecond.
//
// Tags are stored and sent, so this function must never change.
func TagOf(l click.Lane, seq uint64) uint64 {
	h := mix(mix(l.Edge^uint64(l.Epoch)<<8^uint64(l.Lane)) ^ seq)
	return h >> (64 - tagBits)
}

// mix is the finisher of splitmix64 (Steele, Lea, Flood 2014), a bijection.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Fits reports whether the id has a text: whether the numbers are within the sizes above.
func (id ClickID) Fits() bool {
	return id.Link < 1<<linkBits && uint64(id.Time) < 1<<timeBits && id.Tag < 1<<tagBits
}

// Append appends the text of the id, signed by the keys, and reports whether it could: the id must fit, and the keys must
// include that of its time. Append does not allocate if dst has room.
func (id ClickID) Append(dst []byte, keys *Keys) ([]byte, bool) {
	key, ok := keys.signing(id.Time)
	if !ok || !id.Fits() {
		return dst, false
	}
	var raw [24]byte
	binary.BigEndian.PutUint64(raw[:], id.Link<<(64-linkBits)|uint64(id.Time)>>(timeBits-(64-linkBits)))
	binary.BigEndian.PutUint64(raw[8:], uint64(id.Time)<<tagBits|id.Tag)
	binary.BigEndian.PutUint64(raw[16:], key.sum(raw[:16]))
	return base64.RawURLEncoding.AppendEncode(dst, raw[:]), true
}

// ParseID reads the text of an id. The verdict is Accepted, Malformed or Forged. Forged ids include those whose key is not
// known any more.
func (k *Keys) ParseID(text string) (ClickID, Verdict) {
	var raw [24]byte
	if len(text) != IDLength {
		return ClickID{}, Malformed
	}
	if n, err := base64.RawURLEncoding.Strict().Decode(raw[:], []byte(text)); err != nil || n != len(raw) {
		return ClickID{}, Malformed
	}
	high, low := binary.BigEndian.Uint64(raw[:]), binary.BigEndian.Uint64(raw[8:])
	const timeHigh = 64 - linkBits // bits of the time in the upper half
	id := ClickID{
		Link: high >> timeHigh,
		Time: int64(high&(1<<timeHigh-1)<<(timeBits-timeHigh) | low>>tagBits),
		Tag:  low & (1<<tagBits - 1),
	}
	if !k.signed(id.Time, raw[:16], binary.BigEndian.Uint64(raw[16:])) {
		return ClickID{}, Forged
	}
	return id, Accepted
}
