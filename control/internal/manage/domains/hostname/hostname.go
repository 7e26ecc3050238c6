// Package hostname reads the host name of a custom domain as a person types it.
//
// The rules keep four kinds of names out: names that DNS cannot carry, names for which no certificate authority issues
// certificates, names that nobody owns, and names that look like other names.
package hostname

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"github.com/shortline/shortline/shared/link"
)

// ProofLabel is the label in front of a host name at which the owner sets the TXT record of the verification. It has an
// underscore, so no host name of a domain can equal the name of another domain's TXT record.
const ProofLabel = "_shortline"

// MaxLength is the maximum length of a host name in ASCII, in bytes. DNS carries names of up to 253 bytes, but the name
// of the TXT record is longer than the host name.
const MaxLength = 253 - len(ProofLabel+".")

const (
	maxName  = 253  // bytes of a name in DNS, without the trailing dot
	maxLabel = 63   // bytes of a label
	maxTyped = 2048 // bytes; a valid name in Unicode is shorter
)

// Name is a valid host name.
type Name struct {
	// ASCII is the form for DNS, certificates and comparison: lower case, without a trailing dot, international labels
	// in Punycode. It is a fixed point of Parse and of link.Host.
	ASCII string
	// Display is the form for people: as ASCII, but international labels in Unicode. Parse returns the same Name for it.
	Display string
}

// Policy restricts host names.
type Policy struct {
	// Own are the hosts of this service, as host or host:port. Their names are refused. Names below them are allowed,
	// because only their owner can pass the verification. Entries that are not hosts are ignored.
	Own []string
	// AllowPrivate permits names that exist only inside a network, such as go.corp.internal and go.acme.test. An
	// installation with a private certificate authority needs them.
	AllowPrivate bool
}

// An error continues a sentence that begins with the field's name: "hostname: must not have a port".
var (
	errEmpty   = errors.New("must not be empty")
	errUTF8    = errors.New("must be valid UTF-8")
	errScheme  = errors.New("must be a host name without a scheme; leave out the part up to ://")
	errUser    = errors.New("must be a host name without a user name; leave out the part up to @")
	errPath    = errors.New("must be a host name without a path; leave out the part from the slash on")
	errQuery   = errors.New("must be a host name without a query or fragment; leave out the part from ? or # on")
	errWild    = errors.New("must not have a wildcard; add each host name on its own")
	errPort    = errors.New("must be a host name without a port; leave out the part from the colon on")
	errIP      = errors.New("must be a host name, not an IP address")
	errSpace   = errors.New("must not contain spaces")
	errEscape  = errors.New("must not be percent-encoded; write the characters themselves")
	errLong    = fmt.Errorf("must be at most %d bytes long in its ASCII form", maxName)
	errNoProof = fmt.Errorf(
		"must be at most %d bytes long in its ASCII form, because the TXT record's name is %d bytes longer and has at most %d", MaxLength,
		maxName-MaxLength, maxName)
	errDots       = errors.New("must not have an empty label: remove the dot at the start, or one of two dots in a row")
	errUnderscore = errors.New("must not contain an underscore: certificates are not issued for such names")
	errSingle     = errors.New("must have at least two labels, such as go.example.com")
	errOwn        = errors.New("must not be a host name of this service itself")
)

// mapping converts to lower case and usual forms like browsers: UTS 46 without transitional processing.
var mapping = idna.New(idna.MapForLookup(), idna.StrictDomainName(false), idna.ValidateLabels(false))

// strict also checks labels by IDNA 2008: normal form, context of joiners, direction, hyphens.
var strict = idna.New(idna.MapForLookup(), idna.BidiRule())

