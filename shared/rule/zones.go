package rule

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Programs name a zone by its id, because they contain no pointers. The id is a hash of the zone's name and offsets. So it
// is the same after a restart, unless the time zone database has changed.
var registry = struct {
	sync.Mutex     // for writers
	count      int // of zones
	table      atomic.Pointer[zoneTable]
}{}

// zoneTable is an open-addressing hash table, at most half full.
type zoneTable []atomic.Pointer[zone]

func (t zoneTable) place(id uint32) *atomic.Pointer[zone] {
	for i := id; ; i++ {
		at := &t[i&uint32(len(t)-1)]
		if z := at.Load(); z == nil || z.id == id {
			return at
		}
	}
}

// zoneByID returns the zone with an id, or nil if no zone has it.
func zoneByID(id uint32) *zone {
	if t := registry.table.Load(); t != nil {
		return t.place(id).Load()
	}
	return nil
}

// register gives a zone its id. It returns an earlier zone instead if that has the same name and offsets.
func register(z *zone) *zone {
	registry.Lock()
	defer registry.Unlock()
	var old zoneTable
	if t := registry.table.Load(); t != nil {
		old = *t
	}
	if 2*(registry.count+1) > len(old) {
		grown := make(zoneTable, max(64, 2*len(old)))
		for i := range old {
			if known := old[i].Load(); known != nil {
				grown.place(known.id).Store(known)
			}
		}
		registry.table.Store(&grown)
		old = grown
	}
	for z.id = max(1, z.hash()); ; z.id = max(1, z.id+1) {
		at := old.place(z.id)
		known := at.Load()
		if known == nil {
			at.Store(z)
			registry.count++
			return z
		}
		if known.name == z.name && known.end == z.end && slices.Equal(known.starts, z.starts) && slices.Equal(known.offsets, z.offsets) {
			return known
		}
	}
}

func (z *zone) hash() uint32 {
	b := []byte(z.name)
	for _, list := range [][]int64{z.starts, z.offsets, {z.end}} {
		for _, n := range list {
			b = binary.LittleEndian.AppendUint64(b, uint64(n))
		}
	}
	return crc32.ChecksumIEEE(b)
}

// AppendZones appends the ids and names of all time zones that programs of this process may use, for UseZones.
func AppendZones(b []byte) []byte {
	t := registry.table.Load()
	if t == nil {
		return b
	}
	for i := range *t {
		if z := (*t)[i].Load(); z != nil && len(z.name) < 1<<8 {
			b = binary.LittleEndian.AppendUint32(b, z.id)
			b = append(append(b, byte(len(z.name))), z.name...)
		}
	}
	return b
}

// UseZones prepares this process for flat sets of another process that has written its zones with AppendZones. zone is the
// default one. UseZones returns false if b is damaged, or if a zone has other offsets here. CheckFlat rejects sets with a zone
// that is unknown here.
func UseZones(b []byte, zone *time.Location) bool {
	own := zoneOf(zone)
	for len(b) > 0 {
		if len(b) < 5 || len(b) < 5+int(b[4]) {
			return false
		}
		id, name := binary.LittleEndian.Uint32(b), string(b[5:5+int(b[4])])
		b = b[5+int(b[4]):]
		if id == own.id && name == own.name {
			continue
		}
		if z, err := namedZone(name); err == nil && z.id != id {
			return false
		}
		if z := zoneByID(id); z != nil && z.name != name {
			return false
		}
	}
	return true
}
