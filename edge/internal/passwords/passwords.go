// Package passwords compares attempts at the passwords of links with their bcrypt hashes. A comparison takes 60 ms to 500 ms of
// processor time, so a flood of attempts could otherwise keep an edge busy.
package passwords

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/shortline/shortline/shared/fairqueue"
)

const (
	queueLength = 256 // attempts that wait for the slot
	perClient   = 8   // attempts of one client that wait
	share       = 4   // under a flood, comparisons take at most a quarter of the processor
)

// ErrBusy means that a password was not compared, because too many others are. The client may try again.
var ErrBusy = errors.New("passwords: too many are being compared")

// Checker compares passwords with their hashes, one at a time. Clients take turns, however many attempts each has
// waiting, so one client's attempts delay another client by one comparison at a time. A password that was right a moment
// ago needs no comparison. It is safe for concurrent use.
type Checker struct {
	queue  *fairqueue.Queue[netip.Addr]
	limit  time.Duration // how long an attempt waits for the slot
	recent recent        // passwords that were right
	done   atomic.Uint64 // comparisons
}

// New returns a Checker in which an attempt waits at most for limit while others are compared.
func New(limit time.Duration) *Checker {
	c := &Checker{limit: limit, queue: fairqueue.New[netip.Addr](fairqueue.Config{Slots: 1, Waiting: queueLength, PerClient: perClient})}
	_, _ = rand.Read(c.recent.key[:]) // never fails
	return c
}

// Attempt is one try at the password of a link.
type Attempt struct {
	Link     uint64     // the link's number
	Hash     string     // of the link's present password, by bcrypt
	Password []byte     // what the client sent
	Client   netip.Addr // a client.Key
}

// Compared returns the number of comparisons since New.
func (c *Checker) Compared() uint64 { return c.done.Load() }

// Remembers reports whether the attempt has a password that was right at most a minute before now. That costs no comparison.
func (c *Checker) Remembers(a Attempt, now time.Time) bool { return c.recent.has(a, now) }

// Compare reports whether the password is the one that was hashed. It returns ErrBusy if the slot does not become free
// in time, or if too many attempts wait for it. When it has the slot, it calls wait. If that returns more than 0, the
// client is locked out for that time: Compare returns the time and does not compare. now is the clock for Remembers.
func (c *Checker) Compare(a Attempt, now func() time.Time, wait func() time.Duration) (right bool, locked time.Duration, err error) {
	if !c.acquire(a.Client) {
		return false, 0, ErrBusy
	}
	if locked := wait(); locked > 0 {
		c.queue.Release()
		return false, locked, nil
	}
	if c.recent.has(a, now()) { // an earlier attempt in the queue was the same
		c.queue.Release()
		return true, 0, nil
	}
	runtime.LockOSThread() // processorTime is that of a thread
	began := processorTime()
	err = bcrypt.CompareHashAndPassword([]byte(a.Hash), a.Password)
	took := processorTime() - began
	runtime.UnlockOSThread()
	c.done.Add(1)
	if err == nil {
		c.recent.add(a, now())
	}
	// Keep the slot for a while, unless the machine has enough processors for one of them to be busy all the time. The
	// present caller does not wait for that.
	if rest := took * time.Duration(share-runtime.GOMAXPROCS(0)) / time.Duration(runtime.GOMAXPROCS(0)); rest > 0 {
		time.AfterFunc(rest, c.queue.Release)
	} else {
		c.queue.Release()
	}
	return err == nil, 0, nil
}

// acquire waits for the slot for at most c.limit. If it returns true, the caller must release the slot.
func (c *Checker) acquire(client netip.Addr) bool {
	ctx, cancel := context.WithTimeout(context.Background(), c.limit)
	defer cancel()
	return c.queue.Acquire(ctx, client)
}

// Right passwords are remembered for rightFor, in recentSets · recentWays entries, which take 160 KiB.
const (
	rightFor   = time.Minute
	recentSets = 1 << 10 // a power of two
	recentWays = 4
)

// recent remembers right passwords of links. It stores no password, but a MAC of the password, the link and the link's
// present hash, under a random key of this process. After a change of the password the hash differs, so the old entry
// is not found.
type recent struct {
	key  [32]byte
	mu   sync.Mutex
	sets [recentSets][recentWays]struct {
		mac   [sha256.Size]byte
		until int64 // Unix nanoseconds
	}
}

func (r *recent) mac(a Attempt) (m [sha256.Size]byte) {
	mac := hmac.New(sha256.New, r.key[:])
	var head [16]byte
	binary.LittleEndian.PutUint64(head[:], a.Link)
	binary.LittleEndian.PutUint64(head[8:], uint64(len(a.Hash)))
	mac.Write(head[:])
	mac.Write([]byte(a.Hash))
	mac.Write(a.Password)
	mac.Sum(m[:0])
	return m
}

func (r *recent) has(a Attempt, now time.Time) bool {
	m := r.mac(a)
	at := now.UnixNano()
	r.mu.Lock()
	defer r.mu.Unlock()
	set := &r.sets[binary.LittleEndian.Uint64(m[:])%recentSets]
	for i := range set {
		// An entry that ends later than rightFor from now was made before the clock was set back.
		if set[i].mac == m && set[i].until > at && set[i].until <= at+int64(rightFor) {
			return true
		}
	}
	return false
}

func (r *recent) add(a Attempt, now time.Time) {
	m := r.mac(a)
	r.mu.Lock()
	defer r.mu.Unlock()
	set := &r.sets[binary.LittleEndian.Uint64(m[:])%recentSets]
	place := &set[0]
	for i := range set {
		if set[i].mac == m {
			place = &set[i]
			break
		}
		if set[i].until < place.until {
			place = &set[i]
		}
	}
	place.mac, place.until = m, now.Add(rightFor).UnixNano()
}
