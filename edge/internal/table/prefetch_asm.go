//go:build amd64 || arm64

package table

import "unsafe"

// prefetch tells the processor that the cache line at p will be read soon. The language has no word for it.
//
//go:noescape
func prefetch(p unsafe.Pointer)

// prefetchLink is prefetch for the two lines after it as well.
//
//go:noescape
func prefetchLink(p unsafe.Pointer)
