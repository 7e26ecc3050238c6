// Package guess is who guesses passwords of links: the rules of the lock on guesses, and the words in which edges and
// the control plane tell each other of failures, so that all of them count together.
//
// It owns the rules and the wire form (JSON) and keeps nothing. An edge answers by what it knows itself, at once; what
// the others know comes to it a little later, or not at all while the control plane is away.
package guess

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/shortline/shortline/shared/client"
)

// The rules, of links' passwords and of logins: Free failures within Window lock whoever guesses for 30 s, and each
// further one for twice as long, up to 15 minutes.
const (
	Free   = 5
	Window = 10 * time.Minute

	firstLock   = 30 * time.Second
	longestLock = 15 * time.Minute
)

// Client is one address at one link. Of an IPv6 address only the /64 counts, since one household has all of it.
type Client struct {
	Link uint64     `json:"link"`
	From netip.Addr `json:"from"`
}

// ClientOf names whoever guesses from an address.
func ClientOf(link uint64, ip netip.Addr) Client {
	return Client{link, client.Key(ip)}
}

// Tries is what is held against a client. The zero value is nothing.
type Tries struct {
	Count int       // guesses that were not right, or whose outcome isn't known yet
	Last  time.Time // of the latest one
}

// Lock is how long a number of failures locks, from the latest of them.
func Lock(failures int) time.Duration {
	over := failures - Free
	switch {
	case over < 0:
		return 0
	case over > 5: // 30 s · 2⁵ is past the longest already
		return longestLock
	}
	return min(firstLock<<over, longestLock)
}

// Until is when the client may guess again; a time before Last means that it may at any time.
func (t Tries) Until() time.Time {
	if t.Count < Free {
		return time.Time{}
	}
	return t.Last.Add(Lock(t.Count))
}

// ForgetAt is when nothing is held against the client any more.
func (t Tries) ForgetAt() time.Time {
	latest := t.Last
	if until := t.Until(); until.After(latest) {
		latest = until
	}
	return latest.Add(Window)
}

// With are the tries after more of them, the latest at a time. What has been forgotten by then doesn't count.
func (t Tries) With(n int, last time.Time) Tries {
	if t.Count <= 0 || last.After(t.ForgetAt()) {
		t = Tries{}
	}
	t.Count = max(0, t.Count+n)
	if last.After(t.Last) {
		t.Last = last
	}
	return t
}

// Report is what happened at an edge since its last report.
type Report struct {
	Edge  string `json:"edge"`
	Tries []Told `json:"tries"` // at most MaxTold
}

// Told are tries of one client.
type Told struct {
	Client
	// Right says that the client knew the password: what was held against it before is forgotten, then Count counts.
	Right bool `json:"right,omitempty"`
	// Count is below 0 where guesses that were reported have turned out not to have been looked at.
	Count int `json:"count"`
	// AgoMs is how long ago the latest was, in milliseconds: clocks of edges differ.
	AgoMs int64 `json:"agoMs"`
}

// Standing is what is held against a client by all edges together.
type Standing struct {
	Client
	Count int    `json:"count"` // 0: nothing any more
	AgoMs int64  `json:"agoMs"` // how long ago the latest was, in milliseconds
	Mark  uint64 `json:"mark"`  // a later one replaces an earlier one of the same client
}

// News are standings that changed after a mark, in order of their marks.
type News struct {
	// Next is what to ask after the next time. It is lower than what was asked after where the control plane's memory is
	// another one than before.
	Next      uint64     `json:"next"`
	Standings []Standing `json:"standings"`
}

// Bounds of one message.
const (
	MaxTold      = 256
	MaxStandings = 1024
	maxCount     = 1 << 16
	maxAgo       = int64(24 * time.Hour / time.Millisecond)
)

// ErrBusy is wrapped by an Exchange's error that means: not now. ErrNone means that the other side is of a release that
// doesn't know of this.
var (
	ErrBusy = errors.New("guess: the control plane is busy")
	ErrNone = errors.New("guess: the control plane doesn't share locks")
)

// Exchange is how edges tell each other through the control plane. A snapshot.Source that is one, too, is asked. It is
// safe for concurrent use.
type Exchange interface {
	// Tell reports and returns the standings of the clients in the report. A report that may or may not have arrived can
	// be made again: at worst it counts twice.
	Tell(ctx context.Context, r Report) ([]Standing, error)

	// News returns what changed after a mark, 0 for all that is known, as soon as there is something. It may return News
	// without standings when nothing changed for a while.
	News(ctx context.Context, after uint64) (News, error)
}

// Validate reports what makes no sense.
func (r Report) Validate() error {
	if r.Edge == "" || len(r.Edge) > 64 || len(r.Tries) > MaxTold {
		return fmt.Errorf("a report names its edge, and at most %d clients", MaxTold)
	}
	for _, t := range r.Tries {
		if !t.valid() || t.Count > maxCount || t.Count < -maxCount || t.AgoMs < 0 || t.AgoMs > maxAgo {
			return errors.New("a client is a link and an address as the lock knows it, with a count and a time")
		}
	}
	return nil
}

func (c Client) valid() bool { return c.From.IsValid() && c == ClientOf(c.Link, c.From) }

// Valid reports whether a standing makes sense.
func (s Standing) Valid() bool {
	return s.valid() && s.Count >= 0 && s.AgoMs >= 0 && s.AgoMs <= maxAgo
}

// Ago is a time as a message has it, not below 0.
func Ago(at, now time.Time) int64 { return min(max(0, now.Sub(at).Milliseconds()), maxAgo) }
