package visitor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Place is the place where an address is registered. "" means unknown. Its strings point into the database. Keeping one
// keeps all names of the database in memory.
type Place struct {
	Country    string // ISO 3166-1 alpha-2
	RegionCode string // ISO 3166-2, such as "US-CA"; RegionCode[3:] is the code within the country
	RegionName string // English
	City       string // English
	Continent  string // AF, AN, AS, EU, NA, OC or SA; that of the country if the database has no continents
}

// Geo looks up places in databases of the MaxMind DB format. It supports the layout of GeoIP2 (country.iso_code,
// subdivisions, city.names) and a flat layout (country_code, state1, city).
//
// Geo reads and checks a whole database and converts it to sorted ranges. They take half to three quarters of the
// file's size. The file is never mapped into memory and may then be replaced in any way. A city database of 6 million
// networks (63 MB) takes 1.5 s of processor time to load and 32 MB of memory. A country database for all of IPv4 and
// IPv6 (8 MB) takes 0.1 s and 6 MB. With a nil Geo, places stay unknown.
type Geo struct {
	cfg     GeoConfig
	files   []string
	current atomic.Pointer[geoindex]

	mu     sync.Mutex // held while loading
	loaded []stamp    // stamps of the files that current was made from
	failed []stamp    // stamps of unusable files, so that they are reported once

	looked   atomic.Int64 // Unix nanoseconds of the last check after which current matched the files
	failures atomic.Uint64
}

// stamp identifies a version of a file.
type stamp struct {
	size     int64
	modified time.Time
}

// GeoConfig configures a Geo.
type GeoConfig struct {
	// Path is the path of OpenGeo.
	Path string
	// Cache is a folder for the converted databases. It makes the next start fast and keeps the databases out of the
	// heap. "" means no cache. No other program may write to the folder.
	Cache string
	// Await allows missing files: no place is known until Run finds them.
	Await bool
}

// OpenGeo loads one or more database files, separated by commas. Lookups use the first database that has a record for
// the address, because some publishers have separate files for IPv4 and IPv6. With an empty path, the Geo never knows
// any place.
func OpenGeo(path string) (*Geo, error) { return OpenGeoWith(GeoConfig{Path: path}) }

// OpenGeoWith is OpenGeo with a full configuration.
func OpenGeoWith(cfg GeoConfig) (*Geo, error) {
	g := &Geo{cfg: cfg}
	for file := range strings.SplitSeq(cfg.Path, ",") {
		if file = strings.TrimSpace(file); file != "" {
			g.files = append(g.files, file)
		}
	}
	g.current.Store(&geoindex{})
	if _, err := g.Reload(); err != nil && !(cfg.Await && errors.Is(err, fs.ErrNotExist)) {
		return nil, err
	}
	return g, nil
}

// Lookup returns the place of an address. It uses no lock, does not allocate, and is safe for concurrent use.
func (g *Geo) Lookup(a netip.Addr) Place {
	if g == nil {
		return Place{}
	}
	return g.current.Load().lookup(a)
}

// Version identifies the data that Lookup uses, for records that are enriched with it. It holds the type and the build
// time of each database; "" means no database.
func (g *Geo) Version() string {
	if g == nil {
		return ""
	}
	return g.current.Load().version
}

// Reload loads the files again if their size or modification time changed, and reports whether it did. After an error,
// Lookup keeps using the old data, and Reload does not try the same files again until they change. Replace a file by
// renaming: a file that changes while Reload reads it is an error.
func (g *Geo) Reload() (changed bool, err error) {
	if g == nil || len(g.files) == 0 {
		return false, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	before, err := g.stamps()
	if err != nil {
		return false, fmt.Errorf("geo database: %w", err)
	}
	switch {
	case same(before, g.loaded):
		g.looked.Store(time.Now().UnixNano())
		return false, nil
	case same(before, g.failed):
		return false, nil
	}
	next, err := g.load(before)
	if err == nil {
		var after []stamp
		if after, err = g.stamps(); err == nil && !same(before, after) {
			return false, errors.New("geo database: a file changed while it was read")
		}
	}
	if err != nil {
		g.failed = before
		return false, fmt.Errorf("geo database: %w", err)
	}
	g.current.Store(next)
	g.loaded, g.failed = before, nil
	g.looked.Store(time.Now().UnixNano())
	if total(before) > 4<<20 {
		debug.FreeOSMemory() // loading needs several times the memory of the result
	}
	return true, nil
}

// load returns the geoindex of the files, from the cache if possible. now are the stamps of the files.
func (g *Geo) load(now []stamp) (*geoindex, error) {
	if g.cfg.Cache == "" {
		return buildGeoindex(g.files)
	}
	path := geoindexPath(g.cfg.Cache, g.files)
	if a, err := readGeoindex(path, now); err == nil {
		return a, nil
	}
	a, err := buildGeoindex(g.files)
	if err != nil {
		return nil, err
	}
	if writeGeoindex(path, a, now) == nil {
		if mapped, err := readGeoindex(path, now); err == nil {
			return mapped, nil
		}
	}
	return a, nil // without the cache, the next start is slower and uses more memory
}

// geoPoll is the interval at which Run checks the files.
const geoPoll = 15 * time.Second

// Run reloads the files when they have changed. It returns nil when ctx is done, and never earlier. Run waits until a
// changed file stays the same between two checks. It logs unusable files once.
func (g *Geo) Run(ctx context.Context, log *slog.Logger) error {
	if g == nil || len(g.files) == 0 {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(geoPoll)
	defer tick.Stop()
	var last []stamp
	missing := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		now, err := g.stamps()
		if err != nil {
			g.failures.Add(1)
			if !missing && !(g.cfg.Await && g.Version() == "") {
				log.Error("cannot read geo database", "error", err)
			}
			missing = true
			continue
		}
		missing = false
		if !same(now, last) {
			last = now
			continue
		}
		changed, err := g.Reload()
		if err != nil {
			g.failures.Add(1)
			log.Error("geo database rejected", "error", err)
			continue
		}
		if changed {
			log.Info("geo database replaced", "version", g.Version())
		}
	}
}

// Looks returns the last time at which the loaded data matched the files (the zero time if never), and how often Run
// could not read or use the files.
func (g *Geo) Looks() (lastSuccess time.Time, failures uint64) {
	if g == nil {
		return time.Time{}, 0
	}
	if at := g.looked.Load(); at != 0 {
		lastSuccess = time.Unix(0, at)
	}
	return lastSuccess, g.failures.Load()
}

func (g *Geo) stamps() ([]stamp, error) {
	all := make([]stamp, len(g.files))
	for i, file := range g.files {
		info, err := os.Stat(file)
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			return nil, &fs.PathError{Op: "read", Path: file, Err: errors.New("is a directory")}
		}
		all[i] = stamp{info.Size(), info.ModTime()}
	}
	return all, nil
}

func same(a, b []stamp) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].size != b[i].size || !a[i].modified.Equal(b[i].modified) {
			return false
		}
	}
	return true
}

func total(all []stamp) (bytes int64) {
	for _, s := range all {
		bytes += s.size
	}
	return bytes
}
