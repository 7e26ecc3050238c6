package invitations

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shortline/shortline/control/internal/manage/accounts"
	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// Answer is the input of Accept. Name and Password are for a new account.
type Answer struct{ Token, Name, Password string }

// Accepted is the result of Accept. Token and Expires belong to the session of a new account.
type Accepted struct {
	User        store.User
	WorkspaceID string
	Role        string
	Token       string
	Expires     time.Time
}

// Accept makes the caller a member of a workspace. A caller who is not signed in gets a new account, unless the address
// has one. The error is NotFound for an unknown token, Gone for one that no longer works, Unauthorized if the caller has
// to sign in first, Forbidden for another user and where accounts cannot be made, and TooMany after wrong tokens.
func (s *Service) Accept(ctx context.Context, p auth.Principal, in Answer) (out Accepted, err error) {
	i, err := s.invitationOf(ctx, in.Token)
	if err != nil {
		return out, err
	}
	if p.UserID != "" {
		out.User, err = s.store.UserByID(ctx, p.UserID)
		if err != nil {
			return out, fmt.Errorf("look up user: %w", err)
		}
		if !same(i.Email, out.User.Email) {
			return out, problem.New(problem.Forbidden, "This invitation is for %s. You are signed in as %s.", i.Email, out.User.Email)
		}
	} else if out.User, err = s.newUser(ctx, i, in); err != nil {
		return Accepted{}, err
	}
	err = s.store.Tx(ctx, func(tx *store.Tx) error { return s.accept(ctx, tx, p, i.ID, auth.Digest(in.Token), &out) })
	if err != nil {
		return Accepted{}, err
	}
	return out, nil
}

// invitationOf returns the invitation of a token. It counts unknown tokens by client.
func (s *Service) invitationOf(ctx context.Context, token string) (i store.Invitation, err error) {
	key := auth.LockoutKey("invitation", auth.ClientOf(audit.OriginOf(ctx).IP))
	if _, err := s.lockout.Check(ctx, key); err != nil {
		return i, err
	}
	i, err = s.store.InvitationByHash(ctx, auth.Digest(token))
	if errors.Is(err, store.ErrNotFound) {
		if err := s.store.Tx(ctx, func(tx *store.Tx) error { _, err := s.lockout.Fail(ctx, tx, key); return err }); err != nil {
			return i, fmt.Errorf("count failure: %w", err)
		}
		return i, problem.New(problem.NotFound,
			"There is no such invitation. Copy the whole link. If its workspace was deleted, the invitation is gone too.")
	}
	if err != nil {
		return i, fmt.Errorf("look up invitation: %w", err)
	}
	return i, s.usable(i)
}

func (s *Service) usable(i store.Invitation) error {
	switch {
	case i.State == store.InvitationAccepted:
		return problem.New(problem.Gone, "This invitation was used already.")
	case i.State == store.InvitationRevoked:
		return problem.New(problem.Gone, "This invitation was revoked or replaced by a newer one.")
	case s.Expired(i):
		return problem.New(problem.Gone, "This invitation has expired. Ask for a new one.")
	}
	return nil
}

// same reports whether an invitation's address is that of a user. Lower-casing maps some non-Latin letters to Latin
// ones, so addresses with such letters must be equal.
func same(invited, email string) bool {
	if strings.ContainsFunc(invited+email, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return invited == email
	}
	return store.EmailKey(invited) == store.EmailKey(email)
}

// newUser checks the input for a new account of an invitation's address.
func (s *Service) newUser(ctx context.Context, i store.Invitation, in Answer) (u store.User, err error) {
	_, err = s.store.UserByEmail(ctx, i.Email)
	if err == nil {
		return u, signInFirst(i)
	}
	if !errors.Is(err, store.ErrNotFound) {
		return u, fmt.Errorf("look up user: %w", err)
	}
	if s.cfg.SignUpClosed {
		return u, problem.New(problem.Forbidden,
			"Invitations do not make accounts here. Ask an administrator for an account with the address %s, and sign in first.", i.Email)
	}
	if s.cfg.PasswordSignInOff != nil {
		off, err := s.cfg.PasswordSignInOff(ctx)
		if err != nil {
			return u, fmt.Errorf("check whether password sign-in is off: %w", err)
		}
		if off {
			return u, problem.New(problem.Forbidden, "Password sign-in is turned off. Use single sign-on first, as %s.", i.Email)
		}
	}
	if in.Password == "" {
		return u, problem.OfField("password", "is required for a new account")
	}
	if u, err = s.accounts.Prepare(ctx, accounts.NewUser{Email: i.Email, Password: in.Password, Name: in.Name}); err != nil {
		return u, err
	}
	u.EmailUnproven = auth.Digest(in.Token) != i.MailedHash
	return u, nil
}

