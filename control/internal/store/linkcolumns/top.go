package linkcolumns

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
)

// item is one link of an order. A lower key comes first; links with equal keys are compared further.
type item struct {
	key uint64
	num uint32
}

// top keeps the first links of an order. It takes time in proportion to the links that are added, also if each of them
// comes before all others.
type top struct {
	t        *Table
	sort     Sort
	text, up bool
	need     int // how many links to keep

	items []item
	full  bool // need links are known; limit is the last of them
	limit item
}

// spare is the least number of links to collect before those beyond need are dropped.
const spare = 1024

// addPlaces adds the links at places of page n.
func (b *top) addPlaces(p *page, n int, places []uint16) {
	for _, i := range places {
		it := item{b.key(p, int(i)), uint32(n<<pageBits) + uint32(i)}
		if b.full && (it.key > b.limit.key || it.key == b.limit.key && b.compare(it, b.limit) > 0) {
			continue
		}
		b.items = append(b.items, it)
		if len(b.items) >= 2*b.need+spare {
			b.drop()
		}
	}
}

// drop keeps the first need links, in any order.
func (b *top) drop() {
	if b.need == 0 || len(b.items) <= b.need {
		return
	}
	b.choose(b.items, b.need-1)
	b.items = b.items[:b.need]
	b.full, b.limit = true, b.items[b.need-1]
}

// pageItems returns the links from offset on, in order.
func (b *top) pageItems(offset int) []item {
	b.drop()
	if offset >= len(b.items) {
		return nil
	}
	if offset > 0 {
		b.choose(b.items, offset)
	}
	rest := b.items[offset:]
	slices.SortFunc(rest, b.compare)
	return rest
}

// choose moves the link that belongs to place k there. Those before it in the list then come before it in the order.
func (b *top) choose(list []item, k int) {
	lo, hi := 0, len(list)-1
	for lo < hi {
		mid := lo + (hi-lo)/2
		// The median of three as pivot: lists are often sorted.
		if b.compare(list[mid], list[lo]) < 0 {
			list[mid], list[lo] = list[lo], list[mid]
		}
		if b.compare(list[hi], list[lo]) < 0 {
			list[hi], list[lo] = list[lo], list[hi]
		}
		if b.compare(list[hi], list[mid]) < 0 {
			list[hi], list[mid] = list[mid], list[hi]
		}
		pivot := list[mid]
		i, j := lo, hi
		for i <= j {
			for b.compare(list[i], pivot) < 0 {
				i++
			}
			for b.compare(pivot, list[j]) < 0 {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return
		}
	}
}

// key returns the part of a link's key that fits into a number.
func (b *top) key(p *page, i int) (key uint64) {
	const sign = 1 << 63 // moves negative numbers before the others
	switch b.sort {
	case ByCreated:
		key = uint64(p.created[i]) ^ sign
	case ByUpdated:
		key = uint64(p.updated[i]) ^ sign
	case ByClicks:
		key = uint64(p.clicks[i]) ^ sign
	case ByExpiry:
		if key = uint64(p.expires[i]) ^ sign; p.expires[i] == 0 {
			key = math.MaxUint64
		}
	default:
		text := b.textOf(p, i)
		if key = math.MaxUint64; len(text) > 0 { // no text in UTF-8 begins with bytes of ones
			var first [8]byte
			copy(first[:], text)
			key = binary.BigEndian.Uint64(first[:])
		}
	}
	if !b.up {
		key = ^key
	}
	return key
}

func (b *top) textOf(p *page, i int) []byte {
	title, slug, _ := b.t.texts(p, i)
	if b.sort == BySlug {
		return slug
	}
	return title
}

// compare orders links.
func (b *top) compare(x, y item) int {
	if x.key != y.key {
		if x.key < y.key {
			return -1
		}
		return 1
	}
	c := 0
	if b.text && x.num != y.num {
		p, i := b.t.at(uint64(x.num))
		o, j := b.t.at(uint64(y.num))
		c = bytes.Compare(b.textOf(p, i), b.textOf(o, j))
	}
	if c == 0 {
		c = int(int64(x.num) - int64(y.num))
	}
	if !b.up {
		c = -c
	}
	return c
}
