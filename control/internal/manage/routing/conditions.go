package routing

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
)

// ShownConditions returns authored conditions in the form of the document. Authors may write names in any case, and numbers as
// text.
func ShownConditions(authored string) json.RawMessage {
	var v any
	d := json.NewDecoder(strings.NewReader(authored))
	d.UseNumber() // keeps the digits
	if err := d.Decode(&v); err != nil || !tidyCondition(v) {
		return json.RawMessage(authored)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return json.RawMessage(authored)
	}
	return bytes.TrimSpace(b.Bytes())
}

// tidyCondition rewrites a condition or a group, and reports whether that has changed it.
func tidyCondition(v any) (changed bool) {
	c, _ := v.(map[string]any)
	spell := func(key string, in func(string) string) {
		if name, ok := c[key].(string); ok && in(strings.TrimSpace(name)) != name {
			c[key], changed = in(strings.TrimSpace(name)), true
		}
	}
	group := false
	for _, key := range []string{"conditions", "items"} {
		members, ok := c[key].([]any)
		group = group || ok
		for _, one := range members {
			changed = tidyCondition(one) || changed
		}
	}
	if group {
		spell("operator", strings.ToUpper)
		spell("logicalOperator", strings.ToUpper)
		return changed
	}
	spell("type", strings.ToLower)
	spell("operator", strings.ToLower)
	if of := c["type"]; of == "percentage" || of == "day_of_week" {
		var tidied bool
		c["value"], tidied = numbers(c["value"], of == "day_of_week")
		changed = changed || tidied
	}
	return changed
}

// numbers returns a value with its texts as numbers. Among days, 0 is another number of Sunday.
func numbers(v any, days bool) (tidied any, changed bool) {
	switch v := v.(type) {
	case string:
		tidied, _ = numbers(json.Number(strings.TrimSpace(v)), days)
		return tidied, true
	case json.Number:
		if days && v == "0" {
			return json.Number("7"), true
		}
	case []any:
		for i := range v {
			var one bool
			v[i], one = numbers(v[i], days)
			changed = changed || one
		}
	case map[string]any: // {days, timezone}
		v["days"], changed = numbers(v["days"], days)
	}
	return v, changed
}

// sameConditions reports whether two groups say the same in the form of the document, whatever the order of their members.
func sameConditions(a, b string) bool {
	if a == b {
		return true
	}
	var x, y any
	for _, one := range []struct {
		text string
		into *any
	}{{a, &x}, {b, &y}} {
		d := json.NewDecoder(strings.NewReader(one.text))
		d.UseNumber()
		if d.Decode(one.into) != nil {
			return false
		}
		tidyCondition(*one.into)
	}
	return reflect.DeepEqual(x, y)
}
