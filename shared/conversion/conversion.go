package conversion

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/currency"

	"github.com/shortline/shortline/shared/click"
)

// Limits of input.
const (
	MaxItems      = 1000 // in one request
	MaxGoals      = 50   // names per link
	MaxName       = 64   // characters
	MaxExternalID = 128  // characters
	// MaxValue is the largest value, in units of a currency.
	MaxValue = 1_000_000_000
	// ValueScale is the number of parts of a unit in which values are stored and added, so that sums are exact.
	ValueScale = 10_000
	// Ahead is how far a time may be in the future, or before the click, because clocks differ.
	Ahead = 5 * time.Minute
)

// Verdict tells what becomes of a conversion. Verdicts are part of the API.
type Verdict string

// The verdicts.
const (
	Accepted     Verdict = "accepted"
	Duplicate    Verdict = "duplicate"      // it was accepted before, so it does not count again
	Invalid      Verdict = "invalid"        // a field is missing or wrong; the message names it
	Malformed    Verdict = "malformed"      // the click id does not have the form of one
	Forged       Verdict = "forged"         // the click id was not made by this installation, or was altered
	Foreign      Verdict = "foreign"        // the click belongs to another workspace
	Expired      Verdict = "expired"        // the click is older than CONVERSION_WINDOW
	BeforeClick  Verdict = "before_click"   // occurredAt is before the click
	InFuture     Verdict = "in_future"      // occurredAt, or the click, is in the future
	TooManyGoals Verdict = "too_many_goals" // the link has MaxGoals other names already
)

// Item is one conversion as shops send it.
type Item struct {
	ClickID    string          `json:"clickId"`
	Name       string          `json:"name"`
	Value      json.RawMessage `json:"value,omitempty"` // a number with at most four decimals; nil or null: none
	Currency   string          `json:"currency,omitempty"`
	ExternalID string          `json:"externalId,omitempty"`
	OccurredAt string          `json:"occurredAt,omitempty"` // RFC 3339; "": now
	// Repeatable counts the name again for the same click. It needs an ExternalID, which then makes the conversion unique.
	Repeatable bool `json:"repeatable,omitempty"`
}

// Conversion is an accepted Item.
type Conversion struct {
	Click      ClickID `json:"-"`
	Workspace  uint64  `json:"w"`           // that sent it
	Name       string  `json:"n"`           // of the goal
	Value      int64   `json:"v,omitempty"` // in 1/ValueScale of the currency's unit
	Currency   string  `json:"c,omitempty"` // ISO 4217; "": the conversion has no value, or one without a currency
	ExternalID string  `json:"e,omitempty"`
	Repeatable bool    `json:"r,omitempty"`
	OccurredAt int64   `json:"o"`           // Unix milliseconds
	ReceivedAt int64   `json:"a"`           // Unix milliseconds, by the clock of the receiver
	Browser    bool    `json:"b,omitempty"` // sent by a browser to an edge
}

// Once returns what makes the conversion unique together with its click and its name: the first one counts.
func (c *Conversion) Once() string {
	if c.Repeatable {
		return c.ExternalID
	}
	return ""
}

// Problem is why an Item was not accepted. Field is "" if no single field is to blame.
type Problem struct {
	Verdict        Verdict
	Field, Message string
}

func (p *Problem) Error() string { return p.Field + ": " + p.Message }

var nameForm = regexp.MustCompile(`^[\pL\pN_][\pL\pN _.:/-]*$`)

// ValidName reports whether a goal can have the name.
func ValidName(name string) bool {
	return utf8.RuneCountInString(name) <= MaxName && nameForm.MatchString(name)
}

// Checker accepts items. Its fields must not change while it is used.
type Checker struct {
	Keys   *Keys
	Window time.Duration // age of a click up to which conversions count
	Now    time.Time
}

