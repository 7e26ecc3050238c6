package api

import (
	"context"
	"net/http"

	"github.com/shortline/shortline/control/internal/manage/invitations"
	"github.com/shortline/shortline/control/internal/store"
)

// Invitation describes an invitation to a workspace, without its link.
type Invitation struct {
	ID        string   `json:"id"`
	Email     string   `json:"email"`
	Role      string   `json:"role" enum:"OWNER,ADMIN,EDITOR,VIEWER"`
	Status    string   `json:"status" enum:"PENDING,EXPIRED"`
	InvitedBy *Inviter `json:"invitedBy" doc:"Null if the user was deleted."`
	CreatedAt Time     `json:"createdAt"`
	ExpiresAt Time     `json:"expiresAt"`
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

func (s *Server) registerInvitations() {
	declare := func(method, path, id, summary string) endpoint {
		return endpoint{Method: method, Path: "/api/workspaces/{id}/invitations" + path, ID: id, Summary: summary, Tag: "Invitations", OfPath: true}
	}
	handle(s, declare(http.MethodGet, "", "listInvitations", "List the invitations to a workspace"), s.listInvitations)
	handle(s, declare(http.MethodPost, "", "createInvitation", "Invite somebody to a workspace"), s.createInvitation)
	handle(s, declare(http.MethodDelete, "/{invitationId}", "revokeInvitation", "Revoke an invitation"), s.revokeInvitation)
	handle(s, endpoint{
		Method: http.MethodPost, Path: "/api/invitations/accept", ID: "acceptInvitation", Summary: "Accept an invitation", Tag: "Invitations",
		Need: anyone, Status: http.StatusOK, SessionOnly: true, SignsIn: true,
	}, s.acceptInvitation)
}

func (s *Server) invitationOf(i store.Invitation) Invitation {
	out := Invitation{ID: i.ID, Email: i.Email, Role: i.Role, Status: i.State, CreatedAt: Time(i.CreatedAt), ExpiresAt: Time(i.ExpiresAt)}
	if s.Invitations.Expired(i) {
		out.Status = "EXPIRED"
	}
	if i.InvitedBy != "" {
		out.InvitedBy = &Inviter{i.InvitedBy, i.InviterEmail, i.InviterName}
	}
	return out
}

func (s *Server) listInvitations(ctx context.Context, in *listMembersIn) (*body[List[Invitation]], error) {
	return respondPage(in.Paging, 20, s.invitationOf)(s.Invitations.List(ctx, principal(ctx), in.size(20), in.offset(20)))
}

type createInvitationIn struct {
	ByWorkspace
	Body struct {
		Email string `json:"email" doc:"Whom to invite." example:"ann@example.com"`
		Role  string `json:"role" enum:"OWNER,ADMIN,EDITOR,VIEWER"`
	}
}

func (s *Server) createInvitation(ctx context.Context, in *createInvitationIn) (*body[NewInvitation], error) {
	return respond(func(c invitations.Created) NewInvitation {
		return NewInvitation{s.invitationOf(c.Invitation), text(c.Link), c.Mailed}
	})(
		s.Invitations.Create(ctx, principal(ctx), in.Body.Email, in.Body.Role))
}

type revokeInvitationIn struct {
	ByWorkspace
	InvitationID string `path:"invitationId" doc:"The id of the invitation."`
}

func (s *Server) revokeInvitation(ctx context.Context, in *revokeInvitationIn) (*struct{}, error) {
	return nil, s.Invitations.Revoke(ctx, principal(ctx), in.InvitationID)
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

func (s *Server) acceptInvitation(ctx context.Context, in *acceptInvitationIn) (*acceptInvitationOut, error) {
	got, err := s.Invitations.Accept(ctx, principal(ctx), invitations.Answer{Token: in.Body.Token, Name: in.Body.Name, Password: in.Body.Password})
	if err != nil {
		return nil, err
	}
	out := &acceptInvitationOut{Body: AcceptedInvitation{got.WorkspaceID, got.Role, userOf(got.User), got.Token}}
	if got.Token != "" {
		requestLogOf(ctx).userID = got.User.ID
		out.SetCookie = []http.Cookie{s.setSession(got.Token, got.Expires)}
	}
	return out, nil
}
