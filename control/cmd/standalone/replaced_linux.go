package main

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// replacedSince reports whether a file was written or replaced after its journal was written for the last time. It compares
// times that, unlike the times of modification, no program can set.
func replacedSince(path, journal string) (bool, error) {
	file, err := os.Stat(path)
	log, noLog := os.Stat(journal)
	if err = errors.Join(err, noLog); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	a, okA := file.Sys().(*syscall.Stat_t)
	b, okB := log.Sys().(*syscall.Stat_t)
	return okA && okB && a.Ctim.Nano() > b.Ctim.Nano(), nil
}
