package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// apiDocument has what is read of an OpenAPI document.
type apiDocument struct {
	Paths      ordered[ordered[*operation]]
	Components struct{ Schemas ordered[*schema] }
}

type operation struct {
	OperationID, Summary, Description string
	Tags                              []string
	Deprecated                        bool
	Parameters                        []parameter
	RequestBody                       struct{ Content ordered[media] }
	Responses                         ordered[struct{ Content ordered[media] }]
}

type parameter struct {
	Name, In, Description string
	Explode               bool
	Schema                *schema
}

type media struct{ Schema *schema }

type schema struct {
	Ref                  string `json:"$ref"`
	Type                 types
	Format, Description  string
	Enum                 []any
	Items                *schema
	Properties           ordered[*schema]
	Required             []string
	AnyOf, OneOf         []*schema
	AdditionalProperties json.RawMessage
	Minimum              *float64
	Deprecated           bool
}

// types are one type or several.
type types []string

func (t *types) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		*t = types{""}
		return json.Unmarshal(text, &(*t)[0])
	}
	return json.Unmarshal(text, (*[]string)(t))
}

// ordered is an object whose members keep their order.
type ordered[T any] struct {
	names []string
	byKey map[string]T
}

func (o *ordered[T]) UnmarshalJSON(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	if _, err := dec.Token(); err != nil {
		return err
	}
	o.byKey = map[string]T{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		name, ok := key.(string)
		if !ok {
			return fmt.Errorf("%v is not the name of a member", key)
		}
		var v T
		if err := dec.Decode(&v); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		o.names, o.byKey[name] = append(o.names, name), v
	}
	return nil
}

// name returns the schema to which a reference points, or "".
func (s *schema) name() string { return s.Ref[strings.LastIndex(s.Ref, "/")+1:] }

// plain returns what a schema is besides null, and whether it can be null.
func (s *schema) plain() (what *schema, null bool) {
	if s.Ref == "" && slices.Contains(s.Type, "null") && len(s.Type) > 1 {
		c := *s
		c.Type = slices.DeleteFunc(slices.Clone(s.Type), func(t string) bool { return t == "null" })
		return &c, true
	}
	if len(s.AnyOf) == 2 && slices.Contains(s.AnyOf[1].Type, "null") {
		return s.AnyOf[0], true
	}
	return s, false
}

func (s *schema) is(kind string) bool { return len(s.Type) == 1 && s.Type[0] == kind }

// rows returns the schema of the rows if an object is a page of a list.
func (s *schema) rows() *schema {
	if s == nil || s.Properties.byKey["totalPages"] == nil || s.Properties.byKey["data"] == nil {
		return nil
	}
	return s.Properties.byKey["data"].Items
}
