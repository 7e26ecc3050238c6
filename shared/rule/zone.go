package rule

import (
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	_ "time/tzdata" // every edge must know the zones that the control plane accepted, even in a bare container
)

// Range of years in a zone's table of offsets. Other years are slower, with the same result.
var (
	tableStart = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	tableEnd   = time.Date(2046, 1, 1, 0, 0, 0, 0, time.UTC)
)

// maxSpans limits a zone's table. No zone has changed its offset more than six times a year.
const maxSpans = 140

// zone is a time zone whose offset is computed quickly and without allocating. It is immutable except for a hint.
type zone struct {
	id       uint32 // never 0
	name     string
	location *time.Location
	starts   []int64 // Unix seconds, ascending; offsets[i] applies from starts[i]
	offsets  []int64 // seconds east of UTC
	end      int64   // first Unix second after the table
	// recent is the index of the last span used. Nearly every visit needs the same one, and a rule set may name many
	// zones.
	recent atomic.Uint32
}

func newZone(loc *time.Location) *zone {
	z := &zone{name: loc.String(), location: loc, end: tableEnd.Unix()}
	for t := tableStart; t.Before(tableEnd); {
		if len(z.starts) == maxSpans {
			z.end = t.Unix()
			break
		}
		here := t.In(loc)
		_, offset := here.Zone()
		z.starts = append(z.starts, t.Unix())
		z.offsets = append(z.offsets, int64(offset))
		_, next := here.ZoneBounds()
		if next.IsZero() {
			break
		}
		t = next
	}
	return z
}

// offset returns the seconds east of UTC at a Unix second.
func (z *zone) offset(unix int64) int64 {
	if unix < z.starts[0] || unix >= z.end {
		_, offset := time.Unix(unix, 0).In(z.location).Zone()
		return int64(offset)
	}
	i := int(z.recent.Load())
	if unix < z.starts[i] || i+1 < len(z.starts) && unix >= z.starts[i+1] {
		i = sort.Search(len(z.starts), func(i int) bool { return z.starts[i] > unix }) - 1
		z.recent.Store(uint32(i))
	}
	return z.offsets[i]
}

// local returns the wall clock at a Unix millisecond: minute of the day and day of the week, 1 for Monday.
func (z *zone) local(unixMilli int64) (minute, day int) {
	unix := floorDiv(unixMilli, 1000)
	local := unix + z.offset(unix)
	days := floorDiv(local, 24*60*60)
	minute = int(local-days*24*60*60) / 60
	day = int(days+3-floorDiv(days+3, 7)*7) + 1 // 1970-01-01 was a Thursday
	return minute, day
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// zones caches zones by name. Only existing names are keys, so its size is bounded.
var zones sync.Map // string → *zone

var lastZone atomic.Pointer[zone]

var errNoZone = errors.New("no such time zone")

func namedZone(name string) (*zone, error) {
	if z, ok := zones.Load(name); ok {
		return z.(*zone), nil
	}
	// Go reads "" as UTC and "Local" as the zone of the machine. Neither is valid in a condition.
	if name == "" || strings.EqualFold(name, "Local") {
		return nil, errNoZone
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("load time zone: %w", err)
	}
	z, _ := zones.LoadOrStore(name, register(newZone(loc)))
	return z.(*zone), nil
}

// zoneOf returns the zone of a location. Programs are compiled repeatedly with one default location, so the last one
// is cached.
func zoneOf(loc *time.Location) *zone {
	if z := lastZone.Load(); z != nil && z.location == loc {
		return z
	}
	z := register(newZone(loc))
	lastZone.Store(z)
	return z
}
