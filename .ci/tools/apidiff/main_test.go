package main

import (
	"os"
	"strings"
	"testing"
)

// document returns a small document after replacements of texts.
func document(replace ...string) []byte {
	return []byte(strings.NewReplacer(replace...).Replace(`{"openapi":"3.1.0","info":{"title":"T","version":"1.0.0"},"paths":{"/a":{"get":{
		"operationId":"a","summary":"A","parameters":[{"name":"q","in":"query","schema":{"type":"string"}}],
		"responses":{"200":{"description":"D","content":{"application/json":{"schema":{"$ref":"#/components/schemas/S"}}}}}},
		"put":{"operationId":"b","requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{
			"x":{"type":"string"}}}}}},"responses":{"200":{"description":"D"}}}}},
		"components":{"schemas":{"S":{"type":"object","required":["description"],"properties":{
			"description":{"type":"string","description":"Prose."},"kind":{"type":"string","enum":["A","B"]}}}}}}`))
}

func TestCompare(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		after []byte
		want  string // "": passes
	}{
		"the same":                   {document(), ""},
		"other prose":                {document(`"Prose."`, `"Other."`, `"summary":"A"`, `"summary":"B"`), ""},
		"a removed path":             {document(`"/a"`, `"/b"`), "GET /a"},
		"a removed field":            {document(`"description":{"type":"string","description":"Prose."},`, ``, `["description"]`, `[]`), "description"},
		"another type":               {document(`"kind":{"type":"string","enum":["A","B"]}`, `"kind":{"type":"integer"}`), "kind"},
		"a required parameter":       {document(`"in":"query"`, `"in":"query","required":true`), "required"},
		"a required field to send":   {document(`"x":{"type":"string"}}`, `"x":{"type":"string"}},"required":["x"]`), "required"},
		"a break, another major":     {document(`"/a"`, `"/b"`, "1.0.0", "2.0.0"), ""},
		"an addition":                {document(`["A","B"]`, `["A","B","C"]`), "set documentVersion to 1.1.0"},
		"an addition, another minor": {document(`["A","B"]`, `["A","B","C"]`, "1.0.0", "1.1.0"), ""},
		"an earlier version":         {document("1.0.0", "0.9.0"), "went back"},
		"no semantic version":        {document("1.0.0", "1.0"), "not semantic"},
	} {
		err := compare(document(), c.after)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// The document that is kept is the same to a comparison, and keeps properties that are called as prose is.
func TestReduce(t *testing.T) {
	t.Parallel()
	reduced, err := reduce(document())
	if err != nil {
		t.Fatal(err)
	}
	if text := string(reduced); strings.Contains(text, "Prose") || !strings.Contains(text, `"description":{"type":"string"}`) {
		t.Error(text)
	}
	file := t.TempDir() + "/current.json"
	if err := os.WriteFile(file, document(), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := release(file+".released", file); err != nil {
		t.Fatal(err)
	}
	if err := compareFiles(file+".released", file); err != nil {
		t.Error(err)
	}
}
