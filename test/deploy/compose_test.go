package deploy_test

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/sirupsen/logrus"

	"github.com/shortline/shortline/shared/testing/testkit"
)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(source(t, path))
	testkit.Must(t, err)
	return string(text)
}

// The loader logs warnings to a global logger.
var (
	loading sync.Mutex
	doubts  bytes.Buffer
)

// fleets lists the files that are loaded together, by the name of the last one.
var fleets = map[string][]string{
	"docker-compose.yml": {"docker-compose.yml"},
	"cluster.yml":        {"docker-compose.yml", "deploy/clickhouse/cluster.yml"},
}

// each runs a test for each of fleets, while other tests run.
func each(t *testing.T, f func(t *testing.T, p *types.Project)) {
	t.Helper()
	t.Parallel()
	for name, files := range fleets {
		t.Run(name, func(t *testing.T) { f(t, project(t, nil, files...)) })
	}
}

// project loads docker-compose.yml, or other files, with all profiles and the secrets of deploy/make-secrets.
func project(t *testing.T, env map[string]string, files ...string) *types.Project {
	t.Helper()
	if len(files) == 0 {
		files = fleets["docker-compose.yml"]
	}
	var paths []string
	for _, file := range files {
		paths = append(paths, source(t, file))
	}
	loading.Lock()
	defer loading.Unlock()
	doubts.Reset()
	logrus.SetOutput(&doubts)
	lines := []string{"SECRETS_DIR=" + makeSecrets(t)}
	for k, v := range env {
		lines = append(lines, k+"="+v)
	}
	options, err := cli.NewProjectOptions(paths,
		cli.WithWorkingDirectory(filepath.Dir(source(t, "deploy"))), cli.WithEnv(lines), cli.WithProfiles([]string{"*"}),
		cli.WithResolvedPaths(true))
	testkit.Must(t, err)
	p, err := options.LoadProject(t.Context())
	testkit.Must(t, err)
	if doubts.Len() > 0 {
		t.Errorf("%s: %s", files, doubts.String())
	}
	return p
}

func makeSecrets(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "secrets")
	runMakeSecrets(t, dir)
	return dir
}

// runMakeSecrets runs deploy/make-secrets for a folder, and returns what it says.
func runMakeSecrets(t *testing.T, dir string, env ...string) string {
	t.Helper()
	run := exec.Command(source(t, "deploy", "make-secrets"))
	run.Env = append(append(os.Environ(), "SECRETS_DIR="+dir), env...)
	text, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("deploy/make-secrets: %v\n%s", err, text)
	}
	return string(text)
}

// secretsIn returns the secrets in a folder, by file.
func secretsIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	testkit.Must(t, err)
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		testkit.Must(t, err)
		out[e.Name()] = strings.TrimSuffix(string(text), "\n")
	}
	return out
}

// secret returns a secret of a project.
func secret(t *testing.T, p *types.Project, name string) string {
	t.Helper()
	text, err := os.ReadFile(p.Secrets[name].File)
	testkit.Must(t, err)
	return string(text)
}

// own maps the services with our images to their programs.
func own(p *types.Project) map[string]string {
	out := map[string]string{}
	for name, s := range p.Services {
		if s.Build != nil {
			out[name] = strings.TrimSuffix(filepath.Base(s.Build.Dockerfile), ".Dockerfile")
		}
	}
	return out
}

// works lists the services that exit by themselves and therefore have no health check.
var works = []string{"migrate", "k6", "grafana-postgres", "grafana-clickhouse"}

