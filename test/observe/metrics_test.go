package observe_test

import (
	"bufio"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

var update = flag.Bool("update", false, "rewrite docs/operators/metrics.md and testdata/log-messages.txt")

// inSource matches declarations of metrics in the source: the name and help as arguments, as constants, or as the fields of
// its options.
var inSource = regexp.MustCompile(`(?:\(|=\s|Name:\s*)"(shortline_[a-z0-9_]+)",\s*(?:Help:\s*)?"((?:[^"\\]|\\.)*)"`)

// divided matches the place where a literal continues on the next line.
var divided = regexp.MustCompile(`" ?\+\n\s*"`)

// declared returns the help texts of all metrics in the source, by name.
func declared(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, dir := range []string{"shared", "edge", "control"} {
		err := filepath.WalkDir(testkit.Source(t, dir), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			b, err := os.ReadFile(path)
			for _, m := range inSource.FindAllStringSubmatch(divided.ReplaceAllString(string(b), ""), -1) {
				out[m[1]] = m[2]
			}
			return err
		})
		testkit.Must(t, err)
	}
	return out
}

// kind derives the type of a metric from its name. A test compares it with the type that a program exports.
func kind(name string) string {
	switch {
	case strings.HasSuffix(name, "_total"):
		return "counter"
	case strings.HasSuffix(name, "_duration_seconds"):
		return "histogram"
	}
	return "gauge"
}

const preface = `# Metrics

Every program serves its metrics at ` + "`/metrics`" + ` on ` + "`OPS_ADDR`" + `, in addition to the metrics of the Go runtime
(` + "`go_…`" + `) and of the process (` + "`process_…`" + `). Label values come from small fixed sets: a slug, user, host or path
is never a label. Standalone exports the metrics of an edge and of a control plane, except those of Kafka (` + "`kafkasink`" + `,
` + "`kafkasource`" + `) and of the API for remote edges (` + "`edgeapi`" + `). See also the dashboards in
[deploy/grafana](../../deploy/grafana) and the alerts in [deploy/prometheus](../../deploy/prometheus).

This page is generated: ` + "`cd test/observe && go test -run are_documented -update .`" + `

| Metric | Type | Meaning |
|---|---|---|
`

func TestMetrics_are_documented(t *testing.T) {
	t.Parallel()
	all := declared(t)
	var doc strings.Builder
	doc.WriteString(preface)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&doc, "| `%s` | %s | %s |\n", name, kind(name), strings.ReplaceAll(all[name], "|", `\|`))
	}
	if *update {
		testkit.Must(t, os.WriteFile(testkit.Source(t, "docs/operators/metrics.md"), []byte(doc.String()), 0o644))
	}
	if read(t, "docs/operators/metrics.md") != doc.String() {
		t.Error("docs/operators/metrics.md differs from the source; run in test/observe: go test -run are_documented -update .")
	}
}

// exported parses types and help texts from the output of /metrics.
func exported(t *testing.T, text string) (types, helps map[string]string) {
	t.Helper()
	types, helps = map[string]string{}, map[string]string{}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		word := strings.SplitN(lines.Text(), " ", 4)
		if len(word) == 4 && word[1] == "TYPE" {
			types[word[2]] = word[3]
		} else if len(word) == 4 && word[1] == "HELP" {
			helps[word[2]] = word[3]
		}
	}
	return types, helps
}

// recorded lists the names of recording rules.
func recorded(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	text := read(t, "deploy/prometheus/rules/recording.yml") + read(t, "deploy/kubernetes/shortline/templates/monitor.yaml")
	for _, m := range regexp.MustCompile(`record: (\S+)`).FindAllStringSubmatch(text, -1) {
		out[m[1]] = true
	}
	return out
}

// Every metric in a dashboard, rule or alert is exported by a program.
func TestMetrics_in_queries_exist(t *testing.T) {
	t.Parallel()
	asked := expressions(t)
	for _, d := range dashboards(t) {
		for _, v := range d.Templating.List {
			if v.Datasource.Type == "prometheus" {
				asked[d.file+", $"+v.Name] = v.Definition
			}
		}
	}
	for _, file := range []string{"recording.yml", "alerts.yml"} {
		asked[file] = read(t, "deploy/prometheus/rules/"+file)
	}
	types, _ := exported(t, standalone(t).metrics(t)+lonelyEdge(t).metrics(t))
	all, rules, here := declared(t), recorded(t), components(types)
	for where, text := range asked {
		for _, name := range metricName.FindAllString(text, -1) {
			base := name
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				if b, ok := strings.CutSuffix(name, suffix); ok && types[b] == "histogram" {
					base = b
				}
			}
			_, known := all[base]
			switch {
			case rules[base], types[base] != "":
			case known && !here[component(base)]: // a metric of the control plane, which neither program exports
			default:
				t.Errorf("%s queries %s, which no program exports", where, name)
			}
		}
	}
}

// component returns the component in a metric name: "spool" for shortline_spool_bytes.
func component(name string) string {
	return strings.SplitN(name, "_", 3)[1]
}

// components returns the components with at least one exported metric.
func components(types map[string]string) map[string]bool {
	out := map[string]bool{}
	for name := range types {
		if strings.HasPrefix(name, "shortline_") {
			out[component(name)] = true
		}
	}
	return out
}

func TestMetrics_of_running_programs_are_the_documented_ones(t *testing.T) {
	t.Parallel()
	all := declared(t)
	types, helps := exported(t, standalone(t).metrics(t)+lonelyEdge(t).metrics(t))
	for name, typ := range types {
		if !strings.HasPrefix(name, "shortline_") {
			continue
		}
		if all[name] == "" || all[name] != helps[name] {
			t.Errorf("%s is exported, but its documentation is missing or differs: %q", name, helps[name])
		}
		if typ != kind(name) {
			t.Errorf("%s has the type %s, but its name implies %s", name, typ, kind(name))
		}
	}
	here := components(types)
	for _, must := range []string{"edge", "agent", "spool", "ship", "ingest", "counters", "api", "store", "webhooks", "kafkasink"} {
		if !here[must] {
			t.Errorf("no metric of the component %s is exported", must)
		}
	}
	for name := range all {
		if types[name] == "" && here[component(name)] {
			t.Errorf("%s is documented but not exported, unlike other metrics of its component", name)
		}
	}
}

// Nobody reads a metric that no dashboard, rule or page for operators names.
func TestMetrics_are_read(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for _, root := range []string{"deploy/grafana/dashboards", "deploy/prometheus/rules", "docs/operators"} {
		testkit.Must(t, filepath.WalkDir(testkit.Source(t, root), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || e.Name() == "metrics.md" {
				return err
			}
			b, err := os.ReadFile(path)
			text.Write(b)
			return err
		}))
	}
	read := map[string]bool{}
	for _, name := range metricName.FindAllString(text.String(), -1) {
		read[name] = true
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			read[strings.TrimSuffix(name, suffix)] = true
		}
	}
	for name := range declared(t) {
		if !read[name] {
			t.Errorf("no dashboard, rule or page of docs/operators names %s", name)
		}
	}
}
