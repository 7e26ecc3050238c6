// Package rule decides whether a visitor matches an authored condition group.
//
// It defines the language of conditions: both written forms, the operators of each type, the valid values, and their
// meaning. Parse validates what an author wrote and reports every problem with its path. Compile turns the result into
// an immutable Program. Eval decides for a visitor without allocating. Explain runs the same code and reports the
// input of each condition.
//
// A group gives the same result on every machine, apart from differences between time zone databases (an embedded one
// is used if the system has none). Text is compared by Unicode simple case folding, rune by rune, without
// normalization: "É" equals "é", but a precomposed letter does not equal the same letter with a combining mark, nor
// "ß" "ss".
//
// The cost of a link's rules is bounded for any visitor. Work estimates it from the conditions alone, and control
// planes reject rules that exceed MaxWork. A Set still evaluates rules that exceed the limit.
//
// Package visitor provides the facts. Callers define the order of rules and the destination of a match.
package rule

// Limits of one authored group.
const (
	maxDepth    = 8       // nested groups, including the outermost
	maxLeaves   = 100     // conditions in the whole group
	maxValues   = 300     // entries of one list
	maxString   = 512     // bytes of one value, after trimming
	maxName     = 100     // bytes of the name of a query parameter; link.MaxParamName has the same value
	maxDocument = 1 << 20 // size of the whole group in bytes
)

// kind is the type of a condition.
type kind uint8

const (
	kindDevice kind = iota
	kindOS
	kindBrowser
	kindCountry
	kindRegion
	kindCity
	kindLanguage
	kindTime
	kindDay
	kindReferer
	kindUTMSource
	kindUTMMedium
	kindUTMCampaign
	kindUTMTerm
	kindUTMContent
	kindIP
	kindContinent
	kindQuery
	kindDate
	kindVisitor
	kindPercentage
)

// kinds gives each type its authored name, for text the field that it tests, and the valid operators. Region tests two
// fields; this is the first.
var kinds = [...]struct {
	name      string
	field     Field
	operators []operator
}{
	kindDevice:      {"device", FieldDevice, textOperators},
	kindOS:          {"os", FieldOS, textOperators},
	kindBrowser:     {"browser", FieldBrowser, textOperators},
	kindCountry:     {"country", FieldCountry, textOperators},
	kindRegion:      {"region", FieldRegionCode, textOperators},
	kindCity:        {"city", FieldCity, textOperators},
	kindLanguage:    {"language", FieldLanguage, textOperators},
	kindTime:        {"time", fieldCount, timeOperators},
	kindDay:         {"day_of_week", fieldCount, dayOperators},
	kindReferer:     {"referer", FieldReferer, textOperators},
	kindUTMSource:   {"utm_source", FieldUTMSource, textOperators},
	kindUTMMedium:   {"utm_medium", FieldUTMMedium, textOperators},
	kindUTMCampaign: {"utm_campaign", FieldUTMCampaign, textOperators},
	kindUTMTerm:     {"utm_term", FieldUTMTerm, textOperators},
	kindUTMContent:  {"utm_content", FieldUTMContent, textOperators},
	kindIP:          {"ip", fieldCount, addressOperators},
	kindContinent:   {"continent", FieldContinent, textOperators},
	kindQuery:       {"query", fieldCount, textOperators},
	kindDate:        {"date", fieldCount, timeOperators},
	kindVisitor:     {"visitor", FieldVisitor, dayOperators},
	kindPercentage:  {"percentage", fieldCount, shareOperators},
}

// Field is one fact about a visitor that a condition can test.
type Field uint8

// Fields. A region has two, the ISO 3166-2 code and the English name; either may match.
const (
	FieldDevice Field = iota
	FieldOS
	FieldBrowser
	FieldCountry
	FieldRegionCode
	FieldRegionName
	FieldCity
	FieldLanguage
	FieldReferer
	FieldUTMSource
	FieldUTMMedium
	FieldUTMCampaign
	FieldUTMTerm
	FieldUTMContent
	FieldContinent
	FieldVisitor // NewVisitor or ReturningVisitor
	fieldCount
)

// Values of FieldVisitor.
const (
	NewVisitor       = "new"
	ReturningVisitor = "returning"
)

// operator is the comparison of a condition.
type operator uint8

const (
	opEquals operator = iota
	opNotEquals
	opContains
	opNotContains
	opIn
	opNotIn
	opStartsWith
	opEndsWith
	opBetween
	opBefore
	opAfter
	opLessThan
)

var operatorNames = [...]string{
	opEquals:      "equals",
	opNotEquals:   "not_equals",
	opContains:    "contains",
	opNotContains: "not_contains",
	opIn:          "in",
	opNotIn:       "not_in",
	opStartsWith:  "starts_with",
	opEndsWith:    "ends_with",
	opBetween:     "between",
	opBefore:      "before",
	opAfter:       "after",
	opLessThan:    "less_than",
}

var (
	textOperators = []operator{opEquals, opNotEquals, opContains, opNotContains, opIn, opNotIn, opStartsWith, opEndsWith}
	timeOperators = []operator{opBetween, opBefore, opAfter}
	dayOperators  = []operator{opIn, opNotIn, opEquals, opNotEquals}

	addressOperators = []operator{opIn, opNotIn}
	shareOperators   = []operator{opLessThan}
)

// negative reports whether the operator negates its positive counterpart.
func (o operator) negative() bool {
	return o == opNotEquals || o == opNotContains || o == opNotIn
}

// list reports whether the operator accepts several values.
func (o operator) list() bool { return o == opIn || o == opNotIn }
