package analytics

import "time"

// Scope says which clicks are meant. The zero Scope is every click of people, ever.
type Scope struct {
	Links []uint64 // of these links, if not nil; an empty list means no click at all
	Owner uint64   // of this owner's links, also those deleted since, if not 0

	From, To int64 // Unix milliseconds, From included, To not; 0 leaves that end open

	Bots Bots
	// Routed and Drawn take only clicks that a rule, or a variant, decided.
	Routed, Drawn bool
}

// Bots says whether clicks of bots are meant.
type Bots uint8

// The choices. People is the zero value, because figures are of people unless somebody asks otherwise.
const (
	People Bots = iota
	Everyone
	OnlyBots
)

// Dimension is a property of clicks by which they can be told apart.
type Dimension uint8

// The dimensions.
const (
	None Dimension = iota
	Country
	Region
	City
	Device
	OS
	Browser
	Referer
	UTMSource
	UTMMedium
	UTMCampaign
	UTMTerm
	UTMContent
	BotName
	Variant // UUID text
	Rule    // UUID text
	dimensions
)

// columns are their names in both engines' tables.
var columns = [dimensions]string{"", "country", "region", "city", "device", "os", "browser", "referer",
	"utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "bot_name", "variant", "rule"}

func (d Dimension) String() string { return columns[d] }

// Query asks for measures of the clicks in a scope, one line for each group. With no grouping there is one line.
type Query struct {
	Scope
	ByDay  bool
	Zone   *time.Location // whose days; nil means UTC
	ByLink bool
	By     Dimension

	Visitors bool // measure Line.Visitors, which costs most
	Last     bool // measure Line.Last

	// TopFirst orders by clicks, most first; groups are otherwise, and where clicks are equal, in rising order of
	// day, link and value.
	TopFirst bool
	Limit    int // lines at most; 0 means all
}

// Line is the measures of one group.
type Line struct {
	Day   Day // with ByDay
	Link  uint64
	Value string // with By; "" is a group of its own: the clicks of which it is unknown

	Clicks   int64
	Visitors int64 // distinct addresses
	Last     int64 // the newest click's time, Unix milliseconds; 0 if there is none
}

// Count is how many clicks have one value of a dimension.
type Count struct {
	Value  string
	Clicks int64
}
