package kit

import (
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/shortline/shortline/control/internal/platform/problem"
)

// fieldOf rewrites an error of huma. body.urls[0].originalUrl becomes urls.0.originalUrl, a missing property is named
// itself rather than the object that lacks it, and the message continues a sentence that begins with the field's name.
func fieldOf(d *huma.ErrorDetail) problem.Field {
	path := d.Location
	for _, where := range []string{"body", "query", "path", "header", "cookie"} {
		if rest, ok := strings.CutPrefix(path, where); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			path = strings.TrimPrefix(rest, ".")
			break
		}
	}
	path = strings.TrimPrefix(strings.NewReplacer("[", ".", "]", "").Replace(path), ".")
	if name, ok := strings.CutPrefix(d.Message, "expected required property "); ok {
		name = strings.TrimSuffix(name, " to be present")
		return problem.Field{Field: strings.TrimPrefix(path+"."+name, "."), Message: "is required"}
	}
	return problem.Field{Field: path, Message: reword(d.Message)}
}

var whole = map[string]string{
	"unexpected property": "is not a known property",
	"expected boolean":    "must be true or false", "expected number": "must be a number", "expected integer": "must be a whole number",
	"expected string": "must be a string", "expected array": "must be an array", "expected object": "must be an object",
	"invalid integer": "must be a whole number", "invalid float": "must be a number", "invalid boolean": "must be true or false",
	"required query parameter is missing": "is required", "required path parameter is missing": "is required",
	"required form parameter is missing": "is required",
}

var beginnings = []struct{ theirs, before, after string }{
	{"expected value to be one of ", "must be one of ", ""},
	{"expected number >= ", "must be at least ", ""},
	{"expected number > ", "must be greater than ", ""},
	{"expected number <= ", "must be at most ", ""},
	{"expected number < ", "must be less than ", ""},
	{"expected length >= ", "must have at least ", " characters"},
	{"expected length <= ", "must have at most ", " characters"},
	{"expected array length >= ", "must have at least ", " items"},
	{"expected array length <= ", "must have at most ", " items"},
	{"expected string to be ", "must be ", ""},
	{"expected string to match pattern ", "must match ", ""},
	{"expected ", "must be: ", ""},
	{"json: ", "has a value that does not fit: ", ""},
}

func reword(message string) string {
	if ours, ok := whole[message]; ok {
		return ours
	}
	for _, b := range beginnings {
		if rest, ok := strings.CutPrefix(message, b.theirs); ok {
			return b.before + strings.ReplaceAll(rest, `"`, "") + b.after
		}
	}
	return message
}
