package output

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Clean makes a text safe for a terminal. Titles and destinations come from other people: an escape sequence in one could
// change what the terminal shows, and a bidirectional override could disguise an address.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case unicode.IsControl(r), r == unicode.ReplacementChar:
			return '\uFFFD'
		case r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069, r == 0x200E, r == 0x200F, r == 0x061C:
			return -1
		}
		return r
	}, text)
}

// cells returns how many columns of a terminal a rune takes.
func cells(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// widthOf returns how many columns of a terminal a text takes.
func widthOf(text string) (n int) {
	for _, r := range text {
		n += cells(r)
	}
	return n
}

// cut shortens a text to a number of columns, and marks the end with an ellipsis.
func cut(text string, most int) string {
	if widthOf(text) <= most {
		return text
	}
	n := 0
	for i, r := range text {
		if n += cells(r); n > most-1 {
			return text[:i] + "…"
		}
	}
	return text
}
