//go:build amd64 || arm64

package table

import "unsafe"

// prefetch tells the processor that the cache line at p will be read soon. Go has no statement for that.
//
//go:noescape
func prefetch(p unsafe.Pointer)

// prefetchLink prefetches the cache line at p and the two lines after it.
//
//go:noescape
func prefetchLink(p unsafe.Pointer)
