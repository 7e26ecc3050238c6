package rule

import (
	"unicode"
	"unicode/utf8"
)

// Text is compared in folded form. Every rune is replaced by one fixed member of its class under Unicode simple case
// folding; for ASCII that is the lower-case letter. Constants are folded at compile time. A visitor's value is folded
// rune by rune while it is read. A byte that is not UTF-8 counts as U+FFFD.

func foldRune(r rune) rune {
	if r < rune(len(foldLow)) {
		return rune(foldLow[r])
	}
	if r == utf8.RuneError {
		return r
	}
	return foldSlowly(r)
}

// foldLow caches foldSlowly for the runes with one or two bytes in UTF-8. Visitors choose the text, and
// unicode.SimpleFold takes about 50 ns per rune.
var foldLow = func() (t [0x800]uint16) {
	for r := range t {
		t[r] = uint16(foldSlowly(rune(r)))
	}
	return t
}()

func foldSlowly(r rune) rune {
	if r < utf8.RuneSelf {
		return rune(foldASCII[r])
	}
	least := r
	for o := unicode.SimpleFold(r); o != r; o = unicode.SimpleFold(o) {
		least = min(least, o)
	}
	// The Kelvin sign and the long s belong to the class of an ASCII letter.
	if least < utf8.RuneSelf {
		return rune(foldASCII[least])
	}
	return least
}

var foldASCII = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
		if 'A' <= i && i <= 'Z' {
			t[i] += 'a' - 'A'
		}
	}
	return t
}()

// fold returns s in folded form as valid UTF-8.
func fold(s string) string {
	b := make([]byte, 0, len(s))
	for _, r := range s {
		b = utf8.AppendRune(b, foldRune(r))
	}
	return string(b)
}

// afterPrefix returns the length in s of the prefix that folds to folded, or -1 if s has no such prefix.
func afterPrefix(folded, s string) int {
	i, j := 0, 0
	for i < len(folded) {
		if j == len(s) {
			return -1
		}
		if c := s[j]; c < utf8.RuneSelf {
			if foldASCII[c] != folded[i] {
				return -1
			}
			i++
			j++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[j:])
		want, m := utf8.DecodeRuneInString(folded[i:])
		if foldRune(r) != want {
			return -1
		}
		i += m
		j += n
	}
	return j
}

func equalFolded(folded, s string) bool {
	return afterPrefix(folded, s) == len(s)
}

func hasFoldedSuffix(folded, s string) bool {
	for len(folded) > 0 {
		if len(s) == 0 {
			return false
		}
		r, n := utf8.DecodeLastRuneInString(s)
		want, m := utf8.DecodeLastRuneInString(folded)
		if foldRune(r) != want {
			return false
		}
		s, folded = s[:len(s)-n], folded[:len(folded)-m]
	}
	return true
}

// failures computes the table of the Knuth-Morris-Pratt search for a folded text: after a mismatch behind k matching
// bytes, table[k-1] bytes still match. The search is linear, whatever the author and the visitor choose.
func failures(folded string, table []uint16) {
	k := 0
	for i := 1; i < len(folded); i++ {
		for k > 0 && folded[i] != folded[k] {
			k = int(table[k-1])
		}
		if folded[i] == folded[k] {
			k++
		}
		table[i] = uint16(k)
	}
}

// containsFolded searches s for the folded text. UTF-8 is self-synchronizing, so a search for bytes finds whole runes.
func containsFolded(folded string, table []uint16, s string) bool {
	k, first := 0, folded[0]
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			c = foldASCII[c]
			i++
			if k == 0 && c != first {
				continue
			}
			k = advance(folded, table, k, c)
		} else {
			r, n := utf8.DecodeRuneInString(s[i:])
			var buf [utf8.UTFMax]byte
			for _, c := range buf[:utf8.EncodeRune(buf[:], foldRune(r))] {
				k = advance(folded, table, k, c)
			}
			i += n
		}
		if k == len(folded) {
			return true
		}
	}
	return false
}

// advance consumes one byte and returns the number of matching bytes of the folded text. A full match ends at the end
// of a rune, where the caller checks for it, so k is never the whole length here.
func advance(folded string, table []uint16, k int, c byte) int {
	for k > 0 && folded[k] != c {
		k = int(table[k-1])
	}
	if folded[k] == c {
		k++
	}
	return k
}

// hashFolded returns the 32-bit FNV-1a hash of a text in folded form.
func hashFolded(s string) uint32 {
	h := uint32(2166136261)
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			h = (h ^ uint32(foldASCII[c])) * 16777619
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		var buf [utf8.UTFMax]byte
		for _, c := range buf[:utf8.EncodeRune(buf[:], foldRune(r))] {
			h = (h ^ uint32(c)) * 16777619
		}
		i += n
	}
	return h
}
