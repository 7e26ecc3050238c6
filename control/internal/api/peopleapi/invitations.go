package peopleapi

import (
	"context"
	"net/http"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/invitations"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
)

// Invitation describes an invitation to a workspace, without its link.
type Invitation struct {
	ID        string   `json:"id"`
	Email     string   `json:"email"`
	Role      string   `json:"role" enum:"OWNER,ADMIN,EDITOR,VIEWER"`
	Status    string   `json:"status" enum:"PENDING,EXPIRED"`
	InvitedBy *Inviter `json:"invitedBy" doc:"Null if the user was deleted."`
	CreatedAt kit.Time `json:"createdAt"`
	ExpiresAt kit.Time `json:"expiresAt"`
}

// Inviter is the user who invited somebody.
type Inviter struct {
	ID    string `json:"id"`
	Email string `json:"email"`
	Name  string `json:"name"`
}

// NewInvitation describes a new invitation with its link, which is shown only once.
type NewInvitation struct {
	Invitation
	Link   *string `json:"link" nullable:"true" doc:"Shown only in this response. It works once, within seven days. Null in the response to an API key."`
	Mailed bool    `json:"mailed" doc:"Whether an e-mail with a link of its own was sent to the address."`
}

// AcceptedInvitation tells what an accepted invitation led to.
type AcceptedInvitation struct {
	WorkspaceID string `json:"workspaceId"`
	Role        string `json:"role" enum:"OWNER,ADMIN,EDITOR,VIEWER"`
	User        User   `json:"user"`
	AccessToken string `json:"accessToken,omitempty" doc:"Of the session of a new account. It is also set as a cookie."`
}

var invitationResource = kit.Resource{
	Tag: "Invitations", About: "Links with which new members join a workspace.",
	Read: kit.Needs(auth.WorkspaceAdmin, auth.MembersScope), Change: kit.Needs(auth.WorkspaceAdmin, auth.MembersScope),
}

func (s *server) registerInvitations() {
	declare := func(method, path, id, summary string) kit.Endpoint {
		return kit.Endpoint{Method: method, Path: "/api/workspaces/{id}/invitations" + path, ID: id, Summary: summary, Tag: "Invitations",
			OfPath: true}
	}
	kit.Handle(s.Kit, declare(http.MethodGet, "", "listInvitations", "List the invitations to a workspace").
		About("The invitations that were not accepted, newest first."), s.listInvitations)
	kit.Handle(s.Kit, declare(http.MethodPost, "", "createInvitation", "Invite somebody to a workspace").
		About("Invites an address with a role. Only an OWNER can invite an OWNER. Only this response contains the link, which works once "+
			"within seven days. If e-mail is configured, the address also gets an e-mail. An API key invites an EDITOR or VIEWER by e-mail and "+
			"gets no link; to invite an ADMIN or OWNER requires a session (403). A second invitation of the address replaces the first. A member "+
			"of the workspace cannot be invited (409). A workspace and a user can send 100 invitations a day, and an address can get five (429).").
		Example(`{"email":"bob@example.com","role":"EDITOR"}`).Fails(http.StatusConflict), s.createInvitation)
	kit.Handle(s.Kit, declare(http.MethodDelete, "/{invitationId}", "revokeInvitation", "Revoke an invitation").
		About("The link stops working immediately."), s.revokeInvitation)
	kit.Handle(s.Kit, kit.Endpoint{
		Method: http.MethodPost, Path: "/api/invitations/accept", ID: "acceptInvitation", Summary: "Accept an invitation",
		Tag:  "Invitations",
		Need: kit.Anyone, Status: http.StatusOK, SessionOnly: true, SignsIn: true,
	}.
		About("With the session of the invited address, it joins the workspace; another user gets 403. Without a session, it makes an account "+
			"with `name` and `password` and opens a session, like a sign-in. If the address has an account, the response is 401: sign in first. "+
			"A link that was used, revoked or has expired gets 410, an unknown one 404. After five unknown links in ten minutes, a client is "+
			"locked out for an increasing time (429).").
		Example(`{"token":"XJ3V…","name":"Bob","password":"battery staple"}`).Fails(http.StatusConflict, http.StatusUnauthorized,
		http.StatusForbidden, http.StatusNotFound, http.StatusGone), s.acceptInvitation)
}

func (s *server) invitationOf(i store.Invitation) Invitation {
	out := Invitation{ID: i.ID, Email: i.Email, Role: i.Role, Status: i.State, CreatedAt: kit.Time(i.CreatedAt),
		ExpiresAt: kit.Time(i.ExpiresAt)}
	if s.Invitations.Expired(i) {
		out.Status = "EXPIRED"
	}
	if i.InvitedBy != "" {
		out.InvitedBy = &Inviter{i.InvitedBy, i.InviterEmail, i.InviterName}
	}
	return out
}

func (s *server) listInvitations(ctx context.Context, in *listMembersIn) (*kit.Body[kit.List[Invitation]], error) {
	return kit.RespondPage(in.Paging, 20, s.invitationOf)(s.Invitations.List(ctx, kit.Principal(ctx), in.Size(20), in.Offset(20)))
}

type createInvitationIn struct {
	ByWorkspace
	Body struct {
		Email string `json:"email" doc:"Whom to invite." example:"ann@example.com"`
		Role  string `json:"role" enum:"OWNER,ADMIN,EDITOR,VIEWER"`
	}
}

func (s *server) createInvitation(ctx context.Context, in *createInvitationIn) (*kit.Body[NewInvitation], error) {
	return kit.Respond(func(c invitations.Created) NewInvitation {
		return NewInvitation{s.invitationOf(c.Invitation), kit.Text(c.Link), c.Mailed}
	})(
		s.Invitations.Create(ctx, kit.Principal(ctx), in.Body.Email, in.Body.Role))
}

type revokeInvitationIn struct {
	ByWorkspace
	InvitationID string `path:"invitationId" doc:"The id of the invitation."`
}

func (s *server) revokeInvitation(ctx context.Context, in *revokeInvitationIn) (*struct{}, error) {
	return nil, s.Invitations.Revoke(ctx, kit.Principal(ctx), in.InvitationID)
}

type acceptInvitationIn struct {
	Body struct {
		Token    string `json:"token" minLength:"1" maxLength:"200" doc:"What follows #invitation= in the link."`
		Name     string `json:"name,omitempty" doc:"For a new account."`
		Password string `json:"password,omitempty" doc:"For a new account, which requires it. At least 8 characters and at most 72 bytes. Common passwords and the user's email are refused."`
	}
}

type acceptInvitationOut struct {
	SetCookie []http.Cookie `header:"Set-Cookie"`
	Body      AcceptedInvitation
}

func (s *server) acceptInvitation(ctx context.Context, in *acceptInvitationIn) (*acceptInvitationOut, error) {
	got, err := s.Invitations.Accept(ctx, kit.Principal(ctx), invitations.Answer{Token: in.Body.Token, Name: in.Body.Name,
		Password: in.Body.Password})
	if err != nil {
		return nil, err
	}
	out := &acceptInvitationOut{Body: AcceptedInvitation{got.WorkspaceID, got.Role, userOf(got.User), got.Token}}
	if got.Token != "" {
		kit.RequestLogOf(ctx).UserID = got.User.ID
		out.SetCookie = []http.Cookie{s.SessionCookie(got.Token, got.Expires)}
	}
	return out, nil
}