// Parse reads a host name as a person typed it, in Unicode or in Punycode. Its error is written to follow the field's
// name and says what to change. Spaces around the name and one trailing dot are ignored.
//
// Parse refuses bare public suffixes, those of the list's private section too. A provider such as a dynamic DNS service
// hands out names below its suffix. A customer who gets the name "_shortline" there could otherwise prove the whole
// suffix.
func Parse(typed string, p Policy) (Name, error) {
	s := strings.TrimSpace(typed)
	if err := checkTyped(s); err != nil {
		return Name{}, err
	}
	loose, err := mapping.ToUnicode(s)
	if err != nil {
		return Name{}, notIDNA(err)
	}
	loose = strings.TrimSuffix(loose, ".")
	labels := strings.Split(loose, ".")
	if endsInNumber(labels) {
		return Name{}, errIP
	}
	for _, l := range labels {
		if err := checkLabel(l); err != nil {
			return Name{}, err
		}
	}
	display, err := strict.ToUnicode(s)
	if err != nil {
		return Name{}, notIDNA(err)
	}
	display = strings.TrimSuffix(display, ".")
	ascii, err := strict.ToASCII(display)
	if err != nil {
		return Name{}, notIDNA(err)
	}
	// A label in Punycode may decode to characters that have another usual form. Such a label is not what registries
	// and browsers make of these characters.
	if again, err := strict.ToUnicode(ascii); err != nil || again != display || display != loose {
		return Name{}, errors.New("must not have a label in Punycode that differs from the usual form of its characters")
	}
	if err := checkASCII(ascii, p); err != nil {
		return Name{}, err
	}
	return Name{ASCII: ascii, Display: display}, nil
}

// Display returns the form for people of a host name that Parse accepted.
func Display(ascii string) string {
	display, err := strict.ToUnicode(ascii)
	if err != nil {
		return ascii
	}
	return display
}

// checkTyped finds what people paste beside a host name.
func checkTyped(s string) error {
	switch {
	case s == "":
		return errEmpty
	case !utf8.ValidString(s):
		return errUTF8
	case len(s) > maxTyped:
		return errLong
	}
	for _, r := range s {
		switch {
		case r == ' ' || unicode.In(r, unicode.Z) || r == '\t' || r == '\n' || r == '\r':
			return errSpace
		case invisible(r):
			return fmt.Errorf("must not contain the invisible character %U", r)
		}
	}
	if _, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		return errIP
	}
	before, _, _ := strings.Cut(s, "/")
	switch {
	case strings.Contains(s, "://"), strings.HasPrefix(s, "//"):
		return errScheme
	case strings.Contains(before, "@"):
		return errUser
	case strings.ContainsAny(s, `/\`):
		return errPath
	case strings.ContainsAny(s, "?#"):
		return errQuery
	case strings.Contains(s, "*"):
		return errWild
	case strings.ContainsAny(s, "[]"):
		return errIP
	case strings.Contains(s, ":"):
		return errPort
	case strings.Contains(s, "%"):
		return errEscape
	}
	return nil
}

// endsInNumber reports whether browsers read the name as an IPv4 address: its last label is a number in any base.
// Examples are 127.1, 0x7f.1, 017700000001 and 2130706433.
func endsInNumber(labels []string) bool {
	last := labels[len(labels)-1]
	if last == "" {
		return false
	}
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}

// checkASCII checks what needs the final form: lengths, and names that nobody else owns.
func checkASCII(ascii string, p Policy) error {
	switch {
	case len(ascii) > maxName:
		return errLong
	case len(ascii) > MaxLength:
		return errNoProof
	}
	labels := strings.Split(ascii, ".")
	for _, l := range labels {
		if len(l) > maxLabel {
			return fmt.Errorf("must not have a label of more than %d bytes in its ASCII form: %q has %d", maxLabel, l, len(l))
		}
	}
	if err := checkReserved(ascii, p.AllowPrivate); err != nil {
		return err
	}
	if len(labels) == 1 {
		return errSingle
	}
	for _, own := range p.Own {
		if isHost(ascii, own) {
			return errOwn
		}
	}
	if suffix, _ := publicsuffix.PublicSuffix(ascii); suffix == ascii {
		return fmt.Errorf("must not be the public suffix %s itself; choose a name below it, such as go.%s", ascii, ascii)
	}
	return nil
}

// isHost reports whether own, written as host or host:port, has this name.
func isHost(ascii, own string) bool {
	own = strings.TrimSpace(own)
	if colon := strings.LastIndexByte(own, ':'); strings.Count(own, ":") == 1 {
		own = own[:colon]
	}
	name, err := link.Host(own)
	return err == nil && name == ascii
}

func notIDNA(err error) error {
	return fmt.Errorf("must be a valid international name by IDNA 2008: %s", strings.TrimPrefix(err.Error(), "idna: "))
}
