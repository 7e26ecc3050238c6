package snapshot_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"reflect"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// FuzzDeltaBody fuzzes the body of a delta with a valid checksum, which mutations of a whole delta do not have.
func FuzzDeltaBody(f *testing.F) {
	d := someDelta()
	whole := snapshot.AppendDelta(nil, &d)
	f.Add(whole[16 : len(whole)-34])
	small := snapshot.AppendDelta(nil, &snapshot.Delta{Incarnation: 1, To: 1, Deletes: []snapshot.Tombstone{{Num: 1, Key: "a"}}})
	f.Add(small[16 : len(small)-34])
	f.Fuzz(func(t *testing.T, body []byte) {
		b := append([]byte(nil), whole[:12]...)
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(body))), body...)
		sum := sha256.Sum256(b)
		got, err := snapshot.DecodeDelta(append(append(b, sum[:]...), 0, 0))
		if err != nil {
			if !errors.Is(err, snapshot.ErrCorrupt) && !errors.Is(err, snapshot.ErrFormat) {
				t.Fatal(err)
			}
			return
		}
		again, err := snapshot.DecodeDelta(snapshot.AppendDelta(nil, &got))
		if err != nil || !reflect.DeepEqual(got, again) {
			t.Fatalf("accepted %+v, but not its own encoding: %v", got, err)
		}
	})
}

// FuzzDocumentChunk fuzzes one chunk of a document with valid checksums: either the records before compression, or the
// compressed bytes.
func FuzzDocumentChunk(f *testing.F) {
	pack, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	testkit.Must(f, err)
	var records []byte
	for _, r := range []link.Record{everything(), plain(1)} {
		one := snapshot.AppendRecord(nil, &r)
		records = append(binary.AppendUvarint(records, uint64(len(one))), one...)
	}
	f.Add(records, uint32(0), true)
	f.Add(pack.EncodeAll(records, nil), uint32(len(records)), false)
	f.Add(pack.EncodeAll(make([]byte, 1<<20), nil), uint32(1<<20), false)
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xe4, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, uint32(1<<31), false)
	limits := snapshot.Limits{Links: 1000, Bytes: 4 << 20, Record: 1 << 16}
	f.Fuzz(func(t *testing.T, stored []byte, size uint32, packed bool) {
		if packed {
			size = uint32(len(stored))
			stored = pack.EncodeAll(stored, nil)
		}
		build := func(records []link.Record) []byte {
			b := append([]byte("SLNKFULL"), 1, 0, byte(snapshot.Schema), byte(snapshot.Schema>>8), 0, 0, 0, 0)
			b = binary.LittleEndian.AppendUint64(b, 7)
			b = binary.LittleEndian.AppendUint64(b, 42)
			b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
			b = binary.LittleEndian.AppendUint32(b, uint32(len(stored)))
			b = append(binary.LittleEndian.AppendUint32(b, size), stored...)
			b = binary.LittleEndian.AppendUint32(b, 0)
			b = binary.LittleEndian.AppendUint64(b, uint64(len(records)))
			b = binary.LittleEndian.AppendUint64(b, uint64(size))
			d := snapshot.Delta{To: 1}
			for i := range records {
				d.After.Add(records[i].Key, records[i].Num, records[i].Revision)
			}
			sixteen := make([]byte, 16)
			if !d.After.IsZero() {
				delta := snapshot.AppendDelta(nil, &d) // whose last field is the hash
				copy(sixteen, delta[len(delta)-34-16:])
			}
			b = append(b, sixteen...)
			sum := sha256.Sum256(b)
			return append(append(b, sum[:]...), 0, 0)
		}
		read := func(doc []byte) (got []link.Record, err error) {
			_, err = snapshot.Decode(bytes.NewReader(doc), limits, func(r *link.Record) error { got = append(got, *r); return nil })
			return got, err
		}
		seen, err := read(build(nil))
		if err != nil && !errors.Is(err, snapshot.ErrCorrupt) && !errors.Is(err, snapshot.ErrFormat) {
			t.Fatal(err)
		}
		got, err := read(build(seen))
		if err != nil {
			return
		}
		again, _, err := decode(document(t, snapshot.Cursor{Incarnation: 7, Revision: 42}, got...), snapshot.Limits{})
		if err != nil || !reflect.DeepEqual(got, again) {
			t.Fatalf("accepted %+v, but not its own encoding: %v", got, err)
		}
	})
}
