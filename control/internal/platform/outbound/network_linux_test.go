package outbound_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/platform/outbound"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// world listens on one port of all IP addresses, in a network namespace that has only a loopback interface and routes
// all addresses to it. It sees connections that a failing check allows, and they reach nobody.
type world struct {
	port string
	mu   sync.Mutex
	seen map[netip.Addr]int // connections by destination address
}

// beside returns the number of connections to other addresses than the public one.
func (w *world) beside(public netip.Addr) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for addr, k := range w.seen {
		if addr != public {
			n += k
		}
	}
	return n
}

// newWorld moves the process into such a network namespace.
func newWorld(t *testing.T) *world {
	t.Helper()
	for _, args := range []string{"link set lo up", "-4 route add local default dev lo", "-6 route add local default dev lo"} {
		if out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); errors.Is(err, exec.ErrNotFound) {
			t.Fatal("needs the program ip.  On Debian or Ubuntu:  sudo apt-get install -y iproute2")
		} else if err != nil {
			t.Fatalf("ip %s: %v: %s", args, err, out)
		}
	}
	l, err := net.Listen("tcp", "[::]:0")
	testkit.Must(t, err)
	t.Cleanup(func() { l.Close() })
	w := &world{seen: map[netip.Addr]int{}}
	_, w.port, _ = net.SplitHostPort(l.Addr().String())
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			at, _ := netip.ParseAddrPort(c.LocalAddr().String())
			w.mu.Lock()
			w.seen[at.Addr().Unmap()]++
			w.mu.Unlock()
			c.Close()
		}
	}()
	return w
}

// In a network where every address responds, no forbidden address gets a connection, whatever its notation and however
// often a name's addresses change. Allowed addresses get every connection.
func TestClient_in_a_network_that_answers_everywhere(t *testing.T) {
	t.Parallel()
	if os.Getenv("OUTBOUND_CHILD") == "" {
		child := exec.Command(os.Args[0], "-test.run=^TestClient_in_a_network_that_answers_everywhere$", "-test.v")
		child.Env = append(os.Environ(), "OUTBOUND_CHILD=yes")
		root := []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		group := []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
		child.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET, UidMappings: root,
			GidMappings: group,
			Pdeathsig:   syscall.SIGKILL}
		out, err := child.CombinedOutput()
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOSPC) {
			t.Skipf("needs a network namespace: %v", err)
		}
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for line := range strings.Lines(string(out)) {
			if strings.Contains(line, "connections") {
				t.Log(strings.TrimSpace(line))
			}
		}
		return
	}

	w := newWorld(t)
	hosts := disguises()
	var special []netip.Addr
	for _, s := range []string{"127.0.0.1", "::1", "10.0.0.1", "100.64.0.1", "169.254.169.254", "172.16.0.1", "192.168.0.1",
		"fd00:ec2::254",
		"fe80::1", "64:ff9b::a00:1"} {
		special = append(special, netip.MustParseAddr(s))
	}
	tried := 0
	refused := func(c *outbound.Client, url string) {
		t.Helper()
		tried++
		res, err := get(t, c, url)
		if err == nil {
			res.Body.Close()
			t.Errorf("%s was answered", url)
		}
	}
	for i, addr := range special {
		c := outbound.New(outbound.Policy{Resolver: nameserver(t, addr, addr), Timeout: time.Minute})
		for n, host := range hosts {
			if i > 1 && n%len(special) != i { // literals need no resolver
				continue
			}
			for _, scheme := range []string{"https", "http"} {
				url := scheme + "://" + host + ":" + w.port + "/"
				if err := c.CheckURL(t.Context(), url); err == nil {
					t.Errorf("%s passes the check", url)
				}
				refused(c, url)
			}
		}
		for range 10 {
			refused(c, "https://inside.example.com:"+w.port)
		}
	}
	public := netip.MustParseAddr("93.184.216.34")
	rebinding := 0
	for _, addr := range special {
		for range 10 {
			// The check resolves to the public address, the connection to the other one.
			c := outbound.New(outbound.Policy{Resolver: nameserver(t, public, addr), Timeout: time.Minute})
			if err := c.CheckURL(t.Context(), "https://rebind.example.com:"+w.port); err != nil {
				t.Errorf("the public address was refused: %v", err)
			}
			rebinding++
			refused(c, "https://rebind.example.com:"+w.port) // at the public address, if at all, which hangs up
		}
	}
	if n := w.beside(public); n != 0 {
		t.Errorf("%d connections were made: %v", n, w.seen)
	}

	w.mu.Lock()
	w.seen = map[netip.Addr]int{}
	w.mu.Unlock()
	// Controls: public and allowed addresses are reached each time, and without the policy the others are reached too.
	const times = 100
	allowed := netip.MustParseAddr("127.0.0.2")
	c := outbound.New(outbound.Policy{Resolver: nameserver(t, public, public), AllowCIDRs: []netip.Prefix{netip.PrefixFrom(allowed, 32)},
		Timeout: time.Minute})
	for range times {
		_, _ = get(t, c, "https://127.0.0.2:"+w.port)
		_, _ = get(t, c, "https://outside.example.com:"+w.port)
	}
	open := outbound.New(outbound.Policy{AllowPrivate: true, Timeout: time.Minute})
	for _, addr := range special {
		_, _ = get(t, open, "http://"+net.JoinHostPort(addr.String(), w.port))
	}
	reached := 0
	testkit.Eventually(t, "all connections are noted", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		reached = 0
		for _, addr := range special {
			if w.seen[addr] > 0 {
				reached++
			}
		}
		return w.seen[allowed] == times && w.seen[public] == times && reached >= len(special)-1 // a link-local address needs a zone
	})
	fmt.Printf("%d targets, %d requests, %d of them to names that rebind: 0 connections; controls %d of %d and %d of %d, and %d of the "+
		"special addresses where everything is allowed\n",
		len(hosts), tried, rebinding, w.seen[allowed], times, w.seen[public], times, reached)
}
