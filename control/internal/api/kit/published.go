package kit

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/shortline/shortline/shared/each"
)

// SchemaPrefix begins the references to schemas of the document.
const SchemaPrefix = "#/components/schemas/"

// published has the schemas of a registry as the OpenAPI document shows them. The registry's own ones validate requests, and
// say less: use cases check most values, because their messages are better.
type published struct {
	huma.Registry
	schemas map[string]*huma.Schema
}

// MarshalJSON implements json.Marshaler.
func (p published) MarshalJSON() ([]byte, error) { return json.Marshal(p.schemas) }

// publish copies the schemas of a registry and adds what only their types say: see describeField.
func (k *Kit) publish(registry huma.Registry) published {
	out := published{registry, maps.Clone(k.schemas)}
	for name, schema := range registry.Map() {
		copied := copySchema(schema)
		if t := registry.TypeFromRef(SchemaPrefix + name); t != nil {
			for field, name := range fieldsOf(t, "json") {
				if copied.Properties[name] != nil {
					copied.Properties[name] = k.describeField(copied.Properties[name], field)
				}
			}
		}
		out.schemas[name] = copied
	}
	return out
}

// fieldsOf yields the fields of a struct, also those of embedded structs, with the names that a tag gives them.
func fieldsOf(t reflect.Type, tag string) func(yield func(reflect.StructField, string) bool) {
	return func(yield func(reflect.StructField, string) bool) {
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get(tag), ",")
			if name != "" && name != "-" && !yield(f, name) {
				return
			}
		}
	}
}

// describeField completes the schema of a field, which it may change, and returns it:
//
//   - A pointer is null or its value, unless the JSON leaves nil out.
//   - A field with required:"true" has a value.
//   - The tag values names a closed set of values: see Resource.Values.
//   - The tag model names another schema, which the use case checks.
//   - A field that is documented as the same as another is an alias, and deprecated.
func (k *Kit) describeField(s *huma.Schema, f reflect.StructField) *huma.Schema {
	_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	s.Deprecated = strings.HasPrefix(f.Tag.Get("doc"), "The same as ") && f.Tag.Get("json") != ""
	if model := f.Tag.Get("model"); model != "" {
		one := &huma.Schema{Ref: SchemaPrefix + model}
		if s.Type == huma.TypeArray {
			s.Items = one
		} else {
			s = &huma.Schema{Ref: one.Ref, Description: s.Description}
		}
	}
	if f.Type.Kind() == reflect.Pointer && !strings.Contains(options, "omitempty") {
		if s.Ref != "" {
			return &huma.Schema{Description: s.Description, AnyOf: []*huma.Schema{{Ref: s.Ref}, {Type: "null"}}}
		}
		s.Nullable = true
	}
	if f.Tag.Get("required") == "true" {
		s.Nullable = false
	}
	if set := f.Tag.Get("values"); set != "" {
		one := s
		if s.Type == huma.TypeArray {
			one = s.Items
		}
		if one.Enum = k.values[set]; one.Enum == nil {
			panic("BUG: no set of values " + set)
		}
	}
	if s.Nullable && s.Enum != nil {
		return nullOr(s)
	}
	return s
}

// nullOr makes null one of the forms of a closed set of values. Generators do not read null inside an enum.
func nullOr(s *huma.Schema) *huma.Schema {
	value, either := *s, *s
	value.Nullable, value.Description, value.Examples, value.Default, value.Deprecated = false, "", nil, nil, false
	either.Nullable, either.Type, either.Format, either.Enum = false, "", "", nil
	either.AnyOf = []*huma.Schema{&value, {Type: "null"}}
	return &either
}

// copySchema returns a deep copy of a schema, without what only validation needs.
func copySchema(s *huma.Schema) *huma.Schema {
	if s == nil {
		return nil
	}
	c := *s
	if c.Pattern == timePattern { // it also accepts dates and times without a zone
		c.Pattern, c.PatternDescription = "", ""
	}
	c.Items, c.Not = copySchema(s.Items), copySchema(s.Not)
	if more, ok := s.AdditionalProperties.(*huma.Schema); ok {
		c.AdditionalProperties = copySchema(more)
	}
	if s.Properties != nil {
		c.Properties = make(map[string]*huma.Schema, len(s.Properties))
		for name, property := range s.Properties {
			c.Properties[name] = copySchema(property)
		}
	}
	c.OneOf, c.AnyOf, c.AllOf = copySchemas(s.OneOf), copySchemas(s.AnyOf), copySchemas(s.AllOf)
	return &c
}

func copySchemas(list []*huma.Schema) (copies []*huma.Schema) {
	for _, s := range list {
		copies = append(copies, copySchema(s))
	}
	return copies
}

// Enum returns a closed set of values for a schema.
func Enum[T any](list ...T) []any {
	return each.Of(list, func(v T) any { return v })
}

// Schemas declares schemas that no struct has, by their names.
func (k *Kit) Schemas(list map[string]*huma.Schema) { maps.Copy(k.schemas, list) }
