// Package version prevents lost updates: a caller names the version of an object that it has read, and a change fails if
// the object has another version by then (If-Match, RFC 9110).
//
// Package api puts the versions of the request into the context. A use case calls Check after it has locked the object.
package version

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/shortline/shortline/control/internal/platform/problem"
)

// Expected is the set of versions that a caller accepts.
type Expected struct {
	any  bool     // *
	tags []string // with quotes
}

const maxTags = 100

var errMalformed = errors.New(`must be * or versions in double quotes with commas between them, such as "7"`)

// Parse reads the values of the header If-Match. Weak tags are accepted and match nothing, as RFC 9110 requires.
func Parse(lines []string) (e Expected, err error) {
	rest := strings.Trim(strings.Join(lines, ","), " \t")
	if rest == "*" {
		return Expected{any: true}, nil
	}
	for n := 0; rest != ""; n++ {
		weak := strings.HasPrefix(rest, "W/")
		rest = strings.TrimPrefix(rest, "W/")
		if n == maxTags || rest == "" || rest[0] != '"' {
			return e, errMalformed
		}
		end := strings.IndexByte(rest[1:], '"')
		if end < 0 || strings.ContainsFunc(rest[1:1+end], func(r rune) bool { return r <= ' ' || r == 0x7f }) {
			return e, errMalformed
		}
		if !weak {
			e.tags = append(e.tags, rest[:end+2])
		}
		rest = strings.TrimLeft(rest[end+2:], " \t")
		if rest == "" {
			return e, nil
		}
		// RFC 9110 has recipients ignore empty elements.
		next := strings.TrimLeft(rest, ", \t")
		if rest[0] != ',' {
			return e, errMalformed
		}
		if rest = next; rest == "" {
			return e, nil
		}
	}
	return e, errMalformed
}

type expectedKey struct{}

// With returns a context with what the caller of a change expects.
func With(ctx context.Context, e Expected) context.Context {
	return context.WithValue(ctx, expectedKey{}, e)
}

// Given reports whether the caller of a change expects a version.
func Given(ctx context.Context) bool {
	_, given := ctx.Value(expectedKey{}).(Expected)
	return given
}

// Check returns a problem that carries the present object unless its version is among those that the caller expects.
// Without an expectation in the context it returns nil. Call it in the transaction of the change, after the lock.
func Check(ctx context.Context, present string, object any) error {
	e, given := ctx.Value(expectedKey{}).(Expected)
	if !given || e.any || slices.Contains(e.tags, present) {
		return nil
	}
	p := problem.New(problem.Stale, "The object has changed meanwhile. Its present version is %s.", present)
	p.Current = object
	return p
}

// CheckMissing returns a problem if the caller expects that an object exists which does not.
func CheckMissing(ctx context.Context) error {
	if Given(ctx) {
		return problem.New(problem.Stale, "The object does not exist.")
	}
	return nil
}

// Number returns the version of an object whose changes are numbered.
func Number(n uint64) string { return `"` + strconv.FormatUint(n, 10) + `"` }

// Hash returns the version of an object from all its fields that owners can change. The fields must be encodable as JSON.
func Hash(fields ...any) string {
	b, err := json.Marshal(fields)
	if err != nil {
		panic("BUG: a version of a value without JSON form: " + err.Error())
	}
	sum := sha256.Sum256(b)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:15]) + `"`
}
