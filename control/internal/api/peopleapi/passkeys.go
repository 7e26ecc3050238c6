package peopleapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/passkeys"
	"github.com/shortline/shortline/control/internal/store"
)

// passkeyBody is the limit of a request's body: an attestation may contain certificates, which are ignored.
const passkeyBody = 64 << 10

// Passkey describes a passkey, without its public key.
type Passkey struct {
	ID              string    `json:"id"`
	Name            string    `json:"name"`
	AAGUID          *string   `json:"aaguid" doc:"The model of the authenticator, or null if it does not tell."`
	Transports      []string  `json:"transports" doc:"How browsers reach the authenticator."`
	IsSynced        bool      `json:"isSynced" doc:"Whether the passkey was backed up at its last use, so that other devices of the user have it, too."`
	CreatedAt       kit.Time  `json:"createdAt"`
	LastUsedAt      *kit.Time `json:"lastUsedAt"`
	CloneDetectedAt *kit.Time `json:"cloneDetectedAt" doc:"When a sign-in was last refused because the counter of the passkey did not increase. The passkey may have been copied: remove it."`
}

func passkeyOf(p store.Passkey) Passkey {
	return Passkey{
		p.ID, p.Name, kit.Text(p.AAGUID), strings.Fields(p.Transports), p.BackedUp, kit.Time(p.CreatedAt), kit.TimeOf(p.LastUsedAt),
		kit.TimeOf(p.ClonedAt),
	}
}

// PasskeyCreation is the input of PublicKeyCredential.parseCreationOptionsFromJSON.
type PasskeyCreation struct {
	PublicKey struct {
		Challenge string `json:"challenge" doc:"Base64url, like all bytes here."`
		RP        struct {
			ID   string `json:"id" doc:"The host of the console's address."`
			Name string `json:"name"`
		} `json:"rp"`
		User struct {
			ID          string `json:"id"`
			Name        string `json:"name"`
			DisplayName string `json:"displayName"`
		} `json:"user"`
		PubKeyCredParams       []PasskeyAlgorithm  `json:"pubKeyCredParams"`
		Timeout                int                 `json:"timeout" doc:"Milliseconds."`
		ExcludeCredentials     []PasskeyDescriptor `json:"excludeCredentials" doc:"Your passkeys."`
		AuthenticatorSelection struct {
			ResidentKey        string `json:"residentKey" enum:"required"`
			RequireResidentKey bool   `json:"requireResidentKey"`
			UserVerification   string `json:"userVerification" enum:"required"`
		} `json:"authenticatorSelection"`
		Attestation string `json:"attestation" enum:"none"`
	} `json:"publicKey"`
}

// PasskeyAlgorithm is an accepted signature algorithm.
type PasskeyAlgorithm struct {
	Type string `json:"type" enum:"public-key"`
	Alg  int    `json:"alg" doc:"A COSE algorithm."`
}

// PasskeyDescriptor names a passkey for a browser.
type PasskeyDescriptor struct {
	Type       string   `json:"type" enum:"public-key"`
	ID         string   `json:"id"`
	Transports []string `json:"transports"`
}

// PasskeyRequest is the input of PublicKeyCredential.parseRequestOptionsFromJSON.
type PasskeyRequest struct {
	PublicKey struct {
		Challenge        string `json:"challenge" doc:"Base64url."`
		RPID             string `json:"rpId" doc:"The host of the console's address."`
		Timeout          int    `json:"timeout" doc:"Milliseconds."`
		UserVerification string `json:"userVerification" enum:"required"`
	} `json:"publicKey"`
}

// credentialIn has the members of a browser's credential that both ceremonies use. Browsers add members with newer
// versions of the standard, so unknown members are allowed.
type credentialIn struct {
	ID    string `json:"id" minLength:"1" maxLength:"2000" doc:"Base64url, like all bytes here."`
	RawID string `json:"rawId,omitempty" maxLength:"2000" doc:"The same as id."`
	Type  string `json:"type,omitempty" maxLength:"100" doc:"public-key"`

	AuthenticatorAttachment any `json:"authenticatorAttachment,omitempty" doc:"Ignored."`
	ClientExtensionResults  any `json:"clientExtensionResults,omitempty" doc:"Ignored."`
}

// PasskeyCreated is a new credential, as PublicKeyCredential.toJSON writes it.
type PasskeyCreated struct {
	_ struct{} `additionalProperties:"true"`
	credentialIn
	Response struct {
		_                 struct{} `additionalProperties:"true"`
		ClientDataJSON    string   `json:"clientDataJSON" maxLength:"8000"`
		AttestationObject string   `json:"attestationObject" maxLength:"30000"`
		Transports        []string `json:"transports,omitempty" maxItems:"20" doc:"Unknown transports are ignored."`
	} `json:"response"`
}

