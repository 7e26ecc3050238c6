package deploy_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/types"
	corev1 "k8s.io/api/core/v1"

	"github.com/shortline/shortline/shared/testing/testkit"
)

func certificateOf(t *testing.T, text string) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		t.Fatalf("not a certificate: %.40q", text)
	}
	c, err := x509.ParseCertificate(block.Bytes)
	testkit.Must(t, err)
	return c
}

// checkTrust checks that both sides trust each other and no one else. The files have their names in compose.
func checkTrust(t *testing.T, control string, read func(name string) string) {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(certificateOf(t, read("edge-ca")))
	for name, use := range map[string]x509.ExtKeyUsage{"control-cert": x509.ExtKeyUsageServerAuth,
		"edge-cert": x509.ExtKeyUsageClientAuth} {
		opts := x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{use}}
		if name == "control-cert" {
			opts.DNSName = control
		}
		c := certificateOf(t, read(name))
		if _, err := c.Verify(opts); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if c.IsCA || time.Until(c.NotAfter) < 365*24*time.Hour {
			t.Errorf("%s is a CA (%v), or expires too soon: %v", name, c.IsCA, c.NotAfter)
		}
		block, _ := pem.Decode([]byte(read(strings.Replace(name, "cert", "key", 1))))
		if block == nil {
			t.Errorf("the key of %s is not PEM", name)
		}
	}
	edge := certificateOf(t, read("edge-cert"))
	if _, err := edge.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}); err == nil &&
		len(edge.ExtKeyUsage) == 1 {
		t.Error("the certificate of an edge is valid for a control plane")
	}

	var private ed25519.PrivateKey
	text := read("snapshot-signing-key")
	if block, _ := pem.Decode([]byte(text)); block != nil {
		key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		testkit.Must(t, err)
		private = key.(ed25519.PrivateKey)
	} else if seed, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text)); err != nil || len(seed) != ed25519.SeedSize {
		t.Fatalf("signing key: %d bytes, %v", len(seed), err)
	} else {
		private = ed25519.NewKeyFromSeed(seed)
	}
	public, err := base64.StdEncoding.DecodeString(strings.TrimSpace(read("snapshot-public-keys")))
	if err != nil || !bytes.Equal(public, private.Public().(ed25519.PublicKey)) {
		t.Errorf("the public keys of the edges lack that of the signing key: %v", err)
	}
}

func envOf(s types.ServiceConfig) map[string]string {
	out := map[string]string{}
	for k, v := range s.Environment {
		if v != nil {
			out[k] = *v
		}
	}
	return out
}

// On a new host, edges and control planes of compose use mutual TLS, and edges reject unsigned links.
func TestM8_Compose(t *testing.T) {
	t.Parallel()
	p := project(t, nil)
	// file returns the content of the file at the path in a setting, as the service sees it.
	file := func(service, setting string) string {
		path := envOf(p.Services[service])[setting]
		name := strings.TrimPrefix(path, "/run/secrets/")
		if path == "" || !slices.ContainsFunc(p.Services[service].Secrets, func(s types.ServiceSecretConfig) bool {
			return s.Source == name
		}) {
			t.Fatalf("%s: %s is %q, which is not mounted", service, setting, path)
		}
		return secret(t, p, name)
	}
	for _, edge := range []string{"edge-1", "edge-2"} {
		for _, control := range []string{"control-1", "control-2"} {
			from := map[string]string{"edge-ca": file(edge, "CONTROL_CA_FILE"), "edge-cert": file(edge, "CONTROL_CERT_FILE"),
				"edge-key":     file(edge, "CONTROL_KEY_FILE"),
				"control-cert": file(control, "EDGE_CERT_FILE"), "control-key": file(control, "EDGE_KEY_FILE"),
				"snapshot-signing-key": file(control, "SNAPSHOT_SIGNING_KEY_FILE"),
				"snapshot-public-keys": file(edge, "SNAPSHOT_PUBLIC_KEYS_FILE")}
			checkTrust(t, "control", func(name string) string { return from[name] })
			if file(control, "EDGE_CA_FILE") != from["edge-ca"] {
				t.Errorf("%s and %s trust different authorities", edge, control)
			}
			if e := envOf(p.Services[control]); e["EDGE_PLAIN"] != "false" || !strings.HasSuffix(e["EDGE_LISTEN_ADDR"], ":8443") {
				t.Errorf("%s answers edges without a certificate: %v", control, e)
			}
		}
		if at := envOf(p.Services[edge])["CONTROL_URL"]; at != "https://control:8443" {
			t.Errorf("%s has the wrong CONTROL_URL: %s", edge, at)
		}
	}
	for name, s := range p.Services {
		for _, secret := range s.Secrets {
			if strings.Contains(secret.Source, "ca_key") || strings.HasPrefix(name, "edge-") && secret.Source == "control_key" {
				t.Errorf("%s can read the secret %s", name, secret.Source)
			}
		}
	}
}

