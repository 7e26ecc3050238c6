//go:build !linux

package table

import "unsafe"

// adviseHuge does nothing where huge pages can't be asked for.
func adviseHuge(unsafe.Pointer, int) {}
