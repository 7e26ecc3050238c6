// Package deploy_test tests the deployment files: the images, docker compose, the Helm chart, and the documents for operators.
//
// The tests need neither a container engine nor a cluster. Each file is parsed by the library of its own tool. The commands
// of the Dockerfiles run in a copy of the build context. Every container's environment is checked by the program that it
// would start. The tests do not cover third-party images: whether their tags exist, and how they treat our settings.
//
// The module is not in the workspace (GOWORK=off go test ./...). Otherwise the libraries of Helm, Kubernetes and BuildKit
// would determine the versions of dependencies that the programs ship with.
package deploy_test

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// chartDir returns the folder of the chart.
func chartDir(t *testing.T) string { return testkit.Source(t, "deploy/kubernetes/shortline") }

// examples are the example values files of the chart. A size stands for the minimal values with those of the size.
var examples = []string{"minimal", "full", "small", "region", "regions-eu-west", "regions-us-east", "regions-ap-south",
	"size-small", "size-medium", "size-large"}

// serviceMonitor has the fields of the Prometheus operator's type that the chart uses.
type serviceMonitor struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Selector     metav1.LabelSelector `json:"selector"`
		JobLabel     string               `json:"jobLabel"`
		TargetLabels []string             `json:"targetLabels"`
		Endpoints    []struct {
			Port     string `json:"port"`
			Path     string `json:"path"`
			Interval string `json:"interval"`
		} `json:"endpoints"`
	} `json:"spec"`
}

// kinds lists the kinds that the chart may create. Decoding is strict: a field that Kubernetes does not know is an
// error.
var kinds = map[string]func() any{
	"apps/v1 StatefulSet":                     func() any { return new(appsv1.StatefulSet) },
	"apps/v1 Deployment":                      func() any { return new(appsv1.Deployment) },
	"batch/v1 Job":                            func() any { return new(batchv1.Job) },
	"v1 Service":                              func() any { return new(corev1.Service) },
	"v1 ServiceAccount":                       func() any { return new(corev1.ServiceAccount) },
	"v1 Secret":                               func() any { return new(corev1.Secret) },
	"v1 PersistentVolumeClaim":                func() any { return new(corev1.PersistentVolumeClaim) },
	"policy/v1 PodDisruptionBudget":           func() any { return new(policyv1.PodDisruptionBudget) },
	"autoscaling/v2 HorizontalPodAutoscaler":  func() any { return new(autoscalingv2.HorizontalPodAutoscaler) },
	"networking.k8s.io/v1 NetworkPolicy":      func() any { return new(networkingv1.NetworkPolicy) },
	"networking.k8s.io/v1 Ingress":            func() any { return new(networkingv1.Ingress) },
	"v1 ConfigMap":                            func() any { return new(corev1.ConfigMap) },
	"monitoring.coreos.com/v1 ServiceMonitor": func() any { return new(serviceMonitor) },
	"monitoring.coreos.com/v1 PrometheusRule": func() any { return new(prometheusRule) },
}

// rendered holds the objects of a release by kind and name.
type rendered struct {
	objects map[string]any
	notes   string
}

// all returns the objects of one type, by name.
func all[T any](r rendered) map[string]T {
	out := map[string]T{}
	for key, o := range r.objects {
		if typed, ok := o.(T); ok {
			_, name, _ := strings.Cut(key, "/")
			out[name] = typed
		}
	}
	return out
}

func values(t *testing.T, name string) map[string]any {
	t.Helper()
	if size, ok := strings.CutPrefix(name, "size-"); ok {
		v, err := chartutil.ReadValuesFile(source(t, "deploy/kubernetes/shortline/sizes", size+".yaml"))
		testkit.Must(t, err)
		return chartutil.CoalesceTables(values(t, "minimal"), v)
	}
	v, err := chartutil.ReadValuesFile(source(t, "deploy/kubernetes/shortline/ci", name+".yaml"))
	testkit.Must(t, err)
	return v
}

// attempt renders the chart as the release "go".
func attempt(t *testing.T, v map[string]any) (map[string]string, error) { return attemptAs(t, "go", v) }

