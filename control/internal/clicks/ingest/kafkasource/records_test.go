package kafkasource_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"github.com/shortline/shortline/control/internal/clicks/ingest/kafkasource"
)

// batch returns the records that kafka-go writes for some values, as the broker stores them from an offset on.
func batch(t testing.TB, offset int64, compression kafka.Compression, values ...string) []byte {
	t.Helper()
	var list []protocol.Record
	for _, v := range values {
		list = append(list, protocol.Record{Time: time.UnixMilli(1_790_000_000_000), Value: protocol.NewBytes([]byte(v))})
	}
	set := protocol.RecordSet{Version: 2, Attributes: protocol.Attributes(compression), Records: protocol.NewRecordReader(list...)}
	var out bytes.Buffer
	if _, err := set.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	data := out.Bytes()[4:]                          // after the length of the set
	binary.BigEndian.PutUint64(data, uint64(offset)) // not part of the checksum
	binary.BigEndian.PutUint32(data[23:], uint32(len(values)-1))
	return sealed(data)
}

// sealed sets the checksum of a batch.
func sealed(data []byte) []byte {
	binary.BigEndian.PutUint32(data[17:], crc32.Checksum(data[21:], crc32.MakeTable(crc32.Castagnoli)))
	return data
}

func join(batches ...[]byte) []byte { return bytes.Join(batches, nil) }

func TestUnpack(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a long value ", 10_000)
	kinds := []kafka.Compression{0, kafka.Gzip, kafka.Snappy, kafka.Lz4, kafka.Zstd}
	var all [][]byte
	for i, kind := range kinds {
		all = append(all, batch(t, int64(10+3*i), kind, "a", long, ""))
	}
	whole := join(all...)
	damaged := bytes.Clone(all[1])
	damaged[len(damaged)-1] ^= 1
	control := bytes.Clone(all[0])
	control[22] |= 1 << 5
	unknown := bytes.Clone(all[0])
	unknown[22] |= 7
	senseless := bytes.Clone(all[0])
	senseless[61] = 0xff
	for name, c := range map[string]struct {
		records []byte
		from    int64
		offsets string
		next    int64
		fails   bool
	}{
		"all kinds":                  {whole, 10, "[10 11 12 13 14 15 16 17 18 19 20 21 22 23 24]", 25, false},
		"from within a batch":        {whole, 20, "[20 21 22 23 24]", 25, false},
		"the last is cut":            {whole[:len(whole)-1], 10, "[10 11 12 13 14 15 16 17 18 19 20 21]", 22, false},
		"cut in a head":              {join(all[0], all[1][:20]), 10, "[10 11 12]", 13, false},
		"nothing is whole":           {all[0][:len(all[0])-1], 10, "[]", 10, true},
		"damaged behind a whole one": {join(all[0], damaged), 10, "[10 11 12]", 13, true},
		"the broker's own":           {join(sealed(control), all[1]), 10, "[13 14 15]", 16, false},
		"a kind that nobody knows":   {join(sealed(unknown), all[1]), 10, "[10 13 14 15]", 16, false},
		"records that make no sense": {join(sealed(senseless), all[1]), 10, "[10 13 14 15]", 16, false},
		"nothing":                    {nil, 10, "[]", 10, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list, next, err := kafkasource.Unpack(c.records, c.from)
			offsets := []int64{}
			for _, m := range list {
				offsets = append(offsets, m.Offset)
			}
			if fmt.Sprint(offsets) != c.offsets || next != c.next || (err != nil) != c.fails {
				t.Errorf("offsets %v, then %d, error %v; want %s, then %d, an error: %v", offsets, next, err, c.offsets, c.next, c.fails)
			}
		})
	}
	list, _, err := kafkasource.Unpack(whole, 10)
	for i, m := range list {
		if want := []string{"a", long, ""}[i%3]; string(m.Value) != want || err != nil {
			t.Errorf("offset %d has %.20q, want %.20q, error %v", m.Offset, m.Value, want, err)
		}
	}
}

// FuzzUnpack sets the checksum, so that the data behind it is read too. Offsets must rise, earlier messages must be
// skipped, and reading must continue behind the last message.
func FuzzUnpack(f *testing.F) {
	for _, kind := range []kafka.Compression{0, kafka.Gzip, kafka.Snappy, kafka.Lz4, kafka.Zstd} {
		f.Add(batch(f, 7, kind, "one", "two"), int64(7))
	}
	f.Add(join(batch(f, 7, 0, "one"), batch(f, 8, kafka.Zstd, "two")), int64(8))
	f.Fuzz(func(t *testing.T, data []byte, from int64) {
		from = max(0, from)
		for _, records := range [][]byte{data, bytes.Clone(data)} {
			if len(records) >= 61 && &records[0] != &data[0] {
				sealed(records)
			}
			list, next, _ := kafkasource.Unpack(records, from)
			if next < from {
				t.Fatalf("went back from %d to %d", from, next)
			}
			last := from - 1
			for _, m := range list {
				if m.Offset <= last {
					t.Fatalf("offset %d after %d", m.Offset, last)
				}
				last = m.Offset
			}
		}
	})
}

func FuzzParseAnswer(f *testing.F) {
	f.Add([]byte(
		"\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x01t\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x09\x00\x00\x00\x00\x00\x00\x00\x09\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x03abc"), int16(11))
	f.Add([]byte("\x00\x00\x00\x01\x00\x00\x00\x00\x00\x01"), int16(7))
	f.Fuzz(func(t *testing.T, data []byte, version int16) {
		records, err := kafkasource.ParseAnswer(data, version)
		if err != nil && records != nil || len(records) > len(data) {
			t.Fatalf("%d bytes of records of %d, %v", len(records), len(data), err)
		}
	})
}
