package fleet

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Region is a region with a broker and an edge in a network namespace of its own. The only link to the rest of the fleet
// is a pair of virtual interfaces, which can be slowed down and cut. Inside, everything goes on.
type Region struct {
	Name  string
	Kafka *Process
	Edge  *Node

	t          testing.TB
	space, dev string // the namespace, and the interface on this side
	inner      string // the address inside
	outer      string // the address on this side
	gateway    string // host:port through which the edge reaches the control plane
}

const (
	regionKafka = "9092"
	regionHTTP  = "8080"
	regionOps   = "9090"
	regionPlane = "9443"
)

// Namespaces reports whether this process may create network namespaces. The error says why not.
func Namespaces() error {
	if os.Geteuid() != 0 {
		return fmt.Errorf("network namespaces need root, and this process has the user %d", os.Geteuid())
	}
	name := fmt.Sprintf("sl-try-%d", os.Getpid())
	if err := ip("netns", "add", name); err != nil {
		return err
	}
	return ip("netns", "del", name)
}

func ip(args ...string) error { return command("ip", args...) }

func command(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// openRegion makes the namespace of a region and starts its broker.
func (f *Fleet) openRegion(i int, name string) {
	f.t.Helper()
	net8 := fmt.Sprintf("10.231.%d.%d", os.Getpid()%256, 8*i) // eight addresses; other test processes have other process ids
	base := net8[:strings.LastIndexByte(net8, '.')+1]
	r := &Region{
		Name: name, t: f.t, space: fmt.Sprintf("sl-%d-%d", os.Getpid(), i), dev: fmt.Sprintf("sl%d%c", os.Getpid(), 'a'+i),
		outer: fmt.Sprintf("%s%d", base, 8*i+1), inner: fmt.Sprintf("%s%d", base, 8*i+2),
	}
	r.gateway = net.JoinHostPort(r.outer, regionPlane)
	f.t.Cleanup(func() { _ = ip("netns", "del", r.space) }) // deletes the interfaces, too
	inside := r.dev + "i"
	for _, args := range [][]string{
		{"netns", "add", r.space},
		{"link", "add", r.dev, "type", "veth", "peer", "name", inside, "netns", r.space},
		{"addr", "add", r.outer + "/29", "dev", r.dev},
		{"link", "set", r.dev, "up"},
		{"-n", r.space, "addr", "add", r.inner + "/29", "dev", inside},
		{"-n", r.space, "link", "set", inside, "up"},
		{"-n", r.space, "link", "set", "lo", "up"},
	} {
		if err := ip(args...); err != nil {
			f.t.Fatal(err)
		}
	}
	addr := net.JoinHostPort(r.inner, regionKafka)
	data := filepath.Join(f.Dir, "kafka-"+name)
	r.Kafka = process(f.t, f.Dir, "kafka-"+name, binary(f.t, "fire"), []string{"kafka", "-listen", addr, "-advertise", addr, "-data", data, "-topic", Topic}, nil, dials(addr))
	r.within(r.Kafka)
	r.Kafka.Start()
	f.Regions = append(f.Regions, r)
}

// within makes a process start in the namespace.
func (r *Region) within(p *Process) {
	p.args = append([]string{"netns", "exec", r.space, p.path}, p.args...)
	p.path = "ip"
}

// Brokers returns the address of the region's broker.
func (r *Region) Brokers() []string { return []string{net.JoinHostPort(r.inner, regionKafka)} }

// regionEdge prepares the region's edge. It reaches the control plane through the link, and writes to the region's broker.
func (f *Fleet) regionEdge(r *Region, plane string) {
	f.t.Helper()
	f.proxy(r.gateway, plane)
	r.Edge = f.node("edge-"+r.Name, Edge, append([]string{
		"CONTROL_URL=http://" + r.gateway, "EDGE_TOKEN=" + edgeToken, "SPOOL_CAP_BYTES=2147483648", "REGION=" + r.Name, "EDGE_NAME=" + r.Name + "-1",
		"KAFKA_BROKERS=" + strings.Join(r.Brokers(), ","), "LISTEN_ADDR=" + net.JoinHostPort(r.inner, regionHTTP), "OPS_ADDR=" + net.JoinHostPort(r.inner, regionOps),
	}, f.cfg.EdgeEnv...))
	r.Edge.Addr, r.Edge.Ops = net.JoinHostPort(r.inner, regionHTTP), net.JoinHostPort(r.inner, regionOps)
	r.Edge.ready = answers("http://" + r.Edge.Ops + "/readyz")
	r.within(r.Edge.Process)
}

// Slow limits the bandwidth of the link in the direction to the region, in bits per second as tc writes it, such as
// 2mbit. Packets that wait longer than the latency, such as 200ms, are dropped, so a busy link is slow and loses packets.
func (r *Region) Slow(rate, latency string) {
	r.t.Helper()
	for _, at := range [][]string{{"tc", "qdisc", "replace", "dev", r.dev}, {"ip", "netns", "exec", r.space, "tc", "qdisc", "replace", "dev", r.dev + "i"}} {
		if err := command(at[0], append(at[1:], "root", "tbf", "rate", rate, "burst", "16k", "latency", latency)...); err != nil {
			r.t.Fatal(err)
		}
	}
}

// Dropped returns how many packets the slow link has dropped, as tc counts them.
func (r *Region) Dropped() (sum int) {
	for _, at := range [][]string{{"tc", "-s", "qdisc", "show", "dev", r.dev}, {"ip", "netns", "exec", r.space, "tc", "-s", "qdisc", "show", "dev", r.dev + "i"}} {
		out, err := exec.Command(at[0], at[1:]...).Output()
		if err != nil {
			r.t.Errorf("%v: %v", at, err)
		}
		var n int
		if _, rest, ok := strings.Cut(string(out), "(dropped "); ok {
			if _, err := fmt.Sscanf(rest, "%d", &n); err == nil {
				sum += n
			}
		}
	}
	return sum
}

// Cut takes the link down, and Join brings it up again. The processes inside notice only that nobody answers.
func (r *Region) Cut() { r.set("down") }

// Join brings the link up again.
func (r *Region) Join() { r.set("up") }

func (r *Region) set(state string) {
	r.t.Helper()
	if err := ip("link", "set", r.dev, state); err != nil {
		r.t.Fatal(err)
	}
}

// Visit starts visitors inside the region, who request the slugs for a time and record each request in the file. first is
// the number of their first client. The returned function waits for their end and returns the summary.
func (r *Region) Visit(slugs []string, rate, first int, during time.Duration, log string) func() string {
	r.t.Helper()
	cmd := exec.Command("ip", "netns", "exec", r.space, binary(r.t, "fire"), "load", "-addr", r.Edge.Addr, "-slugs", strings.Join(slugs, ","),
		"-clients", "4", "-first", fmt.Sprint(first), "-rate", fmt.Sprint(rate), "-for", during.String(), "-log", log)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has usually ended
	return func() string {
		if err := cmd.Wait(); err != nil {
			r.t.Errorf("visitors of %s: %v: %s", r.Name, err, out.String())
		}
		return strings.TrimSpace(out.String())
	}
}
