package analytics

import (
	"strings"
	"unicode/utf8"

	"github.com/shortline/shortline/shared/link"
)

// Plain makes a text storable, in the same form in every store. Visitors may send invalid UTF-8, and a NUL ends a text
// in some engines or drivers. Neither may stop the clicks of everybody else.
func Plain(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	}
	return s
}

// IDText formats ids, and reuses the text for runs of equal ids. The zero value is ready to use, by one goroutine.
type IDText struct {
	last link.ID
	text string
}

// Of returns the id as text, or "" for the zero id.
func (t *IDText) Of(id link.ID) string {
	if id.IsZero() {
		return ""
	}
	if id != t.last {
		t.last, t.text = id, IDString(id)
	}
	return t.text
}
