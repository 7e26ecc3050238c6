// Package fleet runs the programs of an installation on loopback as they would run on machines: PostgreSQL, Kafka,
// ClickHouse's engine, control planes and edges, each a process of its own that can be killed, stopped with SIGSTOP
// and started again on the same ports and folders.
//
// It owns the processes, their folders and logs; everything ends with the test that started it, and a failed test
// shows how each log ends. Kafka is a broker that keeps its log over kill -9 but is not Apache's, unless KAFKA=real is
// in the environment. What is missing on the machine fails the test with the command that fetches it.
package fleet

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testkit"
	"github.com/shortline/shortline/test/harness/clickstore"
	"github.com/shortline/shortline/test/harness/faultproxy"
	"github.com/shortline/shortline/test/harness/plane"
)

// Topic is where clicks go.
const Topic = "shortline.clicks"

// Config says how much of everything.
type Config struct {
	Edges    int
	Controls int // with PostgreSQL and ClickHouse; 0 means that Plane serves the edges
	// Plane serves the edges in place of controls.
	Plane *plane.Plane
	// Ingesters are further control planes that only ingest.
	Ingesters int
	// Standby is for a second PostgreSQL that follows the first, without which that acknowledges nothing.
	Standby bool
	// Clocks are how far the clocks of the edges are off, in whole seconds, in their order. With none, edges are the
	// program as it is; else they are its sources with a standard library that adds this to what the system says.
	Clocks []time.Duration
	// Spread has edges ask all control planes in turn, directly; without it they ask the first through PlaneProxy.
	Spread bool
	// EdgeEnv and ControlEnv are further NAME=value settings.
	EdgeEnv, ControlEnv []string
	// Settings, if set, gives a program's settings in place of all those of the harness; only those of the Node itself
	// (addresses, folder) are added. Stores and proxies run when it is called.
	Settings func(*Fleet, *Node, Program) []string
	// First, if set, is called when the stores run and no program of ours does yet.
	First func(*Fleet)
	// ApacheKafka is for Apache's Kafka whatever KAFKA says.
	ApacheKafka bool
	// Brokers is how many of Apache's Kafka there are, in one cluster that nothing stands before; 0 means one, behind
	// KafkaProxy.
	Brokers int
	// Programs are those to start with; the present ones where there is none.
	Programs map[Program]string
	// Files is how many files an edge may have open; 0 means as many as we may.
	Files int
	// NativeStore is for ClickHouse's native protocol in place of HTTP.
	NativeStore bool
}

// Program is one of ours.
type Program string

// The programs of a fleet.
const (
	Control Program = "control"
	Edge    Program = "edge"
)

// Node is a program that serves HTTP.
type Node struct {
	*Process
	Addr string // host:port
	Ops  string // host:port of metrics and health
	Dir  string // DATA_DIR
}

// Fleet is what runs.
type Fleet struct {
	Dir        string
	Postgres   *Process // the one that is written to; nil without controls
	ClickHouse *Process // nil without controls
	Kafka      *Process
	Cluster    []*Process // with Config.Brokers: broker i has the number i+1
	Controls   []*Node
	Ingesters  []*Node
	Edges      []*Node

	// KafkaProxy is between Kafka and everybody else (nil for a cluster), StoreProxy between ClickHouse and who writes to it, and
	// PlaneProxy between edges and the first control plane (or Plane).
	KafkaProxy, StoreProxy, PlaneProxy *faultproxy.Proxy
	// Store asks ClickHouse directly.
	Store clickstore.Store

	t                testing.TB
	cfg              Config
	primary, standby *database // the latter with Config.Standby only
	brokers          []string  // of Cluster
}

const (
	edgeToken     = plane.Token
	adminEmail    = "admin@example.com"
	adminPassword = "the-admin-of-this-test"
	publicBase    = "https://sho.rt"
)

// Start starts everything and waits until it serves.
func Start(t testing.TB, cfg Config) *Fleet {
	t.Helper()
	f := &Fleet{Dir: t.TempDir(), t: t, cfg: cfg}
	f.startKafka()
	if cfg.Controls > 0 {
		f.startPostgres()
		f.startClickHouse()
		for i := range cfg.Controls {
			f.Controls = append(f.Controls, f.control(fmt.Sprintf("control%d", i+1), "api,publish,ingest,webhooks"))
		}
		for i := range cfg.Ingesters {
			f.Ingesters = append(f.Ingesters, f.control(fmt.Sprintf("ingester%d", i+1), "ingest"))
		}
		f.PlaneProxy = f.proxy(testkit.FreeAddr(t), f.Controls[0].Addr)
	} else {
		f.PlaneProxy = f.proxy(testkit.FreeAddr(t), strings.TrimPrefix(cfg.Plane.URL(), "http://"))
	}
	for i := range cfg.Edges {
		f.Edges = append(f.Edges, f.edge(i))
	}
	if cfg.First != nil {
		cfg.First(f)
	}
	for _, n := range f.Nodes() {
		n.Start()
	}
	return f
}

// Nodes are all edges and control planes, the latter first.
func (f *Fleet) Nodes() []*Node {
	var all []*Node
	return append(append(append(all, f.Controls...), f.Ingesters...), f.Edges...)
}

// EdgeAddrs are those of all edges.
func (f *Fleet) EdgeAddrs() (addrs []string) {
	for _, e := range f.Edges {
		addrs = append(addrs, e.Addr)
	}
	return addrs
}

// Brokers is for clients of Kafka.
func (f *Fleet) Brokers() []string {
	if f.cfg.Brokers > 0 {
		return f.brokers
	}
	return []string{f.KafkaProxy.Addr()}
}

