package deploy_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// started loads what "docker compose up" starts, with some profiles and files.
func started(t *testing.T, profiles []string, env []string, files ...string) *types.Project {
	t.Helper()
	var paths []string
	for _, file := range files {
		paths = append(paths, source(t, file))
	}
	options, err := cli.NewProjectOptions(paths, cli.WithWorkingDirectory(filepath.Dir(source(t, "deploy"))),
		cli.WithEnv(append(env, "SECRETS_DIR="+makeSecrets(t))), cli.WithProfiles(profiles), cli.WithResolvedPaths(true))
	testkit.Must(t, err)
	p, err := options.LoadProject(t.Context())
	testkit.Must(t, err)
	return p
}

// The four ways of the documentation start what they say: a fleet, a fleet with dashboards, one with HTTPS, one with shards.
func TestCompose_four_ways(t *testing.T) {
	t.Parallel()
	loading.Lock() // the loader logs to a global logger
	defer loading.Unlock()
	fleet := []string{"clickhouse", "control-1", "control-2", "edge-1", "edge-2", "kafka", "migrate", "postgres"}
	watch := []string{"alertmanager", "grafana", "grafana-clickhouse", "grafana-postgres", "prometheus"}
	main, tls, cluster := "docker-compose.yml", "deploy/tls.yml", "deploy/clickhouse/cluster.yml"
	https := []string{"BASE_URL=https://sho.rt", "ACME_EMAIL=ops@example.com"}
	for name, c := range map[string]struct {
		profiles, env, files, want []string
	}{
		"default":       {nil, nil, []string{main}, fleet},
		"observability": {[]string{"observability"}, nil, []string{main}, append(slices.Clone(watch), fleet...)},
		"standalone":    {[]string{"standalone"}, nil, []string{main}, append([]string{"standalone"}, fleet...)},
		"tls":           {nil, https, []string{main, tls}, fleet},
		"cluster":       {nil, nil, []string{main, cluster}, nil},
		"everything":    {[]string{"observability"}, https, []string{main, tls, cluster}, nil},
	} {
		p := started(t, c.profiles, c.env, c.files...)
		got := slices.Sorted(maps.Keys(p.Services))
		slices.Sort(c.want)
		if c.want != nil && !slices.Equal(got, c.want) {
			t.Errorf("%s starts %v, want %v", name, got, c.want)
		}
		sharded := slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "clickhouse-keeper-") })
		if want := slices.Contains(c.files, cluster); sharded != want {
			t.Errorf("%s: keepers: %v", name, got)
		}
		published := map[string]string{}
		for service, s := range p.Services {
			for _, port := range s.Ports {
				at := port.HostIP + ":" + port.Published
				if other := published[at]; other != "" && service != "standalone" && other != "standalone" {
					t.Errorf("%s: %s and %s publish %s", name, service, other, at)
				}
				if service != "standalone" || published[at] == "" { // it has the ports of the first edge, which nobody starts beside it
					published[at] = service
				}
			}
		}
		https := slices.Contains(c.files, tls)
		if (published[":443"] == "edge-1" && published[":80"] == "edge-1") != https || published[":8080"] == "edge-1" == https {
			t.Errorf("%s publishes %v", name, published)
		}
		for _, service := range []string{"edge-1", "edge-2"} {
			if on := *p.Services[service].Environment["TLS_ADDR"] != ""; on != https {
				t.Errorf("%s: %s has TLS: %v", name, service, on)
			}
		}
	}
}
