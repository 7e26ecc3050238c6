package passkeys

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/google/uuid"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// Creation is what a browser needs to create a passkey. Host is the relying party's id. Bytes are base64url.
type Creation struct {
	Challenge, Host               string
	UserHandle, Name, DisplayName string
	Exclude                       []store.Passkey // the user's passkeys, whose authenticators must not create another one
}

// List returns the caller's passkeys, oldest first.
func (s *Service) List(ctx context.Context, p auth.Principal) ([]store.Passkey, error) {
	return s.store.Passkeys(ctx, p.UserID)
}

// BeginRegistration starts the registration of a passkey in the caller's session. It requires the current password or a
// recent sign-in, because otherwise the thief of a session could keep access to the account.
func (s *Service) BeginRegistration(ctx context.Context, p auth.Principal, password string) (out Creation, err error) {
	if err := s.checkAvailable(ctx); err != nil {
		return out, err
	}
	if err := s.cfg.Confirm(ctx, p, password); err != nil {
		return out, err
	}
	u, err := s.store.UserByID(ctx, p.UserID)
	if err != nil {
		return out, auth.Missing("User", err)
	}
	have, err := s.store.Passkeys(ctx, p.UserID)
	if err != nil {
		return out, fmt.Errorf("list passkeys: %w", err)
	}
	if len(have) >= MaxPerUser {
		return out, tooMany()
	}
	out = Creation{Host: s.web.Config.RPID, UserHandle: encode([]byte(u.ID)), Name: u.Email, DisplayName: displayName(u), Exclude: have}
	out.Challenge, err = s.beginCeremony(ctx, p.UserID, p.SessionID)
	return out, err
}

// FinishRegistration stores the passkey that the browser created. It must come from the session that began.
func (s *Service) FinishRegistration(ctx context.Context, p auth.Principal, name string, c Credential) (out store.Passkey, err error) {
	if err := s.checkAvailable(ctx); err != nil {
		return out, err
	}
	if name, err = checkName(name); err != nil {
		return out, err
	}
	r, err := c.decode(true)
	if err != nil {
		return out, err
	}
	known, err := s.endCeremony(ctx, r.challenge, p.UserID, p.SessionID)
	if err != nil {
		return out, err
	}
	if !known {
		return out, problem.OfField("credential.response.clientDataJSON",
			"has a challenge that expired, was used or was not given to this session: start again")
	}
	got, err := s.created(p.UserID, r)
	if err != nil {
		s.cfg.Logger.Info("passkey registration refused", "user_id", p.UserID, "error", because(err))
		return out, problem.OfField("credential", "was not created for this site with a verified user")
	}
	now := store.Now()
	out = store.Passkey{
		ID: store.NewID(), UserID: p.UserID, CredentialID: encode(got.ID), PublicKey: encode(got.PublicKey),
		SignCount: got.Authenticator.SignCount,
		AAGUID:    model(got.Authenticator.AAGUID), Transports: transports(c.Transports), BackupEligible: got.Flags.BackupEligible,
		BackedUp: got.Flags.BackupState,
		Name:     name, CreatedAt: now,
	}
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		u, err := tx.LockUser(ctx, p.UserID) // so that concurrent registrations are counted
		if err != nil {
			return auth.Missing("User", err)
		}
		n, err := tx.CountPasskeys(ctx, p.UserID)
		if err != nil {
			return fmt.Errorf("count passkeys: %w", err)
		}
		if n >= MaxPerUser {
			return tooMany()
		}
		if err := tx.InsertPasskey(ctx, out); err != nil {
			if _, taken := store.Unique(err); taken {
				return &problem.Error{Kind: problem.Conflict, Message: "This passkey is registered already.",
					Fields: []problem.Field{{Field: "credential", Message: "is registered already"}}}
			}
			return fmt.Errorf("insert passkey: %w", err)
		}
		if err := s.cfg.Mail.Send(ctx, tx, u.Email, mail.SecondFactorChanged{Event: s.event(ctx), Change: mail.PasskeyAdded,
			Passkey: out.Name}); err != nil {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "PASSKEY_ADDED", EntityType: "passkey", EntityID: out.ID,
			New: logged(out)})
	})
	return out, err
}

