package e2e_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
	"github.com/shortline/shortline/test/harness/truth"
)

func TestMain(m *testing.M) {
	code := m.Run()
	fleet.Remove()
	os.Exit(code)
}

// long returns the duration of a part: DUR in the environment, or the short duration.
func long(t *testing.T, short time.Duration) time.Duration {
	t.Helper()
	s := os.Getenv("DUR")
	if s == "" {
		return short
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		t.Fatalf("DUR=%s: want a positive duration, such as 10m", s)
	}
	return d
}

// The first administrator, the same as in package fleet.
const adminPassword = "the-admin-of-this-test"

// installation is a fleet with the settings of docker-compose.yml, and the record of its clicks.
type installation struct {
	*fleet.Fleet
	control *name // name of the edge ports of both control planes
	ports   []string
	secrets string
	log     *truth.Log
	clients int          // client numbers used so far
	acked   int64        // redirects that the load generator received
	visited []fleet.Link // all links that the load generator visits
}

// install follows the head of docker-compose.yml: secrets, migrations, control planes, edges.
func install(t *testing.T) *installation {
	t.Helper()
	in := &installation{control: newName(t), secrets: t.TempDir()}
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
	in.Fleet = fleet.Start(t, fleet.Config{Controls: 2, Edges: 3, ApacheKafka: true, NativeStore: true,
		Settings: func(f *fleet.Fleet, n *fleet.Node, p fleet.Program) []string {
			if p == fleet.Control {
				in.makeSecrets(t, f)
				port := testkit.FreeAddr(t)
				in.ports = append(in.ports, port)
				env := replace(t, mounted(compose[p], in.secrets), map[string]string{"KAFKA_BROKERS": f.KafkaProxy.Addr(), "EDGE_LISTEN_ADDR": port})
				// For control migrate, which runs with these settings too.
				env = append(env, "MIGRATE_DATABASE_URL_FILE="+filepath.Join(in.secrets, filepath.Base(value(t, environment(t, "migrate"), "MIGRATE_DATABASE_URL_FILE"))))
				// Webhook receivers are on this machine, and the story and the load come from one address.
				return append(env, "WEBHOOK_ALLOW_PRIVATE=true", "RATE_LIMIT_DEFAULT=0", "RATE_LIMIT_ANALYTICS=0", "RATE_LIMIT_ROUTING=0", "RATE_LIMIT_VARIANTS=0", "RATE_LIMIT_WEBHOOKS=0")
			}
			// Only the first edge has exactly the settings of the file.
			special := [][]string{nil, {"PROXY_API=false", "BRAND_NAME=Second", "SPOOL_SYNC=always"}, {"PROXY_API=false", "SHIP_DELAY=100ms", "LOG_LEVEL=debug", "TRUSTED_PROXIES=127.0.0.0/8"}}[edges]
			token := filepath.Join(in.secrets, fmt.Sprintf("edge_token_%d", edges%2+1))
			edges++
			at := strings.Replace(in.control.URL(), "http://", "https://", 1)
			return append(replace(t, mounted(compose[p], in.secrets), map[string]string{"KAFKA_BROKERS": f.KafkaProxy.Addr(), "CONTROL_URL": at, "EDGE_TOKEN_FILE": token}), special...)
		},
		First: func(f *fleet.Fleet) {
			in.control.Is(in.ports...)
			began := time.Now()
			for range 2 { // migrations may run again
				if err := f.Controls[0].Once(2*time.Minute, "migrate"); err != nil {
					t.Fatal(err)
				}
			}
			for _, n := range f.Nodes() {
				if err := n.Once(time.Minute, "-check"); err != nil {
					t.Fatal(err)
				}
				if err := n.Once(time.Minute, "-healthy"); err == nil {
					t.Errorf("%s reports healthy before it runs", n.Name)
				}
			}
			t.Logf("migrated twice and checked in %s", time.Since(began).Round(time.Millisecond))
		},
	})
	var err error
	if in.log, err = truth.Create(filepath.Join(t.TempDir(), "truth")); err != nil {
		t.Fatal(err)
	}
	return in
}

