//go:build unix

package visitor

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// mapFile maps a whole file for reading.
func mapFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() == 0 || info.Size() != int64(int(info.Size())) {
		return nil, errors.New("the file is empty or too large")
	}
	return syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
}

func unmap(mem []byte)  { _ = syscall.Munmap(mem) }
func forget(mem []byte) { _ = unix.Madvise(mem, unix.MADV_DONTNEED) } // advice only