// A certificate that expires soon is renewed with the same authority and key. Nothing else changes.
func TestM8_MakeSecretsRenews(t *testing.T) {
	t.Parallel()
	dir := makeSecrets(t)
	before := secretsIn(t, dir)
	info, err := os.Stat(filepath.Join(dir, "edge_ca_key"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the key of the authority: %v %v", info.Mode(), err)
	}
	// A certificate that expires in a month, in place of the control plane's.
	sign := exec.Command("sh", "-ec",
		`openssl req -new -key control_key -subj /CN=old | openssl x509 -req -CA edge_ca -CAkey edge_ca_key -set_serial 7 -days 30 -out `+
			`control_cert`)
	sign.Dir = dir
	if text, err := sign.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, text)
	}
	inode := func() uint64 {
		info, err := os.Stat(filepath.Join(dir, "control_cert"))
		testkit.Must(t, err)
		return info.Sys().(*syscall.Stat_t).Ino
	}
	mounted := inode()
	if said := runMakeSecrets(t, dir, "CONTROL_NAMES=control.example.com,10.1.2.3"); said != "" {
		t.Error(said)
	}
	now := secretsIn(t, dir)
	c := certificateOf(t, now["control_cert"])
	if time.Until(c.NotAfter) < 365*24*time.Hour || c.VerifyHostname("control.example.com") != nil || c.VerifyHostname("10.1.2.3") != nil ||
		c.VerifyHostname("control") != nil {
		t.Errorf("the certificate expires at %v and has the names %v %v", c.NotAfter, c.DNSNames, c.IPAddresses)
	}
	if inode() != mounted {
		t.Error("the file was replaced, so running containers keep the old one")
	}
	for _, name := range []string{"edge_ca", "edge_ca_key", "control_key", "edge_cert", "snapshot_public_keys"} {
		if now[name] != before[name] || now[name] == "" {
			t.Errorf("the renewal changed %s", name)
		}
	}
}

// The chart creates the same: both Secrets match, each pod sees only its own, and edges connect with TLS.
func TestM8_Chart(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"minimal", "small", "full"} {
		r := render(t, name)
		secrets := all[*corev1.Secret](r)
		control, edge := secrets["go-shortline-trust-control"], secrets["go-shortline-trust-edge"]
		if control == nil || edge == nil {
			t.Fatalf("%s: secrets %v", name, secrets)
		}
		checkTrust(t, "go-shortline-control", func(key string) string { return string(control.Data[key]) })
		for key, value := range edge.Data {
			if key == "control-key" || key == "snapshot-signing-key" || !bytes.Equal(value, control.Data[key]) {
				t.Errorf("%s: edges can read %s, or its value differs", name, key)
			}
		}
		for pod, template := range pods(r) {
			env := envOfPod(template)
			switch {
			case pod == "go-shortline-edge":
				if env["CONTROL_URL"] != "https://go-shortline-control:9443" || env["CONTROL_CERT_FILE"] == "" ||
					env["SNAPSHOT_PUBLIC_KEYS"]+
						env["SNAPSHOT_PUBLIC_KEYS_FILE"] == "" {
					t.Errorf("%s: wrong settings of the edges: %v", name, env)
				}
			case strings.Contains(env["ROLES"], "publish"):
				if env["EDGE_LISTEN_ADDR"] != ":8443" || env["EDGE_PLAIN"] != "false" || env["SNAPSHOT_SIGNING_KEY_FILE"] == "" {
					t.Errorf("%s: %s: wrong settings: %v", name, pod, env)
				}
			}
			for _, v := range template.Spec.Volumes {
				if v.Secret != nil && v.Secret.SecretName == "go-shortline-trust-control" && !strings.Contains(env["ROLES"], "publish") {
					t.Errorf("%s: %s can read %s", name, pod, v.Secret.SecretName)
				}
			}
		}
		port := -1
		for _, p := range all[*corev1.Service](r)["go-shortline-control"].Spec.Ports {
			if p.Name == "edges" && p.TargetPort.StrVal == "edges" {
				port = int(p.Port)
			}
		}
		if port != 9443 {
			t.Errorf("%s: the service has the wrong port for edges: %d", name, port)
		}
	}
}