// attemptAs renders the chart as a release with another name.
func attemptAs(t *testing.T, release string, v map[string]any) (map[string]string, error) {
	chart, err := loader.Load(chartDir(t))
	if err != nil {
		return nil, err
	}
	caps := chartutil.DefaultCapabilities.Copy()
	caps.KubeVersion = chartutil.KubeVersion{Version: "v1.34.0", Major: "1", Minor: "34"}
	all, err := chartutil.ToRenderValues(chart, v, chartutil.ReleaseOptions{Name: release, Namespace: "links", IsInstall: true}, caps)
	if err != nil {
		return nil, err
	}
	return engine.Engine{Strict: true}.Render(chart, all)
}

var separator = regexp.MustCompile(`(?m)^---\s*$`)

// renders holds the rendered examples, which tests must not change.
var renders struct {
	sync.Mutex
	byName map[string]rendered
}

// render renders the chart with the values of an example, once.
func render(t *testing.T, name string) rendered {
	t.Helper()
	renders.Lock()
	defer renders.Unlock()
	r, known := renders.byName[name]
	if !known {
		r = renderExample(t, name)
		if renders.byName == nil {
			renders.byName = map[string]rendered{}
		}
		renders.byName[name] = r
	}
	return r
}

func renderExample(t *testing.T, name string) rendered {
	t.Helper()
	return renderValues(t, name, values(t, name))
}

func renderValues(t *testing.T, name string, v map[string]any) rendered {
	t.Helper()
	files, err := attempt(t, v)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	r := rendered{objects: map[string]any{}}
	for file, text := range files {
		if strings.HasSuffix(file, "NOTES.txt") {
			r.notes = text
			continue
		}
		for _, document := range separator.Split(text, -1) {
			var head struct {
				metav1.TypeMeta `json:",inline"`
				Metadata        metav1.ObjectMeta `json:"metadata"`
			}
			if err := yaml.Unmarshal([]byte(document), &head); err != nil {
				t.Fatalf("%s: %s: %v\n%s", name, file, err, document)
			}
			if head.Kind == "" {
				continue
			}
			fresh, ok := kinds[head.APIVersion+" "+head.Kind]
			if !ok {
				t.Errorf("%s: %s: unexpected kind: %s %s", name, file, head.APIVersion, head.Kind)
				continue
			}
			object := fresh()
			if err := yaml.UnmarshalStrict([]byte(document), object); err != nil {
				t.Errorf("%s: %s %s: %v", name, head.Kind, head.Metadata.Name, err)
			}
			key := head.Kind + "/" + head.Metadata.Name
			if r.objects[key] != nil {
				t.Errorf("%s: %s is defined twice", name, key)
			}
			r.objects[key] = object
			if head.Metadata.Labels["app.kubernetes.io/instance"] != "go" || len(head.Metadata.Name) > 63 {
				t.Errorf("%s: %s: wrong labels, or a name over 63 characters: %v", name, key, head.Metadata.Labels)
			}
		}
	}
	return r
}

// pods returns the pod templates of all workloads.
func pods(r rendered) map[string]corev1.PodTemplateSpec {
	out := map[string]corev1.PodTemplateSpec{}
	for name, o := range all[*appsv1.StatefulSet](r) {
		out[name] = o.Spec.Template
	}
	for name, o := range all[*appsv1.Deployment](r) {
		out[name] = o.Spec.Template
	}
	for name, o := range all[*batchv1.Job](r) {
		out[name] = o.Spec.Template
	}
	return out
}

func TestChart_lints(t *testing.T) {
	t.Parallel()
	for _, name := range examples {
		for _, m := range lint.All(chartDir(t), values(t, name), "links", true).Messages {
			if m.Severity > support.InfoSev {
				t.Errorf("%s: %v", name, m)
			}
		}
	}
}

