// Package link says what a short link is: the record that the control plane publishes and every edge
// answers from, the rules for slugs and destinations, and how a visitor's query is merged into a destination.
//
// It owns no storage and no wire format (package snapshot does that), and asks nobody anything.
package link

// ID is a UUID in its 16 bytes. The zero ID means "none".
type ID [16]byte

// IsZero reports whether the ID is unset.
func (id ID) IsZero() bool { return id == ID{} }

// UTM holds the seven campaign parameters of a link or of a visit, "" where unset.
type UTM struct {
	Source, Medium, Campaign, Term, Content, ID, SourcePlatform string
}

// IsZero reports whether no parameter is set.
func (u UTM) IsZero() bool { return u == UTM{} }

// Record is all that an edge needs to answer for one link. It is plain data: made by the control plane's
// publish package, carried by package snapshot, held in compact form by the edge's table.
//
// Times are Unix milliseconds in UTC, 0 meaning "none". A Record never holds anything that may not leave
// the control plane, except the password's bcrypt hash, which is why snapshots are never public.
type Record struct {
	// Num is the link's dense number: unique, never reused, the key of its clicks in the analytics store.
	Num uint64
	// Owner is the dense number of the user that owns the link.
	Owner uint64
	// Revision is the configuration revision of the last change to anything in this record.
	Revision uint64

	Slug        string
	Destination string // the original URL, validated
	Default     string // where a smart-routed link goes if no rule matches; "" means Destination

	Inactive     bool
	ExpiresAt    int64
	CreatedAt    int64
	Title        string
	PasswordHash string // bcrypt; "" means no password
	UTM          UTM    // presets merged into the destination

	SmartRouting bool
	ABTesting    bool
	Rules        []Rule    // active ones only, in evaluation order
	Variants     []Variant // active ones only

	Preview Preview
}

// Rule is one routing rule as an edge needs it.
type Rule struct {
	ID         ID
	Name       string
	Target     string
	Conditions []byte // the authored condition group, JSON; package rule compiles it
}

// Variant is one arm of an A/B test. Its chance is Weight over the sum of all weights of the link's variants.
type Variant struct {
	ID     ID
	Target string
	Weight uint32 // 0 to 100
}

// Preview is what social crawlers are shown (Open Graph and Twitter card tags).
type Preview struct {
	Title, Description string
	ImageURL           string // absolute
	TwitterCard        string // "summary" or "summary_large_image"; "" means the latter where there is an image
}

// IsZero reports whether the link has no preview of its own.
func (p Preview) IsZero() bool { return p == Preview{} }