// Check returns the conversion of an item, without a workspace, or the problem.
func (ck Checker) Check(it *Item) (c Conversion, p *Problem) {
	refuse := func(v Verdict, field, format string, args ...any) (Conversion, *Problem) {
		return Conversion{}, &Problem{v, field, fmt.Sprintf(format, args...)}
	}
	now := ck.Now.UnixMilli()
	c = Conversion{Name: it.Name, ExternalID: it.ExternalID, Repeatable: it.Repeatable, OccurredAt: now, ReceivedAt: now}
	switch {
	case it.ClickID == "":
		return refuse(Invalid, "clickId", "is required")
	case it.Name == "":
		return refuse(Invalid, "name", "is required")
	case !ValidName(it.Name):
		return refuse(Invalid, "name", "must have at most %d letters, digits, spaces and . _ : / -", MaxName)
	case utf8.RuneCountInString(it.ExternalID) > MaxExternalID || strings.ContainsFunc(it.ExternalID, unicode.IsControl) ||
		!utf8.ValidString(it.ExternalID):
		return refuse(Invalid, "externalId", "must have at most %d characters, without control characters", MaxExternalID)
	case it.Repeatable && it.ExternalID == "":
		return refuse(Invalid, "externalId", "is required with repeatable")
	}
	var err error
	if c.Value, err = ParseValue(it.Value); err != nil {
		return refuse(Invalid, "value", "%s", err)
	}
	if it.Currency != "" {
		unit, err := currency.ParseISO(it.Currency)
		if err != nil || len(it.Currency) != 3 {
			return refuse(Invalid, "currency", "must be an ISO 4217 code such as EUR")
		}
		c.Currency = unit.String()
	}
	if it.OccurredAt != "" {
		at, err := time.Parse(time.RFC3339Nano, it.OccurredAt)
		if err != nil {
			return refuse(Invalid, "occurredAt", "must be a time such as 2026-01-31T12:00:00Z")
		}
		c.OccurredAt = at.UnixMilli()
	}
	id, v := ck.Keys.ParseID(it.ClickID)
	switch {
	case v == Malformed:
		return refuse(v, "clickId", "is not a click id")
	case v == Forged:
		return refuse(v, "clickId", "was not made by this installation, was altered, or is too old")
	case id.Time > now+Ahead.Milliseconds():
		return refuse(InFuture, "clickId", "is of a click in the future")
	case c.OccurredAt > now+Ahead.Milliseconds():
		return refuse(InFuture, "occurredAt", "is in the future")
	case c.OccurredAt < id.Time-Ahead.Milliseconds():
		return refuse(BeforeClick, "occurredAt", "is before the click")
	case max(c.OccurredAt, id.Time)-id.Time > ck.Window.Milliseconds() || now-id.Time > ck.Window.Milliseconds()+KeyPeriod.Milliseconds():
		return refuse(Expired, "clickId", "is of a click more than %d days before the conversion", int(ck.Window.Hours()/24))
	}
	c.Click = id
	return c, nil
}

// ParseValue reads a JSON number with at most four decimals as parts of ValueScale. It does not use floating point, so that
// sums are exact. Absent and null are 0.
func ParseValue(raw json.RawMessage) (int64, error) {
	text := string(raw)
	if text == "" || text == "null" {
		return 0, nil
	}
	whole, decimals, dotted := strings.Cut(text, ".")
	if strings.HasPrefix(text, "-") {
		return 0, errors.New("must not be negative")
	}
	if !digits(whole) || dotted && !digits(decimals) {
		return 0, errors.New("must be a plain number such as 49.90, without quotes and exponents")
	}
	if dotted {
		decimals = strings.TrimRight(decimals, "0")
	}
	if len(decimals) > 4 {
		return 0, errors.New("must have at most four decimals")
	}
	if len(whole) > len("1000000000") {
		return 0, fmt.Errorf("must be at most %d", MaxValue)
	}
	n := int64(0)
	for _, d := range whole + decimals + strings.Repeat("0", 4-len(decimals)) {
		n = n*10 + int64(d-'0')
	}
	if n > MaxValue*ValueScale {
		return 0, fmt.Errorf("must be at most %d", MaxValue)
	}
	return n, nil
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// record is the JSON form of a Conversion in a click.Event.
type record struct {
	*Conversion
	Link uint64 `json:"l"`
	Time int64  `json:"t"`
	Tag  uint64 `json:"g"`
}

// Event returns the record of the conversion for spools and queues.
func (c *Conversion) Event() click.Event {
	b, err := json.Marshal(record{c, c.Click.Link, c.Click.Time, c.Click.Tag})
	if err != nil || len(b) > click.MaxConversion {
		panic(fmt.Sprintf("BUG: conversion: a record of %d bytes: %v", len(b), err))
	}
	return click.Event{Time: c.ReceivedAt, Owner: c.Workspace, Conversion: string(b)}
}

// FromEvent reads the record of a conversion. The error wraps click.ErrCorrupt.
func FromEvent(e *click.Event) (c Conversion, err error) {
	r := record{Conversion: &c}
	if err := json.Unmarshal([]byte(e.Conversion), &r); err != nil {
		return Conversion{}, fmt.Errorf("%w: a conversion: %w", click.ErrCorrupt, err)
	}
	c.Click = ClickID{r.Link, r.Time, r.Tag}
	return c, nil
}