func TestChart_renders_what_Kubernetes_knows(t *testing.T) {
	t.Parallel()
	want := map[string][]string{
		"minimal": {"StatefulSet/go-shortline-edge", "Deployment/go-shortline-control-serve", "Deployment/go-shortline-control-ingest",
			"Deployment/go-shortline-control-webhooks",
			"Job/go-shortline-migrate", "PersistentVolumeClaim/go-shortline-control-media", "NetworkPolicy/go-shortline-edge",
			"NetworkPolicy/go-shortline-control",
			"NetworkPolicy/go-shortline-migrate", "PodDisruptionBudget/go-shortline-edge"},
		"full":   {"HorizontalPodAutoscaler/go-shortline-edge", "HorizontalPodAutoscaler/go-shortline-control-ingest", "Ingress/go-shortline", "ServiceMonitor/go-shortline"},
		"small":  {"Deployment/go-shortline-control-all", "StatefulSet/go-shortline-edge"},
		"region": {"StatefulSet/go-shortline-edge", "NetworkPolicy/go-shortline-edge"},

		"regions-eu-west": {"StatefulSet/go-shortline-edge", "Deployment/go-shortline-control-serve",
			"Deployment/go-shortline-control-ingest"},
		"regions-us-east":  {"StatefulSet/go-shortline-edge"},
		"regions-ap-south": {"StatefulSet/go-shortline-edge"},

		"size-small": {"Deployment/go-shortline-control-all", "PodDisruptionBudget/go-shortline-control-all"},
		"size-medium": {"HorizontalPodAutoscaler/go-shortline-edge", "HorizontalPodAutoscaler/go-shortline-control-serve",
			"HorizontalPodAutoscaler/go-shortline-control-ingest", "PodDisruptionBudget/go-shortline-control-ingest"},
		"size-large": {"HorizontalPodAutoscaler/go-shortline-edge", "HorizontalPodAutoscaler/go-shortline-control-serve",
			"HorizontalPodAutoscaler/go-shortline-control-ingest", "PodDisruptionBudget/go-shortline-control-serve"},
	}
	never := map[string][]string{
		"minimal": {"HorizontalPodAutoscaler/go-shortline-edge", "Ingress/go-shortline", "ServiceMonitor/go-shortline"},
		"full":    {"PersistentVolumeClaim/go-shortline-control-media", "ServiceAccount/go-shortline-control"},
		"small":   {"Deployment/go-shortline-control-serve", "Job/go-shortline-migrate", "NetworkPolicy/go-shortline-edge"},
		"region":  {"Service/go-shortline-control", "Job/go-shortline-migrate", "NetworkPolicy/go-shortline-control"},
	}
	for _, name := range examples {
		r := render(t, name)
		for _, key := range want[name] {
			if r.objects[key] == nil {
				t.Errorf("%s: %s is missing in %v", name, key, slices.Sorted(maps.Keys(r.objects)))
			}
		}
		for _, key := range never[name] {
			if r.objects[key] != nil {
				t.Errorf("%s: unexpected object %s", name, key)
			}
		}
		if !strings.Contains(r.notes, "https://sho.rt") {
			t.Errorf("%s: the notes lack the base URL: %s", name, r.notes)
		}
	}
}

