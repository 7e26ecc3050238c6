package auth

import (
	"errors"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// MinSecret is the minimum length of a secret for access tokens, in bytes.
const MinSecret = 32

// clockSkew is how far the clock of another replica may be ahead.
const clockSkew = 30 * time.Second

type claims struct {
	Role      string `json:"role"`
	SessionID string `json:"sid"`
	jwt.RegisteredClaims
}

// tokens signs and verifies access tokens: JWT with HS256 only.
type tokens struct {
	secrets [][]byte // the first signs, all verify
	parser  *jwt.Parser
}

func newTokens(secrets [][]byte) (*tokens, error) {
	if len(secrets) == 0 {
		return nil, errors.New("auth: no secret for access tokens is configured")
	}
	for _, s := range secrets {
		if len(s) < MinSecret {
			return nil, fmt.Errorf("auth: the secret for access tokens must have at least %d bytes", MinSecret)
		}
	}
	// No leeway for the expiry.
	return &tokens{secrets, jwt.NewParser(jwt.WithValidMethods([]string{"HS256"}), jwt.WithExpirationRequired())}, nil
}

func (t *tokens) sign(userID string, role Role, sessionID string, issued, expires time.Time) (string, error) {
	return jwt.NewWithClaims(jwt.SigningMethodHS256, claims{string(role), sessionID, jwt.RegisteredClaims{
		Subject: userID, IssuedAt: jwt.NewNumericDate(issued), ExpiresAt: jwt.NewNumericDate(expires),
	}}).SignedString(t.secrets[0])
}

func (t *tokens) parse(raw string) (c claims, err error) {
	if len(raw) > 4096 {
		return c, errors.New("token too long")
	}
	keys := jwt.VerificationKeySet{}
	for _, s := range t.secrets {
		keys.Keys = append(keys.Keys, s)
	}
	_, err = t.parser.ParseWithClaims(raw, &c, func(*jwt.Token) (any, error) { return keys, nil })
	if err == nil && (c.Subject == "" || c.SessionID == "" || c.IssuedAt == nil) {
		err = errors.New("token without subject, session or time of issue")
	}
	if err == nil && time.Until(c.IssuedAt.Time) > clockSkew {
		err = errors.New("token from the future")
	}
	return c, err
}
