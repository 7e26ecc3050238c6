package deploy_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// envOfPod returns the settings of a pod's program.
func envOfPod(template corev1.PodTemplateSpec) map[string]string {
	out := map[string]string{}
	for _, e := range template.Spec.Containers[0].Env {
		out[e.Name] = e.Value
	}
	return out
}

// With TLS, visitors reach the port for TLS of all edges, and the key of certificates is mounted where certificates are made,
// uploaded or used, and nowhere else.
func TestChart_TLS(t *testing.T) {
	t.Parallel()
	for name, on := range map[string]bool{"full": true, "minimal": false} {
		r := render(t, name)
		ports := map[string]int32{}
		for _, p := range all[*corev1.Service](r)["go-shortline-edge"].Spec.Ports {
			ports[p.Name+" to "+p.TargetPort.String()] = p.Port
		}
		want := map[string]int32{"http to http": 80}
		if on {
			want["https to https"] = 8443
		}
		if !maps.Equal(ports, want) {
			t.Errorf("%s: ports of the edges: %v, want %v", name, ports, want)
		}
		for pod, template := range pods(r) {
			env := envOfPod(template)
			roles := strings.Split(env["ROLES"], ",")
			needs := on && (template.Spec.Containers[0].Name == "edge" || slices.Contains(roles, "api") || slices.Contains(roles, "certs"))
			if _, has := env["CERTIFICATE_KEY_FILE"]; has != needs {
				t.Errorf("%s: %s has CERTIFICATE_KEY: %v, want %v", name, pod, has, needs)
			}
			if _, has := env["ACME_EMAIL"]; has != slices.Contains(roles, "certs") {
				t.Errorf("%s: %s has ACME_EMAIL: %v, with the roles %v", name, pod, has, roles)
			}
		}
		for pod, edge := range all[*appsv1.StatefulSet](r) {
			env := envOfPod(edge.Spec.Template)
			if (env["TLS_ADDR"] == ":8443") != on {
				t.Errorf("%s: %s has TLS_ADDR %q", name, pod, env["TLS_ADDR"])
			}
		}
	}
}

// By default, links, the API and the console answer at known names only.
func TestS4_strict_hosts_in_production(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"full", "minimal"} {
		for pod, edge := range all[*appsv1.StatefulSet](render(t, name)) {
			if got := envOfPod(edge.Spec.Template)["STRICT_HOSTS"]; got != "true" {
				t.Errorf("chart, %s: %s has STRICT_HOSTS %q", name, pod, got)
			}
		}
	}
	for want, env := range map[string]map[string]string{"true": nil, "false": {"STRICT_HOSTS": "false"}} {
		edges := 0
		for name, s := range project(t, env).Services {
			if s.Environment["TLS_ADDR"] == nil {
				continue
			}
			edges++
			if got := s.Environment["STRICT_HOSTS"]; got == nil || *got != want {
				t.Errorf("compose: %s gets STRICT_HOSTS=%v, want %s", name, got, want)
			}
		}
		if edges < 2 {
			t.Errorf("compose has %d edges", edges)
		}
	}
}

// Values that would start edges without usable certificates are rejected.
func TestChart_refuses_half_of_TLS(t *testing.T) {
	t.Parallel()
	for says, change := range map[string]map[string]any{
		"baseUrl: must begin with https": {"tls": map[string]any{"enabled": true}, "baseUrl": "http://sho.rt"},
		"acme.email: needs tls.enabled":  {"acme": map[string]any{"email": "ops@example.com"}},
		"edge.service.tlsPort": {"tls": map[string]any{"enabled": true},
			"edge": map[string]any{"service": map[string]any{"tlsPort": 80}}},
		"nobody has the role certs": {"tls": map[string]any{"enabled": true}, "control": map[string]any{"deployments": map[string]any{
			"webhooks": map[string]any{"roles": []any{"webhooks"}},
		}}},
	} {
		v := values(t, "minimal")
		maps.Copy(v, change)
		refused(t, v, says)
	}
}

// In compose, one variable turns TLS on for all edges, and the published ports lead there.
func TestCompose_TLS(t *testing.T) {
	t.Parallel()
	on := map[string]string{"TLS_ADDR": "0.0.0.0:8443", "BASE_URL": "https://sho.rt", "ACME_EMAIL": "ops@example.com", "EDGE_1_PORT": "80",
		"EDGE_1_TLS_PORT": "443"}
	p := project(t, on)
	for _, name := range []string{"edge-1", "edge-2", "standalone"} {
		s := p.Services[name]
		if got := envOf(s)["TLS_ADDR"]; got != on["TLS_ADDR"] {
			t.Errorf("%s: TLS_ADDR is %q", name, got)
		}
		published := map[uint32]string{}
		for _, port := range s.Ports {
			published[port.Target] = port.Published
		}
		if published[8443] == "" || name == "edge-1" && (published[8443] != "443" || published[8080] != "80") {
			t.Errorf("%s: published ports: %v", name, published)
		}
	}
	for _, name := range []string{"control-1", "control-2"} {
		env := envOf(p.Services[name])
		if !slices.Contains(strings.Split(env["ROLES"], ","), "certs") || env["ACME_EMAIL"] != on["ACME_EMAIL"] ||
			env["CERTIFICATE_KEY_FILE"] == "" {
			t.Errorf("%s orders no certificates: %v", name, env)
		}
	}
	for _, name := range []string{"edge-1", "edge-2"} {
		if env := envOf(p.Services[name]); env["CERTIFICATE_KEY_FILE"] != envOf(p.Services["control-1"])["CERTIFICATE_KEY_FILE"] {
			t.Errorf("%s cannot open the keys of certificates: %v", name, env)
		}
	}
}
