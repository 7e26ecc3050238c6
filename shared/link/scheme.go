package link

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// neverSchemes are the schemes that no setting allows. They run code in the page that follows them, read files of the visitor, wrap
// another address so that its scheme is not the first one, or start programs of an operating system with arguments.
var neverSchemes = []string{
	"about", "blob", "chrome", "chrome-extension", "cid", "data", "edge", "feed", "file", "filesystem", "jar", "javascript", "jscript",
	"livescript", "mhtml", "mid", "mk", "mocha", "moz-extension", "ms-appinstaller", "ms-cxh", "ms-cxh-full", "ms-its", "ms-msdt", "ms-officecmd",
	"pcast", "res", "resource", "search", "search-ms", "shell", "vbs", "vbscript", "view-source", "wyciwyg",
}

// webSchemes are allowed by default.
var webSchemes = []string{"http", "https"}

var (
	errSchemeNested = errors.New("must not contain an address with a scheme that is never allowed, such as javascript")
	errSchemeAttach = errors.New("must not attach files of the visitor")
	errSchemePhone  = errors.New("must have a phone number of digits, hyphens, dots and parentheses")
	errSchemeIntent = errors.New("must be an intent of Android that contains #Intent; and ends with ;end")
	errSchemeParse  = errors.New("must be a valid address, such as app://open?id=1")
	errSchemeTarget = errors.New("must have something after the scheme")
)

// CheckSchemes checks a list of schemes that destinations may have, and returns it in lower case without duplicates. An empty list
// means http and https.
func CheckSchemes(list []string) ([]string, error) {
	var out []string
	for _, s := range list {
		s = strings.TrimSuffix(strings.ToLower(strings.TrimSpace(s)), ":")
		switch name, _ := cutScheme(s + ":"); {
		case s == "":
			continue
		case name != s:
			return nil, fmt.Errorf("%q is not a scheme, such as mailto", s)
		case slices.Contains(neverSchemes, s):
			return nil, fmt.Errorf("the scheme %s can't be allowed, because it can run code, read files or hide another address", s)
		case !slices.Contains(out, s):
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return slices.Clone(webSchemes), nil
	}
	return out, nil
}

// cutScheme returns the scheme of an absolute address (RFC 3986, 3.1) and what follows its colon. The scheme is "" if there is none.
func cutScheme(s string) (scheme, rest string) {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c|0x20 && c|0x20 <= 'z':
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return s[:i], s[i+1:]
		default:
			return "", s
		}
	}
	return "", s
}

// IsWeb reports whether a destination is an http or https address, which programs other than a visitor's may ask.
func IsWeb(destination string) bool {
	scheme, _ := cutScheme(destination)
	return strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")
}

// IsNever reports whether an address has a scheme that is never allowed, as a browser or an application may understand the address:
// they drop control characters and spaces, and some decode the address first.
func IsNever(address string) bool {
	for range 4 {
		plain := strings.Map(func(r rune) rune {
			if r <= ' ' || r == 0x7F || r == 0xAD || r == 0xFEFF || 0x80 <= r && r <= 0xA0 || 0x200B <= r && r <= 0x200F {
				return -1
			}
			if 0xFF01 <= r && r <= 0xFF5E { // full-width forms of ASCII
				return r - 0xFF01 + '!'
			}
			return r
		}, address)
		scheme, _ := cutScheme(strings.TrimLeft(plain, "/\\:\"'"))
		if slices.Contains(neverSchemes, strings.ToLower(scheme)) {
			return true
		}
		next := unescape(address)
		if next == address {
			return false
		}
		address = next
	}
	return true // nobody encodes an honest address so often
}

// unescape decodes the percent-encoded bytes of s, once. What is not two hexadecimal digits stays.
func unescape(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && Unhex(s[i+1]) >= 0 && Unhex(s[i+2]) >= 0 {
			b = append(b, byte(Unhex(s[i+1])<<4|Unhex(s[i+2])))
			i += 2
			continue
		}
		b = append(b, s[i])
	}
	return string(b)
}

