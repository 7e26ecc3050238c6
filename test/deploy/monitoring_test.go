package deploy_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// prometheusRule has the fields of the Prometheus operator's type that the chart uses.
type prometheusRule struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Groups []ruleGroup `json:"groups"`
	} `json:"spec"`
}

type ruleGroup struct {
	Name  string `json:"name"`
	Rules []struct {
		Record      string            `json:"record,omitempty"`
		Alert       string            `json:"alert,omitempty"`
		Expr        string            `json:"expr"`
		For         string            `json:"for,omitempty"`
		Labels      map[string]string `json:"labels,omitempty"`
		Annotations map[string]string `json:"annotations,omitempty"`
	} `json:"rules"`
}

func parse[T any](t *testing.T, text string) (out T) {
	t.Helper()
	testkit.Must(t, yaml.UnmarshalStrict([]byte(text), &out))
	return out
}

// The chart contains the same rules and dashboards that compose uses.
func TestOps3_Chart_ships_rules_and_dashboards(t *testing.T) {
	t.Parallel()
	r := render(t, "full")
	rule, ok := r.objects["PrometheusRule/go-shortline"].(*prometheusRule)
	if !ok {
		t.Fatal("no PrometheusRule")
	}
	if rule.Labels["release"] != "prometheus" {
		t.Errorf("the PrometheusRule has the labels %v", rule.Labels)
	}
	got := map[string]ruleGroup{}
	for _, g := range rule.Spec.Groups {
		got[g.Name] = g
	}
	n := 0
	for _, name := range []string{"alerts.yml", "recording.yml"} {
		for _, g := range parse[struct {
			Groups []ruleGroup `json:"groups"`
		}](t, read(t, "deploy/prometheus/rules/"+name)).Groups {
			n++
			if !reflect.DeepEqual(got[g.Name], g) {
				t.Errorf("the rule group %s of %s differs from the chart", g.Name, name)
			}
		}
	}
	if len(got) != n+1 || n < 4 {
		t.Errorf("the chart has %d rule groups, the files have %d", len(got), n)
	}
	expected := map[string]string{}
	for _, r := range got["shortline-expected"].Rules {
		expected[r.Labels["service"]] = r.Expr
	}
	if want := map[string]string{"go-shortline-edge-pods": "vector(3)",
		"go-shortline-control-ops": "vector(5)"}; !reflect.DeepEqual(expected,
		want) {
		t.Errorf("expected pods: %v, want %v", expected, want)
	}
	boards, err := filepath.Glob(source(t, "deploy/grafana/dashboards/*.json"))
	if err != nil || len(boards) == 0 {
		t.Fatal("no dashboards", err)
	}
	for _, path := range boards {
		file := filepath.Base(path)
		m, ok := r.objects["ConfigMap/go-shortline-dashboard-"+strings.TrimSuffix(file, ".json")].(*corev1.ConfigMap)
		if !ok {
			t.Errorf("no ConfigMap for %s", file)
			continue
		}
		if m.Labels["grafana_dashboard"] != "1" || m.Annotations["grafana_folder"] != "Shortline" {
			t.Errorf("%s: labels %v, annotations %v", file, m.Labels, m.Annotations)
		}
		if want := read(t, "deploy/grafana/dashboards/"+file); strings.TrimSpace(m.Data["shortline-"+file]) != strings.TrimSpace(want) {
			t.Errorf("%s differs from the chart", file)
		}
	}
	for _, kind := range []string{"PrometheusRule/go-shortline", "ConfigMap/go-shortline-dashboard-edges"} {
		if render(t, "minimal").objects[kind] != nil {
			t.Errorf("%s is created although it is not enabled", kind)
		}
	}
}

