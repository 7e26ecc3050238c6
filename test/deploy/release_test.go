package deploy_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"maps"
	"math/big"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// secretContents has valid values for every key of the secrets that the chart requires.
var secretContents = map[string]string{
	"database-url": "postgres://shortline:x@db:5432/shortline", "clickhouse-url": "clickhouse://shortline:x@ch:9000/shortline",
	"clickhouse-urls": "main=clickhouse://shortline:x@ch-a:9000/shortline,b=clickhouse://shortline:x@ch-b1:9000,ch-b2:9000/shortline",
	"otlp-headers":    "authorization=Bearer otlp", "migrate-database-url": "postgres://owner:x@db:5432/shortline",
	"snapshot-public-keys": strings.Repeat("A", 43) + "=",
	"jwt-secret":           strings.Repeat("j", 32), "encryption-key": strings.Repeat("e", 32),
	"edge-tokens": strings.Repeat("t", 32) + "," +
		strings.Repeat("u", 32),
	"edge-token": strings.Repeat("t", 32), "snapshot-signing-key": strings.Repeat("A", 43) + "=", "admin-password": "a-good-password",
	"media-s3-secret-key": "s3-secret",
	"certificate-key":     strings.Repeat("c", 32), "acme-eab-hmac-key": strings.Repeat("A", 43),
	"smtp-url": "smtp://user:password@mail.example.com:587",
}

// init creates the certificate and key for the connections between brokers and clients.
func init() {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	of := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	certificate, err := x509.CreateCertificate(rand.Reader, &of, &of, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		panic(err)
	}
	secretContents["kafka-cert"] = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}))
	for _, name := range []string{"kafka-ca", "edge-ca", "edge-cert"} {
		secretContents[name] = secretContents["kafka-cert"]
	}
	secretContents["kafka-key"] = string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
	secretContents["edge-key"] = secretContents["kafka-key"]
	secretContents["kafka-password"] = "kafka-password"
}

// content returns the value of a key of a secret, from the chart if the chart creates that secret.
func content(r rendered, secret, key string) string {
	if s := all[*corev1.Secret](r)[secret]; s != nil {
		return string(s.Data[key])
	}
	return secretContents[key]
}

func TestChart_programs_accept_their_environment(t *testing.T) {
	t.Parallel()
	for _, name := range examples {
		r := render(t, name)
		for pod, template := range pods(r) {
			c := template.Spec.Containers[0]
			which := "control"
			if c.Name == "edge" {
				which = "edge"
			}
			one := container{where: name + ": " + pod, program: which, args: c.Args, env: map[string]string{}, secrets: map[string]string{}}
			for _, e := range c.Env {
				if _, twice := one.env[e.Name]; twice {
					t.Errorf("%s: %s is set twice", one.where, e.Name)
				}
				one.env[e.Name] = e.Value
			}
			for _, v := range template.Spec.Volumes {
				if v.Secret == nil {
					continue
				}
				for _, m := range c.VolumeMounts {
					for _, item := range v.Secret.Items {
						if m.Name == v.Name {
							one.secrets[m.MountPath+"/"+item.Path] = content(r, v.Secret.SecretName, item.Key)
						}
					}
				}
			}
			for path := range one.secrets {
				if !slices.Contains(slices.Collect(maps.Values(one.env)), path) {
					t.Errorf("%s: %s is mounted, but nothing reads it", one.where, path)
				}
			}
			delete(one.env, "DATA_DIR")
			one.check(t)
		}
	}
}

// Together the deployments have all roles, and each has only the secrets that its roles need.
func TestChart_roles(t *testing.T) {
	t.Parallel()
	for _, name := range examples {
		var roles []string
		if slices.Contains([]string{"region", "regions-us-east", "regions-ap-south"}, name) {
			continue // these have only edges
		}
		for pod, d := range all[*appsv1.Deployment](render(t, name)) {
			env := envOfPod(d.Spec.Template)
			mine := strings.Split(env["ROLES"], ",")
			roles = append(roles, mine...)
			for secret, role := range map[string]string{"JWT_SECRET_FILE": "api", "EDGE_TOKENS_FILE": "publish"} {
				if _, has := env[secret]; has != slices.Contains(mine, role) {
					t.Errorf("%s: %s with the roles %v: has the secret %s: %v", name, pod, mine, secret, has)
				}
			}
		}
		slices.Sort(roles)
		if !slices.Equal(slices.Compact(roles), []string{"api", "certs", "experiments", "ingest", "publish", "webhooks"}) {
			t.Errorf("%s: the deployments do not cover all roles: %v", name, roles)
		}
	}
}

