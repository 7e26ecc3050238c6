package link

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// SlugRules are the rules for the slugs of a host. The zero value, with at least MinSlug characters, is the rule of hosts without
// settings.
type SlugRules struct {
	// Fold finds a slug in any case of its ASCII letters, so no two slugs may differ in case only.
	Fold bool
	// Extended allows dots, slashes and letters beyond ASCII. These are stored in NFC and in lower case, and found in any form.
	Extended bool
	// Min is the least length in characters; 0 means MinSlug.
	Min int
}

// Same reports whether a slug, in any form, finds the link with a stored slug.
func (r SlugRules) Same(slug, stored string) bool {
	slug = r.Normal(slug)
	return slug == stored || r.Fold && Fold(slug) == Fold(stored)
}

// least returns the least length of a slug in characters.
func (r SlugRules) least() int {
	if r.Min == 0 {
		return MinSlug
	}
	return r.Min
}

// Normal returns the form in which a slug is stored.
func (r SlugRules) Normal(slug string) string {
	if !r.Extended || isASCII(slug) {
		return slug
	}
	return string(AppendNormal(nil, []byte(slug)))
}

// Valid reports whether a slug in its normal form may be that of a link. It does not check reserved words, see Reserves.
func (r SlugRules) Valid(slug string) bool {
	if len(slug) < r.least() || len(slug) > MaxSlug {
		return false
	}
	if !r.Extended {
		return basic(slug)
	}
	return utf8.RuneCountInString(slug) >= r.least() && extended(slug)
}

// Reserves reports whether links of the service's own paths need the slug: it is a reserved word, begins with one before a slash, or
// ends like the paths behind a slug.
func (r SlugRules) Reserves(slug string) bool {
	first, _, deep := strings.Cut(slug, "/")
	if Reserved(first) || Reserved(slug) {
		return true
	}
	last := slug[strings.LastIndexByte(slug, '/')+1:]
	return deep && (strings.EqualFold(last, "verify") || strings.EqualFold(last, "report") || strings.EqualFold(last, "info"))
}

// basic reports whether every slug may have all bytes.
func basic[T ~string | ~[]byte](s T) bool {
	for i := range len(s) {
		if !SlugByte(s[i]) {
			return false
		}
	}
	return true
}

func isASCII[T ~string | ~[]byte](s T) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// extended reports whether a text has the characters of extended slugs. Dots and slashes stand alone between other characters:
// programs drop them at the end of an address, and browsers resolve segments of dots. Characters that only look different from others
// (compatibility characters such as ligatures and wide letters) and mixtures of scripts that look alike are refused.
func extended(slug string) bool {
	if !utf8.ValidString(slug) || !norm.NFKC.IsNormalString(slug) {
		return false
	}
	alone := true // no mark, dot or slash may follow
	for _, r := range slug {
		switch {
		case r == '.' || r == '/':
			if alone {
				return false
			}
			alone = true
		case r < utf8.RuneSelf && SlugByte(byte(r)), unicode.IsLetter(r), unicode.IsMark(r) && !alone && !hidden(r):
			alone = false
		default:
			return false
		}
	}
	return !alone && !mixed(slug)
}

// hidden reports whether a mark is invisible.
func hidden(r rune) bool {
	return unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r)
}

// mixed reports whether a slug has letters of scripts that look alike: Latin, Cyrillic, Greek, Armenian or Cherokee beside each other,
// or more than two scripts, apart from those that Chinese, Japanese and Korean mix. This is the restriction level "moderately
// restrictive" of UTS 39.
func mixed(slug string) bool {
	var latin, alike, east, others int
	seen := map[*unicode.RangeTable]bool{}
	for _, r := range slug {
		t := scriptOf(r)
		if t == nil || seen[t] {
			continue
		}
		seen[t] = true
		switch t {
		case unicode.Latin:
			latin++
		case unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee:
			alike++
		case unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo:
			east = 1
		default:
			others++
		}
	}
	return alike+east+others > 1 || alike > 0 && latin > 0
}

// scriptOf returns the script of a letter; nil for what belongs to several.
func scriptOf(r rune) *unicode.RangeTable {
	if r < utf8.RuneSelf {
		if unicode.IsLetter(r) {
			return unicode.Latin
		}
		return nil
	}
	if unicode.In(r, unicode.Common, unicode.Inherited) {
		return nil
	}
	for _, t := range unicode.Scripts {
		if unicode.Is(t, r) {
			return t
		}
	}
	return nil
}

// AppendNormal appends the normal form of an extended slug to dst: NFC, with letters beyond ASCII in lower case. It does not allocate
// if dst has room.
func AppendNormal(dst, slug []byte) []byte {
	if isASCII(slug) {
		return append(dst, slug...)
	}
	c := composers.Get().(*composer)
	c.text = append(c.text[:0], slug...)
	c.compose()
	c.from, c.text = c.text, c.from[:0]
	for i := 0; i < len(c.from); {
		r, size := utf8.DecodeRune(c.from[i:])
		i += size
		if r >= utf8.RuneSelf {
			r = unicode.ToLower(r)
		}
		c.text = utf8.AppendRune(c.text, r)
	}
	c.compose()
	dst = append(dst, c.text...)
	if len(slug) <= 4*MaxSlug {
		composers.Put(c)
	}
	return dst
}

// composer has the memory for one AppendNormal.
type composer struct {
	iter       norm.Iter
	text, from []byte
}

// composers are reused, because package norm allocates for each text that is not in its normal form.
var composers = sync.Pool{New: func() any { return new(composer) }}

// compose brings the text into NFC.
func (c *composer) compose() {
	if norm.NFC.QuickSpan(c.text) == len(c.text) {
		return
	}
	c.from, c.text = c.text, c.from[:0]
	c.iter.Init(norm.NFC, c.from)
	for !c.iter.Done() {
		c.text = append(c.text, c.iter.Next()...)
	}
}

// Fold returns a key with its ASCII letters in lower case. Keys of one host with the same folded key are found by the same slugs if the
// host folds.
func Fold(key string) string {
	for i := range len(key) {
		if c := key[i]; c >= 'A' && c <= 'Z' {
			b := []byte(key)
			for ; i < len(b); i++ {
				if b[i] >= 'A' && b[i] <= 'Z' {
					b[i] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return key
}
