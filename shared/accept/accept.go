// Package accept parses the header fields with which clients say what they prefer: Accept, Accept-Encoding and
// Accept-Language (RFC 9110, 12.5). Nothing is allocated, because edges parse them for each visit.
package accept

import (
	"iter"
	"strings"
)

// Full is the weight of an element without one.
const Full = 1000

// Parameters are the parameters of an element, such as level=1;q=0.5.
type Parameters string

// Elements yields the elements of a header and their parameters. Both alias the header. Empty elements are omitted.
func Elements(header string) iter.Seq2[string, Parameters] {
	return func(yield func(string, Parameters) bool) {
		for rest, more := header, true; more; {
			var element string
			element, rest, more = strings.Cut(rest, ",")
			element, parameters, _ := strings.Cut(element, ";")
			if element = trim(element); element != "" && !yield(element, Parameters(parameters)) {
				return
			}
		}
	}
}

// Encoding reports whether a header accepts a coding by its name.
func Encoding(header, coding string) bool {
	for element, parameters := range Elements(header) {
		if strings.EqualFold(element, coding) {
			return parameters.Weight() > 0
		}
	}
	return false
}

// Weight returns the parameter q in thousandths; 0 refuses the element. A malformed weight counts as 0. The parameter can
// stand anywhere among the others (RFC 9110, 12.5.1).
func (p Parameters) Weight() int {
	for rest := string(p); rest != ""; {
		var one string
		one, rest, _ = strings.Cut(rest, ";")
		if one = trim(one); len(one) > 1 && one[0]|0x20 == 'q' && one[1] == '=' {
			return qvalue(one[2:])
		}
	}
	return Full
}

// qvalue parses a number from 0 to 1 with at most three decimals (RFC 9110, 12.4.2). It returns 0 for anything else.
func qvalue(s string) int {
	if s == "" || len(s) > 5 || s[0] != '0' && s[0] != '1' || len(s) > 1 && s[1] != '.' {
		return 0
	}
	v, unit := int(s[0]-'0')*Full, Full/10
	for i := 2; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return 0
		}
		v += int(s[i]-'0') * unit
		unit /= 10
	}
	if v > Full {
		return 0
	}
	return v
}

// trim removes optional white space, faster than strings.Trim.
func trim(s string) string {
	for s != "" && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	for s != "" && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') {
		s = s[:len(s)-1]
	}
	return s
}
