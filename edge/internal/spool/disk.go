package spool

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/shortline/shortline/shared/durable"
)

// disk holds the calls to the operating system whose failures are tested.
type disk struct {
	allocate func(f *os.File, size int64) error // reserves the blocks, so that a write to them cannot fail on a full disk
	sync     func(mem []byte) error             // makes the pages of a mapping durable
	space    func(dir string) (free, total int64, err error)
}

func systemDisk() disk {
	return disk{
		allocate: allocate,
		sync:     func(mem []byte) error { return unix.Msync(mem, unix.MS_SYNC) },
		space: func(dir string) (free, total int64, err error) {
			var st unix.Statfs_t
			if err := unix.Statfs(dir, &st); err != nil {
				return 0, 0, err
			}
			return int64(st.Bavail) * int64(st.Bsize), int64(st.Blocks) * int64(st.Bsize), nil
		},
	}
}

func mapFile(f *os.File, size int64) ([]byte, error) {
	return unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

// ErrInUse is wrapped by the error of Open if another process uses the directory.
var ErrInUse = durable.ErrInUse

// noRoom reports whether the error means that the disk is full or the quota is used up.
func noRoom(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
}

// segmentName returns a segment's file name. parseSegmentName is its inverse.
func segmentName(id segmentID) string {
	return fmt.Sprintf("%016x-%08x-%02x-%08x.seg", id.Edge, id.Epoch, id.Lane.Lane, id.index)
}

func parseSegmentName(name string) (segmentID, bool) {
	var id segmentID
	if !strings.HasSuffix(name, ".seg") {
		return id, false
	}
	_, err := fmt.Sscanf(name, "%16x-%8x-%2x-%x.seg", &id.Edge, &id.Epoch, &id.Lane.Lane, &id.index)
	return id, err == nil && segmentName(id) == name
}
