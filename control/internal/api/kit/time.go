package kit

import (
	"encoding/json"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/shortline/shortline/control/internal/platform/isotime"
	"github.com/shortline/shortline/control/internal/platform/problem"
)

// Time is an instant in Unix milliseconds, as in the store. It is written as RFC 3339 in UTC with milliseconds, and read
// from any ISO 8601 instant or date. Without a zone it is UTC.
type Time int64

const timeLayout = "2006-01-02T15:04:05.000Z"

// timePattern matches what isotime.Parse can read, so that an impossible date is a problem of its field. It also matches "",
// which clears an optional field.
const timePattern = `^$|^(` + possibleDate +
	`)([Tt ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d([.,]\d{1,9})?)?([Zz]|[+-]([01]\d|2[0-4])(:?[0-5]\d)?)?)?$`

// possibleDate matches the dates of the months with 31 days, with 30 days, and of February, at last February 29 of leap years.
const possibleDate = `\d{4}-(0[13578]|1[02])-(0[1-9]|[12]\d|3[01])|\d{4}-(0[469]|11)-(0[1-9]|[12]\d|30)|\d{4}-02-(0[1-9]|1\d|2[0-8])|` +
	`(\d\d(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29`

const timeForm = "a date or time in ISO 8601, such as 2027-01-31T12:00:00Z"

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	return []byte(`"` + time.UnixMilli(int64(t)).UTC().Format(timeLayout) + `"`), nil
}

// UnmarshalJSON reads the forms that timePattern matches.
func (t *Time) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil || s == "" {
		return err
	}
	ms, err := isotime.Parse(s)
	if err == nil {
		*t = Time(ms)
	}
	return err
}

// Schema implements huma.SchemaProvider.
func (Time) Schema(huma.Registry) *huma.Schema {
	s := timeSchema()
	s.Pattern, s.PatternDescription = timePattern, timeForm
	s.PrecomputeMessages()
	return s
}

// timeSchema documents a Time. huma would refuse dates without a time if it knew the format.
func timeSchema() *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Examples: []any{"2027-01-31T12:00:00.000Z"},
		Extensions: map[string]any{"format": "date-time"}}
}

// TimeText is a Time in a request that may have another form.
type TimeText string

// Schema documents a Time and accepts any text.
func (TimeText) Schema(huma.Registry) *huma.Schema { return timeSchema() }

// TextMillis converts an optional time like millis, and adds a problem if it has another form.
func TextMillis(o Opt[TimeText], field string, problems *problem.Fields) *int64 {
	at := Given(o, "")
	if at == nil {
		return nil
	}
	var ms int64
	if *at != "" {
		var err error
		if ms, err = isotime.Parse(string(*at)); err != nil {
			problems.Add(field, "must be %s", timeForm)
		}
	}
	return &ms
}

// TimeOf converts a column that may be NULL.
func TimeOf(ms *int64) *Time {
	if ms == nil {
		return nil
	}
	t := Time(*ms)
	return &t
}

// Instant is described at Text.
func Instant(ms int64) *Time {
	if ms == 0 {
		return nil
	}
	return TimeOf(&ms)
}

// ParseDateOrTime parses a date or time to Unix milliseconds. "" is 0.
func ParseDateOrTime(text string) (ms int64, ok bool) {
	if text == "" {
		return 0, true
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return 0, false
	}
	var t Time
	err = t.UnmarshalJSON(quoted)
	return int64(t), err == nil
}
