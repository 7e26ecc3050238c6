package visitor

import (
	"hash/maphash"
	"math/bits"
	"strings"
	"sync/atomic"
)

// DefaultAgents is the number of User-Agents that an edge caches: ten times the number of common ones. The cache takes
// at most 6 MB, even if every User-Agent has the maximum length.
const DefaultAgents = 8192

// ways is the number of entries per set: enough that common User-Agents do not evict each other.
const ways = 8

// Agents caches the results of Parse. It is safe for concurrent use; readers and writers never wait for each other. Its
// memory is bounded by its size. A nil Agents caches nothing.
type Agents struct {
	seed maphash.Seed
	mask uint64
	sets []agentSet
}

// agentSet holds the entries for one hash. The tags only skip entries that cannot match. A reader may see a tag and an
// entry of different writes, so it always compares the entry's key.
type agentSet struct {
	tags    [ways]atomic.Uint32
	entries [ways]atomic.Pointer[agentEntry]
	hand    atomic.Uint32 // where the search for an entry to evict continues
	_       [28]byte      // a set is two cache lines
}

type agentEntry struct {
	key   string // a copy, not part of any request
	agent Agent
	used  atomic.Bool // since the hand last passed
}

// NewAgents returns a cache for about size User-Agents, at least 8. It also builds the tables of Parse, so that the
// first visitor does not wait for them.
func NewAgents(size int) *Agents {
	classifier()
	sets := 1
	if size > ways {
		sets = 1 << bits.Len(uint((size-1)/ways))
	}
	return &Agents{seed: maphash.MakeSeed(), mask: uint64(sets - 1), sets: make([]agentSet, sets)}
}

// Lookup returns the result of Parse, from the cache if possible. It does not keep ua.
func (c *Agents) Lookup(ua string) Agent {
	if c == nil {
		return Parse(ua)
	}
	if len(ua) > MaxUserAgent {
		ua = ua[:MaxUserAgent]
	}
	hash := maphash.String(c.seed, ua)
	set, tag := &c.sets[hash&c.mask], uint32(hash>>32)|1
	for i := range set.tags {
		if set.tags[i].Load() != tag {
			continue
		}
		if e := set.entries[i].Load(); e != nil && e.key == ua {
			if !e.used.Load() { // write only once, so that other cores keep the cache line
				e.used.Store(true)
			}
			return e.agent
		}
	}
	e := &agentEntry{key: strings.Clone(ua), agent: Parse(ua)}
	i := set.victim()
	set.tags[i].Store(tag)
	set.entries[i].Store(e)
	return e.agent
}

// victim returns the index of the entry to evict: the next one that was not used since the hand last passed. So a flood
// of made-up User-Agents does not evict those of real visitors.
func (s *agentSet) victim() int {
	for range ways {
		i := int(s.hand.Add(1) % ways)
		e := s.entries[i].Load()
		if e == nil || !e.used.Swap(false) {
			return i
		}
	}
	return int(s.hand.Add(1) % ways)
}
