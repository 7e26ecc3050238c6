package ascode

import (
	"bytes"
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/shortline/shortline/client/cmd/shortline/internal/output"
)

// ordered is a mapping whose members keep their order.
type ordered []member

type member struct {
	key   string
	value any
}

func (o ordered) get(key string) any {
	for _, one := range o {
		if one.key == key {
			return one.value
		}
	}
	return nil
}

// MarshalYAML implements yaml.Marshaler.
func (o ordered) MarshalYAML() (any, error) { return nodeOf(o) }

func nodeOf(v any) (*yaml.Node, error) {
	switch v := v.(type) {
	case ordered:
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, one := range v {
			value, err := nodeOf(one.value)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, output.Scalar(one.key), value)
		}
		return n, nil
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		flow := len(v) == 0
		for i, one := range v {
			value, err := nodeOf(one)
			if err != nil {
				return nil, err
			}
			flow = (flow || i == 0) && value.Kind == yaml.ScalarNode
			n.Content = append(n.Content, value)
		}
		if flow {
			n.Style = yaml.FlowStyle
		}
		return n, nil
	}
	if n := output.Scalar(v); n != nil {
		return n, nil
	}
	n := &yaml.Node{}
	if err := n.Encode(v); err != nil {
		return nil, fmt.Errorf("write YAML: %w", err)
	}
	return n, nil
}

// fromJSON reads JSON and keeps the order of members and the text of numbers.
func fromJSON(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return nextValue(d)
}

func nextValue(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	switch token {
	case json.Delim('{'):
		out := ordered{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, fmt.Errorf("read JSON: %w", err)
			}
			value, err := nextValue(d)
			if err != nil {
				return nil, err
			}
			out = append(out, member{key.(string), value})
		}
		_, err = d.Token()
		return out, err
	case json.Delim('['):
		out := []any{}
		for d.More() {
			value, err := nextValue(d)
			if err != nil {
				return nil, err
			}
			out = append(out, value)
		}
		_, err = d.Token()
		return out, err
	}
	return token, nil
}
