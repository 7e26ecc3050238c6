package truth

import (
	"fmt"
	"iter"
	"net/http"
)

// Verdict is the result of comparing a run with a store.
type Verdict struct {
	Sent    int // requests
	Acked   int // complete 302 answers
	Stored  int // clicks in the store
	Lost    int // requests that were answered and are not in the store
	Twice   int // surplus clicks of identities that are stored more than once
	Ghosts  int // identities in the store that were never sent
	InDoubt int // stored without a complete answer; allowed, because the client cannot know the outcome

	Examples []string // some of the faulty identities
}

// Exact reports whether every answered redirect has exactly one click, and no click belongs to no request.
func (v Verdict) Exact() bool { return v.Lost == 0 && v.Twice == 0 && v.Ghosts == 0 }

// String returns a summary in one line.
func (v Verdict) String() string {
	s := fmt.Sprintf("%d sent, %d answered, %d stored; %d lost, %d duplicates, %d ghosts, %d stored without an answer",
		v.Sent, v.Acked, v.Stored, v.Lost, v.Twice, v.Ghosts, v.InDoubt)
	if len(v.Examples) > 0 {
		s += fmt.Sprintf(", for example %q", v.Examples)
	}
	return s
}

const (
	wasSent   = 1 << 7
	wasAcked  = 1 << 6
	mostTimes = wasAcked - 1 // maximum count of an identity; further occurrences are not counted
)

// Judge compares the record of a run with stored, which yields identities in a store with their number of clicks. An
// identity may occur several times. Any text that is not an identity counts as a ghost, except "": such clicks are not
// from this run.
func Judge(path string, stored iter.Seq2[string, int]) (Verdict, error) {
	var v Verdict
	clients := map[int][]byte{}
	state := func(id ID) *byte {
		s := clients[id.Client]
		for uint64(len(s)) <= id.N {
			s = append(s, make([]byte, id.N+1-uint64(len(s)))...)
		}
		clients[id.Client] = s
		return &s[id.N]
	}
	for e, err := range Read(path) {
		if err != nil {
			return v, err
		}
		v.Sent++
		s := state(e.ID)
		*s |= wasSent
		if e.Status == http.StatusFound {
			v.Acked++
			*s |= wasAcked
		}
	}
	example := func(what, name string) {
		if len(v.Examples) < 5 {
			v.Examples = append(v.Examples, what+" "+name)
		}
	}
	for name, n := range stored {
		if name == "" {
			continue
		}
		v.Stored += n
		id, ok := ParseID(name)
		if ok {
			known := clients[id.Client]
			ok = id.N < uint64(len(known)) && known[id.N]&wasSent != 0
		}
		if !ok {
			v.Ghosts += n
			example("ghost", name)
			continue
		}
		s := state(id)
		before := int(*s & mostTimes)
		if before+n > 1 {
			v.Twice += n - max(0, 1-before)
			example("twice", name)
		}
		*s = *s&^byte(mostTimes) | byte(min(before+n, mostTimes))
	}
	for client, s := range clients {
		for n, b := range s {
			switch found := b&mostTimes != 0; {
			case b&wasAcked != 0 && !found:
				v.Lost++
				example("lost", ID{client, uint64(n)}.String())
			case b&wasAcked == 0 && found:
				v.InDoubt++
			}
		}
	}
	return v, nil
}