// Edges may connect to all control planes that they know.
func TestA11_chart_with_several_control_planes(t *testing.T) {
	t.Parallel()
	v := values(t, "region")
	const urls = "https://control-1.example.com:9443, https://control-2.example.com,https://control-3.example.com:7443"
	v["edge"].(map[string]any)["controlUrl"] = urls
	files, err := attempt(t, v)
	testkit.Must(t, err)
	var all strings.Builder
	for _, text := range files {
		all.WriteString(text)
	}
	for _, want := range []string{`value: "` + urls + `"`, "port: 9443}", "port: 443}", "port: 7443}"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("the chart has no %q", want)
		}
	}
}

// refused fails the test unless the chart rejects values and says why.
func refused(t *testing.T, v map[string]any, says string) {
	t.Helper()
	if _, err := attempt(t, v); err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("want a rejection with %q, got: %v", says, err)
	}
}

// change sets one value of an example.
func change(v map[string]any, path string, value any) map[string]any {
	at := v
	keys := strings.Split(path, ".")
	for _, k := range keys[:len(keys)-1] {
		next, ok := at[k].(map[string]any)
		if !ok {
			next = map[string]any{}
			at[k] = next
		}
		at = next
	}
	at[keys[len(keys)-1]] = value
	return v
}

// Settings that would hide the addresses of visitors behind a proxy are rejected, or are not the default.
func TestM6_Chart(t *testing.T) {
	t.Parallel()
	refused(t, change(values(t, "minimal"), "ingress.enabled", true), "edge.trustedProxies")
	for _, name := range examples {
		r := render(t, name)
		if s := all[*corev1.Service](r)["go-shortline-edge"]; s.Spec.Type != corev1.ServiceTypeClusterIP &&
			s.Spec.ExternalTrafficPolicy != corev1.ServiceExternalTrafficPolicyLocal {
			t.Errorf("%s: nodes hide the addresses of visitors: %s %s", name, s.Spec.Type, s.Spec.ExternalTrafficPolicy)
		}
	}
	v := change(values(t, "minimal"), "edge.service", map[string]any{"type": "NodePort"})
	files, err := attempt(t, v)
	if err != nil || !strings.Contains(files["shortline/templates/edge.yaml"], "externalTrafficPolicy: Local") {
		t.Errorf("service of type NodePort: %v", err)
	}
	// Edges authenticate with their token when they forward a client's address, so their networks need not be
	// configured.
	p := project(t, nil)
	for _, control := range []string{"control-1", "control-2"} {
		if e := envOf(p.Services[control]); e["TRUSTED_PROXIES"] != "" {
			t.Errorf("%s trusts the proxies %s", control, e["TRUSTED_PROXIES"])
		}
	}
}

func TestM8_ChartRefusesHalfATrust(t *testing.T) {
	t.Parallel()
	for says, v := range map[string]map[string]any{
		"both controlSecret and edgeSecret": change(change(values(t, "minimal"), "trust.create", false), "trust.controlSecret", "one"),
		"edge.snapshotPublicKeys":           change(values(t, "minimal"), "secrets.signingKey", true),
		"edgePort":                          change(values(t, "minimal"), "control.service.port", 9443),
	} {
		refused(t, v, says)
	}
	files, err := attempt(t, change(change(change(values(t, "minimal"), "trust.create", false), "trust.controlSecret", "one"),
		"trust.edgeSecret", "two"))
	if err != nil || strings.Contains(files["shortline/templates/trust.yaml"], "kind: Secret") ||
		!strings.Contains(files["shortline/templates/edge.yaml"], "secretName: two") {
		t.Errorf("with existing Secrets: %v", err)
	}
}

