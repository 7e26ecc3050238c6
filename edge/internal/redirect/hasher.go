package redirect

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/bcrypt"
)

// Bounds of password checking. A bcrypt costs from 60 ms to half a second, so it is the one thing a stranger
// could keep an edge busy with.
const (
	hashQueue  = 256             // guesses that wait for the slot
	clientWait = 8               // and of one client
	hashWait   = 2 * time.Second // and for how long
	hashShare  = 4               // under a flood, hashing takes at most one part in four of the processor
)

var errBusy = errors.New("redirect: too many passwords are being checked")

// hasher compares passwords with their hashes, one at a time. Clients take turns, whatever number of guesses each of them
// has waiting, so that one client's guesses delay another client by one comparison at a time. What was right a moment ago
// needs no comparison.
type hasher struct {
	mu      sync.Mutex
	busy    bool    // somebody compares, or the slot rests
	waiting int     // in all queues
	queues  []*line // of clients that wait; the first is next
	recent  recent  // what was right
	done    atomic.Uint64
	fastest [bcrypt.MaxCost + 1]time.Duration // by cost; for whoever has the slot
}

// line is one client's guesses that wait, the oldest first.
type line struct {
	client netip.Addr
	turns  []chan bool
}

func newHasher() *hasher {
	h := &hasher{}
	_, _ = rand.Read(h.recent.key[:]) // never fails
	return h
}

// attempt is one guess at the password of a link.
type attempt struct {
	link     uint64
	hash     string
	password []byte
	client   netip.Addr // a client.Key
}

// compare reports whether the password is the one that was hashed. It returns errBusy if the slot doesn't come free in time
// or too many wait for it. When it is this one's turn, wait says whether it may still be looked at: it returns 0, or what
// compare then returns without having looked.
func (h *hasher) compare(a attempt, now func() time.Time, wait func() time.Duration) (right bool, locked time.Duration, err error) {
	if !h.turn(a.client) {
		return false, 0, errBusy
	}
	if locked := wait(); locked > 0 {
		h.release()
		return false, locked, nil
	}
	if h.recent.has(a, now()) { // somebody before it had the same
		h.release()
		return true, 0, nil
	}
	began := time.Now()
	err = bcrypt.CompareHashAndPassword([]byte(a.hash), a.password)
	took := h.least(a.hash, time.Since(began))
	h.done.Add(1)
	if err == nil {
		h.recent.add(a, now())
	}
	// The slot rests before the next comes in, unless there are processors enough for one of them to be kept
	// busy. Whoever was just answered doesn't wait for it.
	if rest := took * time.Duration(hashShare-runtime.GOMAXPROCS(0)) / time.Duration(runtime.GOMAXPROCS(0)); rest > 0 {
		time.AfterFunc(rest, h.release)
	} else {
		h.release()
	}
	return err == nil, 0, nil
}

// least is about how much processor time a comparison takes: the least that one of the same cost took from beginning to end.
// On a busy machine the present one may have waited for a processor most of the time. The slot is the caller's.
func (h *hasher) least(hash string, took time.Duration) time.Duration {
	cost, err := bcrypt.Cost([]byte(hash))
	if err != nil {
		return took // nothing was compared
	}
	if known := &h.fastest[cost%len(h.fastest)]; *known == 0 || took < *known {
		*known = took
	}
	return h.fastest[cost%len(h.fastest)]
}

// turn waits for the slot. Whoever gets true calls release.
func (h *hasher) turn(client netip.Addr) bool {
	h.mu.Lock()
	if !h.busy {
		h.busy = true
		h.mu.Unlock()
		return true
	}
	mine, ok := h.enter(client)
	h.mu.Unlock()
	if !ok {
		return false
	}
	timer := time.NewTimer(hashWait)
	defer timer.Stop()
	select {
	case granted := <-mine:
		return granted
	case <-timer.C:
	}
	h.mu.Lock()
	left := h.leave(client, mine)
	h.mu.Unlock()
	return !left && <-mine // the turn came at the last moment
}

