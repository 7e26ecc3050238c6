package spool

import (
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
