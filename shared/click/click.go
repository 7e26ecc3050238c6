// Package click defines a click: the event that an edge records before it answers, its identity, its binary form with a
// schema number, the batch in which clicks travel, and the port to which they are delivered.
//
// An event has raw facts and the decision that was made. Package ingest derives country, device and bots from them.
// This can be repeated when the sources of that knowledge improve.
package click

import (
	"context"
	"errors"
	"net/netip"
	"regexp"

	"github.com/shortline/shortline/shared/link"
)

// Lane names one ordered stream of clicks: one lane of one run (epoch) of one edge.
type Lane struct {
	Edge  uint64 // random, drawn once for each spool folder
	Epoch uint32 // incremented at each start of the edge
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

// Event is one answered redirect. Its strings may alias a request's memory; to keep an Event, copy them first.
type Event struct {
	Seq  uint64 // position in its lane: consecutive, from 1, assigned by the spool
	Lane uint8  // number of that lane, assigned by the spool; not a part of the record
	Time int64  // Unix milliseconds, by the edge's clock

	Link    uint64  // link.Record.Num
	Owner   uint64  // link.Record.Owner
	Variant link.ID // the variant that was drawn, or zero
	Rule    link.ID // the rule that matched, or zero

	IP             netip.Addr // the visitor's address, without trusted proxies
	UserAgent      string     // at most MaxUserAgent bytes; the rest is cut off
	Referer        string     // at most MaxReferer bytes
	AcceptLanguage string     // at most MaxAcceptLanguage bytes
	UTM            link.UTM   // effective parameters: the visitor's own, or the link's preset; at most MaxUTM bytes each
	Prefetch       bool       // the request was marked as a prefetch or prerender

	// Visitor recognises the visitor on this link, if the link is sticky (link.Stickiness); else 0. Another link has another
	// number for the same visitor.
	Visitor uint64

	// Conversion, if not "", makes this record a conversion instead of a click, encoded by package conversion. Conversions
	// have lanes and a topic of their own. Only Seq, Time and Owner are set as well.
	Conversion string

	// LostFrom and LostTo, if not 0, make this record a loss marker instead of a click: the edge had no room for the
	// clicks with these sequence numbers (both ends included), or its disk lost them. Only Seq and Time are set as
	// well. Seq equals LostTo: markers have no sequence numbers of their own, so the numbers missing among the clicks
	// of a lane are exactly those that its markers name.
	LostFrom, LostTo uint64
}

// Limits of what an event keeps of a request, in bytes. Rules see no more than this: package visitor cuts with the same
// constants, and package rule uses them to compute the maximum cost of a rule.
const (
	MaxUserAgent      = 512
	MaxReferer        = 1024
	MaxAcceptLanguage = 128
	MaxUTM            = 255 // each campaign parameter
	MaxConversion     = 1536
)

// Origin names the edge of a batch with its operator's settings EDGE_NAME and REGION. Either may be "". It travels
// beside the batch, not in it, so readers of an older release do not see it.
type Origin struct{ Edge, Region string }

// MaxOrigin is the maximum size of each part of an Origin, in bytes.
const MaxOrigin = 64

var originText = regexp.MustCompile(`^[A-Za-z0-9._-]{0,64}$`)

// Valid reports whether both parts consist of at most 64 letters, digits, dots, hyphens and underscores.
func (o Origin) Valid() bool {
	return originText.MatchString(o.Edge) && originText.MatchString(o.Region)
}

// Batch is a sequence of events of one lane with consecutive sequence numbers. The spool makes batches and a Sink
// accepts them. Records is valid only during the call to which the batch is passed.
type Batch struct {
	Lane
	First   uint64 // sequence number of the first event
	Count   int
	Records []byte // Count events, each as AppendRecord wrote it
	Repair  bool   // shipped again on request: must not be skipped because of a high-water mark
	Origin  Origin
}

// ErrTooFar is wrapped by a Sink's error for a repair that reaches past what was delivered of its lane. The same repair
// succeeds once the lane has come that far.
var ErrTooFar = errors.New("click: a repair of clicks that were not delivered yet")

// Sink accepts batches of clicks. Deliver returns nil only if every event of the batch is stored durably and will be
// counted exactly once. After any error the outcome is unknown: the caller delivers the same batch again until it
// succeeds, and the Sink must make that harmless. Calls for one lane come one at a time and in order. Calls for
// different lanes may be concurrent. Package clicktest has the conformance suite.
type Sink interface {
	Deliver(ctx context.Context, b *Batch) error
}
