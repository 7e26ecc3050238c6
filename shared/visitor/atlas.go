package visitor

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/oschwald/maxminddb-golang/v2"
)

// atlas is databases turned into ranges of addresses. It is immutable, and has no pointers but to a few large
// blocks, so that the garbage collector does not see its size. Looking up is a binary search among the ranges of
// one sixteenth bit of the address: a few dozen nanoseconds, against hundreds for walking the file's tree and
// decoding the record.
type atlas struct {
	version string
	sheets  []sheet
	places  []placeText // [0] is nowhere
	names   string      // all names, one after the other
}

// sheet is one database.
type sheet struct {
	v4 ranges[uint32]
	v6 ranges[uint64] // of the upper halves of addresses: networks smaller than /64 share the first one's place
}

// placeText is where in atlas.names the texts of a Place are.
type placeText struct {
	at   [4]uint32
	size [4]uint8
}

func (a *atlas) lookup(addr netip.Addr) Place {
	if !addr.IsValid() {
		return Place{}
	}
	addr = addr.Unmap()
	for i := range a.sheets {
		place := uint32(0)
		if addr.Is4() {
			b := addr.As4()
			place = a.sheets[i].v4.find(binary.BigEndian.Uint32(b[:]))
		} else {
			b := addr.As16()
			place = a.sheets[i].v6.find(binary.BigEndian.Uint64(b[:8]))
		}
		if place != 0 {
			p := &a.places[place]
			return Place{Country: a.text(p, 0), RegionCode: a.text(p, 1), RegionName: a.text(p, 2), City: a.text(p, 3)}
		}
	}
	return Place{}
}

func (a *atlas) text(p *placeText, i int) string {
	return a.names[p.at[i]:][:p.size[i]]
}

// ranges maps the numbers from one start to before the next one to a place. Numbers before the first start have
// place 0.
type ranges[K uint32 | uint64] struct {
	starts []K
	places []uint32
	index  []uint32 // upper 16 bits → how many starts are below; one more entry at the end
}

