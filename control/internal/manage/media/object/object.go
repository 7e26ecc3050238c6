// Package object is the port to where files are kept that the database is too dear for: bytes under a key, and
// two places for them, a local folder and anything that speaks S3.
//
// Keys are relative paths of plain names with slashes between them. Who calls it has checked the key; all the same
// a folder never reaches outside itself.
package object

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"time"
)

// ErrNotFound is what Get returns where there is nothing under a key.
var ErrNotFound = errors.New("object not found")

// Store keeps objects. It is safe for concurrent use, by several processes too.
type Store interface {
	// Put writes an object whole or not at all, over what was there. When it returns nil, the object is durable.
	Put(ctx context.Context, key, contentType string, data []byte) error
	// Get opens an object. The caller closes the reader. size is in bytes.
	Get(ctx context.Context, key string) (r io.ReadCloser, size int64, err error)
	// Delete removes an object; one that is not there is no error.
	Delete(ctx context.Context, key string) error
	// List calls f for every object, in no order, until f returns an error, which it passes on. f may delete what
	// it is given.
	List(ctx context.Context, f func(Item) error) error
}

// Open opens the bucket, or the folder media in dir if no bucket is configured.
func Open(bucket S3Config, dir string) (Store, error) {
	if bucket.Endpoint != "" {
		return NewS3(bucket)
	}
	return OpenFolder(filepath.Join(dir, "media"))
}

// Item is what List tells of an object.
type Item struct {
	Key      string
	Modified time.Time
}
