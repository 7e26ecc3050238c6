// Package seal encrypts secrets that are stored or sent: second factors, webhook secrets, provider secrets, and private keys
// of certificates.
//
// A sealed text is "v1.<key id>.<base64>": AES-256-GCM with a random nonce. The key of each purpose is derived from the
// configured key (HKDF, SHA-256). The place of the text is authenticated, so a text that is moved to another row or
// column cannot be decrypted. Older keys still decrypt, so that keys can be rotated.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// MinKey is the minimum length of a configured key, in bytes.
const MinKey = 32

// Box encrypts and decrypts the secrets of one purpose. It is safe for concurrent use.
type Box struct {
	ring []key
}

type key struct {
	id   string
	aead cipher.AEAD
}

// New returns the box of a purpose ("totp", "webhook"). The first key encrypts, all keys decrypt.
func New(purpose string, keys ...[]byte) (*Box, error) {
	if len(keys) == 0 {
		return nil, errors.New("seal: no key is configured")
	}
	b := &Box{}
	for _, k := range keys {
		if len(k) < MinKey {
			return nil, fmt.Errorf("seal: the key must have at least %d bytes", MinKey)
		}
		derived, err := hkdf.Key(sha256.New, k, nil, "shortline/seal/"+purpose, 32)
		if err != nil {
			return nil, fmt.Errorf("seal: derive a key: %w", err)
		}
		block, err := aes.NewCipher(derived)
		if err != nil {
			return nil, fmt.Errorf("seal: %w", err)
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, fmt.Errorf("seal: %w", err)
		}
		id := sha256.Sum256(derived)
		b.ring = append(b.ring, key{hex.EncodeToString(id[:4]), aead})
	}
	return b, nil
}

// Seal encrypts text for one place, such as "users|totp_secret|<id>".
func (b *Box) Seal(place, text string) string {
	k := b.ring[0]
	return "v1." + k.id + "." + base64.RawStdEncoding.EncodeToString(k.aead.Seal(nil, nil, []byte(text), []byte(place)))
}

// Open decrypts what Seal made for the same place.
func (b *Box) Open(place, sealed string) (string, error) {
	version, rest, _ := strings.Cut(sealed, ".")
	id, body, ok := strings.Cut(rest, ".")
	if version != "v1" || !ok {
		return "", errors.New("seal: not a sealed text")
	}
	for _, k := range b.ring {
		if k.id != id {
			continue
		}
		raw, err := base64.RawStdEncoding.DecodeString(body)
		if err != nil {
			return "", errors.New("seal: not a sealed text")
		}
		text, err := k.aead.Open(nil, nil, raw, []byte(place))
		if err != nil {
			return "", errors.New("seal: the text was changed, or belongs to another place")
		}
		return string(text), nil
	}
	return "", fmt.Errorf("seal: the key %s that sealed this is not configured", id)
}

// Current reports whether the text is encrypted with the first key.
func (b *Box) Current(sealed string) bool { return strings.HasPrefix(sealed, "v1."+b.ring[0].id+".") }