// find returns the place of the last range that starts at or before k.
func (r *ranges[K]) find(k K) uint32 {
	if len(r.starts) == 0 {
		return 0
	}
	top := k >> r.shift()
	low, high := r.index[top], r.index[top+1]
	for low < high {
		if mid := (low + high) / 2; r.starts[mid] <= k {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == 0 {
		return 0
	}
	return r.places[low-1]
}

func (r *ranges[K]) shift() uint {
	if ^K(0) == K(^uint32(0)) {
		return 16
	}
	return 48
}

// survey makes ranges.
type survey[K uint32 | uint64] struct {
	ranges[K]
	any bool
	end K // the last number that was covered, if any was
}

// cover says that the numbers from first to last have a place. Calls come in ascending order; what was covered
// before stays as it is.
func (s *survey[K]) cover(first, last K, place uint32) {
	if s.any {
		if last <= s.end {
			return
		}
		if first = max(first, s.end+1); first > s.end+1 {
			s.start(s.end+1, 0)
		}
	}
	s.start(first, place)
	s.end, s.any = last, true
}

func (s *survey[K]) start(k K, place uint32) {
	if n := len(s.places); n > 0 && s.places[n-1] == place || n == 0 && place == 0 {
		return
	}
	s.starts, s.places = append(s.starts, k), append(s.places, place)
}

// done returns the ranges with their index.
func (s *survey[K]) done() ranges[K] {
	if s.any && s.end != ^K(0) {
		s.start(s.end+1, 0)
	}
	if len(s.starts) == 0 {
		return ranges[K]{}
	}
	// Cloned, because what growing left to spare would stay for as long as the database.
	r := ranges[K]{starts: slices.Clone(s.starts), places: slices.Clone(s.places), index: make([]uint32, 1<<16+1)}
	n := 0
	for top := range 1 << 16 {
		r.index[top] = uint32(n)
		for n < len(r.starts) && int(r.starts[n]>>r.shift()) == top {
			n++
		}
	}
	r.index[1<<16] = uint32(n)
	return r
}

// surveyor makes an atlas. Its maps are dropped with it.
type surveyor struct {
	atlas  *atlas
	places map[Place]uint32
	names  map[string]uint32
	text   strings.Builder
}

func loadAtlas(files []string) (*atlas, error) {
	s := surveyor{atlas: &atlas{places: make([]placeText, 1)}, places: map[Place]uint32{{}: 0}, names: map[string]uint32{}}
	var versions []string
	for _, file := range files {
		version, err := s.add(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		versions = append(versions, version)
	}
	s.atlas.names = s.text.String()
	s.atlas.version = strings.Join(versions, ",")
	return s.atlas, nil
}

func (s *surveyor) add(file string) (version string, err error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	db, err := maxminddb.OpenBytes(raw)
	if err != nil {
		return "", err
	}
	defer db.Close()

	var (
		v4       survey[uint32]
		v6       survey[uint64]
		decode   func(maxminddb.Result) (Place, error)
		seen     = map[uintptr]uint32{} // a record's offset → its place
		last     uintptr
		place    uint32
		leaves   uint
		networks int
	)
	for r := range db.Networks(maxminddb.IncludeNetworksWithoutData()) {
		if err := r.Err(); err != nil {
			return "", err
		}
		// A tree has one leaf more than inner nodes. A damaged file may have a circle instead.
		if leaves++; leaves > db.Metadata.NodeCount+1 {
			return "", errors.New("its search tree is no tree")
		}
		if !r.Found() {
			continue
		}
		if decode == nil {
			if decode, err = layoutOf(r); err != nil {
				return "", err
			}
		}
		if at := r.Offset(); networks == 0 || at != last {
			known := false
			if place, known = seen[at]; !known {
				p, err := decode(r)
				if err != nil {
					return "", err
				}
				if place, err = s.number(p); err != nil {
					return "", err
				}
				seen[at] = place
			}
			last = at
		}
		networks++
		prefix := r.Prefix()
		switch addr := prefix.Addr(); {
		case addr.Is4():
			b := addr.As4()
			first := binary.BigEndian.Uint32(b[:])
			v4.cover(first, first|uint32(uint64(1)<<(32-prefix.Bits())-1), place)
		case prefix.Bits() >= 64:
			b := addr.As16()
			first := binary.BigEndian.Uint64(b[:8])
			v6.cover(first, first, place)
		default:
			b := addr.As16()
			first := binary.BigEndian.Uint64(b[:8])
			v6.cover(first, first|(1<<(64-prefix.Bits())-1), place)
		}
	}
	if networks == 0 {
		return "", errors.New("it has no networks")
	}
	s.atlas.sheets = append(s.atlas.sheets, sheet{v4.done(), v6.done()})
	return fmt.Sprintf("%s/%s", db.Metadata.DatabaseType, db.Metadata.BuildTime().UTC().Format("2006-01-02T15:04:05Z")), nil
}

// number returns the index of a place in the atlas.
func (s *surveyor) number(p Place) (uint32, error) {
	if n, ok := s.places[p]; ok {
		return n, nil
	}
	var t placeText
	for i, name := range [4]string{p.Country, p.RegionCode, p.RegionName, p.City} {
		if len(name) > 255 {
			return 0, fmt.Errorf("a name of %d bytes", len(name))
		}
		at, ok := s.names[name]
		if !ok {
			at = uint32(s.text.Len())
			s.text.WriteString(name)
			s.names[name] = at
		}
		t.at[i], t.size[i] = at, uint8(len(name))
	}
	n := uint32(len(s.atlas.places))
	s.atlas.places = append(s.atlas.places, t)
	s.places[p] = n
	return n, nil
}

// layoutOf looks at one record to tell how a database is laid out.
func layoutOf(r maxminddb.Result) (func(maxminddb.Result) (Place, error), error) {
	var record map[string]any
	if err := r.Decode(&record); err != nil {
		return nil, fmt.Errorf("records are no maps: %w", err)
	}
	for _, key := range []string{"country_code", "state1"} {
		if _, ok := record[key].(string); ok {
			return decodeFlat, nil
		}
	}
	if _, ok := record["city"].(string); ok {
		return decodeFlat, nil
	}
	for _, key := range []string{"country", "registered_country", "continent", "city", "location", "subdivisions", "represented_country", "traits"} {
		switch record[key].(type) {
		case map[string]any, []any:
			return decodeNested, nil
		}
	}
	return nil, errors.New("its records have neither country.iso_code nor country_code")
}

func decodeFlat(r maxminddb.Result) (Place, error) {
	var rec struct {
		Country string `maxminddb:"country_code"`
		State   string `maxminddb:"state1"`
		City    string `maxminddb:"city"`
	}
	if err := r.Decode(&rec); err != nil {
		return Place{}, err
	}
	return Place{Country: rec.Country, RegionName: rec.State, City: rec.City}, nil
}

func decodeNested(r maxminddb.Result) (Place, error) {
	type names struct {
		English string `maxminddb:"en"`
	}
	var rec struct {
		Country struct {
			Code string `maxminddb:"iso_code"`
		} `maxminddb:"country"`
		Subdivisions []struct {
			Code  string `maxminddb:"iso_code"`
			Names names  `maxminddb:"names"`
		} `maxminddb:"subdivisions"`
		City struct {
			Names names `maxminddb:"names"`
		} `maxminddb:"city"`
	}
	if err := r.Decode(&rec); err != nil {
		return Place{}, err
	}
	p := Place{Country: rec.Country.Code, City: rec.City.Names.English}
	if len(rec.Subdivisions) > 0 {
		p.RegionName = rec.Subdivisions[0].Names.English
		if code := rec.Subdivisions[0].Code; code != "" && p.Country != "" {
			p.RegionCode = p.Country + "-" + code
		}
	}
	return p, nil
}
