// Package snapshot defines how the control plane sends links to edges: full documents and deltas, versioned and
// checksummed, and the ports Source and Reporter.
//
// A revision is a position in the control plane's log of link changes. Revisions commit in order and without gaps. An
// incarnation names one log; revisions of different incarnations cannot be compared.
package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/link"
)

// Cursor is a position in the log of changes of one control plane. The zero Cursor is before all changes.
type Cursor struct {
	Incarnation uint64
	Revision    uint64
}

// ErrTooOld is returned by Source.Changes if the log no longer reaches back to the cursor, or if the cursor is of another
// incarnation. The edge then needs a full document.
var ErrTooOld = errors.New("snapshot: the cursor is too old, take a full document")

// Source provides links to an edge. Snapshot and Changes return the wire format (see Decode and DecodeDelta), so an edge
// in the same process runs the same code as an edge across a network. Implementations are safe for concurrent use.
// Package snapshottest holds their conformance suite.
type Source interface {
	// Snapshot opens a full document, which may lack the newest revisions. The caller closes it, and must not use it
	// before it has read and verified all of it.
	Snapshot(ctx context.Context) (io.ReadCloser, error)

	// Changes waits for a delta after the cursor and returns it. It may return (nil, nil) if nothing changed for some
	// time; the caller then calls it again. The bytes belong to the caller. See WithAsker.
	Changes(ctx context.Context, after Cursor) ([]byte, error)
}

// Reporter receives the status of edges. Implementations are safe for concurrent use.
type Reporter interface {
	// Report sends the status of an edge and returns the orders for that edge. The error wraps ErrTwin if another live
	// edge has the same id. The edge ignores other errors and reports again later.
	Report(ctx context.Context, s Status) (Answer, error)
}

// Status is the report of an edge. Fields that an older edge does not send are zero.
type Status struct {
	Edge      string   `json:"edge"` // id of the instance
	Version   string   `json:"version"`
	Cursor    Cursor   `json:"cursor"`
	StateHash string   `json:"stateHash"`
	Links     int      `json:"links"`
	SetAside  []string `json:"setAside"` // slugs of links that cannot be used, at most 100
	Refused   string   `json:"refused"`  // why the last document was rejected, "" if it was accepted
	Spool     struct {
		Bytes   int64  `json:"bytes"`
		Pending int64  `json:"pending"` // clicks not yet acknowledged
		Dropped uint64 `json:"dropped"`
		// OldestMs is the age of the oldest pending click in milliseconds; 0 if there is none or the age is unknown.
		OldestMs int64 `json:"oldestMs"`
	} `json:"spool"`

	// Run is a random name of this start of the edge, and Before is the name of the previous start. They distinguish two
	// processes with one id from a restart. Older edges send "".
	Run    string `json:"run"`
	Before string `json:"before"`
	// Address is the address of the edge for its operator; older edges send "".
	Address string `json:"address"`
	// Name and Region are EDGE_NAME and REGION; "" if they are not set.
	Name   string `json:"name,omitempty"`
	Region string `json:"region,omitempty"`
	// SetAsideCount is the number of links that cannot be used, including those beyond the first 100.
	SetAsideCount int `json:"setAsideCount"`
	// SetAsideReasons is the reason for each slug in SetAside, in at most 200 bytes.
	SetAsideReasons map[string]string `json:"setAsideReasons,omitempty"`
	// Latency describes the redirects of the last minute. nil: there was none, or an older edge.
	Latency *Latency `json:"latency,omitempty"`
	// Repairs are the results of orders since the last report that arrived, at most MaxOrders.
	Repairs []Repair `json:"repairs,omitempty"`
	// Missing are counts of slugs that do not exist. nil: nothing to report.
	Missing *Missing `json:"missing,omitempty"`
}

// Latency is how long an edge took for redirects: from the head of a request until the kernel accepted the answer.
type Latency struct {
	P50     int64  `json:"p50"` // microseconds
	P99     int64  `json:"p99"` // microseconds
	Samples uint64 `json:"samples"`
}

// MaxMissing is the maximum number of slugs in one Missing.
const MaxMissing = 1000

// Missing is a batch of counts of requests for slugs that do not exist.
type Missing struct {
	// Seq numbers the batches of one run of an edge, from 1. A batch that is sent again has the same number and the same
	// content, so the control plane counts it once.
	Seq uint64 `json:"seq"`
	// At is when the edge hands the batch out, in Unix milliseconds by its clock. The clock may be wrong, so only the distance
	// to the times of requests counts. Older edges send 0.
	At    int64         `json:"at,omitempty"`
	Slugs []MissingSlug `json:"slugs"`
}

// MissingSlug counts the requests for a slug since the previous batch.
type MissingSlug struct {
	Host   string `json:"host,omitempty"`   // "" is the host of BASE_URL
	Domain uint64 `json:"domain,omitempty"` // number of the host's domain; another owner of the host has another one
	Slug   string `json:"slug"`
	Count  uint64 `json:"count"`
	// First and Last are the times of the first and the last of these requests, as Missing.At. Older edges send 0.
	First int64 `json:"first,omitempty"`
	Last  int64 `json:"last,omitempty"`
}

// Validate returns an error for a batch that no edge sends.
func (m *Missing) Validate() error {
	if m.Seq == 0 || m.Seq > math.MaxInt64 || len(m.Slugs) == 0 || len(m.Slugs) > MaxMissing {
		return fmt.Errorf("missing slugs: batch %d of %d slugs", m.Seq, len(m.Slugs))
	}
	seen := make(map[MissingSlug]bool, len(m.Slugs))
	for _, s := range m.Slugs {
		if !link.ValidSlug(s.Slug) || len(s.Host) > 253 || s.Count == 0 || s.Count > maxMissingCount {
			return errors.New("missing slugs: an entry is not valid")
		}
		name := MissingSlug{Host: s.Host, Domain: s.Domain, Slug: s.Slug}
		if seen[name] {
			return errors.New("missing slugs: an entry is repeated")
		}
		seen[name] = true
	}
	return nil
}

// maxMissingCount is above what an edge can count while a batch waits.
const maxMissingCount = 1 << 48

// MaxOrders is the maximum number of orders in one answer.
const MaxOrders = 64

// Repair reports what an edge could do about an order: a request to ship a range of its clicks again.
type Repair struct {
	click.Range
	Held uint64 `json:"held"` // number of clicks that the edge ships again
	// Refused is the reason if the edge does not ship all of them again; "" otherwise.
	Refused string `json:"refused,omitempty"`
	// Again reports whether the same order may succeed later.
	Again bool `json:"again,omitempty"`
}

// Answer is the control plane's answer to a report.
type Answer struct {
	Orders []click.Range `json:"orders,omitempty"`
	// MissingTaken is the number of the report's batch of missing slugs if it was counted, now or before; 0 otherwise.
	MissingTaken uint64 `json:"missingTaken,omitempty"`
}

// ErrTwin is wrapped by a Reporter's error if another live edge has the same id. The edge must not ship clicks until a
// report is accepted: with two edges under one id, clicks of one edge would count as repetitions of the other's.
var ErrTwin = errors.New("another live edge has the same id")
