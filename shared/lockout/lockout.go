// Package lockout holds the rules that slow down password guessing: how many failures lock a client out, for how long,
// and what a client is. Link passwords (on edges) and logins and second factors (on the control plane) use the same rules.
//
// It also defines the messages (JSON) and the port through which edges share failures at link passwords. It keeps no
// state. An edge decides from its own state without waiting; failures at other edges arrive a little later, or not at all
// while the control plane is down.
package lockout

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/shortline/shortline/shared/client"
)

// Threshold failures within Window lock a client out for 30 s. Each further failure doubles the lockout, up to 15 minutes.
const (
	Threshold = 5
	Window    = 10 * time.Minute

	firstLockout   = 30 * time.Second
	longestLockout = 15 * time.Minute
)

// Client identifies one visitor of one link. Address is a client.Key: an IPv4 address, or the first address of an IPv6
// /64, because one household has a whole /64.
type Client struct {
	Link    uint64     `json:"link"`
	Address netip.Addr `json:"from"`
}

// ClientOf returns the client that an address belongs to.
func ClientOf(link uint64, ip netip.Addr) Client {
	return Client{link, client.Key(ip)}
}

// Failures are the recent failed attempts of one client. The zero value means none.
type Failures struct {
	Count int       // failed attempts, and attempts without a result yet
	Last  time.Time // time of the latest attempt
}

// Duration returns how long a client is locked out after a number of failures, counted from the latest failure.
func Duration(failures int) time.Duration {
	over := failures - Threshold
	switch {
	case over < 0:
		return 0
	case over > 5: // 30 s · 2⁵ exceeds the longest lockout already
		return longestLockout
	}
	return min(firstLockout<<over, longestLockout)
}

// LockedUntil returns when the lockout ends. The zero time means that the client is not locked out.
func (f Failures) LockedUntil() time.Time {
	if f.Count < Threshold {
		return time.Time{}
	}
	return f.Last.Add(Duration(f.Count))
}

// ForgetAt returns when the failures no longer count: Window after the latest attempt or the end of the lockout.
func (f Failures) ForgetAt() time.Time {
	latest := f.Last
	if until := f.LockedUntil(); until.After(latest) {
		latest = until
	}
	return latest.Add(Window)
}

// Add returns the failures after n more of them, the latest at the time last. A negative n takes failures back. Failures
// that are due to be forgotten by then are dropped first.
func (f Failures) Add(n int, last time.Time) Failures {
	if f.Count <= 0 || last.After(f.ForgetAt()) {
		f = Failures{}
	}
	f.Count = max(0, f.Count+n)
	if last.After(f.Last) {
		f.Last = last
	}
	return f
}

// Report lists the attempts at one edge since its last report.
type Report struct {
	Edge    string     `json:"edge"`
	Clients []Attempts `json:"tries"` // at most MaxReported
}

// Attempts are the attempts of one client since the last report.
type Attempts struct {
	Client
	// Succeeded reports whether the client entered the right password. The failures before that are forgotten, then Count
	// is added.
	Succeeded bool `json:"right,omitempty"`
	// Count is the number of failures. It is negative if attempts that were already reported were cancelled.
	Count int `json:"count"`
	// AgoMs is the age of the latest attempt in milliseconds. Reports hold ages because the clocks of edges differ.
	AgoMs int64 `json:"agoMs"`
}

// State is the number of failures of one client at all edges together.
type State struct {
	Client
	Count   int    `json:"count"` // 0 means that the failures are forgotten
	AgoMs   int64  `json:"agoMs"` // age of the latest attempt in milliseconds
	Version uint64 `json:"mark"`  // of two states of one client, the one with the higher version is current
}

// Changes are the states that changed after a version, ordered by version.
type Changes struct {
	// Next is the cursor for the next call. It goes backwards if the control plane lost its state.
	Next   uint64  `json:"next"`
	States []State `json:"standings"`
}

// Limits of one message.
const (
	MaxReported = 256  // clients in a Report
	MaxStates   = 1024 // states in Changes
	maxCount    = 1 << 16
	maxAgo      = int64(24 * time.Hour / time.Millisecond)
)

// Errors that an Exchange wraps. After ErrBusy the caller retries. ErrUnsupported means that the control plane is of a
// release without this exchange.
var (
	ErrBusy        = errors.New("lockout: the control plane is busy")
	ErrUnsupported = errors.New("lockout: the control plane does not share lockouts")
)

// Exchange shares failures between edges through the control plane. Implementations are safe for concurrent use.
// Package lockouttest holds their conformance suite.
type Exchange interface {
	// ReportAttempts counts the attempts of a report and returns the states of its clients. The caller retries after an
	// error. The control plane may have counted the failed report already, so a retry counts attempts twice at worst.
	ReportAttempts(ctx context.Context, r Report) ([]State, error)

	// StateChanges waits until a state changes after a version and returns the changes. Version 0 asks for all states.
	// After some time without a change it may return Changes without states.
	StateChanges(ctx context.Context, after uint64) (Changes, error)
}

// Validate checks the limits and the clients of a report.
func (r Report) Validate() error {
	if r.Edge == "" || len(r.Edge) > 64 || len(r.Clients) > MaxReported {
		return fmt.Errorf("a report must name its edge and at most %d clients", MaxReported)
	}
	for _, a := range r.Clients {
		if !a.valid() || a.Count > maxCount || a.Count < -maxCount || a.AgoMs < 0 || a.AgoMs > maxAgo {
			return errors.New(
				"a client in a report must have a link, an IPv4 address or the first address of an IPv6 /64, a count and an age")
		}
	}
	return nil
}

func (c Client) valid() bool { return c.Address.IsValid() && c == ClientOf(c.Link, c.Address) }

// Valid reports whether all fields of a state are within their limits.
func (s State) Valid() bool {
	return s.valid() && s.Count >= 0 && s.AgoMs >= 0 && s.AgoMs <= maxAgo
}

// Age returns how long ago a time was, in milliseconds as in AgoMs: from 0 to 24 hours.
func Age(at, now time.Time) int64 { return min(max(0, now.Sub(at).Milliseconds()), maxAgo) }
