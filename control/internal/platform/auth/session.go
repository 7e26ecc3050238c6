package auth

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

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

// OpenSession starts a session in the caller's transaction and returns its access token.
func (a *Authenticator) OpenSession(ctx context.Context, tx *store.Tx, u store.User, how SignIn) (token string, expires time.Time, err error) {
	now := time.Now().Truncate(time.Second) // tokens have a resolution of seconds
	at := now.UnixMilli()
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
	token, err = a.tokens.sign(u.ID, Role(u.Role), s.ID, now, now.Add(a.lifetime))
	return token, now.Add(a.lifetime), err
}
