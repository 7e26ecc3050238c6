package imports

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/platform/isotime"
	"github.com/shortline/shortline/control/internal/platform/problem"
)

// DateFormat says how the dates of a file are written. Each format also takes ISO 8601, which looks like none of the others.
type DateFormat string

// Formats of dates.
const (
	DatesISO        DateFormat = "iso"
	DatesDots       DateFormat = "dots"       // 31.01.2027
	DatesDayFirst   DateFormat = "dayFirst"   // 31/01/2027
	DatesMonthFirst DateFormat = "monthFirst" // 01/31/2027
	// DatesAuto stands for the only format that fits all dates of the file.
	DatesAuto DateFormat = "auto"
)

// AllDateFormats are those that a plan can have.
var AllDateFormats = []DateFormat{DatesISO, DatesDots, DatesDayFirst, DatesMonthFirst, DatesAuto}

// timeFields are the fields whose cells are dates.
var timeFields = []string{createdAt, "startsAt", "expiresAt"}

// Reasons to refuse a date. Package problem has a code for each.
const (
	wrongDate     = "must be a date or time in ISO 8601, such as 2027-01-31T12:00:00Z"
	wrongFormat   = "must be a date such as %s, or in ISO 8601"
	noSuchDate    = "is no day and time of the calendar, read like %s"
	ambiguousDate = "can be %s or %s; choose the format of the dates"
	unsureTime    = "occurs never or twice in the time zone %s, where clocks change; write it in ISO 8601 with an offset"
)

// dates reads dates and times. The zero value reads ISO 8601, in UTC if a cell has no zone.
type dates struct {
	format DateFormat
	zone   *time.Location // of dates without one
}

// space is what stands between a date, a time and AM or PM, with the spaces that do not break.
const space = `[\s\x{a0}\x{202f}]*`

var written = regexp.MustCompile(`^(\d{1,2})([./])(\d{1,2})([./])(\d{4})(?:[,T]?` + space +
	`(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?` + space + `([AaPp]\.?[Mm]\.?)?` + space + `([Zz]|[+-]\d{2}(?::?\d{2})?)?)?$`)

// parts is a date that is not written in ISO 8601.
type parts struct {
	first, second, year int
	dots                bool
	clock               string // hours, minutes and seconds as ISO 8601 has them; "" if there is no time, or no such time
	hasTime             bool
	offset              string
}

func partsOf(cell string) (p parts, ok bool) {
	m := written.FindStringSubmatch(cell)
	if m == nil || m[2] != m[4] {
		return p, false
	}
	number := func(text string) int {
		n, _ := strconv.Atoi(text) // at most four digits
		return n
	}
	p = parts{first: number(m[1]), second: number(m[3]), year: number(m[5]), dots: m[2] == ".", hasTime: m[6] != "", offset: m[11]}
	if p.hasTime {
		hour, half := number(m[6]), strings.ToLower(m[10])
		if half != "" {
			if hour < 1 || hour > 12 {
				return p, true // clock stays empty
			}
			if hour %= 12; half[0] == 'p' {
				hour += 12
			}
		}
		p.clock = fmt.Sprintf("%02d:%s:%s", hour, m[7], cmp.Or(m[8], "00"))
		if m[9] != "" {
			p.clock += "." + m[9]
		}
	}
	return p, true
}

// iso returns the date in ISO 8601, or "" if there is no such day or time.
func (p *parts) iso(day, month int) string {
	text := fmt.Sprintf("%04d-%02d-%02d", p.year, month, day)
	if p.hasTime {
		text += "T" + p.clock + p.offset
	}
	if _, err := isotime.Parse(text); err != nil {
		return ""
	}
	return text
}

// fits returns the date in ISO 8601 as a format has it. shape is false if the date is not written in this way, and iso is "" if
// there is no such day.
func (p *parts) fits(format DateFormat) (iso string, shape bool) {
	switch {
	case format == DatesDots && p.dots, format == DatesDayFirst && !p.dots:
		return p.iso(p.first, p.second), true
	case format == DatesMonthFirst && !p.dots:
		return p.iso(p.second, p.first), true
	}
	return "", false
}

// exampleOf returns the last day of January as a format has it.
func exampleOf(format DateFormat) string {
	return map[DateFormat]string{DatesDots: "31.01.2027", DatesDayFirst: "31/01/2027", DatesMonthFirst: "01/31/2027"}[format]
}

