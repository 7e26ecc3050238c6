package snapshot

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/shortline/shortline/shared/link"
)

// A full document, all integers little-endian:
//
//	header   magic "SLNKFULL", format u16, schema u16, reserved u32, incarnation u64, revision u64, CRC-32C u32
//	chunk    stored bytes u32 (never 0), plain bytes u32, one zstd frame; as many as it takes
//	trailer  u32 0, count u64, plain bytes u64, state hash 16, SHA-256 32, signature length u16, signature
//
// Plain bytes are records, each after its length as a varint; no record crosses a chunk. The SHA-256 covers
// every byte before it as stored, so it is checked without unpacking and no altered bit goes unseen. Count and
// hash stand at the end because the document is written as a stream, by someone who doesn't know them before.
// The signature (Ed25519, 64 bytes, or none) is over the SHA-256; see sign.go. The first release takes no signed document.
const (
	documentMagic  = "SLNKFULL"
	documentFormat = 1
	headerSize     = 36
	trailerSize    = 8 + 8 + 16 + sha256.Size // after the zero length that announces it

	chunkPlain  = 512 << 10 // a chunk is closed once it is this large
	chunkHeader = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Limits bound what a reader accepts, so that a hostile document costs bounded memory. Zero fields mean the
// defaults in parentheses.
type Limits struct {
	Links  int   // most links in a document (50 million)
	Bytes  int64 // most plain bytes in a document (64 GiB)
	Record int   // most bytes of one record (8 MiB)
}

func (l Limits) withDefaults() Limits {
	if l.Links == 0 {
		l.Links = 50_000_000
	}
	if l.Bytes == 0 {
		l.Bytes = 64 << 30
	}
	if l.Record == 0 {
		l.Record = 8 << 20
	}
	return l
}

// Writer writes a full document as a stream. It is for one goroutine. After an error of writing it is spent.
type Writer struct {
	w     io.Writer
	sum   hash.Hash
	zstd  *zstd.Encoder
	key   SigningKey
	plain []byte
	chunk []byte

	count uint64
	bytes uint64
	hash  StateHash
	err   error
}

// NewWriter starts a document of the links as they are at cur, and writes its header to w.
func NewWriter(w io.Writer, cur Cursor) (*Writer, error) {
	return newWriter(w, cur, zstd.SpeedDefault)
}

// NewFastWriter is a Writer that spends less processor time and takes about a fifth more room: for a
// document that is read again on the same machine.
func NewFastWriter(w io.Writer, cur Cursor) (*Writer, error) {
	return newWriter(w, cur, zstd.SpeedFastest)
}

func newWriter(w io.Writer, cur Cursor, level zstd.EncoderLevel) (*Writer, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	d := &Writer{w: w, sum: sha256.New(), zstd: enc}
	h := append(make([]byte, 0, headerSize), documentMagic...)
	h = binary.LittleEndian.AppendUint16(h, documentFormat)
	h = binary.LittleEndian.AppendUint16(h, Schema)
	h = binary.LittleEndian.AppendUint32(h, 0)
	h = binary.LittleEndian.AppendUint64(h, cur.Incarnation)
	h = binary.LittleEndian.AppendUint64(h, cur.Revision)
	h = binary.LittleEndian.AppendUint32(h, crc32.Checksum(h, castagnoli))
	d.write(h)
	return d, d.err
}

// Sign has Close sign the document.
func (d *Writer) Sign(key SigningKey) { d.key = key }

// Add writes one link. The document's slugs must be distinct; their order doesn't matter. A link that Check finds
// fault with is an error that leaves the writer as it was: the caller may go on without it.
func (d *Writer) Add(r *link.Record) error {
	if d.err != nil {
		return d.err
	}
	if err := Check(r); err != nil {
		return err
	}
	d.plain = appendMessageBody(d.plain, r)
	d.count++
	d.hash.Add(r.Slug, r.Num, r.Revision)
	if len(d.plain) >= chunkPlain {
		d.flush()
	}
	return d.err
}

// Close writes what is left and the trailer. It doesn't close the underlying writer.
func (d *Writer) Close() error {
	if d.err != nil {
		return d.err
	}
	d.flush()
	t := binary.LittleEndian.AppendUint32(nil, 0)
	t = binary.LittleEndian.AppendUint64(t, d.count)
	t = binary.LittleEndian.AppendUint64(t, d.bytes)
	h := d.hash.bytes()
	d.write(append(t, h[:]...))
	sum := d.sum.Sum(nil)
	signature := d.key.sign(sum)
	d.write(append(binary.LittleEndian.AppendUint16(sum, uint16(len(signature))), signature...))
	err := d.err
	d.err = errors.New("snapshot: the writer is closed")
	return err
}

func (d *Writer) flush() {
	if len(d.plain) == 0 || d.err != nil {
		return
	}
	d.chunk = d.zstd.EncodeAll(d.plain, append(d.chunk[:0], make([]byte, chunkHeader)...))
	binary.LittleEndian.PutUint32(d.chunk, uint32(len(d.chunk)-chunkHeader))
	binary.LittleEndian.PutUint32(d.chunk[4:], uint32(len(d.plain)))
	d.write(d.chunk)
	d.bytes += uint64(len(d.plain))
	d.plain = d.plain[:0]
}

func (d *Writer) write(b []byte) {
	if d.err != nil {
		return
	}
	d.sum.Write(b)
	if _, err := d.w.Write(b); err != nil {
		d.err = fmt.Errorf("write snapshot: %w", err)
	}
}

// appendMessageBody appends a record after its length.
func appendMessageBody(b []byte, r *link.Record) []byte {
	at := len(b)
	b = AppendRecord(append(b, 0), r)
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

// Decode reads a full document and hands over its links one by one. Only when it returns nil has the document
// been verified to its last byte: the caller builds aside, and uses nothing before that.
//
// The record that fn gets is overwritten by the next one, but its strings and slices may be kept. An error of
// fn ends the decoding and is returned. The Cursor is the document's position, valid only without an error.
func Decode(r io.Reader, limits Limits, fn func(*link.Record) error) (Cursor, error) {
	return DecodeSigned(r, limits, Keys{}, fn)
}

// DecodeSigned is Decode of a document that one of the keys must have signed, unless they are the zero value. The error
// wraps ErrUnsigned where none has.
func DecodeSigned(r io.Reader, limits Limits, keys Keys, fn func(*link.Record) error) (Cursor, error) {
	limits = limits.withDefaults()
	d := &reader{r: bufio.NewReaderSize(r, 256<<10), sum: sha256.New(), limits: limits, keys: keys}
	cur, err := d.header()
	if err != nil {
		return Cursor{}, err
	}

	// Unpacking runs one chunk ahead of fn: together they bound the time an edge takes to start.
	chunks := make(chan []byte, 1)
	spent := make(chan []byte, 3)
	for range cap(spent) {
		spent <- nil
	}
	stop := make(chan struct{})
	var unpacking sync.WaitGroup
	var unpackErr error
	unpacking.Go(func() {
		defer close(chunks)
		unpackErr = d.unpack(chunks, spent, stop)
	})
	defer unpacking.Wait()
	defer close(stop)

	var count uint64
	var hash StateHash
	var record link.Record
	for plain := range chunks {
		for rest := plain; len(rest) > 0; {
			n, used := binary.Uvarint(rest)
			if used <= 0 || n > uint64(len(rest)-used) || n > uint64(limits.Record) {
				return Cursor{}, corrupt("bad length of record %d", count)
			}
			if err := DecodeRecord(rest[used:used+int(n)], &record); err != nil {
				return Cursor{}, fmt.Errorf("record %d: %w", count, err)
			}
			rest = rest[used+int(n):]
			count++
			if count > uint64(limits.Links) {
				return Cursor{}, corrupt("more than %d links", limits.Links)
			}
			hash.Add(record.Slug, record.Num, record.Revision)
			if err := fn(&record); err != nil {
				return Cursor{}, err
			}
		}
		spent <- plain[:0]
	}
	// The channel is closed, so the trailer is read and the other goroutine writes no more.
	switch {
	case unpackErr != nil:
		return Cursor{}, unpackErr
	case count != d.count:
		return Cursor{}, corrupt("%d links where the trailer says %d", count, d.count)
	case hash != d.hash:
		return Cursor{}, corrupt("state hash %v where the trailer says %v", hash, d.hash)
	}
	return cur, nil
}

type reader struct {
	r      *bufio.Reader
	sum    hash.Hash
	limits Limits
	keys   Keys

	count uint64 // from the trailer
	hash  StateHash
}

// full reads exactly len(b) bytes and takes them into the checksum.
func (d *reader) full(b []byte) error {
	if _, err := io.ReadFull(d.r, b); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return corrupt("the document is cut off")
		}
		return fmt.Errorf("read snapshot: %w", err)
	}
	d.sum.Write(b)
	return nil
}

