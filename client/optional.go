package client

import "encoding/json"

// Optional is a field of a request that may be left out. The zero value leaves it out.
type Optional[T any] struct {
	value T
	state state
}

type state uint8

const (
	absent state = iota
	null
	present
)

// Set returns a field with a value.
func Set[T any](v T) Optional[T] { return Optional[T]{value: v, state: present} }

// Null returns a field that is sent as null. Where the API takes null, it clears the field.
func Null[T any]() Optional[T] { return Optional[T]{state: null} }

// SetOrNull returns a field with a value, or with null if v is nil. It takes what the API has answered.
func SetOrNull[T any](v *T) Optional[T] {
	if v == nil {
		return Null[T]()
	}
	return Set(*v)
}

// Get returns the value, and whether there is one: not if the field is left out or null.
func (o Optional[T]) Get() (v T, ok bool) { return o.value, o.state == present }

// IsNull tells whether the field is sent as null.
func (o Optional[T]) IsNull() bool { return o.state == null }

// IsZero tells whether the field is left out. Package encoding/json calls it.
func (o Optional[T]) IsZero() bool { return o.state == absent }

// MarshalJSON writes the value or null.
func (o Optional[T]) MarshalJSON() ([]byte, error) {
	if o.state != present {
		return []byte("null"), nil
	}
	return json.Marshal(o.value)
}

// UnmarshalJSON reads a value or null. It is not called for a field that is missing.
func (o *Optional[T]) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*o = Null[T]()
		return nil
	}
	o.state = present
	return json.Unmarshal(text, &o.value)
}
