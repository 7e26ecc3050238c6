package table

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"unsafe"
)

// A position consists of a chunk's number and an offset within the chunk. Chunks have different lengths, up to
// chunkMax. No link crosses the end of a chunk.
const (
	chunkBits = 25
	chunkMax  = 1 << chunkBits
	chunkMin  = 4 << 10

	// The load factor of an index is three quarters: 10.7 bytes per link, and about two and a half slots per hit.
	loadNum, loadDen = 3, 4
)

// store is an immutable set of links. A store in front of others also holds tombstones.
type store struct {
	chunks [][]byte
	index  []uint64 // hash's low 16 bits << 48 | position + 1; 0 is free
	count  int
}

func (s *store) find(hash uint64, slug []byte) []byte {
	index := s.index
	if len(index) == 0 {
		return nil
	}
	tag := hash << 48
	for i := slot(hash, len(index)); ; {
		w := index[i]
		if w == 0 {
			return nil
		}
		if (w^tag)>>48 == 0 {
			b := s.at(w)
			if n := int(b[1] &^ tombstone); n == len(slug) && string(b[entryHead:entryHead+n]) == string(slug) {
				return b
			}
		}
		if i++; i == len(index) {
			i = 0
		}
	}
}

func (s *store) at(word uint64) []byte {
	position := word&(1<<48-1) - 1
	return s.chunks[position>>chunkBits][position&(chunkMax-1):]
}

// each calls fn with the bytes of every link, in the order of their addition.
func (s *store) each(fn func(b []byte) error) error {
	for _, chunk := range s.chunks {
		for len(chunk) > 0 {
			n := entrySize(chunk)
			if err := fn(chunk[:n:n]); err != nil {
				return err
			}
			chunk = chunk[n:]
		}
	}
	return nil
}

func (s *store) bytes() int64 {
	n := int64(cap(s.index)) * 8
	for _, c := range s.chunks {
		n += int64(cap(c))
	}
	return n
}

// arena collects links for a store.
type arena struct {
	chunks [][]byte
	count  int
}

// allocate allocates n bytes for one link, which the caller fills.
func (a *arena) allocate(n int) []byte {
	a.count++
	last := len(a.chunks) - 1
	if last < 0 || cap(a.chunks[last])-len(a.chunks[last]) < n {
		size := chunkMin
		if last >= 0 {
			size = min(2*cap(a.chunks[last]), chunkMax)
		}
		a.chunks = append(a.chunks, newChunk(max(size, n)))
		last++
	}
	c := a.chunks[last]
	at := len(c)
	a.chunks[last] = c[:at+n]
	return c[at : at+n : at+n]
}

// newChunk returns an empty chunk, on huge pages if it is large enough.
func newChunk(size int) []byte {
	b := make([]byte, 0, size)
	adviseHuge(unsafe.Pointer(unsafe.SliceData(b)), size)
	return b
}

// store builds the index. The arena cannot be used afterwards. A duplicate slug is an error.
func (a *arena) store(seed seed) (*store, error) {
	if last := len(a.chunks) - 1; last >= 0 && len(a.chunks[last]) < cap(a.chunks[last]) {
		trimmed := newChunk(len(a.chunks[last]))
		a.chunks[last] = append(trimmed, a.chunks[last]...)
	}
	x := newIndexing(seed, a.chunks, a.count)
	for number := range a.chunks {
		if err := x.addChunk(number); err != nil {
			return nil, err
		}
	}
	return x.store, x.end()
}

// indexing fills the index of a store chunk by chunk. A large index does not fit into the processor's caches, so each
// insertion would wait for memory. Therefore indexing first reads the slots of a whole batch, which the processor
// does in parallel, and then fills them.
type indexing struct {
	store *store
	seed  seed
	batch [64]struct{ hash, position uint64 }
	n     int
}

// newIndexing returns an indexing for at most the given number of links.
func newIndexing(seed seed, chunks [][]byte, links int) *indexing {
	x := &indexing{store: &store{chunks: chunks, count: links}, seed: seed}
	if links > 0 {
		x.store.index = make([]uint64, links*loadDen/loadNum+1)
		adviseHuge(unsafe.Pointer(unsafe.SliceData(x.store.index)), len(x.store.index)*8)
	}
	return x
}

// addChunk adds the links of one chunk. A duplicate slug is an error.
func (x *indexing) addChunk(number int) error {
	chunk := x.store.chunks[number]
	for at := 0; at < len(chunk); {
		b := chunk[at:]
		x.batch[x.n].hash, x.batch[x.n].position = x.seed.hash(slugOf(b)), uint64(number)<<chunkBits|uint64(at)
		if x.n++; x.n == len(x.batch) {
			if err := x.end(); err != nil {
				return err
			}
		}
		at += entrySize(b)
	}
	return nil
}

// end inserts the links of the current batch.
func (x *indexing) end() error {
	index := x.store.index
	var read uint64
	for i := range x.batch[:x.n] {
		read |= index[slot(x.batch[i].hash, len(index))]
	}
	runtime.KeepAlive(read) // else the compiler removes the loop
	for i := range x.batch[:x.n] {
		if err := x.store.insert(x.batch[i].hash, x.batch[i].position); err != nil {
			return err
		}
	}
	x.n = 0
	return nil
}

func (s *store) insert(hash, position uint64) error {
	word := hash<<48 | (position + 1)
	for i := slot(hash, len(s.index)); ; {
		w := s.index[i]
		if w == 0 {
			s.index[i] = word
			return nil
		}
		if w>>48 == word>>48 && string(slugOf(s.at(w))) == string(slugOf(s.at(word))) {
			return fmt.Errorf("table: duplicate slug %q", slugOf(s.at(word)))
		}
		if i++; i == len(s.index) {
			i = 0
		}
	}
}

// uvarint is binary.Uvarint for trusted bytes. It returns the value and the bytes after it.
func uvarint(b []byte) (uint64, []byte) {
	v, n := binary.Uvarint(b)
	return v, b[n:]
}
