package kit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"github.com/shortline/shortline/control/internal/platform/problem"
)

// fieldsParam is the query parameter with the names of the fields to return.
const fieldsParam = "fields"

// selection has the names that the parameter fields can have for an endpoint.
type selection struct {
	names []string
	lists []string // names of the lists whose rows have these fields; empty if the body is the object, or a list itself
}

// selectionOf returns the selection of a response body, and nil if the body is no object and no list of objects.
func selectionOf(body reflect.Type) *selection {
	if body.Kind() == reflect.Pointer {
		body = body.Elem()
	}
	if body.Kind() == reflect.Slice {
		body = body.Elem()
	}
	if body.Kind() != reflect.Struct || body.Implements(reflect.TypeFor[json.Marshaler]()) {
		return nil
	}
	names := func(t reflect.Type) (list []string) {
		for _, name := range fieldsOf(t, "json") {
			list = append(list, name)
		}
		return list
	}
	for field, name := range fieldsOf(body, "json") {
		if name != "data" || field.Type.Kind() != reflect.Slice || field.Type.Elem().Kind() != reflect.Struct {
			continue
		}
		s := &selection{names: names(field.Type.Elem())}
		for other, alias := range fieldsOf(body, "json") {
			if other.Type == field.Type {
				s.lists = append(s.lists, alias)
			}
		}
		return s
	}
	return &selection{names: names(body)}
}

// document adds the parameter to an operation.
func (s *selection) document(op *huma.Operation) {
	op.Parameters = append(op.Parameters, &huma.Param{
		// No example: the page of the API would fill it in, and requests that are tried there would lack the other fields.
		Name: fieldsParam, In: "query", Schema: &huma.Schema{Type: huma.TypeString},
		Description: "Names of the fields to return, with commas between them; in a list, those of its rows. Without it, all. " +
			"The response then lacks the other fields, also those that its schema requires.",
	})
}

// choose reads the parameter.
func (s *selection) choose(values []string) (map[string]bool, error) {
	chosen := map[string]bool{}
	for _, value := range values {
		for name := range strings.SplitSeq(value, ",") {
			name = strings.TrimSpace(name)
			if !slices.Contains(s.names, name) {
				return nil, problem.OfField(fieldsParam, "has %q, which is not one of %s", PlainText(name), strings.Join(s.names, ", "))
			}
			chosen[name] = true
		}
	}
	return chosen, nil
}

// reduce removes the fields of a response that were not chosen.
func (s *selection) reduce(body []byte, chosen map[string]bool) ([]byte, error) {
	if len(s.lists) == 0 {
		return reduced(body, chosen)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(body, &object); err != nil {
		return nil, err
	}
	for _, list := range s.lists {
		rows, err := reduced(object[list], chosen)
		if err != nil {
			return nil, err
		}
		object[list] = rows
	}
	return json.Marshal(object)
}

// reduced returns an object, or a list of objects, with only some names.
func reduced(body []byte, names map[string]bool) ([]byte, error) {
	var rows []map[string]json.RawMessage
	list := bytes.HasPrefix(bytes.TrimSpace(body), []byte("["))
	if !list {
		rows = make([]map[string]json.RawMessage, 1)
		if err := json.Unmarshal(body, &rows[0]); err != nil || rows[0] == nil {
			return body, err
		}
	} else if err := json.Unmarshal(body, &rows); err != nil {
		return nil, err
	}
	for _, row := range rows {
		for name := range row {
			if !names[name] {
				delete(row, name)
			}
		}
	}
	if !list {
		return json.Marshal(rows[0])
	}
	return json.Marshal(rows)
}

// selectFields reduces the response to the fields that the caller names.
func (k *Kit) selectFields(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		e, res := k.endpointOf(c), c.Response()
		if e == nil || e.selects == nil || !c.QueryParams().Has(fieldsParam) {
			return next(c)
		}
		chosen, err := e.selects.choose(c.QueryParams()[fieldsParam])
		if err != nil {
			return err
		}
		whole := res.Writer
		part := &held{ResponseWriter: whole, status: http.StatusOK}
		res.Writer = part
		err = next(c)
		res.Writer = whole
		if err != nil || !res.Committed {
			return err
		}
		body := part.body.Bytes()
		if part.status == http.StatusOK {
			if body, err = e.selects.reduce(body, chosen); err != nil {
				return fmt.Errorf("select fields: %w", err)
			}
		}
		whole.Header().Del("Content-Length")
		whole.WriteHeader(part.status)
		_, err = whole.Write(body)
		return err
	}
}
