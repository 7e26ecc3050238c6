package main_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// The test runs the commands of the README and of the beginners' guide as written, except for the address and the
// generated password. The output must be as documented, apart from ids, times, slugs and tokens.
func TestE2E_readme(t *testing.T) {
	t.Parallel()
	for page, least := range map[string]int{"README.md": 2, "docs/users/getting-started.md": 4} {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			runPage(t, page, least)
		})
	}
}

// runPage runs the tested part of a page, which must have a minimum number of command blocks.
func runPage(t *testing.T, page string, least int) {
	text, err := os.ReadFile(testkit.Source(t, page))
	testkit.Must(t, err)
	_, tested, ok := strings.Cut(string(text), "<!-- tested: begin -->")
	if !ok {
		t.Fatalf("%s has no tested part", page)
	}
	tested, _, _ = strings.Cut(tested, "<!-- tested: end -->")
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```(?:\\s*```(?:text|json|http)\n(.*?)```)?").FindAllStringSubmatch(tested, -1)
	if len(blocks) < least {
		t.Fatalf("only %d blocks of commands", len(blocks))
	}

	p, _ := shared(t)
	sh := startTerminal(t)
	sh.run("exec 2>&1; set -euo pipefail")
	for _, b := range blocks {
		commands, want := b[1], normal(b[2], p.Addr)
		if regexp.MustCompile(`(?m)^(make|git|cd) `).MatchString(commands) {
			continue // shared did this
		}
		commands = strings.ReplaceAll(commands, "127.0.0.1:8080", p.Addr)
		commands = regexp.MustCompile(`(?m)^PASSWORD=.*$`).ReplaceAllLiteralString(commands, "PASSWORD='"+p.Password()+"'")
		got := sh.run(commands)
		if strings.Contains(commands, "/analytics/") { // a click reaches the report a moment later
			testkit.Eventually(t, page+" documents the output of\n"+commands+"\nas\n"+want, func() bool {
				got = sh.run(commands)
				return normal(got, p.Addr) == want
			})
		}
		if normal(got, p.Addr) != want {
			t.Errorf("%s documents a different output of\n%s\npage:\n%s\n\nprogram:\n%s", page, b[1], b[2], got)
		}
	}
}

// terminal is a bash that runs the commands of a person.
type terminal struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader
}

func startTerminal(t *testing.T) *terminal {
	t.Helper()
	cmd := exec.Command("bash")
	cmd.Dir = t.TempDir()
	in, err := cmd.StdinPipe()
	testkit.Must(t, err)
	out, err := cmd.StdoutPipe()
	testkit.Must(t, err)
	testkit.Must(t, cmd.Start())
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait() // a failed command has failed the test
	})
	return &terminal{t, in, bufio.NewReader(out)}
}

// run runs commands and returns their output.
func (s *terminal) run(commands string) string {
	s.t.Helper()
	const end = "=== end of block"
	fmt.Fprintf(s.in, "%s\necho '%s'\n", commands, end)
	var out strings.Builder
	for {
		line, err := s.out.ReadString('\n')
		if strings.HasSuffix(line, end+"\n") {
			return out.String() + strings.TrimSuffix(line, end+"\n")
		}
		out.WriteString(line)
		if err != nil {
			s.t.Fatalf("bash ended: %v\n%s\n%s", err, commands, out.String())
		}
	}
}

// normal replaces values that differ between runs.
func normal(s, addr string) string {
	s = strings.ReplaceAll(s, addr, "127.0.0.1:8080")
	s = strings.ReplaceAll(s, "\r", "")
	for _, r := range []struct{ pattern, with string }{
		{`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`, "ID"},
		{`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`, "TIME"},
		{`\d{4}-\d\d-\d\d`, "DATE"},
		{`https://example.com/[ab]\b`, "VARIANT"},
	} {
		s = regexp.MustCompile(r.pattern).ReplaceAllLiteralString(s, r.with)
	}
	return strings.TrimSpace(s)
}
