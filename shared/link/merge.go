package link

import "strings"

// The campaign parameters, in the order in which they are added to a destination.
var utmNames = [...]string{
	"utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "utm_id", "utm_source_platform",
}

// field returns the parameter that utmNames has at i.
func (u *UTM) field(i int) *string {
	switch i {
	case 0:
		return &u.Source
	case 1:
		return &u.Medium
	case 2:
		return &u.Campaign
	case 3:
		return &u.Term
	case 4:
		return &u.Content
	case 5:
		return &u.ID
	default:
		return &u.SourcePlatform
	}
}

// Or returns u with what it leaves unset taken from other: VisitorUTM(…).Or(presets) is what is in force on a click.
func (u UTM) Or(other UTM) UTM {
	for i := range utmNames {
		if f := u.field(i); *f == "" {
			*f = *other.field(i)
		}
	}
	return u
}

// AppendLocation appends to dst the address a visitor is sent to: the destination with the link's presets set on it,
// and with the parameters of the visitor's own query (raw, without "?").
//
//   - A campaign parameter (utm_source, …) that the visitor brings with a value replaces the preset and what the
//     destination has; the first one counts. Else a preset that is set replaces what the destination has. The new value
//     stands where the old one stood, or at the end, in the order of UTM's fields.
//   - Every other parameter of the visitor is added in its order, unless the destination has that name by then. So is a
//     campaign parameter without a value. Names are compared decoded and by case.
//   - The fragment stays at the end. A destination to which none of this adds anything is appended byte for byte.
//
// To bound what a hostile visitor can cost, at most 32,768 pairs of names are compared; parameters of the visitor that
// are left then are not passed on. Where a destination has 100 of its own, that is after 327 of the visitor's.
//
// The visitor's values are passed on as they are encoded. Whatever the inputs hold, what is appended is visible ASCII
// without spaces: other bytes are percent-encoded. It allocates only to grow dst, and keeps no reference to anything.
func AppendLocation(dst []byte, destination string, presets UTM, visitorQuery []byte) []byte {
	if len(visitorQuery) == 0 && presets.IsZero() {
		return appendClean(dst, destination, keep)
	}
	m := merger{dst: dst}
	m.choose(presets, visitorQuery)

	rest, fragment := destination, ""
	if i := strings.IndexByte(rest, '#'); i >= 0 {
		rest, fragment = rest[:i], rest[i:]
	}
	base, own, hasQuery := strings.Cut(rest, "?")
	m.dst = appendClean(m.dst, base, keep)
	if hasQuery {
		m.dst = append(m.dst, '?')
		m.query = len(m.dst)
		m.own(own)
	}
	for i := range utmNames {
		if m.replaced&(1<<i) != 0 {
			m.begin()
			m.set(i)
		}
	}
	for q := visitorQuery; len(q) > 0; {
		var segment []byte
		segment, q = cutSegment(q)
		if len(segment) > 0 && !m.known(nameOf(segment), own) {
			m.begin()
			m.dst = appendClean(m.dst, segment, inQuery)
		}
	}
	return appendClean(m.dst, fragment, keep)
}

// maxCompared is how many pairs of names one merge compares.
const maxCompared = 1 << 15

// merger is the state of one AppendLocation.
type merger struct {
	dst     []byte
	query   int // where in dst the query begins, 0 as long as there is no "?"
	presets UTM
	visitor [len(utmNames)][]byte // encoded values

	compared int // pairs of names so far

	chosen   uint8 // bits of utmNames: the parameter has a new value
	replaced uint8 // of those, the ones still to be written
}

// choose finds the new values of the campaign parameters.
func (m *merger) choose(presets UTM, visitorQuery []byte) {
	m.presets = presets
	for i := range utmNames {
		if *m.presets.field(i) != "" {
			m.chosen |= 1 << i
		}
	}
	for q := visitorQuery; len(q) > 0; {
		var segment []byte
		segment, q = cutSegment(q)
		name := nameOf(segment)
		if i := utmIndex(name); i >= 0 && len(segment) > len(name)+1 && m.visitor[i] == nil {
			m.visitor[i] = segment[len(name)+1:]
			m.chosen |= 1 << i
		}
	}
	m.replaced = m.chosen
}

// own writes the destination's own query, with new values in place of old ones.
func (m *merger) own(query string) {
	if m.chosen == 0 {
		m.dst = appendClean(m.dst, query, keep)
		return
	}
	for first := true; ; first = false {
		segment, rest := query, ""
		i := strings.IndexByte(query, '&')
		if i >= 0 {
			segment, rest = query[:i], query[i+1:]
		}
		at := utmIndex(nameOf(segment))
		switch {
		case at >= 0 && m.chosen&(1<<at) != 0 && m.replaced&(1<<at) == 0:
			// A second one of a parameter that has got its new value: never the first of the query.
		default:
			if !first {
				m.dst = append(m.dst, '&')
			}
			if at >= 0 && m.chosen&(1<<at) != 0 {
				m.set(at)
			} else {
				m.dst = appendClean(m.dst, segment, keep)
			}
		}
		if i < 0 {
			return
		}
		query = rest
	}
}

// begin writes what must stand before one more parameter.
func (m *merger) begin() {
	switch {
	case m.query == 0:
		m.dst = append(m.dst, '?')
		m.query = len(m.dst)
	case len(m.dst) > m.query && m.dst[len(m.dst)-1] != '&':
		m.dst = append(m.dst, '&')
	}
}

// set writes a campaign parameter with its new value.
func (m *merger) set(i int) {
	m.replaced &^= 1 << i
	m.dst = append(m.dst, utmNames[i]...)
	m.dst = append(m.dst, '=')
	if v := m.visitor[i]; v != nil {
		m.dst = appendClean(m.dst, v, inQuery)
		return
	}
	m.dst = appendClean(m.dst, *m.presets.field(i), inValue)
}

// known reports whether the destination, by now, has a parameter of that name, or that enough has been compared.
func (m *merger) known(name []byte, own string) bool {
	if i := utmIndex(name); i >= 0 && m.chosen&(1<<i) != 0 {
		return true
	}
	for own != "" {
		if m.compared++; m.compared > maxCompared {
			return true
		}
		segment := own
		if i := strings.IndexByte(own, '&'); i >= 0 {
			segment, own = own[:i], own[i+1:]
		} else {
			own = ""
		}
		if segment != "" && sameName(nameOf(segment), name) {
			return true
		}
	}
	return false
}
