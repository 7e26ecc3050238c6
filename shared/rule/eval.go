package rule

import "unicode/utf8"

// Eval reports whether the visitor matches. It reads only the facts that it needs, does not allocate, and is safe for
// concurrent use. It keeps no reference to f.
func (p *Program) Eval(f Facts) bool { return p.run(f, nil) }

// record stores the result of each test of a run.
type record struct {
	reached, matched []bool
}

// run walks from test to test until the group is decided. It records the walk in rec unless rec is nil.
func (p *Program) run(f Facts, rec *record) bool {
	if len(p.code) == 0 {
		return false
	}
	var now wallClock
	for pc := uint16(0); pc < reject; {
		t := &p.code[pc]
		ok := p.holds(t, f, &now)
		if rec != nil {
			rec.reached[pc], rec.matched[pc] = true, ok
		}
		if ok {
			pc = t.onTrue
		} else {
			pc = t.onFalse
		}
		if pc >= reject {
			return pc == accept
		}
	}
	panic("BUG: a rule's program ran past its end")
}

// wallClock caches the time of the request in the last zone.
type wallClock struct {
	zone        uint32 // id; 0: none
	minute, day int
}

func (w *wallClock) in(zone uint32, f Facts) {
	if w.zone != zone {
		w.zone = zone
		w.minute, w.day = zoneByID(zone).local(f.UnixMilli())
	}
}

func (p *Program) holds(t *test, f Facts, now *wallClock) bool {
	switch t.code {
	case codeMinutes:
		now.in(t.b, f)
		return (uint32(now.minute)+minutesPerDay-t.a%minuteBase)%minutesPerDay <= t.a/minuteBase
	case codeDays:
		now.in(t.b, f)
		return t.a>>now.day&1 != 0 != t.negate
	case codeNever:
		return t.negate
	}
	if t.code >= codeAddress {
		return p.meets(t, f) != t.negate
	}
	ok := p.compares(t, f.Fact(t.field))
	if !ok && t.field == FieldRegionCode {
		ok = p.compares(t, f.Fact(FieldRegionName))
	}
	return ok != t.negate
}

// meets reports whether the positive form of a test whose operands are in p.numbers or p.params holds.
func (p *Program) meets(t *test, f Facts) bool {
	switch t.code {
	case codeAddress:
		return within(p.numbers[t.a:t.a+numbersPerRange*t.b], f.Address())
	case codeInstant:
		now := f.UnixMilli()
		return int64(p.numbers[t.a]) <= now && now < int64(p.numbers[t.a+1])
	case codeShare:
		return shareOf(f) < t.a
	case codeParam:
		q := &p.params[t.a]
		return p.compares(&q.test, f.Param(p.text[q.name.at:q.name.at+q.name.length]))
	}
	panic("BUG: unknown opcode in a rule's program")
}

// compares reports whether a known value satisfies the positive form of the operator. An unknown value never does.
func (p *Program) compares(t *test, v string) bool {
	if v == "" {
		return false
	}
	// Most values differ in the first letter, if it is an ASCII letter. A folded text that begins with another letter
	// cannot match then.
	begins := foldASCII[v[0]]
	switch t.code {
	case codeFew:
		for _, s := range p.table[t.a : t.a+t.b] {
			if p.text[s.at] != begins && v[0] < utf8.RuneSelf {
				continue
			}
			if equalFolded(p.text[s.at:s.at+s.length], v) {
				return true
			}
		}
		return false
	case codeOneOf:
		for h := hashFolded(v); ; h++ {
			s := p.table[t.a+h&t.b]
			if s.length == 0 {
				return false
			}
			if equalFolded(p.text[s.at:s.at+s.length], v) {
				return true
			}
		}
	}
	want := p.text[t.a : t.a+t.b]
	switch t.code {
	case codeEquals:
		if want[0] != begins && v[0] < utf8.RuneSelf {
			return false
		}
		return equalFolded(want, v)
	case codeContains:
		return containsFolded(want, p.fail[t.a:t.a+t.b], v)
	case codePrefix:
		return afterPrefix(want, v) >= 0
	case codeSuffix:
		return hasFoldedSuffix(want, v)
	}
	panic("BUG: unknown opcode in a rule's program")
}
