// Package invitations brings new members into workspaces.
//
// An invitation has an e-mail address, a role, and a link that works once within Lifetime. The link is shown to the
// inviter, to copy, and sent by e-mail if that is configured. The two links have different tokens: only a user who
// accepts with the e-mailed one has proven to own the address. An account that the other one makes has an unproven address, so
// that an identity provider does not link it without its password. The store keeps hashes of the tokens.
//
// An invitation is as good as its inviter: it stops working when the inviter may no longer invite.
package invitations

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/manage/accounts"
	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// Lifetime is how long an invitation can be accepted.
const Lifetime = 7 * 24 * time.Hour

// Limits of the invitations of a day, because each may send an e-mail to a stranger: of a workspace, of a user in all
// workspaces, and to an address from all workspaces.
const (
	perDay        = 100
	perAddressDay = 5
)

var errOwners = problem.New(problem.Forbidden, "Only an OWNER can invite an OWNER.")

// Config of the use cases.
type Config struct {
	// Console is the address of the console, to which links lead. Required.
	Console string
	// SignUpClosed refuses to make accounts for unknown addresses.
	SignUpClosed bool
	// PasswordSignInOff reports that users must sign in through an identity provider; nil means never.
	PasswordSignInOff func(ctx context.Context) (bool, error)
	// Mail sends the invitations; nil means that links are only shown.
	Mail *mail.Service
	// Now returns the current time; nil means time.Now.
	Now func() time.Time
}

// Service implements the use cases. It is safe for concurrent use.
type Service struct {
	cfg      Config
	store    *store.Store
	auth     *auth.Authenticator
	accounts *accounts.Service
	lockout  *auth.Lockout
}

// New returns a Service.
func New(cfg Config, st *store.Store, a *auth.Authenticator, users *accounts.Service) *Service {
	cfg.Console = strings.TrimSuffix(cfg.Console, "/")
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Service{cfg, st, a, users, auth.NewLockout(st, cfg.Now)}
}

// Created is a new invitation with what is known only now.
type Created struct {
	store.Invitation
	Link   string // works once; "": an API key made the invitation, and would keep access after its own end
	Mailed bool   // whether an e-mail with another link is on its way
}

// List returns a page of the pending and expired invitations to the workspace of the request, and their number.
func (s *Service) List(ctx context.Context, p auth.Principal, limit, offset int) ([]store.Invitation, int, error) {
	list, total, err := s.store.Invitations(ctx, p.Workspace.Num, limit, offset)
	if err != nil {
		return nil, 0, fmt.Errorf("list invitations: %w", err)
	}
	return list, total, nil
}

// Expired reports whether an invitation can no longer be accepted.
func (s *Service) Expired(i store.Invitation) bool { return i.ExpiresAt <= s.cfg.Now().UnixMilli() }

// Create invites an address to the workspace of the request. It replaces an earlier invitation of the address. An API key
// invites only EDITORs and VIEWERs, and only by e-mail: it does not get the link. The error is a Conflict if the address belongs
// to a member, and TooMany after too many invitations to the workspace, by the user, or to the address.
func (s *Service) Create(ctx context.Context, p auth.Principal, email, role string) (out Created, err error) {
	var v problem.Fields
	email = accounts.CheckEmail(&v, email)
	want := auth.ParseWorkspaceRole(role)
	if want == auth.NoMember {
		v.Add("role", "must be OWNER, ADMIN, EDITOR or VIEWER")
	}
	if err := v.Err(); err != nil {
		return out, err
	}
	if want == auth.Owner && p.Workspace.Role < auth.Owner { // an API key may have less than its maker
		return out, errOwners
	}
	if p.KeyID != "" && want >= auth.WorkspaceAdmin {
		return out, problem.New(problem.Forbidden, "An API key can't invite an %s; sign in instead.", want)
	}
	if p.KeyID != "" && !s.cfg.Mail.Enabled() {
		return out, problem.New(problem.Forbidden,
			"An API key can invite only by e-mail, which this installation does not send; sign in instead.")
	}
	if p.Workspace.Personal {
		return out, problem.New(problem.Invalid, "A personal workspace has one member. Create a workspace for a team.")
	}
	now := s.cfg.Now()
	shown, mailed := auth.NewToken(), auth.NewToken()
	out = Created{Link: s.link(shown), Mailed: s.cfg.Mail.Enabled(), Invitation: store.Invitation{
		ID: store.NewID(), Workspace: p.Workspace.Num, Email: email, Role: role, InvitedBy: p.UserID, MadeBy: p.KeyID,
		ShownHash: auth.Digest(shown), State: store.InvitationPending,
		CreatedAt: now.UnixMilli(), ExpiresAt: now.Add(Lifetime).UnixMilli(),
	}}
	if out.Mailed {
		out.MailedHash = auth.Digest(mailed)
	}
	if p.KeyID != "" {
		out.Link = ""
	}
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		if err := tx.LockWorkspace(ctx, p.Workspace.Num); err != nil {
			return auth.Missing("Workspace", err)
		}
		by, err := s.mayInvite(ctx, tx, p.Workspace.Num, p.UserID, want)
		if err != nil {
			return err
		}
		out.InviterEmail, out.InviterName = by.Email, by.Name
		if err := s.checkNew(ctx, tx, &out.Invitation); err != nil {
			return err
		}
		if err := tx.InsertInvitation(ctx, out.Invitation); err != nil {
			return fmt.Errorf("insert an invitation: %w", err)
		}
		w, err := tx.WorkspaceRow(ctx, p.UserID, p.Workspace.Num)
		if err != nil {
			return auth.Missing("Workspace", err)
		}
		if err := s.cfg.Mail.Send(ctx, tx, email, mail.Invitation{
			Workspace: w.Name, Inviter: nameOf(by), Role: role, Link: s.link(mailed), Expires: now.Add(Lifetime),
		}); err != nil {
			return err
		}
		return audit.Append(ctx, tx, entry(p.UserID, "INVITATION_CREATED", out.Invitation))
	})
	if err != nil {
		return Created{}, err
	}
	return out, nil
}

