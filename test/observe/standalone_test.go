package observe_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const password = "correct-horse-battery"

// program is a running standalone; all tests of the package share it.
type program struct {
	Addr, Ops string
	dir       string
	cmd       *exec.Cmd
	out       bytes.Buffer // read after it has ended only
}

var running struct {
	sync.Mutex
	p   *program
	err error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if p := running.p; p != nil {
		_ = p.cmd.Process.Kill() // it may have ended
		_ = p.cmd.Wait()         // killed
		if code != 0 {
			fmt.Fprintf(os.Stderr, "output of standalone:\n%s", p.out.Bytes()[max(0, p.out.Len()-4000):])
		}
		os.RemoveAll(p.dir)
	}
	os.Exit(code)
}

// standalone builds and starts the program, once.
func standalone(t *testing.T) *program {
	t.Helper()
	running.Lock()
	defer running.Unlock()
	if running.p == nil && running.err == nil {
		running.p, running.err = start()
		if running.err == nil {
			running.err = running.p.ready()
		}
	}
	if running.err != nil {
		t.Fatal(running.err)
	}
	return running.p
}

func start() (*program, error) {
	dir, err := os.MkdirTemp("", "shortline-observe")
	if err != nil {
		return nil, err
	}
	binary := filepath.Join(dir, "standalone")
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Dir = filepath.Join(root, "control/cmd/standalone")
	build.Env = append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build standalone: %w: %s", err, out)
	}
	p := &program{dir: dir}
	for _, addr := range []*string{&p.Addr, &p.Ops} {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		*addr = ln.Addr().String()
		defer ln.Close()
	}
	p.cmd = exec.Command(binary)
	p.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LISTEN_ADDR=" + p.Addr, "OPS_ADDR=" + p.Ops, "DATA_DIR=" + filepath.Join(dir, "data"), "ADMIN_PASSWORD=" + password, "LOG_FORMAT=json"}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return p, nil
}

// ready starts it, now that the ports are free again, and waits.
func (p *program) ready() error {
	if err := p.cmd.Start(); err != nil {
		return err
	}
	for deadline := time.Now().Add(60 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		res, err := http.Get("http://" + p.Ops + "/readyz")
		if err != nil {
			continue
		}
		res.Body.Close()
		if res.StatusCode == http.StatusOK {
			return nil
		}
	}
	return errors.New("standalone is not ready after a minute")
}

// metrics makes one API request, so that there is one to count, and reads what the program exports.
func (p *program) metrics(t *testing.T) string {
	t.Helper()
	get := func(url string) string {
		res, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	get("http://" + p.Addr + "/api/auth/me")
	text := get("http://" + p.Ops + "/metrics")
	if !strings.Contains(text, "shortline_build_info") {
		t.Fatalf("no metrics: %s", text)
	}
	return text
}

// links counts the links that there are, which only the tests of this package make.
func (p *program) links(t *testing.T) int {
	t.Helper()
	res, err := http.Post("http://"+p.Addr+"/api/auth/login", "application/json", strings.NewReader(`{"email":"admin@example.com","password":"`+password+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var session struct{ AccessToken string }
	if err := json.NewDecoder(res.Body).Decode(&session); err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.Addr+"/api/urls", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+session.AccessToken)
	list, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer list.Body.Close()
	page := struct{ Total int }{-1}
	if err := json.NewDecoder(list.Body).Decode(&page); err != nil {
		t.Fatal(err)
	}
	return page.Total
}