// PasskeyAsserted is the response of a credential to a challenge, as PublicKeyCredential.toJSON writes it.
type PasskeyAsserted struct {
	_ struct{} `additionalProperties:"true"`
	credentialIn
	Response struct {
		_                 struct{} `additionalProperties:"true"`
		ClientDataJSON    string   `json:"clientDataJSON" maxLength:"8000"`
		AuthenticatorData string   `json:"authenticatorData" maxLength:"30000"`
		Signature         string   `json:"signature" maxLength:"4000"`
		UserHandle        string   `json:"userHandle" maxLength:"200"`
	} `json:"response"`
}

var passkeyResource = kit.Resource{
	Tag: "Passkeys", About: "Sign-in without a user name, with a passkey (WebAuthn).",
	Read: kit.Needs(kit.AnyRole, 0), Change: kit.Needs(kit.AnyRole, 0),
}

func (s *server) registerPasskeys() {
	declare := func(method, path, id, summary string) kit.Endpoint {
		return kit.Endpoint{Method: method, Path: "/api/auth/passkeys" + path, ID: id, Summary: summary, Tag: "Passkeys", SessionOnly: true,
			MaxBody: passkeyBody}
	}
	kit.Handle(s.Kit, declare(http.MethodGet, "", "listPasskeys", "List your passkeys").
		About("Your passkeys, oldest first. Requires a session, as do the other calls except for signing in."), s.listPasskeys)
	kit.Handle(s.Kit, declare(http.MethodPatch, "/{id}", "renamePasskey", "Rename a passkey").
		About("Changes the name in your list. The passkey itself and your devices keep theirs.").
		Example(`{"name":"Laptop"}`), s.renamePasskey)
	kit.Handle(s.Kit, declare(http.MethodDelete, "/{id}", "deletePasskey", "Remove a passkey").
		About("The passkey no longer signs in. Your sessions stay. The device may still offer the passkey until you remove it there, too."),
		s.deletePasskey)
	enrolment := func(e kit.Endpoint) kit.Endpoint { e.Enrolment = true; return e }
	kit.Handle(s.Kit, enrolment(declare(http.MethodPost, "/register/begin", "beginPasskey", "Begin to register a passkey")).
		About("Requires the current password if you signed in more than ten minutes ago (403 otherwise). Pass `publicKey` to "+
			"navigator.credentials.create() and the result to /api/auth/passkeys/register/finish, within five minutes and in the same session. "+
			"Passkeys need https or localhost, and a host name (403 otherwise). A user can have 20 (409).").
		Example(`{"password":"correct horse"}`).Fails(http.StatusConflict), s.beginPasskey)
	kit.Handle(s.Kit,
		enrolment(declare(http.MethodPost, "/register/finish", "finishPasskey", "Register the passkey that the browser created")).
			About("Stores the passkey. It must be discoverable and the device must have verified you. Attestations are ignored. A challenge "+
				"works once.").
			Example(`{"name":"Laptop","credential":{"id":"dGhlIGlk","response":{"clientDataJSON":"e30","attestationObject":"oA"}}}`).
			Fails(http.StatusConflict), s.finishPasskey)
	login := func(path, id, summary string) kit.Endpoint {
		e := declare(http.MethodPost, "/login"+path, id, summary)
		e.Need, e.SessionOnly, e.Status = kit.Public, false, http.StatusOK
		return e
	}
	kit.Handle(s.Kit, login("/begin", "beginPasskeyLogin", "Begin to sign in with a passkey").
		About("Pass `publicKey` to navigator.credentials.get() and the result to /api/auth/passkeys/login/finish, within five minutes. No "+
			"user name is needed. While single sign-on is enforced, passkeys are off, like passwords (403).").Fails(http.StatusForbidden),
		s.beginPasskeyLogin)
	finish := login("/finish", "finishPasskeyLogin", "Sign in with a passkey").
		About("Same response as signing in with a password. A passkey counts as both factors, so no code is asked for. A signature whose "+
			"counter did not increase is refused, because the passkey may have been copied. After five failures in ten minutes, a client is "+
			"locked out of the passkey for an increasing time (429).").
		Example(`{"credential":{"id":"dGhlIGlk","response":{"clientDataJSON":"e30","authenticatorData":"AA","signature":"AA","userHandle":"AA"}}}`).
		Fails(http.StatusUnauthorized, http.StatusForbidden)
	finish.SignsIn = true
	kit.Handle(s.Kit, finish, s.finishPasskeyLogin)
}

