package fleet

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// Region is a region with a broker and an edge in a network namespace of its own. The only way to the rest of the fleet is a
// router in another namespace, which can be slowed down and cut. Inside, everything goes on.
type Region struct {
	Name  string
	Kafka *Process
	Edge  *Node

	t             testing.TB
	space, router string // the namespaces
	near, far     string // the router's interfaces, to this side and to the region
	inner, outer  string // the addresses inside and on this side
	gateway       string // host:port through which the edge reaches the control plane
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

func ip(args ...string) error {
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

// openRegion makes the namespace of a region and starts its broker.
func (f *Fleet) openRegion(i int, name string) {
	f.t.Helper()
	// Eight addresses for each region, in two networks of four. Other test processes have other process ids.
	at := func(n int) string { return fmt.Sprintf("10.231.%d.%d", os.Getpid()%256, 8*i+n) }
	id := fmt.Sprintf("sl%d%c", os.Getpid(), 'a'+i)
	r := &Region{Name: name, t: f.t, space: id, router: id + "r", near: id + "n", far: id + "f", outer: at(1), inner: at(6)}
	r.gateway = net.JoinHostPort(r.outer, regionPlane)
	// Without a route to the region, packets would leave this machine. This one is used before and after the namespaces exist.
	nowhere := []string{"unreachable", at(0) + "/29", "metric", "9999"}
	testkit.Must(f.t, ip(append([]string{"route", "add"}, nowhere...)...))
	f.t.Cleanup(func() { _ = ip(append([]string{"route", "del"}, nowhere...)...) })
	f.t.Cleanup(func() { _ = errors.Join(ip("netns", "del", r.space), ip("netns", "del", r.router)) }) // deletes the interfaces, too
	inside := id + "i"
	for _, line := range []string{
		"netns add " + r.space, "netns add " + r.router,
		"link add " + id + " type veth peer name " + r.near + " netns " + r.router,
		"-n " + r.router + " link add " + r.far + " type veth peer name " + inside + " netns " + r.space,
		"addr add " + at(1) + "/30 dev " + id, "-n " + r.router + " addr add " + at(2) + "/30 dev " + r.near,
		"-n " + r.router + " addr add " + at(5) + "/30 dev " + r.far, "-n " + r.space + " addr add " + at(6) + "/30 dev " + inside,
		"link set " + id + " up", "-n " + r.router + " link set " + r.near + " up", "-n " + r.router + " link set " + r.far + " up",
		"-n " + r.space + " link set " + inside + " up", "-n " + r.space + " link set lo up",
		"route add " + at(4) + "/30 via " + at(2), "-n " + r.space + " route add default via " + at(5),
	} {
		testkit.Must(f.t, ip(strings.Fields(line)...))
	}
	testkit.Must(f.t, ip("netns", "exec", r.router, "sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward"))
	addr := net.JoinHostPort(r.inner, regionKafka)
	data := filepath.Join(f.Dir, "kafka-"+name)
	args := []string{"kafka", "-listen", addr, "-advertise", addr, "-data", data, "-topic", Topic}
	r.Kafka = process(f.t, f.Dir, "kafka-"+name, binary(f.t, "fire"), args, nil, dials(addr))
	r.within(r.Kafka)
	f.launch(r.Kafka)
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
		"CONTROL_URL=http://" + r.gateway, "EDGE_TOKEN=" + edgeToken, "SPOOL_CAP_BYTES=2147483648", "REGION=" + r.Name,
		"EDGE_NAME=" + r.Name + "-1",
		"KAFKA_BROKERS=" + strings.Join(r.Brokers(), ","), "LISTEN_ADDR=" + net.JoinHostPort(r.inner, regionHTTP),
		"OPS_ADDR=" + net.JoinHostPort(r.inner, regionOps),
	}, f.cfg.EdgeEnv...))
	r.Edge.Addr, r.Edge.Ops = net.JoinHostPort(r.inner, regionHTTP), net.JoinHostPort(r.inner, regionOps)
	r.Edge.ready = answers("http://" + r.Edge.Ops + "/readyz")
	r.within(r.Edge.Process)
}

// Slow limits the bandwidth of the router in each direction, in bits per second as tc writes it, such as 2mbit. Packets that
// would wait longer than the latency, such as 200ms, are dropped, so a busy link is slow and loses packets. Only two packets pass at
// once, so that every longer answer loses some.
func (r *Region) Slow(rate, latency string) {
	r.t.Helper()
	for _, dev := range []string{r.near, r.far} {
		testkit.Must(r.t, ip("netns", "exec", r.router, "tc", "qdisc", "replace", "dev", dev, "root", "tbf", "rate", rate, "burst", "3k",
			"latency", latency))
	}
}

// Dropped returns how many packets the router has dropped, as tc counts them.
func (r *Region) Dropped() (sum int) {
	for _, dev := range []string{r.near, r.far} {
		out, err := exec.Command("ip", "netns", "exec", r.router, "tc", "-s", "qdisc", "show", "dev", dev).Output()
		if err != nil {
			r.t.Errorf("%s: %v", dev, err)
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

// Cut takes the router's link to the region down, and Join brings it up again.
func (r *Region) Cut() { r.set("down") }

// Join ends a Cut.
func (r *Region) Join() { r.set("up") }

func (r *Region) set(state string) {
	r.t.Helper()
	testkit.Must(r.t, ip("-n", r.router, "link", "set", r.far, state))
}

// Visit starts visitors inside the region, who request the slugs for a time and record each request in the file. first is
// the number of their first client. The returned function waits for their end and returns the summary.
func (r *Region) Visit(slugs []string, rate, first int, during time.Duration, log string) func() string {
	r.t.Helper()
	cmd := exec.Command("ip", "netns", "exec", r.space, binary(r.t, "fire"), "load", "-addr", r.Edge.Addr, "-slugs",
		strings.Join(slugs, ","),
		"-clients", "4", "-first", fmt.Sprint(first), "-rate", fmt.Sprint(rate), "-for", during.String(), "-log", log)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	testkit.Must(r.t, cmd.Start())
	r.t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has usually ended
	return func() string {
		if err := cmd.Wait(); err != nil {
			r.t.Errorf("visitors of %s: %v: %s", r.Name, err, out.String())
		}
		return strings.TrimSpace(out.String())
	}
}
