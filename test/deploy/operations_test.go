package deploy_test

import (
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pages lists the documents for operators.
var pages = []string{"docs/operators/operations.md", "docs/operators/kubernetes.md", "docs/operators/clickhouse-cluster.md"}

// fenced returns the code blocks of a page in one language.
func fenced(t *testing.T, page, language string) (blocks []string) {
	t.Helper()
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(read(t, page), -1) {
		blocks = append(blocks, m[1])
	}
	return blocks
}

// inCode returns the code of a page, inline and in blocks.
func inCode(t *testing.T, page string) (all []string) {
	t.Helper()
	text := read(t, page)
	for _, block := range fenced(t, page, "sh") {
		all = append(all, strings.Split(block, "\n")...)
	}
	text = regexp.MustCompile("(?s)```.*?```").ReplaceAllString(text, "")
	for _, m := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

// Operators read these pages during an incident, so every command in them must exist.
func TestOperations_commands_exist(t *testing.T) {
	t.Parallel()
	help := map[string]string{}
	for _, name := range []string{"edge", "control", "standalone"} {
		text, err := exec.Command(program(t, name), "-help").CombinedOutput()
		if err != nil {
			t.Fatalf("%s -help: %v", name, err)
		}
		help[name] = string(text)
	}
	services := project(t, nil).Services
	maps.Copy(services, project(t, nil, fleets["cluster.yml"]...).Services)
	makefile := read(t, "Makefile")
	checked := map[string]int{}
	for _, page := range pages {
		for _, line := range inCode(t, page) {
			words := strings.Fields(line)
			if len(words) < 2 {
				continue
			}
			checked[words[0]]++
			switch words[0] {
			case "edge", "control", "standalone":
				if !regexp.MustCompile(`(?m)^  ` + regexp.QuoteMeta(words[1]) + `(\s|$)`).MatchString(help[words[0]]) {
					t.Errorf("%s: %q: %s has no such command or flag", page, line, words[0])
				}
			case "make":
				if !strings.Contains(makefile, "\n"+words[1]+":") {
					t.Errorf("%s: %q: the Makefile has no such target", page, line)
				}
			case "docker":
				if words[1] != "compose" {
					t.Errorf("%s: unknown command %q", page, line)
				}
				named := 0
				for _, w := range words[3:] {
					w, _, _ = strings.Cut(w, ":") // as in "cp SERVICE:PATH"
					if _, ok := services[w]; ok {
						named++
					}
				}
				if named == 0 && words[2] != "build" {
					t.Errorf("%s: %q does not name a service of docker-compose.yml", page, line)
				}
			}
		}
	}
	if checked["control"] < 5 || checked["docker"] < 8 {
		t.Errorf("too few commands were found in the pages: %v", checked)
	}
}

func TestOperations_settings_metrics_and_files_exist(t *testing.T) {
	t.Parallel()
	known := append(slices.Clone(runtimeSettings), commandSettings...)
	known = append(known, "ALLOW_NO_VULN_DB") // read by deploy/dev/vulns
	for _, name := range []string{"edge", "control", "standalone"} {
		known = append(known, settings(t, name)...)
	}
	metrics := read(t, "docs/operators/metrics.md")
	setting, path := regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$`), regexp.MustCompile(`^(deploy|docs|test)/[a-z0-9/._-]+$`)
	for _, page := range pages {
		for _, code := range inCode(t, page) {
			switch {
			case setting.MatchString(code) && !slices.Contains(known, code):
				t.Errorf("%s: no program reads %s", page, code)
			case strings.HasPrefix(code, "shortline_") && !strings.Contains(metrics, "| `"+code+"`"):
				t.Errorf("%s: no metric %s in docs/operators/metrics.md", page, code)
			case path.MatchString(code):
				if _, err := os.Stat(source(t, code)); err != nil {
					t.Errorf("%s: %v", page, err)
				}
			}
		}
	}
}

// Every chart value that a page names is in values.yaml.
func TestOperations_values_exist(t *testing.T) {
	t.Parallel()
	dotted := regexp.MustCompile(
		`^(image|secrets|kafka|clickhouse|tracing|edge|control|media|migrate|ingress|networkPolicy|serviceMonitor)((\.[a-zA-Z0-9]+)+)(: .*)?$`)
	all := chartValues(t)
	n := 0
	for _, page := range pages {
		for _, code := range inCode(t, page) {
			m := dotted.FindStringSubmatch(code)
			if m == nil {
				continue
			}
			n++
			var at any = all[m[1]]
			for _, key := range strings.Split(m[2], ".")[1:] {
				in, _ := at.(map[string]any) // a nil map has no keys
				next, ok := in[key]
				if at = next; !ok {
					t.Errorf("%s: values.yaml has no %s", page, code)
					break
				}
			}
		}
	}
	if n < 5 {
		t.Errorf("the pages name only %d values, so the search is broken", n)
	}
}

// Configuration files for third-party images parse, and keep clicks safe.
func TestBackends_settings(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"shortline.xml", "cluster.xml", "cluster-users.xml", "keeper.xml"} {
		d := xml.NewDecoder(strings.NewReader(read(t, "deploy/clickhouse/"+file)))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("deploy/clickhouse/%s: %v", file, err)
			}
		}
	}
	kafka := map[string]string{}
	for line := range strings.SplitSeq(read(t, "deploy/kafka/server.properties"), "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if _, twice := kafka[name]; !ok || twice {
			t.Errorf("deploy/kafka/server.properties: invalid line %q", line)
		}
		kafka[name] = value
	}
	for name, want := range map[string]string{
		"unclean.leader.election.enable": "false", "auto.create.topics.enable": "false", "log.retention.hours": "168",
		"advertised.listeners": "CLICKS://kafka:9092", "log.dirs": "/var/lib/kafka/data",
	} {
		if kafka[name] != want {
			t.Errorf("deploy/kafka/server.properties: %s is %q", name, kafka[name])
		}
	}
	for _, script := range []string{"deploy/make-secrets", "deploy/clickhouse/grafana.sh"} {
		if text, err := exec.Command("bash", "-n", source(t, script)).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", script, err, text)
		}
	}
}
