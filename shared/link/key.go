package link

import (
	"bytes"
	"strconv"
	"strings"
)

// MaxKey is the maximum length of a key, in bytes: a number of 13 digits in base 36, a slash, and a slug.
const MaxKey = 13 + 1 + MaxSlug

// Key returns the text by which a link is found. For a link on the default domain, whose number is 0, this is the slug.
// For a link on another domain it is the domain's number in base 36, a slash and the slug, such as "2s/spring". A slug
// with a slash on the default domain gets its number, too, so links of different domains never share a key.
func Key(domain uint64, slug string) string {
	if domain == 0 && strings.IndexByte(slug, '/') < 0 {
		return slug
	}
	return strconv.FormatUint(domain, 36) + "/" + slug
}

// AppendKey appends Key(domain, slug) to b.
func AppendKey(b []byte, domain uint64, slug []byte) []byte {
	if domain != 0 || bytes.IndexByte(slug, '/') >= 0 {
		b = append(strconv.AppendUint(b, domain, 36), '/')
	}
	return append(b, slug...)
}

// SplitKey returns the domain's number and the slug of a key. A text that is not the key of a link on another domain is
// returned as a slug of the default domain.
func SplitKey(key string) (domain uint64, slug string) {
	number, slug, found := strings.Cut(key, "/")
	if !found {
		return 0, key
	}
	domain, err := strconv.ParseUint(number, 36, 64)
	if err != nil || Key(domain, slug) != key {
		return 0, key
	}
	return domain, slug
}
