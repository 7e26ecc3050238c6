package spool

import (
	"os"
	"time"
)

// On a slow machine, the next segment may take long. Tests that fill a spool do not wait for this time.
func init() { lateWait = time.Minute }

// Faults replaces calls to the operating system. A nil function keeps the real call.
type Faults struct {
	Allocate func(f *os.File, size int64) error
	Sync     func(mem []byte) error
	Space    func(dir string) (free, total int64, err error)
}

// WithFaults returns the settings with the faults injected.
func WithFaults(cfg Config, faults Faults) Config {
	d := systemDisk()
	if faults.Allocate != nil {
		d.allocate = faults.Allocate
	}
	if faults.Sync != nil {
		d.sync = faults.Sync
	}
	if faults.Space != nil {
		d.space = faults.Space
	}
	cfg.disk = &d
	return cfg
}

// Sizes of the file format that the tests use.
const (
	HeaderSize   = headerSize
	RecordHeader = recordHeader
)
