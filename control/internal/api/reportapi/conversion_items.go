package reportapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"slices"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/shared/conversion"
)

// ndjson is the media type of one JSON object per line.
const ndjson = "application/x-ndjson"

// readItems reads the items of a request body: one object, an array, {"items": […]}, or lines. Its error names the item and
// the field.
func readItems(body []byte, contentType string) ([]conversion.Item, error) {
	media := "application/json"
	if contentType != "" {
		var err error
		if media, _, err = mime.ParseMediaType(contentType); err != nil || media != "application/json" && media != ndjson {
			return nil, kit.NewAnswer(415, "The request body must be JSON (Content-Type: application/json) or lines of JSON ("+ndjson+").")
		}
	}
	body = bytes.TrimSpace(bytes.ToValidUTF8(body, []byte("\uFFFD")))
	if depth, values := kit.Extent(body); depth > kit.MaxDepth || values > kit.MaxValues {
		return nil, problem.New(problem.Invalid, "The request body is nested too deeply, or holds too many values.")
	}
	if media == ndjson {
		return readLines(body)
	}
	var syntax *json.SyntaxError
	if err := json.Unmarshal(body, new(json.RawMessage)); errors.As(err, &syntax) {
		return nil, problem.New(problem.Invalid, "The request body is not valid JSON (at byte %d).", syntax.Offset)
	}
	var v problem.Fields
	list := []json.RawMessage{body}
	single := false
	switch {
	case len(body) > 0 && body[0] == '[':
		if err := json.Unmarshal(body, &list); err != nil {
			return nil, problem.New(problem.Invalid, "The request body is not a list of JSON objects.")
		}
	default:
		var object map[string]json.RawMessage
		if err := json.Unmarshal(body, &object); err != nil || object == nil {
			return nil, problem.New(problem.Invalid, "The request body must be a JSON object or an array of objects.")
		}
		items, many := object["items"]
		if !many {
			single = true
			break
		}
		delete(object, "items")
		for _, name := range slices.Sorted(maps.Keys(object)) {
			v.Add(name, "is not a known property")
		}
		if err := json.Unmarshal(items, &list); err != nil || list == nil {
			v.Add("items", "must be an array")
			return nil, v.Err()
		}
	}
	return parseItems(v, list, single)
}

// readLines reads one item from each line that is not empty.
func readLines(body []byte) ([]conversion.Item, error) {
	var list []json.RawMessage
	number := 0
	for line := range bytes.Lines(body) {
		number++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if !json.Valid(line) {
			return nil, problem.OfField(fmt.Sprintf("items.%d", len(list)), "is not valid JSON (line %d)", number)
		}
		list = append(list, line)
	}
	return parseItems(nil, list, false)
}

// parseItems reads valid JSON as items, and adds what is wrong with them to the problems of the body. single names fields without the
// place of the item.
func parseItems(v problem.Fields, list []json.RawMessage, single bool) ([]conversion.Item, error) {
	if len(list) == 0 || len(list) > conversion.MaxItems {
		v.Add("items", "must have 1 to %d items", conversion.MaxItems)
		return nil, v.Err()
	}
	items := make([]conversion.Item, len(list))
	for i, raw := range list {
		prefix := fmt.Sprintf("items.%d", i)
		if single {
			prefix = ""
		}
		if parseItem(&v, prefix, raw, &items[i]); len(v) >= kit.MaxProblems {
			break
		}
	}
	return items, v.Err()
}

func parseItem(v *problem.Fields, prefix string, raw json.RawMessage, to *conversion.Item) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil || object == nil {
		v.Add(prefix, "must be an object")
		return
	}
	path := func(name string) string {
		if prefix == "" {
			return kit.PlainText(name)
		}
		return prefix + "." + kit.PlainText(name)
	}
	texts := map[string]*string{"clickId": &to.ClickID, "name": &to.Name, "currency": &to.Currency, "externalId": &to.ExternalID,
		"occurredAt": &to.OccurredAt}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		value := object[name]
		switch text := texts[name]; {
		case text != nil:
			if err := json.Unmarshal(value, text); err != nil {
				v.Add(path(name), "must be a string")
			}
		case name == "value":
			to.Value = value
		case name == "repeatable":
			if err := json.Unmarshal(value, &to.Repeatable); err != nil {
				v.Add(path(name), "must be true or false")
			}
		default:
			v.Add(path(name), "is not a known property")
		}
	}
}
