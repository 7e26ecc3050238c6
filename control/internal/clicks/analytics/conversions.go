package analytics

import (
	"context"
	"encoding/binary"

	"github.com/google/uuid"

	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/link"
)

// Conversion is one stored conversion.
type Conversion struct {
	conversion.Conversion
	// Row is the click. Until the click is known, only Link, Owner and Time are set, which the click id and the link tell.
	Row Row
	// Attributed means that the click was found, and Row is complete.
	Attributed bool
}

// ConversionKey names one conversion permanently: of the conversions with the same key, the one that was received first
// counts.
type ConversionKey struct {
	Click conversion.ClickID
	Name  string
	Once  string // conversion.Conversion.Once
}

// Key returns the key of the conversion.
func (c *Conversion) Key() ConversionKey { return ConversionKey{c.Click, c.Name, c.Once()} }

// Conversions keeps conversions and answers queries about them. Every Store of clicks implements it. It is safe for
// concurrent use.
//
// The time of a conversion in scopes, periods and groups is that of its click. A report therefore compares conversions with
// the clicks that they came from, and its rate never exceeds 100 %, except for goals that repeat.
type Conversions interface {
	// InsertConversions stores the conversions durably, or returns an error after which the outcome may be unknown and the
	// caller inserts them again. Of conversions with one key, the one that was received first is kept. If its copies differ
	// in Attributed, the attributed one is kept. When InsertConversions returns nil, readers see the result.
	InsertConversions(ctx context.Context, list []Conversion) error
	// Unattributed returns stored conversions that are not attributed and were received at since or later, in Unix
	// milliseconds; at most limit of them, the oldest first, and only those received after the time after.
	Unattributed(ctx context.Context, since, after int64, limit int) ([]Conversion, error)
	// FindClicks returns the stored clicks among those that ids name.
	FindClicks(ctx context.Context, ids []conversion.ClickID) (map[conversion.ClickID]Row, error)
	// StoredConversions returns which of the keys are stored.
	StoredConversions(ctx context.Context, keys []ConversionKey) (map[ConversionKey]bool, error)
	// ConversionLines returns the figures of a goal ("": of all goals), for each group of the query and each currency, in
	// ascending order of period, link, value and currency. It ignores Query.TopFirst, Limit, Visitors and Last. Conversions
	// without a known click are in the group of unknown values.
	ConversionLines(ctx context.Context, q Query, goal string) ([]ConversionLine, error)
	// ConversionBreakdown is like ConversionLines for queries by each of several dimensions, but reads the conversions once.
	// Only Value, Currency and the figures of the lines are set.
	ConversionBreakdown(ctx context.Context, s Scope, dims []Dimension, goal string) (map[Dimension][]ConversionLine, error)
	// EachConversion calls f with the conversions of a goal ("": of all goals) in a scope, newest click first, like Store.Clicks.
	EachConversion(ctx context.Context, s Scope, goal string, limit int, f func(*Conversion) error) error
	// Goals returns the figures of each goal in a scope by name and currency.
	Goals(ctx context.Context, s Scope) ([]GoalLine, error)
	// ConvertedClicks returns how many clicks in a scope have conversions of each goal. Under "", it counts those with any conversion.
	ConvertedClicks(ctx context.Context, s Scope) (map[string]int64, error)
	// Arms returns the figures of an experiment by variant and interval of e.Every, in ascending order.
	Arms(ctx context.Context, e Experiment) ([]ArmLine, error)
}

// ConversionLine has the figures of one group and one currency.
type ConversionLine struct {
	Period
	Link  uint64
	Value string // set with Query.By

	Currency    string
	Conversions int64
	Revenue     int64 // in 1/conversion.ValueScale of the currency's unit
}

// GoalLine has the figures of one goal and one currency.
type GoalLine struct {
	Goal, Currency string
	Conversions    int64
	Revenue        int64 // in 1/conversion.ValueScale of the currency's unit
}

// Experiment selects the visitors of an A/B test: people for whom a variant was drawn. A visitor is one click on a link that
// is not sticky. On a sticky link, all clicks with the same Row.Visitor and the same variant are one visitor, who belongs to
// the interval of the first of them.
type Experiment struct {
	Link     uint64
	Home     uint64 // the link's workspace, as in Scope; 0: unknown
	From, To int64  // Unix milliseconds, From inclusive, To exclusive
	Goal     string // whose conversions count
	Currency string // whose values count as revenue
	// Every is the length of the intervals by which visitors are grouped, in milliseconds; 0: an hour. Intervals begin at
	// multiples of it since 1970.
	Every int64
}

// ArmLine has the figures of the visitors of one variant who came in one interval.
type ArmLine struct {
	Variant  link.ID
	At       int64 // when the interval begins, in Unix milliseconds
	Visitors int64
	// Converted is the number of these visitors with at least one conversion, and Conversions that of their conversions.
	Converted, Conversions int64
	Revenue                float64 // of all these visitors, in units of the currency
	RevenueSquares         float64 // sum of the squares of each visitor's revenue
}

// ID returns the conversion's id in the API, in webhooks and in exports: a UUID computed from the key. Copies of a conversion
// have the same id.
func (k ConversionKey) ID() string { return k.UUID().String() }

// UUID returns the id as bytes.
func (k ConversionKey) UUID() uuid.UUID {
	name := binary.BigEndian.AppendUint64(nil, k.Click.Link)
	name = binary.BigEndian.AppendUint64(name, uint64(k.Click.Time))
	name = binary.BigEndian.AppendUint64(name, k.Click.Tag)
	name = append(append(append(name, k.Name...), 0), k.Once...)
	return uuid.NewSHA1(conversionSpace, name)
}

// conversionSpace is the name space of the ids. It must never change.
var conversionSpace = uuid.MustParse("3f0f2c0e-7d55-4d6b-9b3e-0f5a4c8d2e71")
