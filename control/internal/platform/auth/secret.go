package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
)

// NewToken returns a random token of 256 bits for a link that works once, such as that of an invitation.
func NewToken() string { return rand.Text() + rand.Text() }

// Digest returns the text under which the database finds a random secret without containing it: its SHA-256 in hexadecimal.
// A fast hash is enough because nobody can guess the secret. Passwords need Passwords.
func Digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
