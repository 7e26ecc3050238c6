// Package nametest starts a DNS server whose records tests set. The server is a process of its own, so that tests outside
// the control plane's module can use it.
//
//	names := nametest.Start(t)
//	names.Set("go.example.com", "CNAME edge.example.com.")
//	program := start(t, "RESOLVERS="+names.Addr)
package nametest

import (
	"bufio"
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// source is the folder of the server's program.
const source = "control/internal/manage/domains/dnstest/nameserver"

// Server is a running DNS server. It ends with the test, or with the process of the test. Its methods fail the test on errors;
// they must be called from the test's goroutine.
type Server struct {
	Addr string // host:port, for UDP and TCP

	t   testing.TB
	in  io.Writer
	out *bufio.Reader
}

// Start starts a DNS server that knows no names.
func Start(t testing.TB) *Server {
	t.Helper()
	program, err := testkit.Program(source)
	testkit.Must(t, err)
	cmd := exec.Command(program)
	in, err := cmd.StdinPipe() // the program ends when this pipe is closed, which the system does if the test is killed
	testkit.Must(t, err)
	out, err := cmd.StdoutPipe()
	testkit.Must(t, err)
	testkit.Must(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	s := &Server{t: t, in: in, out: bufio.NewReader(out)}
	s.Addr = s.line()
	return s
}

func (s *Server) line() string {
	s.t.Helper()
	text, err := s.out.ReadString('\n')
	if err != nil {
		s.t.Fatal("read from the DNS server:", err)
	}
	return strings.TrimSpace(text)
}

// Set replaces the records of a name by those in the text form of zone files, such as "CNAME edge.example.com.". Without
// records, the name does not exist.
func (s *Server) Set(name string, records ...string) {
	s.t.Helper()
	testkit.Must(s.t, json.NewEncoder(s.in).Encode(map[string]any{"name": name, "records": records}))
	if answer := s.line(); answer != "ok" {
		s.t.Fatalf("set %s: %s", name, answer)
	}
}
