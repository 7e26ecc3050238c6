package deploy_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

// replicas returns how many pods each workload has at least and at most.
func replicas(r rendered) map[string][2]int64 {
	out := map[string][2]int64{}
	set := func(name string, n *int32) {
		if n != nil {
			out[name] = [2]int64{int64(*n), int64(*n)}
		} else if h := all[*autoscalingv2.HorizontalPodAutoscaler](r)[name]; h != nil {
			out[name] = [2]int64{int64(*h.Spec.MinReplicas), int64(h.Spec.MaxReplicas)}
		}
	}
	for name, s := range all[*appsv1.StatefulSet](r) {
		set(name, s.Spec.Replicas)
	}
	for name, d := range all[*appsv1.Deployment](r) {
		set(name, d.Spec.Replicas)
	}
	return out
}

// Autoscalers scale workloads that exist, from a share of what their pods request. Without a request they would do nothing.
func TestChart_autoscalers_have_something_to_scale(t *testing.T) {
	t.Parallel()
	found := 0
	for _, name := range examples {
		r := render(t, name)
		for target, h := range all[*autoscalingv2.HorizontalPodAutoscaler](r) {
			found++
			ref := h.Spec.ScaleTargetRef
			if r.objects[ref.Kind+"/"+ref.Name] == nil || ref.Name != target {
				t.Errorf("%s: %s scales %s %s", name, target, ref.Kind, ref.Name)
			}
			if cpu := pods(r)[target].Spec.Containers[0].Resources.Requests.Cpu(); cpu.IsZero() {
				t.Errorf("%s: pods of %s request no CPU", name, target)
			}
			if *h.Spec.MinReplicas > h.Spec.MaxReplicas || h.Spec.Behavior.ScaleDown.Policies[0].Value != 1 {
				t.Errorf("%s: %s scales from %d to %d, and down by %d", name, target, *h.Spec.MinReplicas, h.Spec.MaxReplicas,
					h.Spec.Behavior.ScaleDown.Policies[0].Value)
			}
		}
		for workload, n := range replicas(r) {
			if n[0] < 1 {
				t.Errorf("%s: %s has no pod", name, workload)
			}
		}
	}
	if found < 8 {
		t.Fatalf("only %d autoscalers", found)
	}
}

// Pods are spread over nodes and zones, survive the drain of a node, and have an account without a token that exists.
func TestChart_pods_survive_a_node(t *testing.T) {
	t.Parallel()
	for _, name := range examples {
		r := render(t, name)
		for workload, n := range replicas(r) {
			budget := all[*policyv1.PodDisruptionBudget](r)[workload]
			if n[0] > 1 && budget == nil {
				t.Errorf("%s: %s has %d pods and no disruption budget", name, workload, n[0])
			}
			spec := pods(r)[workload].Spec
			keys := map[string]corev1.UnsatisfiableConstraintAction{}
			for _, c := range spec.TopologySpreadConstraints {
				keys[c.TopologyKey] = c.WhenUnsatisfiable
			}
			zones, nodes := corev1.ScheduleAnyway, corev1.ScheduleAnyway
			if name == "full" {
				zones = corev1.DoNotSchedule
			}
			if name == "size-large" {
				nodes = corev1.DoNotSchedule
			}
			if keys["topology.kubernetes.io/zone"] != zones || keys["kubernetes.io/hostname"] != nodes {
				t.Errorf("%s: %s is spread by %v", name, workload, keys)
			}
			part := "control"
			if strings.HasSuffix(workload, "-edge") {
				part = "edge"
			}
			account, priority := "go-shortline-"+part, ""
			if name == "full" {
				priority = map[string]string{"edge": "visitors", "control": "backends"}[part]
				if part == "control" {
					account = "links-control" // exists already
				}
			}
			if spec.ServiceAccountName != account || spec.PriorityClassName != priority {
				t.Errorf("%s: %s has the account %q and the priority %q", name, workload, spec.ServiceAccountName, spec.PriorityClassName)
			}
			made := all[*corev1.ServiceAccount](r)[account]
			if account != "links-control" &&
				(made == nil || made.AutomountServiceAccountToken == nil || *made.AutomountServiceAccountToken) {
				t.Errorf("%s: the account %s is missing or mounts a token", name, account)
			}
		}
	}
}

// The page on sizes says what each size requests at least and at most. Go's memory limit leaves a tenth of the container's.
func TestChart_sizes_cost_what_the_page_says(t *testing.T) {
	t.Parallel()
	page := read(t, "docs/operators/sizing.md")
	for _, size := range []string{"small", "medium", "large"} {
		r := render(t, "size-"+size)
		var cpu, memory [2]int64
		var disk int64
		for workload, n := range replicas(r) {
			c := pods(r)[workload].Spec.Containers[0]
			for i := range n {
				cpu[i] += n[i] * c.Resources.Requests.Cpu().MilliValue()
				memory[i] += n[i] * c.Resources.Requests.Memory().Value()
			}
			if set := all[*appsv1.StatefulSet](r)[workload]; set != nil {
				claim := set.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests[corev1.ResourceStorage]
				disk += n[1] * claim.Value()
			}
			limit := c.Resources.Limits.Memory().Value()
			heap := resource.MustParse(strings.TrimSuffix(envOfPod(pods(r)[workload])["GOMEMLIMIT"], "B"))
			if heap.Value() > limit*9/10 || heap.Value() < limit/2 {
				t.Errorf("%s: %s has GOMEMLIMIT %s of %d bytes", size, workload, heap.String(), limit)
			}
		}
		line := fmt.Sprintf("| `sizes/%s.yaml` | %s CPU, %s GiB | %s CPU, %s GiB | %d GiB |", size, decimal(cpu[0]),
			decimal(memory[0]*1000>>30), decimal(cpu[1]), decimal(memory[1]*1000>>30), disk>>30)
		if !strings.Contains(page, line) {
			t.Errorf("docs/operators/sizing.md has no row that begins with\n%s", line)
		}
	}
}

// decimal writes thousandths with one digit behind the point.
func decimal(thousandths int64) string { return fmt.Sprintf("%.1f", float64(thousandths)/1000) }

// The chart has the version of the newest section of the changelog, so that a release of one is a release of both.
func TestChart_version(t *testing.T) {
	t.Parallel()
	var chart struct{ Version, AppVersion string }
	if err := yaml.Unmarshal([]byte(read(t, "deploy/kubernetes/shortline/Chart.yaml")), &chart); err != nil {
		t.Fatal(err)
	}
	newest := regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+)$`).FindStringSubmatch(read(t, "CHANGELOG.md"))
	if newest == nil || chart.Version != newest[1] || chart.AppVersion != "v"+newest[1] {
		t.Errorf("the chart has version %s and appVersion %s, the changelog begins with %v", chart.Version, chart.AppVersion, newest)
	}
}
