package rule

// Field names one fact about a visitor that a condition can ask for.
type Field uint8

// The fields. Region is asked for twice: by ISO 3166-2 code and by English name; either may match.
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

// Facts is what a program asks about a visitor. Implementations compute a fact when it is first asked for
// and must not allocate for it once warm. A returned string lives as long as the request.
type Facts interface {
	// Fact returns the visitor's value, "" where it is not known.
	Fact(Field) string
	// UnixMilli is the time of the request.
	UnixMilli() int64
}
