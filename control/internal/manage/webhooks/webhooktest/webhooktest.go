// Package webhooktest compares events that tests have sent with the published schemas of events.
package webhooktest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Folder has the published schemas, one file for each event.
const Folder = "docs/public/schemas/webhooks"

var schemas struct {
	sync.Mutex
	of map[string]*jsonschema.Schema
}

// Check fails the test if a payload differs from the published schema of its event, also by a member that the schema does not have.
// Tests of deliveries alone send data that is no object; Check ignores it.
func Check(t testing.TB, event, payload string) {
	t.Helper()
	body, err := jsonschema.UnmarshalJSON(strings.NewReader(payload))
	testkit.Must(t, err)
	if data, ok := body.(map[string]any)["data"].(map[string]any); !ok || len(data) < 2 {
		return
	}
	schema, err := load(filepath.Join(testkit.Source(t, Folder), event+".json"))
	testkit.Must(t, err)
	if err := schema.Validate(body); err != nil {
		t.Errorf("the event %s differs from its schema: %v\n%s", event, err, payload)
	}
}

// CheckAll checks all events that webhooks of a store have received, or wait for, at the end of the test. Call it before anything that
// deletes webhooks in a cleanup.
func CheckAll(t testing.TB, st *store.Store) {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() {
			return
		}
		for _, table := range []string{"webhook_deliveries", "webhook_logs"} {
			checkTable(t, st, table)
		}
	})
}

func checkTable(t testing.TB, st *store.Store, table string) {
	t.Helper()
	rows, err := st.Query(context.WithoutCancel(t.Context()), `SELECT DISTINCT event, payload FROM `+table)
	if err != nil {
		return // the test has closed or damaged its store
	}
	defer rows.Close()
	for rows.Next() {
		var event, payload string
		testkit.Must(t, rows.Scan(&event, &payload))
		Check(t, event, payload)
	}
	testkit.Must(t, rows.Err())
}

func load(file string) (*jsonschema.Schema, error) {
	schemas.Lock()
	defer schemas.Unlock()
	if s := schemas.of[file]; s != nil {
		return s, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var schema any
	if err := json.Unmarshal(text, &schema); err != nil {
		return nil, err
	}
	refuseOthers(schema)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(file, schema); err != nil {
		return nil, err
	}
	s, err := c.Compile(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if schemas.of == nil {
		schemas.of = map[string]*jsonschema.Schema{}
	}
	schemas.of[file] = s
	return s, nil
}

// refuseOthers refuses members that a schema does not have. Published schemas accept them.
func refuseOthers(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, object := v["properties"].(map[string]any); object && v["additionalProperties"] == nil {
			v["additionalProperties"] = false
		}
		for _, one := range v {
			refuseOthers(one)
		}
	case []any:
		for _, one := range v {
			refuseOthers(one)
		}
	}
}
