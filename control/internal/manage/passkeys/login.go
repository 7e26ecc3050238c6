package passkeys

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// Request is what a browser needs to sign in with a passkey. Host is the relying party's id.
type Request struct {
	Challenge, Host string
}

// SignedIn is the result of a sign-in.
type SignedIn struct {
	User    store.User
	Token   string
	Expires time.Time
}

// signature is what a verified response says about its authenticator.
type signature struct {
	counter  uint32
	backedUp bool
}

// refusal is why a sign-in failed.
type refusal struct {
	reason string // for the audit log
	detail string // for the log of the program; may be ""
	tell   error  // for the caller
}

func (r *refusal) Error() string { return r.reason }

var (
	errStale    = problem.New(problem.Unauthorized, "This sign-in expired or was used already. Start again.")
	errRefused  = problem.New(problem.Unauthorized, "The passkey was not accepted. Sign in in another way.")
	errUnknown  = problem.New(problem.Unauthorized, "This passkey does not belong to an account here any more. Sign in in another way.")
	errRepeated = problem.New(problem.Unauthorized,
		"The passkey was not accepted, because its counter shows that it may have been copied. Sign in in another way, and remove this passkey.")
)

// BeginLogin starts a sign-in of anybody who has a passkey here.
func (s *Service) BeginLogin(ctx context.Context) (out Request, err error) {
	if err := s.checkAvailable(ctx); err != nil {
		return out, err
	}
	out.Host = s.web.Config.RPID
	out.Challenge, err = s.beginCeremony(ctx, "", "")
	return out, err
}

// FinishLogin signs in the user of a passkey. The error is Unauthorized for a response that does not verify, and TooMany
// during a lockout of the client from the passkey.
func (s *Service) FinishLogin(ctx context.Context, c Credential) (out SignedIn, err error) {
	if err := s.checkAvailable(ctx); err != nil {
		return out, err
	}
	r, err := c.decode(false)
	if err != nil {
		return out, err
	}
	key := auth.LockoutKey("passkey", encode(r.id), auth.ClientOf(audit.OriginOf(ctx).IP))
	dirty, err := s.lockout.Check(ctx, key)
	if err != nil {
		return out, err
	}
	known, err := s.endCeremony(ctx, r.challenge, "", "")
	if err != nil {
		return out, err
	}
	var passkey store.Passkey
	var got signature
	if known {
		passkey, got, err = s.asserted(ctx, r)
	} else {
		err = &refusal{reason: "challenge expired or used", tell: errStale}
	}
	if err == nil {
		out, err = s.startSession(ctx, passkey, got, key, dirty)
	}
	var why *refusal
	if errors.As(err, &why) {
		return SignedIn{}, s.failed(ctx, key, r, passkey, why)
	}
	return out, err
}

// asserted verifies the response to a sign-in, except for its counter. A *refusal is why it does not verify.
func (s *Service) asserted(ctx context.Context, r response) (p store.Passkey, got signature, err error) {
	p, err = s.store.PasskeyByCredential(ctx, encode(r.id))
	if errors.Is(err, store.ErrNotFound) {
		return p, got, &refusal{reason: "unknown passkey", tell: errUnknown}
	}
	if err != nil {
		return p, got, fmt.Errorf("look up passkey: %w", err)
	}
	key, err := base64.RawURLEncoding.DecodeString(p.PublicKey)
	if err != nil {
		return p, got, fmt.Errorf("decode the public key of passkey %s: %w", p.ID, err)
	}
	refused := func(err error) error {
		return &refusal{reason: "not verified", detail: because(err), tell: errRefused}
	}
	parsed, err := protocol.CredentialAssertionResponse{
		PublicKeyCredential: protocol.PublicKeyCredential{
			Credential: protocol.Credential{ID: encode(r.id), Type: string(protocol.PublicKeyCredentialType)}, RawID: r.id,
		},
		AssertionResponse: protocol.AuthenticatorAssertionResponse{
			AuthenticatorResponse: protocol.AuthenticatorResponse{ClientDataJSON: r.clientData},
			AuthenticatorData:     r.authData, Signature: r.signature, UserHandle: r.userHandle,
		},
	}.Parse()
	if err != nil {
		return p, got, refused(err)
	}
	owner := person{User: store.User{ID: p.UserID}, credentials: []webauthn.Credential{{
		ID: r.id, PublicKey: key, Flags: webauthn.CredentialFlags{BackupEligible: p.BackupEligible},
		Authenticator: webauthn.Authenticator{SignCount: p.SignCount},
	}}}
	_, _, err = s.web.ValidatePasskeyLogin(func(_, _ []byte) (webauthn.User, error) { return owner, nil }, session(r.challenge, ""), parsed)
	if err != nil {
		return p, got, refused(err)
	}
	data := parsed.Response.AuthenticatorData
	return p, signature{data.Counter, data.Flags.HasBackupState()}, nil
}

