package rule

import "slices"

// place is a step and the results known there.
type place struct {
	at uint16
	outcomes
}

// reached is a step that belongs to a place.
type reached struct {
	step
	at, number uint16 // the program's own step, and the step's number during unfold
}

// unfold creates a step for every place, within a budget. Places near the start come first.
func (s *Set) unfold() {
	// A known result matters only if the condition occurs again later.
	live := make([][remembered / 64]uint64, len(s.steps)+1)
	for at := len(s.steps) - 1; at >= 0; at-- {
		live[at] = live[at+1]
		if leaf := s.steps[at].leaf; leaf < s.repeated {
			live[at][leaf/64] |= 1 << (leaf % 64)
		}
	}
	base := uint16(len(s.steps))
	budget := min(4*len(s.steps)+64, found-1-len(s.steps))
	made := map[place]uint16{}
	var queue []place
	whole := true
	enter := func(p place) uint16 {
		for p.at < found {
			known, held := false, false
			if leaf := s.steps[p.at].leaf; leaf < s.repeated {
				known, held = p.of(leaf)
			}
			if !known {
				break
			}
			if held {
				p.at = s.steps[p.at].onTrue
			} else {
				p.at = s.steps[p.at].onFalse
			}
		}
		if p.at >= found {
			return p.at
		}
		for word := range p.known {
			p.known[word] &= live[p.at][word]
			p.held[word] &= p.known[word]
		}
		if n, has := made[p]; has {
			return n
		}
		if len(queue) == budget {
			whole = false
			return p.at
		}
		made[p] = base + uint16(len(queue))
		queue = append(queue, p)
		return made[p]
	}
	start := enter(place{at: s.start})
	var unfolded []reached
	for i := 0; i < len(queue); i++ {
		p := queue[i]
		from := s.steps[p.at]
		yes, no := p, p
		if from.leaf < s.repeated {
			yes.note(from.leaf, true)
			no.note(from.leaf, false)
		}
		yes.at, no.at = from.onTrue, from.onFalse
		unfolded = append(unfolded, reached{step{from.leaf, enter(yes), enter(no)}, p.at, base + uint16(i)})
	}
	s.start = start
	s.arrange(unfolded, base, whole)
}

// arrange puts the steps into the order of the programs, so that every step leads forward. The programs' own steps, whose
// numbers are below base, come last, unless whole says that nothing leads to them.
func (s *Set) arrange(unfolded []reached, base uint16, whole bool) {
	slices.SortStableFunc(unfolded, func(a, b reached) int { return int(a.at) - int(b.at) })
	final := make([]uint16, len(unfolded))
	for i := range unfolded {
		final[unfolded[i].number-base] = uint16(i)
	}
	moved := func(at uint16) uint16 {
		switch {
		case at >= found:
			return at
		case at >= base:
			return final[at-base]
		}
		return at + uint16(len(unfolded))
	}
	own := make([]step, 0, len(unfolded)+int(base))
	for i := range unfolded {
		st := unfolded[i].step
		own = append(own, step{st.leaf, moved(st.onTrue), moved(st.onFalse)})
	}
	if whole {
		s.repeated = 0 // nothing needs to be remembered
	} else {
		for _, st := range s.steps {
			own = append(own, step{st.leaf, moved(st.onTrue), moved(st.onFalse)})
		}
	}
	s.steps, s.start = slices.Clip(own), moved(s.start)
}
