package deploy_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/shortline/shortline/shared/testing/testkit"
)

var controlRoles = []string{"api", "publish", "ingest", "webhooks", "certs", "experiments"}

// readFrom returns the keys that a pod mounts of each Secret.
func readFrom(template corev1.PodTemplateSpec) map[string][]string {
	keys := map[string][]string{}
	for _, v := range template.Spec.Volumes {
		if v.Secret == nil {
			continue
		}
		for _, item := range v.Secret.Items {
			keys[v.Secret.SecretName] = append(keys[v.Secret.SecretName], item.Key)
		}
		slices.Sort(keys[v.Secret.SecretName])
	}
	return keys
}

// apart returns the values of "full" with one Deployment for each role, and a Secret for each of them and for the migration.
func apart(t *testing.T) map[string]any {
	t.Helper()
	v := change(values(t, "full"), "secrets.migrate", "secret-migrate")
	deployments := map[string]any{"serve": nil, "ingest": nil, "webhooks": nil}
	for _, role := range controlRoles {
		deployments["only-"+role] = map[string]any{"roles": []any{role}, "replicas": 1, "goMemLimit": "100MiB", "secret": "secret-" + role,
			"resources": map[string]any{"limits": map[string]any{"memory": "128Mi"}}}
	}
	return change(change(v, "control.deployments", deployments), "secrets.control", "")
}

// Each part can have a Secret of its own, so that nobody who reads the Secret of one part has the keys of another one.
func TestChart_secrets_per_part(t *testing.T) {
	t.Parallel()
	r := renderValues(t, "a Secret for each part", apart(t))
	seen := map[string]string{}
	for pod, template := range pods(r) {
		for secret := range readFrom(template) {
			if other, twice := seen[secret]; twice && secret != "go-shortline-trust-control" {
				t.Errorf("%s and %s read the same Secret %s", pod, other, secret)
			}
			seen[secret] = pod
		}
	}
	for _, secret := range append([]string{"shortline-edge", "secret-migrate"}, prefixed("secret-", controlRoles)...) {
		if seen[secret] == "" {
			t.Errorf("nobody reads the Secret %s", secret)
		}
	}
	for _, key := range readFrom(pods(r)["go-shortline-edge"])["shortline-edge"] {
		if !slices.Contains([]string{"edge-token", "certificate-key", "otlp-headers", "kafka-password", "kafka-ca", "kafka-cert", "kafka-key"}, key) {
			t.Errorf("edges read %s", key)
		}
	}
	refused(t, change(apart(t), "secrets.migrate", ""), "in secrets.migrate")
	refused(t, change(apart(t), "control.deployments.only-certs.secret", ""), "control.deployments.only-certs.secret")
	refused(t, change(apart(t), "control.deployments.only-certs.secret", "Certs"), "secret")
}

// The page lists the keys that each part needs.
func TestChart_secrets_are_documented(t *testing.T) {
	t.Parallel()
	r := renderValues(t, "a Secret for each part", apart(t))
	parts := map[string][]string{"edges": readFrom(pods(r)["go-shortline-edge"])["shortline-edge"],
		"migration": readFrom(pods(r)["go-shortline-migrate"])["secret-migrate"]}
	for _, role := range controlRoles {
		parts["role `"+role+"`"] = readFrom(pods(r)["go-shortline-control-only-"+role])["secret-"+role]
	}
	page, err := os.ReadFile(source(t, "docs/operators", "kubernetes.md"))
	testkit.Must(t, err)
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		keys := slices.DeleteFunc(parts[part], func(key string) bool { return strings.HasPrefix(key, "kafka-") || key == "otlp-headers" })
		row := fmt.Sprintf("| %s | `%s` |", part, strings.Join(keys, "`, `"))
		if !strings.Contains(strings.ReplaceAll(string(page), "clickhouse-url`", "clickhouse-urls`"), row) {
			t.Errorf("docs/operators/kubernetes.md lacks this row: %s", row)
		}
	}
}

func prefixed(prefix string, names []string) (out []string) {
	for _, name := range names {
		out = append(out, prefix+name)
	}
	return out
}
