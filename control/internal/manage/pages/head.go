package pages

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// The maximum lengths of texts, in characters. They are those of the fields of a link.
const (
	maxTitle       = 255
	maxDescription = 200
)

// head is what the head of a page contains.
type head struct {
	base               *url.URL // the address of the page
	title, description string
	image, icon        *url.URL // nil without one
}

// headOf reads the head of a page. Open Graph (https://ogp.me) comes before the standard elements, because authors write it
// for previews.
func headOf(body []byte, mime string, at *url.URL) (head, error) {
	text, err := charset.NewReader(bytes.NewReader(body), mime)
	if err != nil {
		return head{}, fmt.Errorf("read the character set of a page: %w", err)
	}
	s := scan{head: head{base: at}, at: at, meta: map[string]string{}}
	z := html.NewTokenizer(text)
	for s.next(z) {
	}
	h := s.head
	h.title = shorten(first(s.meta["og:title"], s.meta["twitter:title"], s.text.String()), maxTitle)
	h.description = shorten(first(s.meta["og:description"], s.meta["twitter:description"], s.meta["description"]), maxDescription)
	h.image = s.link(first(s.meta["og:image:secure_url"], s.meta["og:image"], s.meta["twitter:image"]))
	return h, nil
}

// scan is the state of reading a head.
type scan struct {
	head
	at      *url.URL // what relative addresses refer to
	meta    map[string]string
	text    strings.Builder // of <title>
	inTitle bool
}

// next reads a token. It returns false at the end of the head.
func (s *scan) next(z *html.Tokenizer) bool {
	switch z.Next() {
	case html.ErrorToken: // the end, or a token that is too long
		return false
	case html.TextToken:
		if s.inTitle {
			s.text.Write(z.Text())
		}
	case html.EndTagToken:
		name, _ := z.TagName()
		s.inTitle = false
		return atom.Lookup(name) != atom.Head
	case html.StartTagToken, html.SelfClosingTagToken:
		return s.tag(z)
	}
	return true
}

// tag reads an opening tag.
func (s *scan) tag(z *html.Tokenizer) bool {
	name, more := z.TagName()
	kind := atom.Lookup(name)
	attributes := map[string]string{}
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		if _, ok := attributes[string(key)]; !ok {
			attributes[string(key)] = string(value)
		}
	}
	switch kind {
	case atom.Title:
		s.inTitle = s.text.Len() == 0
	case atom.Base:
		if base := s.link(attributes["href"]); base != nil {
			s.at = base
		}
	case atom.Meta:
		key := strings.ToLower(first(attributes["property"], attributes["name"]))
		if _, ok := s.meta[key]; !ok && key != "" {
			s.meta[key] = attributes["content"]
		}
	case atom.Link:
		if s.icon == nil && isIcon(attributes["rel"]) && !strings.Contains(attributes["type"], "svg") {
			s.icon = s.link(attributes["href"])
		}
	case atom.Body:
		return false
	}
	return true
}

func isIcon(rel string) bool {
	for word := range strings.FieldsSeq(strings.ToLower(rel)) {
		if word == "icon" || word == "apple-touch-icon" {
			return true
		}
	}
	return false
}

// link returns an http or https address of the page; nil for another one.
func (s *scan) link(to string) *url.URL {
	to = strings.TrimSpace(to)
	if to == "" || len(to) > maxAddress {
		return nil
	}
	u, err := s.at.Parse(to)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return nil
	}
	return u
}

// first returns the first text that is not blank.
func first(texts ...string) string {
	for _, text := range texts {
		if strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}

// shorten joins the words of a text with single spaces and cuts it after most characters.
func shorten(text string, most int) string {
	text = strings.ToValidUTF8(strings.Join(strings.Fields(text), " "), "")
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:most-1])) + "…"
}
