//go:build !unix

package visitor

import "os"

// mapFile reads a whole file. A large allocation has the same alignment as a mapping.
func mapFile(path string) ([]byte, error) { return os.ReadFile(path) }

func unmap([]byte)  {}
func forget([]byte) {}
