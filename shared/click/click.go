// Package click says what a click is: the event an edge records before it answers, its dense identity, its
// binary form with a schema number, the batch in which clicks travel, and the port they are delivered to.
//
// An event carries raw facts and the decision that was taken. Deriving country, device or bot from them is
// the ingest's work, so that it can be done again when the sources of that knowledge get better.
package click

import (
	"context"
	"errors"
	"net/netip"
	"regexp"

	"github.com/shortline/shortline/shared/link"
)

// Lane names one ordered stream of clicks: one lane of one start (epoch) of one edge instance.
type Lane struct {
	Edge  uint64 // random, drawn once per spool directory
	Epoch uint32 // one higher at each start of the edge
	Lane  uint8
}

// Range is a range of clicks of one lane of an edge that is known from elsewhere, From and To included. It is also the
// form in which the control plane asks an edge to ship clicks again.
type Range struct {
	Epoch uint32 `json:"epoch"`
	Lane  uint8  `json:"lane"`
	From  uint64 `json:"from"`
	To    uint64 `json:"to"`
}

// Of returns the lane of the range, at an edge.
func (r Range) Of(edge uint64) Lane { return Lane{Edge: edge, Epoch: r.Epoch, Lane: r.Lane} }

// Len returns how many clicks the range has.
func (r Range) Len() uint64 { return r.To - r.From + 1 }

// Event is one answered redirect. Strings may alias a request's memory: who keeps an Event copies them first.
type Event struct {
	Seq  uint64 // position in its lane: dense, from 1, given by the spool
	Time int64  // Unix milliseconds, the edge's clock

	Link    uint64  // link.Record.Num
	Owner   uint64  // link.Record.Owner
	Variant link.ID // the arm that was drawn, or zero
	Rule    link.ID // the rule that matched, or zero

	IP             netip.Addr // the visitor's address, trusted proxies taken off
	UserAgent      string     // at most MaxUserAgent bytes, the rest is cut
	Referer        string     // at most MaxReferer bytes
	AcceptLanguage string     // at most MaxAcceptLanguage bytes
	UTM            link.UTM   // in force on this click: the visitor's own, else the link's preset; at most MaxUTM bytes each
	Prefetch       bool       // the request said that it was a prefetch or a prerender

	// LostFrom and LostTo, when not 0, make this record no click but a loss marker: the edge had no room for
	// the clicks with these sequence numbers (both ends included), or its disk lost them. All fields but Seq and
	// Time are unset. Seq is LostTo: markers take no numbers of their own, so the numbers missing among the clicks
	// of a lane are exactly those that its markers name.
	LostFrom, LostTo uint64
}

// Bounds of what an event keeps of a request, in bytes. Rules see no more than this either: package visitor cuts with
// the same constants, and package rule computes from them what a rule can cost.
const (
	MaxUserAgent      = 512
	MaxReferer        = 1024
	MaxAcceptLanguage = 128
	MaxUTM            = 255 // each campaign parameter
)

// Origin says which edge a batch comes from, in its operator's words: EDGE_NAME and REGION. Either may be "". It travels beside
// the batch, not in it: a reader of an older release does not see it.
type Origin struct{ Edge, Region string }

// MaxOrigin bounds each part of an Origin, in bytes.
const MaxOrigin = 64

var originText = regexp.MustCompile(`^[A-Za-z0-9._-]{0,64}$`)

// Valid reports whether both parts are made of at most 64 letters, digits, dots, hyphens and underlines.
func (o Origin) Valid() bool {
	return originText.MatchString(o.Edge) && originText.MatchString(o.Region)
}

// Batch is a run of events of one lane with consecutive sequence numbers, in order. The spool makes it, a
// Sink takes it. Records is valid only during the call it is passed to.
type Batch struct {
	Lane
	First   uint64 // sequence number of the first event
	Count   int
	Records []byte // Count events, each as AppendRecord wrote it
	Repair  bool   // shipped again on request: must not be skipped by a high-water mark
	Origin  Origin
}

// ErrTooFar is wrapped by a Sink's error for a repair that reaches past what was delivered of its lane. The same repair
// succeeds once the lane has come that far.
var ErrTooFar = errors.New("click: a repair of clicks that were not delivered yet")

// Sink takes batches of clicks. Deliver returns nil only when every event of the batch is stored durably and
// will be counted exactly once. Any error means "unknown": the caller delivers the very same batch again,
// later, as often as it takes; a Sink must make that harmless. Calls for one lane come one at a time and in
// order; lanes may come concurrently.
type Sink interface {
	Deliver(ctx context.Context, b *Batch) error
}
