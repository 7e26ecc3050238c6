package table

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// adviseHuge asks the kernel for huge pages for the aligned inner part of [p, p+size). Most of the time of a lookup
// goes to misses of the address translation cache (TLB), and huge pages avoid nearly all of them. The call is only
// advice. It changes no content, so it need not be undone when the Go heap reuses the pages. An error means that
// there are no huge pages.
func adviseHuge(p unsafe.Pointer, size int) {
	const huge = 2 << 20
	from := (uintptr(p) + huge - 1) &^ (huge - 1)
	to := (uintptr(p) + uintptr(size)) &^ (huge - 1)
	if to <= from {
		return
	}
	// unsafe: the slice is within the live allocation at p, and only the kernel uses its address. The benchmark with
	// the large table would fault otherwise.
	_ = unix.Madvise(unsafe.Slice((*byte)(unsafe.Add(p, from-uintptr(p))), to-from), unix.MADV_HUGEPAGE)
}
