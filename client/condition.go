package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Matcher is a part of the conditions of a rule: a [Condition] or a [ConditionGroup].
type Matcher interface {
	json.Marshaler
	matcher()
}

// ConditionGroup combines conditions and other groups. [And] and [Or] make one.
type ConditionGroup struct {
	Operator string    // AND or OR
	Members  []Matcher // at most eight levels
	// Logical is true if the group was read in the form with logicalOperator and items, so that it is written in the same form.
	Logical bool
}

// And is a group that matches a visitor if all members do.
func And(members ...Matcher) ConditionGroup { return ConditionGroup{Operator: "AND", Members: members} }

// Or is a group that matches a visitor if any member does.
func Or(members ...Matcher) ConditionGroup { return ConditionGroup{Operator: "OR", Members: members} }

// Condition tests one fact about a visitor. Functions such as [Country] make one.
type Condition struct {
	Type     ConditionType
	Operator Operator
	// Value is what the API has sent or takes. Texts, Span, Days, Parameter and Percent read it.
	Value json.RawMessage
}

// Operator compares what is known about a visitor with the value of a condition.
type Operator string

// Texts take the first eight. In and NotIn take a list.
const (
	Equals      Operator = "equals"
	NotEquals   Operator = "not_equals"
	Contains    Operator = "contains"
	NotContains Operator = "not_contains"
	In          Operator = "in"
	NotIn       Operator = "not_in"
	StartsWith  Operator = "starts_with"
	EndsWith    Operator = "ends_with"
	Between     Operator = "between"
	Before      Operator = "before"
	After       Operator = "after"
	LessThan    Operator = "less_than"
)

var opposites = map[Operator]Operator{
	Equals: NotEquals, NotEquals: Equals, Contains: NotContains, NotContains: Contains, In: NotIn, NotIn: In,
}

// Span is the value of a condition with a time of the day or a date. An end that is not needed is empty.
type Span struct {
	Start    string `json:"start,omitempty"` // 09:00, 2026-12-24, 2026-12-24T18:00 or 2026-12-24T18:00:00+01:00
	End      string `json:"end,omitempty"`
	Timezone string `json:"timezone,omitempty"` // such as Europe/Berlin; empty: that of the service
}

func (Condition) matcher()      {}
func (ConditionGroup) matcher() {}

// Match is a condition with any operator for texts, such as Match(ConditionTypeReferer, Contains, "news").
func Match(kind ConditionType, operator Operator, values ...string) Condition {
	if operator == In || operator == NotIn {
		return condition(kind, operator, append([]string{}, values...))
	}
	text := ""
	if len(values) > 0 {
		text = values[0]
	}
	return condition(kind, operator, text)
}

// oneOf is a condition that one of the values equals.
func oneOf(kind ConditionType, values []string) Condition {
	if len(values) == 1 {
		return Match(kind, Equals, values...)
	}
	return Match(kind, In, values...)
}

// Country tests the country by ISO 3166-1 codes such as DE.
func Country(codes ...string) Condition { return oneOf(ConditionTypeCountry, codes) }

// Continent tests the continent: AF, AN, AS, EU, NA, OC or SA.
func Continent(codes ...string) Condition { return oneOf(ConditionTypeContinent, codes) }

// Region tests the region by ISO 3166-2 codes or English names.
func Region(names ...string) Condition { return oneOf(ConditionTypeRegion, names) }

// City tests the city by English names.
func City(names ...string) Condition { return oneOf(ConditionTypeCity, names) }

// Language tests the first language of the browser, such as de-DE.
func Language(tags ...string) Condition { return oneOf(ConditionTypeLanguage, tags) }

// OnDevice tests the kind of device.
func OnDevice(devices ...Device) Condition {
	var texts []string
	for _, d := range devices {
		texts = append(texts, string(d))
	}
	return oneOf(ConditionTypeDevice, texts)
}

// OS tests the operating system, such as iOS.
func OS(names ...string) Condition { return oneOf(ConditionTypeOS, names) }

// Browser tests the browser, such as Firefox.
func Browser(names ...string) Condition { return oneOf(ConditionTypeBrowser, names) }

// UTM tests a utm parameter of the visitor's query: utm_source, utm_medium, utm_campaign, utm_term or utm_content.
func UTM(parameter string, values ...string) Condition {
	return oneOf(ConditionType(parameter), values)
}

// IP tests the address: addresses and networks such as 198.51.100.0/24.
func IP(networks ...string) Condition { return Match(ConditionTypeIP, In, networks...) }

// NewVisitor tests that the visitor comes for the first time.
func NewVisitor() Condition { return Match(ConditionTypeVisitor, Equals, "new") }

// ReturningVisitor tests that the visitor was here before.
func ReturningVisitor() Condition { return Match(ConditionTypeVisitor, Equals, "returning") }

// Percentage holds for a share of the visitors, from 0 to 100 with at most four decimals.
func Percentage(percent float64) Condition {
	return condition(ConditionTypePercentage, LessThan, percent)
}

// Query tests a parameter of the visitor's query.
func Query(name string, operator Operator, values ...string) Condition {
	value := Match(ConditionTypeQuery, operator, values...).Value
	return condition(ConditionTypeQuery, operator, parameterValue{name, value})
}

// parameterValue is the value of a condition of the type query.
type parameterValue struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

// TimeOfDay tests the time of the day, such as TimeOfDay(Between, Span{Start: "09:00", End: "18:00", Timezone: "Europe/Berlin"}).
func TimeOfDay(operator Operator, span Span) Condition {
	return condition(ConditionTypeTime, operator, span)
}

