package harness_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// environment returns the environment of a service in docker-compose.yml as NAME=value, with the defaults for variables
// from .env.
func environment(t *testing.T, service string) []string {
	t.Helper()
	text, err := os.ReadFile(testkit.Source(t, "docker-compose.yml"))
	testkit.Must(t, err)
	var file struct {
		Services map[string]struct{ Environment map[string]string }
	}
	testkit.Must(t, yaml.Unmarshal(text, &file))
	set := file.Services[service].Environment
	if len(set) == 0 {
		t.Fatalf("docker-compose.yml has no settings for %s", service)
	}
	var all []string
	for name, value := range set {
		all = append(all, name+"="+preset(t, value))
	}
	slices.Sort(all)
	return all
}

var variable = regexp.MustCompile(`\$\{[A-Z0-9_]+:-([^}]*)\}`)

// preset replaces ${NAME:-default}, the only form in the file, with the default.
func preset(t *testing.T, value string) string {
	t.Helper()
	out := variable.ReplaceAllString(value, "$1")
	if strings.Contains(out, "${") {
		t.Fatalf("%q: a variable without a default", value)
	}
	return out
}

// replace changes the values of some settings. A missing setting is an error: the file has changed.
func replace(t *testing.T, settings []string, by map[string]string) []string {
	t.Helper()
	out := slices.Clone(settings)
	for name, value := range by {
		i := slices.IndexFunc(out, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
		if i < 0 {
			t.Fatalf("docker-compose.yml does not set %s", name)
		}
		out[i] = name + "=" + value
	}
	return out
}

// value returns the value of a setting.
func value(t *testing.T, settings []string, name string) string {
	t.Helper()
	for _, kv := range settings {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	t.Fatalf("%s is not set", name)
	return ""
}

// mounted replaces the path of the secrets folder in containers with another path.
func mounted(settings []string, dir string) []string {
	out := slices.Clone(settings)
	for i, kv := range out {
		out[i] = strings.Replace(kv, "=/run/secrets/", "="+dir+"/", 1)
	}
	return out
}
