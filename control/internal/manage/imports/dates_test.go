package imports

import (
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// Each format reads its own dates and ISO 8601, and says of others what they are not.
func TestDates_are_read_in_their_format(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	testkit.Must(t, err)
	santiago, err := time.LoadLocation("America/Santiago")
	testkit.Must(t, err)
	for _, c := range []struct {
		format DateFormat
		zone   *time.Location
		cell   string
		want   string // an instant, or the beginning of what is wrong
	}{
		{DatesDots, nil, "31.01.2027", "2027-01-31T00:00:00Z"},
		{DatesDots, berlin, "31.01.2027", "2027-01-30T23:00:00Z"},
		{DatesDots, berlin, "1.7.2027 9:05", "2027-07-01T07:05:00Z"},
		{DatesDots, berlin, "01.07.2027, 09:05:06.250", "2027-07-01T07:05:06.25Z"},
		{DatesDots, berlin, "01.07.2027 09:05 +00:00", "2027-07-01T09:05:00Z"},
		{DatesDots, berlin, "2027-07-01", "2027-06-30T22:00:00Z"},
		{DatesDots, berlin, "2027-07-01T12:00:00Z", "2027-07-01T12:00:00Z"},
		{DatesDots, berlin, "2027-07-01 12:00-05", "2027-07-01T17:00:00Z"},
		{DatesISO, berlin, "2027-01-31 12:00", "2027-01-31T11:00:00Z"},
		{DatesDayFirst, nil, "03/04/2027", "2027-04-03T00:00:00Z"},
		{DatesMonthFirst, nil, "03/04/2027", "2027-03-04T00:00:00Z"},
		{DatesMonthFirst, nil, "1/31/2027, 2:30:15\u202fPM", "2027-01-31T14:30:15Z"},
		{DatesMonthFirst, nil, "1/31/2027 12:30 a.m.", "2027-01-31T00:30:00Z"},
		{DatesMonthFirst, nil, "29/02/2028", "is no day and time of the calendar, read like 01/31/2027"},
		{DatesMonthFirst, nil, "2/29/2027", "is no day and time"},
		{DatesMonthFirst, nil, "1/31/2027 13:30 PM", "is no day and time"},
		{DatesMonthFirst, nil, "1/31/2027 24:30", "is no day and time"},
		{DatesDots, nil, "31/01/2027", "must be a date such as 31.01.2027, or in ISO 8601"},
		{DatesDayFirst, nil, "31.01.2027", "must be a date such as 31/01/2027, or"},
		{DatesDayFirst, nil, "31/01/27", "must be a date such as"},
		{DatesDayFirst, nil, "31/01.2027", "must be a date such as"},
		{DatesDayFirst, nil, "", "must be a date such as"},
		{"", nil, "03/04/2027", "can be 2027-04-03 or 2027-03-04; choose the format of the dates"},
		{"", nil, "31.01.2027", "must be a date or time in ISO 8601"},
		{"", nil, "31/01/2027", "must be a date or time in ISO 8601"},
		{"", nil, "yesterday", "must be a date or time in ISO 8601"},
		// Clocks change.
		{DatesDots, berlin, "28.03.2027 02:30", "occurs never or twice in the time zone Europe/Berlin"},
		{DatesDots, berlin, "31.10.2027 02:30", "occurs never or twice"},
		{DatesDots, berlin, "31.10.2027 02:30+02:00", "2027-10-31T00:30:00Z"},
		{DatesDots, berlin, "28.03.2027 03:00", "2027-03-28T01:00:00Z"},
		{DatesDots, berlin, "31.10.2027", "2027-10-30T22:00:00Z"},
		{DatesISO, santiago, "2025-09-07", "2025-09-07T04:00:00Z"}, // begins at one o'clock
	} {
		ms, wrong := dates{c.format, c.zone}.parseDate(c.cell)
		got := wrong
		if wrong == "" {
			got = time.UnixMilli(ms).UTC().Format(time.RFC3339Nano)
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %q: %s, want %s", c.format, c.cell, got, c.want)
		}
	}
}

// A format is guessed only if no date of the file could be another one.
func TestDates_of_a_file_are_guessed(t *testing.T) {
	t.Parallel()
	for cells, want := range map[string]DateFormat{
		"":                                DatesISO,
		"2027-01-31 2027-02-01T12:00:00Z": DatesISO,
		"yesterday 31/01/27 45/45/2027":   DatesISO,
		"31.01.2027 2027-01-31":           DatesDots,
		"01.02.2027":                      DatesDots,
		"03/04/2027 31/01/2027":           DatesDayFirst,
		"03/04/2027 01/31/2027":           DatesMonthFirst,
		"05/05/2027":                      DatesDayFirst, // both are the same
		"03/04/2027":                      "",
		"31/01/2027 01/31/2027":           "",
		"31.01.2027 31/01/2027":           "",
	} {
		table := &table{columns: []string{"url", "created"}}
		for i, cell := range strings.Fields(cells) {
			table.rows = append(table.rows, row{i + 2, []string{"https://example.com/", cell}})
		}
		r, err := Mapping{"originalUrl": "url", "createdAt": "created"}.reader(table)
		testkit.Must(t, err)
		if got := r.guess(); got != want {
			t.Errorf("%s: %q, want %q", cells, got, want)
		}
	}
}
