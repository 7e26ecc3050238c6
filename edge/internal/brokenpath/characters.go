package brokenpath

import "github.com/shortline/shortline/shared/link"

// kind is what a character of a broken address is.
type kind uint8

const (
	other     kind = iota // punctuation, and letters that are not in slugs
	part                  // stands for characters of a slug
	space                 // programs break and join lines there
	invisible             // people do not see it, so they cannot mean it
)

const ascii = "\x00\x01\x02\x03\x04\x05\x06\x07\x08\t\n\x0b\x0c\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f" +
	" !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~\x7f"

// ligatures are what typesetting programs make of letters, from U+FB00 on.
var ligatures = [...]string{"ff", "fi", "fl", "ffi", "ffl", "st", "st"}

// partOf returns the kind of a character, and for a part the characters of slugs for which it stands.
func partOf(r rune) (text string, k kind) {
	if r >= '！' && r <= '～' { // the wide forms of ASCII, which input methods for Chinese and Japanese write
		r -= '！' - '!'
	}
	switch {
	case r < 0x80:
		switch {
		case link.SlugByte(byte(r)):
			return ascii[r : r+1], part
		case r == ' ' || r >= '\t' && r <= '\r':
			return "", space
		}
		return "", other
	case r >= 0xfb00 && int(r-0xfb00) < len(ligatures):
		return ligatures[r-0xfb00], part
	}
	switch r {
	case 0x2010, 0x2011, 0x2012, 0x2013, 0x2212, 0xfe58, 0xfe63: // hyphens and dashes that word processors write for "-"
		return "-", part
	case 0x2014, 0x2015: // and for "--"
		return "--", part
	case 0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000:
		return "", space
	case 0xad, 0x34f, 0x61c, 0x180e, 0xfeff: // soft hyphen, joiners, marks of direction, byte order mark
		return "", invisible
	}
	switch {
	case r >= 0x2000 && r <= 0x200a:
		return "", space
	case r >= 0x80 && r <= 0x9f, r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f,
		r >= 0xfe00 && r <= 0xfe0f, r >= 0xfff9 && r <= 0xfffc, r >= 0xe0000 && r <= 0xe0fff:
		return "", invisible
	}
	return "", other
}
