// Package linkcolumns keeps what lists of links filter and sort by, one column after the other, in memory. A list of a
// million links reads a few columns from beginning to end, in milliseconds, whatever its filters and its order are.
//
// The package knows no database. Its caller applies all changes of links.
package linkcolumns

import (
	"encoding/binary"
	"errors"
	"math"
	"sync"
)

// Row is one link.
type Row struct {
	Num                          uint64 // dense, never reused
	Workspace                    uint64 // not 0, below 2^32
	Domain                       uint64 // below 2^32; 0: the default domain
	CreatedAt, UpdatedAt, Clicks int64
	ExpiresAt, StartsAt          int64 // 0: none
	Active, Exhausted, Suspended bool
	Creator, Campaign            string // "" for no campaign
	Title                        string // "" for none
	Slug                         string
	Text                         string   // what searches look into, in lower case
	Sets                         []uint32 // sets that contain the link, such as tags
}

// Links are numbered without large gaps, so that a link's place follows from its number. A page without links takes no
// memory.
const (
	pageBits = 12
	pageSize = 1 << pageBits
)

// page has the columns of pageSize consecutive numbers.
type page struct {
	workspace         [pageSize]uint32 // 0: there is no such link
	state             [pageSize]uint8
	creator, campaign [pageSize]uint32 // numbers of names
	created, updated  [pageSize]int64
	clicks            [pageSize]int64
	expires, starts   [pageSize]int64
	sets              [pageSize]uint32 // where the sets begin in Table.sets
	text              [pageSize]uint32 // where the texts begin in Table.blocks, in units of textUnit

	domain *[pageSize]uint32 // nil if all links were always on the default domain, as most are
}

// Bits of page.state.
const (
	active = 1 << iota
	exhausted
	suspended
)

// Texts of a link are stored together: their lengths, then title, slug and text. A block holds whole links.
const (
	blockBits  = 20
	blockSize  = 1 << blockBits
	textUnit   = 8
	textHeader = 8 // 2 bytes for the length of the title, 2 for the slug, 4 for the text
)

// Table has the columns of links. It is safe for concurrent use.
type Table struct {
	mu     sync.RWMutex
	pages  []*page // by number / pageSize; nil: no links
	links  int
	names  map[string]uint32 // creators and campaigns; 0 is ""
	sets   []uint32          // for each link with sets: their number, then the sets; 0 is the place of no sets
	blocks [][]byte

	wasted int64 // bytes of sets and texts that no link uses any more
}

// New returns an empty table.
func New() *Table { return &Table{names: map[string]uint32{"": 0}, sets: []uint32{0}} }

// Len returns the number of links.
func (t *Table) Len() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.links
}

// Wasteful reports whether changes have left more unused memory than a new table would take.
func (t *Table) Wasteful() bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.wasted > 64<<20 && t.wasted > 150*int64(t.links)
}

// errSize says that a table cannot hold a link.
var errSize = errors.New("a number or a text of a link is too large")

// fits reports whether a table can hold a link. The API's limits are far below.
func (r *Row) fits() bool {
	const most = math.MaxUint16
	return r.Num <= math.MaxUint32 && r.Workspace <= math.MaxUint32 && r.Domain <= math.MaxUint32 && len(r.Title) <= most &&
		len(r.Slug) <= most && len(r.Text) <= blockSize/2 && len(r.Sets) <= most
}

// Apply removes the links with the numbers gone, and adds or replaces rows. After an error, the table must not be used.
func (t *Table) Apply(rows []Row, gone []uint64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, num := range gone {
		if p, i := t.at(num); p != nil && p.workspace[i] != 0 {
			t.waste(p, i)
			p.workspace[i] = 0
			t.links--
		}
	}
	for i := range rows {
		if !rows[i].fits() {
			return errSize
		}
		t.put(&rows[i])
	}
	return nil
}

// at returns the place of a number; nil if there are no links near it.
func (t *Table) at(num uint64) (*page, int) {
	if n := num >> pageBits; n < uint64(len(t.pages)) {
		return t.pages[n], int(num % pageSize)
	}
	return nil, 0
}

