package api_test

import (
	"bytes"
	"fmt"
	"maps"
	"mime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/shortline/shortline/control/internal/api"
)

// contract is the OpenAPI document of an API with all use cases. The do of worlds compares every answer with it.
type contract struct {
	document any
	paths    map[string]any

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema // by location in the document
}

var theContract = sync.OnceValues(func() (*contract, error) {
	text, err := api.Document()
	if err != nil {
		return nil, err
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource("openapi.json", document); err != nil {
		return nil, err
	}
	return &contract{document: document, paths: member(document, "paths"), compiler: c, schemas: map[string]*jsonschema.Schema{}}, nil
})

// member returns the object at a path of names, or nil.
func member(v any, path ...string) map[string]any {
	for _, name := range path {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	object, _ := v.(map[string]any)
	return object
}

// schema compiles the schema at a location in the document, once.
func (c *contract) schema(location ...string) (*jsonschema.Schema, error) {
	at := "openapi.json#"
	for _, name := range location {
		at += "/" + strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.schemas[at]; s != nil {
		return s, nil
	}
	s, err := c.compiler.Compile(at)
	c.schemas[at] = s
	return s, err
}

// find returns the path of the document that an escaped path matches, or "". It prefers names to parameters.
func (c *contract) find(method, escaped string) (path string) {
	if strings.HasPrefix(escaped, "/api/og-images/") && method == "get" {
		return "/api/og-images/{key}" // the only parameter that may contain slashes
	}
	asked := strings.Split(escaped, "/")
	least := len(asked)
	for _, template := range slices.Sorted(maps.Keys(c.paths)) {
		steps, params := strings.Split(template, "/"), 0
		if len(steps) != len(asked) || steps[1] != "api" || member(c.paths, template, method) == nil {
			continue
		}
		for i, step := range steps {
			if strings.HasPrefix(step, "{") && asked[i] != "" {
				params++
			} else if step != asked[i] {
				params = least
			}
		}
		if params < least {
			path, least = template, params
		}
	}
	return path
}

// check returns how an answer differs from the document.
func (c *contract) check(r *reply, method, escaped string) error {
	location := []string{"components", "schemas", "Answer"} // of unknown addresses, too
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if path := c.find(strings.ToLower(method), escaped); path != "" && !slices.Contains([]int{405, 408, 499}, r.StatusCode) {
		status := strconv.Itoa(r.StatusCode)
		documented := member(c.paths, path, strings.ToLower(method), "responses", status)
		if documented == nil {
			return fmt.Errorf("%s %s does not document the status %s", method, path, status)
		}
		content := member(documented, "content")
		if r.text == "" && len(content) == 0 {
			return nil
		}
		if member(content, media) == nil {
			return fmt.Errorf("%s %s does not document %q for the status %s", method, path, media, status)
		}
		location = []string{"paths", path, strings.ToLower(method), "responses", status, "content", media, "schema"}
	} else if r.StatusCode < 400 {
		return nil // a page of the documentation, or an answer to OPTIONS
	}
	if media != "application/json" || r.Header.Get("Content-Encoding") != "" {
		return nil
	}
	if r.StatusCode == 200 && strings.Contains(r.what, "fields=") {
		return nil // the parameter leaves out what the schema requires
	}
	s, err := c.schema(location...)
	if err != nil {
		return err
	}
	answer, err := jsonschema.UnmarshalJSON(strings.NewReader(r.text))
	if err != nil {
		return err
	}
	return s.Validate(answer)
}

// documented fails the test if the answer differs from the OpenAPI document.
func (r *reply) documented(method, escaped string) {
	r.w.t.Helper()
	c, err := theContract()
	r.w.ok(err)
	if method == "HEAD" {
		return // it has no body
	}
	if err := c.check(r, method, escaped); err != nil {
		r.w.t.Errorf("%s: the answer %d is not the documented one: %v\n%.2000s", r.what, r.StatusCode, err, r.text)
	}
}
