package table

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/shared/decision"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/snapshot"
)

// Restore replaces the whole table by an image of size bytes, as Load does with a builder's set. On an error the
// table is unchanged. The error is ErrImage if the image is at fault.
//
// Restore does not trust the image. It rejects the image unless this program could have written each of its links,
// and all links together have the state hash in the image. It does not compile the rules of every link again.
// Therefore the bond, which must equal that of Write, must contain the program's version.
//
// Restore copies the links and checks the copies. The file may be truncated or overwritten afterwards. That would
// crash a process that had mapped it.
func (t *Table) Restore(r io.ReaderAt, size int64, bond []byte) error {
	layout, err := readLayout(r, size, bond)
	if err != nil {
		return err
	}
	parts := layout.sections[:len(layout.sections)-1]
	last, err := readLast(r, layout.sections[len(parts)], t.zone)
	if err != nil {
		return err
	}
	set := newIndexing(t.seed, make([][]byte, len(parts)), layout.links)

	// Read the next sections while the index is filled from one section.
	read := make([]section, len(parts))
	for i := range read {
		read[i].done = make(chan struct{})
	}
	var next atomic.Int64
	var failed atomic.Bool
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(parts)) {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(parts)); i = next.Add(1) - 1 {
				if !failed.Load() {
					read[i].readPart(r, parts[i])
				}
				close(read[i].done)
			}
		})
	}
	var hash snapshot.StateHash
	links := 0
	for i := range read {
		s := &read[i]
		<-s.done
		if err == nil {
			err = s.err
		}
		if links += s.links; err == nil && links > layout.links {
			err = fmt.Errorf("%w: more than %d links", ErrImage, layout.links)
		}
		if err == nil {
			hash.Join(s.hash)
			set.store.chunks[i] = s.chunk
			if err = set.addChunk(i); err != nil {
				err = fmt.Errorf("%w: %w", ErrImage, err)
			}
		}
		if err != nil {
			failed.Store(true)
		}
	}
	group.Wait()
	if err != nil {
		return err
	}
	if err := set.end(); err != nil {
		return fmt.Errorf("%w: %w", ErrImage, err)
	}
	if links != layout.links || hash.String() != layout.hash {
		return fmt.Errorf("%w: %d links of hash %v instead of %d of %s", ErrImage, links, hash, layout.links, layout.hash)
	}
	aside, err := t.readAside(last, set.store)
	if err != nil {
		return err
	}
	t.replace(set.store, hash, layout.cursor, aside)
	return nil
}

// section is one section of an image. Its other fields are valid once done is closed.
type section struct {
	done  chan struct{}
	chunk []byte
	links int
	hash  snapshot.StateHash
	err   error
}

func (s *section) readPart(r io.ReaderAt, part imagePart) {
	s.chunk = newChunk(part.size)[:part.size]
	if s.err = readAt(r, s.chunk, part.at); s.err != nil {
		return
	}
	if crc32.Checksum(s.chunk, castagnoli) != part.sum {
		s.err = fmt.Errorf("%w: damaged between %d and %d", ErrImage, part.at, part.at+int64(part.size))
		return
	}
	var c entryCheck
	for b := s.chunk; len(b) > 0; s.links++ {
		n, ok := c.size(b)
		if !ok {
			s.err = fmt.Errorf("%w: no link at %d", ErrImage, part.at+int64(part.size-len(b)))
			return
		}
		e := readEntry(b[:n], 0)
		s.hash.Add(e.slug, e.num, e.revision)
		b = b[n:]
	}
}

// readLast reads the last section, prepares the process for the time zones of its links, and returns the links that are set
// aside. Choosers depend on the offsets of zones.
func readLast(r io.ReaderAt, part imagePart, zone *time.Location) ([]byte, error) {
	wire := make([]byte, part.size)
	if err := readAt(r, wire, part.at); err != nil {
		return nil, err
	}
	if crc32.Checksum(wire, castagnoli) != part.sum {
		return nil, fmt.Errorf("%w: damaged at %d", ErrImage, part.at)
	}
	rest, ok := skip(wire)
	if !ok {
		return nil, fmt.Errorf("%w: no time zones", ErrImage)
	}
	_, zones := uvarint(wire)
	if !rule.UseZones(zones[:len(zones)-len(rest)], zone) {
		return nil, fmt.Errorf("%w: the time zones have changed", ErrImage)
	}
	return rest, nil
}

