package visitor

import (
	"hash/maphash"
	"math/bits"
	"strings"
	"sync/atomic"
)

// DefaultAgents is how many User-Agents an edge remembers: ten times as many as are common, and at most 6 MB
// if all are as long as they may be.
const DefaultAgents = 8192

// ways is how many places there are for a text: enough that the common ones don't push each other out.
const ways = 8

// Agents remembers what Parse said about the latest User-Agents. It is for any number of goroutines; readers and
// writers never wait for each other. Its memory is bounded by its size, whatever is asked. A nil Agents remembers
// nothing.
type Agents struct {
	seed maphash.Seed
	mask uint64
	sets []agentSet
}

// agentSet holds the entries for one hash. The tags only save looking at entries that can't match: a tag and an
// entry may be seen out of step, and an entry's key decides.
type agentSet struct {
	tags    [ways]atomic.Uint32
	entries [ways]atomic.Pointer[agentEntry]
	hand    atomic.Uint32 // where the search for an entry to give up goes on
	_       [28]byte      // a set is two cache lines
}

type agentEntry struct {
	key   string // a copy, not part of any request
	agent Agent
	used  atomic.Bool // since the hand passed
}

// NewAgents makes a cache for about size User-Agents, at least 8. It also builds the tables of Parse, so that the
// first visitor need not wait for them.
func NewAgents(size int) *Agents {
	classifier()
	sets := 1
	if size > ways {
		sets = 1 << bits.Len(uint((size-1)/ways))
	}
	return &Agents{seed: maphash.MakeSeed(), mask: uint64(sets - 1), sets: make([]agentSet, sets)}
}

// Lookup is Parse with a memory. It does not keep ua.
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
			if !e.used.Load() { // don't take the cache line from other cores each time
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

// victim picks the way to overwrite: the next one that was not asked for since the hand last passed it, so that
// a flood of made-up agents does not push out those that real visitors share.
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
