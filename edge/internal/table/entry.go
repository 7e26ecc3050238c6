package table

import (
	"encoding/binary"
	"unsafe"

	"github.com/shortline/shortline/shared/decision"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
)

// The form of a link in the arena, with numbers as varints:
//
//	flags u8, slug length u8, slug, destination length, destination, number, owner, revision, created
//	terms           if hasTerms: a mask of terms, then a number for each of its bits
//	length, chooser if isSmart or isABTest: the flat form of the compiled rules and variants; empty if they have none
//	length, rest    if hasRest: the record's other fields in snapshot's wire form, which contains the chooser's texts
//
// A tombstone has the top bit of the slug length set and ends after the slug. Images contain this form. Only the
// program that wrote an image reads it. If you change the form, increase imageFormat.
const (
	entryHead = 2
	tombstone = 0x80
)

const (
	isInactive byte = 1 << iota
	hasTerms
	hasPassword
	isSmart
	isABTest
	hasPreview
	hasUTM
	hasRest // fields beyond the fixed ones, such as a title; a link with only this flag is still plain
)

// decides are the flags of links with a chooser.
const decides = isSmart | isABTest

// Bits of the mask of terms. The numbers follow in this order.
const (
	termExpires = 1 << iota
	termStarts
	termCode
	termSince // with the number of clicks
	termTrack // this and the following have no number
	termCookie
	termHash
	termParameter // the record has a name for the parameter of click ids
	termForward
	knownTerms    = 1<<iota - 1
	numberedTerms = termTrack - 1
)

// Terms are the numbers that decide when a link leads anywhere, and how. The zero value is a link that always does, with 302.
// See link.Record for the fields.
type Terms struct {
	ExpiresAt, StartsAt int64
	Code                uint16
	Limit               link.Limit
	Track               bool // visitors take the id of their click along
	OwnParameter        bool // the record has a ClickParameter; it is not the default
	Stickiness          link.Stickiness
	Forward             bool // the destination gets the path behind the slug
}

func termsOf(r *link.Record) Terms {
	return Terms{
		ExpiresAt: r.ExpiresAt, StartsAt: r.StartsAt, Code: r.Code, Limit: r.Limit,
		Track: r.TrackConversions, OwnParameter: r.TrackConversions && r.ClickParameter != "", Stickiness: r.Stickiness,
		Forward: r.Forward,
	}
}

// appendTerms appends the mask and the numbers of terms that are not zero.
func appendTerms(b []byte, t *Terms) []byte {
	mask := uint64(0)
	set := func(bit uint64, on bool) {
		if on {
			mask |= bit
		}
	}
	set(termExpires, t.ExpiresAt != 0)
	set(termStarts, t.StartsAt != 0)
	set(termCode, t.Code != 0)
	set(termSince, t.Limit != link.Limit{})
	set(termTrack, t.Track)
	set(termParameter, t.OwnParameter)
	set(termCookie, t.Stickiness == link.StickyCookie)
	set(termHash, t.Stickiness == link.StickyHash)
	set(termForward, t.Forward)
	b = binary.AppendUvarint(b, mask)
	for _, n := range [...]uint64{uint64(t.ExpiresAt), uint64(t.StartsAt), uint64(t.Code)} {
		if n != 0 {
			b = binary.AppendUvarint(b, n)
		}
	}
	if mask&termSince != 0 {
		b = binary.AppendUvarint(b, uint64(t.Limit.Since))
		b = binary.AppendUvarint(b, t.Limit.Clicks)
	}
	return b
}

// readTerms reads what appendTerms has written.
func readTerms(b []byte) (t Terms, rest []byte) {
	mask, b := uvarint(b)
	next := func() (n uint64) {
		n, b = uvarint(b)
		return n
	}
	if mask&termExpires != 0 {
		t.ExpiresAt = int64(next())
	}
	if mask&termStarts != 0 {
		t.StartsAt = int64(next())
	}
	if mask&termCode != 0 {
		t.Code = uint16(next())
	}
	if mask&termSince != 0 {
		t.Limit.Since = int64(next())
		t.Limit.Clicks = next()
	}
	t.Track, t.OwnParameter, t.Forward = mask&termTrack != 0, mask&termParameter != 0, mask&termForward != 0
	switch {
	case mask&termCookie != 0:
		t.Stickiness = link.StickyCookie
	case mask&termHash != 0:
		t.Stickiness = link.StickyHash
	}
	return t, b
}

// restSlug is the slug in the rest of a record, because the wire form requires one.
const restSlug = "-"

func isTombstone(b []byte) bool { return b[1]&tombstone != 0 }

func slugOf(b []byte) []byte { return b[entryHead : entryHead+int(b[1]&^tombstone)] }

