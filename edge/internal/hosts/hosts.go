// Package hosts holds the host names of custom domains that this edge serves.
//
// A Table follows a snapshot.HostSource and keeps what it has learned in a file, so an edge that starts without a control
// plane serves the hosts that it served before. Visitors read an immutable map, which every change replaces.
package hosts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/shared/backoff"
	"github.com/shortline/shortline/shared/decision"
	"github.com/shortline/shortline/shared/snapshot"
)

// Host is a host name with what visits need. It never changes, apart from its certificate, which is opened when it is first
// needed.
type Host struct {
	snapshot.Host
	Home decision.Home // recognizes destinations on this host
	// Withdrawn means that the name is not in service, and Suspended that an administrator is the reason. Nothing else is
	// known of such a name.
	Withdrawn, Suspended bool
	opened               atomic.Pointer[opened]
}

// Config configures a Table. Dir and Source are required.
type Config struct {
	Dir    string // for the file of hosts; a table locks it
	Source snapshot.HostSource
	Keys   snapshot.Keys // trusted keys of control planes; zero: none is needed
	Logger *slog.Logger  // nil for slog.Default()
}

const (
	// The control plane answers a held request within half a minute, so after this time the connection is dead.
	changesTimeout = 90 * time.Second
	backoffMin     = 500 * time.Millisecond
	backoffMax     = 15 * time.Second
	patience       = 5 * time.Second // of Settled
)

// Table is safe for concurrent use. Run keeps it up to date.
type Table struct {
	cfg Config
	now atomic.Pointer[state]

	mu   sync.Mutex // serializes changes
	file *file

	settled atomic.Bool // see Settled
	patient time.Time   // until when Settled waits for the control plane

	certificates *Certificates // nil if this edge has no TLS

	applied, failed, diskErrors atomic.Uint64
	contact                     atomic.Int64
}

// state is everything that the table knows at one moment.
type state struct {
	cursor snapshot.Cursor
	hosts  map[string]*Host // by name, with those that are withdrawn
	served int              // hosts that are not withdrawn
	// complete means that hosts has all withdrawn names. Control planes of earlier releases do not tell them.
	complete bool
	// tickets are the sealed keys of session tickets.
	tickets     []string
	conversions *Conversions // nil before the control plane has told
	base        *base        // nil before the control plane has told
}

// base is what edges know of links on the host of BASE_URL, and of previews.
type base struct {
	wire   *snapshot.Base
	hidden map[uint64]bool
}

// Open returns a Table with the hosts in the folder's file. A file that is damaged at its end is read up to there. The error
// wraps durable.ErrInUse if another process uses the folder.
func Open(cfg Config) (*Table, error) {
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	t := &Table{cfg: cfg}
	t.now.Store(&state{})
	f, updates, err := openFile(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("open the file of hosts: %w", err)
	}
	t.file = f
	for i := range updates {
		t.now.Store(t.now.Load().after(&updates[i]))
	}
	t.settled.Store(len(updates) > 0)
	t.patient = time.Now().Add(patience)
	if s := t.now.Load(); s.conversions == nil || s.base == nil || !s.complete {
		// An edge of an earlier release may have skipped conversions, the base or withdrawn names and moved its cursor past them. The full
		// list, which the zero cursor requests, always has them.
		s.cursor = snapshot.Cursor{}
	}
	return t, nil
}

// Settled reports whether visits may be answered: the table has hosts and keys of click ids from its file or from the control
// plane, or the control plane has none, or has not answered for five seconds since Open. Without this wait, the first
// visitors of a new edge would reach tracked destinations without a click id. It takes no lock.
func (t *Table) Settled() bool {
	if t.settled.Load() {
		return true
	}
	if time.Now().Before(t.patient) {
		return false
	}
	t.settled.Store(true)
	return true
}

// Close closes the file and unlocks the folder. Run must have ended.
func (t *Table) Close() error { return t.file.close() }

// after returns the state after an update.
func (s *state) after(u *snapshot.Hosts) *state {
	next := &state{
		cursor: u.Cursor, hosts: make(map[string]*Host, len(s.hosts)+len(u.Hosts)+len(u.Withdrawn)),
		complete: s.complete, tickets: s.tickets, conversions: s.conversions, base: s.base,
	}
	if u.Base != nil {
		next.base = &base{wire: u.Base, hidden: map[uint64]bool{}}
		for _, workspace := range u.Base.Hidden {
			next.base.hidden[workspace] = true
		}
	}
	if u.Conversions != nil {
		next.conversions = newConversions(u.Conversions)
	}
	if u.Tickets != nil {
		next.tickets = u.Tickets
	}
	if u.Full {
		next.complete = u.Withdrawn != nil
	} else {
		maps.Copy(next.hosts, s.hosts)
	}
	for _, name := range u.Gone {
		delete(next.hosts, name)
	}
	for _, w := range u.Withdrawn {
		next.hosts[w.Name] = &Host{Host: snapshot.Host{Name: w.Name}, Withdrawn: true, Suspended: w.Suspended}
	}
	for i := range u.Hosts {
		h := &u.Hosts[i]
		next.hosts[h.Name] = &Host{Host: *h, Home: decision.HomeOf(h.Name)}
	}
	for _, h := range next.hosts {
		if !h.Withdrawn {
			next.served++
		}
	}
	return next
}

