package snapshot

import (
	"bufio"
	"cmp"
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

// Wire form of a full document, all integers little-endian:
//
//	header   magic "SLNKFULL", format u16, schema u16, reserved u32, incarnation u64, revision u64, CRC-32C u32
//	chunk    stored bytes u32 (never 0), plain bytes u32, one zstd frame; repeated
//	trailer  u32 0, count u64, plain bytes u64, state hash 16, SHA-256 32, signature length u16, signature
//
// Plain bytes are records, each after its length as a varint; no record crosses a chunk. The SHA-256 covers every stored
// byte before it, so it can be checked without decompression and detects every altered bit. Count and hash are at the end
// because the document is written as a stream, when they are not known yet. The signature (Ed25519, 64 bytes, or none)
// covers the SHA-256; see sign.go. The first release accepts no signed document.
const (
	documentMagic  = "SLNKFULL"
	documentFormat = 1
	headerSize     = 36
	trailerSize    = 8 + 8 + 16 + sha256.Size // after the zero length that precedes it

	chunkPlain  = 512 << 10 // a chunk ends when it is this large
	chunkHeader = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// MaxLinks is the number of links in a document that readers accept by default. A control plane must not have more: edges
// could not load its documents.
const MaxLinks = 50_000_000

// Limits limit what a reader accepts, so that a hostile document uses bounded memory. Zero fields mean the defaults in
// parentheses.
type Limits struct {
	Links  int   // links in a document (MaxLinks)
	Bytes  int64 // plain bytes in a document (64 GiB)
	Record int   // bytes of one record (8 MiB)
}

func (l Limits) withDefaults() Limits {
	l.Links = cmp.Or(l.Links, MaxLinks)
	l.Bytes = cmp.Or(l.Bytes, 64<<30)
	l.Record = cmp.Or(l.Record, 8<<20)
	return l
}

// Writer writes a full document as a stream. It is not safe for concurrent use. After a write error it cannot be used.
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

// NewWriter starts a document of the links at cur, and writes its header to w.
func NewWriter(w io.Writer, cur Cursor) (*Writer, error) {
	return newWriter(w, cur, zstd.SpeedDefault)
}

// NewFastWriter returns a Writer that uses less processor time and about a fifth more space. It is for documents that stay
// on the same machine.
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

// Sign sets the key with which Close signs the document.
func (d *Writer) Sign(key SigningKey) { d.key = key }

// Add writes one link. The slugs of a document must be distinct; their order does not matter. If Check rejects the link,
// Add returns its error and writes nothing, so the caller can continue with other links.
func (d *Writer) Add(r *link.Record) error {
	if d.err != nil {
		return d.err
	}
	if err := Check(r); err != nil {
		return err
	}
	d.plain = appendMessageBody(d.plain, r)
	d.count++
	d.hash.Add(r.Key, r.Num, r.Revision)
	if len(d.plain) >= chunkPlain {
		d.flush()
	}
	return d.err
}

// Close writes the rest and the trailer. It does not close the underlying writer.
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

// appendMessageBody appends the length of a record and the record.
func appendMessageBody(b []byte, r *link.Record) []byte {
	return appendSized(b, func(b []byte) []byte { return AppendRecord(b, r) })
}

// Decode reads a full document and calls fn for each link. The document is verified only when Decode returns nil, so the
// caller must not use the links before that.
//
// The next call overwrites the record that fn gets, but fn may keep its strings and slices. If fn returns an error, Decode
// stops and returns that error. The Cursor is the document's position; it is valid only without an error.
func Decode(r io.Reader, limits Limits, fn func(*link.Record) error) (Cursor, error) {
	return DecodeSigned(r, limits, Keys{}, fn)
}

// DecodeSigned is Decode, but one of the keys must have signed the document; otherwise the error wraps ErrUnsigned. Zero
// Keys require no signature.
func DecodeSigned(r io.Reader, limits Limits, keys Keys, fn func(*link.Record) error) (Cursor, error) {
	limits = limits.withDefaults()
	d := &reader{r: bufio.NewReaderSize(r, 256<<10), sum: sha256.New(), limits: limits, keys: keys}
	cur, err := d.header()
	if err != nil {
		return Cursor{}, err
	}

	// Decompression runs one chunk ahead of fn, because the two together determine how long an edge takes to start.
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
			hash.Add(record.Key, record.Num, record.Revision)
			if err := fn(&record); err != nil {
				return Cursor{}, err
			}
		}
		spent <- plain[:0]
	}
	// The channel is closed, so the other goroutine has read the trailer and has ended.
	switch {
	case unpackErr != nil:
		return Cursor{}, unpackErr
	case count != d.count:
		return Cursor{}, corrupt("%d links, but the trailer has %d", count, d.count)
	case hash != d.hash:
		return Cursor{}, corrupt("state hash %v, but the trailer has %v", hash, d.hash)
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

// full reads exactly len(b) bytes and adds them to the checksum.
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

// unpack decompresses chunks up to the trailer and verifies the checksum.
func (d *reader) unpack(chunks chan<- []byte, spent <-chan []byte, stop <-chan struct{}) error {
	// The record that fills a chunk ends it, so a chunk can be longer than chunkPlain by one record.
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
		// For data that it cannot compress, zstd adds a few bytes for each 128 KiB. A larger chunk is not valid.
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
			return corrupt("decompress: %v", err)
		}
		if len(plain) != int(plainSize) {
			return corrupt("chunk of %d bytes, but its header has %d", len(plain), plainSize)
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
		return corrupt("%d bytes, but the trailer has %d", plainBytes, bytes)
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
	if err := d.keys.verify(want[:], signature); err != nil {
		return err
	}
	if _, err := d.r.ReadByte(); !errors.Is(err, io.EOF) {
		return corrupt("bytes after the end")
	}
	return nil
}
