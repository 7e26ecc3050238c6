// Package analytics is the port to the click store. It defines a stored click, how clicks are inserted exactly once,
// and the queries that reports make.
//
// It owns the SQL of these queries: one text for both engines, DuckDB and ClickHouse. It also owns the arithmetic of
// days in time zones. That arithmetic is done here and not in an engine, so that every store returns the same figures.
//
// The adapters are in the packages below. Package analyticstest is the conformance suite that each adapter must pass.
// Package report decides who may query, and what a report looks like.
package analytics

import (
	"context"
	"encoding/binary"
	"math"
	"net/netip"
	"time"

	"github.com/google/uuid"

	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/link"
)

// Store keeps clicks and answers queries about them. It is safe for concurrent use.
type Store interface {
	Conversions
	// Insert stores the whole batch durably, or nothing. It is idempotent: a click whose identity is already stored
	// stays as it is. After an error the outcome may be unknown, and the caller inserts the same batch again. When
	// Insert returns nil, readers see the batch.
	Insert(ctx context.Context, b Batch) error
	// Marks returns the high-water mark of every lane.
	Marks(ctx context.Context) ([]Mark, error)
	// Lines returns one line for each group of the query, in the query's order. It counts distinct visitors as
	// CountVisitors does.
	Lines(ctx context.Context, q Query) ([]Line, error)
	// Breakdown counts the clicks in a scope by each of several dimensions. It returns at most limit values for each
	// dimension, ordered by clicks (most first), then by value. It needs one pass, where Lines would need many.
	Breakdown(ctx context.Context, s Scope, dims []Dimension, limit int) (map[Dimension][]Count, error)
	// Clicks calls f with stored clicks, newest first. It stops at limit, or returns the first error of f. Clicks of
	// the same millisecond come in descending order of their identity.
	Clicks(ctx context.Context, s Scope, limit int, f func(*Row) error) error
	// Losses returns how many clicks edges report as lost because their spool was full.
	Losses(ctx context.Context) (uint64, error)
	// Gaps returns ranges of a lane that are neither stored nor reported as lost, and that lie between two stored
	// clicks or markers: clicks that went missing on the way. It considers clicks whose own time is since or later, and
	// returns at most limit gaps, in ascending order of lane and From. A click whose clock was wrong by more than an
	// hour may be reported as missing.
	Gaps(ctx context.Context, since time.Time, limit int) ([]Gap, error)
	// Drift compares the store's precomputed figures with its clicks, in the whole quarter hours of [from, to). Figures
	// that are known to be out of date, and are therefore not used, are not compared. A store without precomputed
	// figures returns the zero Drift.
	Drift(ctx context.Context, from, to time.Time) (Drift, error)
	// Reclassify calls f with every click in a scope, newest first. It replaces the clicks for which f returns true,
	// and returns how many. f may change the results of enrichment (Country to Browser, Bot, BotName, GeoVersion and
	// BotList); other changes are ignored. If such a click is delivered again, the replacement stays. Reclassify may be
	// interrupted and run again. If two calls run on the same clicks, either may win.
	//
	// If several servers have a copy of a click, f gets each copy. again is true for all copies but one, so that f can count
	// clicks. f must decide the same for each copy. changed counts such a click once.
	//
	// At the end, Reclassify corrects the copies of clicks in the conversions of the scope. It does so for every conversion
	// whose copy differs from its click. A conversion that is attributed at the same time may keep the old facts until
	// Reclassify is called again.
	Reclassify(ctx context.Context, s Scope, f func(r *Row, again bool) bool) (changed int, err error)
	// Erase removes what identifies a visitor from every stored click of an address: the address, the visitor's number
	// and the User-Agent. The clicks stay, so totals stay. Clicks without an address count as one visitor. Erase
	// returns how many clicks had the address. It does not find clicks that are not stored yet.
	Erase(ctx context.Context, ip netip.Addr) (clicks int64, err error)
	// Expire deletes clicks whose own time is before a moment. A store may keep some of them for up to a month longer.
	Expire(ctx context.Context, before time.Time) error
	// MovesPosition returns how far the store's copy of a log of moves reaches. It is zero if there is no copy.
	MovesPosition(ctx context.Context, log uint64) (Position, error)
	// InsertMoves adds moves to the copy of a log, and then records that the copy reaches to a position. The caller adds
	// moves in the order of the log, from the recorded position on. InsertMoves may be repeated.
	InsertMoves(ctx context.Context, log uint64, list []Move, to Position) error
	// Ping reports whether the store answers.
	Ping(ctx context.Context) error
	// Close releases the store. Inserted clicks are durable without it.
	Close() error
}

