package kit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/platform/work"
)

const (
	MaxBody  = 1 << 20
	MaxDepth = 32 // of arrays and objects in a body
	bodyTime = 10 * time.Second

	// MaxValues is the limit of values in a body. A thousand links with all their fields have 30,000.
	MaxValues = 50_000
	// At most largeBodies bodies of more than largeBody bytes are in progress at a time, and largePerUser of one user.
	// Decoding a body may take twenty times its size in memory, and a caller may send a hundred at once.
	LargeBody    = 64 << 10
	LargeBodies  = 8
	LargePerUser = 4
)

// readBody reads a whole JSON body. It refuses bodies that are too large, have another media type, are invalid or nested
// too deeply, or contain the character NUL. An empty body stands for {}.
func (k *Kit) readBody(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		e, r := k.endpointOf(c), c.Request()
		if e == nil || e.Raw || r.Method == http.MethodGet {
			return next(c)
		}
		limit := int64(MaxBody)
		if e.MaxBody > 0 {
			limit = e.MaxBody
		}
		body, err := WholeBody(c, limit)
		if err != nil {
			return err
		}
		if body = bytes.TrimSpace(body); len(body) == 0 {
			body = []byte("{}")
		} else if ct := r.Header.Get("Content-Type"); ct != "" {
			if mt, _, err := mime.ParseMediaType(ct); err != nil || mt != "application/json" {
				return NewAnswer(http.StatusUnsupportedMediaType, "The request body must be JSON (Content-Type: application/json).")
			}
		}
		if len(body) > LargeBody {
			slot, err := k.TakeTurn(c)
			if err != nil {
				return err
			}
			defer slot.Leave()
			c.Response().Before(slot.Leave) // a caller that reads slowly must not block others
			r = c.Request()
		}
		// JSON is UTF-8. Decoders replace invalid bytes by U+FFFD. Code that keeps the raw JSON must see the same.
		body = bytes.ToValidUTF8(body, []byte("\uFFFD"))
		if err := checkJSON(body, e.hasBody); err != nil {
			return err
		}
		r.Header.Set("Content-Type", "application/json")
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		return next(c)
	}
}

// WholeBody reads a body of at most limit bytes.
func WholeBody(c echo.Context, limit int64) ([]byte, error) {
	deadline := http.NewResponseController(c.Response().Writer)
	_ = deadline.SetReadDeadline(time.Now().Add(bodyTime)) // the writers of some tests cannot
	body, err := io.ReadAll(http.MaxBytesReader(c.Response(), c.Request().Body, limit))
	if err != nil {
		var tooLarge *http.MaxBytesError
		switch {
		case errors.As(err, &tooLarge):
			return nil, problem.New(problem.TooLarge, "The request body is larger than %d bytes.", limit)
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, NewAnswer(http.StatusRequestTimeout, "The request body took too long to arrive.")
		}
		return nil, problem.New(problem.Invalid, "The request body could not be read.")
	}
	_ = deadline.SetReadDeadline(time.Time{}) // otherwise the server would take an expired deadline for a disconnect
	return body, nil
}

// TakeTurn waits until another large body of the caller may be processed. The caller must call Leave afterwards.
func (k *Kit) TakeTurn(c echo.Context) (*work.Slot, error) {
	r := c.Request()
	slot, err := k.Large.Enter(r.Context(), workerOf(r.Context(), c.RealIP()))
	if err != nil {
		return nil, err
	}
	c.SetRequest(r.WithContext(work.Holding(r.Context(), slot)))
	return slot, nil
}

