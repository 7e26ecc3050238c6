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

// populate makes the page faults of a part of a mapping happen now instead of on the append path. It is only an
// optimisation: older kernels reject it.
func populate(mem []byte) { _ = unix.Madvise(mem, unix.MADV_POPULATE_WRITE) }

// release removes a part of a mapping from the process's memory. Its bytes stay in the file. It is only a hint.
func release(mem []byte) { _ = unix.Madvise(mem, unix.MADV_DONTNEED) }

// nextData returns the first offset from off on that is not in a hole of the file, or an offset after its end.
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
