package sso

import (
	"context"
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"unicode/utf8"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
)

const (
	maxEmail    = 254 // bytes
	maxUserName = 255 // characters
)

// enter starts a session for a person. It links the account, and creates the user, if needed and allowed.
func (s *Service) enter(ctx context.Context, p store.OIDCProvider, who person) (out SignedIn, err error) {
	for range 3 { // concurrent first sign-ins of one person conflict; the next attempt finds the account
		err = s.store.Tx(ctx, func(tx *store.Tx) error {
			out, err = s.enterTx(ctx, tx, p, who)
			return err
		})
		if _, again := store.Unique(err); !again {
			break
		}
	}
	return out, err
}

func (s *Service) enterTx(ctx context.Context, tx *store.Tx, p store.OIDCProvider, who person) (out SignedIn, err error) {
	var log []audit.Entry
	now := store.Now()
	account, err := tx.OIDCAccountBySubject(ctx, p.ID, who.issuer, who.subject)
	first := errors.Is(err, store.ErrNotFound)
	if err != nil && !first {
		return out, fmt.Errorf("look up account: %w", err)
	}
	if first {
		account = store.OIDCAccount{
			ID: store.NewID(), ProviderID: p.ID, ProviderSlug: p.Slug, ProviderName: p.Name, Issuer: who.issuer, Subject: who.subject,
			Email: who.email, CreatedAt: now, LastLoginAt: now,
		}
		if account.UserID, log, err = s.userOf(ctx, tx, p, who, now); err != nil {
			return out, err
		}
	}
	u, err := tx.LockUser(ctx, account.UserID)
	switch {
	case errors.Is(err, store.ErrNotFound): // deleted concurrently, together with the account
		return out, failed(CodeNoAccount, nil)
	case err != nil:
		return out, fmt.Errorf("look up user: %w", err)
	case !u.Active:
		return out, failed(CodeInactive, nil)
	}
	if first && len(log) == 0 && (u.EmailUnproven || u.Role == string(auth.Admin) || u.TOTPEnabled || u.HasPasskeys) {
		return out, s.linkRequired(p, account)
	}
	if first {
		log = append(log, audit.Entry{UserID: u.ID, Action: "OIDC_ACCOUNT_LINKED", EntityType: "oidc_account", EntityID: account.ID,
			New: loggedAccount(account)})
		err = tx.InsertOIDCAccount(ctx, account)
	} else {
		err = tx.NoteOIDCLogin(ctx, account.ID, who.email, now)
	}
	if err != nil {
		return out, fmt.Errorf("write account: %w", err)
	}
	out.User = u
	from := audit.OriginOf(ctx)
	if out.Token, out.Expires, err = s.auth.OpenSession(ctx, tx, u, auth.SignIn{IP: from.IP, UserAgent: from.UserAgent}); err != nil {
		return out, err
	}
	log = append(log, audit.Entry{
		UserID: u.ID, Action: "SSO_LOGIN", EntityType: "user", EntityID: u.ID,
		Metadata: map[string]any{"provider": p.Slug, "accountId": account.ID, "sub": who.subject},
	})
	return out, audit.Append(ctx, tx, log...)
}

// userOf returns the user for a person's first sign-in, by the verified email. It creates one if that is allowed.
func (s *Service) userOf(ctx context.Context, tx *store.Tx, p store.OIDCProvider, who person, now int64) (id string, log []audit.Entry,
	err error) {
	if !who.verified {
		if s.cfg.AutoProvision {
			return "", nil, failed(CodeNotVerified, nil)
		}
		return "", nil, failed(CodeNoAccount, nil)
	}
	if !vouches(p, who.email) {
		return "", nil, failed(CodeDomain, nil)
	}
	u, err := tx.UserByEmail(ctx, who.email)
	switch {
	case err == nil:
		// Lower-casing maps some non-Latin letters to Latin ones. Such a mailbox must not match another user's account.
		if !ascii(who.email) && who.email != u.Email {
			return "", nil, failed(CodeNoAccount, nil)
		}
		return u.ID, nil, nil
	case !errors.Is(err, store.ErrNotFound):
		return "", nil, fmt.Errorf("look up user: %w", err)
	case !s.cfg.AutoProvision:
		return "", nil, failed(CodeNoAccount, nil)
	}
	u = store.User{ID: store.NewID(), Email: who.email, Name: who.name, Role: string(auth.User), Active: true, CreatedAt: now,
		UpdatedAt: now}
	if u.Num, err = tx.InsertUser(ctx, u); err != nil {
		return "", nil, fmt.Errorf("insert user: %w", err)
	}
	return u.ID, []audit.Entry{{
		UserID: u.ID, Action: "USER_CREATED", EntityType: "user", EntityID: u.ID,
		New:      map[string]any{"email": u.Email, "name": u.Name, "role": u.Role, "status": "ACTIVE", "twoFactorEnabled": false},
		Metadata: map[string]any{"provider": p.Slug},
	}}, nil
}

// usableEmail reports whether a provider's email is valid for a user.
func usableEmail(email string) bool {
	a, err := mail.ParseAddress(email)
	return err == nil && a.Address == email && len(email) <= maxEmail && printable(email)
}

// cleanName converts a provider's name to a valid user name.
func cleanName(name string) string {
	name = strings.TrimSpace(strings.ToValidUTF8(name, ""))
	if !printable(name) || utf8.RuneCountInString(name) > maxUserName {
		return ""
	}
	return name
}

func ascii(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
}
