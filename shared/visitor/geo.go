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

// Place is where an address is registered, "" where the database does not say. Its strings are parts of the
// database and may be kept, at the price of keeping all its names.
type Place struct {
	Country    string // ISO 3166-1 alpha-2
	RegionCode string // ISO 3166-2, such as "US-CA"; RegionCode[3:] is the code within the country
	RegionName string // English
	City       string // English
}

// Geo finds places in databases of the MaxMind DB format, both those laid out like GeoIP2 (country.iso_code,
// subdivisions, city.names) and flat ones (country_code, state1, city).
//
// A database is read and checked as a whole and turned into sorted ranges, half to three quarters of the file's
// size; the file is then no longer needed, may be replaced in any way, and is never mapped into memory. A city
// database of 6 million networks (63 MB) takes 1.5 s of processor to load and 32 MB to keep, one of countries for all of IPv4
// and IPv6 (8 MB) 0.1 s and 6 MB. A nil Geo knows no place.
type Geo struct {
	cfg     GeoConfig
	files   []string
	current atomic.Pointer[atlas]

	mu     sync.Mutex // held while loading
	loaded []stamp    // of the files that current was made from
	failed []stamp    // of the files that could not be used, so that they are reported once

	looked   atomic.Int64 // Unix nanoseconds of the last look at files that are, or were made, current
	failures atomic.Uint64
}

// stamp tells that a file has changed.
type stamp struct {
	size     int64
	modified time.Time
}

// GeoConfig says where databases are, and what may be kept beside them.
type GeoConfig struct {
	// Path is as in OpenGeo.
	Path string
	// Cache is a folder for the flattened form of the databases, which makes the next start quick and keeps it out
	// of the heap; "" means none. Nobody else may write to it.
	Cache string
	// Await makes missing files no error: no place is known until Run finds them.
	Await bool
}

// OpenGeo loads the database in a file, or in several with commas between them: an address is looked up in the
// first that has a record for it, as some publishers part IPv4 from IPv6. An empty path gives a Geo that knows no
// place and stays so.
func OpenGeo(path string) (*Geo, error) { return OpenGeoWith(GeoConfig{Path: path}) }

// OpenGeoWith is OpenGeo with more to say.
func OpenGeoWith(cfg GeoConfig) (*Geo, error) {
	g := &Geo{cfg: cfg}
	for file := range strings.SplitSeq(cfg.Path, ",") {
		if file = strings.TrimSpace(file); file != "" {
			g.files = append(g.files, file)
		}
	}
	g.current.Store(&atlas{})
	if _, err := g.Reload(); err != nil && !(cfg.Await && errors.Is(err, fs.ErrNotExist)) {
		return nil, err
	}
	return g, nil
}

// Lookup returns the place of an address. It takes no lock, allocates nothing, and is safe for concurrent use.
func (g *Geo) Lookup(a netip.Addr) Place {
	if g == nil {
		return Place{}
	}
	return g.current.Load().lookup(a)
}

// Version names the data that Lookup answers from, for records that are enriched with it: type and build time of
// each database, "" if there is none.
func (g *Geo) Version() string {
	if g == nil {
		return ""
	}
	return g.current.Load().version
}

// Reload loads the files again if their size or time of modification changed, and says whether it did. After an
// error Lookup goes on with what it had, and the same files are not tried again until they change. They should be
// replaced by renaming; one that is written to while it is read is an error.
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
		debug.FreeOSMemory() // loading needs several times the memory that stays
	}
	return true, nil
}

// load makes the atlas of the files, which have the stamps given, or finds it made already.
func (g *Geo) load(now []stamp) (*atlas, error) {
	if g.cfg.Cache == "" {
		return loadAtlas(g.files)
	}
	path := chartPath(g.cfg.Cache, g.files)
	if a, err := readChart(path, now); err == nil {
		return a, nil
	}
	a, err := loadAtlas(g.files)
	if err != nil {
		return nil, err
	}
	if writeChart(path, a, now) == nil {
		if mapped, err := readChart(path, now); err == nil {
			return mapped, nil
		}
	}
	return a, nil // a cache that can't be kept costs time and memory, not places
}

// geoPoll is how often Run looks at the files.
const geoPoll = 15 * time.Second

// Run reloads the files when they have changed, until ctx ends, which is its only way to return. A change is
// believed once it has stood still from one look to the next. Files that can't be used are logged, once.
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
				log.Error("geo database is not readable, going on with the loaded one", "error", err)
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
			log.Error("geo database refused, going on with the loaded one", "error", err)
			continue
		}
		if changed {
			log.Info("geo database replaced", "version", g.Version())
		}
	}
}

// Looks tells how Run fares: when it was last certain that what Lookup knows is what the files say (the zero time if
// never), and how often it found them unreadable or of no use.
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
