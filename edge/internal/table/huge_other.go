//go:build !linux

package table

import "unsafe"

// adviseHuge does nothing on systems without a call for huge pages.
func adviseHuge(unsafe.Pointer, int) {}
