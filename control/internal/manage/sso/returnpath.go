package sso

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

const maxReturn = 2048 // bytes, escaped

// ReturnPath validates an untrusted return address after a sign-in: a path on our own origin, with query and fragment,
// that all browsers parse alike. "" is "/".
//
// Browsers drop tabs and newlines in an address and read a backslash as a slash, so "/\t/evil.example" leads to another
// site. Other paths become dangerous after one more decoding, or after dot segments are removed. ReturnPath refuses all
// of these instead of repairing them.
func ReturnPath(raw string) (path string, ok bool) {
	if raw == "" {
		return "/", true
	}
	decoded, err := url.PathUnescape(raw)
	if err != nil || len(raw) > maxReturn || raw[0] != '/' {
		return "", false
	}
	for _, text := range []string{raw, decoded} {
		if strings.HasPrefix(text, "//") || !printable(text) || strings.ContainsRune(text, '\\') {
			return "", false
		}
	}
	var b strings.Builder
	for _, c := range []byte(raw) {
		if c <= ' ' || c >= 0x7F || strings.IndexByte("\"<>`{}|^", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	u, err := url.Parse(b.String())
	if err != nil || b.Len() > maxReturn || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" {
		return "", false
	}
	for _, step := range strings.Split(u.Path, "/") {
		if step == "." || step == ".." {
			return "", false
		}
	}
	return b.String(), true
}

// printable reports whether text is valid UTF-8 without control characters.
func printable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' || r >= 0x7F && r < 0xA0 || r == '\u2028' || r == '\u2029'
	})
}
