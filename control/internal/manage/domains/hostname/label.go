package hostname

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMarks is the maximum number of nonspacing marks in a row. Vietnamese and Hebrew need two after composition. Longer
// stacks cover neighbouring lines, and a repeated mark is not visible.
const maxMarks = 2

// mixes are the sets of scripts that one label may combine: the profile "highly restrictive" of UTS 39.
var mixes = [][]string{
	{"Latin", "Han", "Hiragana", "Katakana"}, // Japanese
	{"Latin", "Han", "Bopomofo"},             // Chinese
	{"Latin", "Han", "Hangul"},               // Korean
}

// excluded letters and marks are DISALLOWED by the exceptions of RFC 5892.
var excluded = []rune{0x0640, 0x07FA, 0x302E, 0x302F, 0x3031, 0x3032, 0x3033, 0x3034, 0x3035, 0x303B}

// checkLabel checks a label in lower case and Unicode. Only IDNA's context rules for joiners and directions, the normal
// form and the length are left to the caller.
func checkLabel(label string) error {
	switch {
	case label == "":
		return errDots
	case label[0] == '-' || label[len(label)-1] == '-':
		return fmt.Errorf("must not have a hyphen at the start or the end of a label: %q", label)
	case len(label) > 3 && label[2:4] == "--":
		return fmt.Errorf("must not have hyphens as third and fourth character of a label, except in valid Punycode: %q", label)
	}
	var scripts []string
	runes := []rune(label)
	marks, numbers := 0, rune(-1)
	for i, r := range runes {
		if err := checkRune(runes, i); err != nil {
			return err
		}
		if unicode.Is(unicode.Mn, r) && script(r) == inherited {
			if marks++; marks > maxMarks || i > 0 && r == runes[i-1] {
				return fmt.Errorf("must not stack or repeat combining marks: %+q", label)
			}
		} else {
			marks = 0
		}
		if unicode.Is(unicode.Nd, r) {
			// The ten digits of every number system share all bits but the last four.
			if numbers >= 0 && numbers != r>>4 {
				return fmt.Errorf("must not mix digits of several number systems in a label: %q", label)
			}
			numbers = r >> 4
		}
		if s := script(r); s != common && s != inherited && !slices.Contains(scripts, s) {
			scripts = append(scripts, s)
		}
	}
	if len(scripts) > 1 && !slices.ContainsFunc(mixes, func(mix []string) bool { return subset(scripts, mix) }) {
		slices.Sort(scripts)
		return fmt.Errorf("must not mix letters of several scripts (%s) in a label, because they look alike: %+q",
			strings.Join(scripts, ", "), label)
	}
	return nil
}

// checkRune checks that the rune at i is a letter, mark or digit, or a hyphen, or a sign whose context RFC 5892 permits.
func checkRune(label []rune, i int) error {
	r := label[i]
	has := func(scripts ...string) bool {
		return slices.ContainsFunc(label, func(r rune) bool { return slices.Contains(scripts, script(r)) })
	}
	at := func(i int) rune {
		if i < 0 || i >= len(label) {
			return utf8.RuneError
		}
		return label[i]
	}
	fine := false
	switch {
	case r < utf8.RuneSelf:
		if r == '_' {
			return errUnderscore
		}
		fine = 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-'
	case invisible(r):
		return fmt.Errorf("must not contain the invisible character %U", r)
	case slices.Contains(excluded, r):
	case r == '·': // Catalan
		fine = at(i-1) == 'l' && at(i+1) == 'l'
	case r == 0x0375: // Greek numeral sign
		fine = script(at(i+1)) == "Greek"
	case r == 0x05F3 || r == 0x05F4: // Hebrew punctuation
		fine = script(at(i-1)) == "Hebrew"
	case r == '・':
		fine = has("Hiragana", "Katakana", "Han")
	case r == 'ー':
		fine = has("Hiragana", "Katakana")
	case r == '〇': // the digit zero in Han, a letter number in Unicode
		fine = true
	case 0x0660 <= r && r <= 0x0669: // Arabic digits, which Unicode assigns to several scripts
		fine = has("Arabic", "Thaana")
	case script(r) == common:
		// Other signs without a script are symbols, or letters such as U+02BB that look like punctuation.
	default:
		fine = unicode.In(r, unicode.L, unicode.Mn, unicode.Mc, unicode.Nd)
	}
	if !fine {
		return fmt.Errorf("must contain letters, digits, hyphens and dots only; it contains %+q (%U)", string(r), r)
	}
	return nil
}

// Names of runes that do not belong to one script.
const (
	common    = "Common"
	inherited = "Inherited"
)

// script returns the name of a rune's script in Unicode. Unassigned runes are common.
func script(r rune) string {
	if r < utf8.RuneSelf {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return "Latin"
		}
		return common
	}
	for name, table := range unicode.Scripts {
		if unicode.Is(table, r) {
			return name
		}
	}
	return common
}

func subset(scripts, of []string) bool {
	return !slices.ContainsFunc(scripts, func(s string) bool { return !slices.Contains(of, s) })
}

// invisible reports whether a rune has no shape of its own: controls, joiners, directions, fillers, variation selectors.
func invisible(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