// Date tests the date, such as Date(After, Span{Start: "2026-12-24", Timezone: "Europe/Berlin"}). Before needs End or Start.
func Date(operator Operator, span Span) Condition {
	return condition(ConditionTypeDate, operator, span)
}

// Weekdays tests the day of the week in a time zone; "" is that of the service.
func Weekdays(timezone string, days ...time.Weekday) Condition {
	numbers := []int{}
	for _, day := range days {
		numbers = append(numbers, (int(day)+6)%7+1) // Monday is 1, Sunday 7
	}
	if timezone == "" {
		return condition(ConditionTypeDayOfWeek, In, numbers)
	}
	return condition(ConditionTypeDayOfWeek, In, daysValue{numbers, timezone})
}

// daysValue is the value of a condition of the type day_of_week with a time zone.
type daysValue struct {
	Days     []int  `json:"days"`
	Timezone string `json:"timezone,omitempty"`
}

func condition(kind ConditionType, operator Operator, value any) Condition {
	text, err := json.Marshal(value)
	if err != nil {
		text = []byte("null") // a number that is not finite; the API refuses null
	}
	return Condition{Type: kind, Operator: operator, Value: text}
}

// Not returns the condition with the opposite operator. Conditions of time, date and percentage have none, and are returned unchanged;
// of those, use Before instead of After.
func (c Condition) Not() Condition {
	if opposite := opposites[c.Operator]; opposite != "" {
		c.Operator = opposite
	}
	return c
}

// Texts returns the values of a condition that compares texts, also those of a parameter of the query; nil for other conditions.
func (c Condition) Texts() []string {
	value := c.Value
	if c.Type == ConditionTypeQuery {
		var p parameterValue
		if json.Unmarshal(value, &p) != nil {
			return nil
		}
		value = p.Value
	}
	var text string
	var texts []string
	if json.Unmarshal(value, &text) == nil {
		return []string{text}
	}
	if json.Unmarshal(value, &texts) != nil {
		return nil
	}
	return texts
}

// Parameter returns the name of the parameter that a condition of the type query tests.
func (c Condition) Parameter() string {
	var p parameterValue
	if json.Unmarshal(c.Value, &p) != nil {
		return ""
	}
	return p.Name
}

// Span returns the value of a condition with a time of the day or a date. A single value, which before and after can have, is its Start.
func (c Condition) Span() Span {
	var span Span
	if json.Unmarshal(c.Value, &span.Start) != nil {
		_ = json.Unmarshal(c.Value, &span) // of another type: there is no span
	}
	return span
}

// Days returns the days and the time zone of a condition with days of the week.
func (c Condition) Days() (days []time.Weekday, timezone string) {
	var value daysValue
	var day int
	switch {
	case c.Type != ConditionTypeDayOfWeek:
		return nil, ""
	case json.Unmarshal(c.Value, &day) == nil:
		value.Days = []int{day}
	case json.Unmarshal(c.Value, &value.Days) == nil:
	case json.Unmarshal(c.Value, &value) != nil:
		return nil, ""
	}
	for _, day := range value.Days {
		days = append(days, time.Weekday(day%7))
	}
	return days, value.Timezone
}

// Percent returns the value of a condition of the type percentage.
func (c Condition) Percent() float64 {
	percent, err := strconv.ParseFloat(string(bytes.TrimSpace(c.Value)), 64)
	if err != nil {
		return 0
	}
	return percent
}

// writtenCondition is a condition in JSON.
type writtenCondition struct {
	Type     ConditionType   `json:"type"`
	Operator Operator        `json:"operator"`
	Value    json.RawMessage `json:"value"`
}

// writtenGroup is a group in JSON, in one of its two forms.
type writtenGroup[T any] struct {
	Operator        string `json:"operator,omitempty"`
	Conditions      []T    `json:"conditions,omitzero"`
	LogicalOperator string `json:"logicalOperator,omitempty"`
	Items           []T    `json:"items,omitzero"`
}

// MarshalJSON writes what the API takes.
func (c Condition) MarshalJSON() ([]byte, error) { return json.Marshal(writtenCondition(c)) }

// UnmarshalJSON reads what the API sends.
func (c *Condition) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, (*writtenCondition)(c))
}

// MarshalJSON writes the group in the form in which it was read.
func (g ConditionGroup) MarshalJSON() ([]byte, error) {
	members := append([]Matcher{}, g.Members...)
	if g.Logical {
		return json.Marshal(writtenGroup[Matcher]{LogicalOperator: g.Operator, Items: members})
	}
	return json.Marshal(writtenGroup[Matcher]{Operator: g.Operator, Conditions: members})
}

// UnmarshalJSON reads both forms of a group.
func (g *ConditionGroup) UnmarshalJSON(text []byte) error {
	var written writtenGroup[json.RawMessage]
	if err := json.Unmarshal(text, &written); err != nil {
		return err
	}
	*g = ConditionGroup{Operator: written.Operator}
	members := written.Conditions
	if written.LogicalOperator != "" {
		g.Logical, g.Operator, members = true, written.LogicalOperator, written.Items
	}
	if g.Operator == "" {
		return errors.New("a group of conditions needs operator or logicalOperator")
	}
	for i, member := range members {
		m, err := readMember(member)
		if err != nil {
			return fmt.Errorf("condition %d: %w", i+1, err)
		}
		g.Members = append(g.Members, m)
	}
	return nil
}

// readMember reads a condition, which has a type, or a group, which has none.
func readMember(text []byte) (Matcher, error) {
	var c Condition
	if err := json.Unmarshal(text, &c); err == nil && c.Type != "" {
		return c, nil
	}
	var g ConditionGroup
	if err := json.Unmarshal(text, &g); err != nil {
		return nil, err
	}
	return g, nil
}
