// Package fleet runs a whole installation on loopback: PostgreSQL, Kafka, ClickHouse's engine, control planes and edges.
// Each is a process that a test can kill, stop with SIGSTOP, and start again on the same ports and folders.
//
// The package owns the processes, their folders and their logs. All of them end with the test that started them. A failed
// test prints the end of each log. Kafka is a test broker that keeps its log across kill -9; KAFKA=real in the environment
// selects Apache Kafka. If a program is missing on the machine, the test fails with the command that installs it.
package fleet

import (
	"bufio"
	"fmt"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/clickstore"
	"github.com/shortline/shortline/test/harness/faultproxy"
	"github.com/shortline/shortline/test/harness/plane"
)

// Topic is the Kafka topic for clicks.
const Topic = "shortline.clicks"

// Config describes a fleet.
type Config struct {
	Edges    int
	Controls int // control planes, with PostgreSQL and ClickHouse; 0: Plane serves the edges
	// Plane serves the edges instead of control planes.
	Plane *plane.Plane
	// Ingesters is the number of additional control planes with only the role ingest.
	Ingesters int
	// Issuers is the number of additional control planes with only the role certs. The others then do not have it.
	Issuers int
	// Standby adds a synchronous PostgreSQL standby: the primary acknowledges no commit without it.
	Standby bool
	// Clocks are the clock offsets of the edges in order, in whole seconds. If it is set, the edges are built with
	// testkit.ClockOverlay. ControlClocks are those of the control planes: first of Controls, then of Ingesters.
	Clocks, ControlClocks []time.Duration
	// Spread distributes the edges over all control planes, without a proxy. Otherwise all edges use the first control
	// plane through PlaneProxy.
	Spread bool
	// EdgeEnv and ControlEnv are additional NAME=value settings.
	EdgeEnv, ControlEnv []string
	// EdgeOwn, if set, returns additional settings of the edge with the given index, which win over EdgeEnv.
	EdgeOwn func(i int) []string
	// EdgeAddrs are the public addresses of the edges in order, host:port; nil chooses free ones. All addresses in 127.0.0.0/8
	// are local on Linux.
	EdgeAddrs []string
	// EdgeTLS are the values of TLS_ADDR of the edges in order; nil means no TLS.
	EdgeTLS []string
	// Settings, if set, returns a program's settings and replaces those of the harness, except the addresses and the folder
	// of the Node. It is called when the stores and proxies run.
	Settings func(*Fleet, *Node, Program) []string
	// First, if set, is called after the stores have started and before control planes and edges start.
	First func(*Fleet)
	// ApacheKafka selects Apache Kafka, regardless of KAFKA.
	ApacheKafka bool
	// Brokers is the number of Apache Kafka brokers in a cluster without a proxy; 0 means one broker behind KafkaProxy.
	Brokers int
	// Regions are the names of further regions, each with a broker and an edge in a network namespace. See Namespaces.
	Regions []string
	// Programs are paths of the programs to start with. A missing entry means the program built from the working tree.
	Programs map[Program]string
	// Files is the limit of open files of an edge; 0 means the limit of the test.
	Files int
	// NativeStore selects ClickHouse's native protocol instead of HTTP.
	NativeStore bool
	// Shards are the names of click stores beside the first one, which is called main.
	Shards []string
	// StoreAddrs are the addresses, host:port, where control planes reach Engines, in order. Missing ones are those of the
	// engines, and of StoreProxy.
	StoreAddrs []string
}

// Program is the name of one of our programs.
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

// Fleet is a running installation.
type Fleet struct {
	Dir        string
	Postgres   *Process // the primary; nil without control planes
	ClickHouse *Process // nil without control planes
	Kafka      *Process
	Cluster    []*Process // with Config.Brokers: broker i has the number i+1
	Controls   []*Node
	Ingesters  []*Node
	Issuers    []*Node
	Edges      []*Node
	Regions    []*Region

	// KafkaProxy is between Kafka and all clients (nil for a cluster), StoreProxy between the control planes and ClickHouse,
	// and PlaneProxy between the edges and the first control plane (or Plane).
	KafkaProxy, StoreProxy, PlaneProxy *faultproxy.Proxy
	// Store queries ClickHouse directly.
	Store clickstore.Store
	// Shards are the click stores of Config.Shards.
	Shards []Shard
	// Engines are all ClickHouse servers, one for each shard, the first shard first.
	Engines []*Engine

	t                testing.TB
	cfg              Config
	primary, standby *database // standby is nil without Config.Standby
	launched         []*Process
	brokers          []string // of Cluster
}

