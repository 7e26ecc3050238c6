package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/shortline/shortline/control/internal/problem"
)

const (
	maxBody  = 1 << 20
	maxDepth = 32 // of arrays and objects in a body
	bodyTime = 10 * time.Second
)

// readBody reads a JSON body whole and refuses what no endpoint wants: too much, another media type, broken or
// too deep JSON, the NUL character. No body is the same as {}.
func (s *Server) readBody(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		e, r := s.endpointOf(c), c.Request()
		if e == nil || e.Raw || r.Method == http.MethodGet {
			return next(c)
		}
		limit := int64(maxBody)
		if e.MaxBody > 0 {
			limit = e.MaxBody
		}
		deadline := http.NewResponseController(c.Response().Writer)
		_ = deadline.SetReadDeadline(time.Now().Add(bodyTime)) // not every writer can (a test's)
		body, err := io.ReadAll(http.MaxBytesReader(c.Response(), r.Body, limit))
		if err != nil {
			var tooLarge *http.MaxBytesError
			switch {
			case errors.As(err, &tooLarge):
				return problem.New(problem.TooLarge, "The request body is larger than %d bytes.", limit)
			case errors.Is(err, os.ErrDeadlineExceeded):
				return newAnswer(http.StatusRequestTimeout, "The request body took too long to arrive.")
			}
			return problem.New(problem.Invalid, "The request body could not be read.")
		}
		_ = deadline.SetReadDeadline(time.Time{}) // or the server would take its passing for the caller's leaving
		if body = bytes.TrimSpace(body); len(body) == 0 {
			body = []byte("{}")
		} else if ct := r.Header.Get("Content-Type"); ct != "" {
			if mt, _, err := mime.ParseMediaType(ct); err != nil || mt != "application/json" {
				return newAnswer(http.StatusUnsupportedMediaType, "The request body must be JSON (Content-Type: application/json).")
			}
		}
		// JSON is UTF-8. Whoever decodes it reads anything else as U+FFFD; whoever keeps it as it is must see the same.
		body = bytes.ToValidUTF8(body, []byte("\uFFFD"))
		if err := checkJSON(body, e.hasBody); err != nil {
			return err
		}
		r.Header.Set("Content-Type", "application/json")
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		return next(c)
	}
}

// checkJSON checks what holds for every body; an endpoint that takes none takes only {}.
func checkJSON(body []byte, wanted bool) error {
	if tooDeep(body) {
		return problem.New(problem.Invalid, "The request body is nested deeper than %d levels.", maxDepth)
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return problem.New(problem.Invalid, "The request body is not valid JSON (at byte %d).", syntax.Offset)
		}
		return problem.New(problem.Invalid, "The request body is not valid JSON.")
	}
	object, isObject := v.(map[string]any)
	if !isObject {
		return problem.New(problem.Invalid, "The request body must be a JSON object.")
	}
	var problems problem.Fields
	if !wanted {
		for _, name := range slices.Sorted(maps.Keys(object)) {
			problems.Add(name, "is not a known property")
		}
	}
	findNUL(&problems, "", v)
	return problems.Err()
}

// tooDeep counts brackets outside strings, before anything recursive sees the body.
func tooDeep(body []byte) bool {
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
			if depth++; depth > maxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// findNUL names the strings that hold a NUL, which no text column can.
func findNUL(problems *problem.Fields, path string, v any) {
	sub := func(name string) string { return strings.TrimPrefix(path+"."+name, ".") }
	switch v := v.(type) {
	case string:
		if strings.ContainsRune(v, 0) {
			problems.Add(path, "must not contain the character NUL")
		}
	case []any:
		for i, item := range v {
			findNUL(problems, sub(strconv.Itoa(i)), item)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if strings.ContainsRune(name, 0) {
				problems.Add(sub(strings.ReplaceAll(name, "\x00", "")), "has a name that contains the character NUL")
			}
			findNUL(problems, sub(name), v[name])
		}
	}
}

// checkAddress refuses text in the path or the query that no column can hold.
func checkAddress(r *http.Request) error {
	if !utf8.ValidString(r.URL.Path) || strings.ContainsRune(r.URL.Path, 0) {
		return echo.ErrNotFound
	}
	var problems problem.Fields
	for name, values := range r.URL.Query() {
		for _, v := range values {
			if !utf8.ValidString(v) || strings.ContainsRune(v, 0) {
				problems.Add(plainText(name), "must be UTF-8 text without the character NUL")
			}
		}
	}
	return problems.Err()
}

// revisionHeader tells, after a change, from which revision on an edge has seen it.
func (s *Server) revisionHeader(c echo.Context) {
	if c.Request().Method == http.MethodGet {
		return
	}
	res := c.Response()
	res.Before(func() {
		if res.Status < 300 {
			res.Header().Set("X-Config-Revision", fmt.Sprint(s.Store.KnownRevision()))
		}
	})
}
