// Package imports has the commands that move links from other services. A Source reads the links of one service as Records; the engine
// sends them to Shortline, and knows nothing about services.
package imports

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/shortline/shortline/client"
)

// Address is a short URL of another service.
type Address struct{ Host, Slug string }

// String returns the address without a scheme.
func (a Address) String() string {
	if a.Host == "" {
		return a.Slug
	}
	return a.Host + "/" + a.Slug
}

// addressOf reads a short URL with or without a scheme. Everything after the host is the slug.
func addressOf(text string) Address {
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		return Address{}
	}
	return Address{Host: strings.ToLower(u.Host), Slug: strings.Trim(u.Path, "/")}
}

// Record is a link of another service. A field with its zero value is not known there.
type Record struct {
	ID          string // unique at the service
	Address     Address
	Aliases     []Address // further short URLs of the link; each becomes a link of its own
	Destination string

	Title, Notes             string
	Tags                     []string
	Created, Starts, Expires time.Time
	ExpiredURL               string
	PasswordHash             string // bcrypt
	MaxClicks, Clicks        int64
	Code                     int // status of the redirect
	Inactive                 bool
	Rules                    []client.DraftRule
	UTM                      map[string]string // by field, such as utmSource

	// Guarded says that the service asks for a password that nobody can read. A new link is inactive then, so that it does not
	// lead everybody.
	Guarded bool

	Lost    []string // what Shortline cannot keep, each as a sentence without a period
	Refused string   // why the link is not imported; "" if it is
}

// lose notes something that Shortline cannot keep.
func (r *Record) lose(what string) { r.Lost = append(r.Lost, what) }

// guard notes that the link had a password that cannot be read.
func (r *Record) guard() {
	r.Guarded = true
	r.lose("its password cannot be read, so a new link is inactive until you set one")
}

// Page is a part of the links of a service.
type Page struct {
	Records []Record // at most a few thousand
	Next    string   // cursor after this page; "" if it is the last one
	Total   int      // links of the service; 0 means unknown
}

// Source reads the links of a service.
type Source interface {
	// Pages yields the links after a cursor; "" is the beginning. It ends after an error.
	Pages(ctx context.Context, cursor string) iter.Seq2[Page, error]
}

// timeForms are forms of times that services send beside RFC 3339, such as 2018-03-01T22:45:54+0000.
var timeForms = []string{time.RFC3339Nano, "2006-01-02T15:04:05-0700", "2006-01-02T15:04:05", "2006-01-02 15:04:05.999999999Z07",
	"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02"}

// readTime reads a time, in UTC if it has no zone. It returns the zero time for an empty text and for zero dates of databases.
func readTime(text string) (t time.Time, known bool) {
	if text = strings.TrimSpace(text); text == "" || strings.HasPrefix(text, "0000-00-00") {
		return time.Time{}, true
	}
	for _, form := range timeForms {
		if t, err := time.Parse(form, text); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// times reads times into the fields of a record. One that cannot be read is lost.
func (r *Record) times(fields ...timeField) {
	for _, f := range fields {
		t, known := readTime(f.text)
		if *f.to = t; !known {
			r.lose("the " + f.name + " " + quoted(f.text) + " is no date")
		}
	}
}

type timeField struct {
	name, text string
	to         *time.Time
}

// quoted shortens a text of a service for a message.
func quoted(text string) string {
	if runes := []rune(text); len(runes) > 60 {
		text = string(runes[:60]) + "…"
	}
	return `"` + text + `"`
}

// cursor is a place in the links of a group, such as a workspace or a domain, for services that list each group alone.
type cursor struct {
	Group string `json:"group"`
	After string `json:"after"`
}

// String returns the cursor as a text.
func (c cursor) String() string {
	text, err := json.Marshal(c)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return string(text)
}

// grouped yields the links of one group after the other. read returns the page after a place, and the place after that page, which is
// "" at the end of the group.
func grouped(
	place string, list func() ([]string, error), read func(group, after string) (page Page, next string, err error),
) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		var at cursor
		if place != "" && json.Unmarshal([]byte(place), &at) != nil {
			yield(Page{}, fmt.Errorf("the place %s is damaged; add --restart", quoted(place)))
			return
		}
		groups, err := list()
		first := max(0, slices.Index(groups, at.Group))
		if err == nil && at.Group != "" && !slices.Contains(groups, at.Group) {
			err = fmt.Errorf("the group %s no longer exists; add --restart", quoted(at.Group))
		}
		if err != nil {
			yield(Page{}, err)
			return
		}
		for i := first; i < len(groups); i++ {
			if groups[i] != at.Group {
				at = cursor{Group: groups[i]}
			}
			for more := true; more; {
				page, next, err := read(at.Group, at.After)
				switch more = next != ""; {
				case err != nil:
				case more && next == at.After:
					err = errors.New("the service repeats the same page")
				case more:
					page.Next = cursor{at.Group, next}.String()
				case i+1 < len(groups):
					page.Next = cursor{Group: groups[i+1]}.String()
				}
				if !yield(page, err) || err != nil {
					return
				}
				at.After = next
			}
		}
	}
}