// created verifies the response to a registration.
func (s *Service) created(userID string, r response) (*webauthn.Credential, error) {
	parsed, err := protocol.CredentialCreationResponse{
		PublicKeyCredential: protocol.PublicKeyCredential{
			Credential: protocol.Credential{ID: encode(r.id), Type: string(protocol.PublicKeyCredentialType)}, RawID: r.id,
		},
		AttestationResponse: protocol.AuthenticatorAttestationResponse{
			AuthenticatorResponse: protocol.AuthenticatorResponse{ClientDataJSON: r.clientData}, AttestationObject: r.attestation,
		},
	}.Parse()
	if err != nil {
		return nil, err
	}
	// An attestation was not asked for. Its certificates are input of a stranger, so they are not looked at.
	object := &parsed.Response.AttestationObject
	object.Format, object.AttStatement, object.SubStatements = string(protocol.AttestationFormatNone), nil, nil
	got, err := s.web.CreateCredential(person{User: store.User{ID: userID}}, session(r.challenge, userID), parsed)
	if err != nil {
		return nil, err
	}
	if len(got.PublicKey) > maxPublicKey {
		return nil, fmt.Errorf("the public key has %d bytes", len(got.PublicKey))
	}
	if _, err := webauthncose.ParsePublicKey(got.PublicKey); err != nil {
		return nil, fmt.Errorf("parse public key: %w", err)
	}
	return got, nil
}

// Rename changes the name of one of the caller's passkeys. An empty name becomes the default.
func (s *Service) Rename(ctx context.Context, p auth.Principal, id, name string) (out store.Passkey, err error) {
	if name, err = checkName(name); err != nil {
		return out, err
	}
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		if _, err := tx.LockUser(ctx, p.UserID); err != nil {
			return auth.Missing("User", err)
		}
		if out, err = tx.RenamePasskey(ctx, p.UserID, id, name); err != nil {
			return auth.Missing("Passkey", err)
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "PASSKEY_RENAMED", EntityType: "passkey", EntityID: id,
			New: logged(out)})
	})
	return out, err
}

// Delete removes one of the caller's passkeys. Sessions that it opened stay.
func (s *Service) Delete(ctx context.Context, p auth.Principal, id string) error {
	return s.store.Tx(ctx, func(tx *store.Tx) error {
		u, err := tx.LockUser(ctx, p.UserID) // a sign-in with the passkey holds this lock
		if err != nil {
			return auth.Missing("User", err)
		}
		was, err := tx.DeletePasskey(ctx, p.UserID, id)
		if err != nil {
			return auth.Missing("Passkey", err)
		}
		if err := auth.KeepsSecondFactor(ctx, tx, p.UserID); err != nil {
			return err
		}
		if err := s.cfg.Mail.Send(ctx, tx, u.Email, mail.SecondFactorChanged{Event: s.event(ctx), Change: mail.PasskeyRemoved,
			Passkey: was.Name}); err != nil {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "PASSKEY_REMOVED", EntityType: "passkey", EntityID: id,
			Old: logged(was)})
	})
}

func logged(p store.Passkey) map[string]any {
	return map[string]any{"name": p.Name, "aaguid": p.AAGUID, "backedUp": p.BackedUp}
}

func tooMany() error {
	return problem.New(problem.Conflict, "You already have %d passkeys. Remove one first.", MaxPerUser)
}

// checkName returns the name of a passkey, "Passkey" by default.
func checkName(name string) (string, error) {
	name = strings.TrimSpace(name)
	switch {
	case name == "":
		name = "Passkey"
	case utf8.RuneCountInString(name) > maxName:
		return "", problem.OfField("name", "must have at most %d characters", maxName)
	case strings.ContainsFunc(name, unicode.IsControl):
		return "", problem.OfField("name", "must not contain control characters")
	}
	return name, nil
}

// model returns the AAGUID of an authenticator as text, or "" if the authenticator does not tell its model.
func model(aaguid []byte) string {
	id, err := uuid.FromBytes(aaguid)
	if err != nil || id == uuid.Nil {
		return ""
	}
	return id.String()
}

// transports returns the known transports, separated by spaces. They are hints for browsers, so unknown ones are left
// out.
func transports(list []string) string {
	var out []string
	for _, known := range []protocol.AuthenticatorTransport{protocol.USB, protocol.NFC, protocol.BLE, protocol.SmartCard, protocol.Hybrid,
		protocol.Internal} {
		for _, t := range list {
			if t == string(known) {
				out = append(out, t)
				break
			}
		}
	}
	return strings.Join(out, " ")
}
