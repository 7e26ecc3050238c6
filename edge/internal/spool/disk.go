package spool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
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
var ErrInUse = errors.New("spool: the directory is in use by another process")

// lockDir locks the directory for this process. Closing the file or the end of the process releases the lock.
func lockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "LOCK"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w: %s", ErrInUse, dir)
		}
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return f, nil
}

// unlockDir releases the lock at once. Without the explicit unlock, a child process that is just starting could keep
// the lock a little longer.
func unlockDir(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_UN)
	return errors.Join(err, f.Close())
}

// replaceFile replaces the file at path atomically and durably.
func replaceFile(path string, data []byte) error {
	temp := path + ".tmp"
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		os.Remove(temp)
		return err
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

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
