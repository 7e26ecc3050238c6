package passkeys

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// Algorithms are the accepted signatures as COSE numbers, the preferred one first: ES256, EdDSA and RS256.
var Algorithms = []int{int(webauthncose.AlgES256), int(webauthncose.AlgEdDSA), int(webauthncose.AlgRS256)}

// Credential is what a browser returns, as PublicKeyCredential.toJSON writes it. Bytes are base64url.
type Credential struct {
	ID, RawID, Type string // RawID and Type may be ""
	ClientData      string
	Attestation     string   // of a registration
	Transports      []string // of a registration
	AuthData        string   // of a sign-in, like the following ones
	Signature       string
	UserHandle      string
}

// response is a decoded Credential.
type response struct {
	id, clientData, attestation, authData, signature, userHandle []byte
	challenge                                                    string
}

// decode checks the form of a credential. Problems name the fields of the API's request.
func (c Credential) decode(registers bool) (r response, err error) {
	var v problem.Fields
	read := func(field, text string, limit int) []byte {
		b, err := base64.RawURLEncoding.Strict().DecodeString(strings.TrimRight(text, "="))
		switch {
		case text == "":
			v.Add(field, "is required")
		case err != nil:
			v.Add(field, "must be base64url")
		case len(b) > limit:
			v.Add(field, "must have at most %d bytes", limit)
		}
		return b
	}
	r.id = read("credential.id", c.ID, maxID)
	if c.RawID != "" && strings.TrimRight(c.RawID, "=") != strings.TrimRight(c.ID, "=") {
		v.Add("credential.rawId", "must be the same as id")
	}
	if c.Type != "" && c.Type != string(protocol.PublicKeyCredentialType) {
		v.Add("credential.type", "must be public-key")
	}
	r.clientData = read("credential.response.clientDataJSON", c.ClientData, maxClientData)
	if registers {
		r.attestation = read("credential.response.attestationObject", c.Attestation, maxObject)
	} else {
		r.authData = read("credential.response.authenticatorData", c.AuthData, maxObject)
		r.signature = read("credential.response.signature", c.Signature, maxSignature)
		r.userHandle = read("credential.response.userHandle", c.UserHandle, 64)
	}
	if err := v.Err(); err != nil {
		return r, err
	}
	var said struct {
		Challenge string `json:"challenge"`
	}
	if err := json.Unmarshal(r.clientData, &said); err != nil || said.Challenge == "" {
		return r, problem.OfField("credential.response.clientDataJSON", "must be JSON with a challenge")
	}
	r.challenge = said.Challenge
	return r, nil
}

// beginCeremony draws a challenge and stores a ceremony. userID and sessionID are "" for a sign-in.
func (s *Service) beginCeremony(ctx context.Context, userID, sessionID string) (challenge string, err error) {
	drawn, err := protocol.CreateChallenge()
	if err != nil {
		return "", fmt.Errorf("draw challenge: %w", err)
	}
	challenge = drawn.String()
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		return tx.InsertPasskeyCeremony(ctx, store.PasskeyCeremony{
			Challenge: auth.Digest(challenge), UserID: userID, SessionID: sessionID, ExpiresAt: s.cfg.Now().Add(PendingFor).UnixMilli(),
		})
	})
	return challenge, problem.Doing("store challenge", err)
}

// endCeremony ends a ceremony and reports whether the challenge is of one. It commits, so that a challenge is used up even if
// the response is refused.
func (s *Service) endCeremony(ctx context.Context, challenge, userID, sessionID string) (known bool, err error) {
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		known, err = tx.TakePasskeyCeremony(ctx, auth.Digest(challenge), userID, sessionID, s.cfg.Now().UnixMilli())
		return err
	})
	return known, problem.Doing("look up challenge", err)
}

// session is a ceremony in the library's terms. The challenge has been taken.
func session(challenge, userID string) webauthn.SessionData {
	d := webauthn.SessionData{Challenge: challenge, UserID: []byte(userID), UserVerification: protocol.VerificationRequired}
	for _, a := range Algorithms {
		d.CredParams = append(d.CredParams, protocol.CredentialParameter{Type: protocol.PublicKeyCredentialType,
			Algorithm: webauthncose.COSEAlgorithmIdentifier(a)})
	}
	return d
}

// person is a user in the library's terms.
type person struct {
	store.User
	credentials []webauthn.Credential
}

// WebAuthnID returns the user handle, which the authenticator stores and returns at a sign-in.
func (p person) WebAuthnID() []byte { return []byte(p.ID) }

// WebAuthnName returns the email.
func (p person) WebAuthnName() string { return p.Email }

// WebAuthnDisplayName returns the name, or the email.
func (p person) WebAuthnDisplayName() string { return displayName(p.User) }

// WebAuthnCredentials returns the passkeys that may answer.
func (p person) WebAuthnCredentials() []webauthn.Credential { return p.credentials }

func displayName(u store.User) string {
	if u.Name == "" {
		return u.Email
	}
	return u.Name
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// because returns the library's reason of a refusal, for logs.
func because(err error) string {
	if e, ok := err.(*protocol.Error); ok && e.DevInfo != "" {
		return e.Details + ": " + e.DevInfo
	}
	return err.Error()
}