func (d *reader) header() (Cursor, error) {
	h := make([]byte, headerSize)
	if err := d.full(h); err != nil {
		return Cursor{}, err
	}
	if string(h[:8]) != documentMagic {
		return Cursor{}, corrupt("not a snapshot")
	}
	if binary.LittleEndian.Uint32(h[headerSize-4:]) != crc32.Checksum(h[:headerSize-4], castagnoli) {
		return Cursor{}, corrupt("header checksum")
	}
	if f := binary.LittleEndian.Uint16(h[8:]); f != documentFormat {
		return Cursor{}, fmt.Errorf("%w %d of a full document", ErrFormat, f)
	}
	return Cursor{
		Incarnation: binary.LittleEndian.Uint64(h[16:]),
		Revision:    binary.LittleEndian.Uint64(h[24:]),
	}, nil
}

// unpack reads chunks until the trailer and checks the checksum.
func (d *reader) unpack(chunks chan<- []byte, spent <-chan []byte, stop <-chan struct{}) error {
	// A chunk is closed by the record that fills it, so it can be longer than chunkPlain by one record.
	maxPlain := chunkPlain + d.limits.Record + binary.MaxVarintLen64
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(maxPlain)))
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	defer dec.Close()
	var head [chunkHeader]byte
	var stored []byte
	var total int64
	for {
		if err := d.full(head[:4]); err != nil {
			return err
		}
		size := binary.LittleEndian.Uint32(head[:4])
		if size == 0 {
			return d.trailer(total)
		}
		if err := d.full(head[4:]); err != nil {
			return err
		}
		plainSize := binary.LittleEndian.Uint32(head[4:])
		// zstd stores what it can't shrink with a few bytes for each 128 KiB: more than that is no chunk.
		if plainSize == 0 || uint64(plainSize) > uint64(maxPlain) || uint64(size) > uint64(plainSize)+uint64(plainSize)>>8+64 {
			return corrupt("chunk of %d bytes for %d", size, plainSize)
		}
		if total += int64(plainSize); total > d.limits.Bytes {
			return corrupt("more than %d bytes", d.limits.Bytes)
		}
		if cap(stored) < int(size) {
			stored = make([]byte, size)
		}
		if err := d.full(stored[:size]); err != nil {
			return err
		}
		var plain []byte
		select {
		case plain = <-spent:
		case <-stop:
			return errors.New("snapshot: decoding was stopped")
		}
		if cap(plain) < int(plainSize) {
			plain = make([]byte, 0, plainSize)
		}
		plain, err = dec.DecodeAll(stored[:size], plain[:0])
		if err != nil {
			return corrupt("unpack: %v", err)
		}
		if len(plain) != int(plainSize) {
			return corrupt("chunk of %d bytes where %d were announced", len(plain), plainSize)
		}
		select {
		case chunks <- plain:
		case <-stop:
			return errors.New("snapshot: decoding was stopped")
		}
	}
}

func (d *reader) trailer(plainBytes int64) error {
	var t [trailerSize]byte
	if err := d.full(t[:trailerSize-sha256.Size]); err != nil {
		return err
	}
	var want [sha256.Size]byte
	d.sum.Sum(want[:0])
	if err := d.full(t[trailerSize-sha256.Size:]); err != nil {
		return err
	}
	if [sha256.Size]byte(t[trailerSize-sha256.Size:]) != want {
		return corrupt("checksum")
	}
	if bytes := binary.LittleEndian.Uint64(t[8:]); bytes != uint64(plainBytes) {
		return corrupt("%d bytes where the trailer says %d", plainBytes, bytes)
	}
	d.count = binary.LittleEndian.Uint64(t[:])
	d.hash = stateHash(t[16:])
	var length [2]byte
	if err := d.full(length[:]); err != nil {
		return err
	}
	signature := make([]byte, binary.LittleEndian.Uint16(length[:]))
	if err := d.full(signature); err != nil {
		return err
	}
	if err := d.keys.check(want[:], signature); err != nil {
		return err
	}
	if _, err := d.r.ReadByte(); !errors.Is(err, io.EOF) {
		return corrupt("bytes after the end")
	}
	return nil
}