// entrySize returns the length of the link or tombstone at the start of b.
func entrySize(b []byte) int {
	rest := b[entryHead+len(slugOf(b)):]
	if isTombstone(b) {
		return len(b) - len(rest)
	}
	n, rest := uvarint(rest)
	rest = rest[n:]
	for range 4 {
		_, rest = uvarint(rest)
	}
	if b[0]&hasTerms != 0 {
		_, rest = readTerms(rest)
	}
	if b[0]&decides != 0 {
		n, rest = uvarint(rest)
		rest = rest[n:]
	}
	if b[0]&hasRest != 0 {
		n, rest = uvarint(rest)
		rest = rest[n:]
	}
	return len(b) - len(rest)
}

// appendTombstone appends a tombstone, which hides a slug in the stores below.
func appendTombstone(b []byte, slug string) []byte {
	return append(append(b, 0, byte(len(slug))|tombstone), slug...)
}

// encoder builds the compact form of links. It reuses its buffers.
type encoder struct {
	rest, chooser []byte
}

// append appends the compact form of a link with its chooser, which only links with rules or variants need. The caller has
// checked the slug's length.
func (x *encoder) append(b []byte, r *link.Record, c *decision.Chooser) []byte {
	flags, terms := flagsOf(r)
	x.rest = x.rest[:0]
	if flags&hasRest != 0 {
		x.rest = appendRest(x.rest, r, &terms)
	}
	x.chooser = x.chooser[:0]
	if flags&decides != 0 {
		// Without a flat form, an empty one is stored, and Compiled has the chooser.
		x.chooser, _ = c.AppendFlat(x.chooser, view(x.rest), r.Destination)
	}
	return appendEntry(b, flags, &terms, r, x.chooser, x.rest)
}

// flagsOf returns the flags and the terms of a link.
func flagsOf(r *link.Record) (flags byte, terms Terms) {
	set := func(flag byte, on bool) {
		if on {
			flags |= flag
		}
	}
	set(isInactive, r.Inactive)
	terms = termsOf(r)
	set(hasTerms, terms != Terms{})
	set(hasPassword, r.PasswordHash != "")
	set(isSmart, r.SmartRouting)
	set(isABTest, r.ABTesting)
	set(hasPreview, !r.Preview.IsZero())
	set(hasUTM, !r.UTM.IsZero())
	set(hasRest, flags&(hasPassword|hasPreview|hasUTM) != 0 || r.Title != "" || r.Default != "" || r.ExpiredURL != "" || len(r.Rules)+
		len(r.Variants) != 0 || terms.OwnParameter)
	return flags, terms
}

// appendRest appends the fields of a record that have no place of their own in the compact form.
func appendRest(b []byte, r *link.Record, terms *Terms) []byte {
	rest := *r
	rest.Key, rest.Destination = restSlug, ""
	rest.Num, rest.Owner, rest.Revision, rest.CreatedAt = 0, 0, 0, 0
	rest.ExpiresAt, rest.StartsAt, rest.Code, rest.Limit = 0, 0, 0, link.Limit{}
	rest.TrackConversions, rest.Stickiness, rest.Forward = false, link.NotSticky, false
	if !terms.OwnParameter {
		rest.ClickParameter = "" // no use without tracking
	}
	rest.Inactive, rest.SmartRouting, rest.ABTesting = false, false, false
	return snapshot.AppendRecord(b, &rest)
}

// appendEntry appends the parts of a link's compact form.
func appendEntry(b []byte, flags byte, terms *Terms, r *link.Record, chooser, rest []byte) []byte {
	b = append(b, flags, byte(len(r.Key)))
	b = append(b, r.Key...)
	b = binary.AppendUvarint(b, uint64(len(r.Destination)))
	b = append(b, r.Destination...)
	b = binary.AppendUvarint(b, r.Num)
	b = binary.AppendUvarint(b, r.Owner)
	b = binary.AppendUvarint(b, r.Revision)
	b = binary.AppendUvarint(b, uint64(r.CreatedAt))
	if flags&hasTerms != 0 {
		b = appendTerms(b, terms)
	}
	if flags&decides != 0 {
		b = binary.AppendUvarint(b, uint64(len(chooser)))
		b = append(b, chooser...)
	}
	if flags&hasRest != 0 {
		b = binary.AppendUvarint(b, uint64(len(rest)))
		b = append(b, rest...)
	}
	return b
}

// view returns bytes as a string without copying them. Nobody may change the bytes while the string is in use.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Entry is a link that Lookup found. It is a view that costs nothing to make. It stays valid and unchanged as long as
// it is referenced, even if the table changes. Its strings point into the table's memory. A request may use them
// freely; copy those that outlive the request.
type Entry struct {
	num, owner, revision uint64
	generation           uint64
	slug, destination    string
	tail                 []byte // the bytes from the creation time on
	flags                byte
}

