package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/job"
	"github.com/shortline/shortline/shared/visitor"
)

const (
	keyRemembered = time.Minute // how long the result of bcrypt is cached for the same row
	useInterval   = time.Minute // how often a key's last use is stored
	sweepInterval = 10 * time.Minute
)

// Config of an Authenticator.
type Config struct {
	// Secrets sign access tokens: the first signs, all verify. At least MinSecret bytes each.
	Secrets [][]byte
	// Lifetime is the lifetime of an access token and its session; 0 means 24 h.
	Lifetime time.Duration
	// Idle ends sessions that were not used for this time; 0 means never.
	Idle time.Duration
	// NewDevice is called in the transaction of a sign-in from a device from which the user has not signed in before; nil
	// means that nobody is told.
	NewDevice func(ctx context.Context, tx *store.Tx, u store.User, how SignIn) error
	// Logger receives failures of Run; nil means slog.Default().
	Logger *slog.Logger
}

// Authenticator verifies credentials and returns principals. It caches only results of bcrypt. It reads the rows of
// session, key and user for every request, so that a revocation takes effect on all replicas immediately.
type Authenticator struct {
	job.Group

	store     *store.Store
	passwords *Passwords
	tokens    *tokens
	lifetime  time.Duration
	idle      time.Duration
	newDevice func(ctx context.Context, tx *store.Tx, u store.User, how SignIn) error
	log       *slog.Logger
	uses      chan use
	sightings chan seen
	checks    singleflight.Group

	mu       sync.Mutex
	verified map[string]time.Time // by lookup and bcrypt hash; when the entry expires
	noted    map[string]time.Time // by session, or by key and address; when the use was last passed to Run
	watches  map[*watch]bool

	checked time.Time // when the watched principals were last known to have their access
}

// NewAuthenticator returns an Authenticator, or an error for invalid settings. Run must run, to store last uses and
// delete expired sessions.
func NewAuthenticator(cfg Config, st *store.Store, passwords *Passwords) (*Authenticator, error) {
	t, err := newTokens(cfg.Secrets)
	if err != nil {
		return nil, err
	}
	cfg.Lifetime = cmp.Or(cfg.Lifetime, 24*time.Hour)
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	a := &Authenticator{
		store: st, passwords: passwords.apart(), tokens: t, lifetime: cfg.Lifetime, idle: cfg.Idle, newDevice: cfg.NewDevice,
		log:  cfg.Logger,
		uses: make(chan use, 256), sightings: make(chan seen, 256),
		verified: map[string]time.Time{}, noted: map[string]time.Time{}, watches: map[*watch]bool{},
		checked: time.Now(),
	}
	sweep := func(ctx context.Context) error { return st.Sweep(ctx, store.Now()) }
	a.Group = job.Group{
		{Name: "sessions", Every: sweepInterval, Do: sweep, Logger: cfg.Logger},
		{Name: "watched_access", Every: watchInterval, Do: a.checkWatches, Logger: cfg.Logger},
	}
	return a, nil
}

// PrincipalOf returns a user as a caller who works in the personal workspace.
func PrincipalOf(u store.User) Principal {
	return Principal{
		UserID: u.ID, UserNum: u.Num, Email: u.Email, Role: Role(u.Role),
		Workspace: Workspace{Num: u.Num, ID: u.ID, Personal: true, Role: Owner},
	}
}

func workspaceOf(m store.Membership) Workspace {
	return Workspace{Num: m.Num, ID: m.ID, Personal: m.IsPersonal(), Role: ParseWorkspaceRole(m.Role)}
}

// Key verifies an API key and its user, for a request from an address. The error is Unauthorized for a key that is invalid
// or whose user may no longer work in its workspace, Expired, or Forbidden for an address that the key does not allow.
func (a *Authenticator) Key(ctx context.Context, key, ip string) (Principal, error) {
	bad := problem.New(problem.Unauthorized, "The API key is invalid.")
	if !mayBeKey(key) {
		return Principal{}, bad
	}
	k, u, m, err := a.store.KeyUser(ctx, Digest(key))
	if errors.Is(err, store.ErrNotFound) {
		return Principal{}, bad
	}
	if err != nil {
		return Principal{}, fmt.Errorf("look up API key: %w", err)
	}
	now := time.Now()
	id := k.Lookup + k.Hash
	a.mu.Lock()
	known := a.verified[id].After(now)
	a.mu.Unlock()
	if !known {
		// The index is enough to verify a random key. bcrypt protects against forged rows. Concurrent requests with the
		// same key share one comparison.
		matches, err, _ := a.checks.Do(id, func() (any, error) {
			return a.passwords.Verify(context.WithoutCancel(ctx), &k.Hash, key)
		})
		if err != nil {
			return Principal{}, err
		}
		if matches != true {
			return Principal{}, bad
		}
		a.remember(id, now)
	}
	p, ok := principalOfKey(&k, &u, &m)
	address := clientAddress(ip)
	switch {
	case k.ExpiresAt != nil && *k.ExpiresAt <= now.UnixMilli():
		return Principal{}, problem.New(problem.Expired, "The API key has expired.")
	case !u.Active || !ok:
		return Principal{}, bad
	case !allows(k.AllowedIPs, address):
		return Principal{}, problem.New(problem.Forbidden, "This API key can't be used from %s.", ip)
	}
	if address.IsValid() {
		ip = address.String()
	}
	a.noteUse(use{k.ID, k.Lookup, ip, now.UnixMilli()}, now)
	return p, nil
}

// principalOfKey returns the caller of a key. It returns false if the key's user has left the key's workspace.
func principalOfKey(k *store.Key, u *store.User, m *store.Membership) (Principal, bool) {
	p := PrincipalOf(*u)
	p.KeyID, p.keyLookup, p.Scopes = k.ID, k.Lookup, ParseScopes(k.Scopes)
	if k.Workspace != u.Num {
		p.Workspace = workspaceOf(*m)
	}
	if k.Workspace != u.Num || p.Scopes != 0 {
		// The key of a team and a key with scopes reach nothing outside their workspace, even if an ADMIN has created them.
		p.Role, p.Chosen = User, true
	}
	return p, p.Workspace.Role != NoMember
}

// clientAddress parses the address of a request. IPv4 addresses that are mapped to IPv6 become IPv4. The result is invalid
// if the address is.
func clientAddress(ip string) netip.Addr {
	a, err := netip.ParseAddr(ip)
	if err != nil {
		return netip.Addr{}
	}
	return a.Unmap().WithZone("")
}

// allows reports whether a key with these networks may be used from an address. Without networks every address is allowed.
func allows(networks string, from netip.Addr) bool {
	if networks == "" {
		return true
	}
	set, err := visitor.ParsePrefixes(networks)
	return err == nil && from.IsValid() && set.Contains(from)
}

func (a *Authenticator) remember(id string, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.verified) >= 10_000 {
		clear(a.verified) // each key costs one more comparison
	}
	a.verified[id] = now.Add(keyRemembered)
}

// Run stores last uses, checks watched principals and deletes expired sessions, until ctx ends.
func (a *Authenticator) Run(ctx context.Context) error {
	var others sync.WaitGroup
	defer others.Wait()
	others.Go(func() { a.storeSightings(ctx) })
	others.Go(func() { _ = a.Group.Run(ctx) })
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			for len(a.uses) > 0 {
				a.writeUse(last, <-a.uses)
			}
			return nil
		case u := <-a.uses:
			a.writeUse(ctx, u)
		}
	}
}
