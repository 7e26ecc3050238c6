package api_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/shared/testing/testkit"
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

// An object that the caller has is not sent again. The version changes with the object, and permissions count as without it.
func TestB6_unchanged_objects_are_304(t *testing.T) {
	w := small(t, whole)
	id := w.create("abc")
	path := "/api/urls/" + id
	tag := w.do("GET", path, "", as(w.ann)).want(200).Header.Get("ETag")
	if tag == "" {
		t.Fatal("a link has no version")
	}
	given := func(tags string) option { return both(as(w.ann), with("If-None-Match", tags)) }
	for _, tags := range []string{tag, `"x", ` + tag, "W/" + tag, "*"} {
		r := w.do("GET", path, "", given(tags)).want(304)
		if r.text != "" || r.Header.Get("ETag") != tag || r.Header.Get("Content-Type") != "" {
			t.Errorf("%s: %q, %v", tags, r.text, r.Header)
		}
	}
	w.do("GET", path+"?fields=slug", "", given(tag)).want(304)
	w.do("GET", path, "", given(`"x"`)).want(200).shows("slug", "abc")
	w.do("GET", path, "", both(as(w.bob), with("If-None-Match", tag))).want(404)
	w.do("GET", path, "", with("If-None-Match", "*")).want(401)
	w.do("GET", "/api/urls", "", given("*")).want(200)
	w.do("PUT", path, `{"title":"x"}`, given("*")).want(200)
	w.do("GET", path, "", given(tag)).want(200).shows("title", "x")
	documented := 0
	for _, methods := range w.openapi().Paths {
		if get, ok := methods["get"]; ok && get.Responses["304"].Description != "" {
			documented++
		}
	}
	if documented < 5 {
		t.Errorf("304 is documented %d times", documented)
	}
}

// Long answers are compressed as the caller wants: lists, exports and drawings, but not what is short, compressed already, a stream, the
// answer to a change, which may have a secret, or sent to a page of another site.
func TestB6_answers_are_compressed(t *testing.T) {
	w, _ := newAlbum(t, usual(t))
	for i := range 30 {
		w.create(fmt.Sprintf("slug-%d", i))
	}
	id := w.create("code")
	decode := map[string]func(io.Reader) (io.Reader, error){
		"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"zstd": func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) },
	}
	list := "/api/urls?limit=30"
	export, code := "/api/urls/export?format=csv", "/api/urls/"+id+"/qrcode?format=svg"
	for _, path := range []string{list, list + "&fields=slug,originalUrl", export, code} {
		plain := w.do("GET", path, "", as(w.ann)).want(200)
		if plain.Header.Get("Content-Encoding") != "" || !strings.Contains(strings.Join(plain.Header.Values("Vary"), ","),
			"Accept-Encoding") {
			t.Errorf("%s: %v", path, plain.Header)
		}
		for accepted, encoding := range map[string]string{"gzip": "gzip", "gzip, deflate, br, zstd": "zstd"} {
			r := w.do("GET", path, "", both(as(w.ann), with("Accept-Encoding", accepted))).want(200)
			if r.Header.Get("Content-Encoding") != encoding || len(r.text) > len(plain.text)/2 {
				t.Errorf("%s, %s: %q, %d of %d bytes", path, accepted, r.Header.Get("Content-Encoding"), len(r.text), len(plain.text))
				continue
			}
			body, err := decode[encoding](strings.NewReader(r.text))
			testkit.Must(t, err)
			text, err := io.ReadAll(body)
			testkit.Must(t, err)
			if string(text) != plain.text {
				t.Errorf("%s, %s: another text", path, accepted)
			}
		}
	}
	gzipped := with("Accept-Encoding", "gzip, zstd")
	never := func(what string, r *reply) {
		t.Helper()
		if encoding := r.Header.Get("Content-Encoding"); encoding != "" {
			t.Errorf("%s: %s", what, encoding)
		}
	}
	never("a short answer", w.do("GET", "/api/auth/me", "", both(as(w.ann), gzipped)).want(200))
	never("a picture", w.do("GET", "/api/urls/"+id+"/qrcode?format=png&width=1000", "", both(as(w.ann), gzipped)).want(200))
	never("an error", w.do("GET", "/api/urls?fields="+url.QueryEscape(strings.Repeat("x", 900)), "", both(as(w.ann), gzipped)).want(400))
	long := fmt.Sprintf(`{"originalUrl":"https://example.com/?%s"}`, strings.Repeat("x", 1500))
	never("the answer to a change", w.do("POST", "/api/urls", long, both(as(w.ann), gzipped)).want(201))
	never("another site", w.do("GET", list, "", both(both(as(w.ann), gzipped), with("Sec-Fetch-Site", "cross-site"))).want(200))
}

