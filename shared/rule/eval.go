package rule

import "unicode/utf8"

// Eval reports whether the visitor matches. It asks only for the facts it needs, allocates nothing, and may run
// concurrently with itself; f is used during the call only.
func (p *Program) Eval(f Facts) bool { return p.run(f, nil) }

// record notes what happened at each test of a run.
type record struct {
	reached, matched []bool
}

// run walks the tests from one to the next until the group is decided, and notes the walk in rec unless it is nil.
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

// wallClock is the time of the request in the zone that was last asked for.
type wallClock struct {
	zone        *zone
	minute, day int
}

func (w *wallClock) in(z *zone, f Facts) {
	if w.zone != z {
		w.zone = z
		w.minute, w.day = z.local(f.UnixMilli())
	}
}

func (p *Program) holds(t *test, f Facts, now *wallClock) bool {
	switch t.code {
	case codeMinutes:
		now.in(p.zones[t.b], f)
		return (uint32(now.minute)+minutesPerDay-t.a%minuteBase)%minutesPerDay <= t.a/minuteBase
	case codeDays:
		now.in(p.zones[t.b], f)
		return t.a>>now.day&1 != 0 != t.negate
	case codeNever:
		return false
	}
	ok := p.compares(t, f.Fact(t.field))
	if !ok && t.field == FieldRegionCode {
		ok = p.compares(t, f.Fact(FieldRegionName))
	}
	return ok != t.negate
}

// compares reports whether a known value compares as the positive form of the operator asks; an unknown one never does.
func (p *Program) compares(t *test, v string) bool {
	if v == "" {
		return false
	}
	// Most values differ in their first letter already, if it is one of ASCII: a folded text never begins with
	// another then.
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
