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

// geoindexBuilder builds a geoindex.
type geoindexBuilder struct {
	index  *geoindex
	places map[Place]uint32
	names  map[string]uint32
	text   strings.Builder
}

func buildGeoindex(files []string) (*geoindex, error) {
	s := geoindexBuilder{index: &geoindex{places: make([]placeText, 1)}, places: map[Place]uint32{{}: 0}, names: map[string]uint32{}}
	var versions []string
	for _, file := range files {
		version, err := s.addDatabase(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		versions = append(versions, version)
	}
	s.index.names = s.text.String()
	s.index.version = strings.Join(versions, ",")
	return s.index, nil
}

func (s *geoindexBuilder) addDatabase(file string) (version string, err error) {
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
		m      tableBuilder
		record recordReader
		leaves uint
	)
	for r := range db.Networks(maxminddb.IncludeNetworksWithoutData()) {
		if err := r.Err(); err != nil {
			return "", err
		}
		// A binary tree has one more leaf than inner nodes. A damaged file may contain a cycle instead.
		if leaves++; leaves > db.Metadata.NodeCount+1 {
			return "", errors.New("the search tree contains a cycle")
		}
		if !r.Found() {
			continue
		}
		place, err := record.place(r, s)
		if err != nil {
			return "", err
		}
		m.cover(r.Prefix(), place)
	}
	if record.decode == nil {
		return "", errors.New("it contains no networks")
	}
	s.index.tables = append(s.index.tables, table{m.v4.done(), m.v6.done()})
	return fmt.Sprintf("%s/%s", db.Metadata.DatabaseType, db.Metadata.BuildTime().UTC().Format("2006-01-02T15:04:05Z")), nil
}

// tableBuilder builds a table.
type tableBuilder struct {
	v4 rangesBuilder[uint32]
	v6 rangesBuilder[uint64]
}

func (m *tableBuilder) cover(p netip.Prefix, place uint32) {
	if p.Addr().Is4() {
		b := p.Addr().As4()
		first := binary.BigEndian.Uint32(b[:])
		m.v4.cover(first, first|^uint32(0)>>p.Bits(), place)
		return
	}
	b := p.Addr().As16()
	first := binary.BigEndian.Uint64(b[:8])
	m.v6.cover(first, first|^uint64(0)>>p.Bits(), place)
}

// recordReader decodes each record of a database once, even if many networks share it.
type recordReader struct {
	decode func(maxminddb.Result) (Place, error)
	known  map[uintptr]uint32 // a record's offset → its place
	last   uintptr            // neighbouring networks often share a record; this saves most of six million map lookups
	number uint32             // of last
}

func (rr *recordReader) place(r maxminddb.Result, s *geoindexBuilder) (uint32, error) {
	at := r.Offset()
	if rr.decode == nil {
		var err error
		if rr.decode, err = layoutOf(r); err != nil {
			return 0, err
		}
		rr.known = map[uintptr]uint32{}
	} else if at == rr.last {
		return rr.number, nil
	}
	n, ok := rr.known[at]
	if !ok {
		p, err := rr.decode(r)
		if err != nil {
			return 0, err
		}
		if n, err = s.number(p); err != nil {
			return 0, err
		}
		rr.known[at] = n
	}
	rr.last, rr.number = at, n
	return n, nil
}

// number returns the index of a place in the geoindex.
func (s *geoindexBuilder) number(p Place) (uint32, error) {
	if n, ok := s.places[p]; ok {
		return n, nil
	}
	var t placeText
	for i, name := range [4]string{p.Country, p.RegionCode, p.RegionName, p.City} {
		if len(name) > 255 {
			return 0, fmt.Errorf("a name has %d bytes; the maximum is 255", len(name))
		}
		at, ok := s.names[name]
		if !ok {
			at = uint32(s.text.Len())
			s.text.WriteString(name)
			s.names[name] = at
		}
		t.at[i], t.size[i] = at, uint8(len(name))
	}
	t.continent = uint8(slices.Index(continents[:], p.Continent))
	n := uint32(len(s.index.places))
	s.index.places = append(s.index.places, t)
	s.places[p] = n
	return n, nil
}

// layoutOf detects the layout of a database from one record.
func layoutOf(r maxminddb.Result) (func(maxminddb.Result) (Place, error), error) {
	var record map[string]any
	if err := r.Decode(&record); err != nil {
		return nil, fmt.Errorf("records are not maps: %w", err)
	}
	for _, key := range []string{"country_code", "state1"} {
		if _, ok := record[key].(string); ok {
			return decodeFlat, nil
		}
	}
	if _, ok := record["city"].(string); ok {
		return decodeFlat, nil
	}
	for _, key := range []string{"country", "registered_country", "continent", "city", "location", "subdivisions",
		"represented_country", "traits"} {
		switch record[key].(type) {
		case map[string]any, []any:
			return decodeNested, nil
		}
	}
	return nil, errors.New("records have neither country.iso_code nor country_code")
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
	return Place{Country: rec.Country, RegionName: rec.State, City: rec.City, Continent: ContinentOf(rec.Country)}, nil
}

func decodeNested(r maxminddb.Result) (Place, error) {
	type names struct {
		English string `maxminddb:"en"`
	}
	var rec struct {
		Continent struct {
			Code string `maxminddb:"code"`
		} `maxminddb:"continent"`
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
	p := Place{Country: rec.Country.Code, City: rec.City.Names.English, Continent: rec.Continent.Code}
	if !slices.Contains(continents[:], p.Continent) || p.Continent == "" {
		p.Continent = ContinentOf(p.Country)
	}
	if len(rec.Subdivisions) > 0 {
		p.RegionName = rec.Subdivisions[0].Names.English
		if code := rec.Subdivisions[0].Code; code != "" && p.Country != "" {
			p.RegionCode = p.Country + "-" + code
		}
	}
	return p, nil
}

// rangesBuilder builds ranges.
type rangesBuilder[K uint32 | uint64] struct {
	ranges[K]
	any bool
	end K // the last covered number, if any
}

// cover assigns a place to the numbers from first to last. Calls must be in ascending order. Numbers that are already
// covered keep their place.
func (s *rangesBuilder[K]) cover(first, last K, place uint32) {
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

func (s *rangesBuilder[K]) start(k K, place uint32) {
	if n := len(s.places); n > 0 && s.places[n-1] == place || n == 0 && place == 0 {
		return
	}
	s.starts, s.places = append(s.starts, k), append(s.places, place)
}

// done returns the ranges with their index.
func (s *rangesBuilder[K]) done() ranges[K] {
	if s.any && s.end != ^K(0) {
		s.start(s.end+1, 0)
	}
	if len(s.starts) == 0 {
		return ranges[K]{}
	}
	// Clone the slices, because their spare capacity would stay in memory as long as the database.
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
