// Package abuse defines how a visitor's report of a link travels from an edge to the control plane.
package abuse

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"unicode/utf8"
)

// Reasons for a report. Their order is that of the form.
var Reasons = []string{"PHISHING", "MALWARE", "SPAM", "ILLEGAL", "OTHER"}

// Limits of a report, in characters.
const (
	MaxText  = 1000
	MaxEmail = 254
)

// Report is what a visitor says about a link.
type Report struct {
	Link   uint64 `json:"link"` // number
	Reason string `json:"reason"`
	Text   string `json:"text,omitempty"`
	Email  string `json:"email,omitempty"` // where the visitor can be reached; not verified
	// Client is the visitor's address as far as ANONYMIZE_IP keeps it, for limits; it is not stored. The zero value is
	// unknown.
	Client netip.Addr `json:"client"`
}

// ReportSink accepts reports.
type ReportSink interface {
	// Accept stores a report. Its error wraps ErrBusy, ErrUnknown or ErrUnsupported, or the report may be lost and the
	// visitor should try again.
	Accept(ctx context.Context, r Report) error
}

// Errors of Desk.
var (
	ErrBusy        = errors.New("too many reports came from this client")
	ErrUnknown     = errors.New("the link does not exist")
	ErrUnsupported = errors.New("the control plane does not take reports")
)

// Problem is an invalid field of a report.
type Problem struct{ Field, Message string }

// Clean trims the texts and returns the problems of a report.
func (r *Report) Clean() (problems []Problem) {
	r.Text = strings.TrimSpace(strings.ReplaceAll(r.Text, "\r\n", "\n"))
	r.Email = strings.TrimSpace(r.Email)
	if !slices.Contains(Reasons, r.Reason) {
		problems = append(problems, Problem{"reason", "must be one of " + strings.Join(Reasons, ", ")})
	}
	switch {
	case !printable(r.Text):
		problems = append(problems, Problem{"text", "must be text without control characters"})
	case utf8.RuneCountInString(r.Text) > MaxText:
		problems = append(problems, Problem{"text", "must be at most 1,000 characters long"})
	}
	if r.Email != "" {
		user, host, ok := strings.Cut(r.Email, "@")
		if !ok || user == "" || host == "" || utf8.RuneCountInString(r.Email) > MaxEmail || !printable(r.Email) ||
			strings.ContainsAny(r.Email, " \t\n<>\"(),;:\\") || strings.Contains(host, "@") {
			problems = append(problems, Problem{"email", "must be an e-mail address, or empty"})
		}
	}
	return problems
}

// printable reports whether a text is valid UTF-8 without control characters, except tabs and line feeds.
func printable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\t' || r == 0x7F
	})
}
