package rule

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// maxNesting is the maximum nesting of brackets in the JSON of a group. It is slightly more than maxDepth needs, so
// that a group one level too deep is reported with its path. It bounds the recursion of reader.
const maxNesting = 2*maxDepth + 6

// usualKeys is the number of keys of a condition.
const usualKeys = 3

// maxKept is the number of list entries or object keys that are kept. No valid document has more.
const maxKept = maxValues + 1

type shape uint8

const (
	shapeNull shape = iota
	shapeBool
	shapeNumber
	shapeText
	shapeList
	shapeObject
)

// value is one JSON value. Objects keep the order of their keys and repeated keys.
type value struct {
	shape shape
	text  string   // unquoted text; number or bool as written
	keys  []string // keys of an object
	items []value  // entries of a list, or values of the keys
	raw   []byte   // source text
}

// readDocument parses JSON into a value. It never recurses deeper than maxNesting.
func readDocument(src []byte) (*value, error) {
	if len(src) > maxDocument {
		return nil, fmt.Errorf("must be at most %d bytes long", maxDocument)
	}
	if !json.Valid(src) {
		var ignored json.RawMessage
		err := json.Unmarshal(src, &ignored)
		if err == nil {
			panic("BUG: json.Valid and json.Unmarshal disagree")
		}
		return nil, fmt.Errorf("must be valid JSON: %w", err)
	}
	if nesting(src) > maxNesting {
		return nil, fmt.Errorf("must not be nested deeper than %d groups", maxDepth)
	}
	r := reader{src: src}
	v := r.value()
	return &v, nil
}

// nesting returns the nesting depth of brackets in valid JSON.
func nesting(src []byte) int {
	depth, deepest := 0, 0
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth--
		case '"':
			i = endOfText(src, i)
		}
	}
	return deepest
}

// endOfText returns the index of the closing quote for the opening quote at i.
func endOfText(src []byte, i int) int {
	for i++; src[i] != '"'; i++ {
		if src[i] == '\\' {
			i++
		}
	}
	return i
}

// reader reads values from valid JSON.
type reader struct {
	src []byte
	pos int
}

// next returns the next byte that is not white space without consuming it.
func (r *reader) next() byte {
	for {
		switch c := r.src[r.pos]; c {
		case ' ', '\t', '\n', '\r':
			r.pos++
		default:
			return c
		}
	}
}

func (r *reader) value() value {
	c := r.next()
	start := r.pos
	var v value
	switch c {
	case '{':
		v.shape = shapeObject
		v.keys, v.items = make([]string, 0, usualKeys), make([]value, 0, usualKeys)
		r.entries('}', func() {
			r.next()
			key := r.string()
			r.next()
			r.pos++ // skip the colon
			item := r.value()
			if len(v.keys) < maxKept {
				v.keys = append(v.keys, key)
				v.items = append(v.items, item)
			}
		})
	case '[':
		v.shape = shapeList
		v.items = make([]value, 0, 2)
		r.entries(']', func() {
			item := r.value()
			if len(v.items) < maxKept {
				v.items = append(v.items, item)
			}
		})
	case '"':
		v.shape = shapeText
		v.text = r.string()
	default:
		for r.pos < len(r.src) && bytes.IndexByte([]byte(" \t\r\n,]}"), r.src[r.pos]) < 0 {
			r.pos++
		}
		v.text = string(r.src[start:r.pos])
		switch c {
		case 'n':
			v.shape = shapeNull
		case 't', 'f':
			v.shape = shapeBool
		default:
			v.shape = shapeNumber
		}
	}
	v.raw = r.src[start:r.pos:r.pos]
	return v
}

// words are the texts that most documents consist of, apart from values. A text that is found here is not allocated again.
var words = func() map[string]string {
	all := map[string]string{}
	for _, word := range []string{"type", "operator", "value", "logicalOperator", "conditions", "items", "AND", "OR", "MOBILE",
		"DESKTOP", "TABLET"} {
		all[word] = word
	}
	for _, name := range operatorNames {
		all[name] = name
	}
	for _, k := range kinds {
		all[k.name] = k.name
	}
	return all
}()

// entries reads a comma-separated sequence that closes with end.
func (r *reader) entries(end byte, one func()) {
	r.pos++ // skip the opening bracket
	for r.next() != end {
		one()
		if r.next() == ',' {
			r.pos++
		}
	}
	r.pos++
}

func (r *reader) string() string {
	start := r.pos
	end := endOfText(r.src, start)
	r.pos = end + 1
	inner := r.src[start+1 : end]
	if word, known := words[string(inner)]; known {
		return word
	}
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner)
	}
	var s string
	if err := json.Unmarshal(r.src[start:end+1], &s); err != nil {
		panic("BUG: unquoting valid JSON text: " + err.Error())
	}
	return s
}
