package hosts

import (
	"strings"
	"time"

	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/snapshot"
)

// Conversions is what the control plane has told of click ids and of web sites that send conversions. It never changes. A
// nil *Conversions has no key and no site.
type Conversions struct {
	wire    *snapshot.Conversions
	keys    *conversion.Keys
	sources map[string]*Source // by publishable key
	sites   sites              // of all sources
}

// Source is a workspace whose web sites send conversions.
type Source struct {
	Workspace uint64
	sites     sites
}

func newConversions(w *snapshot.Conversions) *Conversions {
	c := &Conversions{wire: w, sources: make(map[string]*Source, len(w.Sources)), sites: sites{}}
	c.keys, _ = conversion.NewKeys(w.Keys) // an error would have made the list corrupt
	for i := range w.Sources {
		from := &w.Sources[i]
		s := &Source{Workspace: from.Workspace, sites: make(sites, len(from.Hosts))}
		for _, host := range from.Hosts {
			s.sites[host], c.sites[host] = true, true
		}
		c.sources[from.Key] = s
	}
	return c
}

// Conversions returns what is known at present, or nil. It takes no lock.
func (t *Table) Conversions() *Conversions { return t.now.Load().conversions }

// Keys returns the keys of click ids; nil has none.
func (c *Conversions) Keys() *conversion.Keys {
	if c == nil {
		return nil
	}
	return c.keys
}

// Window returns the age of a click up to which conversions count.
func (c *Conversions) Window() time.Duration {
	if c == nil {
		return 0
	}
	return time.Duration(c.wire.Window) * time.Millisecond
}

// Source returns the source with a publishable key, or nil.
func (c *Conversions) Source(key string) *Source {
	if c == nil {
		return nil
	}
	return c.sources[key]
}

// Allows reports whether any source has the site of an Origin header field.
func (c *Conversions) Allows(origin string) bool { return c != nil && c.sites.has(origin) }

// Allows reports whether the source has the site of an Origin header field, such as https://shop.example. The scheme and the
// port do not matter.
func (s *Source) Allows(origin string) bool { return s.sites.has(origin) }

// sites are host names; "*.example.com" is every name below example.com.
type sites map[string]bool

func (s sites) has(origin string) bool {
	scheme, rest, ok := strings.Cut(origin, "://")
	if !ok || scheme != "https" && scheme != "http" || len(rest) > maxName+len(":65535") {
		return false
	}
	host := strings.ToLower(rest)
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host = host[:i]
	}
	host = strings.TrimSuffix(host, ".")
	if s[host] {
		return true
	}
	for {
		_, above, ok := strings.Cut(host, ".")
		if !ok {
			return false
		}
		if s["*."+above] {
			return true
		}
		host = above
	}
}
