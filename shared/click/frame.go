package click

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// A frame is a batch in the form of one message of a queue: a fixed little-endian header, then the records.
//
//	 0  magic "SLCB"
//	 4  version of the frame, 1
//	 5  flags: bit 0 is Repair, the others are 0
//	 6  lane
//	 7  0
//	 8  edge, 64 bits
//	16  epoch, 32 bits
//	20  number of records, 32 bits
//	24  sequence number of the first record, 64 bits
//	32  length of the records in bytes, 32 bits
//	36  CRC-32C of all bytes before and after this field, 32 bits
//	40  records
const (
	frameMagic   = "SLCB"
	frameVersion = 1
	frameHeader  = 40
	frameRepair  = 1
	frameCRC     = 36 // offset of the checksum
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AppendBatch appends the batch as one frame. It copies the records.
func AppendBatch(dst []byte, b *Batch) []byte {
	start := len(dst)
	var flags byte
	if b.Repair {
		flags |= frameRepair
	}
	dst = append(dst, frameMagic...)
	dst = append(dst, frameVersion, flags, b.Lane.Lane, 0)
	dst = binary.LittleEndian.AppendUint64(dst, b.Edge)
	dst = binary.LittleEndian.AppendUint32(dst, b.Epoch)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(b.Count))
	dst = binary.LittleEndian.AppendUint64(dst, b.First)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(b.Records)))
	dst = binary.LittleEndian.AppendUint32(dst, frameSum(dst[start:], b.Records))
	return append(dst, b.Records...)
}

// ParseBatch parses one frame, which must be all of data. It verifies the checksum and the number of records. The
// batch's Records are a slice of data. Errors wrap ErrCorrupt or ErrSchema.
func ParseBatch(data []byte) (Batch, error) {
	if len(data) < frameHeader || string(data[:4]) != frameMagic {
		return Batch{}, fmt.Errorf("%w: not a batch frame", ErrCorrupt)
	}
	if v := data[4]; v != frameVersion {
		return Batch{}, fmt.Errorf("%w: batch frame version %d, this program knows %d", ErrSchema, v, frameVersion)
	}
	head, records := data[:frameHeader], data[frameHeader:]
	if n := binary.LittleEndian.Uint32(head[32:]); uint64(n) != uint64(len(records)) {
		return Batch{}, fmt.Errorf("%w: frame of %d bytes of records holds %d", ErrCorrupt, n, len(records))
	}
	if sum := frameSum(head[:frameCRC], records); sum != binary.LittleEndian.Uint32(head[frameCRC:]) {
		return Batch{}, fmt.Errorf("%w: frame has a wrong checksum", ErrCorrupt)
	}
	b := Batch{
		Lane: Lane{
			Edge:  binary.LittleEndian.Uint64(head[8:]),
			Epoch: binary.LittleEndian.Uint32(head[16:]),
			Lane:  head[6],
		},
		First:   binary.LittleEndian.Uint64(head[24:]),
		Count:   int(binary.LittleEndian.Uint32(head[20:])),
		Records: records,
		Repair:  head[5]&frameRepair != 0,
	}
	n := 0
	for rest := records; len(rest) > 0; n++ {
		var err error
		if _, rest, err = splitRecord(rest); err != nil {
			return Batch{}, err
		}
	}
	if n != b.Count {
		return Batch{}, fmt.Errorf("%w: frame of %d records holds %d", ErrCorrupt, b.Count, n)
	}
	return b, nil
}

func frameSum(head, records []byte) uint32 {
	return crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, records)
}
