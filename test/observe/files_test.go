package observe_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// dashboard has the fields of a dashboard file that tests use.
type dashboard struct {
	file   string
	UID    string
	Title  string
	Tags   []string
	Links  []struct{ Tags []string }
	Panels []struct {
		ID          int
		Title       string
		Description string
		Targets     []target
		FieldConfig struct {
			Defaults struct{ Unit string }
		}
		GridPos struct{ X, Y, W, H int }
	}
	Templating struct {
		List []struct {
			Name, Type, Definition string
			Datasource             struct{ Type, UID string }
			Current                struct{ Value any }
		}
	}
}

type target struct {
	RefID      string
	Datasource struct{ Type, UID string }
	Expr       string
	RawSQL     string `json:"rawSql"`
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(testkit.Source(t, path))
	testkit.Must(t, err)
	return string(b)
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(testkit.Source(t, pattern))
	if err != nil || len(found) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	if filepath.Dir(pattern) == "." {
		for _, path := range found {
			testkit.Source(t, filepath.Base(path)) // the test cache knows names, not patterns
		}
	}
	return found
}

func dashboards(t *testing.T) (out []dashboard) {
	t.Helper()
	for _, path := range glob(t, "deploy/grafana/dashboards/*.json") {
		b, err := os.ReadFile(path)
		testkit.Must(t, err)
		d := dashboard{file: filepath.Base(path)}
		if err := json.Unmarshal(b, &d); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		out = append(out, d)
	}
	return out
}

var macros = strings.NewReplacer("$__rate_interval", "1m", "$region", ".+", "$__interval", "1m", "$__range", "3h", "$instance", ".+")

// expressions returns every PromQL expression of the dashboards, by location.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, d := range dashboards(t) {
		for _, p := range d.Panels {
			for _, q := range p.Targets {
				if q.Expr != "" {
					out[d.file+", "+p.Title+", "+q.RefID] = macros.Replace(q.Expr)
				}
			}
		}
	}
	if len(out) < 50 {
		t.Fatalf("found only %d expressions, so the search is broken", len(out))
	}
	return out
}

var metricName = regexp.MustCompile(`\b(shortline|process|go)_[a-z0-9_]+|\bshortline:[a-z0-9_:]+`)