func (s *server) listPasskeys(ctx context.Context, in *kit.Paging) (*kit.Body[kit.List[Passkey]], error) {
	all, err := s.Passkeys.List(ctx, kit.Principal(ctx))
	if err != nil {
		return nil, err
	}
	from := min(in.Offset(passkeys.MaxPerUser), len(all))
	page := all[from:min(from+in.Size(passkeys.MaxPerUser), len(all))]
	return kit.RespondPage(*in, passkeys.MaxPerUser, passkeyOf)(page, len(all), nil)
}

func (s *server) renamePasskey(ctx context.Context, in *struct {
	kit.ByID
	Body struct {
		Name kit.Opt[string] `json:"name" doc:"At most 100 characters. Null or empty means Passkey."`
	}
}) (*kit.Body[Passkey], error) {
	return kit.Respond(passkeyOf)(s.Passkeys.Rename(ctx, kit.Principal(ctx), in.ID, in.Body.Name.Value))
}

func (s *server) deletePasskey(ctx context.Context, in *kit.ByID) (*struct{}, error) {
	return nil, s.Passkeys.Delete(ctx, kit.Principal(ctx), in.ID)
}

func (s *server) beginPasskey(ctx context.Context, in *struct {
	Body struct {
		Password kit.Opt[string] `json:"password,omitempty" maxLength:"1000" doc:"The current password. Required if you signed in more than ten minutes ago."`
	}
}) (*kit.Body[PasskeyCreation], error) {
	got, err := s.Passkeys.BeginRegistration(ctx, kit.Principal(ctx), in.Body.Password.Value)
	if err != nil {
		return nil, err
	}
	var out PasskeyCreation
	k := &out.PublicKey
	k.Challenge, k.RP.ID, k.RP.Name = got.Challenge, got.Host, "Shortline"
	k.User.ID, k.User.Name, k.User.DisplayName = got.UserHandle, got.Name, got.DisplayName
	k.Timeout, k.Attestation = int(passkeys.PendingFor.Milliseconds()), "none"
	k.AuthenticatorSelection.ResidentKey, k.AuthenticatorSelection.RequireResidentKey = "required", true
	k.AuthenticatorSelection.UserVerification = "required"
	for _, a := range passkeys.Algorithms {
		k.PubKeyCredParams = append(k.PubKeyCredParams, PasskeyAlgorithm{"public-key", a})
	}
	k.ExcludeCredentials = []PasskeyDescriptor{}
	for _, p := range got.Exclude {
		k.ExcludeCredentials = append(k.ExcludeCredentials, PasskeyDescriptor{"public-key", p.CredentialID, strings.Fields(p.Transports)})
	}
	return kit.NewBody(out), nil
}

func (s *server) finishPasskey(ctx context.Context, in *struct {
	Body struct {
		Name       kit.Opt[string] `json:"name,omitempty" doc:"At most 100 characters. The default is Passkey."`
		Credential PasskeyCreated  `json:"credential"`
	}
}) (*kit.Body[Passkey], error) {
	c := &in.Body.Credential
	return kit.Respond(passkeyOf)(s.Passkeys.FinishRegistration(ctx, kit.Principal(ctx), in.Body.Name.Value, passkeys.Credential{
		ID: c.ID, RawID: c.RawID, Type: c.Type, ClientData: c.Response.ClientDataJSON, Attestation: c.Response.AttestationObject,
		Transports: c.Response.Transports,
	}))
}

func (s *server) beginPasskeyLogin(ctx context.Context, _ *struct{}) (*kit.Body[PasskeyRequest], error) {
	got, err := s.Passkeys.BeginLogin(ctx)
	if err != nil {
		return nil, err
	}
	var out PasskeyRequest
	k := &out.PublicKey
	k.Challenge, k.RPID, k.Timeout, k.UserVerification = got.Challenge, got.Host, int(passkeys.PendingFor.Milliseconds()), "required"
	return kit.NewBody(out), nil
}

func (s *server) finishPasskeyLogin(ctx context.Context, in *struct {
	Body struct {
		Credential PasskeyAsserted `json:"credential"`
	}
}) (*loginOut, error) {
	c := &in.Body.Credential
	got, err := s.Passkeys.FinishLogin(ctx, passkeys.Credential{
		ID: c.ID, RawID: c.RawID, Type: c.Type, ClientData: c.Response.ClientDataJSON,
		AuthData: c.Response.AuthenticatorData, Signature: c.Response.Signature, UserHandle: c.Response.UserHandle,
	})
	if err != nil {
		return nil, err
	}
	kit.RequestLogOf(ctx).UserID = got.User.ID
	u := userOf(got.User)
	return &loginOut{SetCookie: []http.Cookie{s.SessionCookie(got.Token, got.Expires)}, Body: Login{User: &u, AccessToken: got.Token}}, nil
}
