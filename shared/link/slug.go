package link

import (
	"crypto/rand"
	"strings"
)

// Limits of a slug's length, in bytes.
const (
	MinSlug = 3
	MaxSlug = 50
)

const (
	// slugAlphabet omits 0 O 1 I l, which people confuse.
	slugAlphabet = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"
	newSlugLen   = 7
)

// reserved lists words that are, or may become, paths of the service itself.
var reserved = []string{
	"api", "static", "health", "healthz", "readyz", "metrics", "favicon.ico", "robots.txt",
	"info", "verify", "console", "admin", "login", "mcp", "c", "sl.js",
}

// ValidSlug reports whether s is a well-formed slug: 3 to 50 of A-Z a-z 0-9 _ and -. It does not allocate. It does not
// check reserved words, see Reserved.
func ValidSlug[T ~string | ~[]byte](s T) bool {
	if len(s) < MinSlug || len(s) > MaxSlug {
		return false
	}
	return basic(s)
}

// slugBytes is the set of bytes for SlugByte.
var slugBytes = func() (set [4]uint64) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") {
		set[c>>6] |= 1 << (c & 63)
	}
	return set
}()

// SlugByte reports whether c may be in every slug: A-Z a-z 0-9 _ and -.
func SlugByte(c byte) bool { return slugBytes[c>>6]>>(c&63)&1 == 1 }

// Reserved reports whether the slug, in any case, is a reserved word.
func Reserved(slug string) bool {
	for _, word := range reserved {
		if strings.EqualFold(word, slug) {
			return true
		}
	}
	return false
}

// NewSlug returns 7 random characters that are valid and not reserved. There are about two million million such slugs.
// The caller checks that the slug is free, and draws another if it is not.
func NewSlug() string {
	// Bytes above the last whole multiple of the alphabet are skipped, so that all characters are equally likely.
	const usable = 256 - 256%len(slugAlphabet)
	for {
		var slug [newSlugLen]byte
		for n := 0; n < len(slug); {
			var random [16]byte
			rand.Read(random[:]) // never fails
			for _, c := range random {
				if int(c) < usable && n < len(slug) {
					slug[n] = slugAlphabet[int(c)%len(slugAlphabet)]
					n++
				}
			}
		}
		if s := string(slug[:]); !Reserved(s) {
			return s
		}
	}
}
