package table

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// adviseHuge asks the kernel for huge pages under the inner part of [p, p+size) that is aligned to them. A
// lookup is mostly misses of the address translation cache, which huge pages nearly take away. It is advice:
// on pages that the Go heap may later use otherwise it changes no content, so it needs no undoing, and an
// error means that there are none to be had.
func adviseHuge(p unsafe.Pointer, size int) {
	const huge = 2 << 20
	from := (uintptr(p) + huge - 1) &^ (huge - 1)
	to := (uintptr(p) + uintptr(size)) &^ (huge - 1)
	if to <= from {
		return
	}
	// unsafe: the slice lies within the live allocation at p, and only the kernel looks at its address; the
	// benchmark's large table would fault otherwise.
	_ = unix.Madvise(unsafe.Slice((*byte)(unsafe.Add(p, from-uintptr(p))), to-from), unix.MADV_HUGEPAGE)
}
