package api

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/danielgtaylor/huma/v2"
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

var timeLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700", "2006-01-02T15:04:05.999999999Z07", "2006-01-02T15:04Z07:00", "2006-01-02T15:04Z0700", "2006-01-02T15:04Z07",
	"2006-01-02T15:04:05.999999999", "2006-01-02T15:04", "2006-01-02",
}

// UnmarshalJSON reads the forms that timePattern matches, and maybe others.
func (t *Time) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil || s == "" {
		return err
	}
	norm := []byte(s)
	for i, c := range norm {
		switch c {
		case ' ', 't':
			norm[i] = 'T'
		case 'z':
			norm[i] = 'Z'
		}
	}
	for _, layout := range timeLayouts {
		if v, err := time.Parse(layout, string(norm)); err == nil {
			*t = Time(v.UnixMilli())
			return nil
		}
	}
	return fmt.Errorf("%q is not a date or time in ISO 8601", s)
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
