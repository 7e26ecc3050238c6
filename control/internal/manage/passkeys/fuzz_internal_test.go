package passkeys

import (
	"strings"
	"testing"

	"github.com/go-webauthn/webauthn/protocol"

	"github.com/shortline/shortline/control/internal/platform/passkeytest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// FuzzCredential: what a stranger sends in a registration or a sign-in is refused or accepted, but breaks nothing, and
// an accepted key is for this challenge and within the limits of the database.
func FuzzCredential(f *testing.F) {
	s, err := New(Config{BaseURL: "https://sho.rt"}, nil, nil)
	testkit.Must(f, err)
	const challenge = "Y2hhbGxlbmdlIG9mIGEgdGVzdA"
	d := passkeytest.New("https://sho.rt")
	made, signed := d.Create(challenge, "sho.rt", []byte("user")), d.Get(challenge, "sho.rt")
	for _, c := range []passkeytest.Credential{made, signed} {
		r := c.Response
		f.Add(c.ID, r["clientDataJSON"], r["attestationObject"], r["authenticatorData"], r["signature"], r["userHandle"])
	}
	r := made.Response
	for _, object := range []string{"oA", "o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YVg", r["attestationObject"][:200],
		strings.Repeat("gYGB", 2000), "v2NmbXRkbm9uZf8"} {
		f.Add(made.ID, r["clientDataJSON"], object, "AA", "AA", "AA")
	}
	f.Fuzz(func(t *testing.T, id, client, object, data, signature, handle string) {
		c := Credential{ID: id, ClientData: client, Attestation: object, AuthData: data, Signature: signature, UserHandle: handle}
		if r, err := c.decode(true); err == nil {
			if got, err := s.created("user", r); err == nil && (r.challenge != challenge || len(got.PublicKey) > maxPublicKey ||
				encode(got.ID) != strings.TrimRight(id, "=")) {
				t.Errorf("%+v", got)
			}
		}
		if r, err := c.decode(false); err == nil {
			_, _ = protocol.CredentialAssertionResponse{
				PublicKeyCredential: protocol.PublicKeyCredential{Credential: protocol.Credential{ID: encode(r.id), Type: "public-key"},
					RawID: r.id},
				AssertionResponse: protocol.AuthenticatorAssertionResponse{
					AuthenticatorResponse: protocol.AuthenticatorResponse{ClientDataJSON: r.clientData}, AuthenticatorData: r.authData,
					Signature: r.signature, UserHandle: r.userHandle,
				},
			}.Parse()
		}
	})
}