func (t *Table) put(r *Row) {
	n := int(r.Num >> pageBits)
	for len(t.pages) <= n {
		t.pages = append(t.pages, nil)
	}
	if t.pages[n] == nil {
		t.pages[n] = new(page)
	}
	p, i := t.pages[n], int(r.Num%pageSize)
	was := p.workspace[i] != 0
	if !was {
		t.links++
	}
	p.workspace[i] = uint32(r.Workspace)
	if p.domain == nil && r.Domain != 0 {
		p.domain = new([pageSize]uint32)
	}
	if p.domain != nil {
		p.domain[i] = uint32(r.Domain)
	}
	p.state[i] = 0
	for _, s := range []struct {
		is  bool
		bit uint8
	}{{r.Active, active}, {r.Exhausted, exhausted}, {r.Suspended, suspended}} {
		if s.is {
			p.state[i] |= s.bit
		}
	}
	p.creator[i], p.campaign[i] = t.name(r.Creator), t.name(r.Campaign)
	p.created[i], p.updated[i], p.clicks[i] = r.CreatedAt, r.UpdatedAt, r.Clicks
	p.expires[i], p.starts[i] = r.ExpiresAt, r.StartsAt
	if !was || !t.same(p, i, r) {
		if was {
			t.waste(p, i)
		}
		p.sets[i], p.text[i] = t.keepSets(r.Sets), t.keepTexts(r)
	}
}

// name returns the number of a creator or campaign.
func (t *Table) name(s string) uint32 {
	n, ok := t.names[s]
	if !ok {
		n = uint32(len(t.names))
		t.names[s] = n
	}
	return n
}

func (t *Table) keepSets(sets []uint32) uint32 {
	if len(sets) == 0 {
		return 0
	}
	at := len(t.sets)
	t.sets = append(append(t.sets, uint32(len(sets))), sets...)
	return uint32(at)
}

func (t *Table) keepTexts(r *Row) uint32 {
	size := textHeader + len(r.Title) + len(r.Slug) + len(r.Text)
	size += -size & (textUnit - 1)
	last := len(t.blocks) - 1
	if last < 0 || cap(t.blocks[last])-len(t.blocks[last]) < size {
		t.blocks = append(t.blocks, make([]byte, 0, blockSize))
		last++
	}
	b := t.blocks[last]
	at := last<<blockBits + len(b)
	end := len(b) + size
	b = binary.LittleEndian.AppendUint16(b, uint16(len(r.Title)))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(r.Slug)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(r.Text)))
	b = append(append(append(b, r.Title...), r.Slug...), r.Text...)
	t.blocks[last] = b[:end]
	return uint32(at / textUnit)
}

// setsOf returns the sets of a link.
func (t *Table) setsOf(p *page, i int) []uint32 {
	at := p.sets[i]
	return t.sets[at+1 : at+1+t.sets[at]]
}

// texts returns the title, slug and text of a link.
func (t *Table) texts(p *page, i int) (title, slug, text []byte) {
	at := uint64(p.text[i]) * textUnit
	b := t.blocks[at>>blockBits][at%blockSize:]
	n, m, l := int(binary.LittleEndian.Uint16(b)), int(binary.LittleEndian.Uint16(b[2:])), int(binary.LittleEndian.Uint32(b[4:]))
	b = b[textHeader:]
	return b[:n], b[n : n+m], b[n+m : n+m+l]
}

// textPlace returns the block of a link's text, and where the text begins and ends there.
func (t *Table) textPlace(p *page, i int) (block, from, to int) {
	at := uint64(p.text[i]) * textUnit
	block, from = int(at>>blockBits), int(at%blockSize)
	b := t.blocks[block][from:]
	from += textHeader + int(binary.LittleEndian.Uint16(b)) + int(binary.LittleEndian.Uint16(b[2:]))
	return block, from, from + int(binary.LittleEndian.Uint32(b[4:]))
}

// same reports whether a link has the sets and texts of a row already. Most changes are other ones, such as new clicks.
func (t *Table) same(p *page, i int, r *Row) bool {
	sets := t.setsOf(p, i)
	if len(sets) != len(r.Sets) {
		return false
	}
	for j, s := range sets {
		if r.Sets[j] != s {
			return false
		}
	}
	title, slug, text := t.texts(p, i)
	return string(title) == r.Title && string(slug) == r.Slug && string(text) == r.Text
}

func (t *Table) waste(p *page, i int) {
	title, slug, text := t.texts(p, i)
	t.wasted += int64(textHeader + len(title) + len(slug) + len(text) + 4*len(t.setsOf(p, i)))
}