// Programs run as a role that owns nothing. Only the migration has the credentials of the owner.
func TestM9_OwnerIsForMigrationsOnly(t *testing.T) {
	t.Parallel()
	p := project(t, nil)
	owners := map[string]bool{"postgres": true, "migrate": true, "grafana-postgres": true}
	for name, s := range p.Services {
		for _, secret := range s.Secrets {
			if (secret.Source == "database_url" || secret.Source == "postgres_password") && !owners[name] {
				t.Errorf("compose: %s can read %s", name, secret.Source)
			}
		}
	}
	e := envOf(p.Services["migrate"])
	if e["MIGRATE_DATABASE_URL_FILE"] != "/run/secrets/database_url" || e["DATABASE_URL_FILE"] != "/run/secrets/runtime_database_url" ||
		envOf(p.Services["control-1"])["DATABASE_URL_FILE"] != e["DATABASE_URL_FILE"] {
		t.Errorf("compose: wrong database settings of the migration: %v", e)
	}
	for _, name := range examples {
		for pod, template := range pods(render(t, name)) {
			if _, has := envOfPod(template)["MIGRATE_DATABASE_URL_FILE"]; has && !strings.HasSuffix(pod, "-migrate") {
				t.Errorf("%s: %s can read the credentials of the owner of the tables", name, pod)
			}
		}
	}
}

// On a real server, as in compose: the owner migrates. The role that the migration creates can run the program's
// commands, but cannot change the audit log.
func TestM9_MigrationMakesTheRole(t *testing.T) {
	t.Parallel()
	d := startDatabase(t)
	owner := d.url()
	runtime := strings.Replace(owner, "postgres://postgres@", "postgres://shortline_runtime:a%20'word'@", 1)
	for range 2 { // a Helm hook may run twice
		d.controlAs([]string{"MIGRATE_DATABASE_URL=" + owner, "DATABASE_URL=" + runtime}, "migrate")
	}
	said := d.controlAs([]string{"DATABASE_URL=" + runtime}, "create-admin", "ops@example.com")
	if !strings.Contains(said, "is an administrator") {
		t.Error(said)
	}
	said = d.controlAs([]string{"DATABASE_URL=" + runtime}, "verify-audit")
	if !strings.Contains(said, "HMAC from row 1 on, and all HMACs are valid") {
		t.Error(said)
	}
	for _, sql := range []string{"UPDATE audit_logs SET action = 'x'", "DELETE FROM audit_logs", "TRUNCATE audit_logs",
		"ALTER TABLE audit_logs DISABLE TRIGGER ALL", "DROP TABLE audit_logs"} {
		if _, err := d.query("shortline_runtime", sql); err == nil {
			t.Errorf("the runtime role is allowed to run: %s", sql)
		}
	}
	if n := d.must("SELECT count(*) FROM pg_class WHERE pg_get_userbyid(relowner) = 'shortline_runtime'"); n != "0" {
		t.Errorf("the runtime role owns %s relations, want 0", n)
	}
}

// The operations port accepts the host names that Prometheus uses in compose, and serves no profiles by default.
func TestLow_ComposeNamesOperatorsPorts(t *testing.T) {
	t.Parallel()
	p := project(t, nil)
	for name, which := range own(p) {
		if name == "migrate" {
			continue
		}
		e := envOf(p.Services[name])
		if !slices.Contains(strings.Split(e["OPS_HOSTS"], ","), name) || e["PPROF"] != "" {
			t.Errorf("%s (%s): OPS_HOSTS=%s PPROF=%s", name, which, e["OPS_HOSTS"], e["PPROF"])
		}
	}
}

// "make up" and "make up-fleet" create all mounted folders. Otherwise Docker would create them, owned by root.
func TestOps9_FoldersAreTheCallers(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"up", "up-fleet"} {
		dir := t.TempDir()
		// A stub for Docker that does nothing.
		testkit.Must(t, os.WriteFile(filepath.Join(dir, "docker"), []byte("#!/bin/sh\nexit 0\n"), 0o755))
		geo := filepath.Join(dir, "data", "geo")
		run := exec.Command("make", "-s", target)
		run.Dir = filepath.Dir(source(t, "deploy"))
		run.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "GEO_DIR="+geo, "SECRETS_DIR="+filepath.Join(dir, "secrets"))
		if text, err := run.CombinedOutput(); err != nil {
			t.Fatalf("make %s: %v\n%s", target, err, text)
		}
		p := project(t, map[string]string{"GEO_DIR": geo})
		for name, s := range p.Services {
			for _, v := range s.Volumes {
				if v.Type == types.VolumeTypeBind {
					if _, err := os.Stat(v.Source); err != nil {
						t.Errorf("make %s: %s: the folder %s is missing, so Docker would create it: %v", target, name, v.Source, err)
					}
				}
			}
		}
	}
}
