// Package durable locks folders and replaces files, so that only one process writes to a folder, and a process that is
// killed leaves every file complete.
package durable

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ErrInUse is wrapped by Lock's error if another process has locked the folder.
var ErrInUse = errors.New("the folder is in use by another process")

// Lock locks a folder for this process, until Unlock or the end of the process.
func Lock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "LOCK"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w: %s", ErrInUse, dir)
		}
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return f, nil
}

// Unlock releases the lock at once, even if a child process that is being started has inherited the file.
func Unlock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_UN)
	return errors.Join(err, f.Close())
}

// Write replaces the file at path by data.
func Write(path string, data []byte) error {
	return Replace(path, func(f *os.File) error {
		_, err := f.Write(data)
		return err
	})
}

// Replace replaces the file at path by what fill writes, atomically and durably. With an error the old file is still
// there, unless only the folder could not be synced.
func Replace(path string, fill func(*os.File) error) error {
	f, err := os.OpenFile(path+".new", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err = fill(f); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		_ = os.Remove(path + ".new") // a leftover file only uses space
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// WriteUnsynced replaces the file at path atomically, but a power failure may bring the old file back.
func WriteUnsynced(path string, data []byte) error {
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// SyncDir makes the creation, renaming and removal of files in a folder durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
