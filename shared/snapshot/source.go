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

	"github.com/shortline/shortline/shared/click"
)

// Cursor is a position in one control plane's log of changes. The zero Cursor is before everything.
type Cursor struct {
	Incarnation uint64
	Revision    uint64
}

// ErrTooOld is returned by Source.Changes when the log no longer reaches back to the cursor, or the cursor is
// of another incarnation: take a full document.
var ErrTooOld = errors.New("snapshot: the cursor is too old, take a full document")

// Source provides links to an edge. Snapshot and Changes return the wire format (see Decode and DecodeDelta), so an edge
// in the same process runs the same code as an edge across a network. Implementations are safe for concurrent use.
// Package snapshottest holds their conformance suite.
type Source interface {
	// Snapshot opens the newest full document. The caller closes it, and must not use a document before it
	// has read and verified all of it.
	Snapshot(ctx context.Context) (io.ReadCloser, error)

	// Changes returns the delta after the cursor as soon as there is one. It may return (nil, nil) when
	// nothing changed for a while: ask again. The bytes belong to the caller. See WithAsker.
	Changes(ctx context.Context, after Cursor) ([]byte, error)
}

// Reporter receives the status of edges. Implementations are safe for concurrent use.
type Reporter interface {
	// Report sends the status of an edge and returns the orders for that edge. The error wraps ErrTwin if another live
	// edge has the same id. The edge ignores other errors and reports again later.
	Report(ctx context.Context, s Status) (Answer, error)
}

// Status is what an edge says of itself. Fields that an older edge doesn't send are zero.
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
		// OldestMs is how long the oldest click has waited, in milliseconds; 0 if none waits or it is not known.
		OldestMs int64 `json:"oldestMs"`
	} `json:"spool"`

	// Run is drawn anew at each start of an edge, and Before is that of the start before: two processes with one id
	// are told from one that was started again. "" where the edge doesn't say.
	Run    string `json:"run"`
	Before string `json:"before"`
	// Address is where the edge answers, as its operator would say it; "" if it doesn't say.
	Address string `json:"address"`
	// Name and Region are EDGE_NAME and REGION; "" where the operator has not set them.
	Name   string `json:"name,omitempty"`
	Region string `json:"region,omitempty"`
	// SetAsideCount is how many links could not be used, those beyond the first 100 included.
	SetAsideCount int `json:"setAsideCount"`
	// SetAsideReasons says of those in SetAside, by slug, what is wrong with each, in at most 200 bytes.
	SetAsideReasons map[string]string `json:"setAsideReasons,omitempty"`
	// Repairs are the orders carried out since the last report that arrived, at most MaxOrders.
	Repairs []Repair `json:"repairs,omitempty"`
}

// MaxOrders is how many orders one answer holds at most.
const MaxOrders = 64

// Repair reports what an edge could do about an order: a request to ship a range of its clicks again.
type Repair struct {
	click.Range
	Held uint64 `json:"held"` // of the clicks, how many are shipped once more
	// Refused says why none or not all of them are; "" if all are.
	Refused string `json:"refused,omitempty"`
	// Again says that the same order may succeed later.
	Again bool `json:"again,omitempty"`
}

// Answer is what the control plane says to a status.
type Answer struct {
	Orders []click.Range `json:"orders,omitempty"`
}

// ErrTwin is wrapped by a Reporter's error when another live edge has the same id. The edge must not ship clicks until
// a report is taken: with two edges under one id, clicks of one pass for repetitions of the other's.
var ErrTwin = errors.New("another live edge has the same id")
