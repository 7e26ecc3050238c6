// Package auth verifies sessions and API keys and returns a Principal.
//
// It defines access tokens, the form of API keys, password hashing, time-based codes and lockout. A revoked session or
// key is refused at the next request by every replica, because the rows are read for each request. Only the result of a
// key's expensive bcrypt comparison is cached, for a minute. Package api handles HTTP. Known limit: the limit on
// concurrent bcrypt calls applies per process.
package auth

import (
	"time"

	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// Role determines the permissions of a user in the whole system.
type Role string

// The two roles.
const (
	Admin Role = "ADMIN"
	User  Role = "USER"
)

// WorkspaceRole determines the permissions of a member in a workspace. A higher role includes all lower ones.
type WorkspaceRole uint8

// The roles of members. NoMember is the zero value.
const (
	NoMember       WorkspaceRole = iota
	Viewer                       // reads everything but secrets, and reports
	Editor                       // changes links and what belongs to them
	WorkspaceAdmin               // manages members, domains, webhooks and API keys
	Owner                        // may do everything, such as deleting the workspace
)

var workspaceRoles = map[string]WorkspaceRole{
	store.RoleViewer: Viewer, store.RoleEditor: Editor, store.RoleAdmin: WorkspaceAdmin, store.RoleOwner: Owner,
}

// ParseWorkspaceRole reads a role as the API and the store write it. It returns NoMember for anything else.
func ParseWorkspaceRole(s string) WorkspaceRole { return workspaceRoles[s] }

// String returns the role as the API and the store write it, or "" for NoMember.
func (r WorkspaceRole) String() string {
	for name, role := range workspaceRoles {
		if role == r {
			return name
		}
	}
	return ""
}

// Workspace is the workspace in which a request works.
type Workspace struct {
	Num      uint64 // owner of what the caller creates
	ID       string // UUID
	Personal bool
	Role     WorkspaceRole // the caller's
}

// Principal is a caller whose credential was verified for the present request.
type Principal struct {
	UserID    string // UUID
	UserNum   uint64 // the user's dense number, which is also the number of the user's personal workspace
	Email     string
	Role      Role   // User for an API key that is limited to a workspace or to scopes
	SessionID string // set when a session was used
	KeyID     string // set when an API key was used
	keyLookup string // the key's SHA-256, which a rotation changes
	Scopes    Scopes // what the API key is limited to; 0 means no limit

	// Workspace is the one that the request names, the API key's own, or else the user's personal workspace.
	Workspace Workspace
	// Chosen is whether the request named the workspace. An ADMIN who names none reaches all workspaces.
	Chosen bool

	// SignedInAt is when the session started; zero with an API key.
	SignedInAt time.Time
	// MustEnrol reports that the installation requires a second factor and the user of the session has none. Such a
	// session may only set one up.
	MustEnrol bool
}

// IsAdmin reports whether the caller administers the system.
func (p Principal) IsAdmin() bool { return p.Role == Admin }

// AdminOnly returns an error for callers who do not administer the system.
func AdminOnly(p Principal) error {
	if p.IsAdmin() {
		return nil
	}
	return problem.New(problem.Forbidden, "Only administrators may do this.")
}

// SeesAll reports whether the caller reaches the objects of all workspaces.
func (p Principal) SeesAll() bool { return p.IsAdmin() && !p.Chosen }

// Sees reports whether the caller reaches the objects of a workspace. To other callers, respond that the object does
// not exist.
func (p Principal) Sees(workspace uint64) bool { return p.SeesAll() || p.Workspace.Num == workspace }

// Scope returns the number of the workspace whose data the caller may list; 0 means all workspaces.
func (p Principal) Scope() uint64 {
	if p.SeesAll() {
		return 0
	}
	return p.Workspace.Num
}