// All programs that open the click store have the same settings for it. One with other settings would remove the
// retention or create tables of another kind.
func TestChart_the_click_store_is_the_same_for_all(t *testing.T) {
	t.Parallel()
	for _, name := range examples {
		replicated, days, address, other := "false", "0", "CLICKHOUSE_URL_FILE", "CLICKHOUSE_URLS_FILE"
		if name == "full" {
			replicated, days, address, other = "true", "400", other, address
		}
		for pod, template := range pods(render(t, name)) {
			env := map[string]string{"CLICKHOUSE_REPLICATED": "not set", "CLICK_RETENTION_DAYS": "not set"}
			maps.Copy(env, envOfPod(template))
			_, opens := env[address]
			if _, both := env[other]; both {
				t.Errorf("%s: %s has %s", name, pod, other)
			}
			if right := env["CLICKHOUSE_REPLICATED"] == replicated && env["CLICK_RETENTION_DAYS"] == days; right != opens {
				t.Errorf("%s: %s opens the click store: %v; its settings are replicated %q and retention %q days", name, pod, opens,
					env["CLICKHOUSE_REPLICATED"], env["CLICK_RETENTION_DAYS"])
			}
		}
	}
}

// Traces are sent only where they are enabled, and only to addresses that the network policy allows.
func TestChart_traces(t *testing.T) {
	t.Parallel()
	for _, name := range examples {
		r := render(t, name)
		for pod, template := range pods(r) {
			env := envOfPod(template)
			want := map[string]string{}
			if name == "full" && !strings.HasSuffix(pod, "-migrate") {
				want = map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector.monitoring:4318", "OTEL_SERVICE_NAME": pod,
					"OTEL_TRACES_SAMPLER_ARG": "0.1", "OTEL_EXPORTER_OTLP_HEADERS_FILE": "/run/secrets/shortline/otlp-headers"}
			}
			maps.DeleteFunc(env, func(k, _ string) bool { return !strings.HasPrefix(k, "OTEL_") })
			if !maps.Equal(env, want) {
				t.Errorf("%s: %s: %v, want %v", name, pod, env, want)
			}
		}
		for policy, p := range all[*networkingv1.NetworkPolicy](r) {
			open := slices.ContainsFunc(p.Spec.Egress, func(rule networkingv1.NetworkPolicyEgressRule) bool {
				return slices.ContainsFunc(rule.Ports, func(p networkingv1.NetworkPolicyPort) bool { return p.Port.IntValue() == 4318 }) &&
					len(rule.To) == 1 && rule.To[0].NamespaceSelector != nil
			})
			if want := name == "full" && !strings.HasSuffix(policy, "-migrate"); open != want {
				t.Errorf("%s: the policy %s allows traces to leave: %v", name, policy, open)
			}
		}
	}
}

// Every pod has a network policy that allows all addresses in its settings.
func TestChart_network_policies(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"minimal", "full", "region"} {
		r := render(t, name)
		for pod, template := range pods(r) {
			var ports []int
			var behind int
			for policy, p := range all[*networkingv1.NetworkPolicy](r) {
				selector, err := metav1.LabelSelectorAsSelector(&p.Spec.PodSelector)
				testkit.Must(t, err)
				if !selector.Matches(labels.Set(template.Labels)) {
					continue
				}
				behind++
				if len(p.Spec.PolicyTypes) != 2 {
					t.Errorf("%s: the policy %s covers only %v", name, policy, p.Spec.PolicyTypes)
				}
				for _, rule := range p.Spec.Egress {
					if len(rule.Ports) == 0 {
						t.Errorf("%s: the policy %s allows all outgoing connections", name, policy)
					}
					for _, port := range rule.Ports {
						ports = append(ports, port.Port.IntValue())
					}
					for _, to := range rule.To {
						if to.IPBlock == nil {
							continue
						}
						if _, _, err := net.ParseCIDR(to.IPBlock.CIDR); err != nil {
							t.Errorf("%s: %s: %v", name, policy, err)
						}
						if to.IPBlock.CIDR == "0.0.0.0/0" && !slices.Contains(to.IPBlock.Except, "169.254.0.0/16") {
							t.Errorf("%s: the policy %s allows connections to the metadata service of the cloud", name, policy)
						}
					}
				}
				for _, rule := range p.Spec.Ingress {
					for _, port := range rule.Ports {
						open := len(rule.From) == 0
						if open && !(strings.HasSuffix(policy, "-edge") && (port.Port.IntValue() == 8080 || port.Port.IntValue() == 8443)) {
							t.Errorf("%s: the policy %s allows connections from everywhere to port %s", name, policy, port.Port.String())
						}
					}
				}
			}
			if behind != 1 {
				t.Errorf("%s: %s is selected by %d policies, want 1", name, pod, behind)
			}
			if brokers, has := envOfPod(template)["KAFKA_BROKERS"]; has {
				for broker := range strings.SplitSeq(brokers, ",") {
					_, port, err := net.SplitHostPort(broker)
					if n, bad := strconv.Atoi(port); err != nil || bad != nil || !slices.Contains(ports, n) {
						t.Errorf("%s: %s cannot reach %s; its policy allows the ports %v", name, pod, broker, ports)
					}
				}
			}
			if strings.HasSuffix(pod, "-edge") && slices.Contains(ports, 5432) || strings.Contains(pod, "control") &&
				!slices.Contains(ports, 5432) {
				t.Errorf("%s: wrong access of %s to the database; its policy allows the ports %v", name, pod, ports)
			}
		}
	}
}

