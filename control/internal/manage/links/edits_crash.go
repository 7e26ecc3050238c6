package links

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/shortline/shortline/control/internal/store"
)

// editAttempts is how often a link may make an edit panic. After that, the edit goes on without it.
const editAttempts = 3

// skipped is the problem of a link that makes an edit panic.
var skipped = fmt.Sprintf("could not be changed: the service failed at it %d times, and its log says why", editAttempts)

// pace says how many links the next step of an edit takes. With skip, it does not try them.
type pace struct {
	links int
	skip  bool
}

// crash is what is known about the panics of an edit.
type crash struct {
	status string // of the edit; an undo begins again
	until  int    // links before this one are tried alone, because one of them is to blame
	at     int    // the link that was tried alone and panicked
	times  int    // how often it did so
}

// crashes has the panics of edits that have not ended. A process that starts again tries all links again. The zero value is ready.
type crashes struct {
	mu sync.Mutex
	of map[uint64]crash // by Num of the edit
}

func (c *crashes) pace(e *store.LinkEdit) pace {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.of[e.Num]
	switch {
	case known.status != e.Status || e.Done >= known.until:
		return pace{links: editStep}
	case known.at == e.Done && known.times >= editAttempts:
		return pace{links: 1, skip: true}
	}
	return pace{links: 1}
}

func (c *crashes) panicked(e *store.LinkEdit, how pace) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[uint64]crash{}
	}
	known := c.of[e.Num]
	switch {
	case how.links > 1:
		known = crash{status: e.Status, until: e.Done + how.links, at: -1}
	case known.at == e.Done:
		known.times++
	default:
		known.at, known.times = e.Done, 1
	}
	c.of[e.Num] = known
}

func (c *crashes) ended(e *store.LinkEdit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.of, e.Num)
}

// tryStep makes the next step of an edit. A panic is an error, after which the links of the step are tried one by one. So a link that
// panics again and again costs the edit only itself. Other errors, such as a database that does not answer, have no limit.
func (s *Service) tryStep(ctx context.Context, e *store.LinkEdit) (ended bool, err error) {
	how, before := s.crashes.pace(e), *e
	defer func() {
		if r := recover(); r != nil {
			s.crashes.panicked(&before, how)
			err = fmt.Errorf("panic at link %d: %v\n%s", before.Done, r, debug.Stack())
		}
		if ended {
			s.crashes.ended(e)
		}
	}()
	return s.editSome(ctx, e, how)
}
