package peopleapi

import (
	"context"
	"net/http"
	"time"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/workspaces"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
)

// Workspace describes a workspace as its caller sees it.
type Workspace struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Slug        string   `json:"slug"`
	IsPersonal  bool     `json:"isPersonal" doc:"Whether it is the workspace of one user, in which requests without X-Workspace work."`
	OwnerEmail  *string  `json:"ownerEmail" doc:"The user of a personal workspace; null for a team's."`
	Role        string   `json:"role" enum:"OWNER,ADMIN,EDITOR,VIEWER" doc:"The caller's role. Administrators of the system have the permissions of an OWNER everywhere."`
	MemberCount int      `json:"memberCount"`
	URLCount    int      `json:"urlCount"`
	Previews    bool     `json:"previews" doc:"Whether visitors of /slug+ see where links of the workspace lead."`
	TrashDays   int      `json:"trashDays" doc:"Days for which deleted links can be restored, the setting TRASH_DAYS. 0: every deletion is for good."`
	CreatedAt   kit.Time `json:"createdAt"`
	UpdatedAt   kit.Time `json:"updatedAt"`

	Attention []Attention `json:"attention,omitempty" doc:"What needs a person and the caller can mend. Only in the answer to a request with attention=true."`
}

// Attention is how many things of a kind need a person.
type Attention struct {
	Kind  string `json:"kind" values:"attentionKind" doc:"webhook: fails or was paused by the service; domain: its records are missing; certificate: cannot be renewed or ends within three days; destination: links whose destination is broken; alert: is open; abuse: reports of the installation, for its administrators."`
	Count int    `json:"count" doc:"1 or more; destinations are counted up to 1,000."`
}

func attentionOf(a store.Attention) Attention { return Attention{a.Kind, a.Count} }

func (s *server) workspaceOf(w workspaces.Row) Workspace {
	out := Workspace{
		ID: w.ID, Name: w.Name, Slug: w.Slug, IsPersonal: w.IsPersonal(), Role: w.Role.String(), MemberCount: w.Members, URLCount: w.Links,
		Previews:  !w.HidesPreviews,
		TrashDays: int(s.Store.TrashTime() / (24 * time.Hour)), CreatedAt: kit.Time(w.CreatedAt), UpdatedAt: kit.Time(w.UpdatedAt),
	}
	if w.OwnerEmail != "" {
		out.OwnerEmail = &w.OwnerEmail
	}
	return out
}

// Member describes a user's membership in a workspace.
type Member struct {
	UserID   string   `json:"userId"`
	Email    string   `json:"email"`
	Name     string   `json:"name"`
	Role     string   `json:"role" enum:"OWNER,ADMIN,EDITOR,VIEWER"`
	JoinedAt kit.Time `json:"joinedAt"`
}

func memberOf(m store.Member) Member {
	return Member{m.UserID, m.Email, m.Name, m.Role, kit.Time(m.JoinedAt)}
}

var workspaceResource = kit.Resource{
	Tag: "Workspaces", About: "Teams that own links together, and their members.",
	Read: kit.Needs(auth.Viewer, kit.AnyScope), Change: kit.Needs(auth.WorkspaceAdmin, 0),
	Values: map[string][]any{"attentionKind": kit.Enum(workspaces.AttentionKinds...)},
}

