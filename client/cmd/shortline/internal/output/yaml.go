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
	switch v := token.(type) {
	case nil:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: fmt.Sprint(v)}, nil
	case json.Number:
		tag := "!!int"
		if strings.ContainsAny(v.String(), ".eE") {
			tag = "!!float"
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: v.String()}, nil
	case string:
		node := &yaml.Node{}
		node.SetString(v)
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
