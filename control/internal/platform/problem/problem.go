// Package problem has the error type for callers of the API: a kind, a message, and the invalid fields. All other
// errors are internal and become a 500 with a request id.
//
// Use cases return *Error. Only package api converts it to HTTP.
package problem

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/shortline/shortline/shared/each"
)

// Kind is the kind of a problem. Package api maps each kind to one status.
type Kind uint8

// The kinds, with their HTTP status.
const (
	Invalid      Kind = iota + 1 // 400
	Unauthorized                 // 401
	Expired                      // 401, error name "Key Expired"
	Forbidden                    // 403
	NoFactor                     // 403, error name "Second Factor Required"
	NotFound                     // 404
	Conflict                     // 409
	Gone                         // 410
	Stale                        // 412
	TooLarge                     // 413
	TooMany                      // 429
	Unavailable                  // 503
)

// Field is an invalid input, by its JSON path ("urls.0.originalUrl").
type Field struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// String returns path and message, such as "urls.0.originalUrl: is required".
func (f Field) String() string {
	if f.Field == "" {
		return f.Message
	}
	return f.Field + ": " + f.Message
}

// Error is a problem that the caller can see and fix.
type Error struct {
	Kind       Kind
	Message    string // one plain sentence
	Fields     []Field
	RetryAfter time.Duration // for TooMany and Unavailable; 0 if unknown
	Counts     *Counts       // for a Conflict of a deletion; else nil
	Current    any           // for Stale: the present object of the use case; nil if there is none
}

// Counts is what a refused deletion would lose.
type Counts struct {
	Workspaces int `json:"workspaces"`
	Links      int `json:"links"`
	Bundles    int `json:"bundles"`
}

func (e *Error) Error() string {
	if len(e.Fields) == 0 {
		return e.Message
	}
	parts := each.Of(e.Fields, func(f Field) string { return f.String() })
	if e.Message == parts[0] {
		return strings.Join(parts, "; ")
	}
	return e.Message + " (" + strings.Join(parts, "; ") + ")"
}

// New returns an Error with a formatted message.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Missing returns a NotFound: Missing("URL") has the message "URL not found."
func Missing(what string) *Error { return New(NotFound, "%s not found.", what) }

// OfField returns an Invalid about one field.
func OfField(field, format string, args ...any) *Error {
	var v Fields
	v.Add(field, format, args...)
	return v.Err().(*Error)
}

// Fields collects the problems of one input, to report all of them together. The zero value is empty.
type Fields []Field

// Add adds a problem.
func (v *Fields) Add(field, format string, args ...any) {
	*v = append(*v, Field{field, fmt.Sprintf(format, args...)})
}

// Name returns a name that people gave to something, without surrounding space. It adds a problem if the name is empty,
// longer than most characters, or contains control characters.
func (v *Fields) Name(field, given string, most int) string {
	name := strings.TrimSpace(given)
	switch {
	case name == "":
		v.Add(field, "is required")
	case utf8.RuneCountInString(name) > most:
		v.Add(field, "must be at most %d characters long", most)
	case strings.ContainsFunc(name, unicode.IsControl):
		v.Add(field, "must not contain control characters")
	}
	return name
}

// Under adds the problems of err, which may be an *Error with fields, with a path prefix.
func (v *Fields) Under(prefix string, err error) {
	var e *Error
	switch {
	case err == nil:
	case errors.As(err, &e) && len(e.Fields) > 0:
		for _, f := range e.Fields {
			path := prefix
			if f.Field != "" {
				path += "." + f.Field
			}
			*v = append(*v, Field{path, f.Message})
		}
	default:
		v.Add(prefix, "%s", err)
	}
}

// Join adds the problems of err, which is nil or an *Error with fields.
func (v *Fields) Join(err error) {
	var e *Error
	if errors.As(err, &e) {
		*v = append(*v, e.Fields...)
	}
}

// Err returns nil if there are no problems, and otherwise an Invalid with all fields. Its message is the first problem,
// because many clients show only the message.
func (v Fields) Err() error {
	if len(v) == 0 {
		return nil
	}
	return &Error{Kind: Invalid, Message: v[0].String(), Fields: v}
}

// Doing adds to an error what has failed, such as "create tag". It returns nil for nil.
func Doing(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// Is reports whether err is, or wraps, a problem of the kind.
func Is(err error, kind Kind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == kind
}

// Clip shortens text from a request that a problem quotes.
func Clip(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}

// NameTaken wraps a store call that writes a thing with a name. The call says whether the name was free; if not, the result is a
// Conflict with message. format quotes the name, such as there is a tag %q.
func NameTaken(message, format, name string) func(free bool, err error) error {
	return func(free bool, err error) error {
		if err != nil || free {
			return err
		}
		return &Error{Kind: Conflict, Message: message,
			Fields: []Field{{Field: "name", Message: fmt.Sprintf(format, name)}}}
	}
}
