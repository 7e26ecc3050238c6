// Package auth says who is calling: sessions, API keys and second factors become a Principal.
//
// It owns access tokens, the form of API keys, password hashing, time-based codes and the slowing down of
// guesses. It promises that a session or key that has ended is refused on the next request by every replica,
// because their rows are read for each one; only the costly bcrypt of a key is remembered, for a minute. It
// knows no HTTP: where credentials come from and what a refusal looks like is package api's part. Known
// weakness: the bound on bcrypt is each process's own.
package auth

import "time"

// Role is what a user may do.
type Role string

// The two roles.
const (
	Admin Role = "ADMIN"
	User  Role = "USER"
)

// Principal is a caller whose credential was checked on this very request.
type Principal struct {
	UserID    string // UUID
	UserNum   uint64 // the user's dense number, the owner in link records and clicks
	Email     string
	Role      Role
	SessionID string // set when a session was used
	KeyID     string // set when an API key was used

	// SignedInAt is when the session began; zero with an API key.
	SignedInAt time.Time
}

// IsAdmin reports whether the caller sees and edits everything.
func (p Principal) IsAdmin() bool { return p.Role == Admin }

// Sees reports whether the caller may read and change what the user owns. A caller who may not is told that
// the thing does not exist.
func (p Principal) Sees(ownerID string) bool { return p.Role == Admin || p.UserID == ownerID }
