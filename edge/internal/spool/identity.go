package spool

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/shortline/shortline/shared/durable"
)

// loadEdge returns the edge number of this directory. It creates a random one for a new directory and if the file is
// unreadable. A number that two directories share would make new clicks look like duplicates, while a new number is
// harmless.
func loadEdge(dir string) (edge uint64, drawn bool, err error) {
	path := filepath.Join(dir, "instance.id")
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, false, err
	}
	var sum uint32
	if _, err := fmt.Sscanf(string(text), "%16x %8x\n", &edge, &sum); err == nil && edge != 0 && sum == edgeSum(edge) {
		return edge, false, nil
	}
	var b [8]byte
	for edge = 0; edge == 0; edge = binary.LittleEndian.Uint64(b[:]) {
		rand.Read(b[:])
	}
	return edge, true, durable.Write(path, fmt.Appendf(nil, "%016x %08x\n", edge, edgeSum(edge)))
}

func edgeSum(edge uint64) uint32 {
	return crc32.Checksum(binary.LittleEndian.AppendUint64(nil, edge), castagnoli)
}

// The epoch file has two slots of epochSlot bytes, which are written alternately and in place. One slot survives an
// interrupted write, and an edge can start on a full disk.
const (
	epochSlot  = 512
	epochMagic = 0x48435045
)

// nextEpoch durably stores and returns the number of this start. It is higher than used and than all earlier epochs.
func nextEpoch(dir string, used uint32) (uint32, error) {
	f, err := os.OpenFile(filepath.Join(dir, "epoch"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	image := make([]byte, 2*epochSlot)
	// A short read leaves zeros, as in a slot that was never written.
	_, _ = f.ReadAt(image, 0)
	for slot := range 2 {
		b := image[slot*epochSlot:]
		if binary.LittleEndian.Uint32(b) == epochMagic && crc32.Checksum(b[:8], castagnoli) == binary.LittleEndian.Uint32(b[8:]) {
			used = max(used, binary.LittleEndian.Uint32(b[4:]))
		}
	}
	epoch := used + 1
	if epoch == 0 {
		return 0, errors.New("no epoch numbers are left")
	}
	slot := int(epoch % 2)
	b := image[slot*epochSlot:][:epochSlot]
	binary.LittleEndian.PutUint32(b, epochMagic)
	binary.LittleEndian.PutUint32(b[4:], epoch)
	binary.LittleEndian.PutUint32(b[8:], crc32.Checksum(b[:8], castagnoli))
	if st, err := f.Stat(); err != nil {
		return 0, err
	} else if st.Size() < int64(len(image)) {
		if _, err := f.WriteAt(image, 0); err != nil {
			return 0, err
		}
	} else if _, err := f.WriteAt(b, int64(slot*epochSlot)); err != nil {
		return 0, err
	}
	if err := f.Sync(); err != nil {
		return 0, err
	}
	return epoch, durable.SyncDir(dir)
}
