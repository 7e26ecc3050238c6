package api

import (
	"net/http"
	"strings"

	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
)

// workspaceHeader names the workspace in which a request works, by its id or its slug.
const workspaceHeader = "X-Workspace"

// anyRole is for endpoints that concern the caller or the system, not a workspace.
const anyRole auth.WorkspaceRole = 255

// anyScope is for endpoints that every API key reaches, whatever its scopes are.
const anyScope auth.Scopes = 1<<16 - 1

// permission is what an endpoint needs from a caller: a role in the workspace and, from an API key with scopes, one of
// the scopes. An API key with scopes does not reach an endpoint whose Scope is 0.
type permission struct {
	Role  auth.WorkspaceRole
	Scope auth.Scopes
}

// permissions is the one table of what the endpoints of a resource need, by the resource's tag: to read with GET, and to
// change with another method. An endpoint that differs says so where it is declared. The page docs/users/permissions.md
// and the test of all permissions are made from the result.
var permissions = map[string]struct{ read, change permission }{
	"URLs":          {permission{auth.Viewer, auth.LinksRead}, permission{auth.Editor, auth.LinksWrite}},
	"Variants":      {permission{auth.Viewer, auth.LinksRead}, permission{auth.Editor, auth.LinksWrite}},
	"Routing rules": {permission{auth.Viewer, auth.LinksRead}, permission{auth.Editor, auth.LinksWrite}},
	"Bundles":       {permission{auth.Viewer, auth.LinksRead}, permission{auth.Editor, auth.LinksWrite}},
	"Tags":          {permission{auth.Viewer, auth.LinksRead}, permission{auth.Editor, auth.LinksWrite}},
	"UTM templates": {permission{auth.Viewer, auth.LinksRead}, permission{auth.Editor, auth.LinksWrite}},
	// A VIEWER has private views. The use case asks for the role EDITOR where others see the view.
	"Views":               {permission{auth.Viewer, auth.LinksRead}, permission{auth.Viewer, auth.LinksWrite}},
	"Imports":             {permission{auth.Editor, auth.LinksRead}, permission{auth.Editor, auth.LinksWrite}},
	"Domains":             {permission{auth.Viewer, auth.LinksRead | auth.DomainsScope}, permission{auth.WorkspaceAdmin, auth.DomainsScope}},
	"Images":              {permission{auth.Viewer, auth.LinksRead}, permission{auth.Editor, auth.LinksWrite}},
	"Analytics":           {permission{auth.Viewer, auth.AnalyticsRead}, permission{auth.Editor, auth.AnalyticsRead}},
	"Conversions":         {permission{auth.Viewer, auth.AnalyticsRead}, permission{auth.Editor, auth.ConversionsWrite}},
	"Experiments":         {permission{auth.Viewer, auth.AnalyticsRead}, permission{auth.Editor, auth.LinksWrite}},
	"Webhooks":            {permission{auth.WorkspaceAdmin, auth.WebhooksScope}, permission{auth.WorkspaceAdmin, auth.WebhooksScope}},
	"API keys":            {permission{auth.WorkspaceAdmin, 0}, permission{auth.WorkspaceAdmin, 0}},
	"Conversion settings": {permission{auth.Viewer, anyScope}, permission{auth.WorkspaceAdmin, 0}},
	"Workspaces":          {permission{auth.Viewer, anyScope}, permission{auth.WorkspaceAdmin, 0}},
	"Invitations":         {permission{auth.WorkspaceAdmin, auth.MembersScope}, permission{auth.WorkspaceAdmin, auth.MembersScope}},
	"Audit":               {permission{auth.WorkspaceAdmin, 0}, permission{auth.WorkspaceAdmin, 0}},
	// The resources below concern the caller or the system. Endpoints for administrators check the role of the user instead.
	"Abuse":              {permission{anyRole, 0}, permission{anyRole, 0}},
	"Account":            {permission{anyRole, 0}, permission{anyRole, 0}},
	"Edges":              {permission{anyRole, 0}, permission{anyRole, 0}},
	"Identity providers": {permission{anyRole, 0}, permission{anyRole, 0}},
	"Passkeys":           {permission{anyRole, 0}, permission{anyRole, 0}},
	"Privacy":            {permission{anyRole, 0}, permission{anyRole, 0}},
	"System settings":    {permission{anyRole, 0}, permission{anyRole, 0}},
	"Users":              {permission{anyRole, 0}, permission{anyRole, 0}},
}

// defaultPermission fills in what an endpoint does not declare itself.
func defaultPermission(e *endpoint) {
	if e.Need == public || e.Need == anyone {
		return
	}
	row, ok := permissions[e.Tag]
	if !ok {
		panic("BUG: no permissions for endpoints with the tag " + e.Tag)
	}
	p := row.change
	if e.Method == http.MethodGet {
		p = row.read
	}
	if e.Role == auth.NoMember {
		e.Role = p.Role
	}
	if e.Scope == 0 {
		e.Scope = p.Scope
	}
}

// permit refuses a caller who may not use an endpoint at all. Whether the caller reaches an object is up to the use
// case.
func (s *Server) permit(p auth.Principal, e *endpoint) error {
	switch {
	case e.Need == admin && !p.IsAdmin():
		return problem.New(problem.Forbidden, "Only administrators may do this.")
	case e.OfChoice && !p.Chosen && !p.IsAdmin():
		return problem.New(problem.Forbidden, "Only administrators may do this.")
	case p.KeyID != "" && (e.SessionOnly || e.Escalates && !s.cfg.KeysAdminister):
		return problem.New(problem.Forbidden, "This can't be done with an API key; sign in instead.")
	case !p.Scopes.Allow(e.Scope) && e.Scope == 0:
		return problem.New(problem.Forbidden, "An API key that is limited to scopes can't do this.")
	case !p.Scopes.Allow(e.Scope):
		return problem.New(problem.Forbidden, "This API key lacks the scope %s.", strings.Join(e.Scope.Names(), " or "))
	case e.Role != anyRole && p.Workspace.Role < e.Role:
		return problem.New(problem.Forbidden, "This needs the role %s in the workspace; you are %s.", e.Role, p.Workspace.Role)
	}
	return nil
}
