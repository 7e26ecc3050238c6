package api

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Opt is a field of a partial update, where leaving a field out, clearing it and setting it are three things.
// In JSON both null and "" clear; a schema's minLength would refuse "", so leave lower bounds to the use case.
// Give the field `json:"name,omitempty"`, so that it is not required.
type Opt[T any] struct {
	Set   bool // the field was there
	Null  bool // and it was null or ""
	Value T    // what it was otherwise
}

// UnmarshalJSON is called only when the field is there.
func (o *Opt[T]) UnmarshalJSON(b []byte) error {
	o.Set = true
	if o.Null = bytes.Equal(b, []byte("null")) || bytes.Equal(b, []byte(`""`)); o.Null {
		return nil
	}
	if n, ok := any(&o.Value).(*int); ok {
		// 1e2 is an integer to a schema, but not to encoding/json. What is too large stays so, for the use case to
		// name it among the other problems.
		var f float64
		if err := json.Unmarshal(b, &f); err == nil && f == math.Trunc(f) {
			*n = int(max(-1<<53, min(1<<53, f)))
			return nil
		}
	}
	return json.Unmarshal(b, &o.Value)
}

// MarshalJSON writes what was read.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	if !o.Set || o.Null {
		return []byte("null"), nil
	}
	return json.Marshal(o.Value)
}

// Schema is that of T, or null.
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

// Pointer is nil for null and the value otherwise. Ask Set first.
func (o Opt[T]) Pointer() *T {
	if !o.Set || o.Null {
		return nil
	}
	v := o.Value
	return &v
}
