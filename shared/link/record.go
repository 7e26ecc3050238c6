// Package link defines a short link: the record that the control plane publishes and edges serve, the rules for slugs
// and destinations, and how a visitor's query is merged into a destination.
//
// It has no storage and no wire format (see package snapshot), and depends on no other package of the project.
package link

// ID is a UUID in binary form. The zero ID means "none".
type ID [16]byte

// IsZero reports whether the ID is unset.
func (id ID) IsZero() bool { return id == ID{} }

// UTM holds the seven campaign parameters of a link or of a visit. "" means unset.
type UTM struct {
	Source, Medium, Campaign, Term, Content, ID, SourcePlatform string
}

// IsZero reports whether no parameter is set.
func (u UTM) IsZero() bool { return u == UTM{} }

// Record is everything that an edge needs to serve one link. It is plain data: package publish builds it, package
// snapshot transports it, and the edge's table stores it in a compact form.
//
// Times are Unix milliseconds in UTC; 0 means "none". The only secret in a Record is the bcrypt hash of the password,
// so snapshots are never public.
type Record struct {
	// Num is the link's dense number. It is unique, never reused, and the key of the link's clicks in the analytics
	// store.
	Num uint64
	// Owner is the dense number of the link's owner.
	Owner uint64
	// Revision is the configuration revision of the last change to anything in this record.
	Revision uint64

	Key         string // see Key
	Destination string // validated original URL
	Default     string // destination of a smart-routed link if no rule matches; "": Destination

	Inactive     bool
	StartsAt     int64 // before it, the link does not exist for visitors
	ExpiresAt    int64
	Limit        Limit
	ExpiredURL   string // where visitors go after expiry or exhaustion; "": nowhere
	Code         uint16 // status of the redirect: 301, 307 or 308; 0: 302
	CreatedAt    int64
	Title        string
	PasswordHash string // bcrypt; "": no password
	UTM          UTM    // presets merged into the destination

	// TrackConversions adds the id of the click to the destination, as the parameter ClickParameter.
	TrackConversions bool
	ClickParameter   string     // "": DefaultClickParameter
	Stickiness       Stickiness // whether a visitor keeps the variant

	Forward bool // the destination gets the path behind the slug

	SmartRouting bool
	ABTesting    bool
	Rules        []Rule    // active rules in evaluation order
	Variants     []Variant // active variants

	Preview Preview
}

// DefaultClickParameter is the name of the query parameter that has the id of a click.
const DefaultClickParameter = "sl_click"

// Stickiness is the way by which a returning visitor of an A/B test gets the same variant.
type Stickiness uint8

// The ways. The numbers are stored and sent.
const (
	NotSticky    Stickiness = iota // each click draws a variant
	StickyCookie                   // by a cookie of the short domain
	StickyHash                     // by a hash of the anonymised address and the User-Agent
)

var stickinesses = [...]string{"none", "cookie", "hash"}

// Stickinesses are the texts of the ways, in the order of their numbers.
func Stickinesses() []string { return stickinesses[:] }

// String returns the way as the API writes it.
func (s Stickiness) String() string { return stickinesses[min(int(s), len(stickinesses)-1)] }

// Limit is the number of clicks after which a link stops to lead anywhere. The zero Limit is none.
//
// Edges count the clicks of people for each link and Since. An owner who takes the limit away and sets it again starts a
// new count with a new Since. Clicks that were counted before Since are already subtracted from Clicks.
type Limit struct {
	Since  int64  // when the limit was set; 0: the link has no limit
	Clicks uint64 // how many clicks may follow; 0: none
}

// Rule is one routing rule in a Record.
type Rule struct {
	ID         ID
	Name       string
	Target     string
	Conditions []byte // authored condition group as JSON; package rule compiles it
}

// Variant is one arm of an A/B test. Its chance is Weight divided by the total weight of the link's variants.
type Variant struct {
	ID     ID
	Target string
	Weight uint32 // 0 to 100
}

// Preview is the data for social crawlers (Open Graph and Twitter card tags).
type Preview struct {
	Title, Description string
	ImageURL           string // absolute
	TwitterCard        string // "summary" or "summary_large_image"; "": the latter if there is an image
}

// IsZero reports whether the link has no preview of its own.
func (p Preview) IsZero() bool { return p == Preview{} }