func (s *server) registerWorkspaces() {
	declare := func(method, path, id, summary string) kit.Endpoint {
		return kit.Endpoint{Method: method, Path: "/api/workspaces" + path, ID: id, Summary: summary, Tag: "Workspaces", OfPath: path != ""}
	}
	list := declare(http.MethodGet, "", "listWorkspaces", "List your workspaces").
		About("The workspaces of which you are a member, your personal one first. Administrators who send no X-Workspace get all workspaces. " +
			"An API key gets only its own workspace.")
	list.Role = kit.AnyRole
	kit.Handle(s.Kit, list, s.listWorkspaces)
	create := declare(http.MethodPost, "", "createWorkspace", "Create a workspace").
		About("Makes a workspace for a team. You become its OWNER. The number of workspaces that a user owns is limited (409). If the " +
			"operator has set API_KEYS_ADMINISTER=false, this requires a session.").
		Example(`{"name":"Growth team","slug":"growth"}`).Fails(http.StatusConflict)
	create.Role, create.Escalates = kit.AnyRole, true
	kit.Handle(s.Kit, create, s.createWorkspace)
	kit.Handle(s.Kit, declare(http.MethodGet, "/{id}", "getWorkspace", "Get a workspace").
		About("Returns a workspace. This and the following endpoints work in the workspace of the path and ignore X-Workspace."),
		s.getWorkspace)
	kit.Handle(s.Kit, declare(http.MethodPut, "/{id}", "updateWorkspace", "Change a workspace").
		About("Changes the given fields. Requires the role ADMIN in the workspace. A new slug replaces the old one at once, also in "+
			"X-Workspace.").
		Example(`{"name":"Growth team","slug":"growth"}`).Fails(http.StatusConflict), s.updateWorkspace)
	remove := declare(http.MethodDelete, "/{id}", "deleteWorkspace", "Delete a workspace").
		About("Requires the role OWNER. Members, webhooks and API keys of the workspace are deleted with it. If it has links or bundles, the " +
			"response is 409 with their `counts`, unless `transferTo` or `deleteLinks` says what becomes of them. A personal workspace is " +
			"deleted only with its user.").Fails(http.StatusConflict)
	remove.Role, remove.Timeout = auth.Owner, deletion
	kit.Handle(s.Kit, remove, s.deleteWorkspace)

	members := func(method, path, id, summary string) kit.Endpoint {
		e := declare(method, "/{id}/members"+path, id, summary)
		e.Scope = auth.MembersScope
		return e
	}
	kit.Handle(s.Kit, members(http.MethodGet, "", "listMembers", "List the members of a workspace").
		About("A page of the members, who joined first."), s.listMembers)
	kit.Handle(s.Kit, members(http.MethodPatch, "/{userId}", "setMemberRole", "Change a member's role").
		About("Requires the role ADMIN. Only an OWNER can make or demote an OWNER. To make an ADMIN or OWNER requires a session. The last "+
			"OWNER cannot be demoted (400).").
		Example(`{"role":"EDITOR"}`), s.setMemberRole)
	leave := members(http.MethodDelete, "/{userId}", "removeMember", "Remove a member, or leave a workspace").
		About("The member's API keys for the workspace stop working immediately, and the webhooks that the member has made are paused; the " +
			"OWNERs and ADMINs get an e-mail. Every member can leave. To remove another member requires the role ADMIN, and OWNER to remove an " +
			"OWNER. The last OWNER must stay (400).")
	leave.Role = auth.Viewer // who may leave; the use case refuses to remove others
	kit.Handle(s.Kit, leave, s.removeMember)
}

// ByWorkspace is embedded in requests about one workspace. The caller's principal already has the workspace.
type ByWorkspace struct {
	ID string `path:"id" doc:"The id or the slug of the workspace."`
}

type listWorkspacesIn struct {
	kit.Paging
	Search string `query:"search" maxLength:"255" doc:"Searches name, slug and the email of a personal workspace's user, ignoring case."`
}

func (s *server) listWorkspaces(ctx context.Context, in *listWorkspacesIn) (*kit.Body[kit.List[Workspace]], error) {
	return kit.RespondPage(in.Paging, 20, s.workspaceOf)(s.Workspaces.List(ctx, kit.Principal(ctx), in.Search, in.Size(20), in.Offset(20)))
}

type createWorkspaceIn struct {
	Body struct {
		Name string          `json:"name" doc:"1 to 100 characters."`
		Slug kit.Opt[string] `json:"slug,omitempty" doc:"3 to 40 lower-case letters, digits and hyphens; unique. By default it is made from the name."`
	}
}