func readEntry(b []byte, generation uint64) Entry {
	e := Entry{flags: b[0], generation: generation}
	slug := slugOf(b)
	n, rest := uvarint(b[entryHead+len(slug):])
	// unsafe: the arena is not written once readers can reach it, and the strings keep it alive. The race
	// detector and TestTable_readers_see_whole_states would find a write.
	e.slug = view(slug)
	e.destination = unsafe.String(unsafe.SliceData(rest), int(n))
	rest = rest[n:]
	e.num, rest = uvarint(rest)
	e.owner, rest = uvarint(rest)
	e.revision, rest = uvarint(rest)
	e.tail = rest
	return e
}

// Num returns the link's dense number.
func (e *Entry) Num() uint64 { return e.num }

// Owner returns the dense number of the link's owner.
func (e *Entry) Owner() uint64 { return e.owner }

// Revision returns the revision of the link's last change.
func (e *Entry) Revision() uint64 { return e.revision }

// Slug returns the link's slug.
func (e *Entry) Slug() string { return e.slug }

// Destination returns the original URL.
func (e *Entry) Destination() string { return e.destination }

// Plain reports whether every visitor is always redirected to Destination with the visitor's query merged in. The
// link is then active and has no terms, password, rules, variants, preview or UTM presets.
func (e *Entry) Plain() bool { return e.flags&^hasRest == 0 }

// Inactive reports whether the owner has turned the link off.
func (e *Entry) Inactive() bool { return e.flags&isInactive != 0 }

// HasPassword reports whether the link has a password.
func (e *Entry) HasPassword() bool { return e.flags&hasPassword != 0 }

// SmartRouting reports whether routing rules are on. The link may still have none.
func (e *Entry) SmartRouting() bool { return e.flags&isSmart != 0 }

// ABTesting reports whether the A/B test is on. The link may still have no variants.
func (e *Entry) ABTesting() bool { return e.flags&isABTest != 0 }

// HasPreview reports whether social crawlers get a preview page of the link.
func (e *Entry) HasPreview() bool { return e.flags&hasPreview != 0 }

// HasUTM reports whether the link has UTM presets.
func (e *Entry) HasUTM() bool { return e.flags&hasUTM != 0 }

// CreatedAt returns the creation time in Unix milliseconds.
func (e *Entry) CreatedAt() int64 {
	v, _ := uvarint(e.tail)
	return int64(v)
}

// Terms returns the numbers that decide when the link leads anywhere, and how.
func (e *Entry) Terms() (t Terms) {
	if e.flags&hasTerms == 0 {
		return t
	}
	_, rest := uvarint(e.tail)
	t, _ = readTerms(rest)
	return t
}

// parts returns the flat form of the link's chooser and the link's rest. Each is empty if the link has none.
func (e *Entry) parts() (chooser, rest []byte) {
	_, b := uvarint(e.tail)
	if e.flags&hasTerms != 0 {
		_, b = readTerms(b)
	}
	if e.flags&decides != 0 {
		n, after := uvarint(b)
		chooser, b = after[:n], after[n:]
	}
	if e.flags&hasRest != 0 {
		n, after := uvarint(b)
		rest = after[:n]
	}
	return chooser, rest
}

// Limited calls yield for every link with a limit of clicks.
func (t *Table) Limited(yield func(link uint64, since int64)) error {
	return t.Image().each(func(b []byte) error {
		if b[0]&hasTerms != 0 {
			e := readEntry(b, 0)
			if limit := e.Terms().Limit; limit.Since != 0 {
				yield(e.num, limit.Since)
			}
		}
		return nil
	})
}

// Record returns the whole link. The record shares no memory with the table. Record allocates; on the hot path use the
// accessors or Table.Compiled.
func (e *Entry) Record() link.Record {
	r, err := e.record()
	if err != nil {
		panic("BUG: table: a link that was encoded or checked here does not decode: " + err.Error())
	}
	return r
}

func (e *Entry) record() (r link.Record, err error) {
	terms := e.Terms()
	if _, rest := e.parts(); len(rest) > 0 {
		if err := snapshot.DecodeRecord(rest, &r); err != nil {
			return r, err
		}
	}
	both := e.slug + e.destination
	r.Key, r.Destination = both[:len(e.slug)], both[len(e.slug):]
	r.Num, r.Owner, r.Revision = e.num, e.owner, e.revision
	r.CreatedAt, r.ExpiresAt, r.StartsAt, r.Code, r.Limit = e.CreatedAt(), terms.ExpiresAt, terms.StartsAt, terms.Code, terms.Limit
	r.TrackConversions, r.Stickiness, r.Forward = terms.Track, terms.Stickiness, terms.Forward
	r.Inactive, r.SmartRouting, r.ABTesting = e.Inactive(), e.SmartRouting(), e.ABTesting()
	return r, nil
}
