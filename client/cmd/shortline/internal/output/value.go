// Package output writes what commands have found: tables that fit the terminal, JSON, CSV, YAML, and the results of jq filters.
package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Row is an object of a response. Numbers are json.Number, so that nothing is rounded.
type Row map[string]any

// Decode parses one JSON value and keeps its numbers as they are written.
func Decode[T any](raw []byte) (v T, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// Get returns the value at a path of names, such as "overview.totalClicks", or nil.
func (r Row) Get(path string) any {
	var v any = map[string]any(r)
	for name := range strings.SplitSeq(path, ".") {
		object, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = object[name]
	}
	return v
}

// Text returns the value at a path as text. Null and missing values are "", and the items of a list are separated by commas.
func (r Row) Text(path string) string { return textOf(r.Get(path)) }

func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	case []any:
		texts := make([]string, len(v))
		for i, one := range v {
			texts[i] = textOf(one)
		}
		return strings.Join(texts, ", ")
	default:
		text, err := json.Marshal(v)
		if err != nil {
			return fmt.Sprint(v)
		}
		return string(text)
	}
}

// Int returns the value at a path as an integer, or 0.
func (r Row) Int(path string) int64 {
	n, _ := r.Get(path).(json.Number)
	f, _ := n.Float64()
	return int64(f)
}

// Float returns the value at a path as a number, or 0.
func (r Row) Float(path string) float64 {
	n, _ := r.Get(path).(json.Number)
	f, _ := n.Float64()
	return f
}

// Bool returns the value at a path, or false.
func (r Row) Bool(path string) bool {
	is, _ := r.Get(path).(bool)
	return is
}

// Rows returns the objects of the list at a path.
func (r Row) Rows(path string) []Row {
	list, _ := r.Get(path).([]any)
	rows := make([]Row, 0, len(list))
	for _, one := range list {
		if object, ok := one.(map[string]any); ok {
			rows = append(rows, object)
		}
	}
	return rows
}

// Number writes an integer with a comma between thousands.
func Number(n int64) string {
	text := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, text = "-", text[1:]
	}
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return sign + text
}

// Moment writes an instant of the API in the local time zone. A text that is no instant stays as it is.
func Moment(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return at.Local().Format("2006-01-02 15:04")
}

// Count shows the integer at a path with a comma between thousands.
func Count(path string) func(Row) string {
	return func(r Row) string {
		if r.Get(path) == nil {
			return ""
		}
		return Number(r.Int(path))
	}
}

// At shows the instant at a path in the local time zone.
func At(path string) func(Row) string { return func(r Row) string { return Moment(r.Text(path)) } }

// Percent shows the share at a path, which is already a percentage.
func Percent(path string) func(Row) string {
	return func(r Row) string { return strconv.FormatFloat(r.Float(path), 'f', 1, 64) + "%" }
}

// YesNo shows the boolean at a path.
func YesNo(path string) func(Row) string {
	return func(r Row) string {
		if r.Bool(path) {
			return "yes"
		}
		return "no"
	}
}