// parseDate returns the Unix milliseconds of a cell, or what is wrong with it.
func (d dates) parseDate(cell string) (ms int64, wrong string) {
	if _, err := isotime.Parse(cell); err == nil {
		return d.instant(cell)
	}
	p, ok := partsOf(cell)
	example := exampleOf(d.format)
	if example == "" { // ISO 8601 only
		day, month := p.iso(p.first, p.second), p.iso(p.second, p.first)
		if ok && !p.dots && day != "" && month != "" && day != month {
			return 0, fmt.Sprintf(ambiguousDate, day[:len(time.DateOnly)], month[:len(time.DateOnly)])
		}
		return 0, wrongDate
	}
	if !ok {
		return 0, fmt.Sprintf(wrongFormat, example)
	}
	iso, shape := p.fits(d.format)
	switch {
	case !shape:
		return 0, fmt.Sprintf(wrongFormat, example)
	case iso == "":
		return 0, fmt.Sprintf(noSuchDate, example)
	}
	return d.instant(iso)
}

// instant returns the Unix milliseconds of a date or time in ISO 8601.
func (d dates) instant(iso string) (ms int64, wrong string) {
	ms, _ = isotime.Parse(iso) // the caller has checked it
	if d.zone == nil || d.zone == time.UTC || hasZone(iso) {
		return ms, ""
	}
	// The instant is as far from the wall-clock time in UTC as the zone is from UTC, which can change on that day.
	wall := time.UnixMilli(ms).UTC()
	var found []int64
	for _, near := range []time.Time{wall.Add(-24 * time.Hour), wall.Add(24 * time.Hour)} {
		_, offset := near.In(d.zone).Zone()
		at := wall.Add(-time.Duration(offset) * time.Second)
		_, own := at.In(d.zone).Zone()
		if own == offset && !slices.Contains(found, at.UnixMilli()) {
			found = append(found, at.UnixMilli())
		}
	}
	switch {
	case len(found) == 1:
		return found[0], ""
	case len(iso) > len(time.DateOnly):
		return 0, fmt.Sprintf(unsureTime, d.zone)
	case len(found) > 1:
		return slices.Min(found), ""
	}
	// Midnight is skipped, so the day begins where the clock jumps.
	_, offset := wall.Add(-24 * time.Hour).In(d.zone).Zone()
	return wall.Add(-time.Duration(offset) * time.Second).UnixMilli(), ""
}

// hasZone reports whether a date or time in ISO 8601 says its zone, which only one with a time can.
func hasZone(iso string) bool {
	return len(iso) > len(time.DateOnly) && strings.ContainsAny(iso[len(time.DateOnly):], "Zz+-")
}

// eachDate calls f with the cells that are dates, until f returns false.
func (r *reader) eachDate(f func(u *use, from *row, cell string) bool) {
	for i := range r.used {
		u := &r.used[i]
		if !slices.Contains(timeFields, u.field.name) {
			continue
		}
		for n := range r.table.rows {
			if cell, _ := u.cell(&r.table.rows[n]); cell != "" && !f(u, &r.table.rows[n], cell) {
				break
			}
		}
	}
}

// guess returns the only format that fits all dates of the file that are dates in any format, or "" if none or several do.
// A file without such dates has ISO 8601.
func (r *reader) guess() DateFormat {
	others := []DateFormat{DatesDots, DatesDayFirst, DatesMonthFirst}
	left, some, differ := slices.Clone(others), false, false
	r.eachDate(func(_ *use, _ *row, cell string) bool {
		p, ok := partsOf(cell)
		if !ok {
			return true
		}
		fitting := slices.DeleteFunc(slices.Clone(others), func(f DateFormat) bool { iso, _ := p.fits(f); return iso == "" })
		if len(fitting) == 0 {
			return true // an error in each format
		}
		some, differ = true, differ || p.first != p.second
		left = slices.DeleteFunc(left, func(f DateFormat) bool { return !slices.Contains(fitting, f) })
		return len(left) > 0
	})
	switch {
	case !some:
		return DatesISO
	case len(left) == 1, len(left) > 1 && !differ: // such as 05/05/2027, which both formats read alike
		return left[0]
	}
	return ""
}

// DateSample is a date of a file, and what it becomes.
type DateSample struct {
	Line                 int
	Field, Column, Value string
	Time                 int64 // Unix milliseconds; 0 if the date is refused
}

// samplesOfDates returns the first dates of each column that has some.
func (r *reader) samplesOfDates() []DateSample {
	list, count := []DateSample{}, map[string]int{}
	r.eachDate(func(u *use, from *row, cell string) bool {
		ms, wrong := r.dates.parseDate(cell)
		if wrong != "" {
			ms = 0
		}
		list = append(list, DateSample{from.line, u.field.name, r.table.columns[u.column], problem.Clip(cell), ms})
		count[u.field.name]++
		return count[u.field.name] < samples
	})
	return list
}
