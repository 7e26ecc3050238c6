package kit

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
)

// workspaceHeader names the workspace in which a request works, by its id or its slug.
const workspaceHeader = "X-Workspace"

// AnyRole is for endpoints that concern the caller or the system, not a workspace.
const AnyRole auth.WorkspaceRole = 255

// AnyScope is for endpoints that every API key reaches, whatever its scopes are.
const AnyScope auth.Scopes = 1<<16 - 1

// Permission is what an endpoint needs from a caller: a role in the workspace and, from an API key with scopes, one of
// the scopes. An API key with scopes does not reach an endpoint whose Scope is 0.
type Permission struct {
	Role  auth.WorkspaceRole
	Scope auth.Scopes
}

// Needs is a shorthand for a Permission.
func Needs(role auth.WorkspaceRole, scope auth.Scopes) Permission { return Permission{role, scope} }

// Resource is what the endpoints with one tag have in common: what they need to read with GET, and to change with another method.
// An endpoint that differs says so where it is declared. Endpoints for administrators check the role of the user instead. The page
// docs/users/permissions.md and the test of all permissions are made from the result.
type Resource struct {
	Tag          string
	About        string // of the tag in the OpenAPI document; if "", the document does not list the tag
	Read, Change Permission

	// Values are the closed sets of values that fields and parameters name with the tag values, for the document. Use cases check values
	// against the same tables. The direction of a list is also accepted in upper case.
	Values map[string][]any
}

// Resources adds resources, before their endpoints.
func (k *Kit) Resources(list ...Resource) {
	for _, r := range list {
		k.resources[r.Tag] = r
		maps.Copy(k.values, r.Values)
		if r.About != "" {
			k.OpenAPI().Tags = append(k.OpenAPI().Tags, &huma.Tag{Name: r.Tag, Description: r.About})
		}
	}
}

// OrderTags puts the tags of the document in an order, which must have a place for each of them.
func (k *Kit) OrderTags(names ...string) {
	place := func(t *huma.Tag) int {
		i := slices.Index(names, t.Name)
		if i < 0 {
			panic("BUG: no place for the tag " + t.Name)
		}
		return i
	}
	slices.SortFunc(k.OpenAPI().Tags, func(a, b *huma.Tag) int { return cmp.Compare(place(a), place(b)) })
}

// defaultPermission fills in what an endpoint does not declare itself.
func (k *Kit) defaultPermission(e *Endpoint) {
	if e.Need == Public || e.Need == Anyone {
		return
	}
	row, ok := k.resources[e.Tag]
	if !ok {
		panic("BUG: no permissions for endpoints with the tag " + e.Tag)
	}
	p := row.Change
	if e.Method == http.MethodGet {
		p = row.Read
	}
	if e.Role == auth.NoMember {
		e.Role = p.Role
	}
	if e.Scope == 0 {
		e.Scope = p.Scope
	}
}

// Permits reports whether a caller may use an endpoint at all.
func (k *Kit) Permits(p auth.Principal, e *Endpoint) bool { return k.permit(p, e) == nil }

// permit refuses a caller who may not use an endpoint at all. Whether the caller reaches an object is up to the use
// case.
func (k *Kit) permit(p auth.Principal, e *Endpoint) error {
	switch {
	case e.Need == Admin && !p.IsAdmin():
		return problem.New(problem.Forbidden, "Only administrators may do this.")
	case e.OfChoice && !p.Chosen && !p.IsAdmin():
		return problem.New(problem.Forbidden, "Only administrators may do this.")
	case p.KeyID != "" && (e.SessionOnly || e.Escalates && !k.cfg.KeysAdminister):
		return problem.New(problem.Forbidden, "This can't be done with an API key; sign in instead.")
	case !p.Scopes.Allow(e.Scope) && e.Scope == 0:
		return problem.New(problem.Forbidden, "An API key that is limited to scopes can't do this.")
	case !p.Scopes.Allow(e.Scope):
		return problem.New(problem.Forbidden, "This API key lacks the scope %s.", strings.Join(e.Scope.Names(), " or "))
	case e.Role != AnyRole && p.Workspace.Role < e.Role:
		return problem.New(problem.Forbidden, "This needs the role %s in the workspace; you are %s.", e.Role, p.Workspace.Role)
	}
	return nil
}