// list returns the state as an update from nothing.
func (s *state) list() *snapshot.Hosts {
	u := &snapshot.Hosts{Cursor: s.cursor, Full: true, Tickets: s.tickets, Hosts: make([]snapshot.Host, 0, s.served)}
	if s.conversions != nil {
		u.Conversions = s.conversions.wire
	}
	if s.base != nil {
		u.Base = s.base.wire
	}
	if s.complete {
		u.Withdrawn = []snapshot.Withdrawn{}
	}
	for _, h := range s.hosts {
		if h.Withdrawn && !s.complete {
			continue // the next start asks for the full list
		}
		if h.Withdrawn {
			u.Withdrawn = append(u.Withdrawn, snapshot.Withdrawn{Name: h.Name, Suspended: h.Suspended})
		} else {
			u.Hosts = append(u.Hosts, h.Host)
		}
	}
	return u
}

// Slugs returns which slugs a host has, which is that of BASE_URL if h is nil or one of the service's own.
func (t *Table) Slugs(h *Host) (form snapshot.SlugForm) {
	if h != nil && h.Domain != 0 {
		return h.SlugForm
	}
	if b := t.now.Load().base; b != nil {
		form = b.wire.SlugForm
	}
	return form
}

// HidesPreviews reports whether links of a workspace have no previews.
func (t *Table) HidesPreviews(workspace uint64) bool {
	b := t.now.Load().base
	return b != nil && b.hidden[workspace]
}

// Len returns the number of hosts in service.
func (t *Table) Len() int { return t.now.Load().served }

// Cursor returns up to where the table has followed the control plane's changes.
func (t *Table) Cursor() snapshot.Cursor { return t.now.Load().cursor }

// Find returns the custom domain of a Host header field, as Lookup does. It returns nil for the service's own names and for
// domains that are not in service.
func (t *Table) Find(field []byte) *Host {
	if h := t.Lookup(field); h != nil && h.Domain != 0 {
		return h
	}
	return nil
}

// Lookup returns the host of a Host header field, which may have upper-case letters, a trailing dot and a port; nil if this
// edge does not know it. The host may be withdrawn. The result must not be changed. Lookup takes no lock and does not allocate,
// and takes a few nanoseconds if there are no hosts.
func (t *Table) Lookup(field []byte) *Host {
	m := t.now.Load().hosts
	if len(m) == 0 {
		return nil
	}
	if h := m[string(field)]; h != nil {
		return h
	}
	var buf [maxName]byte
	name, ok := normal(buf[:0], field)
	if !ok {
		return nil
	}
	return m[string(name)]
}

// maxName is the maximum length of a host name in DNS, with the trailing dot.
const maxName = 254

// normal appends the host of a Host field in lower case, without its port and trailing dot, to b. ok is false for a field
// that is too long for a host name.
func normal(b, field []byte) (name []byte, ok bool) {
	for _, c := range field {
		if c == ':' {
			break
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if len(b) == maxName {
			return nil, false
		}
		b = append(b, c)
	}
	if n := len(b); n > 0 && b[n-1] == '.' {
		b = b[:n-1]
	}
	return b, true
}

// Run follows the control plane until ctx ends.
func (t *Table) Run(ctx context.Context) error {
	pause := backoff.Policy{First: backoffMin, Most: backoffMax}
	for failures := 0; ctx.Err() == nil; {
		err := t.step(ctx)
		if err == nil || ctx.Err() != nil {
			failures = 0
			continue
		}
		t.failed.Add(1)
		failures++
		wait := pause.Spread(failures)
		if backoff.LogWorthy(failures) {
			t.cfg.Logger.Warn("host source failed", "error", err.Error(), "failures", failures, "pause_seconds", wait.Seconds())
		}
		backoff.Sleep(ctx, wait)
	}
	return nil
}

// step makes one call to the source.
func (t *Table) step(ctx context.Context) error {
	asked := time.Now()
	limited, cancel := context.WithTimeout(ctx, changesTimeout)
	defer cancel()
	wire, err := t.cfg.Source.Hosts(limited, t.Cursor())
	if errors.Is(err, snapshot.ErrNoHosts) {
		// A control plane of the previous release has no custom domains. It will be replaced.
		t.settled.Store(true)
		backoff.Sleep(ctx, backoffMax)
		return nil
	}
	if err != nil {
		return fmt.Errorf("request hosts: %w", err)
	}
	t.contact.Store(time.Now().UnixMilli())
	if wire == nil {
		if held := time.Since(asked); held < backoffMin { // do not loop without a pause if the source does not hold requests
			backoff.Sleep(ctx, backoffMin-held)
		}
		return nil
	}
	u, _, err := snapshot.DecodeHosts(wire, t.cfg.Keys)
	if err != nil {
		return fmt.Errorf("hosts refused: %w", err)
	}
	t.Apply(&u)
	return nil
}

// Apply makes an update visible to visitors and then writes it to the file. If that fails, the table serves the update all
// the same, and the next change writes everything.
func (t *Table) Apply(u *snapshot.Hosts) {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := t.now.Load().after(u)
	t.now.Store(next)
	t.settled.Store(true)
	t.applied.Add(1)
	if t.certificates != nil {
		t.certificates.useTickets(next.tickets)
	}
	if err := t.file.appendUpdate(u, next.list); err != nil {
		t.diskErrors.Add(1)
		t.cfg.Logger.Error("hosts not stored", "error", err.Error(), "advice",
			"until this succeeds, a restart without a control plane serves older hosts")
	}
}
