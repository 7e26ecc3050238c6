package spool

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// cursors remembers how far each lane was acknowledged: a file of records of 16 bytes, of which the highest
// number for a lane counts. It may lag, be cut or be gone: clicks are then shipped again, which is harmless.
// It is never synced.
//
// Record, little-endian: epoch (32 bits), lane (8 bits, the highest of 64) and sequence number (56 bits),
// CRC-32C of the twelve bytes before.
type cursors struct {
	mu    sync.Mutex
	path  string
	f     *os.File
	size  int64
	acked map[cursorLane]uint64
}

// cursorLane leaves the edge out: epochs are unique within a directory, even across a change of its number.
type cursorLane struct {
	epoch uint32
	lane  uint8
}

const (
	cursorRecord  = 16
	cursorMaxSize = 1 << 20 // bytes before the file is written anew
	cursorSeqBits = 56
)

// openCursors reads the file, or starts with nothing where it can't be read.
func openCursors(dir string) (*cursors, error) {
	c := &cursors{path: filepath.Join(dir, "shipped"), acked: map[cursorLane]uint64{}}
	data, err := os.ReadFile(c.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for ; len(data) >= cursorRecord; data = data[cursorRecord:] {
		b := data[:cursorRecord]
		if crc32.Checksum(b[:12], castagnoli) != binary.LittleEndian.Uint32(b[12:]) {
			continue
		}
		word := binary.LittleEndian.Uint64(b[4:])
		key := cursorLane{binary.LittleEndian.Uint32(b), uint8(word >> cursorSeqBits)}
		c.acked[key] = max(c.acked[key], word&(1<<cursorSeqBits-1))
	}
	return c, nil
}

func appendCursor(dst []byte, key cursorLane, seq uint64) []byte {
	start := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, key.epoch)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(key.lane)<<cursorSeqBits|seq&(1<<cursorSeqBits-1))
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// keep writes the file anew with only the lanes that are wanted.
func (c *cursors) keep(wanted func(cursorLane) bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rewrite(wanted)
}

func (c *cursors) rewrite(wanted func(cursorLane) bool) error {
	var data []byte
	for key, seq := range c.acked {
		if !wanted(key) {
			delete(c.acked, key)
			continue
		}
		data = appendCursor(data, key, seq)
	}
	if c.f != nil {
		c.f.Close()
		c.f = nil
	}
	werr := replaceFile(c.path, data)
	f, err := os.OpenFile(c.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return errors.Join(werr, err)
	}
	// Where the old file is still there, go on behind it, at a whole record.
	end, err := f.Seek(0, 2)
	if err != nil {
		f.Close()
		return errors.Join(werr, err)
	}
	c.f, c.size = f, end/cursorRecord*cursorRecord
	return werr
}

// advance notes that all of a lane up to and including seq was acknowledged.
func (c *cursors) advance(key cursorLane, seq uint64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acked[key] = max(c.acked[key], seq)
	if c.f == nil {
		return nil
	}
	var b [cursorRecord]byte
	if _, err := c.f.WriteAt(appendCursor(b[:0], key, seq), c.size); err != nil {
		return err
	}
	if c.size += cursorRecord; c.size >= cursorMaxSize {
		return c.rewrite(func(cursorLane) bool { return true })
	}
	return nil
}

func (c *cursors) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.f != nil {
		c.f.Close()
		c.f = nil
	}
}
