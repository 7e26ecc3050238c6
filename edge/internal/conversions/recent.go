package conversions

import (
	"hash/maphash"
	"sync"

	"github.com/shortline/shortline/shared/conversion"
)

// A recent remembers at most recentSets · recentWays conversions in 512 KiB, which it allocates once.
const (
	recentSets = 1 << 14 // a power of two
	recentWays = 4
)

// recent remembers which conversions were accepted a short time ago, so that a browser that sends one again learns so. It
// forgets the oldest of a set first. A conversion that it has forgotten is accepted again, and the click store counts it once.
// It is safe for concurrent use.
type recent struct {
	seed maphash.Seed
	mu   sync.Mutex
	sets [recentSets][recentWays]uint64 // hashes, newest first; 0: unused
}

func newRecent() *recent { return &recent{seed: maphash.MakeSeed()} }

// key returns the hash of what makes a conversion unique.
func (r *recent) key(c *conversion.Conversion) uint64 {
	return max(1, maphash.Comparable(r.seed, struct {
		click      conversion.ClickID
		name, once string
	}{c.Click, c.Name, c.Once()}))
}

// has reports whether a conversion is remembered.
func (r *recent) has(key uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.sets[key%recentSets] {
		if k == key {
			return true
		}
	}
	return false
}

// remember remembers a conversion.
func (r *recent) remember(key uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	set := &r.sets[key%recentSets]
	copy(set[1:], set[:recentWays-1])
	set[0] = key
}
