package imports

import (
	"encoding/json"
	"slices"
	"strings"
)

// tagSeparators separate names of tags in the cells of some service.
const tagSeparators = ",;|"

// JoinTags writes names of tags into a cell from which an import reads the same names: separated by commas, or as a JSON array
// if a name could be taken for several ones.
func JoinTags(names []string) string {
	cell := strings.Join(names, ", ")
	separated := func(name string) bool { return strings.ContainsAny(name, tagSeparators) }
	if !slices.ContainsFunc(names, separated) && !strings.HasPrefix(cell, "[") {
		return cell
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(names) // texts can be encoded
	return strings.TrimSuffix(b.String(), "\n")
}

// setTags reads a JSON array, or names with one separator: that of the file, or else the semicolon if there is one, or else the
// comma. It warns of names that could have been several ones.
func setTags(cell string, to *record) string {
	if strings.HasPrefix(cell, "[") {
		names, form := jsonNames(cell)
		switch form {
		case namesInJSON:
			to.Tags = &names
			return ""
		case otherJSON:
			return `must be a JSON array of texts, such as ["Paris, France","news"], or names that are separated by commas or semicolons`
		}
	}
	separator := ","
	switch {
	case to.tagSeparator != "":
		separator = to.tagSeparator
	case strings.Contains(cell, ";"):
		separator = ";"
	}
	names := []string{}
	for name := range strings.SplitSeq(cell, separator) {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		names = append(names, name)
		if strings.ContainsAny(name, tagSeparators) {
			to.warn("tags", "the names of tags are separated by %q here, so %q is one tag", separator, name)
		}
	}
	if len(names) > 1 && isEnclosed(cell) && !isEnclosed(names[0]) {
		to.warn("tags", "the cell is no JSON array, so %q is one tag", names[0])
	}
	to.Tags = &names
	return ""
}

// isEnclosed reports whether brackets or braces enclose a text, as in lists of other programs.
func isEnclosed(text string) bool {
	return strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") || strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}")
}

// listForm is what a cell that begins like a JSON array holds.
type listForm uint8

const (
	noJSON      listForm = iota // a text
	otherJSON                   // an array that does not hold names, or that is broken
	namesInJSON                 // an array of texts, or of objects with the member name
)

func jsonNames(cell string) ([]string, listForm) {
	var list []any
	if json.Unmarshal([]byte(cell), &list) != nil {
		if inside := strings.TrimSpace(cell[1:]); inside != "" && strings.ContainsRune(`"'{`, rune(inside[0])) { // Python writes '
			return nil, otherJSON
		}
		return nil, noJSON
	}
	names := []string{}
	for _, member := range list {
		if object, ok := member.(map[string]any); ok {
			member = object["name"]
		}
		name, ok := member.(string)
		if !ok {
			return nil, otherJSON
		}
		names = append(names, name)
	}
	return names, namesInJSON
}
