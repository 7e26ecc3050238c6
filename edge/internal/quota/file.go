package quota

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"sync/atomic"
	"unsafe"

	"github.com/shortline/shortline/shared/durable"
	"golang.org/x/sys/unix"
)

// The file consists of a header page and chunks of slots, all in the machine's byte order (little-endian on the supported
// machines). It is mapped into memory, so a process that is killed loses nothing.
//
//	header  64 KiB: magic 8 bytes, the file's random number u64, CRC-32C u32 of both, zeros up to 64,
//	        then two words (see word): the number of chunks, and the fleet
//	slot    link's number u64, since u64, the counter's random number u64, seal u64 (0: the slot is free),
//	        then three words (see word): own, others, sent; zeros up to 64
//
// The seal is stored last when a slot comes into use and cleared first when the slot is freed, so every slot in use is
// complete.
const (
	fileName   = "counts"
	fileMagic  = "SLQUOTA\x01"
	headSize   = 64 << 10 // a multiple of every page size
	headFile   = 8
	headSum    = 16
	headChunks = 64
	headFleet  = 72
	slotSize   = 64
	chunkSlots = 1024
	chunkSize  = chunkSlots * slotSize
)

// slot is one counter in the mapped file.
type slot struct {
	num, since, id, seal uint64
	own, others, sent    uint64
	_                    uint64
}

// errDamaged means that the file's content cannot have been written by this package.
var errDamaged = errors.New("quota: the file of counters is damaged")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Words that hold a number of clicks and a checksum of it. The checksum depends on the slot and on the word's place in it,
// so a word of another slot or of another use of the same slot is never valid.
const (
	placeOwn = iota + 1
	placeOthers
	placeSent
	placeFleet
	placeChunks

	checkBits = 24
	maxCount  = 1<<(64-checkBits) - 1
)

// mix is a bijection whose result depends on all bits of x in all its bits.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// word returns the word for a count of at most maxCount.
func word(seal, count, place uint64) uint64 {
	return count<<checkBits | mix(seal+place^count*0x9e3779b97f4a7c15)>>(64-checkBits)
}

// unword returns the count of a word, and whether the word is valid.
func unword(seal, w, place uint64) (count uint64, ok bool) {
	count = w >> checkBits
	return count, word(seal, count, place) == w
}

// sealOf returns the seal of a slot in use.
func sealOf(file, num, since, id uint64) uint64 {
	return mix(mix(mix(file^num)+since)^id) | 1
}

// file is the mapped file. Its slots stay at their addresses until close.
type file struct {
	f      *os.File
	id     uint64
	head   []byte
	chunks [][]byte
}

