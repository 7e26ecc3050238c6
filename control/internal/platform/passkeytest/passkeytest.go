// Package passkeytest is an authenticator and its browser for tests of passkeys: it creates ES256 credentials without an
// attestation, and signs challenges. Tests choose counter, flags, origin and relying party, to act as a faulty or a
// malicious one.
package passkeytest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
)

// Flags of authenticator data (WebAuthn, section 6.1).
const (
	UserPresent    = 1 << 0
	UserVerified   = 1 << 2
	BackupEligible = 1 << 3
	BackedUp       = 1 << 4
	attested       = 1 << 6
)

// Device is a browser with an authenticator that holds one passkey. The zero Counter never increases. It is not safe for
// concurrent use.
type Device struct {
	Origin  string // of the page
	Host    string // relying party; "": the one that the server asks for
	Flags   byte
	Counter uint32 // of the next signature
	Counts  bool   // whether Counter increases with each signature

	ID         []byte
	UserHandle []byte
	Key        *ecdsa.PrivateKey
}

// New returns a device with a verified user and a counter that has begun.
func New(origin string) *Device {
	d := &Device{Origin: origin, Flags: UserPresent | UserVerified, Counter: 1, Counts: true, ID: make([]byte, 32)}
	_, _ = rand.Read(d.ID) // never fails
	var err error
	if d.Key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		panic("BUG: generate a key: " + err.Error())
	}
	return d
}

// Copy returns a second device with the same passkey and counter.
func (d *Device) Copy() *Device {
	c := *d
	return &c
}

// Credential is the JSON of a browser's PublicKeyCredential.
type Credential struct {
	ID       string            `json:"id"`
	RawID    string            `json:"rawId"`
	Type     string            `json:"type"`
	Response map[string]string `json:"response"`

	AuthenticatorAttachment string         `json:"authenticatorAttachment"`
	ClientExtensionResults  map[string]any `json:"clientExtensionResults"`
}

// String returns the credential as JSON.
func (c Credential) String() string {
	b, err := json.Marshal(c)
	if err != nil {
		panic("BUG: encode a credential: " + err.Error())
	}
	return string(b)
}

func (d *Device) credential(response map[string]string) Credential {
	return Credential{ID: Encode(d.ID), RawID: Encode(d.ID), Type: "public-key", Response: response, AuthenticatorAttachment: "platform",
		ClientExtensionResults: map[string]any{}}
}

// Create answers a registration for the user with the handle.
func (d *Device) Create(challenge, host string, userHandle []byte) Credential {
	d.UserHandle = userHandle
	data := append(d.authData(host, d.Flags|attested), make([]byte, 16)...) // the AAGUID
	data = append(binary.BigEndian.AppendUint16(data, uint16(len(d.ID))), d.ID...)
	data = append(data, d.publicKey()...)
	object := []byte{0xa3} // a map of three
	object = append(text(object, "fmt"), text(nil, "none")...)
	object = append(text(object, "attStmt"), 0xa0)
	object = bytes(text(object, "authData"), data)
	return d.credential(map[string]string{"clientDataJSON": Encode(d.clientData("webauthn.create", challenge)),
		"attestationObject": Encode(object)})
}

// Get answers a sign-in.
func (d *Device) Get(challenge, host string) Credential {
	data := d.authData(host, d.Flags)
	client := d.clientData("webauthn.get", challenge)
	hash := sha256.Sum256(client)
	sum := sha256.Sum256(append(data[:len(data):len(data)], hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, d.Key, sum[:])
	if err != nil {
		panic("BUG: sign: " + err.Error())
	}
	return d.credential(map[string]string{
		"clientDataJSON": Encode(client), "authenticatorData": Encode(data), "signature": Encode(signature),
		"userHandle": Encode(d.UserHandle),
	})
}

func (d *Device) clientData(kind, challenge string) []byte {
	b, err := json.Marshal(map[string]any{"type": kind, "challenge": challenge, "origin": d.Origin, "crossOrigin": false})
	if err != nil {
		panic("BUG: encode client data: " + err.Error())
	}
	return b
}

// authData returns the hash of the relying party, the flags and the counter, which it increases.
func (d *Device) authData(host string, flags byte) []byte {
	if d.Host != "" {
		host = d.Host
	}
	hash := sha256.Sum256([]byte(host))
	data := binary.BigEndian.AppendUint32(append(hash[:], flags), d.Counter)
	if d.Counts {
		d.Counter++
	}
	return data
}

// publicKey returns the key in the form of COSE: an EC2 key on P-256 for ES256.
func (d *Device) publicKey() []byte {
	point, err := d.Key.PublicKey.Bytes() // 4, x, y
	if err != nil {
		panic(fmt.Sprintf("BUG: encode the key: %v", err))
	}
	out := []byte{0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01} // kty: EC2, alg: -7, crv: P-256
	out = bytes(append(out, 0x21), point[1:33])
	return bytes(append(out, 0x22), point[33:65])
}

// text appends a short text in CBOR.
func text(to []byte, s string) []byte { return append(append(to, 0x60|byte(len(s))), s...) }

// bytes appends 24 to 65,535 bytes in CBOR.
func bytes(to, b []byte) []byte {
	if len(b) < 256 {
		return append(append(to, 0x58, byte(len(b))), b...)
	}
	return append(binary.BigEndian.AppendUint16(append(to, 0x59), uint16(len(b))), b...)
}

// Encode returns base64url without padding.
func Encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