// startSession starts a session after a response that verifies. The error is a *refusal if the counter, the passkey or the user
// does not allow it.
func (s *Service) startSession(ctx context.Context, p store.Passkey, got signature, key string, dirty bool) (out SignedIn, err error) {
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		u, err := tx.LockUser(ctx, p.UserID)
		if errors.Is(err, store.ErrNotFound) { // deleted meanwhile, with its passkeys
			return &refusal{reason: "unknown passkey", tell: errUnknown}
		}
		if err != nil {
			return fmt.Errorf("look up user: %w", err)
		}
		if !u.Active {
			return &refusal{reason: "user is inactive", tell: errRefused}
		}
		if _, err := tx.PasskeyByCredential(ctx, p.CredentialID); errors.Is(err, store.ErrNotFound) { // deleted meanwhile
			return &refusal{reason: "unknown passkey", tell: errUnknown}
		} else if err != nil {
			return fmt.Errorf("look up passkey: %w", err)
		}
		increased, err := tx.UsePasskey(ctx, p.ID, got.counter, got.backedUp, s.cfg.Now().UnixMilli())
		if err != nil {
			return fmt.Errorf("store the counter of the passkey: %w", err)
		}
		if !increased {
			return &refusal{reason: "counter did not increase", detail: fmt.Sprint(got.counter), tell: errRepeated}
		}
		if dirty {
			if err := s.lockout.Forget(ctx, tx, key); err != nil {
				return fmt.Errorf("reset failures: %w", err)
			}
		}
		from := audit.OriginOf(ctx)
		out.User = u
		if out.Token, out.Expires,
			err = s.auth.OpenSession(ctx, tx, u, auth.SignIn{IP: from.IP, UserAgent: from.UserAgent, SecondFactor: true}); err != nil {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{
			UserID: u.ID, Action: "USER_LOGIN", EntityType: "user", EntityID: u.ID,
			Metadata: map[string]any{"success": true, "passkey": p.ID,
				"secondFactor": "passkey"},
		})
	})
	return out, err
}

// failed counts and logs a failed sign-in, and returns the error for the caller. passkey is zero if it is not known.
func (s *Service) failed(ctx context.Context, key string, r response, passkey store.Passkey, why *refusal) error {
	cloned := why.tell == errRepeated
	if cloned {
		s.cfg.Logger.Warn("passkey counter did not increase", "user_id", passkey.UserID, "passkey_id", passkey.ID, "stored",
			passkey.SignCount,
			"got", why.detail)
	} else {
		s.cfg.Logger.Info("passkey sign-in refused", "user_id", passkey.UserID, "reason", why.reason, "detail", why.detail)
	}
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		if _, err := s.lockout.Fail(ctx, tx, key); err != nil {
			return fmt.Errorf("count failure: %w", err)
		}
		if cloned {
			return s.noteClone(ctx, tx, passkey)
		}
		meta := map[string]any{"success": false, "reason": why.reason}
		if passkey.ID != "" {
			meta["passkey"] = passkey.ID
		}
		return audit.AppendCounted(ctx, tx, s.cfg.Now(), bucketOf(r.id), audit.Entry{Action: "USER_LOGIN", EntityType: "user",
			EntityID: passkey.UserID, Metadata: meta})
	})
	if err != nil {
		return err
	}
	return why.tell
}

// noteClone records that a passkey's counter did not increase, and tells the user, at most once an hour. Only a holder
// of the private key can cause that, so the entries are not counted together.
func (s *Service) noteClone(ctx context.Context, tx *store.Tx, p store.Passkey) error {
	now := s.cfg.Now()
	if err := tx.NotePasskeyCloned(ctx, p.ID, now.UnixMilli()); err != nil {
		return fmt.Errorf("mark passkey: %w", err)
	}
	if p.ClonedAt == nil || now.Sub(time.UnixMilli(*p.ClonedAt)) >= time.Hour {
		u, err := tx.UserByID(ctx, p.UserID)
		if err == nil {
			err = s.cfg.Mail.Send(ctx, tx, u.Email, mail.PasskeyCloned{Event: s.event(ctx), Passkey: p.Name})
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) { // deleted meanwhile
			return fmt.Errorf("tell the user: %w", err)
		}
	}
	return audit.Append(ctx, tx, audit.Entry{
		Action: "PASSKEY_CLONED", EntityType: "passkey", EntityID: p.ID,
		Metadata: map[string]any{"userId": p.UserID,
			"notice": "A sign-in was refused, because the counter of the passkey did not increase. The passkey may have been copied."},
	})
}

// bucketOf distributes failures over a few buckets by the id of the credential; see audit.AppendCounted.
func bucketOf(credential []byte) string {
	h := fnv.New32a()
	_, _ = h.Write(credential) // never fails
	return "passkey " + strconv.Itoa(int(h.Sum32()%8))
}