func TestChart_edge_keeps_undelivered_clicks(t *testing.T) {
	t.Parallel()
	for _, name := range examples {
		edge := all[*appsv1.StatefulSet](render(t, name))["go-shortline-edge"]
		keep := edge.Spec.PersistentVolumeClaimRetentionPolicy
		if keep == nil || keep.WhenScaled != appsv1.RetainPersistentVolumeClaimRetentionPolicyType || keep.WhenDeleted != keep.WhenScaled {
			t.Errorf("%s: volumes are deleted with their pods: %+v", name, keep)
		}
		claim := edge.Spec.VolumeClaimTemplates[0]
		size := claim.Spec.Resources.Requests[corev1.ResourceStorage]
		if value, has := envOfPod(edge.Spec.Template)["SPOOL_CAP_BYTES"]; has {
			limit, err := strconv.ParseInt(value, 10, 64)
			if err != nil || size.Value() < limit+(1<<30) {
				t.Errorf("%s: the spool limit of %s bytes does not fit the volume of %s", name, value, size.String())
			}
		}
		if (edge.Spec.Replicas == nil) != (render(t, name).objects["HorizontalPodAutoscaler/go-shortline-edge"] != nil) {
			t.Errorf("%s: a fixed number of replicas conflicts with the autoscaler", name)
		}
	}
}

// Invalid values are rejected before the installation.
func TestChart_refuses_wrong_values(t *testing.T) {
	t.Parallel()
	for path, c := range map[string]struct {
		value any
		says  string
	}{
		"baseUrl":                  {"sho.rt", "baseUrl"},
		"secrets.control":          {"", "secrets.control: name the Secret"},
		"secrets.edge":             {"", "secrets.edge: name the Secret"},
		"kafka.brokers":            {[]any{}, "brokers"},
		"image.tag":                {"latest", "tag"},
		"clickhouse.cluster":       {"clicks", "cluster"},
		"clickhouse.replicated":    {"yes", "replicated"},
		"clickhouse.retentionDays": {-1, "retentionDays"},
		"tracing.endpoint":         {"collector:4317", "endpoint"},
		"tracing.ratio":            {1.5, "ratio"},
		"edge.replica":             {3, "replica"},
		"spread.nodes":             {"Never", "nodes"},
		"edge.serviceAccount.name": {"Edge", "name"},

		"control.deployments.serve.autoscaling":  {map[string]any{"minReplicas": 3, "maxReplicas": 2, "cpuPercent": 60}, "minReplicas must not be above"},
		"control.deployments.ingest.autoscaling": {map[string]any{"minReplicas": 3, "maxReplicas": 13, "cpuPercent": 60}, "kafka.partitions"},
		"acme.email":                             {"ops", "email"},
		"acme.directory":                         {"http://ca.example.com", "directory"},
		"domains.edgeHostname":                   {"https://edge.sho.rt", "edgeHostname"},
		"edge.spool.sync":                        {"sometimes", "sync"},
		"edge.extraEnv":                          {[]any{map[string]any{"name": "BRAND_NAME"}}, "value"},
		"media.volume.enabled":                   {false, "media"},
		"control.deployments.ingest":             {nil, "ingest"},
		"control.deployments.serve.roles":        {[]any{"api", "everything"}, "roles"},
	} {
		refused(t, change(values(t, "minimal"), path, c.value), c.says)
	}
	if _, err := attempt(t, map[string]any{}); err == nil {
		t.Error("the chart accepts an installation without values")
	}
}

// By default, suggestions for campaign names come only from the user's own links in all production templates. Each template
// has a setting to share them.
func TestLow_UTMSuggestionsAreNotSharedInProduction(t *testing.T) {
	t.Parallel()
	offInProduction(t, "UTM_SUGGESTIONS_SHARED")
}

func TestS5_keys_do_not_administer_in_production(t *testing.T) {
	t.Parallel()
	offInProduction(t, "API_KEYS_ADMINISTER")
}

// offInProduction fails unless compose and the chart turn a setting off that is on by default, and compose lets operators choose.
func offInProduction(t *testing.T, setting string) {
	t.Helper()
	for want, env := range map[string]map[string]string{"false": nil, "true": {setting: "true"}} {
		controls := 0
		for name, s := range project(t, env).Services {
			if s.Environment["ROLES"] == nil {
				continue
			}
			controls++
			if got := s.Environment[setting]; got == nil || *got != want {
				t.Errorf("compose: %s gets %s=%v, want %s", name, setting, got, want)
			}
		}
		if controls == 0 {
			t.Error("compose has no control plane")
		}
	}
	for _, name := range examples {
		for pod, d := range all[*appsv1.Deployment](render(t, name)) {
			env := envOfPod(d.Spec.Template)
			if env["ROLES"] != "" && env[setting] != "false" {
				t.Errorf("chart (%s): %s gets %s=%q", name, pod, setting, env[setting])
			}
		}
	}
}