// Batch is inserted as a whole. It contains each identity at most once.
type Batch struct {
	Rows   []Row
	Losses []Loss
	Marks  []Mark
}

// ArchiveEpoch is the epoch of clicks that came from an archive. Positions are missing in their lanes, and nobody looks for these. No
// edge is started so often.
const ArchiveEpoch = math.MaxUint32

// Identity names one click permanently.
type Identity struct {
	click.Lane
	Seq uint64
}

// Mark is the high-water mark of a lane: every click up to and including Seq was delivered. Marks only rise. Inserting
// a lower mark changes nothing.
type Mark struct {
	click.Lane
	Seq uint64
}

// Loss is a stored loss marker: the edge had no room for the clicks From to To of the marker's lane, both included.
type Loss struct {
	Identity // of the marker
	Time     int64
	From, To uint64
}

// Gap is a range of clicks of an edge that are neither stored nor reported as lost.
type Gap struct {
	Edge uint64
	click.Range
	// Before and After are the times of the stored neighbours, in Unix milliseconds.
	Before, After int64
}

// Drift reports how far precomputed figures differ from the clicks.
type Drift struct {
	Intervals     int   // quarter hours compared
	Clicks, Short int64 // counted one by one, and according to the precomputed figures
	// Hours are the starts of the hours in which any figure differs, even only by country, in Unix milliseconds.
	Hours []int64
}

// Row is one enriched click. An empty string means unknown or none.
type Row struct {
	Identity
	Time int64 // Unix milliseconds

	Link, Owner   uint64
	Variant, Rule link.ID

	IP netip.Addr

	Country string // ISO 3166-1 alpha-2
	Region  string // English name
	City    string // English name
	Device  string // MOBILE, DESKTOP, TABLET
	OS      string
	Browser string

	Referer   string
	UserAgent string
	Bot       bool
	BotName   string
	UTM       link.UTM

	GeoVersion string // of the database that Country, Region and City are from
	BotList    string // version of the list that Bot and BotName are from

	EdgeName, EdgeRegion string // of the edge that answered; "" if it has none, or if the click is older than these columns

	// Visitor recognises the visitor of a sticky link (click.Event.Visitor); 0: unknown. The column is participant.
	Visitor uint64

	Language string // that the visitor prefers, without region, such as "de"; "" also if the click is older than this column
}

// Enrich copies the results of enrichment from another version of the same click.
func (r *Row) Enrich(from *Row) {
	r.Country, r.Region, r.City = from.Country, from.Region, from.City
	r.Device, r.OS, r.Browser = from.Device, from.OS, from.Browser
	r.Bot, r.BotName = from.Bot, from.BotName
	r.GeoVersion, r.BotList = from.GeoVersion, from.BotList
}

// ID returns the click's id in the API: a UUIDv7 computed from the time and the identity. The same click always has the
// same id.
func (r *Row) ID() string {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], uint64(r.Time)<<16)
	a := mix(mix(r.Edge^uint64(r.Epoch)<<8^uint64(r.Lane.Lane)) ^ r.Seq)
	binary.BigEndian.PutUint64(id[8:], a)
	b := mix(a ^ r.Edge)
	id[6], id[7] = 0x70|byte(b>>8)&0x0f, byte(b)
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}

// Visitor returns the number that represents an address when distinct visitors are counted. Equal addresses have equal
// numbers. IPv4 addresses never collide; collisions of other addresses are practically impossible. The number is
// stored, so this function must never change.
func Visitor(ip netip.Addr) int64 {
	if !ip.IsValid() {
		return 0
	}
	b := ip.As16()
	return int64(mix(mix(binary.BigEndian.Uint64(b[:8])) ^ binary.BigEndian.Uint64(b[8:])))
}

// mix is the finisher of splitmix64 (Steele, Lea, Flood 2014), a bijection.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
