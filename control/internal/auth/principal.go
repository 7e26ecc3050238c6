// Package auth says who is calling: sessions, API keys and second factors become a Principal.
package auth

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
}

// IsAdmin reports whether the caller sees and edits everything.
func (p Principal) IsAdmin() bool { return p.Role == Admin }

// Sees reports whether the caller may read and change what the user owns. A caller who may not is told that
// the thing does not exist.
func (p Principal) Sees(ownerID string) bool { return p.Role == Admin || p.UserID == ownerID }
