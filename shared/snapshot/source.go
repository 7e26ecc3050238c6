// Package snapshot is the language in which the control plane tells edges what links there are: full
// documents and deltas, versioned and checksummed, and the port they come through.
//
// A revision is a position in the control plane's log of link changes; revisions commit in order and without
// gaps. An incarnation names one such log: revisions of different incarnations can't be compared.
package snapshot

import (
	"context"
	"errors"
	"io"
)

// Cursor is a position in one control plane's log of changes. The zero Cursor is before everything.
type Cursor struct {
	Incarnation uint64
	Revision    uint64
}

// ErrTooOld is returned by Source.Changes when the log no longer reaches back to the cursor, or the cursor is
// of another incarnation: take a full document.
var ErrTooOld = errors.New("snapshot: the cursor is too old, take a full document")

// Source is where an edge gets its links from. Both methods give wire form (see Decode and DecodeDelta), so
// that an edge in the same process runs the same code as one across an ocean.
type Source interface {
	// Snapshot opens the newest full document. The caller closes it, and must not use a document before it
	// has read and verified all of it.
	Snapshot(ctx context.Context) (io.ReadCloser, error)

	// Changes returns the delta after the cursor as soon as there is one. It may return (nil, nil) when
	// nothing changed for a while: ask again. The bytes belong to the caller.
	Changes(ctx context.Context, after Cursor) ([]byte, error)

	// Report tells the control plane what this edge runs. Best effort: an error is logged and forgotten.
	Report(ctx context.Context, s Status) error
}

// Status is what an edge says of itself.
type Status struct {
	Edge      string   `json:"edge"` // the instance's id
	Version   string   `json:"version"`
	Cursor    Cursor   `json:"cursor"`
	StateHash string   `json:"stateHash"`
	Links     int      `json:"links"`
	SetAside  []string `json:"setAside"` // slugs of links that could not be used, at most 100
	Refused   string   `json:"refused"`  // why the last document was refused, "" if it was not
	Spool     struct {
		Bytes   int64  `json:"bytes"`
		Pending int64  `json:"pending"` // clicks not yet acknowledged
		Dropped uint64 `json:"dropped"`
	} `json:"spool"`
}
