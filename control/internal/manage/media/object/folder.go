package object

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
)

// Folder stores objects as files below one folder.
type Folder struct{ root *os.Root }

// OpenFolder opens a folder, and creates it if it is missing.
func OpenFolder(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create object folder: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open object folder: %w", err)
	}
	return &Folder{root}, nil
}

// Close closes the folder. Call no method after it.
func (f *Folder) Close() error { return f.root.Close() }

// Put writes a temporary file and renames it.
func (f *Folder) Put(_ context.Context, key, _ string, data []byte) error {
	dir := path.Dir(key)
	temp := path.Join(dir, ".new-"+rand.Text())
	var file *os.File
	var err error
	for range 3 { // a concurrent Delete may remove the empty folder
		if err = f.root.MkdirAll(dir, 0o700); err != nil {
			continue
		}
		if file, err = f.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("put object: %w", err)
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = f.root.Rename(temp, key)
	}
	if err != nil {
		return fmt.Errorf("put object: %w", errors.Join(err, f.root.Remove(temp)))
	}
	return f.syncFolder(dir)
}

// syncFolder makes a new name durable, and the names of new parent folders.
func (f *Folder) syncFolder(dir string) error {
	for ; ; dir = path.Dir(dir) {
		d, err := f.root.Open(dir)
		if err == nil {
			err = errors.Join(d.Sync(), d.Close())
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("put object: %w", err)
		}
		if dir == "." {
			return nil
		}
	}
}

// Get implements Store.
func (f *Folder) Get(_ context.Context, key string) (io.ReadCloser, int64, error) {
	file, err := f.root.Open(key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, ErrNotFound
	}
	if err != nil {
		return nil, 0, fmt.Errorf("get object: %w", err)
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		file.Close()
		return nil, 0, ErrNotFound
	}
	if err != nil {
		file.Close()
		return nil, 0, fmt.Errorf("get object: %w", err)
	}
	return file, info.Size(), nil
}

// Delete removes a file, and its folder if that becomes empty.
func (f *Folder) Delete(_ context.Context, key string) error {
	if err := f.root.Remove(key); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete object: %w", err)
	}
	_ = f.root.Remove(path.Dir(key)) // fails if the folder is not empty
	return nil
}

// List implements Store. It includes the temporary files of interrupted calls of Put.
func (f *Folder) List(ctx context.Context, each func(Item) error) error {
	err := fs.WalkDir(f.root.FS(), ".", func(key string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // deleted meanwhile
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return each(Item{key, info.ModTime()})
	})
	if err != nil {
		return fmt.Errorf("list objects: %w", err)
	}
	return nil
}
