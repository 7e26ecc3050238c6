package rule

import (
	"slices"
	"strconv"
	"strings"
)

// value parses and validates the value of a condition with a valid kind and operator.
func (p *parser) value(c *condition, v *value, at *path) {
	switch c.kind {
	case kindTime:
		p.timeValue(c, v, at)
	case kindDay:
		p.dayValue(c, v, at)
	case kindIP:
		p.addressValue(c, v, at)
	case kindQuery:
		p.paramValue(c, v, at)
	case kindDate:
		p.dateValue(c, v, at)
	case kindPercentage:
		p.shareValue(c, v, at)
	default:
		p.textValue(c, v, at)
	}
}

func (p *parser) textValue(c *condition, v *value, at *path) {
	switch {
	case v.shape == shapeText:
		c.texts = []string{p.text(c, v, at)}
	case v.shape != shapeList && c.op.list():
		p.report(at, "value must be a string or a list of strings")
	case v.shape == shapeList && !c.op.list():
		if c.kind == kindDevice || c.op == opEquals || c.op == opNotEquals {
			p.report(at, "operator '%s' takes one string; use 'in' or 'not_in' for a list", operatorNames[c.op])
		} else {
			p.report(at, "operator '%s' takes one string, not a list", operatorNames[c.op])
		}
	case v.shape != shapeList:
		p.report(at, "value must be a string")
	case p.listFits(v, at):
		c.texts = make([]string, len(v.items))
		for i := range v.items {
			one := &v.items[i]
			if one.shape != shapeText {
				p.report(at.item(i), "value must be a string")
				continue
			}
			c.texts[i] = p.text(c, one, at.item(i))
		}
	}
}

func (p *parser) listFits(v *value, at *path) bool {
	switch {
	case len(v.items) == 0:
		p.report(at, "value must list at least one entry")
	case len(v.items) > maxValues:
		p.report(at, "value must list at most %d entries", maxValues)
	default:
		return true
	}
	return false
}

// text validates one string and returns it without surrounding white space.
func (p *parser) text(c *condition, v *value, at *path) string {
	s := strings.TrimSpace(v.text)
	switch {
	case s == "":
		p.report(at, "value must not be empty")
	case len(s) > maxString:
		p.report(at, "value must be at most %d bytes long", maxString)
	case c.op != opEquals && c.op != opNotEquals && !c.op.list():
		// Operators that compare a part of a name accept values that are not valid names.
	case c.kind == kindDevice:
		if !strings.EqualFold(s, "MOBILE") && !strings.EqualFold(s, "DESKTOP") && !strings.EqualFold(s, "TABLET") {
			p.report(at, "value must be one of MOBILE, DESKTOP, TABLET")
		}
	case c.kind == kindCountry:
		if len(s) != 2 || !letter(s[0]) || !letter(s[1]) {
			p.report(at, "value must be a two-letter country code (ISO 3166-1), such as US")
		}
	case c.kind == kindContinent:
		if !slices.ContainsFunc(continents, func(code string) bool { return strings.EqualFold(s, code) }) {
			p.report(at, "value must be one of %s", strings.Join(continents, ", "))
		}
	case c.kind == kindVisitor:
		if !strings.EqualFold(s, NewVisitor) && !strings.EqualFold(s, ReturningVisitor) {
			p.report(at, "value must be %s or %s", NewVisitor, ReturningVisitor)
		}
	}
	return s
}

var continents = []string{"AF", "AN", "AS", "EU", "NA", "OC", "SA"}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// keyed is one key of an object value: its names and the destination of its value.
type keyed struct {
	name string
	to   **value
}

// object reads an object's values. An absent value, null and "" all read as nil.
func (p *parser) object(v *value, at *path, known ...keyed) {
	var names []string
	for _, k := range known {
		names = append(names, k.name)
	}
next:
	for i, key := range v.keys {
		for j := range known {
			if known[j].name != key {
				continue
			}
			if known[j].to == nil {
				p.report(at.child(key), "%s must not be given twice", key)
				continue next
			}
			if one := &v.items[i]; one.shape != shapeNull && (one.shape != shapeText || strings.TrimSpace(one.text) != "") {
				*known[j].to = one
			}
			known[j].to = nil
			continue next
		}
		p.report(at.child(clip(key)), "key '%s' is not known; use %s", clip(key), strings.Join(names, ", "))
	}
}