// openFile opens the file in a folder, or creates it. A damaged file gives errDamaged.
func openFile(dir string) (*file, error) {
	path := filepath.Join(dir, fileName)
	f, err := os.OpenFile(path, os.O_RDWR, 0o600)
	if errors.Is(err, os.ErrNotExist) {
		if err = create(path); err == nil {
			f, err = os.OpenFile(path, os.O_RDWR, 0o600)
		}
	}
	if err != nil {
		return nil, err
	}
	q := &file{f: f}
	if err := q.load(); err != nil {
		q.unmap()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return q, nil
}

// create writes a file without slots.
func create(path string) error {
	head := make([]byte, headSize)
	copy(head, fileMagic)
	_, _ = rand.Read(head[headFile:headSum]) // never fails
	binary.LittleEndian.PutUint32(head[headSum:], crc32.Checksum(head[:headSum], castagnoli))
	binary.LittleEndian.PutUint64(head[headChunks:], word(binary.LittleEndian.Uint64(head[headFile:]), 0, placeChunks))
	return durable.Write(path, head)
}

// load maps a file and checks all of it. It ignores what follows the chunks in the header's number, because no slot there
// was used.
func (q *file) load() error {
	info, err := q.f.Stat()
	if err != nil {
		return err
	}
	if info.Size() < headSize {
		return errDamaged
	}
	if q.head, err = mapPart(q.f, 0, headSize); err != nil {
		return err
	}
	if string(q.head[:len(fileMagic)]) != fileMagic || binary.LittleEndian.Uint32(q.head[headSum:]) != crc32.Checksum(q.head[:headSum],
		castagnoli) {
		return errDamaged
	}
	q.id = binary.LittleEndian.Uint64(q.head[headFile:])
	if _, err := q.fleet(); err != nil {
		return err
	}
	chunks, ok := unword(q.id, binary.LittleEndian.Uint64(q.head[headChunks:]), placeChunks)
	if !ok || uint64(info.Size()) < headSize+chunks*chunkSize {
		return errDamaged
	}
	for i := range int64(chunks) {
		at := headSize + i*chunkSize
		chunk, err := mapPart(q.f, at, chunkSize)
		if err != nil {
			return err
		}
		q.chunks = append(q.chunks, chunk)
		for i := range chunkSlots {
			if s := slotAt(chunk, i); s.seal != 0 && !s.valid(q.id) {
				return errDamaged
			}
		}
	}
	return nil
}

func mapPart(f *os.File, at, size int64) ([]byte, error) {
	b, err := unix.Mmap(int(f.Fd()), at, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map the file of counters: %w", err)
	}
	return b, nil
}

// slotAt returns a slot of a chunk. unsafe: a chunk is page-aligned and holds chunkSlots slots.
func slotAt(chunk []byte, i int) *slot { return (*slot)(unsafe.Pointer(&chunk[i*slotSize])) }

// valid reports whether a slot in use is as this package writes it.
func (s *slot) valid(file uint64) bool {
	if s.seal != sealOf(file, s.num, s.since, s.id) {
		return false
	}
	for i, w := range [...]uint64{s.own, s.others, s.sent} {
		if _, ok := unword(s.seal, w, uint64(i+placeOwn)); !ok {
			return false
		}
	}
	return true
}

// occupy brings a free slot into use.
func (s *slot) occupy(file, num, since uint64) {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	n := binary.LittleEndian.Uint64(id[:])
	seal := sealOf(file, num, since, n)
	atomic.StoreUint64(&s.own, word(seal, 0, placeOwn))
	atomic.StoreUint64(&s.others, word(seal, 0, placeOthers))
	atomic.StoreUint64(&s.sent, word(seal, 0, placeSent))
	atomic.StoreUint64(&s.since, since)
	atomic.StoreUint64(&s.id, n)
	atomic.StoreUint64(&s.num, num)
	atomic.StoreUint64(&s.seal, seal)
}

// drop frees a slot. Its count becomes invalid, so a request that still uses it notices.
func (s *slot) drop() {
	atomic.StoreUint64(&s.seal, 0)
	atomic.StoreUint64(&s.own, 0)
}

// grow appends a chunk of free slots. Its blocks are written first, so a full disk is an error here and not a fault later.
func (q *file) grow() ([]byte, error) {
	at := int64(headSize + len(q.chunks)*chunkSize)
	if _, err := q.f.WriteAt(make([]byte, chunkSize), at); err != nil {
		return nil, fmt.Errorf("extend the file of counters: %w", errors.Join(err, q.f.Truncate(at)))
	}
	if err := q.f.Sync(); err != nil {
		return nil, fmt.Errorf("extend the file of counters: %w", err)
	}
	chunk, err := mapPart(q.f, at, chunkSize)
	if err != nil {
		return nil, err
	}
	q.chunks = append(q.chunks, chunk)
	binary.LittleEndian.PutUint64(q.head[headChunks:], word(q.id, uint64(len(q.chunks)), placeChunks))
	return chunk, nil
}

// fleet is what an edge knows of the others: how many there are, itself included, and its place among them. Zero edges
// mean that the edge has never learned the counts of the others.
type fleet struct{ edges, rank uint32 }

const maxEdges = 1 << 16

func (q *file) fleet() (fleet, error) {
	w := binary.LittleEndian.Uint64(q.head[headFleet:])
	if w == 0 {
		return fleet{}, nil
	}
	n, ok := unword(q.id, w, placeFleet)
	if f := (fleet{uint32(n >> 16), uint32(n % maxEdges)}); ok && f.rank < f.edges {
		return f, nil
	}
	return fleet{}, errDamaged
}

func (q *file) setFleet(f fleet) {
	binary.LittleEndian.PutUint64(q.head[headFleet:], word(q.id, uint64(f.edges)<<16|uint64(f.rank), placeFleet))
}

// flush writes a head and chunks to the disk, against power failures.
func flush(head []byte, chunks [][]byte) error {
	err := unix.Msync(head, unix.MS_SYNC)
	for _, c := range chunks {
		err = errors.Join(err, unix.Msync(c, unix.MS_SYNC))
	}
	return err
}

// unmap releases a file that no Table uses.
func (q *file) unmap() {
	for _, c := range append(q.chunks, q.head) {
		if c != nil {
			_ = unix.Munmap(c) // cannot fail for a mapping of mapPart
		}
	}
	_ = q.f.Close() // nothing was written through it
}

// setAside renames a damaged file, for operators to look at.
func setAside(dir string) error {
	path := filepath.Join(dir, fileName)
	if err := os.Rename(path, path+".damaged"); err != nil {
		return err
	}
	return durable.SyncDir(dir)
}
