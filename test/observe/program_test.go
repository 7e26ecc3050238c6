package observe_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
)

const password = "correct-horse-battery"

// program is a running program that all tests of the package share.
type program struct {
	Addr, Ops string
	dir       string
	cmd       *exec.Cmd
	out       bytes.Buffer // read only after the process has ended
	err       error        // reason for a failed start
}

var running struct {
	sync.Mutex
	programs map[string]*program
}

func TestMain(m *testing.M) {
	code := m.Run()
	for name, p := range running.programs {
		if p.cmd != nil && p.cmd.Process != nil {
			_ = p.cmd.Process.Kill() // the process may have ended already
			_ = p.cmd.Wait()         // the exit status of a killed process is an error
		}
		if code != 0 {
			fmt.Fprintf(os.Stderr, "output of %s:\n%s", name, p.out.Bytes()[max(0, p.out.Len()-4000):])
		}
		os.RemoveAll(p.dir)
	}
	os.Exit(code)
}

// standalone starts a standalone, once.
func standalone(t *testing.T) *program {
	t.Helper()
	return start(t, "standalone", "/readyz", "ADMIN_PASSWORD="+password)
}

// lonelyEdge starts, once, an edge without control plane and Kafka. It exports all metrics of an edge.
func lonelyEdge(t *testing.T) *program {
	t.Helper()
	return start(t, "edge", "/healthz", "BASE_URL=https://sho.rt", "CONTROL_URL=http://127.0.0.1:1",
		"EDGE_TOKEN=0123456789abcdef0123456789abcdef", "KAFKA_BROKERS=127.0.0.1:1",
		// Some metrics exist only with these features.
		"TLS_ADDR=127.0.0.1:0", "CERTIFICATE_KEY=0123456789abcdef0123456789abcdef", "PROXY_PROTOCOL=true", "TRUSTED_PROXIES=192.0.2.1")
}

// start starts a program, once, and waits until a path on its operations port answers 200.
func start(t *testing.T, name, page string, settings ...string) *program {
	t.Helper()
	running.Lock()
	defer running.Unlock()
	p := running.programs[name]
	if p == nil {
		if running.programs == nil {
			running.programs = map[string]*program{}
		}
		p = &program{}
		running.programs[name] = p
		if p.dir, p.err = os.MkdirTemp("", "shortline-observe"); p.err == nil {
			p.run(t, name, append(settings, "LOG_FORMAT=json"))
			testkit.Eventually(t, name+" is ready", func() bool {
				res, err := http.Get("http://" + p.Ops + page)
				if err != nil {
					return false
				}
				res.Body.Close()
				return res.StatusCode == http.StatusOK
			})
		}
	}
	if p.err != nil {
		t.Fatal(p.err)
	}
	return p
}

// run starts a process. Its data is in the program's folder.
func (p *program) run(t *testing.T, name string, settings []string) {
	t.Helper()
	binary, err := testkit.Release(name)
	if err != nil {
		p.err = err
		t.Fatal(err)
	}
	p.Addr, p.Ops = testkit.FreeAddr(t), testkit.FreeAddr(t)
	p.cmd = exec.Command(binary)
	p.cmd.Env = append(settings, "PATH="+os.Getenv("PATH"), "LISTEN_ADDR="+p.Addr, "OPS_ADDR="+p.Ops,
		"DATA_DIR="+filepath.Join(p.dir, "data"))
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if p.err = p.cmd.Start(); p.err != nil {
		t.Fatal(p.err)
	}
}

// metrics sends an API request, so that there is one to count, and returns the output of /metrics.
func (p *program) metrics(t *testing.T) string {
	t.Helper()
	get := func(url string) string {
		res, err := http.Get(url)
		testkit.Must(t, err)
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		testkit.Must(t, err)
		return string(b)
	}
	get("http://" + p.Addr + "/api/auth/me")
	text := get("http://" + p.Ops + "/metrics")
	if !strings.Contains(text, "shortline_build_info") {
		t.Fatalf("no metrics: %s", text)
	}
	return text
}

// links returns the number of links in the program.
func (p *program) links(t *testing.T) int {
	t.Helper()
	address := "http://" + p.Addr
	session, err := client.New(address).Account.Login(t.Context(), client.SignIn{Email: "admin@example.com", Password: password})
	testkit.Must(t, err)
	page, err := client.New(address, client.WithToken(*session.AccessToken)).Links.List(t.Context(), client.ListLinksParams{})
	testkit.Must(t, err)
	return page.Total
}
