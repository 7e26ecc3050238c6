// Package work shares slots for work that users can order and that takes much of the processor or of the memory, such as
// drawing QR codes. A user holds a limited number of slots of a queue at a time, users take turns (see package fairqueue),
// and a caller that gets no slot in time is told to try again. Known limit: slots are counted per process.
package work

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/shared/fairqueue"
)

// Limits of the callers that wait in one queue: of one user, and of all.
const (
	perUserWaiting = 64
	waitingInAll   = 1024
	remembered     = 4096 // users whose latest turn is remembered
)

// retryAfter is when a caller that got no slot should try again.
const retryAfter = 5 * time.Second

// Config sets the limits of a queue. All fields are required.
type Config struct {
	Slots   int           // of all users
	PerUser int           // slots that one user holds at a time
	Wait    time.Duration // the longest wait for a slot
	Busy    string        // what a caller is told that gets none, such as "Too many images are being converted."
}

// Queue hands out slots. It is safe for concurrent use.
type Queue struct {
	cfg   Config
	turns *fairqueue.Queue[string]
	mu    sync.Mutex
	users map[string]*user
}

// user has the callers of one user: those that hold a slot, and those that wait.
type user struct {
	held    chan struct{} // capacity PerUser
	callers int
}

// New returns a queue whose slots are all free.
func New(cfg Config) *Queue {
	turns := fairqueue.New[string](fairqueue.Config{Slots: cfg.Slots, Waiting: waitingInAll, PerClient: cfg.PerUser, Remember: remembered})
	return &Queue{cfg: cfg, turns: turns, users: map[string]*user{}}
}

// NewComputing returns the queue that all computations of the API share that users can order: explanations, replays, dry runs of
// imports, QR codes, images and the hashes of links' passwords. A quarter of the processors serves it, so that the others answer
// visitors and sign-ins. wait is the longest wait for a slot.
func NewComputing(wait time.Duration) *Queue {
	return New(Config{
		Slots: max(1, runtime.GOMAXPROCS(0)/4), PerUser: 1, Wait: wait,
		Busy: "Too many explanations, dry runs, QR codes, images and passwords are being computed.",
	})
}

// Slot is a slot that a caller holds. Only one goroutine may use it.
type Slot struct {
	queue *Queue
	name  string
	user  *user
	has   bool // false: lent to others, or left
	left  bool
}

// Enter waits for a slot of a user. The caller must call Leave. The error is Unavailable if no slot became free in time or
// too many callers wait, and context.Canceled if the caller has left. If the context holds a slot of the queue already (see
// Holding), Enter takes no second one. A nil Queue limits nothing.
func (q *Queue) Enter(ctx context.Context, name string) (*Slot, error) {
	if q == nil {
		return &Slot{left: true}, nil
	}
	if held, _ := ctx.Value(slotKey{}).(*Slot); held != nil && held.queue == q && held.has {
		return &Slot{left: true}, nil
	}
	s := &Slot{queue: q, name: name, user: q.join(name)}
	if s.user == nil {
		return nil, q.busy()
	}
	waiting, cancel := context.WithTimeout(ctx, q.cfg.Wait)
	defer cancel()
	select {
	case s.user.held <- struct{}{}:
	case <-waiting.Done():
		q.part(name, s.user)
		return nil, q.noSlot(ctx)
	}
	if s.has = q.turns.Acquire(waiting, name); !s.has {
		s.Leave()
		return nil, q.noSlot(ctx)
	}
	return s, nil
}

// Leave frees the slot. Further calls do nothing.
func (s *Slot) Leave() {
	if s.left {
		return
	}
	if s.left = true; s.has {
		s.has = false
		s.queue.turns.Release()
	}
	<-s.user.held
	s.queue.part(s.name, s.user)
}

func (q *Queue) join(name string) *user {
	q.mu.Lock()
	defer q.mu.Unlock()
	u := q.users[name]
	if u == nil {
		u = &user{held: make(chan struct{}, q.cfg.PerUser)}
		q.users[name] = u
	}
	if u.callers >= q.cfg.PerUser+perUserWaiting {
		return nil
	}
	u.callers++
	return u
}

func (q *Queue) part(name string, u *user) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if u.callers--; u.callers == 0 {
		delete(q.users, name)
	}
}

// noSlot returns why a caller got no slot. A caller that has left must not look like a busy server in logs and metrics.
func (q *Queue) noSlot(ctx context.Context) error {
	if err := ctx.Err(); errors.Is(err, context.Canceled) {
		return err
	}
	return q.busy()
}

func (q *Queue) busy() error {
	e := problem.New(problem.Unavailable, "%s Try again shortly.", q.cfg.Busy)
	e.RetryAfter = retryAfter
	return e
}

type slotKey struct{}

// Holding returns a context of work that holds the slot, for Enter and Lend.
func Holding(ctx context.Context, s *Slot) context.Context {
	return context.WithValue(ctx, slotKey{}, s)
}

// Lend calls f while others use the slot that the context holds, because f mostly waits, and takes a slot again. The user's
// share stays taken, so that a user cannot begin any number of calls. Without a slot, it only calls f. The error is that of f,
// or the one of Enter.
func Lend(ctx context.Context, f func() error) error {
	s, _ := ctx.Value(slotKey{}).(*Slot)
	if s == nil || !s.has {
		return f()
	}
	s.has = false
	s.queue.turns.Release()
	if err := f(); err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, s.queue.cfg.Wait)
	defer cancel()
	if s.has = s.queue.turns.Acquire(waiting, s.name); !s.has {
		return s.queue.noSlot(ctx)
	}
	return nil
}
