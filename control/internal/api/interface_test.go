package api_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/store/storetest"
)

// openapi holds the parts of the OpenAPI document that tests check.
type openapi struct {
	OpenAPI    string
	Info       struct{ Title, Version, Description string }
	Tags       []struct{ Name, Description string }
	Webhooks   map[string]map[string]operation
	Paths      map[string]map[string]operation
	Components struct {
		Schemas         map[string]json.RawMessage
		SecuritySchemes map[string]json.RawMessage
	}
}

type operation struct {
	OperationID, Summary, Description string
	Tags                              []string
	Security                          []map[string]any
	Parameters                        []struct {
		Name, In, Description string
		Required              bool
		Schema                json.RawMessage
	}
	RequestBody *struct {
		Required bool
		Content  map[string]content
	}
	Responses map[string]struct {
		Description string
		Content     map[string]content
	}
}

type content struct {
	Schema   map[string]any
	Example  any
	Examples map[string]any
}

func (w *world) openapi() (doc openapi) {
	w.t.Helper()
	w.ok(json.Unmarshal([]byte(w.do("GET", "/api/openapi.json", "").want(200).text), &doc))
	return doc
}

// operations lists the operations by method and path, with {} for every placeholder.
func (doc openapi) operations() map[string]operation {
	all := map[string]operation{}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			all[strings.ToUpper(method)+" "+placeholder.ReplaceAllString(path, "{}")] = op
		}
	}
	return all
}

// read reads the schema that a reference names.
func (d *openapi) readSchema(ref string, into any) error {
	return json.Unmarshal(d.Components.Schemas[strings.TrimPrefix(ref, "#/components/schemas/")], into)
}

// docsPages are the files of the API's documentation, which are not endpoints of the interface, and the MCP server, which has a protocol of
// its own.
var docsPages = []string{
	"GET /api/schemas/webhooks/{}",
	"GET /api", "GET /api/", "GET /api/docs.css", "GET /api/docs.js", "GET /api/swagger-ui.css", "GET /api/swagger-ui.js",
	"GET /api/openapi.json", "GET /api/openapi.yaml", "POST /mcp",
	"GET /api/mail-reports/confirm", "POST /api/mail-reports/confirm", "GET /api/mail-reports/unsubscribe", "POST /api/mail-reports/unsubscribe",
}

// The served endpoints, the OpenAPI document and the interface's table are the same.
func TestEndpoints_are_those_of_the_interface(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t), whole)
	has := func(what string, list, all []string) {
		t.Helper()
		for _, e := range all {
			if !slices.Contains(list, e) && !slices.Contains(docsPages, e) {
				t.Errorf("%s does not have %s", what, e)
			}
		}
	}
	var promised, documented, served []string
	for _, r := range table(t) {
		promised = append(promised, r.endpoint())
	}
	for path, methods := range w.openapi().Paths {
		for method := range methods {
			documented = append(documented, strings.ToUpper(method)+" "+placeholder.ReplaceAllString(path, "{}"))
		}
	}
	for _, e := range w.server.Endpoints() {
		served = append(served, placeholder.ReplaceAllString(e, "{}"))
	}
	has("the table", promised, served)
	has("the table", append(visitorRows(t), promised...), documented)
	has("the document", documented, promised)
	has("the document", documented, visitorRows(t))
	has("the document", documented, served)
	has("the API", served, promised)
	if len(promised) < 100 {
		t.Errorf("only %d rows", len(promised))
	}
}

// visitorRows returns the rows of the interface's table that edges serve.
func visitorRows(t *testing.T) (rows []string) {
	t.Helper()
	for line := range strings.Lines(interfaceText) {
		if e, ok := strings.CutSuffix(strings.TrimSpace(line), " | E"); ok {
			rows = append(rows, placeholder.ReplaceAllString(e, "{}"))
		}
	}
	if len(rows) < 3 {
		t.Fatalf("only %d rows for visitors", len(rows))
	}
	return rows
}

// Every tag of an operation has a description, and every described tag has an operation.
func TestOps12_tags_are_described(t *testing.T) {
	t.Parallel()
	doc := newWorld(t, storetest.Open(t), whole).openapi()
	used := map[string]bool{}
	for _, op := range doc.operations() {
		used[op.Tags[0]] = true
	}
	for _, tag := range doc.Tags {
		if !used[tag.Name] || tag.Description == "" {
			t.Errorf("tag %q: used %v, description %q", tag.Name, used[tag.Name], tag.Description)
		}
		delete(used, tag.Name)
	}
	if len(used) > 0 {
		t.Errorf("tags without a description: %v", slices.Collect(maps.Keys(used)))
	}
}

// The document describes the body of every webhook event, with a description of each property.
func TestOps12_events_are_described(t *testing.T) {
	t.Parallel()
	doc := newWorld(t, storetest.Open(t), whole).openapi()
	for _, event := range append(slices.Clone(webhooks.Names), "webhook.test") {
		op, ok := doc.Webhooks[event]["post"]
		if !ok || op.Summary == "" || op.RequestBody == nil {
			t.Errorf("%s is not described", event)
			continue
		}
		var body struct {
			Properties struct {
				Data struct {
					Ref string `json:"$ref"`
				}
			}
		}
		var schema struct {
			Properties map[string]struct{ Description string }
		}
		ref, _ := op.RequestBody.Content["application/json"].Schema["$ref"].(string)
		err := doc.readSchema(ref, &body)
		if err == nil {
			err = doc.readSchema(body.Properties.Data.Ref, &schema)
		}
		if err != nil || len(schema.Properties) == 0 {
			t.Errorf("%s: no schema of the data: %v", event, err)
		}
		for name, p := range schema.Properties {
			if p.Description == "" {
				t.Errorf("%s: %s has no description", event, name)
			}
		}
	}
	if len(doc.Webhooks) != len(webhooks.Names)+1 {
		t.Errorf("%d events are described, %d exist", len(doc.Webhooks), len(webhooks.Names)+1)
	}
}

