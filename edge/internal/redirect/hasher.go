package redirect

import (
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/bcrypt"
)

// Bounds of password checking. A bcrypt costs from 60 ms to half a second, so it is the one thing a stranger
// could keep an edge busy with.
const (
	hashQueue = 8               // guesses that wait for the slot
	hashWait  = 1 * time.Second // and for how long
	hashShare = 4               // under a flood, hashing takes at most one part in four of the processor
)

var errBusy = errors.New("redirect: too many passwords are being checked")

// hasher compares passwords with their hashes, one at a time.
type hasher struct {
	slot    chan struct{}
	waiting atomic.Int32
	done    atomic.Uint64
}

func newHasher() *hasher { return &hasher{slot: make(chan struct{}, 1)} }

// compare reports whether the password is the one that was hashed. It returns errBusy if the slot doesn't
// come free in time or too many wait for it. When it is this one's turn, wait says whether it may still be looked at:
// it returns 0, or what compare then returns without having looked.
func (h *hasher) compare(hash string, password []byte, wait func() time.Duration) (right bool, locked time.Duration, err error) {
	if h.waiting.Add(1) > hashQueue {
		h.waiting.Add(-1)
		return false, 0, errBusy
	}
	timer := time.NewTimer(hashWait)
	defer timer.Stop()
	select {
	case h.slot <- struct{}{}:
		h.waiting.Add(-1)
	case <-timer.C:
		h.waiting.Add(-1)
		return false, 0, errBusy
	}
	if locked := wait(); locked > 0 {
		h.release()
		return false, locked, nil
	}
	began := time.Now()
	err = bcrypt.CompareHashAndPassword([]byte(hash), password)
	h.done.Add(1)
	// The slot rests before the next comes in, unless there are processors enough for one of them to be kept
	// busy. Whoever was just answered doesn't wait for it.
	if rest := time.Since(began) * time.Duration(hashShare-runtime.GOMAXPROCS(0)) / time.Duration(runtime.GOMAXPROCS(0)); rest > 0 {
		time.AfterFunc(rest, h.release)
	} else {
		h.release()
	}
	return err == nil, 0, nil
}

func (h *hasher) release() { <-h.slot }
