package redirect

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

// Limits of password checks. A bcrypt comparison takes 60 ms to 500 ms of processor time, so a flood of guesses could
// otherwise keep an edge busy.
const (
	hashQueue  = 256             // guesses that wait for the slot
	clientWait = 8               // guesses of one client that wait
	hashWait   = 2 * time.Second // how long a guess waits, unless Config.HashWait says otherwise
	hashShare  = 4               // under a flood, comparisons take at most a quarter of the processor
)

var errBusy = errors.New("redirect: too many passwords are being checked")

// hasher compares passwords with their hashes, one at a time. Clients take turns, however many guesses each has
// waiting, so one client's guesses delay another client by one comparison at a time. A password that was right a moment
// ago needs no comparison. It is safe for concurrent use.
type hasher struct {
	queue   *fairqueue.Queue[netip.Addr]
	limit   time.Duration                     // how long a guess waits for the slot
	recent  recent                            // passwords that were right
	done    atomic.Uint64                     // comparisons
	fastest [bcrypt.MaxCost + 1]time.Duration // by cost; only the holder of the slot uses it
}

func newHasher(limit time.Duration) *hasher {
	h := &hasher{limit: limit, queue: fairqueue.New[netip.Addr](fairqueue.Config{Slots: 1, Waiting: hashQueue, PerClient: clientWait})}
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

// compare reports whether the password is the one that was hashed. It returns errBusy if the slot does not become free
// in time, or if too many guesses wait for it. When it has the slot, it calls wait. If that returns more than 0, the
// client is locked out for that time: compare returns the time and does not compare.
func (h *hasher) compare(a attempt, now func() time.Time, wait func() time.Duration) (right bool, locked time.Duration, err error) {
	if !h.acquire(a.client) {
		return false, 0, errBusy
	}
	if locked := wait(); locked > 0 {
		h.queue.Release()
		return false, locked, nil
	}
	if h.recent.has(a, now()) { // an earlier guess in the queue was the same
		h.queue.Release()
		return true, 0, nil
	}
	began := time.Now()
	err = bcrypt.CompareHashAndPassword([]byte(a.hash), a.password)
	took := h.least(a.hash, time.Since(began))
	h.done.Add(1)
	if err == nil {
		h.recent.add(a, now())
	}
	// Keep the slot for a while, unless the machine has enough processors for one of them to be busy all the time. The
	// present caller does not wait for that.
	if rest := took * time.Duration(hashShare-runtime.GOMAXPROCS(0)) / time.Duration(runtime.GOMAXPROCS(0)); rest > 0 {
		time.AfterFunc(rest, h.queue.Release)
	} else {
		h.queue.Release()
	}
	return err == nil, 0, nil
}

// acquire waits for the slot for at most h.limit. If it returns true, the caller must release the slot.
func (h *hasher) acquire(client netip.Addr) bool {
	ctx, cancel := context.WithTimeout(context.Background(), h.limit)
	defer cancel()
	return h.queue.Acquire(ctx, client)
}

// least estimates the processor time of a comparison: the shortest time that a comparison of the same cost has taken so
// far. On a busy machine the present one may have waited for a processor most of the time. The caller must have the
// slot.
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
		// An entry that ends later than rightFor from now was made before the clock was set back.
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
