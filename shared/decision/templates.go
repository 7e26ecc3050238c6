package decision

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
)

// Templates compiles links whose rules often have the same conditions as those of other links, and differ only in their
// destinations. That is usual: people copy links, and use templates of rules such as "App Store and Google Play". Parsing and
// joining conditions is nine tenths of the work of a compilation. Templates keeps the latest compiled conditions and shares
// them between plans.
//
// It is safe for concurrent use. It keeps between limit and twice as many compiled conditions.
type Templates struct {
	opts  rule.Options
	limit int

	mu sync.Mutex
	// When recent is full, it becomes earlier, whose contents are forgotten. What is used moves to recent.
	recent, earlier map[[sha256.Size]byte]*conditions
}

// NewTemplates returns a Templates that compiles with the given options.
func NewTemplates(opts rule.Options, limit int) *Templates {
	return &Templates{opts: opts, limit: limit, recent: map[[sha256.Size]byte]*conditions{}}
}

// Chooser returns the chooser of a record. It may share memory with others.
func (t *Templates) Chooser(r *link.Record) (c Chooser, err error) {
	defer caught(r, &err)
	joined, err := t.joined(r)
	if err != nil {
		return Chooser{}, err
	}
	c, text := chooserOf(r, joined)
	c.text = string(text)
	return c, nil
}

// Compile returns the Compact plan of a record, and shared, the size of that part of its memory which other plans may share.
func (t *Templates) Compile(r *link.Record) (p Plan, shared int, err error) {
	defer caught(r, &err)
	joined, err := t.joined(r)
	if err != nil {
		return Plan{}, 0, err
	}
	p = assemble(r, joined)
	return p.Compact(), joined.set.Size(), nil
}

func (t *Templates) joined(r *link.Record) (*conditions, error) {
	if r.SmartRouting && len(r.Rules) > 0 {
		return t.conditions(r)
	}
	return new(conditions), nil
}

func (t *Templates) conditions(r *link.Record) (*conditions, error) {
	key := digest(r.Rules)
	if c := t.find(key); c != nil {
		return c, nil
	}
	rules, err := compileRules(r, t.opts)
	if err != nil {
		return nil, err
	}
	c := join(rules)
	t.keep(key, &c)
	return &c, nil
}

func (t *Templates) find(key [sha256.Size]byte) *conditions {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.recent[key]
	if c == nil {
		if c = t.earlier[key]; c != nil {
			t.remember(key, c)
		}
	}
	return c
}

func (t *Templates) keep(key [sha256.Size]byte, c *conditions) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.remember(key, c)
}

// remember adds compiled conditions. The caller holds the lock.
func (t *Templates) remember(key [sha256.Size]byte, c *conditions) {
	if len(t.recent) >= t.limit {
		t.recent, t.earlier = make(map[[sha256.Size]byte]*conditions, t.limit), t.recent
	}
	t.recent[key] = c
}

// digest identifies the conditions of rules in their order.
func digest(rules []link.Rule) (sum [sha256.Size]byte) {
	h := sha256.New()
	var size [8]byte
	for i := range rules {
		binary.LittleEndian.PutUint64(size[:], uint64(len(rules[i].Conditions)))
		h.Write(size[:])
		h.Write(rules[i].Conditions)
	}
	h.Sum(sum[:0])
	return sum
}
