package ascode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/shortline/shortline/client/cmd/shortline/internal/refs"
)

// The limits of a file. Aliases count each time they are used, so a small file cannot stand for a large one.
const (
	mostBytes = 64 << 20
	mostNodes = 4_000_000
	mostDepth = 40
)

// place is where something stands in a file.
type place struct {
	file         string
	line, column int
}

// String returns file:line:column.
func (p place) String() string { return fmt.Sprintf("%s:%d:%d", p.file, p.line, p.column) }

// reader reads the nodes of a file strictly, and collects its problems.
type reader struct {
	file     string
	nodes    int
	problems []error
}

func (r *reader) at(n *yaml.Node) place { return place{r.file, n.Line, n.Column} }

func (r *reader) reject(n *yaml.Node, format string, args ...any) {
	r.problems = append(r.problems, fmt.Errorf("%s: %w", r.at(n), fmt.Errorf(format, args...)))
}

// parse returns the only document of a file.
func (r *reader) parse(text []byte) (*yaml.Node, error) {
	if len(text) > mostBytes {
		return nil, fmt.Errorf("%s has more than %d MiB", r.file, mostBytes>>20)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	var document, second yaml.Node
	if err := d.Decode(&document); errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s is empty", r.file)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %s", r.file, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := d.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s has more than one document", r.file)
	}
	return r.plain(document.Content[0], 0)
}

// plain returns a node without aliases and merge keys. It fails if they make the file too large.
func (r *reader) plain(n *yaml.Node, depth int) (*yaml.Node, error) {
	if r.nodes++; r.nodes > mostNodes {
		return nil, fmt.Errorf("%s: the file stands for more than %d values, with its aliases", r.at(n), mostNodes)
	}
	if depth > mostDepth {
		return nil, fmt.Errorf("%s: more than %d levels", r.at(n), mostDepth)
	}
	if n.Kind == yaml.AliasNode {
		return r.plain(n.Alias, depth+1)
	}
	if len(n.Content) == 0 {
		return n, nil
	}
	out := *n
	out.Content = make([]*yaml.Node, 0, len(n.Content))
	for i, one := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].Tag == "!!merge" {
			continue // merged below
		}
		if n.Kind == yaml.MappingNode && i%2 == 0 && one.Tag == "!!merge" {
			continue
		}
		plain, err := r.plain(one, depth+1)
		if err != nil {
			return nil, err
		}
		out.Content = append(out.Content, plain)
	}
	if n.Kind == yaml.MappingNode && len(out.Content) < len(n.Content) {
		return &out, r.merge(&out, n, depth)
	}
	return &out, nil
}

// merge adds the members of merge keys (<<) that the mapping does not have itself.
func (r *reader) merge(out, n *yaml.Node, depth int) error {
	has := map[string]bool{}
	for i := 0; i < len(out.Content); i += 2 {
		has[out.Content[i].Value] = true
	}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Tag != "!!merge" {
			continue
		}
		from, err := r.plain(n.Content[i+1], depth+1)
		if err != nil {
			return err
		}
		list := []*yaml.Node{from}
		if from.Kind == yaml.SequenceNode {
			list = from.Content
		}
		for _, one := range list {
			if one.Kind != yaml.MappingNode {
				return fmt.Errorf("%s: << needs a mapping", r.at(n.Content[i]))
			}
			for j := 0; j < len(one.Content); j += 2 {
				if key := one.Content[j]; !has[key.Value] {
					has[key.Value] = true
					out.Content = append(out.Content, key, one.Content[j+1])
				}
			}
		}
	}
	return nil
}

// members calls use with each member of a mapping. Unknown and repeated keys are problems.
func (r *reader) members(n *yaml.Node, what string, known []string, use func(key string, value *yaml.Node)) bool {
	if n.Kind != yaml.MappingNode {
		r.reject(n, "%s must be a mapping, such as %s: …", what, known[0])
		return false
	}
	first := map[string]*yaml.Node{}
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if before := first[key.Value]; before != nil {
			r.reject(key, "%q stands here twice; the first is in line %d", key.Value, before.Line)
			continue
		}
		first[key.Value] = key
		if !has(known, key.Value) {
			r.reject(key, "%s has no %q%s", what, key.Value, refs.Like(key.Value, known))
			continue
		}
		use(key.Value, n.Content[i+1])
	}
	return true
}

func has(list []string, one string) bool {
	for _, known := range list {
		if known == one {
			return true
		}
	}
	return false
}

// elements returns the elements of a sequence.
func (r *reader) elements(n *yaml.Node, what string) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		if !isNull(n) {
			r.reject(n, "%s must be a list", what)
		}
		return nil
	}
	return n.Content
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// text reads a text. Numbers and times without quotes are texts as they are written.
func (r *reader) scalar(n *yaml.Node, what string) string {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" || n.Tag == "!!bool" {
		r.reject(n, "%s must be a text", what)
		return ""
	}
	return n.Value
}

func (r *reader) number(n *yaml.Node, what string) int {
	v, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || err != nil {
		r.reject(n, "%s must be a whole number", what)
	}
	return v
}

func (r *reader) boolean(n *yaml.Node, what string) bool {
	var v bool
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" || n.Decode(&v) != nil {
		r.reject(n, "%s must be true or false", what)
	}
	return v
}

func (r *reader) texts(n *yaml.Node, what string) []string {
	out := []string{}
	for _, one := range r.elements(n, what) {
		out = append(out, r.scalar(one, "an element of "+what))
	}
	return out
}
