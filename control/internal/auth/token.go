package auth

import (
	"errors"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// MinSecret is the least length of the secret that signs access tokens, in bytes.
const MinSecret = 32

type claims struct {
	Role      string `json:"role"`
	SessionID string `json:"sid"`
	jwt.RegisteredClaims
}

// tokens signs and checks access tokens: JWT, HS256 and nothing else.
type tokens struct {
	secrets [][]byte // the first signs, all of them verify
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
	return &tokens{secrets, jwt.NewParser(jwt.WithValidMethods([]string{"HS256"}), jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithLeeway(30*time.Second))}, nil
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
	if err == nil && (c.Subject == "" || c.SessionID == "") {
		err = errors.New("token without subject or session")
	}
	return c, err
}
