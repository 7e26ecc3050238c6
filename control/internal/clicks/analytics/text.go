package analytics

import (
	"strings"
	"unicode/utf8"

	"github.com/shortline/shortline/shared/link"
)

// Plain makes a text storable, in the same form in every store: what visitors send may be no UTF-8, and a NUL ends a
// text in some engines or their drivers. Neither must stop everybody's clicks.
func Plain(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	}
	return s
}

// IDText spells ids, of which runs are equal. The zero value is ready, for one goroutine.
type IDText struct {
	last link.ID
	text string
}

// Of is the id as text, "" for none.
func (t *IDText) Of(id link.ID) string {
	if id.IsZero() {
		return ""
	}
	if id != t.last {
		t.last, t.text = id, IDString(id)
	}
	return t.text
}