const (
	edgeToken     = plane.Token
	adminEmail    = "admin@example.com"
	adminPassword = "the-admin-of-this-test"
	publicBase    = "https://sho.rt"
)

// Start starts everything and waits until it serves. Programs that do not need each other start at the same time.
func Start(t testing.TB, cfg Config) *Fleet {
	t.Helper()
	f := &Fleet{Dir: t.TempDir(), t: t, cfg: cfg}
	f.launchKafka()
	for i, name := range cfg.Regions {
		f.openRegion(i, name)
	}
	if cfg.Controls > 0 {
		f.launchClickHouse()
		f.launchPostgres()
	}
	f.awaitLaunched()
	if cfg.Standby {
		f.startStandby()
	}
	f.prepareControls()
	for i := range cfg.Edges {
		f.Edges = append(f.Edges, f.edge(i))
	}
	for _, r := range f.Regions {
		f.regionEdge(r, f.Controls[0].Addr)
	}
	if cfg.First != nil {
		cfg.First(f)
	}
	edges := f.Edges
	for _, r := range f.Regions {
		edges = append(edges, r.Edge)
	}
	for _, group := range [][]*Node{f.controlPlanes(), edges} {
		for _, n := range group {
			if !n.Alive() { // First may have started it
				f.launch(n.Process)
			}
		}
		f.awaitLaunched()
	}
	for _, n := range edges {
		n.saved(t)
	}
	return f
}

// saved waits until an edge has saved its links. An edge that is killed before answers 503 until it has loaded them again.
func (n *Node) saved(t testing.TB) {
	t.Helper()
	testkit.Eventually(t, n.Name+" saves its links", func() bool {
		_, err := os.Stat(filepath.Join(n.Dir, "links", "links.state"))
		return err == nil
	})
}

// launch starts a process. awaitLaunched waits until all of those are ready.
func (f *Fleet) launch(p *Process) {
	f.t.Helper()
	p.Launch()
	f.launched = append(f.launched, p)
}

func (f *Fleet) awaitLaunched() {
	f.t.Helper()
	for _, p := range f.launched {
		p.Ready()
	}
	f.launched = nil
}

// prepareControls prepares all control planes, and the proxy between the edges and the first of them, or Plane.
func (f *Fleet) prepareControls() {
	f.t.Helper()
	cfg := f.cfg
	if cfg.Controls == 0 {
		f.PlaneProxy = f.proxy(testkit.FreeAddr(f.t), strings.TrimPrefix(cfg.Plane.URL(), "http://"))
		return
	}
	for i := range cfg.Controls {
		f.Controls = append(f.Controls, f.control(fmt.Sprintf("control%d", i+1), "api,publish,ingest,webhooks,experiments"))
	}
	for i := range cfg.Ingesters {
		f.Ingesters = append(f.Ingesters, f.control(fmt.Sprintf("ingester%d", i+1), "ingest"))
	}
	for i, off := range cfg.ControlClocks {
		n := slices.Concat(f.Controls, f.Ingesters)[i]
		n.env = append(n.env, testkit.ClockOffset(off))
	}
	for i := range cfg.Issuers {
		f.Issuers = append(f.Issuers, f.control(fmt.Sprintf("issuer%d", i+1), "certs"))
	}
	f.PlaneProxy = f.proxy(testkit.FreeAddr(f.t), f.Controls[0].Addr)
}

// controlPlanes returns the control planes of all roles.
func (f *Fleet) controlPlanes() []*Node { return slices.Concat(f.Controls, f.Ingesters, f.Issuers) }

// Nodes returns all control planes and all edges, in that order.
func (f *Fleet) Nodes() []*Node {
	all := slices.Concat(f.controlPlanes(), f.Edges)
	for _, r := range f.Regions {
		all = append(all, r.Edge)
	}
	return all
}

// EdgeAddrs returns the addresses of all edges.
func (f *Fleet) EdgeAddrs() (addrs []string) {
	for _, e := range f.Edges {
		addrs = append(addrs, e.Addr)
	}
	return addrs
}

// Brokers returns the bootstrap addresses for Kafka clients.
func (f *Fleet) Brokers() []string {
	if f.cfg.Brokers > 0 {
		return f.brokers
	}
	return []string{f.KafkaProxy.Addr()}
}

