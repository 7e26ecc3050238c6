package visitor

import (
	"strings"

	"github.com/shortline/shortline/shared/accept"
)

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
	best, most := "", 0
	for tag, parameters := range accept.Elements(header) {
		if weight := parameters.Weight(); weight > most && isLanguageTag(tag) {
			best, most = tag, weight
			if most == accept.Full {
				break
			}
		}
	}
	return best
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