// A selector that matches nothing, or another workload's pods, gives no error in a cluster.
func TestChart_selectors_pick_the_right_pods(t *testing.T) {
	t.Parallel()
	for _, name := range examples {
		r := render(t, name)
		picks := func(what string, selector map[string]string, port intstr.IntOrString, want func(string) bool) {
			t.Helper()
			for pod, template := range pods(r) {
				picked := labels.SelectorFromSet(selector).Matches(labels.Set(template.Labels))
				if picked != want(pod) {
					t.Errorf("%s: %s selects %s: %v", name, what, pod, picked)
				}
				if picked && port.StrVal != "" && !slices.ContainsFunc(template.Spec.Containers[0].Ports,
					func(p corev1.ContainerPort) bool {
						return p.Name == port.StrVal
					}) {
					t.Errorf("%s: %s: %s has no port %s", name, what, pod, port.StrVal)
				}
			}
		}
		isEdge := func(pod string) bool { return pod == "go-shortline-edge" }
		isControl := func(pod string) bool { return strings.HasPrefix(pod, "go-shortline-control-") }
		serves := func(pod string) bool {
			return pod == "go-shortline-control-serve" || pod == "go-shortline-control-all"
		}
		for service, s := range all[*corev1.Service](r) {
			want := map[string]func(string) bool{"go-shortline-edge": isEdge, "go-shortline-edge-pods": isEdge,
				"go-shortline-control":     serves,
				"go-shortline-control-ops": isControl}[service]
			if want == nil {
				t.Errorf("%s: unexpected service: %s", name, service)
				continue
			}
			picks("service "+service, s.Spec.Selector, s.Spec.Ports[0].TargetPort, want)
		}
		for budget, b := range all[*policyv1.PodDisruptionBudget](r) {
			picks("budget "+budget, b.Spec.Selector.MatchLabels, intstr.IntOrString{}, func(pod string) bool { return pod == budget })
		}
		for pod, set := range all[*appsv1.StatefulSet](r) {
			picks("set "+pod, set.Spec.Selector.MatchLabels, intstr.IntOrString{}, isEdge)
			if r.objects["Service/"+set.Spec.ServiceName] == nil {
				t.Errorf("%s: %s names a service that does not exist: %s", name, pod, set.Spec.ServiceName)
			}
		}
		for pod, d := range all[*appsv1.Deployment](r) {
			picks("deployment "+pod, d.Spec.Selector.MatchLabels, intstr.IntOrString{}, func(p string) bool { return p == pod })
		}
		for _, m := range all[*serviceMonitor](r) {
			n := 0
			for _, s := range all[*corev1.Service](r) {
				if labels.SelectorFromSet(m.Spec.Selector.MatchLabels).Matches(labels.Set(s.Labels)) {
					n++
				}
			}
			if n != 2 {
				t.Errorf("%s: the monitor selects %d services", name, n)
			}
		}
	}
}

// The pod security standard "restricted", and further restrictions that our own images allow.
func TestChart_pods_are_restricted(t *testing.T) {
	t.Parallel()
	for _, name := range examples {
		for pod, template := range pods(render(t, name)) {
			spec := template.Spec
			s := spec.SecurityContext
			if s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot || *s.RunAsUser != 65532 ||
				s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
				t.Errorf("%s: %s: the pod's security context is too weak: %+v", name, pod, s)
			}
			if spec.AutomountServiceAccountToken == nil || *spec.AutomountServiceAccountToken || spec.HostNetwork || spec.HostPID {
				t.Errorf("%s: %s has a service account token or uses the host's network", name, pod)
			}
			for _, c := range spec.Containers {
				sc := c.SecurityContext
				if *sc.AllowPrivilegeEscalation || !*sc.ReadOnlyRootFilesystem ||
					!slices.Equal(sc.Capabilities.Drop, []corev1.Capability{"ALL"}) {
					t.Errorf("%s: %s: the container's security context is too weak: %+v", name, pod, sc)
				}
				if c.Resources.Limits.Memory().IsZero() || c.Resources.Requests.Cpu().IsZero() || c.Resources.Requests.Memory().IsZero() {
					t.Errorf("%s: %s: incomplete resources: %+v", name, pod, c.Resources)
				}
				if strings.HasSuffix(c.Image, ":") || strings.HasSuffix(c.Image, ":latest") {
					t.Errorf("%s: %s: the image has no fixed tag: %s", name, pod, c.Image)
				}
				if len(c.EnvFrom) > 0 || slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool {
					return e.ValueFrom != nil && e.ValueFrom.FieldRef == nil
				}) {
					t.Errorf("%s: %s: the environment contains a secret", name, pod)
				}
				if strings.HasSuffix(pod, "-migrate") {
					continue
				}
				if c.ReadinessProbe == nil || c.LivenessProbe == nil || c.StartupProbe == nil ||
					c.ReadinessProbe.HTTPGet.Path != "/readyz" ||
					c.LivenessProbe.HTTPGet.Path != "/healthz" {
					t.Errorf("%s: %s: a probe is missing or requests the wrong path", name, pod)
				}
				// Edges drain by themselves, and control planes in a hook. Then each has the ten seconds that it needs to stop.
				drain := time.Duration(0)
				if i := slices.IndexFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == "DRAIN_DELAY" }); i >= 0 {
					d, err := time.ParseDuration(c.Env[i].Value)
					if err != nil {
						t.Errorf("%s: %s: %v", name, pod, err)
					}
					drain = d
				} else if c.Lifecycle != nil {
					drain = time.Duration(c.Lifecycle.PreStop.Sleep.Seconds) * time.Second
				}
				if drain < time.Second || time.Duration(*spec.TerminationGracePeriodSeconds)*time.Second < drain+12*time.Second {
					t.Errorf("%s: %s: drains for %v, and is killed after %d s", name, pod, drain, *spec.TerminationGracePeriodSeconds)
				}
				if !slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == "/data" && !m.ReadOnly }) {
					t.Errorf("%s: %s cannot write to /data", name, pod)
				}
			}
			for _, v := range spec.Volumes {
				if v.HostPath != nil {
					t.Errorf("%s: %s mounts the host path %s", name, pod, v.HostPath.Path)
				}
			}
			for _, c := range spec.Containers {
				for _, m := range c.VolumeMounts {
					if m.Name != "data" && !slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name }) {
						t.Errorf("%s: %s mounts %s, which is not a volume of the pod", name, pod, m.Name)
					}
				}
			}
		}
	}
}