func (s *server) createWorkspace(ctx context.Context, in *createWorkspaceIn) (*kit.Body[Workspace], error) {
	return kit.Respond(s.workspaceOf)(s.Workspaces.Create(ctx, kit.Principal(ctx),
		workspaces.Input{Name: &in.Body.Name, Slug: in.Body.Slug.Pointer()}))
}

type getWorkspaceIn struct {
	ByWorkspace
	Attention bool `query:"attention" doc:"Also count what needs a person. The counts may be five seconds old."`
}

func (s *server) getWorkspace(ctx context.Context, in *getWorkspaceIn) (*kit.Body[Workspace], error) {
	row, err := s.Workspaces.Get(ctx, kit.Principal(ctx))
	if err != nil || !in.Attention {
		return kit.Respond(s.workspaceOf)(row, err)
	}
	list, err := s.Workspaces.Attention(ctx, kit.Principal(ctx))
	return kit.Respond(func(w workspaces.Row) Workspace {
		out := s.workspaceOf(w)
		out.Attention = each.Of(list, attentionOf)
		return out
	})(row, err)
}

type updateWorkspaceIn struct {
	ByWorkspace
	Body struct {
		Name *string `json:"name,omitempty" doc:"1 to 100 characters."`
		Slug *string `json:"slug,omitempty" doc:"3 to 40 lower-case letters, digits and hyphens; unique."`

		Previews *bool `json:"previews,omitempty" doc:"Whether visitors of /slug+ see where links of the workspace lead; true unless it was changed."`
	}
}

func (s *server) updateWorkspace(ctx context.Context, in *updateWorkspaceIn) (*kit.Body[Workspace], error) {
	return kit.Respond(s.workspaceOf)(s.Workspaces.Update(ctx, kit.Principal(ctx),
		workspaces.Input{Name: in.Body.Name, Slug: in.Body.Slug, Previews: in.Body.Previews}))
}

// deletion is the timeout of requests that may move or delete all links of a workspace: 3,500 to 10,000 a second were measured.
const deletion = 4 * time.Minute

// Fate is embedded in requests that delete workspaces.
type Fate struct {
	TransferTo  string `query:"transferTo" maxLength:"100" doc:"The id or slug of the workspace that gets the links and bundles. It excludes deleteLinks."`
	DeleteLinks bool   `query:"deleteLinks" doc:"Delete the links and bundles."`
}

func (f Fate) fate() workspaces.Fate {
	return workspaces.Fate{TransferTo: f.TransferTo, DeleteLinks: f.DeleteLinks}
}

type deleteWorkspaceIn struct {
	ByWorkspace
	Fate
}

func (s *server) deleteWorkspace(ctx context.Context, in *deleteWorkspaceIn) (*struct{}, error) {
	return nil, s.Workspaces.Delete(ctx, kit.Principal(ctx), in.fate())
}

type listMembersIn struct {
	ByWorkspace
	kit.Paging
}

func (s *server) listMembers(ctx context.Context, in *listMembersIn) (*kit.Body[kit.List[Member]], error) {
	return kit.RespondPage(in.Paging, 20, memberOf)(s.Workspaces.Members(ctx, kit.Principal(ctx), in.Size(20), in.Offset(20)))
}

// ByMember is embedded in requests about one member.
type ByMember struct {
	ByWorkspace
	UserID string `path:"userId" doc:"The id of the user."`
}

type setMemberRoleIn struct {
	ByMember
	Body struct {
		Role string `json:"role" enum:"OWNER,ADMIN,EDITOR,VIEWER"`
	}
}

func (s *server) setMemberRole(ctx context.Context, in *setMemberRoleIn) (*kit.Body[Member], error) {
	return kit.Respond(memberOf)(s.Workspaces.SetRole(ctx, kit.Principal(ctx), in.UserID, in.Body.Role))
}

func (s *server) removeMember(ctx context.Context, in *ByMember) (*struct{}, error) {
	return nil, s.Workspaces.Remove(ctx, kit.Principal(ctx), in.UserID)
}
