package link

import "strings"

// Names of the campaign parameters, in the order in which AppendLocation adds them to a destination.
var utmNames = [...]string{
	"utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "utm_id", "utm_source_platform",
}

// field returns the parameter with the name utmNames[i].
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

// Or returns u with unset parameters taken from other. VisitorUTM(…).Or(presets) are the parameters of a click.
func (u UTM) Or(other UTM) UTM {
	for i := range utmNames {
		if f := u.field(i); *f == "" {
			*f = *other.field(i)
		}
	}
	return u
}

// AppendLocation appends the address of a redirect to dst: the destination with the link's campaign presets and with
// the parameters of the visitor's query (raw, without "?").
//
//   - A campaign parameter (utm_source, …) with a value in the visitor's query replaces the preset and the
//     destination's own value; the first occurrence counts. Otherwise a preset replaces the destination's own value. The
//     new value takes the position of the old one, or is appended in the order of UTM's fields.
//   - Every other parameter of the visitor is appended in order, unless the query already has that name. So is a
//     campaign parameter without a value. Names are compared after decoding, case-sensitively.
//   - A destination without "//" behind its scheme, such as a phone number, gets no parameter.
//   - The fragment stays at the end. If nothing is added, the destination is appended byte for byte.
//
// To bound the cost of a hostile query, at most 32,768 pairs of names are compared; the visitor's remaining parameters
// are dropped. With 100 parameters in the destination, that happens after 327 of the visitor's.
//
// The visitor's values keep their encoding. For any input, the appended bytes are visible ASCII without spaces; other
// bytes are percent-encoded. AppendLocation allocates only to grow dst, and keeps no reference to its arguments.
func AppendLocation(dst []byte, destination string, presets UTM, visitorQuery []byte) []byte {
	return AppendTracked(dst, destination, presets, visitorQuery, "", nil)
}

// AppendTracked is AppendLocation with one more parameter, the id of the click. The destination's own parameter of that name
// is replaced, and the visitor's is left out, so that the address has it once. An empty name adds nothing. Both texts
// must consist of letters, digits, hyphens and underscores, and the name must not be that of a campaign parameter.
func AppendTracked(dst []byte, destination string, presets UTM, visitorQuery []byte, name string, id []byte) []byte {
	alone := len(visitorQuery) == 0 && presets.IsZero()
	if alone && name == "" || !takesParameters(destination) {
		return appendClean(dst, destination, keep)
	}
	rest, fragment := destination, ""
	if i := strings.IndexByte(rest, '#'); i >= 0 {
		rest, fragment = rest[:i], rest[i:]
	}
	base, own, hasQuery := strings.Cut(rest, "?")
	if alone && !names(own, name) { // the most frequent case
		dst = appendClean(dst, rest, keep)
		switch {
		case !hasQuery:
			dst = append(dst, '?')
		case own != "" && own[len(own)-1] != '&':
			dst = append(dst, '&')
		}
		dst = append(append(append(dst, name...), '='), id...)
		return appendClean(dst, fragment, keep)
	}
	m := merger{dst: dst, name: name, id: id}
	m.choose(presets, visitorQuery)
	m.dst = appendClean(m.dst, base, keep)
	if hasQuery {
		m.dst = append(m.dst, '?')
		m.query = len(m.dst)
		m.own(own)
	}
	for i := range utmNames {
		if m.replaced&(1<<i) != 0 {
			m.beginParam()
			m.set(i)
		}
	}
	if m.name != "" && !m.identified {
		m.beginParam()
		m.identify()
	}
	for q := visitorQuery; len(q) > 0; {
		var segment []byte
		segment, q = cutSegment(q)
		if len(segment) > 0 && !m.known(nameOf(segment), own) {
			m.beginParam()
			m.dst = appendClean(m.dst, segment, inQuery)
		}
	}
	return appendClean(m.dst, fragment, keep)
}

// maxCompared is the maximum number of pairs of names that one merge compares.
const maxCompared = 1 << 15

// merger is the state of one AppendLocation call.
type merger struct {
	dst     []byte
	query   int // index in dst where the query begins; 0: no "?" yet
	presets UTM
	visitor [len(utmNames)][]byte // percent-encoded

	name       string // of the parameter with the click id; "": there is none
	id         []byte
	identified bool // the id is written

	compared int // pairs of names compared so far

	chosen   uint8 // bit i: utmNames[i] has a new value
	replaced uint8 // bit i: that value is still to be written
}

// choose collects the new values of the campaign parameters.
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

// own writes the destination's own query with new values in place of old ones.
func (m *merger) own(query string) {
	if m.chosen == 0 && !names(query, m.name) {
		m.dst = appendClean(m.dst, query, keep)
		return
	}
	for first := true; ; first = false {
		segment, rest := query, ""
		i := strings.IndexByte(query, '&')
		if i >= 0 {
			segment, rest = query[:i], query[i+1:]
		}
		at, isID := utmIndex(nameOf(segment)), m.isID(segment)
		switch {
		case isID && m.identified: // repeated
		case at >= 0 && m.chosen&(1<<at) != 0 && m.replaced&(1<<at) == 0:
			// A repeated parameter whose new value is already written. It is never the first of the query.
		default:
			if !first {
				m.dst = append(m.dst, '&')
			}
			if isID {
				m.identify()
			} else if at >= 0 && m.chosen&(1<<at) != 0 {
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

// isID reports whether a parameter has the name of the click id.
func (m *merger) isID(segment string) bool {
	return m.name != "" && sameName(nameOf(segment), m.name)
}

// names reports whether a query has a parameter with a name; no parameter has the name "".
func names(query, name string) bool {
	for query != "" && name != "" {
		segment := query
		if i := strings.IndexByte(query, '&'); i >= 0 {
			segment, query = query[:i], query[i+1:]
		} else {
			query = ""
		}
		if sameName(nameOf(segment), name) {
			return true
		}
	}
	return false
}

// identify writes the parameter with the click id.
func (m *merger) identify() {
	m.identified = true
	m.dst = append(append(append(m.dst, m.name...), '='), m.id...)
}

// beginParam writes the separator before another parameter.
func (m *merger) beginParam() {
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

// known reports whether the query already has a parameter of that name, or the limit of comparisons is reached.
func (m *merger) known(name []byte, own string) bool {
	if m.name != "" && sameName(name, m.name) {
		return true
	}
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