// enter puts a guess into its client's line. Where all lines together are full, the latest guess of the longest line makes
// room, unless that would be no shorter than this client's. The hasher is locked, as for all below.
func (h *hasher) enter(client netip.Addr) (mine chan bool, ok bool) {
	own := h.line(client)
	if own != nil && len(own.turns) == clientWait {
		return nil, false
	}
	if h.waiting == hashQueue {
		longest := slices.MaxFunc(h.queues, func(a, b *line) int { return len(a.turns) - len(b.turns) })
		if own != nil && len(own.turns)+1 >= len(longest.turns) || len(longest.turns) == 1 {
			return nil, false
		}
		last := len(longest.turns) - 1
		longest.turns[last] <- false
		longest.turns = longest.turns[:last]
		h.waiting--
	}
	if own == nil {
		own = &line{client: client}
		h.queues = append(h.queues, own)
	}
	mine = make(chan bool, 1)
	own.turns = append(own.turns, mine)
	h.waiting++
	return mine, true
}

func (h *hasher) line(client netip.Addr) *line {
	for _, l := range h.queues {
		if l.client == client {
			return l
		}
	}
	return nil
}

// leave takes a guess out of its line. It returns false if it isn't there, because it has been told something.
func (h *hasher) leave(client netip.Addr, mine chan bool) bool {
	l := h.line(client)
	if l == nil {
		return false
	}
	i := slices.Index(l.turns, mine)
	if i < 0 {
		return false
	}
	l.turns = slices.Delete(l.turns, i, i+1)
	if h.waiting--; len(l.turns) == 0 {
		h.queues = slices.DeleteFunc(h.queues, func(o *line) bool { return o == l })
	}
	return true
}

// release gives the slot to the oldest guess of the client whose turn it is. That client then goes to the end.
func (h *hasher) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.queues) == 0 {
		h.busy = false
		return
	}
	l := h.queues[0]
	l.turns[0] <- true
	h.waiting--
	l.turns = slices.Delete(l.turns, 0, 1)
	h.queues = slices.Delete(h.queues, 0, 1)
	if len(l.turns) > 0 {
		h.queues = append(h.queues, l)
	}
}

// What was right is remembered for rightFor, in recentSets · recentWays places, which take 160 KiB.
const (
	rightFor   = time.Minute
	recentSets = 1 << 10 // a power of two
	recentWays = 4
)

// recent remembers right passwords of links. It holds no password but a MAC of it, of the link and of the link's present
// hash, under a key that this process has drawn. A changed password is another hash, so what was right before it is not found.
type recent struct {
	key  [32]byte
	mu   sync.Mutex
	sets [recentSets][recentWays]struct {
		mac   [sha256.Size]byte
		until int64 // Unix nanoseconds
	}
}

func (r *recent) mac(a attempt) (m [sha256.Size]byte) {
	mac := hmac.New(sha256.New, r.key[:])
	var head [16]byte
	binary.LittleEndian.PutUint64(head[:], a.link)
	binary.LittleEndian.PutUint64(head[8:], uint64(len(a.hash)))
	mac.Write(head[:])
	mac.Write([]byte(a.hash))
	mac.Write(a.password)
	mac.Sum(m[:0])
	return m
}

func (r *recent) has(a attempt, now time.Time) bool {
	m := r.mac(a)
	at := now.UnixNano()
	r.mu.Lock()
	defer r.mu.Unlock()
	set := &r.sets[binary.LittleEndian.Uint64(m[:])%recentSets]
	for i := range set {
		// More than rightFor ahead is of a clock that was set back since.
		if set[i].mac == m && set[i].until > at && set[i].until <= at+int64(rightFor) {
			return true
		}
	}
	return false
}

func (r *recent) add(a attempt, now time.Time) {
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
