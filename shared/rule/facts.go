package rule

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
	fieldCount
)

// Facts provides the facts about a visitor. An implementation computes a fact on the first call and must not allocate
// for it afterwards. A returned string is valid for the duration of the request.
type Facts interface {
	// Fact returns the visitor's value, or "" if it is unknown.
	Fact(Field) string
	// UnixMilli returns the time of the request.
	UnixMilli() int64
}
