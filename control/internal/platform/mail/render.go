package mail

import (
	"bytes"
	"cmp"
	_ "embed"
	"html/template"
	"strings"
	text "text/template"
	"unicode"

	"github.com/shortline/shortline/control/internal/platform/smtp"
)

const (
	maxName   = 80  // characters of a name
	maxAgent  = 200 // characters of a User-Agent
	maxReason = 500 // characters of the reason of a suspension
	unnamed   = "(no name)"
	joiners   = "\u200c\u200d\u2068\u2069" // alone they show nothing
)

//go:embed mail.html
var htmlSource string

//go:embed mail.txt
var textSource string

var (
	htmlPage = template.Must(template.New("mail.html").Parse(htmlSource))
	textPage = text.Must(text.New("mail.txt").Parse(textSource))
)

// rendered is an e-mail as it is stored, encrypted.
type rendered struct {
	Subject string `json:"subject"`
	Text    string `json:"text"`
	HTML    string `json:"html"`

	Inline      []smtp.Inline `json:"inline,omitempty"`
	Unsubscribe string        `json:"unsubscribe,omitempty"`
}

func (s *Service) render(c Content) (out rendered, err error) {
	view := struct {
		page
		Brand, BaseURL string
	}{c.page(), s.cfg.Brand, s.cfg.BaseURL}
	for _, link := range []string{view.Link, cmp.Or(view.Unsubscribe, view.Link)} {
		if err := checkLink(link); err != nil {
			return out, err
		}
	}
	var plainText, html bytes.Buffer
	if err := textPage.Execute(&plainText, view); err != nil {
		return out, err
	}
	if err := htmlPage.Execute(&html, view); err != nil {
		return out, err
	}
	return rendered{Subject: view.Subject + " – " + s.cfg.Brand, Text: plainText.String(), HTML: html.String(),
		Inline: view.Inline, Unsubscribe: view.Unsubscribe}, nil
}

// plain returns text in one line of at most limit characters, without characters that are invisible or change the
// direction of other text. Letters, marks and emoji of all languages stay.
func plain(in string, limit int) string {
	var b strings.Builder
	space, n := false, 0
	for _, r := range strings.ToValidUTF8(in, "\uFFFD") {
		switch {
		case unicode.IsSpace(r), unicode.IsControl(r):
			space = true
			continue
		case r == '\u200c', r == '\u200d': // Persian and emoji need them
		case unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs), unicode.Is(unicode.Noncharacter_Code_Point, r):
			continue
		}
		if n++; n > limit {
			b.WriteRune('…')
			break
		}
		if space && b.Len() > 0 {
			b.WriteByte(' ')
		}
		space = false
		b.WriteRune(r)
	}
	return b.String()
}

// nameOf returns a name for use inside a sentence.
func nameOf(name string) string {
	if name = isolated(plain(name, maxName)); strings.Trim(name, joiners) == "" {
		return unnamed
	}
	return name
}

// isolated encloses a text with letters that may run from right to left, so that it cannot reorder its surroundings.
func isolated(text string) string {
	text = strings.ReplaceAll(text, "://", ":/ /") // mail programs must not make it a link
	for _, r := range text {
		if r >= 0x590 {
			return "\u2068" + text + "\u2069"
		}
	}
	return text
}
