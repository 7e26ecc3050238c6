// Package analytics is the port to the store of clicks: what a stored click is, how clicks go in exactly once,
// and the questions that reports ask of them.
//
// It owns the SQL of those questions, one text for both engines (DuckDB and ClickHouse), and the arithmetic of
// days in time zones, which is done here and not by an engine, so that every store answers alike. Adapters are in
// the packages below; package analyticstest is the suite that each must pass. Who may ask, and what a report looks
// like, is package report's matter.
package analytics

import (
	"context"
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/google/uuid"

	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/link"
)

// Store keeps clicks and answers questions about them. It is safe for concurrent use.
type Store interface {
	// Insert stores a batch durably before it returns nil, all of it or nothing. It is idempotent: what is
	// already stored under the same identity is left as it is. After an error the outcome may be unknown, and
	// the caller inserts the same batch again. Readers see the batch as soon as Insert has returned.
	Insert(ctx context.Context, b Batch) error
	// Marks returns the high-water mark of every lane.
	Marks(ctx context.Context) ([]Mark, error)
	// Lines answers a query with one line for each group, in the order of the query.
	Lines(ctx context.Context, q Query) ([]Line, error)
	// Breakdown counts the clicks in a scope by each of several dimensions, at most limit values each: most
	// clicks first, then by value. It is one pass where Lines would be many.
	Breakdown(ctx context.Context, s Scope, dims []Dimension, limit int) (map[Dimension][]Count, error)
	// Clicks calls f with stored clicks, newest first, until limit is reached or f returns an error, which it
	// passes on. Clicks of one millisecond come in falling order of their identity.
	Clicks(ctx context.Context, s Scope, limit int, f func(*Row) error) error
	// Losses counts the clicks that edges report as lost for want of room.
	Losses(ctx context.Context) (uint64, error)
	// Gaps finds ranges of a lane that are neither stored nor reported as lost, between two clicks or markers that
	// are: what went missing on the way. It looks at clicks from since on, by their own time, and gives at most
	// limit gaps, in rising order of lane and From. A click whose clock was more than an hour off may look missing.
	Gaps(ctx context.Context, since time.Time, limit int) ([]Gap, error)
	// Drift compares what a store keeps beside its clicks to answer faster with the clicks themselves, in the whole
	// quarter hours of [from, to). What is known to be out of date, and so not used, is not compared. A store that
	// keeps nothing of the kind has the zero Drift.
	Drift(ctx context.Context, from, to time.Time) (Drift, error)
	// Reclassify calls f with every click in a scope, newest first, and stores anew those for which f returns true;
	// it returns how many. f may change what enrichment found out (Country to Browser, Bot, BotName, GeoVersion and
	// BotList); what else it changes is forgotten. Deliveries of these clicks that come again change nothing any
	// more. It may be interrupted, and run again; of two at a time on the same clicks either may win.
	Reclassify(ctx context.Context, s Scope, f func(*Row) bool) (changed int, err error)
	// Erase removes what identifies a visitor from every stored click of an address: the address itself, the visitor's
	// number, and the User-Agent. The clicks stay, so totals stay; as visitors all clicks without an address are one. It
	// returns how many clicks had the address. Clicks that are not stored yet are not found.
	Erase(ctx context.Context, ip netip.Addr) (clicks int64, err error)
	// Expire deletes clicks whose own time is before a moment. A store may keep some of them up to a month longer.
	Expire(ctx context.Context, before time.Time) error
	// Ping reports whether the store answers.
	Ping(ctx context.Context) error
	// Close ends it; what was inserted is safe without.
	Close() error
}

// Batch goes in as a whole. It holds no identity twice.
type Batch struct {
	Rows   []Row
	Losses []Loss
	Marks  []Mark
}

// Identity names one click for ever.
type Identity struct {
	click.Lane
	Seq uint64
}

// Mark says that everything in a lane up to and with Seq was delivered. Marks only rise: inserting a lower one
// changes nothing.
type Mark struct {
	click.Lane
	Seq uint64
}

// Loss says that an edge had no room for the clicks From to To of a lane, both included.
type Loss struct {
	Identity // of the marker
	Time     int64
	From, To uint64
}

// Gap is a range of clicks of an edge that are neither stored nor reported as lost.
type Gap struct {
	Edge uint64
	click.Range
	// Before and After are the times of what is stored on either side, Unix milliseconds.
	Before, After int64
}

// Drift is how far a store's shortcuts are from its clicks.
type Drift struct {
	Intervals     int   // quarter hours compared
	Clicks, Short int64 // clicks in them, counted one by one and by the shortcut
	// Hours are the starts of those in which anything differs, be it only a country, in Unix milliseconds.
	Hours []int64
}

// Row is one enriched click. "" means unknown or none.
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

	EdgeName, EdgeRegion string // of the edge that answered, "" where it has none or the click is older than these
}

// Enrich takes over from another version of the same click what enrichment found out.
func (r *Row) Enrich(from *Row) {
	r.Country, r.Region, r.City = from.Country, from.Region, from.City
	r.Device, r.OS, r.Browser = from.Device, from.OS, from.Browser
	r.Bot, r.BotName = from.Bot, from.BotName
	r.GeoVersion, r.BotList = from.GeoVersion, from.BotList
}

// ID is the click's id in the API: a UUIDv7 made of the time and the identity, so the same click always has the
// same one.
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

// Visitor stands for an address where distinct visitors are counted: equal addresses have equal numbers. It has
// no collisions among IPv4 addresses and, by chance, practically none among others. It is stored, so it must never
// change.
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
