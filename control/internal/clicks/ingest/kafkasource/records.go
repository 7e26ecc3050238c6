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

// A record batch, big-endian:
//
//	 0  offset of the first record, 64 bits
//	 8  length of everything after this field, 32 bits
//	12  epoch of the leader, 32 bits
//	16  format, 2
//	17  CRC-32C of everything after this field, 32 bits
//	21  attributes, 16 bits: bits 0 to 2 are the compression; bit 5 marks control records of the broker
//	23  last offset, relative to the first, 32 bits
//	27  time of the first record, Unix milliseconds, 64 bits
//	35  latest time, 64 bits
//	43  producer, and the number of records at its end
//	61  records, compressed together
const (
	batchHeader  = 61
	batchLength  = 8  // offset of the length
	batchPrefix  = 12 // bytes that the length does not include
	batchFormat  = 16
	batchSum     = 17
	batchSummed  = 21
	batchLast    = 23
	batchTime    = 27
	batchControl = 1 << 5
	// maxUnpacked limits a decompressed batch. Batches of edges have up to 1 MiB; a larger one contains no clicks.
	maxUnpacked = 32 << 20
	messageCost = 64 // bytes that a message uses in addition to its value
)

var (
	errCut      = errors.New("incomplete record batch")
	errDamaged  = errors.New("damaged record batch")
	errUnpacked = errors.New("record batch cannot be decompressed")
	castagnoli  = crc32.MakeTable(crc32.Castagnoli)
)

// unpacker is shared: concurrent use is safe. NewReader could only reject the options.
var unpacker, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxUnpacked))

// unread has fetched records of a partition that are not delivered yet.
type unread struct {
	records []byte // as the broker sent them
	from    int64  // the requested offset
	next    int64  // the next offset to deliver

	end    int64     // the offset after the last available message
	oldest time.Time // when the message before next was written, if known
	seen   time.Time // when the last successful fetch began
	size   int64     // bytes to fetch next; 0 means the largest size
}

// decompress decompresses about the given number of bytes of messages, and at least one batch. A complete batch that cannot
// be decompressed becomes one message with the batch's bytes, which is not a frame of clicks. An error means that the
// next batch is damaged, or that not even one batch is complete; it must be fetched again. Messages before it are
// returned.
func (u *unread) decompress(partition, about int) ([]message, error) {
	var list []message
	var room []byte // memory of one batch; values are copied, so that a message does not keep its whole batch
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

// cut drops an incomplete batch. A response may end with one.
func (u *unread) cut() error {
	u.records = nil
	if u.next > u.from {
		return nil
	}
	return errCut
}

// spoiled drops unreadable records.
func (u *unread) spoiled(err error) error {
	u.records = nil
	return err
}

// appendMessages appends a batch's messages from an offset on, and returns room for reuse.
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

// unpack appends the decompressed records of a batch.
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
	if n, err := to.ReadFrom(io.LimitReader(from, maxUnpacked)); err != nil || n == maxUnpacked {
		return to.Bytes(), errUnpacked
	}
	return to.Bytes(), nil
}

// origin reads the headers at the end of a record. Anyone who can write to the topic can write any header, so an
// invalid origin counts as none.
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