// checkApp validates an address whose scheme is allowed and is not http or https, and returns the form to store.
func checkApp(scheme, rest string, p *Policy) (string, error) {
	if strings.Trim(rest, "/") == "" {
		return "", errSchemeTarget
	}
	hierarchy, fragment, _ := strings.Cut(rest, "#")
	path, query, _ := strings.Cut(hierarchy, "?")
	if !escapesFine(path) || !escapesFine(query) || !escapesFine(fragment) {
		return "", errDestinationEscape
	}
	if IsNever(rest) {
		return "", errSchemeNested
	}
	var err error
	switch strings.ToLower(scheme) {
	case "mailto":
		err = checkMail(query)
	case "tel", "sms", "smsto", "mms":
		err = checkPhone(path, strings.EqualFold(scheme, "tel"))
	case "intent":
		if err = checkIntent(rest, p); err == nil {
			err = checkNested(rest)
		}
	default:
		err = checkNested(rest)
	}
	if err != nil {
		return "", err
	}
	canonical := scheme + ":" + escapeNonASCII(rest)
	if _, err := url.Parse(canonical); err != nil {
		return "", errSchemeParse
	}
	return canonical, nil
}

// checkNested refuses an address of an application that contains one that is never allowed as a value, because applications open such
// values.
func checkNested(rest string) error {
	for _, part := range strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune("?&;#", r) }) {
		if _, value, ok := strings.Cut(part, "="); ok && IsNever(value) || IsNever(part) {
			return errSchemeNested
		}
	}
	return nil
}

// checkMail refuses a message that attaches files, which some mail programs do without a question.
func checkMail(query string) error {
	for field := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(field, "=")
		switch strings.ToLower(strings.TrimSpace(unescape(name))) {
		case "attach", "attachment", "attachments":
			return errSchemeAttach
		}
	}
	return nil
}

// checkPhone refuses numbers with * and #, which are commands for the phone and its network. A message need not have a number.
func checkPhone(path string, required bool) error {
	number, _, _ := strings.Cut(unescape(path), ";")
	number = strings.TrimLeft(number, "/")
	if required && strings.Trim(number, "+-.()") == "" || strings.Trim(number, "0123456789+-.(),") != "" {
		return errSchemePhone
	}
	return nil
}

// checkIntent validates an intent of Android: the address that it stands for, and the one that a browser opens if no application
// takes it.
func checkIntent(rest string, p *Policy) error {
	address, extras, ok := strings.Cut(rest, "#Intent;")
	extras, ended := strings.CutSuffix(extras, ";end")
	if !ok || !ended || strings.Contains(address, "#") {
		return errSchemeIntent
	}
	for extra := range strings.SplitSeq(extras, ";") {
		name, value, _ := strings.Cut(extra, "=")
		name, value = strings.ToLower(unescape(name)), unescape(value)
		switch {
		case name == "scheme":
			kept, err := CheckDestination(value+":"+address, *p)
			if err != nil {
				return fmt.Errorf("must be an intent whose address is allowed, which %w", err)
			}
			if strings.EqualFold(value, "intent") || kept == "" {
				return errSchemeIntent
			}
		case strings.HasSuffix(name, "browser_fallback_url"):
			web := *p
			web.Schemes = nil
			if _, err := CheckDestination(value, web); err != nil {
				return fmt.Errorf("must be an intent whose browser_fallback_url is a destination, which %w", err)
			}
		}
	}
	return nil
}

// webOf returns the web address to which a destination leads: itself, or the one that a browser opens if no application takes the
// intent. It is "" if there is none.
func webOf(destination string) string {
	scheme, rest := cutScheme(destination)
	if !strings.EqualFold(scheme, "intent") {
		return destination
	}
	_, extras, _ := strings.Cut(rest, "#Intent;")
	for extra := range strings.SplitSeq(extras, ";") {
		name, value, _ := strings.Cut(extra, "=")
		if strings.HasSuffix(strings.ToLower(unescape(name)), "browser_fallback_url") {
			return unescape(value)
		}
	}
	return ""
}

// takesParameters reports whether a destination can have the parameters of a visit: http, https, and addresses of applications that are
// made in the same way. A mailto address has fields of a message there, and a phone number has none.
func takesParameters(destination string) bool {
	scheme, rest := cutScheme(destination)
	return scheme == "" || len(rest) > 1 && rest[0] == '/' && rest[1] == '/'
}
