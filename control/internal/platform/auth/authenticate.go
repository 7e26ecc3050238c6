package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// KeyPrefix begins every API key; 61 random letters and digits follow.
const KeyPrefix = "sl_"

const (
	keyRandom     = 61
	keyRemembered = time.Minute // how long a bcrypt result stands for the same row
	useInterval   = time.Minute // how often a key's last use is written
	sweepInterval = 10 * time.Minute
)

// Config of an Authenticator.
type Config struct {
	// Secrets sign access tokens; the first signs, all verify. At least MinSecret bytes each.
	Secrets [][]byte
	// Lifetime of an access token and its session; 0 means 24 h.
	Lifetime time.Duration
	// Logger gets what Run has to say; nil means slog.Default().
	Logger *slog.Logger
}

// Authenticator turns credentials into principals. What it remembers saves only the bcrypt: the rows of session,
// key and user are read again for every request, so that an end takes effect at once everywhere.
type Authenticator struct {
	store     *store.Store
	passwords *Passwords
	tokens    *tokens
	lifetime  time.Duration
	log       *slog.Logger
	uses      chan use
	checks    singleflight.Group

	mu       sync.Mutex
	verified map[string]time.Time // by lookup and bcrypt hash: until when the key is known to match
	noted    map[string]time.Time // by key id: when its use was last handed to Run
}

type use struct {
	keyID string
	at    int64
}

// NewAuthenticator checks the settings. Run must run for last uses to be written and old rows to be swept.
func NewAuthenticator(cfg Config, st *store.Store, passwords *Passwords) (*Authenticator, error) {
	t, err := newTokens(cfg.Secrets)
	if err != nil {
		return nil, err
	}
	if cfg.Lifetime == 0 {
		cfg.Lifetime = 24 * time.Hour
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	return &Authenticator{
		store: st, passwords: passwords.apart(), tokens: t, lifetime: cfg.Lifetime, log: cfg.Logger, uses: make(chan use, 256),
		verified: map[string]time.Time{}, noted: map[string]time.Time{},
	}, nil
}

// OpenSession begins a session in the caller's transaction and returns its access token.
func (a *Authenticator) OpenSession(ctx context.Context, tx *store.Tx, u store.User) (token string, expires time.Time, err error) {
	now := time.Now().Truncate(time.Second) // what a token can say
	s := store.Session{ID: rand.Text(), UserID: u.ID, CreatedAt: now.UnixMilli(), ExpiresAt: now.Add(a.lifetime).UnixMilli()}
	if err := tx.InsertSession(ctx, s); err != nil {
		return "", expires, fmt.Errorf("open a session: %w", err)
	}
	token, err = a.tokens.sign(u.ID, Role(u.Role), s.ID, now, now.Add(a.lifetime))
	return token, now.Add(a.lifetime), err
}

// Token checks an access token, its session and its user.
func (a *Authenticator) Token(ctx context.Context, raw string) (Principal, error) {
	bad := problem.New(problem.Unauthorized, "The session is not valid or has ended; sign in again.")
	c, err := a.tokens.parse(raw)
	if err != nil {
		return Principal{}, bad
	}
	u, err := a.store.SessionUser(ctx, c.SessionID, store.Now())
	switch {
	case errors.Is(err, store.ErrNotFound):
		return Principal{}, bad
	case err != nil:
		return Principal{}, fmt.Errorf("look up a session: %w", err)
	case !u.Active || u.ID != c.Subject:
		return Principal{}, bad
	}
	p := principalOf(u)
	p.SessionID, p.SignedInAt = c.SessionID, c.IssuedAt.Time
	return p, nil
}

func principalOf(u store.User) Principal {
	return Principal{UserID: u.ID, UserNum: u.Num, Email: u.Email, Role: Role(u.Role)}
}

// KeyLookup is the index of an API key: its SHA-256 in hex.
func KeyLookup(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// NewKey draws an API key.
func NewKey() string {
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	out := []byte(KeyPrefix)
	var b [128]byte
	for {
		rand.Read(b[:]) // never fails
		for _, c := range b {
			if int(c) >= 256-256%len(alphabet) {
				continue // so that every character is as likely
			}
			if out = append(out, alphabet[int(c)%len(alphabet)]); len(out) == len(KeyPrefix)+keyRandom {
				return string(out)
			}
		}
	}
}

// Key checks an API key and its user.
func (a *Authenticator) Key(ctx context.Context, key string) (Principal, error) {
	bad := problem.New(problem.Unauthorized, "The API key is not valid.")
	if len(key) != len(KeyPrefix)+keyRandom || !strings.HasPrefix(key, KeyPrefix) {
		return Principal{}, bad
	}
	k, u, err := a.store.KeyUser(ctx, KeyLookup(key))
	if errors.Is(err, store.ErrNotFound) {
		return Principal{}, bad
	}
	if err != nil {
		return Principal{}, fmt.Errorf("look up an API key: %w", err)
	}
	now := time.Now()
	id := k.Lookup + k.Hash
	a.mu.Lock()
	known := a.verified[id].After(now)
	a.mu.Unlock()
	if !known {
		// The index alone would do for a random key; the bcrypt guards against a forged row. Requests that come
		// together with one key share one.
		matches, err, _ := a.checks.Do(id, func() (any, error) {
			return a.passwords.Check(context.WithoutCancel(ctx), &k.Hash, key)
		})
		if err != nil {
			return Principal{}, err
		}
		if matches != true {
			return Principal{}, bad
		}
		a.remember(id, now)
	}
	switch {
	case k.ExpiresAt != nil && *k.ExpiresAt <= now.UnixMilli():
		return Principal{}, problem.New(problem.Expired, "The API key has expired.")
	case !u.Active:
		return Principal{}, bad
	}
	a.noteUse(k.ID, now)
	p := principalOf(u)
	p.KeyID = k.ID
	return p, nil
}

func (a *Authenticator) remember(id string, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.verified) >= 10_000 {
		clear(a.verified) // it only costs a bcrypt each
	}
	a.verified[id] = now.Add(keyRemembered)
}

// noteUse hands a use to Run, at most once a minute for each key.
func (a *Authenticator) noteUse(keyID string, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now.Sub(a.noted[keyID]) < useInterval {
		return
	}
	select {
	case a.uses <- use{keyID, now.UnixMilli()}:
		if len(a.noted) >= 10_000 {
			clear(a.noted)
		}
		a.noted[keyID] = now
	default: // Run is behind; the next use tries again
	}
}

// Run writes last uses and sweeps ended sessions, until ctx ends.
func (a *Authenticator) Run(ctx context.Context) error {
	sweep := time.NewTicker(sweepInterval)
	defer sweep.Stop()
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
		case <-sweep.C:
			if err := a.store.Sweep(ctx, store.Now()); err != nil && ctx.Err() == nil {
				a.log.Warn("session sweep failed", "error", err.Error())
			}
		}
	}
}

func (a *Authenticator) writeUse(ctx context.Context, u use) {
	err := a.store.Tx(ctx, func(tx *store.Tx) error { return tx.NoteKeyUse(ctx, u.keyID, u.at) })
	if err != nil && ctx.Err() == nil {
		a.log.Warn("last use of API key not recorded", "key_id", u.keyID, "error", err.Error())
	}
}
