package analytics

import "time"

// Scope selects clicks. The zero Scope selects every click of people, of all time.
type Scope struct {
	Links    []uint64 // only these links, unless nil; an empty list selects no clicks
	NotLinks []uint64 // none of these links
	// Only links with these numbers: LinkFrom inclusive, LinkTo exclusive; 0 means no bound.
	LinkFrom, LinkTo uint64
	Owner            uint64 // only this owner's links, including deleted ones; 0 means all owners
	Moves            Moves  // which moves of links count for Owner
	// NotOwners excludes clicks that name one of these owners. Moves do not matter. A store with several servers excludes
	// the clicks of workspaces that are on two of them, because they move, on one of the two.
	NotOwners []uint64
	// Home is the workspace of all of Links, if the caller knows it. It selects nothing. A store with several servers
	// uses it to ask only the one that has the clicks.
	Home uint64

	From, To int64 // Unix milliseconds, From inclusive, To exclusive; 0 means no bound

	Bots Bots
	// Routed and Drawn select only clicks that a rule, or a variant, decided.
	Routed, Drawn bool
	// Sampled selects only clicks of visitors in the sample (InSample).
	Sampled bool
	// Match selects only clicks that satisfy every Match.
	Match []Match
}

// Match selects clicks whose value of a dimension is one of Values. "" selects clicks whose value is unknown. Without
// values, it selects no clicks.
type Match struct {
	By     Dimension
	Values []string
}

// Bots selects clicks of people, of bots, or both.
type Bots uint8

// The choices. People is the zero value, because figures are about people unless a caller asks otherwise.
const (
	People Bots = iota
	Everyone
	OnlyBots
)

// Dimension is a property of clicks by which they can be grouped.
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
	Language
	Site // the site that Referer belongs to, see SiteOf
	dimensions
)

// columns are the names of the dimensions in the tables of both engines.
var columns = [dimensions]string{"", "country", "region", "city", "device", "os", "browser", "referer",
	"utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "bot_name", "variant", "rule", "language", "site"}

// String returns the name of the dimension's column in a Source.
func (d Dimension) String() string { return columns[d] }

// expression renders the dimension's value in a table of clicks.
func (d Dimension) expression() string {
	if d == Site {
		return siteSQL
	}
	return columns[d]
}

// Column renders the dimension's value in a table of clicks as a column with the dimension's name.
func (d Dimension) Column() string {
	if d == Site {
		return siteSQL + " AS " + columns[d]
	}
	return columns[d]
}

// Stored returns the name of the column of clicks on which the dimension depends.
func (d Dimension) Stored() string {
	if d == Site {
		return columns[Referer]
	}
	return columns[d]
}

// Query asks for figures about the clicks in a scope, with one line for each group. Without a grouping there is one
// line.
type Query struct {
	Scope
	Every  Interval
	Zone   *time.Location // the zone of Every; nil means UTC
	ByLink bool
	By     Dimension

	Visitors bool // compute Line.Visitors, the most expensive figure
	Last     bool // compute Line.Last

	// TopFirst orders groups by clicks, most first. Otherwise, and among groups with equal clicks, the order is
	// ascending by period, link and value.
	TopFirst bool
	Limit    int // maximum number of lines; 0 means all
}

// Line has the figures of one group.
type Line struct {
	Period // set with Every
	Link   uint64
	Value  string // set with By; "" is the group of clicks whose value is unknown

	Clicks   int64
	Visitors int64 // distinct addresses
	// Estimated says that Visitors is an estimate, because the scope of the query has too many visitors to count each of
	// them. All lines of an answer are estimated, or none. See EstimateError.
	Estimated bool
	Last      int64 // time of the newest click, in Unix milliseconds; 0 if there is none
}

// Count is the number of clicks with one value of a dimension.
type Count struct {
	Value  string
	Clicks int64
}
