package api

import (
	"encoding/json"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/shortline/shortline/control/internal/platform/isotime"
)

// Time is an instant in Unix milliseconds, as in the store. It is written as RFC 3339 in UTC with milliseconds, and read
// from any ISO 8601 instant or date. Without a zone it is UTC.
type Time int64

const timeLayout = "2006-01-02T15:04:05.000Z"

// timePattern matches "", because that clears an optional field.
const timePattern = `^$|^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])([Tt ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d([.,]\d{1,9})?)?([Zz]|[+-]\d{2}(:?\d{2})?)?)?$`

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	return []byte(`"` + time.UnixMilli(int64(t)).UTC().Format(timeLayout) + `"`), nil
}

// UnmarshalJSON reads the forms that timePattern matches, and maybe others.
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
	s := &huma.Schema{
		Type: huma.TypeString, Pattern: timePattern, PatternDescription: "a date or time in ISO 8601, such as 2027-01-31T12:00:00Z",
		Examples: []any{"2027-01-31T12:00:00.000Z"}, Extensions: map[string]any{"format": "date-time"},
	}
	s.PrecomputeMessages()
	return s
}

// timeOf converts a column that may be NULL.
func timeOf(ms *int64) *Time {
	if ms == nil {
		return nil
	}
	t := Time(*ms)
	return &t
}
