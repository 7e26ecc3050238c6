package spool

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/shortline/shortline/shared/durable"
)

// cursors stores how far each lane was acknowledged, in a file of 16-byte records. The record with the highest number
// for a lane counts. The file is never synced. If it is stale, cut or missing, clicks are shipped again, which is
// harmless.
//
// Record, little-endian: epoch (32 bits), a 64-bit word with the lane (highest 8 bits) and the sequence number (56
// bits), and the CRC-32C of the preceding twelve bytes.
type cursors struct {
	mu    sync.Mutex
	path  string
	f     *os.File
	size  int64
	acked map[cursorLane]uint64
}

// cursorLane identifies a lane without the edge: epochs are unique within a directory, even if its edge number changes.
type cursorLane struct {
	epoch uint32
	lane  uint8
}

const (
	cursorRecord  = 16
	cursorMaxSize = 1 << 20 // size in bytes at which the file is rewritten
	cursorSeqBits = 56
)

// openCursors reads the file. It skips damaged records, and starts empty if the file is missing.
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

// keep rewrites the file with only the wanted lanes.
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
	werr := durable.Write(c.path, data)
	f, err := os.OpenFile(c.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return errors.Join(werr, err)
	}
	// If the old file is still there, continue after its last complete record.
	end, err := f.Seek(0, 2)
	if err != nil {
		f.Close()
		return errors.Join(werr, err)
	}
	c.f, c.size = f, end/cursorRecord*cursorRecord
	return werr
}

// advance records that all numbers of a lane up to and including seq were acknowledged.
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