// readAside reads the links that are set aside and determines the reasons again. If the rules of one compile now, the
// link should be served with them, so the image is out of date.
func (t *Table) readAside(wire []byte, links *store) (map[string]aside, error) {
	nothing := &version{base: &store{}}
	all := map[string]aside{}
	for len(wire) > 0 {
		n, k := binary.Uvarint(wire)
		if k <= 0 || n > uint64(len(wire)-k) {
			return nil, fmt.Errorf("%w: a record is incomplete", ErrImage)
		}
		var record link.Record
		if err := snapshot.DecodeRecord(wire[k:k+int(n)], &record); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrImage, err)
		}
		served, found := (&version{base: links}).lookup(t.seed, record.Key)
		if !found || served.Num() != record.Num || served.Revision() != record.Revision {
			return nil, fmt.Errorf("%w: link %d is set aside and not served", ErrImage, record.Num)
		}
		_, _, why := t.usable(&record, nothing)
		if why == nil {
			return nil, fmt.Errorf("%w: link %d is set aside but its rules compile", ErrImage, record.Num)
		}
		all[record.Key] = aside{record, why}
		wire = wire[k+int(n):]
	}
	return all, nil
}

// entryMin is the minimum size of a link: flags, two lengths, a slug of one byte, four numbers.
const entryMin = 8

// entryCheck recognizes valid links. It reuses its buffers.
type entryCheck struct {
	entry, rest []byte
}

// size is entrySize for untrusted bytes. It returns false unless b starts with a link as an encoder writes it. It does not
// compile the rules again, but makes sure that their chooser is safe to use.
func (c *entryCheck) size(b []byte) (n int, ok bool) {
	if len(b) < entryMin || b[1] == 0 || b[1] > snapshot.MaxKey || len(b) < entryHead+int(b[1]) {
		return 0, false
	}
	rest := b[entryHead+int(b[1]):]
	if rest, ok = skip(rest); !ok {
		return 0, false
	}
	if rest, ok = skipNumbers(rest, 4); !ok {
		return 0, false
	}
	if b[0]&hasTerms != 0 {
		mask, k := binary.Uvarint(rest)
		if k <= 0 || mask > knownTerms {
			return 0, false
		}
		numbers := bits.OnesCount64(mask & numberedTerms)
		if mask&termSince != 0 {
			numbers++
		}
		if rest, ok = skipNumbers(rest[k:], numbers); !ok {
			return 0, false
		}
	}
	if b[0]&(hasRest|hasTerms|decides) == 0 {
		return len(b) - len(rest), b[0]&(hasPassword|hasPreview|hasUTM) == 0
	}
	for _, part := range [...]byte{decides, hasRest} {
		if b[0]&part != 0 {
			if rest, ok = skip(rest); !ok {
				return 0, false
			}
		}
	}
	// The flags must agree with the record: without its flag, a password would not be asked for.
	n = len(b) - len(rest)
	e := readEntry(b[:n], 0)
	r, err := e.record()
	if err != nil {
		return 0, false
	}
	flags, terms := flagsOf(&r)
	chooser, texts := e.parts()
	if len(chooser) > 0 && !decision.CheckFlat(chooser, len(texts)) {
		return 0, false
	}
	c.rest = c.rest[:0]
	if flags&hasRest != 0 {
		c.rest = appendRest(c.rest, &r, &terms)
	}
	c.entry = appendEntry(c.entry[:0], flags, &terms, &r, chooser, c.rest)
	return n, string(c.entry) == string(b[:n])
}

// skipNumbers skips varints.
func skipNumbers(b []byte, count int) (rest []byte, ok bool) {
	for range count {
		_, k := binary.Uvarint(b)
		if k <= 0 {
			return nil, false
		}
		b = b[k:]
	}
	return b, true
}

// skip skips a length and that many bytes.
func skip(b []byte) (rest []byte, ok bool) {
	n, k := binary.Uvarint(b)
	if k <= 0 || n > uint64(len(b)-k) {
		return nil, false
	}
	return b[k+int(n):], true
}
