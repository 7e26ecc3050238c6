package spool

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

func allocate(f *os.File, size int64) error {
	for {
		if err := unix.Fallocate(int(f.Fd()), 0, 0, size); err != unix.EINTR {
			return err
		}
	}
}

// populate takes the page faults of a stretch of a mapping now, so that the append path need not. It is an
// optimisation: older kernels refuse, and nothing is lost by it.
func populate(mem []byte) { _ = unix.Madvise(mem, unix.MADV_POPULATE_WRITE) }

// release takes a stretch of a mapping out of the process's memory. Its bytes stay in the file. Another hint.
func release(mem []byte) { _ = unix.Madvise(mem, unix.MADV_DONTNEED) }

// nextData returns the first offset, from off on, that is no hole in the file; beyond the file if there is none.
func nextData(f *os.File, off int64) int64 {
	at, err := unix.Seek(int(f.Fd()), off, unix.SEEK_DATA)
	switch {
	case errors.Is(err, unix.ENXIO):
		return math.MaxInt64
	case err != nil:
		return off
	}
	return at
}