// chartValues returns the default values.
func chartValues(t *testing.T) map[string]any {
	t.Helper()
	v, err := chartutil.ReadValuesFile(filepath.Join(chartDir(t), "values.yaml"))
	testkit.Must(t, err)
	return v
}

// Three regions: edges write to the Kafka of their region, and the control planes of the first region read all of them. Every
// process that writes or reads clicks or conversions knows Kafka, including the API, which writes conversions.
func TestChart_three_regions_fit_together(t *testing.T) {
	t.Parallel()
	home := pods(render(t, "regions-eu-west"))
	regions := envOfPod(home["go-shortline-control-ingest"])["KAFKA_REGIONS"]
	for _, region := range []string{"eu-west", "us-east", "ap-south"} {
		edge := pods(render(t, "regions-"+region))["go-shortline-edge"]
		name, brokers := envOfPod(edge)["REGION"], envOfPod(edge)["KAFKA_BROKERS"]
		if name != region || brokers == "" || !slices.Contains(strings.Split(regions, ";"), name+"="+brokers) {
			t.Errorf("the edges of %s have the region %q and write to %q, but %q is read", region, name, brokers, regions)
		}
		if envOfPod(edge)["KAFKA_REGIONS"] != "" {
			t.Errorf("the edges of %s have KAFKA_REGIONS, which is for control planes", region)
		}
	}
	for _, pod := range []string{"serve", "ingest", "webhooks"} {
		control := envOfPod(home["go-shortline-control-"+pod])
		if control["KAFKA_REGIONS"] != regions || control["KAFKA_BROKERS"] == "" {
			t.Errorf("%s: KAFKA_REGIONS is %q, KAFKA_BROKERS %q", pod, control["KAFKA_REGIONS"], control["KAFKA_BROKERS"])
		}
	}
}

// Values of an earlier release name the roles of that release. The chart refuses them rather than leave a role to nobody.
func TestA11_Chart_refuses_a_role_that_nobody_has(t *testing.T) {
	t.Parallel()
	roles := []any{"api", "publish", "ingest", "webhooks", "certs", "experiments"}
	for i, role := range roles {
		v := values(t, "small")
		all := v["control"].(map[string]any)["deployments"].(map[string]any)["all"].(map[string]any)
		all["roles"] = slices.Delete(slices.Clone(roles), i, i+1)
		_, err := attempt(t, v)
		if role == "certs" { // needed with TLS only
			testkit.Must(t, err)
		} else if err == nil || !strings.Contains(err.Error(), "nobody has the role "+role.(string)) {
			t.Errorf("without the role %s: %v", role, err)
		}
	}
	earlier := change(values(t, "minimal"), "control.deployments.webhooks.roles", []any{"webhooks", "certs"})
	if _, err := attempt(t, earlier); err == nil || !strings.Contains(err.Error(), "nobody has the role experiments") {
		t.Errorf("with the roles of an earlier release: %v", err)
	}
}
