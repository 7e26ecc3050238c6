package kafkasource

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/segmentio/kafka-go/compress"

	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/kafkaconn"
)

// A batch of records, big-endian:
//
//	 0  offset of the first record, 64 bits
//	 8  length of all that follows, 32 bits
//	12  epoch of the leader, 32 bits
//	16  format, 2
//	17  CRC-32C of all that follows, 32 bits
//	21  attributes, 16 bits: compression in bits 0 to 2, bit 5 says that these are the broker's own
//	23  last offset, from the first, 32 bits
//	27  time of the first record, Unix milliseconds, 64 bits
//	35  latest time, 64 bits
//	43  who wrote it, and the count of records at its end
//	61  records, compressed together
const (
	batchHeader  = 61
	batchLength  = 8  // offset of the length
	batchPrefix  = 12 // what the length does not count
	batchFormat  = 16
	batchSum     = 17
	batchSummed  = 21
	batchLast    = 23
	batchTime    = 27
	batchControl = 1 << 5
	// mostUnpacked bounds a batch without its compression. Edges' have 1 MiB; one that unpacks to more is no clicks.
	mostUnpacked = 32 << 20
	messageCost  = 64 // bytes that a message takes besides its value
)

var (
	errCut      = errors.New("a batch of records is cut short")
	errDamaged  = errors.New("a batch of records is damaged")
	errUnpacked = errors.New("a batch of records can't be unpacked")
	castagnoli  = crc32.MakeTable(crc32.Castagnoli)
)

// unpacker is shared: it is safe for use by several at once. Its only error would be of these options.
var unpacker, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(mostUnpacked))

// unread is what was fetched of a partition and not delivered yet.
type unread struct {
	records []byte // as the broker sent them
	from    int64  // the offset that was asked for
	next    int64  // the offset to go on with

	end    int64     // the offset after the last message that there is
	oldest time.Time // when the message before next was written, if it is known
}

// take unpacks messages, about so many bytes of them, but at least a batch. A batch that is whole and can't be
// unpacked is one message, which holds it as it is and is no clicks. An error says that what comes next is damaged, or
// that not even one batch is whole, so it must be fetched again; messages before it are there.
func (u *unread) take(partition, about int) ([]message, error) {
	var list []message
	var room []byte // one batch's, whose values are copied, so that none keeps the others
	for bytes := 0; len(u.records) > 0 && bytes < about; {
		head := u.records
		if len(head) < batchHeader {
			return list, u.cut()
		}
		size := int64(batchPrefix) + int64(int32(binary.BigEndian.Uint32(head[batchLength:])))
		switch {
		case head[batchFormat] != 2:
			return list, u.spoiled(fmt.Errorf("%w: format %d", errDamaged, head[batchFormat]))
		case size < batchHeader:
			return list, u.spoiled(errDamaged)
		case size > int64(len(head)):
			return list, u.cut()
		}
		batch := head[:size:size]
		if crc32.Checksum(batch[batchSummed:], castagnoli) != binary.BigEndian.Uint32(batch[batchSum:]) {
			return list, u.spoiled(fmt.Errorf("%w: wrong checksum", errDamaged))
		}
		first := int64(binary.BigEndian.Uint64(batch))
		last := first + int64(int32(binary.BigEndian.Uint32(batch[batchLast:])))
		if last < first || last == math.MaxInt64 {
			return list, u.spoiled(errDamaged)
		}
		u.records = u.records[size:]
		if last < u.next {
			continue
		}
		if binary.BigEndian.Uint16(batch[batchSummed:])&batchControl == 0 {
			before := len(list)
			list, room = appendMessages(list, room, batch, partition, u.next)
			for _, m := range list[before:] {
				bytes += len(m.value) + messageCost
			}
		}
		u.next = last + 1
	}
	return list, nil
}

// cut forgets a batch that is not whole, which is how an answer may end.
func (u *unread) cut() error {
	u.records = nil
	if u.next > u.from {
		return nil
	}
	return errCut
}

// spoiled forgets what can't be read.
func (u *unread) spoiled(err error) error {
	u.records = nil
	return err
}

// appendMessages appends a batch's messages from an offset on, and returns room for the next batch.
func appendMessages(list []message, room, batch []byte, partition int, from int64) ([]message, []byte) {
	first := int64(binary.BigEndian.Uint64(batch))
	at := int64(binary.BigEndian.Uint64(batch[batchTime:]))
	room, err := unpack(room[:0], batch)
	whole := len(list)
	in := wire{data: room}
	for n := int64(binary.BigEndian.Uint32(batch[batchHeader-4:])); err == nil && n > 0; n-- {
		body := wire{data: in.skip(in.varint())}
		body.skip(1) // attributes
		written := at + body.varint()
		offset := first + body.varint()
		body.skip(max(0, body.varint())) // key
		value := body.skip(max(0, body.varint()))
		sender := origin(&body)
		if in.cut || body.cut {
			err = errUnpacked
		} else if offset >= from {
			list = append(list, message{partition, offset, time.UnixMilli(written), bytes.Clone(value), sender})
			from = offset + 1
		}
	}
	if err != nil {
		return append(list[:whole], message{partition, max(first, from), time.UnixMilli(at), bytes.Clone(batch), click.Origin{}}), room
	}
	return list, room
}

// unpack appends a batch's records without their compression.
func unpack(dst, batch []byte) ([]byte, error) {
	packed := batch[batchHeader:]
	kind := compress.Compression(binary.BigEndian.Uint16(batch[batchSummed:]) & 7)
	switch kind {
	case compress.None:
		return append(dst, packed...), nil
	case compress.Zstd:
		return unpacker.DecodeAll(packed, dst)
	}
	codec := kind.Codec()
	if codec == nil {
		return dst, errUnpacked
	}
	from := codec.NewReader(bytes.NewReader(packed))
	defer from.Close()
	to := bytes.NewBuffer(dst)
	if n, err := to.ReadFrom(io.LimitReader(from, mostUnpacked)); err != nil || n == mostUnpacked {
		return to.Bytes(), errUnpacked
	}
	return to.Bytes(), nil
}

// origin reads a record's headers, which are at its end. Whoever can write to the topic can write anything there: what is no
// origin is none.
func origin(body *wire) (o click.Origin) {
	for n := body.varint(); n > 0 && !body.cut; n-- {
		key, value := body.skip(max(0, body.varint())), body.skip(max(0, body.varint()))
		if len(value) > click.MaxOrigin {
			continue
		}
		switch string(key) {
		case kafkaconn.HeaderEdge:
			o.Edge = string(value)
		case kafkaconn.HeaderRegion:
			o.Region = string(value)
		}
	}
	if !o.Valid() {
		return click.Origin{}
	}
	return o
}
