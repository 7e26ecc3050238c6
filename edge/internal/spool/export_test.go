package spool

import "os"

// Faults replaces what the spool asks of the operating system; a nil function keeps the real one.
type Faults struct {
	Allocate func(f *os.File, size int64) error
	Sync     func(mem []byte) error
}

// WithFaults returns the settings with the faults in place.
func WithFaults(cfg Config, faults Faults) Config {
	d := systemDisk()
	if faults.Allocate != nil {
		d.allocate = faults.Allocate
	}
	if faults.Sync != nil {
		d.sync = faults.Sync
	}
	cfg.disk = &d
	return cfg
}

// Sizes of the file format that the tests aim at.
const (
	HeaderSize   = headerSize
	RecordHeader = recordHeader
)
