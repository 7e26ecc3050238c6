package observe_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// alert is a rule of deploy/prometheus/rules/alerts.yml.
type alert struct {
	name, expr, wait, severity string
	notes                      map[string]string // annotations
}

var severity = regexp.MustCompile(`^labels: \{severity: (page|ticket)\}$`)

// alerts parses the alerts. Every annotation is one line there.
func alerts(t *testing.T) (list []alert) {
	t.Helper()
	for _, text := range strings.Split(read(t, "deploy/prometheus/rules/alerts.yml"), "      - alert: ")[1:] {
		name, body, _ := strings.Cut(text, "\n")
		a := alert{name: name, notes: map[string]string{}}
		part := ""
		for line := range strings.Lines(body) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			switch indent := len(line) - len(strings.TrimLeft(line, " ")); {
			case indent == 8 && severity.MatchString(strings.TrimSpace(line)):
				a.severity = severity.FindStringSubmatch(strings.TrimSpace(line))[1]
			case indent == 8:
				part = strings.TrimSuffix(key, ":")
				if part == "for" {
					a.wait = value
				} else if part == "expr" && value != "|" {
					a.expr = value
				}
			case indent == 10 && part == "expr":
				a.expr += strings.TrimPrefix(line, "          ")
			case indent == 10 && part == "annotations":
				if unquoted, quoted := strings.CutPrefix(value, `"`); quoted {
					value = strings.ReplaceAll(strings.TrimSuffix(unquoted, `"`), `\"`, `"`)
				}
				a.notes[key] = value
			}
		}
		a.expr = strings.TrimSpace(a.expr)
		list = append(list, a)
	}
	if len(list) < 50 {
		t.Fatalf("found only %d alerts", len(list))
	}
	return list
}

const alertPages = "docs/operators/alerts/"

func TestAlerts_have_instructions(t *testing.T) {
	t.Parallel()
	for _, a := range alerts(t) {
		for _, field := range []string{"summary", "description", "check", "runbook"} {
			if a.notes[field] == "" {
				t.Errorf("%s has no %s", a.name, field)
			}
		}
		if want := "https://github.com/shortline/shortline/blob/main/" + alertPages + a.name + ".md"; a.notes["runbook_url"] != want {
			t.Errorf("%s: runbook_url must be %s", a.name, want)
		}
		if a.severity == "" || a.expr == "" {
			t.Errorf("%s: severity %q, expr %q", a.name, a.severity, a.expr)
		}
	}
}

// cases returns the alerts that the tests of promtool expect to fire, and those that they expect to be silent.
func cases(text string) (fires, silent map[string]bool) {
	fires, silent = map[string]bool{}, map[string]bool{}
	names := regexp.MustCompile(`alertname=~?"([^"]+)"`)
	for _, question := range strings.Split(text, "      - expr: ")[1:] {
		first, rest, _ := strings.Cut(question, "\n")
		rest, _, _ = strings.Cut(rest, "\n\n") // the next case
		m := names.FindStringSubmatch(first)
		if m == nil {
			continue
		}
		asked := strings.Split(m[1], "|")
		for _, name := range asked {
			switch {
			case !strings.Contains(rest, "exp_samples:"):
				silent[name] = true
			case len(asked) == 1 || strings.Contains(rest, `alertname="`+name+`"`):
				fires[name] = true
			}
		}
	}
	return fires, silent
}

func TestA9_every_alert_fires_in_a_case_and_stays_silent_in_one(t *testing.T) {
	t.Parallel()
	text := ""
	for _, path := range glob(t, "deploy/prometheus/tests/*.yml") {
		text += read(t, "deploy/prometheus/tests/"+filepath.Base(path)) + "\n\n"
	}
	fires, silent := cases(text)
	for _, a := range alerts(t) {
		if !fires[a.name] {
			t.Errorf("%s: no case in which it fires", a.name)
		}
		if !silent[a.name] {
			t.Errorf("%s: no case in which it stays silent", a.name)
		}
	}
	// The check itself notices a case that is missing.
	fires, silent = cases(`tests:
      - expr: ALERTS{alertname="One"}
        eval_time: 1m

      - expr: ALERTS{alertname=~"Two|Three"}
        exp_samples:
          - labels: '{alertname="Two"}'
`)
	if fires["One"] || !silent["One"] || !fires["Two"] || silent["Two"] || fires["Three"] {
		t.Errorf("fires %v, silent %v", fires, silent)
	}
}

var (
	placeholder = regexp.MustCompile(`\{\{ \$(?:labels\.(\w+)|value)[^}]*\}\}`)
	identifier  = regexp.MustCompile(`\b([A-Z][A-Z0-9]*_[A-Z0-9_]+|(?:shortline|container)_[a-z0-9_]+|[a-z]+\.[a-z]+\.(?:ms|bytes))\b`)
	bareName    = regexp.MustCompile(`\b(?:Shortline[A-Z]\w+)`)
)