// checkJSON checks the rules for all bodies. If no body is wanted, only {} is accepted.
func checkJSON(body []byte, wanted bool) error {
	switch depth, values := Extent(body); {
	case depth > MaxDepth:
		return problem.New(problem.Invalid, "The request body is nested deeper than %d levels.", MaxDepth)
	case values > MaxValues:
		return problem.New(problem.TooLarge, "The request body holds more than %d values.", MaxValues)
	}
	var object map[string]json.RawMessage
	err := json.Unmarshal(body, &object)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return problem.New(problem.Invalid, "The request body is not valid JSON (at byte %d).", syntax.Offset)
	case err != nil, object == nil: // null is not an object
		return problem.New(problem.Invalid, "The request body must be a JSON object.")
	}
	var problems problem.Fields
	if !wanted {
		for _, name := range slices.Sorted(maps.Keys(object)) {
			problems.Add(name, "is not a known property")
		}
	}
	// Only a body with such texts can have the values that findUnusable looks for. Decoding all values is expensive.
	if bytes.Contains(body, []byte(`\u0000`)) || hugeNumber.Match(body) {
		d := json.NewDecoder(bytes.NewReader(body))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			return problem.New(problem.Invalid, "The request body is not valid JSON.")
		}
		findUnusable(&problems, "", v)
	}
	return problems.Err()
}

// hugeNumber finds numbers that float64 might not hold: they have an exponent of three digits, or hundreds of digits.
var hugeNumber = regexp.MustCompile(`[0-9][eE]\+?[0-9]{3}|[0-9]{300}`)

// Extent returns the depth of the brackets outside strings and the approximate number of values. It runs before the body
// is decoded, because decoding takes up to a hundred times the size of each value in memory.
func Extent(body []byte) (deepest, values int) {
	depth, inString := 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case inString:
			if c == '\\' {
				i++
			} else if c == '"' {
				inString = false
			}
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			depth++
			values++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		case c == ',':
			values++
		}
	}
	return deepest, values
}

// findUnusable adds a problem for each string with a NUL, which text columns cannot store, and for each number that float64 cannot hold.
func findUnusable(problems *problem.Fields, path string, v any) {
	sub := func(name string) string { return strings.TrimPrefix(path+"."+name, ".") }
	switch v := v.(type) {
	case string:
		if strings.ContainsRune(v, 0) {
			problems.Add(path, "must not contain the character NUL")
		}
	case json.Number:
		if _, err := v.Float64(); err != nil {
			problems.Add(path, "is a number that is too large")
		}
	case []any:
		for i, item := range v {
			findUnusable(problems, sub(strconv.Itoa(i)), item)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if strings.ContainsRune(name, 0) {
				problems.Add(sub(strings.ReplaceAll(name, "\x00", "")), "has a name that contains the character NUL")
			}
			findUnusable(problems, sub(name), v[name])
		}
	}
}

// checkAddress refuses text in the path or the query that text columns cannot store.
func checkAddress(r *http.Request) error {
	if !utf8.ValidString(r.URL.Path) || strings.ContainsRune(r.URL.Path, 0) {
		return echo.ErrNotFound
	}
	var problems problem.Fields
	for name, values := range r.URL.Query() {
		for _, v := range values {
			if !utf8.ValidString(v) || strings.ContainsRune(v, 0) {
				problems.Add(PlainText(name), "must be UTF-8 text without the character NUL")
			}
		}
	}
	return problems.Err()
}

// decodeParams decodes the parameters of the path. If a path is escaped in an unusual way, such as crm%3A42, the router takes
// them from the escaped path, otherwise from the decoded one.
func (k *Kit) decodeParams(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if c.Request().URL.RawPath == "" {
			return next(c)
		}
		values := slices.Clone(c.ParamValues())
		for i, escaped := range values {
			var err error
			if values[i], err = url.PathUnescape(escaped); err != nil {
				return echo.ErrNotFound
			}
		}
		c.SetParamValues(values...)
		return next(c)
	}
}

// revisionHeader adds the revision that contains the change to the response.
func (k *Kit) revisionHeader(c echo.Context) {
	if c.Request().Method == http.MethodGet {
		return
	}
	res := c.Response()
	res.Before(func() {
		if res.Status < 300 {
			res.Header().Set("X-Config-Revision", fmt.Sprint(k.Store.KnownRevision()))
		}
	})
}
