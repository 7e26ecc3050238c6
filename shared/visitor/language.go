package visitor

import "strings"

// maxLanguageHeader is how many bytes of Accept-Language are read. Browsers send fewer than a hundred.
const maxLanguageHeader = 512

// Preferred returns the language tag with the highest quality in an Accept-Language header (RFC 9110, 12.5.4), and
// the first of several such tags. The result is a part of the header, not a copy. Preferred ignores "*", tags with
// quality 0 and malformed entries. It returns "" if nothing else is left.
func Preferred(header string) string {
	if len(header) > maxLanguageHeader {
		header = header[:maxLanguageHeader]
		header = header[:max(strings.LastIndexByte(header, ','), 0)] // the last entry may be cut
	}
	best, bestQ := "", 0
	for rest, more := header, true; more && bestQ < 1000; {
		var entry string
		entry, rest, more = strings.Cut(rest, ",")
		tag, params, weighed := strings.Cut(entry, ";")
		q := 1000
		if weighed {
			q = quality(params)
		}
		if q <= bestQ {
			continue
		}
		if tag = strings.Trim(tag, " \t"); isLanguageTag(tag) {
			best, bestQ = tag, q
		}
	}
	return best
}

// quality parses "q=0.8" as 800. It returns -1 for anything else.
func quality(s string) int {
	s = strings.Trim(s, " \t")
	if len(s) < 3 || len(s) > 7 || s[0]|0x20 != 'q' || s[1] != '=' {
		return -1
	}
	whole, fraction := s[2], s[3:]
	if whole != '0' && whole != '1' || fraction != "" && fraction[0] != '.' {
		return -1
	}
	q, unit := int(whole-'0')*1000, 100
	for i := 1; i < len(fraction); i++ {
		if fraction[i] < '0' || fraction[i] > '9' {
			return -1
		}
		q += int(fraction[i]-'0') * unit
		unit /= 10
	}
	if q > 1000 {
		return -1
	}
	return q
}

// isLanguageTag checks the alphabet and length of RFC 5646 tags, not their meaning.
func isLanguageTag(s string) bool {
	if s == "" || len(s) > 35 || s[0] == '-' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-' {
			continue
		}
		return false
	}
	return true
}

// Language returns the language that an Accept-Language header prefers, without script and region, in lower case, such
// as "de". It returns "" if the header prefers none, or one that is not a code of two or three letters.
func Language(header string) string {
	tag, _, _ := strings.Cut(Preferred(header), "-")
	tag = strings.ToLower(tag)
	if len(tag) != 2 && len(tag) != 3 || strings.Trim(tag, "abcdefghijklmnopqrstuvwxyz") != "" {
		return ""
	}
	return tag
}
