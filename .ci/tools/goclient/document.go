package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// apiDocument has what is read of an OpenAPI document.
type apiDocument struct {
	Paths      map[string]map[string]*operation
	Components struct{ Schemas map[string]*schema }
}

type operation struct {
	OperationID, Summary, Description string
	Tags                              []string
	Deprecated                        bool
	Parameters                        []parameter
	RequestBody                       struct{ Content map[string]media }
	Responses                         map[string]struct{ Content map[string]media }
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
	Properties           map[string]*schema
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

// sorted returns the names of the members of an object.
func sorted[T any](object map[string]T) []string { return slices.Sorted(maps.Keys(object)) }

// name returns the schema to which a reference points, or "".
func (s *schema) name() string { return s.Ref[strings.LastIndex(s.Ref, "/")+1:] }

// plain returns a schema without null, and whether it can be null.
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

// fields returns the names of the properties: first those that are required, in the order in which the server declares them.
func (s *schema) fields() []string {
	rest := slices.DeleteFunc(sorted(s.Properties), func(name string) bool { return slices.Contains(s.Required, name) })
	return append(slices.Clone(s.Required), rest...)
}

// rows returns the schema of the rows if an object is a page of a list.
func (s *schema) rows() *schema {
	if s == nil || s.Properties["totalPages"] == nil || s.Properties["data"] == nil {
		return nil
	}
	return s.Properties["data"].Items
}
