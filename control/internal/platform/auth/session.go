package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// maxUserAgent is the limit of a session's user agent, in bytes.
const maxUserAgent = 500

// SignIn describes how a session was opened. IP and UserAgent are those of the request; "" means unknown.
type SignIn struct {
	IP, UserAgent string
	// SecondFactor reports that the user proved a second factor: a code, a recovery code or a passkey.
	SecondFactor bool
}

// OpenSession starts a session in the caller's transaction and returns its access token. If the device is new for the
// user, it calls Config.NewDevice. The caller must not hold the audit log's lock yet.
func (a *Authenticator) OpenSession(ctx context.Context, tx *store.Tx, u store.User, how SignIn) (token string, expires time.Time,
	err error) {
	at := store.Now()
	now := time.UnixMilli(at).Truncate(time.Second) // tokens have a resolution of seconds
	if len(how.UserAgent) > maxUserAgent {
		how.UserAgent = strings.ToValidUTF8(how.UserAgent[:maxUserAgent], "")
	}
	s := store.Session{
		ID: rand.Text(), UserID: u.ID, CreatedAt: at, ExpiresAt: now.Add(a.lifetime).UnixMilli(),
		LastSeenAt: &at, IP: how.IP, UserAgent: how.UserAgent, SecondFactor: how.SecondFactor,
	}
	if err := tx.InsertSession(ctx, s); err != nil {
		return "", expires, fmt.Errorf("open session: %w", err)
	}
	if err := a.noteDevice(ctx, tx, u, how, at); err != nil {
		return "", expires, err
	}
	token, err = a.tokens.sign(u.ID, Role(u.Role), s.ID, now, now.Add(a.lifetime))
	return token, now.Add(a.lifetime), err
}

func (a *Authenticator) noteDevice(ctx context.Context, tx *store.Tx, u store.User, how SignIn, at int64) error {
	known, first, err := tx.NoteDevice(ctx, u.ID, how.device(), at)
	if err != nil {
		return fmt.Errorf("note device: %w", err)
	}
	if known || first || a.newDevice == nil {
		return nil
	}
	if err := a.newDevice(ctx, tx, u, how); err != nil {
		return fmt.Errorf("report new device: %w", err)
	}
	return nil
}

// Token verifies an access token, its session and its user.
func (a *Authenticator) Token(ctx context.Context, raw string) (Principal, error) {
	bad := problem.New(problem.Unauthorized, "The session is invalid or has ended. Sign in again.")
	c, err := a.tokens.parse(raw)
	if err != nil {
		return Principal{}, bad
	}
	now := time.Now()
	u, err := a.store.SessionUser(ctx, c.SessionID, now.UnixMilli(), a.SeenAfter(now))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return Principal{}, bad
	case err != nil:
		return Principal{}, fmt.Errorf("look up session: %w", err)
	case !u.Active || u.ID != c.Subject:
		return Principal{}, bad
	}
	a.noteSeen(c.SessionID, now)
	p := PrincipalOf(u.User)
	p.SessionID, p.SignedInAt, p.MustEnrol = c.SessionID, c.IssuedAt.Time, u.MustEnrol
	return p, nil
}

// SessionKey returns the public id of a session: a UUID made from a hash of the session's own id. Access tokens contain
// the session's own id, which must not be told to other sessions of the user.
func SessionKey(sessionID string) string {
	return uuid.NewHash(sha256.New(), uuid.NameSpaceOID, []byte("session|"+sessionID), 8).String()
}

// SeenAfter returns the time (Unix milliseconds) since which a session must have been seen to be valid; -1 if there is
// no idle time-out.
func (a *Authenticator) SeenAfter(now time.Time) int64 {
	if a.idle == 0 {
		return -1
	}
	return now.Add(-a.idle).UnixMilli()
}

// KeepsSecondFactor returns an Invalid problem if the installation requires a second factor and the user has none left.
// Call it in the transaction that removes a factor of the locked user, after the change.
func KeepsSecondFactor(ctx context.Context, tx *store.Tx, userID string) error {
	required, err := tx.Requires2FA(ctx)
	if err != nil || !required {
		return err
	}
	has, err := tx.HasSecondFactor(ctx, userID)
	if err == nil && !has {
		err = problem.New(problem.Invalid, "This installation requires a second factor, and this is your last one. Add another one first.")
	}
	return err
}

// seen is the use of a session.
type seen struct {
	sessionID string
	at        int64
}

// seenInterval is how often the last use of a session is stored. With a short idle time-out it is a tenth of that, so
// that a session ends at most that much early.
func (a *Authenticator) seenInterval() time.Duration {
	if a.idle > 0 {
		return min(useInterval, a.idle/10)
	}
	return useInterval
}

// noteSeen passes the use of a session to Run, at most once per interval.
func (a *Authenticator) noteSeen(sessionID string, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now.Sub(a.noted[sessionID]) < a.seenInterval() {
		return
	}
	select {
	case a.sightings <- seen{sessionID, now.UnixMilli()}:
		if len(a.noted) >= 10_000 {
			clear(a.noted)
		}
		a.noted[sessionID] = now
	default: // Run is busy; the next use tries again
	}
}

// storeSightings stores the last uses of sessions until ctx ends.
func (a *Authenticator) storeSightings(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			for len(a.sightings) > 0 {
				a.storeSeen(last, <-a.sightings)
			}
			return
		case s := <-a.sightings:
			a.storeSeen(ctx, s)
		}
	}
}

func (a *Authenticator) storeSeen(ctx context.Context, s seen) {
	err := a.store.Tx(ctx, func(tx *store.Tx) error {
		return tx.NoteSessionUse(ctx, s.sessionID, s.at, a.seenInterval().Milliseconds())
	})
	if err != nil && ctx.Err() == nil {
		a.log.Warn("last session use not recorded", "error", err.Error())
	}
}