// A caller can select fields of an object, of the rows of a list under any of its names, and of a plain array.
func TestB6_fields(t *testing.T) {
	w := small(t, whole)
	id := w.create("abc")
	w.do("POST", "/api/api-keys", `{"name":"a"}`, as(w.ann)).want(201)
	get := func(path string) *reply { t.Helper(); return w.do("GET", path, "", as(w.ann)) }
	get("/api/urls/"+id+"?fields=slug,%20id").want(200).has("", "id", "slug").shows("slug", "abc")
	get("/api/urls/"+id+"?fields=slug&fields=title").want(200).has("", "slug", "title")
	get("/api/urls?fields=slug").want(200).shows("total", 1, "data.0.slug", "abc").has("data.0", "slug")
	get("/api/api-keys?fields=name").want(200).has("data.0", "name").has("apiKeys.0", "name")
	get("/api/analytics/overview?fields=totalClicks").want(200).has("", "totalClicks")
	for _, row := range get("/api/analytics/top-urls?fields=slug").want(200).list() {
		if fields, _ := row.(map[string]any); len(fields) != 1 || fields["slug"] == nil {
			t.Errorf("a row %v", row)
		}
	}
	for _, bad := range []string{"nothing", "slug,nothing", "", "slug,,id", "data", "Slug"} {
		r := get("/api/urls/" + id + "?fields=" + bad).wantField("fields")
		if !strings.Contains(r.str("message"), "originalUrl") {
			t.Errorf("%q: the message does not name the fields: %s", bad, r.text)
		}
	}
	w.do("GET", "/api/urls?fields=nothing", "").want(401)
	w.do("GET", "/api/urls/unknown?fields=slug", "", as(w.ann)).want(404)
	for _, path := range []string{"/api/urls", "/api/urls/{id}", "/api/webhooks", "/api/users", "/api/bundles/{id}", "/api/api-keys"} {
		names := []string{}
		for _, p := range w.openapi().Paths[path]["get"].Parameters {
			names = append(names, p.Name)
		}
		if !slices.Contains(names, "fields") {
			t.Errorf("%s: parameters %v", path, names)
		}
	}
}

// shows fails the test unless each path has the value after it. The path "data.#" is the length of "data", which must be a list.
// Lists and objects are compared in the form that fmt.Sprint gives them.
func (r *reply) shows(pairs ...any) *reply {
	r.w.t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		path, want := pairs[i].(string), pairs[i+1]
		if n, ok := want.(int); ok {
			want = float64(n)
		}
		got := r.at(path)
		if list, ok := strings.CutSuffix(path, ".#"); ok {
			if elements, ok := r.at(list).([]any); ok {
				got = float64(len(elements))
			}
		}
		switch got.(type) {
		case []any, map[string]any:
			got = fmt.Sprint(got)
		}
		if got != want {
			r.w.t.Errorf("%s: %s is %v, want %v: %s", r.what, path, got, want, r.text)
		}
	}
	return r
}

// says fails the test unless the body contains the texts.
func (r *reply) says(texts ...string) *reply {
	r.w.t.Helper()
	for _, text := range texts {
		if !strings.Contains(r.text, text) {
			r.w.t.Errorf("%s: no %q: %s", r.what, text, r.text)
		}
	}
	return r
}

// is fails the test unless the body equals text. It ignores the line feed at the end of a JSON body.
func (r *reply) is(text string) *reply {
	r.w.t.Helper()
	testkit.Equal(r.w.t, strings.TrimSpace(r.text), text, "%s", r.what)
	return r
}

// headed fails the test unless the response has a header with a value.
func (r *reply) headed(name, value string) *reply {
	r.w.t.Helper()
	testkit.Equal(r.w.t, r.Header.Get(name), value, "%s: %s", r.what, name)
	return r
}

// omits fails the test if the body contains one of the texts.
func (r *reply) omits(texts ...string) *reply {
	r.w.t.Helper()
	for _, text := range texts {
		if at := strings.Index(r.text, text); at >= 0 {
			r.w.t.Errorf("%s: %q in ...%s", r.what, text, r.text[max(0, at-200):min(len(r.text), at+len(text)+200)])
		}
	}
	return r
}

// atOnce sends n requests at the same time and counts the statuses of the replies.
func atOnce(n int, send func(i int) *reply) map[int]int {
	statuses := map[int]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			r := send(i)
			mu.Lock()
			defer mu.Unlock()
			statuses[r.StatusCode]++
		})
	}
	close(start)
	wg.Wait()
	return statuses
}

// sum adds up one numeric field of the items of a list.
func (r *reply) sum(list, name string) (n float64) {
	r.w.t.Helper()
	items, _ := r.at(list).([]any)
	if list == "" {
		items, _ = r.json.([]any)
	}
	for _, item := range items {
		v, ok := item.(map[string]any)[name].(float64)
		if !ok {
			r.w.t.Errorf("%s: an item of %q has no %q: %v", r.what, list, name, item)
		}
		n += v
	}
	return n
}