// For any release name, the targets have a job that the alerts match.
func TestOps3_Chart_targets_are_those_of_the_alerts(t *testing.T) {
	t.Parallel()
	down := regexp.MustCompile(`expr: up\{job=~"([^"]+)"\} == 0`).FindStringSubmatch(read(t, "deploy/prometheus/rules/alerts.yml"))
	if down == nil {
		t.Fatal("alerts.yml has no alert for a target that is down")
	}
	jobs := regexp.MustCompile("^(" + down[1] + ")$")
	for _, release := range []string{"go", "links", "shortline", "a-release-with-a-name-that-is-almost-too-long"} {
		files, err := attemptAs(t, release, values(t, "full"))
		testkit.Must(t, err)
		var monitor *serviceMonitor
		var services []*corev1.Service
		for _, text := range files {
			for _, document := range separator.Split(text, -1) {
				if strings.Contains(document, "kind: ServiceMonitor") {
					m := parse[serviceMonitor](t, document)
					monitor = &m
				} else if strings.Contains(document, "\nkind: Service\n") {
					s := parse[corev1.Service](t, document)
					services = append(services, &s)
				}
			}
		}
		if monitor == nil {
			t.Fatal("no ServiceMonitor")
		}
		var found []string
		for _, s := range services {
			if !labels.SelectorFromSet(monitor.Spec.Selector.MatchLabels).Matches(labels.Set(s.Labels)) {
				continue
			}
			job := s.Name // default of the operator without jobLabel
			if l := s.Labels[monitor.Spec.JobLabel]; l != "" {
				job = l
			}
			found = append(found, job)
			if !jobs.MatchString(job) {
				t.Errorf("release %s: the job %s of the service %s does not match %s", release, job, s.Name, jobs)
			}
		}
		slices.Sort(found)
		if want := []string{"shortline-control", "shortline-edge"}; !slices.Equal(found, want) {
			t.Errorf("release %s: jobs %v, want %v", release, found, want)
		}
	}
}

// The rendered rules fire for a pod that does not answer, for a pod without an address, and if no target exists.
func TestOps3_Chart_alerts_fire(t *testing.T) {
	t.Parallel()
	promtool := testkit.Part(t, "promtool")
	rule, ok := render(t, "full").objects["PrometheusRule/go-shortline"].(*prometheusRule)
	if !ok {
		t.Fatal("no PrometheusRule")
	}
	dir := t.TempDir()
	rules, err := yaml.Marshal(map[string]any{"groups": rule.Spec.Groups})
	testkit.Must(t, err)
	testkit.Must(t, os.WriteFile(filepath.Join(dir, "rules.yml"), rules, 0o600))
	up := func(pod int, values string) string {
		return fmt.Sprintf(`
      - {series: 'up{job="shortline-edge",namespace="links",service="go-shortline-edge-pods",instance="10.0.0.%d:9090"}', values: '%s'}`,
			pod, values)
	}
	test := func(name, series, at, alert string, want int) string {
		samples := "[]"
		if want > 0 {
			samples = fmt.Sprintf("[{labels: '{}', value: %d}]", want)
		}
		return fmt.Sprintf(`
  - name: %s
    interval: 1m
    input_series: %s
    promql_expr_test:
      - expr: count(ALERTS{alertname="%s",alertstate="firing",service!="go-shortline-control-ops"})
        eval_time: %s
        exp_samples: %s
`, name, series, alert, at, samples)
	}
	whole := up(1, "1x30") + up(2, "1x30") + up(3, "1x30")
	text := "rule_files: [rules.yml]\nevaluation_interval: 1m\ntests:" +
		test("all targets answer, Down", whole, "20m", "ShortlineDown", 0) +
		test("all targets answer, TooFew", whole, "20m", "ShortlineTooFew", 0) +
		test("one does not answer", up(1, "1x30")+up(2, "1x30")+up(3, "1x10 0x20"), "15m", "ShortlineDown", 1) +
		test("one has lost its node and its address", up(1, "1x30")+up(2, "1x30")+up(3, "1x10 stale"), "20m", "ShortlineTooFew", 1) +
		test("all have lost their addresses", up(1, "1x10 stale")+up(2, "1x10 stale")+up(3, "1x10 stale"), "20m", "ShortlineTooFew", 1) +
		test("no target exists", " []", "20m", "ShortlineUnwatched", 1)
	path := filepath.Join(dir, "test.yml")
	testkit.Must(t, os.WriteFile(path, []byte(text), 0o600))
	if out, err := exec.CommandContext(t.Context(), promtool, "test", "rules", path).CombinedOutput(); err != nil {
		t.Errorf("promtool: %v\n%s", err, out)
	}
}
