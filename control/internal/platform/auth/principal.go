// Package auth verifies sessions and API keys and returns a Principal.
//
// It defines access tokens, the form of API keys, password hashing, time-based codes and lockout. A revoked session or
// key is refused at the next request by every replica, because the rows are read for each request. Only the result of a
// key's expensive bcrypt comparison is cached, for a minute. Package api handles HTTP. Known limit: the limit on
// concurrent bcrypt calls applies per process.
package auth

import "time"

// Role determines the permissions of a user.
type Role string

// The two roles.
const (
	Admin Role = "ADMIN"
	User  Role = "USER"
)

// Principal is a caller whose credential was verified for the present request.
type Principal struct {
	UserID    string // UUID
	UserNum   uint64 // the user's dense number, the owner in link records and clicks
	Email     string
	Role      Role
	SessionID string // set when a session was used
	KeyID     string // set when an API key was used

	// SignedInAt is when the session started; zero with an API key.
	SignedInAt time.Time
}

// IsAdmin reports whether the caller may read and change everything.
func (p Principal) IsAdmin() bool { return p.Role == Admin }

// Sees reports whether the caller may read and change objects of the user. To other callers, respond that the object
// does not exist.
func (p Principal) Sees(ownerID string) bool { return p.Role == Admin || p.UserID == ownerID }

// Scope returns the user whose data the caller may list; "" means all users.
func (p Principal) Scope() string {
	if p.IsAdmin() {
		return ""
	}
	return p.UserID
}