// checkNew returns an error if a locked workspace must not get the invitation. It revokes an earlier one of the address.
func (s *Service) checkNew(ctx context.Context, tx *store.Tx, i *store.Invitation) error {
	u, err := tx.UserByEmail(ctx, i.Email)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("look up user: %w", err)
	}
	if err == nil {
		role, err := tx.MemberRole(ctx, i.Workspace, u.ID)
		if err != nil {
			return fmt.Errorf("look up member: %w", err)
		}
		if role != "" {
			return &problem.Error{Kind: problem.Conflict, Message: "This user is a member of the workspace already.",
				Fields: []problem.Field{{Field: "email", Message: "belongs to a member"}}}
		}
	}
	if err := checkDay(ctx, tx, i); err != nil {
		return err
	}
	if _, err := tx.RevokeInvitations(ctx, i.Workspace, i.Email); err != nil {
		return fmt.Errorf("replace an invitation: %w", err)
	}
	return nil
}

// checkDay returns an error if there were too many invitations within a day.
func checkDay(ctx context.Context, tx *store.Tx, i *store.Invitation) error {
	since := i.CreatedAt - (24 * time.Hour).Milliseconds()
	for _, limit := range []struct {
		most  int
		text  string
		count func() (int, error)
	}{
		{perDay, "A workspace can invite %d people a day.", func() (int, error) { return tx.InvitationsSince(ctx, i.Workspace, since) }},
		{perDay, "You can invite %d people a day.", func() (int, error) { return tx.InvitationsBy(ctx, i.InvitedBy, since) }},
		{perAddressDay, "An address can be invited %d times a day.", func() (int, error) { return tx.InvitationsTo(ctx, i.Email, since) }},
	} {
		n, err := limit.count()
		if err != nil {
			return fmt.Errorf("count invitations: %w", err)
		}
		if n >= limit.most {
			e := problem.New(problem.TooMany, limit.text, limit.most)
			e.RetryAfter = time.Hour
			return e
		}
	}
	return nil
}

// Revoke ends a pending invitation to the workspace of the request.
func (s *Service) Revoke(ctx context.Context, p auth.Principal, id string) error {
	return s.store.Tx(ctx, func(tx *store.Tx) error {
		if err := tx.LockWorkspace(ctx, p.Workspace.Num); err != nil {
			return auth.Missing("Workspace", err)
		}
		i, err := tx.PendingInvitation(ctx, p.Workspace.Num, id)
		if err != nil {
			return auth.Missing("Invitation", err)
		}
		if _, err := s.mayInvite(ctx, tx, p.Workspace.Num, p.UserID, auth.ParseWorkspaceRole(i.Role)); err != nil {
			return err
		}
		was, err := tx.CloseInvitation(ctx, id, store.InvitationRevoked)
		if err != nil {
			return fmt.Errorf("revoke an invitation: %w", err)
		}
		if !was {
			return problem.Missing("Invitation")
		}
		return audit.Append(ctx, tx, entry(p.UserID, "INVITATION_REVOKED", i))
	})
}

// mayInvite returns an error unless a user may invite somebody with the role to a workspace at present.
func (s *Service) mayInvite(ctx context.Context, tx *store.Tx, workspace uint64, userID string, role auth.WorkspaceRole) (u store.User,
	err error) {
	if u, err = tx.UserByID(ctx, userID); err != nil && !errors.Is(err, store.ErrNotFound) {
		return u, fmt.Errorf("look up user: %w", err)
	}
	has, err := tx.MemberRole(ctx, workspace, userID)
	if err != nil {
		return u, fmt.Errorf("look up role: %w", err)
	}
	mine := auth.ParseWorkspaceRole(has)
	switch {
	case u.Active && u.Role == string(auth.Admin):
		return u, nil
	case !u.Active || mine == auth.NoMember:
		return u, problem.Missing("Workspace")
	case mine < auth.WorkspaceAdmin:
		return u, problem.New(problem.Forbidden, "This needs the role %s in the workspace; you are %s.", auth.WorkspaceAdmin, mine)
	case role == auth.Owner && mine < auth.Owner:
		return u, errOwners
	}
	return u, nil
}

// link returns the address of the console's page for an invitation. Browsers do not send the part after # to servers, so
// no log contains the token.
func (s *Service) link(token string) string { return s.cfg.Console + "/login#invitation=" + token }

func nameOf(u store.User) string {
	if u.Name != "" {
		return u.Name
	}
	return u.Email
}

func entry(userID, action string, i store.Invitation) audit.Entry {
	return audit.Entry{
		UserID: userID, Action: action, EntityType: "invitation", EntityID: i.ID, Workspace: i.Workspace,
		New: map[string]any{"email": i.Email, "role": i.Role, "invitedBy": i.InvitedBy},
	}
}
