package harness_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/faultproxy"
	"github.com/shortline/shortline/test/harness/fleet"
)

// The first administrator, the same as in package fleet.
const adminPassword = "the-admin-of-this-test"

// installation is a fleet with the settings of docker-compose.yml, and the record of its visitors.
type installation struct {
	*chain
	crowd   *crowd
	control *faultproxy.Proxy // stands for a name with the edge ports of all control planes
	ports   []string
	secrets string
}

// install follows the head of docker-compose.yml: secrets, migrations, control planes, edges.
func install(t *testing.T) *installation {
	t.Helper()
	in := &installation{secrets: t.TempDir(), crowd: newCrowd(t)}
	compose := map[fleet.Program][]string{fleet.Control: environment(t, "control-1"), fleet.Edge: environment(t, "edge-1")}
	for _, same := range [][2]string{{"control-1", "control-2"}, {"edge-1", "edge-2"}} {
		a, b := environment(t, same[0]), environment(t, same[1])
		for i := range min(len(a), len(b)) {
			if len(a) != len(b) || a[i] != b[i] && !strings.HasPrefix(a[i], "EDGE_TOKEN_FILE=") && !strings.HasPrefix(a[i], "EDGE_NAME=") {
				t.Fatalf("the settings of %s and %s differ: %s, %s", same[0], same[1], a[i], b[i])
			}
		}
	}
	edges := 0
	f := fleet.Start(t, fleet.Config{Controls: 2, Edges: 3, ApacheKafka: true, NativeStore: true,
		Settings: func(f *fleet.Fleet, n *fleet.Node, p fleet.Program) []string {
			if p == fleet.Control {
				in.makeSecrets(t, f)
				port := testkit.FreeAddr(t)
				in.ports = append(in.ports, port)
				env := replace(t, mounted(compose[p], in.secrets), map[string]string{"KAFKA_BROKERS": f.KafkaProxy.Addr(),
					"EDGE_LISTEN_ADDR": port})
				// For control migrate, which runs with these settings too.
				env = append(env, "MIGRATE_DATABASE_URL_FILE="+
					filepath.Join(in.secrets, filepath.Base(value(t, environment(t, "migrate"), "MIGRATE_DATABASE_URL_FILE"))))
				// Webhook receivers are on this machine, and the story and the load come from one address.
				return append(env, "WEBHOOK_ALLOW_PRIVATE=true", "RATE_LIMIT_DEFAULT=0", "RATE_LIMIT_ANALYTICS=0", "RATE_LIMIT_ROUTING=0",
					"RATE_LIMIT_VARIANTS=0", "RATE_LIMIT_WEBHOOKS=0")
			}
			if in.control == nil {
				var err error
				if in.control, err = faultproxy.Listen("127.0.0.1:0", in.ports...); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = in.control.Close() })
			}
			// Only the first edge has exactly the settings of the file.
			special := [][]string{nil, {"PROXY_API=false", "BRAND_NAME=Second", "SPOOL_SYNC=always"},
				{"PROXY_API=false", "SHIP_DELAY=100ms", "LOG_LEVEL=debug", "TRUSTED_PROXIES=127.0.0.0/8"}}[edges]
			token := filepath.Join(in.secrets, fmt.Sprintf("edge_token_%d", edges%2+1))
			edges++
			return append(replace(t, mounted(compose[p], in.secrets), map[string]string{"KAFKA_BROKERS": f.KafkaProxy.Addr(),
				"CONTROL_URL": "https://" + in.control.Addr(), "EDGE_TOKEN_FILE": token}), special...)
		},
		First: func(f *fleet.Fleet) {
			began := time.Now()
			for range 2 { // migrations may run again
				testkit.Must(t, f.Controls[0].Once("migrate"))
			}
			for _, n := range f.Nodes() {
				testkit.Must(t, n.Once("-check"))
				if err := n.Once("-healthy"); err == nil {
					t.Errorf("%s reports healthy before it runs", n.Name)
				}
			}
			t.Logf("migrated twice and checked in %s", time.Since(began).Round(time.Millisecond))
		},
	})
	in.chain = &chain{Fleet: f, t: t, api: f.Controls[0].Login(t)}
	return in
}

// makeSecrets runs deploy/make-secrets. Secrets that contain addresses, and the known password, are written before.
func (in *installation) makeSecrets(t *testing.T, f *fleet.Fleet) {
	t.Helper()
	runtime := strings.Replace(f.DatabaseURL(), "postgres://postgres@", "postgres://shortline_runtime@", 1)
	for name, text := range map[string]string{"database_url": f.DatabaseURL(), "runtime_database_url": runtime,
		"clickhouse_url": f.StoreURL(),
		"admin_password": adminPassword} {
		testkit.Must(t, os.WriteFile(filepath.Join(in.secrets, name), []byte(text+"\n"), 0o600))
	}
	secrets{t, in.secrets}.generate()
}

// edgeStates returns the newest revision, and what the API says of all edges; none if it does not answer.
func (c *chain) edgeStates() (revision int, list []client.Edge) {
	out, err := c.api.Edges.List(c.t.Context())
	if err != nil {
		return 0, nil
	}
	return out.Revision, out.Edges
}

// allAgree waits until the API reports that all edges are alive, current, and have the same links.
func (in *installation) allAgree(t *testing.T) {
	t.Helper()
	testkit.Eventually(t, "three edges are up to date and agree", func() bool {
		revision, edges := in.edgeStates()
		for _, e := range edges {
			if !e.IsAlive || e.Lag != 0 || e.StateHash != edges[0].StateHash || e.StateHash == "" || e.SetAsideCount != 0 ||
				e.Refused != nil {
				return false
			}
		}
		if len(edges) != len(in.Edges) {
			return false
		}
		t.Logf("three edges at revision %d with %d links, state %s", revision, edges[0].Links, edges[0].StateHash)
		return true
	})
}