func TestCompose_every_service_is_confined_bounded_and_watched(t *testing.T) {
	each(t, func(t *testing.T, p *types.Project) {
		ours := own(p)
		if len(ours) != 6 {
			t.Errorf("unexpected services with our images: %v", ours)
		}
		for name, s := range p.Services {
			work := slices.Contains(works, name)
			if (s.HealthCheck == nil || len(s.HealthCheck.Test) == 0) && !work {
				t.Errorf("%s: no health check", name)
			}
			if ours[name] == "" && !pinned.MatchString(s.Image) {
				t.Errorf("%s: the image %s is not pinned", name, s.Image)
			}
			if !slices.Contains(s.SecurityOpt, "no-new-privileges:true") || !slices.Equal(s.CapDrop, []string{"ALL"}) || s.Privileged {
				t.Errorf("%s: not confined: security options %v, dropped capabilities %v", name, s.SecurityOpt, s.CapDrop)
			}
			if s.Deploy == nil || s.Deploy.Resources.Limits == nil ||
				s.Deploy.Resources.Limits.MemoryBytes == 0 || s.Deploy.Resources.Limits.NanoCPUs == 0 {
				t.Errorf("%s: no resource limits", name)
			}
			if s.Logging == nil || s.Logging.Options["max-size"] == "" {
				t.Errorf("%s: the size of the log is not limited", name)
			}
			if want := map[bool]string{true: "no", false: "unless-stopped"}[work]; s.Restart != want {
				t.Errorf("%s: restart policy %q, want %q", name, s.Restart, want)
			}
			for dependency, d := range s.DependsOn {
				want := types.ServiceConditionHealthy
				if slices.Contains(works, dependency) {
					want = types.ServiceConditionCompletedSuccessfully
				}
				if d.Condition != want {
					t.Errorf("%s waits for the wrong condition of %s: %s", name, dependency, d.Condition)
				}
			}
			if ours[name] == "" {
				continue
			}
			if !s.ReadOnly || s.User != "65532:65532" || len(s.CapAdd) > 0 {
				t.Errorf("%s: read only: %v, user %q, capabilities %v", name, s.ReadOnly, s.User, s.CapAdd)
			}
			// The program takes up to ten seconds to stop.
			if s.StopGracePeriod == nil || time.Duration(*s.StopGracePeriod) < 12*time.Second {
				t.Errorf("%s: killed after %v", name, s.StopGracePeriod)
			}
			if _, err := os.Stat(filepath.Join(s.Build.Context, s.Build.Dockerfile)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// Only edges, standalone and the monitoring pages publish ports.
func TestCompose_backends_are_not_published(t *testing.T) {
	each(t, func(t *testing.T, p *types.Project) {
		for name, s := range p.Services {
			for _, port := range s.Ports {
				switch {
				case strings.HasPrefix(name, "edge-"), name == "standalone" && (port.Target == 8080 || port.Target == 8443):
				case port.HostIP == "127.0.0.1" && slices.Contains([]string{"standalone", "grafana", "prometheus", "alertmanager"}, name):
				default:
					t.Errorf("%s publishes port %d on %q", name, port.Target, port.HostIP)
				}
			}
		}
		n := 0
		for name, s := range p.Services {
			if name != "postgres" && name != "kafka" && !strings.HasPrefix(name, "clickhouse") {
				continue
			}
			n++
			if len(s.Networks) == 0 {
				t.Errorf("%s is on the default network", name)
			}
			for network := range s.Networks {
				if !p.Networks[network].Internal {
					t.Errorf("%s is on the network %s, which is not internal", name, network)
				}
			}
		}
		if n < 3 {
			t.Errorf("found only %d backends", n)
		}
		for _, name := range []string{"edge-1", "edge-2"} {
			if _, ok := p.Services[name].Networks["stores"]; ok {
				t.Errorf("%s can reach the databases", name)
			}
		}
	})
}

// Each edge has its own volume. Two edges on one volume would break the identity of clicks.
func TestCompose_volumes_have_one_owner(t *testing.T) {
	each(t, func(t *testing.T, p *types.Project) {
		owner := map[string]string{}
		for name, s := range p.Services {
			for _, v := range s.Volumes {
				if v.Type != types.VolumeTypeVolume || v.Source == "media" {
					if v.Type == types.VolumeTypeBind && !v.ReadOnly {
						t.Errorf("%s can write to the host path %s", name, v.Source)
					}
					continue
				}
				if other := owner[v.Source]; other != "" {
					t.Errorf("%s and %s share the volume %s", name, other, v.Source)
				}
				owner[v.Source] = name
				if _, ok := p.Volumes[v.Source]; !ok {
					t.Errorf("%s: no volume %s", name, v.Source)
				}
			}
		}
	})
}

func TestCompose_files_that_are_mounted_exist(t *testing.T) {
	each(t, func(t *testing.T, p *types.Project) {
		for name, s := range p.Services {
			for _, v := range s.Volumes {
				if v.Type != types.VolumeTypeBind || strings.HasSuffix(v.Source, "data/geo") {
					continue // Docker creates the folder for geo databases
				}
				if _, err := os.Stat(v.Source); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			for _, secret := range s.Secrets {
				if _, err := os.Stat(p.Secrets[secret.Source].File); err != nil {
					t.Errorf("%s: deploy/make-secrets does not create %s", name, secret.Source)
				}
			}
		}
	})
}

// Each program checks the environment that its container would have.
func TestCompose_programs_accept_their_environment(t *testing.T) {
	t.Parallel()
	for label, env := range map[string]map[string]string{
		"defaults": nil,
		"example":  example(t),
		"changed": {"BASE_URL": "https://sho.rt", "TRUSTED_PROXIES": "10.0.0.0/8", "SPOOL_CAP_BYTES": "8589934592",
			"ADMIN_EMAIL": "ops@example.com", "ROUTING_TIMEZONE": "Asia/Taipei", "BRAND_LOGO_URL": "https://sho.rt/logo.svg",
			"CORS_ORIGIN": "https://example.com"},
		"cluster": nil,
		"tls":     {"BASE_URL": "https://sho.rt", "ACME_EMAIL": "ops@example.com"},
	} {
		p := project(t, env)
		if label == "cluster" {
			p = project(t, env, fleets["cluster.yml"]...)
		}
		if label == "tls" {
			p = project(t, env, "docker-compose.yml", "deploy/tls.yml")
		}
		for name, which := range own(p) {
			s := p.Services[name]
			c := container{where: "docker-compose.yml (" + label + "): " + name, program: which, args: s.Command, env: map[string]string{},
				secrets: map[string]string{}}
			for k, v := range s.Environment {
				if v == nil {
					t.Errorf("%s: %s comes from the environment of the calling shell", name, k)
					continue
				}
				c.env[k] = *v
			}
			for _, mounted := range s.Secrets {
				c.secrets["/run/secrets/"+mounted.Source] = secret(t, p, mounted.Source)
			}
			delete(c.env, "DATA_DIR")
			if which == "standalone" {
				c.env["BASE_URL"] = *s.Environment["BASE_URL"]
			}
			c.check(t)
		}
	}
}

// example returns the settings in .env.example.
func example(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	lines := bufio.NewScanner(strings.NewReader(read(t, ".env.example")))
	for lines.Scan() {
		if name, value, ok := strings.Cut(lines.Text(), "="); ok && !strings.HasPrefix(name, "#") {
			out[name] = value
		}
	}
	delete(out, "SECRETS_DIR")
	return out
}

// .env.example lists exactly the variables of the compose files, with their defaults.
func TestCompose_example_shows_every_variable_with_its_default(t *testing.T) {
	t.Parallel()
	shown := example(t)
	shown["SECRETS_DIR"] = "./secrets"
	used := map[string]bool{}
	for _, m := range regexp.MustCompile(`\$\{([A-Z0-9_]+)(:-([^}]*))?\}`).FindAllStringSubmatch(read(t, "docker-compose.yml")+
		read(t, "deploy/clickhouse/cluster.yml"), -1) {
		name, fallback := m[1], m[3]
		used[name] = true
		if m[2] == "" {
			t.Errorf("%s has no default", name)
		}
		if value, ok := shown[name]; !ok || value != fallback {
			t.Errorf("%s: a compose file has the default %q, .env.example has %q (present: %v)", name, fallback, value, ok)
		}
	}
	for name := range shown {
		if !used[name] {
			t.Errorf(".env.example lists %s, which no compose file uses", name)
		}
	}
}

// Secrets that belong together match, other users cannot list them, and a second run changes nothing.
func TestMakeSecrets(t *testing.T) {
	t.Parallel()
	dir := makeSecrets(t)
	first := secretsIn(t, dir)
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode of the secrets folder: %v %v", info.Mode(), err)
	}
	if first["edge_tokens"] != first["edge_token_1"]+","+first["edge_token_2"] ||
		!strings.Contains(first["database_url"], ":"+first["postgres_password"]+"@") ||
		strings.Count(first["clickhouse_urls"], ":"+first["clickhouse_password"]+"@") != 1 ||
		strings.Count(first["clickhouse_cluster_urls"], ":"+first["clickhouse_password"]+"@") != 2 {
		t.Error("a secret that is composed of other secrets does not contain them")
	}
	seen := map[string]bool{}
	for name, value := range first {
		if name == "smtp_url" { // only the operator knows it; empty sends no e-mail
			if value != "" {
				t.Errorf("%s has a value", name)
			}
			continue
		}
		if name != ".gitignore" && (len(value) < 24 || seen[value]) {
			t.Errorf("%s is too short or equals another secret", name)
		}
		seen[value] = true
	}
	if said := runMakeSecrets(t, dir); said != "" {
		t.Errorf("second run: %s", said)
	}
	for name, value := range secretsIn(t, dir) {
		if first[name] != value {
			t.Errorf("the second run changed %s", name)
		}
	}
}
