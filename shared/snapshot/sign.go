package snapshot

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrUnsigned is wrapped by the error of a valid document or delta that no trusted key has signed.
var ErrUnsigned = errors.New("snapshot: not signed by a trusted key")

// A signature covers these bytes and the SHA-256 of a document or delta. No other use of the key starts with these bytes.
// The hash covers the magic, which distinguishes documents from deltas.
const signedContext = "shortline snapshot 1\x00"

func signedMessage(sum []byte) []byte { return append([]byte(signedContext), sum...) }

// SigningKey signs documents and deltas (Ed25519). The zero value signs nothing.
type SigningKey struct{ private ed25519.PrivateKey }

// ParseSigningKey parses a key: 32 random bytes in base64, or a private key in PEM (PKCS #8) as openssl writes it. The
// error does not contain the key. "" gives the zero value.
func ParseSigningKey(text string) (SigningKey, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return SigningKey{}, nil
	}
	if block, _ := pem.Decode([]byte(text)); block != nil {
		if key, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
			if private, ok := key.(ed25519.PrivateKey); ok {
				return SigningKey{private}, nil
			}
		}
		return SigningKey{}, errors.New("must be a private key for Ed25519")
	}
	seed, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(seed) != ed25519.SeedSize {
		return SigningKey{}, errors.New("must be 32 bytes in base64, or a private key for Ed25519 in PEM")
	}
	return SigningKey{ed25519.NewKeyFromSeed(seed)}, nil
}

// IsZero reports whether the key signs nothing.
func (k SigningKey) IsZero() bool { return len(k.private) == 0 }

// Public returns the public key in the form that ParseKeys parses; "" for the zero value.
func (k SigningKey) Public() string {
	if k.IsZero() {
		return ""
	}
	return base64.StdEncoding.EncodeToString(k.private.Public().(ed25519.PublicKey))
}

// String hides the key when it is printed.
func (k SigningKey) String() string { return "***" }

// GoString hides the key in %#v.
func (k SigningKey) GoString() string { return "***" }

func (k SigningKey) sign(sum []byte) []byte {
	if k.IsZero() {
		return nil
	}
	return ed25519.Sign(k.private, signedMessage(sum))
}

// Keys are the trusted public keys. The zero value accepts everything, signed or not.
type Keys struct{ list []ed25519.PublicKey }

// ParseKeys parses comma-separated public keys of 32 bytes in base64 each. "" gives the zero value.
func ParseKeys(text string) (k Keys, err error) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		key, err := base64.StdEncoding.DecodeString(part)
		if err != nil || len(key) != ed25519.PublicKeySize {
			return Keys{}, fmt.Errorf("key %d must be 32 bytes in base64", len(k.list)+1)
		}
		k.list = append(k.list, key)
	}
	if len(k.list) == 0 && strings.TrimSpace(text) != "" {
		return Keys{}, errors.New("contains no key")
	}
	return k, nil
}

// IsZero reports whether no signature is required.
func (k Keys) IsZero() bool { return len(k.list) == 0 }

// Names returns the distinct keys in base64, sorted.
func (k Keys) Names() []string {
	names := make([]string, 0, len(k.list))
	for _, key := range k.list {
		names = append(names, base64.StdEncoding.EncodeToString(key))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// verify returns an error unless the signature is by one of the keys. An empty signature means that there is none.
func (k Keys) verify(sum, signature []byte) error {
	switch {
	case len(signature) != 0 && len(signature) != ed25519.SignatureSize:
		return fmt.Errorf("%w: a signature of %d bytes", ErrFormat, len(signature))
	case k.IsZero():
		return nil
	case len(signature) == 0:
		return fmt.Errorf("%w: there is no signature", ErrUnsigned)
	}
	message := signedMessage(sum)
	for _, key := range k.list {
		if ed25519.Verify(key, message, signature) {
			return nil
		}
	}
	return fmt.Errorf("%w: the signature is by another key or of other bytes", ErrUnsigned)
}