func (p *parser) timeValue(c *condition, v *value, at *path) {
	c.from, c.to = moments(p, c, v, at, "time", " as HH:MM", p.requiredClock)
}

// moments parses a value that is one moment, or an object with start, end and timezone. read parses a moment; it reports
// a missing one. last is the zero value unless the operator is between.
func moments[T any](p *parser, c *condition, v *value, at *path, noun, form string, read func(v *value, at *path, name string) T) (first,
	last T) {
	var start, end, zone *value
	switch {
	case v.shape == shapeObject:
		p.object(v, at, keyed{"start", &start}, keyed{"end", &end}, keyed{"timezone", &zone})
		c.zone = p.timeZone(zone, at.child("timezone"))
	case v.shape == shapeText && c.op != opBetween:
		return read(v, at, "value"), last
	case c.op == opBetween:
		p.report(at, "value must be {start, end} with %ss%s", noun, form)
		return first, last
	default:
		p.report(at, "value must be a %s%s, or {start} with one", noun, form)
		return first, last
	}

	if c.op == opBetween {
		return read(start, at.child("start"), "start"), read(end, at.child("end"), "end")
	}
	// "before 18:00" may be written as {end: "18:00"}, the end of an open range.
	if c.op == opBefore && start == nil && end != nil {
		return read(end, at.child("end"), "end"), last
	}
	first = read(start, at.child("start"), "start")
	if end != nil {
		p.report(at.child("end"), "operator '%s' takes one %s; leave out end, or use 'between'", operatorNames[c.op], noun)
	}
	return first, last
}

func (p *parser) requiredClock(v *value, at *path, name string) int {
	if v == nil {
		p.report(at, "%s is required: a time as HH:MM, such as 09:30", name)
		return 0
	}
	return p.clock(v, at, name)
}

// clock parses HH:MM into minutes of the day.
func (p *parser) clock(v *value, at *path, name string) int {
	s := strings.TrimSpace(v.text)
	if v.shape == shapeText && len(s) == 5 && s[2] == ':' {
		hour, minute := digits(s[:2]), digits(s[3:])
		if 0 <= hour && hour < 24 && 0 <= minute && minute < 60 {
			return hour*60 + minute
		}
	}
	p.report(at, "%s must be a time as HH:MM from 00:00 to 23:59, such as 09:30", name)
	return 0
}

// digits parses two decimal digits, or returns -1.
func digits(s string) int {
	a, b := s[0]-'0', s[1]-'0'
	if a > 9 || b > 9 {
		return -1
	}
	return int(a)*10 + int(b)
}

func (p *parser) timeZone(v *value, at *path) *zone {
	if v == nil {
		return nil
	}
	if v.shape == shapeText {
		if z, err := namedZone(strings.TrimSpace(v.text)); err == nil {
			return z
		}
	}
	p.report(at, "timezone must be the name of a time zone (IANA), such as Europe/Berlin")
	return nil
}

func (p *parser) dayValue(c *condition, v *value, at *path) {
	if v.shape == shapeObject {
		var days, zone *value
		p.object(v, at, keyed{"days", &days}, keyed{"timezone", &zone})
		c.zone = p.timeZone(zone, at.child("timezone"))
		at = at.child("days")
		if days == nil {
			p.report(at, "days is required: a list of days from 1 (Monday) to 7 (Sunday)")
			return
		}
		v = days
	}
	switch {
	case v.shape == shapeNumber || v.shape == shapeText:
		c.days = p.day(v, at)
	case v.shape != shapeList:
		p.report(at, "value must be a day from 1 (Monday) to 7 (Sunday), or a list of them")
	case !c.op.list() && len(v.items) > 1:
		p.report(at, "operator '%s' takes one day; use 'in' or 'not_in' for a list", operatorNames[c.op])
	case p.listFits(v, at):
		for i := range v.items {
			c.days |= p.day(&v.items[i], at.item(i))
		}
	}
}

// day parses a day of the week into its bit: 1 Monday to 7 Sunday; 0 also means Sunday.
func (p *parser) day(v *value, at *path) uint8 {
	if v.shape == shapeNumber || v.shape == shapeText {
		n, err := strconv.ParseUint(strings.TrimSpace(v.text), 10, 8)
		if err == nil && n <= 7 {
			if n == 0 {
				n = 7
			}
			return 1 << n
		}
	}
	p.report(at, "value must be a day from 1 (Monday) to 7 (Sunday)")
	return 0
}
