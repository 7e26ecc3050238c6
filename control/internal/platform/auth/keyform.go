package auth

import (
	"crypto/rand"
	"hash/crc32"
	"strings"
)

// KeyPrefix is the prefix of every API key.
const KeyPrefix = "sl_"

// A key is KeyPrefix, 54 random letters and digits, and their checksum: the CRC-32 (IEEE) of the 54 characters as six
// digits of base62, most significant first. Scanners of source code use the checksum to tell a key from other text.
// Keys of earlier releases are KeyPrefix and 61 random letters and digits. The two forms differ in length.
const (
	keyRandom    = 54
	keyChecksum  = 6
	legacyRandom = 61
	base62       = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// NewKey generates an API key.
func NewKey() string {
	random := make([]byte, 0, keyRandom)
	var b [128]byte
	for {
		rand.Read(b[:]) // never fails
		for _, c := range b {
			if int(c) >= 256-256%len(base62) {
				continue // so that all characters are equally likely
			}
			if random = append(random, base62[int(c)%len(base62)]); len(random) == keyRandom {
				return KeyPrefix + string(random) + keySum(string(random))
			}
		}
	}
}

// keySum returns the checksum of a key's random part.
func keySum(random string) string {
	n, digits := crc32.ChecksumIEEE([]byte(random)), [keyChecksum]byte{}
	for i := keyChecksum - 1; i >= 0; i-- {
		digits[i], n = base62[n%62], n/62
	}
	return string(digits[:])
}

// mayBeKey reports whether a text has the form of a key: with a valid checksum, or of an earlier release.
func mayBeKey(s string) bool {
	rest, ok := strings.CutPrefix(s, KeyPrefix)
	switch {
	case !ok || strings.Trim(rest, base62) != "":
		return false
	case len(rest) == keyRandom+keyChecksum:
		return rest[keyRandom:] == keySum(rest[:keyRandom])
	}
	return len(rest) == legacyRandom
}
