// Package object stores files that are too large for the database, in a local folder or an S3-compatible bucket.
//
// Keys are relative paths of plain names, separated by slashes. Callers validate keys. In addition, a folder never
// accesses files outside itself.
package object

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"time"
)

// ErrNotFound is the error of Get for a key without an object.
var ErrNotFound = errors.New("object not found")

// Store keeps objects under keys. It is safe for concurrent use, also by several processes.
type Store interface {
	// Put writes or replaces an object atomically. When it returns nil, the object is durable.
	Put(ctx context.Context, key, contentType string, data []byte) error
	// Get opens an object. The caller closes the reader. size is in bytes.
	Get(ctx context.Context, key string) (r io.ReadCloser, size int64, err error)
	// Delete removes an object. A missing object is not an error.
	Delete(ctx context.Context, key string) error
	// List calls f for every object, in any order, until f returns an error, which List returns. f may delete the
	// object.
	List(ctx context.Context, f func(Item) error) error
}

// Open opens the bucket, or the folder media in dir if no bucket is configured.
func Open(bucket S3Config, dir string) (Store, error) {
	if bucket.Endpoint != "" {
		return NewS3(bucket)
	}
	return OpenFolder(filepath.Join(dir, "media"))
}

// Item describes an object in a list.
type Item struct {
	Key      string
	Modified time.Time
}