// makeSecrets runs deploy/make-secrets. Secrets that contain addresses, and the known password, are written before.
func (in *installation) makeSecrets(t *testing.T, f *fleet.Fleet) {
	t.Helper()
	runtime := strings.Replace(f.DatabaseURL(), "postgres://postgres@", "postgres://shortline_runtime@", 1)
	for name, text := range map[string]string{"database_url": f.DatabaseURL(), "runtime_database_url": runtime, "clickhouse_url": f.StoreURL(), "admin_password": adminPassword} {
		if err := os.WriteFile(filepath.Join(in.secrets, name), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(filepath.Join(root, "deploy", "make-secrets"))
	cmd.Env = append(os.Environ(), "SECRETS_DIR="+in.secrets)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("deploy/make-secrets: %v: %s", err, out)
	}
}

// crowd starts a load in the background. The returned function ends it and returns its result.
func (in *installation) crowd(t *testing.T, cfg load.Config) (stop func() *load.Result) {
	t.Helper()
	cfg.Log, cfg.First = in.log, in.clients
	in.clients += cfg.Clients
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan *load.Result, 1)
	go func() { done <- load.Run(ctx, cfg) }()
	stop = sync.OnceValue(func() *load.Result {
		cancel()
		r := <-done
		in.acked += r.Acked
		return r
	})
	t.Cleanup(func() { stop() })
	return stop
}

// links creates links and waits until every edge serves the last one.
func (in *installation) links(t *testing.T, api *fleet.API, n int) (all []fleet.Link, slugs []string) {
	t.Helper()
	for i := range n {
		l := api.Create(fmt.Sprintf("https://example.com/%d", i), nil)
		all, slugs = append(all, l), append(slugs, l.Slug)
	}
	for _, e := range in.Edges {
		testkit.Within(t, 10*time.Second, e.Name+" serves the last link", func() bool {
			a, err := visit(e.Addr, "HEAD", slugs[n-1], laptop)
			return err == nil && a.status == 302
		})
	}
	in.visited = append(in.visited, all...)
	return all, slugs
}

// exact checks that ClickHouse has every click of the load once and no others, and that reports agree.
func (in *installation) exact(t *testing.T, api *fleet.API) truth.Verdict {
	t.Helper()
	in.Shipped(2 * time.Minute)
	began := time.Now()
	testkit.Within(t, 3*time.Minute, fmt.Sprintf("ClickHouse has all %d clicks", in.acked), func() bool {
		return int64(in.number(t, "SELECT count() FROM clicks FINAL WHERE utm_content != ''")) >= in.acked
	})
	account, err := in.Store.Account(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	contents, err := in.Store.Contents(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	v, err := truth.Judge(in.log.Path(), contents)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("stored %s after the last edge had shipped: %v; %v", time.Since(began).Round(time.Millisecond), v, account)
	if !v.Exact() || v.Acked == 0 || account.Missing != 0 || account.Lost != 0 {
		t.Errorf("ClickHouse differs from the answered requests: %v; %v", v, account)
	}
	told := func() (sum int) {
		for _, l := range in.visited {
			n, err := api.Report(l.ID)
			if err != nil {
				return -1
			}
			sum += n
		}
		return sum
	}
	want := v.Stored
	testkit.Within(t, 30*time.Second, fmt.Sprintf("the reports show %d clicks", want), func() bool { return told() >= want })
	if got := told(); got != want {
		t.Errorf("the reports show %d clicks, want %d", got, want)
	}
	return v
}

// number runs a ClickHouse query for one number; -1 if it fails.
func (in *installation) number(t *testing.T, statement string) (n int) {
	t.Helper()
	lines, err := in.Store.Ask(t.Context(), statement)
	if err != nil || len(lines) != 1 {
		return -1
	}
	if _, err := fmt.Sscan(lines[0], &n); err != nil {
		return -1
	}
	return n
}

// allAgree waits until the API reports that all edges are alive, current, and have the same links.
func (in *installation) allAgree(t *testing.T, api *fleet.API) {
	t.Helper()
	var out struct {
		Revision uint64
		Edges    []struct {
			ID, StateHash string
			IsAlive       bool
			Lag           uint64
			Links         int
			SetAsideCount int
			Refused       *string
		}
	}
	testkit.Within(t, time.Minute, "three edges are up to date and agree", func() bool {
		if _, _, err := api.Call("GET", "/api/edges", nil, &out); err != nil || len(out.Edges) != len(in.Edges) {
			return false
		}
		for _, e := range out.Edges {
			if !e.IsAlive || e.Lag != 0 || e.StateHash != out.Edges[0].StateHash || e.StateHash == "" || e.SetAsideCount != 0 || e.Refused != nil {
				return false
			}
		}
		return true
	})
	t.Logf("three edges at revision %d with %d links, state %s", out.Revision, out.Edges[0].Links, out.Edges[0].StateHash)
}

// failures counts answers and broken connections that no visitor should see.
func failures(r *load.Result) int64 {
	bad := r.Broken + r.Refused
	for _, n := range r.Other {
		bad += int64(n)
	}
	return bad
}

// quantile sorts the durations and returns their q-quantile.
func quantile(all []time.Duration, q float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[min(len(all)-1, int(q*float64(len(all))))].Round(100 * time.Microsecond)
}