// prose renders an annotation as Markdown: placeholders as capitals, names of alerts as links, log messages and other
// identifiers as code.
func prose(text string, known map[string]bool, messages []string) string {
	for _, message := range messages {
		text = strings.ReplaceAll(text, message, "`"+message+"`")
	}
	text = placeholder.ReplaceAllStringFunc(text, func(s string) string {
		if m := placeholder.FindStringSubmatch(s); m[1] != "" {
			return strings.ToUpper(m[1])
		}
		return "N"
	})
	text = identifier.ReplaceAllString(text, "`$1`")
	text = regexp.MustCompile(`\bdocs/operators/(\w+)\.md\b`).ReplaceAllString(text, "[$1.md](../$1.md)")
	return bareName.ReplaceAllStringFunc(text, func(s string) string {
		if known[s] {
			return "[" + s + "](" + s + ".md)"
		}
		return s
	})
}

// wrap breaks text into lines of at most 130 columns.
func wrap(text string) string {
	var out strings.Builder
	column := 0
	for _, word := range strings.Fields(text) {
		if column > 0 && column+1+len(word) > 130 {
			out.WriteByte('\n')
			column = 0
		} else if column > 0 {
			out.WriteByte(' ')
			column++
		}
		out.WriteString(word)
		column += len(word)
	}
	return out.String()
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// page renders the page of an alert.
func (a *alert) page(known map[string]bool, metrics map[string]string, messages []string, followed practice) string {
	var b strings.Builder
	urgency := "**Page**: act now."
	if a.severity == "ticket" {
		urgency = "**Ticket**: act within a working day."
	}
	fmt.Fprintf(&b, "# %s\n\n%s\n\n%s\n\n", a.name, wrap(prose(a.notes["summary"], nil, nil)+"."), urgency)
	for _, part := range [][2]string{{"description", "What it means"}, {"check", "What to look at"}, {"runbook", "What to do"}} {
		fmt.Fprintf(&b, "## %s\n\n%s\n\n", part[1], wrap(upperFirst(prose(a.notes[part[0]], known, messages))))
	}
	b.WriteString(wrap(followed.sentence()) + "\n\n")
	fmt.Fprintf(&b, "## When it fires\n\n```text\n%s\n```\n\n", a.expr)
	if a.wait != "" {
		fmt.Fprintf(&b, "This must hold for %s.\n\n", a.wait)
	}
	used := map[string]bool{}
	for _, name := range metricName.FindAllString(a.expr, -1) {
		used[name] = metrics[name] != ""
	}
	rows := ""
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if used[name] {
			rows += fmt.Sprintf("| `%s` | %s |\n", name, strings.ReplaceAll(metrics[name], "|", `\|`))
		}
	}
	if rows != "" {
		b.WriteString("| Metric | Meaning |\n|---|---|\n" + rows + "\n")
	}
	b.WriteString("[All alerts](README.md). This page is generated from `deploy/prometheus/rules/alerts.yml`.\n")
	return b.String()
}

const alertsPreface = `# Alerts

One page for each alert of [deploy/prometheus/rules](../../../deploy/prometheus/rules/alerts.yml): what it means, what to look at, what to
do. The annotation ` + "`runbook_url`" + ` of an alert leads to its page. The dashboard "Is it healthy?" shows which alerts fire.

These pages are generated: ` + "`cd test/observe && go test -run TestAlerts_have_pages -update .`" + `

| Alert | Severity | Problem |
|---|---|---|
`

// Each alert has a page that is generated from the rules, and there are no others.
func TestAlerts_have_pages(t *testing.T) {
	t.Parallel()
	list, known, metrics, followed := alerts(t), map[string]bool{}, declared(t), practices(t)
	for _, a := range list {
		known[a.name] = true
	}
	var messages []string
	for line := range strings.Lines(read(t, "test/observe/"+messagesFile)) {
		if part := strings.Split(strings.TrimSpace(line), "  "); len(strings.Fields(part[len(part)-1])) > 2 {
			messages = append(messages, part[len(part)-1])
		}
	}
	want := map[string]string{"README.md": alertsPreface}
	for _, a := range list {
		want[a.name+".md"] = a.page(known, metrics, messages, followed[a.name])
		want["README.md"] += fmt.Sprintf("| [%s](%s.md) | %s | %s |\n", a.name, a.name, a.severity, prose(a.notes["summary"], nil, nil))
	}
	folder := testkit.Source(t, alertPages)
	if *update {
		testkit.Must(t, os.RemoveAll(folder))
		testkit.Must(t, os.MkdirAll(folder, 0o755))
		for name, text := range want {
			testkit.Must(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
		}
	}
	found, err := os.ReadDir(folder)
	testkit.Must(t, err)
	for _, file := range found {
		if want[file.Name()] == "" {
			t.Errorf("%s is the page of no alert", file.Name())
		}
	}
	for name, text := range want {
		if b, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(b) != text {
			t.Errorf("%s differs from the rules; run in test/observe: go test -run TestAlerts_have_pages -update .", name)
		}
	}
}
