package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// YAML writes JSON as YAML. The order of members stays.
func YAML(w io.Writer, raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	node, err := nodeOf(d)
	if errors.Is(err, io.EOF) {
		return nil // an empty response
	}
	if err != nil {
		return fmt.Errorf("parse the response: %w", err)
	}
	e := yaml.NewEncoder(w)
	e.SetIndent(2)
	if err := e.Encode(node); err != nil {
		return err
	}
	return e.Close()
}

// nodeOf reads the next JSON value.
func nodeOf(d *json.Decoder) (*yaml.Node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	if node := Scalar(token); node != nil {
		return node, nil
	}
	node := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	if token == json.Delim('{') {
		node.Kind, node.Tag = yaml.MappingNode, "!!map"
	}
	for d.More() {
		one, err := nodeOf(d)
		if err != nil {
			return nil, err
		}
		node.Content = append(node.Content, one)
	}
	if len(node.Content) == 0 {
		node.Style = yaml.FlowStyle // [] and {}
	}
	_, err = d.Token() // the end
	return node, err
}

// Scalar returns the YAML of a JSON value that is no object and no array, or nil for another value. Numbers are json.Number, so that
// they stay as they are written.
func Scalar(v any) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode}
	switch v := v.(type) {
	case nil:
		node.Tag, node.Value = "!!null", "null"
	case bool:
		node.Tag, node.Value = "!!bool", fmt.Sprint(v)
	case json.Number:
		if node.Tag, node.Value = "!!int", v.String(); strings.ContainsAny(node.Value, ".eE") {
			node.Tag = "!!float"
		}
	case string:
		node.SetString(v)
	default:
		return nil
	}
	return node
}

// FromYAML turns YAML, or JSON, which is YAML, into JSON.
func FromYAML(text []byte) ([]byte, error) {
	if json.Valid(text) { // numbers and texts stay as they are written
		return text, nil
	}
	var v any
	if err := yaml.Unmarshal(text, &v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}
