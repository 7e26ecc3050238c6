package kit

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Opt is a field of a partial update. It distinguishes leaving a field out, clearing it and setting it. In JSON both
// null and "" clear a field. A minLength in the schema would reject "", so use cases check lower bounds. Tag the field
// `json:"name,omitempty"` to make it optional.
type Opt[T any] struct {
	Set   bool // the field was present
	Null  bool // the field was null or ""
	Value T    // otherwise its value
}

// UnmarshalJSON is called only if the field is present.
func (o *Opt[T]) UnmarshalJSON(b []byte) error {
	o.Set = true
	if o.Null = bytes.Equal(b, []byte("null")) || bytes.Equal(b, []byte(`""`)); o.Null {
		return nil
	}
	number := reflect.ValueOf(&o.Value).Elem()
	if number.CanInt() && number.Type().PkgPath() == "" {
		// JSON Schema accepts 1e2 as an integer, but encoding/json does not. A value that is too large stays too
		// large, so that the use case reports it with the other problems.
		var f float64
		if err := json.Unmarshal(b, &f); err == nil && f == math.Trunc(f) {
			number.SetInt(int64(max(-1<<53, min(1<<53, f))))
			return nil
		}
	}
	return json.Unmarshal(b, &o.Value)
}

// MarshalJSON writes the value that was read.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	if !o.Set || o.Null {
		return []byte("null"), nil
	}
	return json.Marshal(o.Value)
}

// Schema returns the schema of T, made nullable.
func (o Opt[T]) Schema(r huma.Registry) *huma.Schema {
	s := r.Schema(reflect.TypeFor[T](), true, "")
	if s.Ref != "" {
		return s
	}
	copied := *s
	copied.Nullable = true
	copied.PrecomputeMessages()
	return &copied
}

// Pointer returns nil for null, otherwise the value. Check Set first.
func (o Opt[T]) Pointer() *T {
	if !o.Set || o.Null {
		return nil
	}
	v := o.Value
	return &v
}

// Given converts an optional field for a use case: nil if it was left out, cleared if it was null or "", otherwise its
// value.
func Given[T any](o Opt[T], cleared T) *T {
	switch {
	case !o.Set:
		return nil
	case o.Null:
		return &cleared
	}
	return &o.Value
}