// Every operation documents its purpose, its parameters and body, and its errors.
func TestDocument_is_complete(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t), whole)
	doc := w.openapi()
	if !strings.HasPrefix(doc.OpenAPI, "3.1") || doc.Info.Title == "" || doc.Info.Description == "" ||
		len(doc.Components.SecuritySchemes) != 3 {
		t.Errorf("%+v", doc.Info)
	}
	who := map[string]string{}
	for _, r := range table(t) {
		who[r.endpoint()] = r.who
	}
	ids := map[string]string{}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			e := strings.ToUpper(method) + " " + path
			row := strings.ToUpper(method) + " " + placeholder.ReplaceAllString(path, "{}")
			access, visitors := who[row], slices.Contains(visitorRows(t), row)
			if visitors {
				access = "P"
			}
			if op.OperationID == "" || ids[op.OperationID] != "" {
				t.Errorf("%s: id %q, as %s", e, op.OperationID, ids[op.OperationID])
			}
			ids[op.OperationID] = e
			if op.Summary == "" || op.Description == "" || len(op.Tags) != 1 {
				t.Errorf("%s: summary %q, description %q, tags %q", e, op.Summary, op.Description, op.Tags)
			}
			if strings.HasPrefix(access, "P") != (len(op.Security) == 0) {
				t.Errorf("%s: security %v, but the table allows %s", e, op.Security, access)
			}
			want := []string{"400", "429", "500", "503"}
			switch access {
			case "S", "OS", "A", "AS":
				want = append(want, "401", "403")
			case "U":
				want = append(want, "401")
			}
			if op.RequestBody != nil {
				want = append(want, "413", "415")
			}
			success := 0
			for status, res := range op.Responses {
				if res.Description == "" {
					t.Errorf("%s: %s has no description", e, status)
				}
				switch {
				case status == "304": // the answer to a version that the caller has
				case status < "400":
					success++
					for kind, m := range res.Content {
						if kind == "application/json" && m.Schema == nil {
							t.Errorf("%s: the JSON of %s has no schema", e, status)
						}
					}
				case res.Content["application/json"].Schema["$ref"] != "#/components/schemas/Answer":
					t.Errorf("%s: %s does not have the documented error body: %v", e, status, res.Content)
				}
			}
			// A link either redirects or shows its password form. An icon that is not known yet is a 204. An upsert creates (201) or
			// updates (200).
			if success != 1 && !visitors && e != "GET /api/pages/icon" && op.OperationID != "putURLByExternalID" {
				t.Errorf("%s: %d success statuses: %v", e, success, slices.Sorted(maps.Keys(op.Responses)))
			}
			for _, status := range want {
				if _, ok := op.Responses[status]; !ok {
					t.Errorf("%s: no %s", e, status)
				}
			}
			for _, p := range op.Parameters {
				if p.Description == "" && p.In != "cookie" {
					t.Errorf("%s: parameter %s has no description", e, p.Name)
				}
				if p.In == "path" && !strings.Contains(path, "{"+p.Name+"}") {
					t.Errorf("%s: %s is not in the path", e, p.Name)
				}
			}
			if n := strings.Count(path, "{"); n > 0 && len(op.Parameters) < n {
				t.Errorf("%s: %d placeholders, %d parameters", e, n, len(op.Parameters))
			}
			if op.RequestBody == nil {
				continue
			}
			for kind, m := range op.RequestBody.Content {
				if kind != "application/json" {
					continue
				}
				example, _ := m.Example.(map[string]any)
				if len(example) == 0 {
					t.Errorf("%s: no example of a request", e)
				}
				ref, _ := m.Schema["$ref"].(string)
				if forms, _ := m.Schema["oneOf"].([]any); len(forms) > 0 { // the example has the first form
					ref, _ = forms[0].(map[string]any)["$ref"].(string)
				}
				var schema struct {
					Properties map[string]any
					Required   []string
				}
				w.ok(json.Unmarshal(doc.Components.Schemas[strings.TrimPrefix(ref, "#/components/schemas/")], &schema))
				for name := range example {
					if schema.Properties[name] == nil {
						t.Errorf("%s: the example has %s, which is not a property", e, name)
					}
				}
				for _, name := range schema.Required {
					if example[name] == nil {
						t.Errorf("%s: the example lacks %s", e, name)
					}
				}
			}
		}
	}
}

// The document has the same content compressed and as YAML.
func TestDocument_forms(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t), whole)
	plain := w.do("GET", "/api/openapi.json", "")
	packed := w.do("GET", "/api/openapi.json", "", with("Accept-Encoding", "br, gzip"), with("Accept", "*/*"))
	if packed.Header.Get("Content-Encoding") != "gzip" || !strings.Contains(packed.Header.Get("Vary"), "Accept-Encoding") ||
		len(packed.text) > len(plain.text)/4 {
		t.Errorf("%v, %d bytes of %d", packed.Header, len(packed.text), len(plain.text))
	}
	r, err := gzip.NewReader(strings.NewReader(packed.text))
	w.ok(err)
	text, err := io.ReadAll(r)
	w.ok(err)
	if string(text) != plain.text {
		t.Error("the compressed document differs")
	}
	yaml := w.do("GET", "/api/openapi.yaml", "").want(200)
	yaml.says("\n  /api/urls/{id}/explain:\n", "operationId: explainURL", "429")
}