func (f *Fleet) proxy(listen, target string) *faultproxy.Proxy {
	f.t.Helper()
	p, err := faultproxy.Listen(listen, target)
	testkit.Must(f.t, err)
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
		n.env = append(append(append(n.env, own...), "BASE_URL="+publicBase, "KAFKA_TOPIC="+Topic, "KAFKA_BROKERS="+
			strings.Join(f.Brokers(), ","), "LOG_FORMAT=text"), env...)
	}
	return n
}

// Command returns an operator's command of control, which the caller starts.
func (f *Fleet) Command(args ...string) *exec.Cmd {
	f.t.Helper()
	path := f.cfg.Programs[Control]
	if path == "" {
		path = binary(f.t, f.cfg.built(Control))
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "DATABASE_URL="+f.DatabaseURL(), f.storeEnv(), "ENCRYPTION_KEY="+strings.Repeat("e", 32))
	return cmd
}

func (f *Fleet) control(name, roles string) *Node {
	env := append([]string{"ROLES=" + roles, "DATABASE_URL=" + f.DatabaseURL(), f.storeEnv(),
		"JWT_SECRET=" + strings.Repeat("j", 32), "ENCRYPTION_KEY=" + strings.Repeat("e", 32), "EDGE_TOKENS=" + edgeToken,
		"ADMIN_EMAIL=" + adminEmail, "ADMIN_PASSWORD=" + adminPassword,
		"RATE_LIMIT_DEFAULT=0", "RATE_LIMIT_ANALYTICS=0", "RATE_LIMIT_ROUTING=0", "RATE_LIMIT_VARIANTS=0", "RATE_LIMIT_WEBHOOKS=0",
		"RATE_LIMIT_CONVERSIONS=0"}, f.cfg.ControlEnv...)
	if len(f.Regions) > 0 {
		regions := []string{"home=" + strings.Join(f.Brokers(), ",")}
		for _, r := range f.Regions {
			regions = append(regions, r.Name+"="+strings.Join(r.Brokers(), ","))
		}
		env = append(env, "KAFKA_REGIONS="+strings.Join(regions, ";"))
	}
	return f.node(name, Control, env)
}

func (f *Fleet) edge(i int) *Node {
	control := f.PlaneProxy.Addr()
	if f.cfg.Spread {
		control = f.Controls[i%len(f.Controls)].Addr
	}
	env := append([]string{"CONTROL_URL=http://" + control, "EDGE_TOKEN=" + edgeToken, "SPOOL_CAP_BYTES=" + strconv.Itoa(2<<30)},
		f.cfg.EdgeEnv...)
	if i < len(f.cfg.Clocks) {
		env = append(env, testkit.ClockOffset(f.cfg.Clocks[i]))
	}
	if i < len(f.cfg.EdgeTLS) {
		env = append(env, "TLS_ADDR="+f.cfg.EdgeTLS[i])
	}
	if i < len(f.cfg.EdgeAddrs) {
		env = append(env, "LISTEN_ADDR="+f.cfg.EdgeAddrs[i])
	}
	if f.cfg.EdgeOwn != nil {
		env = append(env, f.cfg.EdgeOwn(i)...)
	}
	n := f.node(fmt.Sprintf("edge%d", i+1), Edge, env)
	if i < len(f.cfg.EdgeAddrs) {
		n.Addr = f.cfg.EdgeAddrs[i]
	}
	return n
}

// built returns the key in programs of the build for p.
func (cfg *Config) built(p Program) string {
	if p == Edge && len(cfg.Clocks) > 0 || p == Control && len(cfg.ControlClocks) > 0 {
		return string(p) + "-clock"
	}
	return string(p)
}

// Metrics reads a node's metrics. The map has an entry for each name with labels, and one with the sum over all labels.
func (n *Node) Metrics() (map[string]float64, error) {
	res, err := probe.Get("http://" + n.Ops + "/metrics")
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("read metrics of %s: %s", n.Name, res.Status)
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

// Metric reads one of a node's metrics; -1 if it is not available.
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

// Shipped waits until Kafka has acknowledged all clicks of all edges. It waits as long as fewer of them wait in the spools.
func (f *Fleet) Shipped() {
	f.t.Helper()
	for _, n := range f.Nodes() {
		if !slices.Contains(f.controlPlanes(), n) {
			const pending = "shortline_spool_clicks_pending"
			for left := math.Inf(1); left != 0; {
				testkit.Eventually(f.t, fmt.Sprintf("%s ships its clicks; %.0f wait", n.Name, left), func() bool {
					now := n.Metric(pending)
					less := now >= 0 && now < left
					if less {
						left = now
					}
					return less
				})
			}
		}
	}
}
