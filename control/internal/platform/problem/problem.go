// Package problem is the one error type that a caller of the API may read: a kind, a sentence, and the fields
// it is about. Everything else that goes wrong is internal and shows as a 500 with a request id.
//
// Use cases return *Error; package api is the only place that turns one into HTTP.
package problem

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind says what sort of problem it is; package api maps each kind to one status.
type Kind uint8

// The kinds, with the HTTP status that each becomes.
const (
	Invalid      Kind = iota + 1 // 400
	Unauthorized                 // 401
	Expired                      // 401, error name "Key Expired"
	Forbidden                    // 403
	NotFound                     // 404
	Conflict                     // 409
	Gone                         // 410
	TooLarge                     // 413
	TooMany                      // 429
	Unavailable                  // 503
)

// Field names one input that is at fault, by its JSON path ("urls.0.originalUrl").
type Field struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// String is what a client shows that shows one problem only: "urls.0.originalUrl: is required".
func (f Field) String() string {
	if f.Field == "" {
		return f.Message
	}
	return f.Field + ": " + f.Message
}

// Error is a problem that the caller can read and do something about.
type Error struct {
	Kind       Kind
	Message    string // one plain sentence
	Fields     []Field
	RetryAfter time.Duration // for TooMany and Unavailable; 0 if unknown
}

func (e *Error) Error() string {
	if len(e.Fields) == 0 {
		return e.Message
	}
	parts := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		parts[i] = f.String()
	}
	if e.Message == parts[0] {
		return strings.Join(parts, "; ")
	}
	return e.Message + " (" + strings.Join(parts, "; ") + ")"
}

// New makes an Error of a kind from a format.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Missing is the NotFound of one named thing: Missing("URL") reads "URL not found."
func Missing(what string) *Error { return New(NotFound, "%s not found.", what) }

// OfField is an Invalid about one field.
func OfField(field, format string, args ...any) *Error {
	var v Fields
	v.Add(field, format, args...)
	return v.Err().(*Error)
}

// Fields collects the problems of one input, so that all of them can be told at once. The zero value is ready.
type Fields []Field

// Add notes one problem.
func (v *Fields) Add(field, format string, args ...any) {
	*v = append(*v, Field{field, fmt.Sprintf(format, args...)})
}

// Under notes the problems of err, which may be an *Error with fields, below a path prefix.
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

// Err is nil when nothing was added, else an Invalid with every field, whose message is the first problem: many clients
// show nothing but the message.
func (v Fields) Err() error {
	if len(v) == 0 {
		return nil
	}
	return &Error{Kind: Invalid, Message: v[0].String(), Fields: v}
}

// Is reports whether err is, or wraps, a problem of the kind.
func Is(err error, kind Kind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == kind
}
