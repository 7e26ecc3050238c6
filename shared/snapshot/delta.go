package snapshot

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/shortline/shortline/shared/link"
)

// Delta contains the changes of one incarnation after revision From, up to and including To. Deletes must be applied before
// Upserts, because a key may move from one link to another within a delta.
type Delta struct {
	Incarnation uint64
	From, To    uint64

	Upserts []link.Record // complete records, as of To or later
	Deletes []Tombstone

	// After is the state hash after the delta. The zero value means that the sender does not know it.
	After StateHash
}

// Tombstone is a deleted link. If the key belongs to a link with another number by now, that link stays.
type Tombstone struct {
	Num uint64
	Key string
}

// Wire form of a delta, integers little-endian: magic "SLNKDLTA", format u16, schema u16, body length u32, the body as a
// protobuf message, SHA-256 of everything before it, signature length u16, signature (see sign.go; none in the first release).
const (
	deltaMagic  = "SLNKDLTA"
	deltaFormat = 1
	deltaHeader = 16
	deltaFooter = sha256.Size + 2

	deltaIncarnation = 1
	deltaFrom        = 2
	deltaTo          = 3
	deltaUpsert      = 4
	deltaDelete      = 5
	deltaAfter       = 6

	maxDelta = 1 << 30
)

// AppendDelta appends the wire form of a delta to b. The upserts must have passed Check. It panics if the delta is larger
// than a gigabyte; callers send a full document instead.
func AppendDelta(b []byte, d *Delta) []byte { return AppendSignedDelta(b, d, SigningKey{}) }

// AppendSignedDelta is AppendDelta with a signature. The zero key signs nothing.
func AppendSignedDelta(b []byte, d *Delta, key SigningKey) []byte {
	start := len(b)
	b = append(b, deltaMagic...)
	b = binary.LittleEndian.AppendUint16(b, deltaFormat)
	b = binary.LittleEndian.AppendUint16(b, Schema)
	b = binary.LittleEndian.AppendUint32(b, 0)
	body := len(b)
	b = appendUint(b, deltaIncarnation, d.Incarnation)
	b = appendUint(b, deltaFrom, d.From)
	b = appendUint(b, deltaTo, d.To)
	for i := range d.Upserts {
		b = binary.AppendUvarint(b, deltaUpsert<<3|wireBytes)
		b = appendMessageBody(b, &d.Upserts[i])
	}
	for i := range d.Deletes {
		t := &d.Deletes[i]
		b = appendMessage(b, deltaDelete, func(b []byte) []byte {
			return appendString(appendUint(b, 1, t.Num), 2, t.Key)
		})
	}
	if !d.After.IsZero() {
		h := d.After.bytes()
		b = appendString(b, deltaAfter, h[:])
	}
	n := len(b) - body
	if n > maxDelta {
		panic(fmt.Sprintf("BUG: snapshot: delta of %d bytes", n))
	}
	binary.LittleEndian.PutUint32(b[body-4:], uint32(n))
	sum := sha256.Sum256(b[start:])
	b = append(b, sum[:]...)
	signature := key.sign(sum[:])
	b = binary.LittleEndian.AppendUint16(b, uint16(len(signature)))
	return append(b, signature...)
}

// DecodeDelta verifies and decodes a delta. The result shares no memory with b, and its size is proportional to that of b.
// Errors wrap ErrCorrupt or ErrFormat.
func DecodeDelta(b []byte) (Delta, error) { return DecodeSignedDelta(b, Keys{}) }

// DecodeSignedDelta is DecodeDelta, but one of the keys must have signed the delta; otherwise the error wraps ErrUnsigned.
// Zero Keys require no signature.
func DecodeSignedDelta(b []byte, keys Keys) (Delta, error) {
	var d Delta
	if len(b) < deltaHeader+deltaFooter || string(b[:8]) != deltaMagic {
		return d, corrupt("not a delta")
	}
	end := deltaHeader + uint64(binary.LittleEndian.Uint32(b[12:])) // of the body
	if uint64(len(b)) < end+deltaFooter {
		return d, corrupt("length of a delta")
	}
	sum := sha256.Sum256(b[:end])
	footer := b[end:]
	if [sha256.Size]byte(footer) != sum {
		return d, corrupt("checksum of a delta")
	}
	if f := binary.LittleEndian.Uint16(b[8:]); f != deltaFormat {
		return d, fmt.Errorf("%w %d of a delta", ErrFormat, f)
	}
	signature := footer[deltaFooter:]
	if int(binary.LittleEndian.Uint16(footer[sha256.Size:])) != len(signature) {
		return d, corrupt("length of a delta's signature")
	}
	if err := keys.verify(sum[:], signature); err != nil {
		return d, err
	}
	body := b[deltaHeader:end]
	f := fields{s: string(body)}
	for f.next() {
		switch {
		case f.number == deltaIncarnation && f.kind == wireVarint:
			d.Incarnation = f.value
		case f.number == deltaFrom && f.kind == wireVarint:
			d.From = f.value
		case f.number == deltaTo && f.kind == wireVarint:
			d.To = f.value
		case f.number == deltaUpsert && f.kind == wireBytes:
			var r link.Record
			if err := decodeRecord(f.bytes, &r); err != nil {
				return Delta{}, fmt.Errorf("upsert %d: %w", len(d.Upserts), err)
			}
			d.Upserts = append(d.Upserts, r)
		case f.number == deltaDelete && f.kind == wireBytes:
			d.Deletes = append(d.Deletes, decodeTombstone(&f))
		case f.number == deltaAfter && f.kind == wireBytes:
			if len(f.bytes) != 16 {
				return Delta{}, corrupt("state hash of %d bytes", len(f.bytes))
			}
			d.After = stateHash([]byte(f.bytes))
		}
	}
	if f.err != nil {
		return Delta{}, f.err
	}
	if d.To <= d.From {
		return Delta{}, corrupt("delta from %d to %d", d.From, d.To)
	}
	return d, nil
}

func decodeTombstone(outer *fields) (t Tombstone) {
	f := fields{s: outer.bytes}
	for f.next() {
		switch {
		case f.number == 1 && f.kind == wireVarint:
			t.Num = f.value
		case f.number == 2 && f.kind == wireBytes:
			t.Key = f.bytes
		}
	}
	outer.err = f.err
	if f.err == nil && (t.Key == "" || len(t.Key) > MaxKey) {
		outer.err = corrupt("tombstone with a key of %d bytes", len(t.Key))
	}
	return t
}
