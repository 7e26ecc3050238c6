package analytics

import (
	"context"
	"fmt"
)

// All clicks and conversions of some owners can be copied from one store to another, with what decides which copy of a click
// is kept. Stores that can do so are the servers of a sharded store.

// Owned are stored clicks and conversions, as one store gives them to another.
type Owned struct {
	Clicks []Row
	Keep   []uint32 // of each click, which of several rows with the same identity is kept: the one with the highest
	// Conversions and their versions, which have the same meaning as Keep.
	Conversions []Conversion
	Versions    []uint64
}

// OwnedSlot sums up what some owners have in a quarter hour.
type OwnedSlot struct {
	Slot                int64 // quarter hours since 1970
	Clicks, Conversions int64
	Hash                uint64 // of the contents of all of them, in whatever order they are
}

// SlotMillis is the length of an OwnedSlot in milliseconds.
const SlotMillis = quarterMillis

// OwnedBy renders the condition that a click names one of the owners.
func OwnedBy(owners []uint64) string { return "owner IN (" + numbers(owners) + ")" }

// ownedSQL selects columns from a table, with what owners have from one time to another in Unix milliseconds.
func ownedSQL(columns, table string, owners []uint64, from, to int64) Statement {
	return Statement{fmt.Sprintf("SELECT %s FROM %s WHERE %s AND ts >= fromUnixTimestamp64Milli(?) AND ts < fromUnixTimestamp64Milli(?)",
		columns, table, OwnedBy(owners)), []any{from, to}}
}

// OwnedClicks calls f with the clicks that owners have from one time to another in Unix milliseconds, and with their keep.
func (read Reader) OwnedClicks(ctx context.Context, table string, owners []uint64, from, to int64,
	f func(r *Row, keep uint32) error) error {
	var keep uint32
	return read.rows(ctx, ownedSQL(clickColumns+", keep", table, owners, from, to), func(r *Row) error { return f(r, keep) }, &keep)
}

// OwnedConversions is OwnedClicks for conversions and their versions.
func (read Reader) OwnedConversions(ctx context.Context, table string, owners []uint64, from, to int64,
	f func(c *Conversion, version uint64) error) error {
	var version uint64
	return read.conversions(ctx, ownedSQL(clickColumns+", "+conversionColumns+", version", table, owners, from, to),
		func(c *Conversion) error { return f(c, version) }, &version)
}
