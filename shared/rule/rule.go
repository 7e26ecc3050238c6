// Package rule decides whether a visitor matches an authored condition group.
//
// It owns the language of conditions: both written forms, which operator goes with which type, what a value may
// be, and what each of them means. Parse checks what an author wrote and names every problem with its place;
// Compile turns the result into an immutable Program; Eval answers for a visitor without allocating, and Explain
// replays the very same code and tells what each condition saw.
//
// Promises: the same group gives the same answer on every edge and in the control plane, whatever machine they run
// on, apart from differences in their time zone databases (an embedded one is used where the system has none). Text
// is compared by Unicode simple case folding, rune by rune, without normalisation: "É" equals "é", but a precomposed
// letter does not equal the same letter with a combining mark, nor "ß" "ss".
//
// What a link's rules cost is bounded whatever a visitor sends: Work estimates it from the conditions alone, and control
// planes refuse rules with which it exceeds MaxWork. A Set evaluates rules that are over the limit all the same.
//
// Left to others: finding out the facts (package visitor), the order of rules, and where a match leads.
package rule

// Bounds of one authored group.
const (
	maxDepth    = 8       // groups within groups, the outermost counts as one
	maxLeaves   = 100     // conditions in all
	maxValues   = 300     // entries of one list
	maxString   = 512     // bytes of one value, after trimming
	maxDocument = 1 << 20 // bytes of the whole group
)

// kind is a condition's type: what it asks about.
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
)

// kinds gives each type its authored name and, for text, the fact that it asks for. Region asks for two, of which
// this is the first.
var kinds = [...]struct {
	name  string
	field Field
}{
	kindDevice:      {"device", FieldDevice},
	kindOS:          {"os", FieldOS},
	kindBrowser:     {"browser", FieldBrowser},
	kindCountry:     {"country", FieldCountry},
	kindRegion:      {"region", FieldRegionCode},
	kindCity:        {"city", FieldCity},
	kindLanguage:    {"language", FieldLanguage},
	kindTime:        {"time", fieldCount},
	kindDay:         {"day_of_week", fieldCount},
	kindReferer:     {"referer", FieldReferer},
	kindUTMSource:   {"utm_source", FieldUTMSource},
	kindUTMMedium:   {"utm_medium", FieldUTMMedium},
	kindUTMCampaign: {"utm_campaign", FieldUTMCampaign},
	kindUTMTerm:     {"utm_term", FieldUTMTerm},
	kindUTMContent:  {"utm_content", FieldUTMContent},
}

// operator is how a condition compares.
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
}

var (
	textOperators = []operator{opEquals, opNotEquals, opContains, opNotContains, opIn, opNotIn, opStartsWith, opEndsWith}
	timeOperators = []operator{opBetween, opBefore, opAfter}
	dayOperators  = []operator{opIn, opNotIn, opEquals, opNotEquals}
)

// operators lists what a type can be compared with.
func (k kind) operators() []operator {
	switch k {
	case kindTime:
		return timeOperators
	case kindDay:
		return dayOperators
	default:
		return textOperators
	}
}

// negative reports whether the operator is true exactly where its positive twin is false.
func (o operator) negative() bool {
	return o == opNotEquals || o == opNotContains || o == opNotIn
}

// list reports whether the operator takes several values.
func (o operator) list() bool { return o == opIn || o == opNotIn }
