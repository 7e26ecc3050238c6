package linkcolumns

import (
	"bytes"
	"math"
	"slices"
)

// State is a state of a link. Links count to exactly one state, the first one that applies, in the order Suspended,
// Expired, Exhausted, Inactive, Scheduled, Active.
type State uint8

// States of links.
const (
	AnyState State = iota
	Active
	Inactive
	Expired
	Scheduled
	Exhausted
	Suspended
)

// Sort is an order of links.
type Sort uint8

// Orders. Links with equal keys are in the order of their numbers. Links without a title or an expiry come last in
// ascending order and first in descending order. Texts compare by bytes.
const (
	ByCreated Sort = iota
	ByUpdated
	ByClicks
	ByExpiry
	ByTitle
	BySlug
)

// Query selects and orders links. A zero field selects everything.
type Query struct {
	Workspace         uint64
	Sets              [][]uint32 // a link is in at least one set of each list; each list is sorted
	Creator, Campaign string
	Domains           []uint32 // a link is on one of them; 0: the default domain
	Search            string   // part of the text
	State             State    // at the time Now, in Unix milliseconds
	Now               int64
	Sort              Sort
	Ascending         bool
	Offset, Limit     int
}

// List returns the numbers of a page of links in order, and how many links the query selects.
func (t *Table) List(q *Query) (nums []uint64, total int) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	m, ok := t.matcher(q)
	if !ok {
		return nil, 0
	}
	best := top{t: t, sort: q.Sort, text: q.Sort == ByTitle || q.Sort == BySlug, up: q.Ascending, need: q.Offset + q.Limit}
	var places [pageSize]uint16
	// Many orders follow the numbers roughly. So the first links of the order come early, and most others are dropped at once.
	for n := range t.pages {
		if !q.Ascending {
			n = len(t.pages) - 1 - n
		}
		p := t.pages[n]
		if p == nil {
			continue
		}
		found := m.matches(p, &places)
		total += len(found)
		if !q.Ascending {
			slices.Reverse(found)
		}
		best.addPlaces(p, n, found)
	}
	for _, it := range best.pageItems(q.Offset) {
		nums = append(nums, uint64(it.num))
	}
	return nums, total
}

// matcher checks the conditions of a query.
type matcher struct {
	t                 *Table
	workspace         uint32 // 0: any, like the following ones
	creator, campaign uint32
	state             State
	now               int64
	sets              [][]uint32
	domains           []uint32
	search            []byte
	rare              int // place of the rarest byte of search
}

// matcher returns ok false if no link can match.
func (t *Table) matcher(q *Query) (m matcher, ok bool) {
	m = matcher{t: t, state: q.State, now: q.Now, sets: q.Sets, domains: q.Domains, search: []byte(q.Search)}
	if q.Workspace > math.MaxUint32 {
		return m, false
	}
	m.workspace = uint32(q.Workspace)
	if m.creator, ok = t.names[q.Creator]; !ok {
		return m, false
	}
	m.rare = t.rarest(m.search)
	m.campaign, ok = t.names[q.Campaign]
	return m, ok
}

// matches returns the places of the links in a page that match, in ascending order. It checks one condition after the
// other, the cheapest first, each on the links that are left. The result is in the memory of places.
func (m *matcher) matches(p *page, places *[pageSize]uint16) []uint16 {
	n := 0
	for i, w := range p.workspace {
		places[n] = uint16(i)
		if w != 0 && (m.workspace == 0 || w == m.workspace) {
			n++
		}
	}
	left := m.onDomain(p, places[:n])
	if m.creator != 0 {
		left = equal(left, &p.creator, m.creator)
	}
	if m.campaign != 0 {
		left = equal(left, &p.campaign, m.campaign)
	}
	if m.state != AnyState {
		left = keep(left, func(i uint16) bool { return stateOf(p, int(i), m.now) == m.state })
	}
	for _, any := range m.sets {
		if len(any) == 1 {
			left = keep(left, func(i uint16) bool { return slices.Contains(m.t.setsOf(p, int(i)), any[0]) })
		} else {
			left = keep(left, func(i uint16) bool { return intersect(m.t.setsOf(p, int(i)), any) })
		}
	}
	if len(m.search) > 0 {
		left = m.searchTexts(p, left)
	}
	return left
}

// onDomain returns the places of links on one of the domains.
func (m *matcher) onDomain(p *page, places []uint16) []uint16 {
	switch {
	case len(m.domains) == 0:
		return places
	case p.domain != nil:
		return keep(places, func(i uint16) bool { return slices.Contains(m.domains, p.domain[i%pageSize]) })
	case slices.Contains(m.domains, 0):
		return places
	}
	return places[:0]
}

func equal(places []uint16, column *[pageSize]uint32, value uint32) []uint16 {
	return keep(places, func(i uint16) bool { return column[i%pageSize] == value })
}

// keep returns the places for which f is true, in the same memory.
func keep(places []uint16, f func(uint16) bool) []uint16 {
	n := 0
	for _, i := range places {
		if f(i) {
			places[n] = i
			n++
		}
	}
	return places[:n]
}

// searchTexts returns the places of links whose texts contain the search. Most links follow each other in a block, so one search
// in the block often passes many links. If few links are left, only their texts are searched.
func (m *matcher) searchTexts(p *page, places []uint16) []uint16 {
	sparse := len(places) < pageSize/4
	block, begin, next := -1, 0, 0 // in this block, the first place of the search from begin on is next
	return keep(places, func(i uint16) bool {
		in, from, to := m.t.textPlace(p, int(i))
		b := m.t.blocks[in]
		if sparse {
			return m.index(b[from:to]) >= 0
		}
		if in != block || from < begin || from > next {
			block, begin, next = in, from, len(b)
			if at := m.index(b[from:]); at >= 0 {
				next = from + at
			}
		}
		return next+len(m.search) <= to
	})
}

// index returns the first place of the search in a text, or -1. It looks for the byte of the search that is rarest in the
// texts: bytes.Index looks for the first byte, which is slow if that byte is frequent.
func (m *matcher) index(text []byte) int {
	for at := 0; at+len(m.search) <= len(text); at++ {
		i := bytes.IndexByte(text[at+m.rare:len(text)-len(m.search)+m.rare+1], m.search[m.rare])
		if i < 0 {
			return -1
		}
		if at += i; string(text[at:at+len(m.search)]) == string(m.search) {
			return at
		}
	}
	return -1
}

// rarest returns the place of the byte in a search that is rarest in a sample of the texts.
func (t *Table) rarest(search []byte) (place int) {
	var counts [256]int
	if len(t.blocks) > 0 {
		b := t.blocks[len(t.blocks)/2]
		for _, c := range b[:min(len(b), 32<<10)] {
			counts[c]++
		}
	}
	for i, c := range search {
		if counts[c] < counts[search[place]] {
			place = i
		}
	}
	return place
}

func stateOf(p *page, i int, now int64) State {
	switch s := p.state[i]; {
	case s&suspended != 0:
		return Suspended
	case p.expires[i] != 0 && p.expires[i] <= now:
		return Expired
	case s&exhausted != 0:
		return Exhausted
	case s&active == 0:
		return Inactive
	case p.starts[i] > now:
		return Scheduled
	}
	return Active
}

// intersect reports whether two lists share a value. b is sorted.
func intersect(a, b []uint32) bool {
	for _, v := range a {
		if _, ok := slices.BinarySearch(b, v); ok {
			return true
		}
	}
	return false
}