func (f *Fleet) proxy(listen, target string) *faultproxy.Proxy {
	f.t.Helper()
	p, err := faultproxy.Listen(listen, target)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = p.Close() })
	return p
}

func (f *Fleet) node(name string, program Program, env []string) *Node {
	f.t.Helper()
	n := &Node{Addr: testkit.FreeAddr(f.t), Ops: testkit.FreeAddr(f.t), Dir: filepath.Join(f.Dir, name)}
	own := []string{"LISTEN_ADDR=" + n.Addr, "OPS_ADDR=" + n.Ops, "DATA_DIR=" + n.Dir}
	path := f.cfg.Programs[program]
	if path == "" {
		path = binary(f.t, f.cfg.built(program))
	}
	n.Process = process(f.t, f.Dir, name, path, nil, nil, answers("http://"+n.Ops+"/readyz"))
	if program == Edge && f.cfg.Files > 0 {
		n.args = []string{"-c", `ulimit -n "$1" && exec "$0"`, n.path, strconv.Itoa(f.cfg.Files)}
		n.path = "/bin/sh"
	}
	if f.cfg.Settings != nil {
		n.env = append(append(n.env, f.cfg.Settings(f, n, program)...), own...)
	} else {
		n.env = append(append(append(n.env, own...), "BASE_URL="+publicBase, "KAFKA_TOPIC="+Topic, "KAFKA_BROKERS="+strings.Join(f.Brokers(), ","), "LOG_FORMAT=text"), env...)
	}
	return n
}

// StoreURL is what control planes reach ClickHouse by: its address behind StoreProxy.
func (f *Fleet) StoreURL() string {
	scheme := "http"
	if f.cfg.NativeStore {
		scheme = "clickhouse"
	}
	return scheme + "://" + f.StoreProxy.Addr() + "/default"
}

func (f *Fleet) control(name, roles string) *Node {
	env := append([]string{"ROLES=" + roles, "DATABASE_URL=" + f.postgresURL(), "CLICKHOUSE_URL=" + f.StoreURL(),
		"JWT_SECRET=" + strings.Repeat("j", 32), "ENCRYPTION_KEY=" + strings.Repeat("e", 32), "EDGE_TOKENS=" + edgeToken,
		"ADMIN_EMAIL=" + adminEmail, "ADMIN_PASSWORD=" + adminPassword,
		"RATE_LIMIT_DEFAULT=0", "RATE_LIMIT_ANALYTICS=0", "RATE_LIMIT_ROUTING=0", "RATE_LIMIT_VARIANTS=0", "RATE_LIMIT_WEBHOOKS=0"}, f.cfg.ControlEnv...)
	return f.node(name, Control, env)
}

func (f *Fleet) edge(i int) *Node {
	control := f.PlaneProxy.Addr()
	if f.cfg.Spread {
		control = f.Controls[i%len(f.Controls)].Addr
	}
	env := append([]string{"CONTROL_URL=http://" + control, "EDGE_TOKEN=" + edgeToken, "SPOOL_CAP_BYTES=" + strconv.Itoa(2<<30)}, f.cfg.EdgeEnv...)
	if i < len(f.cfg.Clocks) {
		env = append(env, testkit.ClockOffset(f.cfg.Clocks[i]))
	}
	return f.node(fmt.Sprintf("edge%d", i+1), Edge, env)
}

// built is the name under which a program is built.
func (cfg *Config) built(p Program) string {
	if p == Edge && len(cfg.Clocks) > 0 {
		return "edge-clock"
	}
	return string(p)
}

// Metrics reads a node's metrics: the sum over labels of each name, and each with its labels.
func (n *Node) Metrics() (map[string]float64, error) {
	res, err := probe.Get("http://" + n.Ops + "/metrics")
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("metrics of %s: %s", n.Name, res.Status)
	}
	found := map[string]float64{}
	in := bufio.NewScanner(res.Body)
	for in.Scan() {
		line := in.Text()
		at := strings.LastIndexByte(line, ' ')
		if strings.HasPrefix(line, "#") || at < 0 {
			continue
		}
		v, err := strconv.ParseFloat(line[at+1:], 64)
		if err != nil {
			continue
		}
		name, labels, labelled := strings.Cut(line[:at], "{")
		found[name] += v
		if labelled {
			found[name+"{"+labels] = v
		}
	}
	return found, in.Err()
}

// Metric reads one of a node's metrics; -1 if it can't be had.
func (n *Node) Metric(name string) float64 {
	m, err := n.Metrics()
	if err != nil {
		return -1
	}
	v, ok := m[name]
	if !ok {
		return -1
	}
	return v
}

// Connections is how many clients are connected to a node's own port, those included that have hung up and that it
// has not; -1 if that can't be told.
func (n *Node) Connections() int {
	_, port, err := net.SplitHostPort(n.Addr)
	if err != nil {
		return -1
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return -1
	}
	table, err := os.ReadFile("/proc/net/tcp") // proc_net_tcp(5): slot, local address, remote address, state
	if err != nil {
		return -1
	}
	count := 0
	for line := range strings.Lines(string(table)) {
		f := strings.Fields(line)
		if len(f) > 3 && strings.HasSuffix(f[1], fmt.Sprintf(":%04X", number)) && (f[3] == "01" || f[3] == "08") { // established, or its client has hung up
			count++
		}
	}
	return count
}

// Shipped waits until no edge has clicks left that Kafka has not taken.
func (f *Fleet) Shipped(within time.Duration) {
	f.t.Helper()
	for _, e := range f.Edges {
		testkit.Within(f.t, within, e.Name+" has shipped its clicks", func() bool { return e.Metric("shortline_spool_clicks_pending") == 0 })
	}
}

// DatabaseURL is PostgreSQL's.
func (f *Fleet) DatabaseURL() string { return f.postgresURL() }
