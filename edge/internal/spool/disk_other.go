//go:build !linux

package spool

import "os"

// allocate writes zeros. That is slower than a reservation and guarantees nearly as much.
func allocate(f *os.File, size int64) error {
	zeros := make([]byte, 256<<10)
	for off := int64(0); off < size; off += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(int64(len(zeros)), size-off)], off); err != nil {
			return err
		}
	}
	return nil
}

func populate([]byte) {}

func release([]byte) {}

func nextData(_ *os.File, off int64) int64 { return off }
