// Package mailtest starts an SMTP server for tests, in a process of its own, and reads the e-mails that it receives.
//
//	server := mailtest.Start(t)
//	program := start(t, server.Env()...)           // SMTP_URL and MAIL_FROM
//	link := server.Wait(t, "ann@example.com").Link // the next e-mail to Ann
package mailtest

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// From is the sender in Env.
const From = "Shortline <no-reply@example.com>"

// Config configures StartWith.
type Config struct {
	TLS            string // "none" (default), "starttls" or "tls" from the first byte
	User, Password string // who must sign in; "": nobody
}

// Server is a running server. It ends with the test.
type Server struct {
	t       testing.TB
	cfg     Config
	dir     string
	address string // host:port
	control string // URL

	stdin io.Closer
	cmd   *exec.Cmd

	mu     sync.Mutex
	waited map[string]bool // files that Wait has returned
}

// Start starts a server without TLS and without users.
func Start(t testing.TB) *Server { return StartWith(t, Config{}) }

// StartWith starts a server.
func StartWith(t testing.TB, cfg Config) *Server {
	t.Helper()
	if cfg.TLS == "" {
		cfg.TLS = "none"
	}
	s := &Server{t: t, cfg: cfg, dir: t.TempDir(), address: testkit.FreeAddr(t), waited: map[string]bool{}}
	s.Restart()
	t.Cleanup(s.Stop)
	return s
}

// Restart starts a stopped server again at its address. It keeps its e-mails, but forgets Answer and Hang.
func (s *Server) Restart() {
	s.t.Helper()
	program, err := testkit.Program("control/internal/platform/mail/mailtest")
	testkit.Must(s.t, err)
	cmd := exec.Command(program, "-listen", s.address, "-dir", s.dir, "-tls", s.cfg.TLS, "-user", s.cfg.User, "-password", s.cfg.Password)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe() // its end stops the server, even if this process crashes
	testkit.Must(s.t, err)
	out, err := cmd.StdoutPipe()
	testkit.Must(s.t, err)
	testkit.Must(s.t, cmd.Start())
	s.stdin, s.cmd = stdin, cmd
	in := bufio.NewReader(out)
	_, _ = in.ReadString('\n') // the address, which was given
	control, err := in.ReadString('\n')
	if err != nil {
		s.t.Fatalf("the SMTP server ended before it was ready: %v", err)
	}
	s.control = "http://" + strings.TrimSpace(control)
}

// Stop kills the server.
func (s *Server) Stop() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait() // it was killed
	s.stdin.Close()
	s.cmd = nil
}

// URL is the value of SMTP_URL for this server.
func (s *Server) URL() string {
	u := url.URL{Scheme: "smtp", Host: s.address}
	switch s.cfg.TLS {
	case "tls":
		u.Scheme = "smtps"
	case "starttls":
		u.RawQuery = "tls=starttls"
	}
	if s.cfg.User != "" {
		u.User = url.UserPassword(s.cfg.User, s.cfg.Password)
	}
	return u.String()
}

// Env returns the settings of a program that sends through this server.
func (s *Server) Env() []string {
	env := []string{"SMTP_URL=" + s.URL(), "MAIL_FROM=" + From}
	if s.cfg.TLS != "none" {
		env = append(env, "SSL_CERT_FILE="+filepath.Join(s.dir, "ca.pem"))
	}
	return env
}

// ClientTLS returns a configuration that trusts the server; nil without TLS.
func (s *Server) ClientTLS() *tls.Config {
	if s.cfg.TLS == "none" {
		return nil
	}
	pem, err := os.ReadFile(filepath.Join(s.dir, "ca.pem"))
	testkit.Must(s.t, err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

// Answer is how the server responds to a command from now on.
type Answer struct {
	Stage string `json:"stage"` // connect, auth, mail, rcpt or data
	To    string `json:"to"`    // only for this recipient; "": all (rcpt and data)
	Code  int    `json:"code"`  // such as 451 or 550; 0: normally
	Text  string `json:"text"`
	Times int    `json:"times"` // how often; 0: until the next Answer for the stage
}

// Answer changes the responses of the server.
func (s *Server) Answer(a Answer) {
	s.t.Helper()
	body, err := json.Marshal(a)
	testkit.Must(s.t, err)
	s.post("/answer", body)
}

// Hang makes the server answer no command from now on, or answer again.
func (s *Server) Hang(on bool) {
	s.t.Helper()
	s.post(fmt.Sprintf("/hang?on=%t", on), nil)
}

func (s *Server) post(path string, body []byte) {
	s.t.Helper()
	res, err := http.Post(s.control+path, "application/json", bytes.NewReader(body))
	testkit.Must(s.t, err)
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		s.t.Fatalf("the SMTP server answers %s", res.Status)
	}
}

// Seen counts the commands of a stage (see Answer) since the server was started.
func (s *Server) Seen(stage string) int {
	s.t.Helper()
	res, err := http.Get(s.control + "/seen")
	testkit.Must(s.t, err)
	defer res.Body.Close()
	var seen map[string]int
	testkit.Must(s.t, json.NewDecoder(res.Body).Decode(&seen))
	return seen[stage]
}

// Wait returns the next e-mail to an address: the oldest one that Wait has not returned yet. It waits up to a minute.
func (s *Server) Wait(t testing.TB, to string) (found Message) {
	t.Helper()
	testkit.Eventually(t, "an e-mail to "+to, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, name := range s.files() {
			if s.waited[name] {
				continue
			}
			if m := s.read(t, name); m.To == to {
				s.waited[name], found = true, m
				return true
			}
		}
		return false
	})
	return found
}

// All returns the e-mails to an address, oldest first; "" means all addresses.
func (s *Server) All(t testing.TB, to string) (list []Message) {
	t.Helper()
	for _, name := range s.files() {
		if m := s.read(t, name); to == "" || m.To == to {
			list = append(list, m)
		}
	}
	return list
}

// None fails the test if an e-mail to the address arrives within a short time, beyond those that Wait has returned.
func (s *Server) None(t testing.TB, to string) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		s.mu.Lock()
		for _, name := range s.files() {
			if m := s.read(t, name); !s.waited[name] && m.To == to {
				s.mu.Unlock()
				t.Fatalf("an e-mail to %s that should not exist: %s", to, m.Subject)
			}
		}
		s.mu.Unlock()
	}
}

func (s *Server) files() []string {
	names, err := filepath.Glob(filepath.Join(s.dir, "*.eml"))
	testkit.Must(s.t, err)
	slices.Sort(names)
	return names
}

func (s *Server) read(t testing.TB, name string) Message {
	t.Helper()
	raw, err := os.ReadFile(name)
	testkit.Must(t, err)
	m, err := Parse(raw)
	if err != nil {
		t.Fatalf("%v in this e-mail:\n%s", err, raw)
	}
	return m
}
