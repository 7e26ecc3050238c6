//go:build !unix

package visitor

import "os"

// mapFile reads a whole file: a large allocation is aligned as a mapping is.
func mapFile(path string) ([]byte, error) { return os.ReadFile(path) }

func unmap([]byte)  {}
func forget([]byte) {}
