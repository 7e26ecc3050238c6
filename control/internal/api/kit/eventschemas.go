package kit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"
)

// schemaFiles is where the schemas of webhook events are served, one file for each event, such as url.created.json.
const schemaFiles = "/api/schemas/webhooks/{file}"

// registerSchemas serves the schemas of webhook events.
func (k *Kit) registerSchemas(document func() *huma.OpenAPI) {
	load := sync.OnceValues(func() (map[string][]byte, error) { return EventSchemas(document()) })
	k.HandleRaw(Endpoint{Method: http.MethodGet, Path: schemaFiles, Need: Public, Limit: NoLimit}, func(c echo.Context) error {
		files, err := load()
		if err != nil {
			return err
		}
		event, isFile := strings.CutSuffix(c.Param("file"), ".json")
		text := files[event]
		if text == nil || !isFile {
			return echo.ErrNotFound
		}
		c.Response().Header().Set("Cache-Control", "no-cache")
		return c.Blob(http.StatusOK, "application/schema+json", text)
	})
}

// EventSchemas returns a JSON schema of the body of each webhook event, by the event's name. Each is complete. It accepts members that it
// does not know, because later releases may add some.
func EventSchemas(document *huma.OpenAPI) (map[string][]byte, error) {
	text, err := document.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var doc struct {
		Webhooks   map[string]struct{ Post struct{ Summary string } }
		Components struct {
			Schemas map[string]any
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for event, item := range document.Webhooks {
		name := strings.TrimPrefix(item.Post.RequestBody.Content["application/json"].Schema.Ref, SchemaPrefix)
		root, ok := doc.Components.Schemas[name].(map[string]any)
		if !ok {
			return nil, fmt.Errorf("the event %s has no schema", event)
		}
		parts := map[string]any{}
		file, _ := alone(root, doc.Components.Schemas, parts).(map[string]any)
		file["$schema"], file["title"], file["description"] = "https://json-schema.org/draft/2020-12/schema", event, item.Post.Summary
		file["$defs"] = parts
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(file); err != nil {
			return nil, err
		}
		files[event] = b.Bytes()
	}
	return files, nil
}

// alone copies a schema, and the schemas to which it refers into parts.
func alone(v any, all, parts map[string]any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			switch {
			case key == "$ref":
				name := strings.TrimPrefix(value.(string), SchemaPrefix)
				if _, there := parts[name]; !there {
					parts[name] = nil // ends a recursion
					parts[name] = alone(all[name], all, parts)
				}
				out[key] = "#/$defs/" + name
			case key == "additionalProperties" && value == false:
			default:
				out[key] = alone(value, all, parts)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = alone(v[i], all, parts)
		}
		return out
	}
	return v
}