func signInFirst(i store.Invitation) error {
	return problem.New(problem.Unauthorized, "The address %s has an account. Sign in first, then accept the invitation.", i.Email)
}

// accept uses the invitation for out.User, who is inserted if nobody is signed in.
func (s *Service) accept(ctx context.Context, tx *store.Tx, p auth.Principal, id, hash string, out *Accepted) error {
	var log []audit.Entry
	if p.UserID == "" {
		made, err := accounts.Insert(ctx, tx, &out.User)
		if problem.Is(err, problem.Conflict) {
			return signInFirst(store.Invitation{Email: out.User.Email}) // made by a concurrent request
		}
		if err != nil {
			return err
		}
		made.UserID, made.Metadata = out.User.ID, map[string]any{"invitation": id, "emailProven": !out.User.EmailUnproven}
		log = append(log, made)
	} else if _, err := tx.LockUser(ctx, p.UserID); err != nil { // users are locked before workspaces
		return fmt.Errorf("lock the user: %w", err)
	}
	i, err := tx.InvitationByHash(ctx, hash)
	if err == nil {
		err = tx.HoldWorkspace(ctx, i.Workspace)
	}
	if errors.Is(err, store.ErrNotFound) {
		return problem.New(problem.Gone, "The workspace of this invitation was deleted.")
	}
	if err != nil {
		return fmt.Errorf("look up invitation: %w", err)
	}
	if _, err := s.mayInvite(ctx, tx, i.Workspace, i.InvitedBy, auth.ParseWorkspaceRole(i.Role)); err != nil {
		var refused *problem.Error
		if errors.As(err, &refused) {
			return problem.New(problem.Gone, "Whoever sent this invitation may no longer invite members. Ask for a new one.")
		}
		return err
	}
	role, err := tx.MemberRole(ctx, i.Workspace, out.User.ID)
	if err != nil {
		return fmt.Errorf("look up role: %w", err)
	}
	if role != "" {
		return problem.New(problem.Conflict, "You are a member of the workspace already.")
	}
	was, err := tx.CloseInvitation(ctx, i.ID, store.InvitationAccepted)
	if err != nil {
		return fmt.Errorf("use an invitation: %w", err)
	}
	if !was { // by a concurrent request
		return problem.New(problem.Gone, "This invitation was used or revoked already.")
	}
	if err := tx.InsertMember(ctx, i.Workspace, out.User.ID, i.Role, store.Now()); err != nil {
		return fmt.Errorf("add a member: %w", err)
	}
	if hash == i.MailedHash && out.User.EmailUnproven {
		if err := tx.VerifyEmail(ctx, out.User.ID); err != nil {
			return fmt.Errorf("note the proof of an address: %w", err)
		}
	}
	w, err := tx.WorkspaceRow(ctx, out.User.ID, i.Workspace)
	if err != nil {
		return auth.Missing("Workspace", err)
	}
	out.WorkspaceID, out.Role = w.ID, i.Role
	log = append(log, entry(out.User.ID, "INVITATION_ACCEPTED", i), audit.Entry{
		UserID: out.User.ID, Action: "MEMBER_ADDED", EntityType: "member", EntityID: out.User.ID, Workspace: i.Workspace,
		New: map[string]any{"email": out.User.Email, "role": i.Role}, Metadata: map[string]any{"invitation": i.ID},
	})
	if p.UserID == "" {
		from := audit.OriginOf(ctx)
		if out.Token, out.Expires,
			err = s.auth.OpenSession(ctx, tx, out.User, auth.SignIn{IP: from.IP, UserAgent: from.UserAgent}); err != nil {
			return err
		}
		log = append(log, audit.Entry{UserID: out.User.ID, Action: "USER_LOGIN", EntityType: "user", EntityID: out.User.ID,
			Metadata: map[string]any{"success": true, "invitation": i.ID}})
	}
	return audit.Append(ctx, tx, log...)
}
