package visitor

import "slices"

// noteBit marks a state in automaton.next at which literals end.
const noteBit = 1 << 15

// automaton finds all literals of a set in one pass over a text (Aho and Corasick, 1975). It is a full transition
// table, so a search makes one load per byte and follows no failure links. It is immutable once built.
type automaton struct {
	class [256]uint8 // byte → column; 0 for bytes that are in no literal
	width int
	next  []uint16 // state*width + column → state, with noteBit
	from  []uint32 // state → its first index in ends; the next state's first index is its end
	ends  []uint16 // indexes of the literals that end in a state
}

// newAutomaton builds the table. It identifies literals by their index. They must not be empty.
func newAutomaton(literals []string) *automaton {
	a := &automaton{width: 1}
	for _, l := range literals {
		for i := range len(l) {
			if a.class[l[i]] == 0 {
				a.class[l[i]] = uint8(a.width)
				a.width++
			}
		}
	}

	// Build the trie. 0 means both the root and "no child", because no literal leads back to the root.
	a.next = make([]uint16, a.width)
	own := [][]uint16{nil}
	for n, l := range literals {
		state := 0
		for i := range len(l) {
			cell := state*a.width + int(a.class[l[i]])
			if a.next[cell] == 0 {
				if len(own) == noteBit {
					panic("BUG: visitor: too many literals for 15-bit states")
				}
				a.next[cell] = uint16(len(own))
				own = append(own, nil)
				a.next = append(a.next, make([]uint16, a.width)...)
			}
			state = int(a.next[cell])
		}
		own[state] = append(own[state], uint16(n))
	}

	// Go breadth first, so that the row of a state's longest proper suffix is complete before the state's own row.
	suffix := make([]uint16, len(own))
	queue := make([]uint16, 0, len(own))
	for _, s := range a.next[:a.width] {
		if s != 0 {
			queue = append(queue, s)
		}
	}
	for i := 0; i < len(queue); i++ {
		state := int(queue[i])
		row, back := a.next[state*a.width:][:a.width], a.next[int(suffix[state])*a.width:][:a.width]
		own[state] = append(own[state], own[suffix[state]]...)
		for c, child := range row {
			if child == 0 {
				row[c] = back[c]
				continue
			}
			suffix[child] = back[c]
			queue = append(queue, child)
		}
	}

	a.from = make([]uint32, 0, len(own)+1)
	for _, o := range own {
		a.from = append(a.from, uint32(len(a.ends)))
		a.ends = append(a.ends, o...)
	}
	a.from = append(a.from, uint32(len(a.ends)))
	for i, s := range a.next {
		if len(own[s]) > 0 {
			a.next[i] |= noteBit
		}
	}
	a.ends = slices.Clip(a.ends)
	return a
}

// step returns the state after one more byte. noted reports whether literals end there; found lists them.
func (a *automaton) step(state uint16, b byte) (to uint16, noted bool) {
	to = a.next[int(state)*a.width+int(a.class[b])]
	return to &^ noteBit, to&noteBit != 0
}

func (a *automaton) found(state uint16) []uint16 {
	return a.ends[a.from[state]:a.from[state+1]]
}
