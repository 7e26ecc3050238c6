package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The test runs the commands of the README and of the beginners' guide as written, except for the address and the
// generated password. The output must be as documented, apart from ids, times, slugs and tokens.
func TestE2E_readme(t *testing.T) {
	for page, least := range map[string]int{"README.md": 2, "docs/users/getting-started.md": 4} {
		t.Run(filepath.Base(page), func(t *testing.T) { runPage(t, page, least) })
	}
}

// runPage runs the tested part of a page, which must have a minimum number of command blocks.
func runPage(t *testing.T, page string, least int) {
	text, err := os.ReadFile(filepath.Join("../../..", page))
	if err != nil {
		t.Fatal(err)
	}
	_, tested, ok := strings.Cut(string(text), "<!-- tested: begin -->")
	if !ok {
		t.Fatalf("%s has no tested part", page)
	}
	tested, _, _ = strings.Cut(tested, "<!-- tested: end -->")
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```(?:\\s*```(?:text|json|http)\n(.*?)```)?").FindAllStringSubmatch(tested, -1)
	if len(blocks) < least {
		t.Fatalf("only %d blocks of commands", len(blocks))
	}

	p := start(t)
	script := "set -euo pipefail\n"
	for _, b := range blocks {
		commands := b[1]
		if regexp.MustCompile(`(?m)^(make|git|cd) `).MatchString(commands) {
			continue // start did this
		}
		commands = strings.ReplaceAll(commands, "127.0.0.1:8080", p.Addr)
		commands = regexp.MustCompile(`(?m)^PASSWORD=.*$`).ReplaceAllLiteralString(commands, "PASSWORD='"+p.Password()+"'")
		// A person types slowly enough for a change to reach the edge (at most one second) and a click to reach the
		// report (at most two).
		if strings.Contains(commands, "follow ") || strings.Contains(commands, "/analytics/") {
			script += "sleep 2\n"
		}
		script += commands + "\necho '=== end of block'\n"
	}
	sh := exec.Command("bash", "-c", script)
	sh.Dir = t.TempDir()
	began := time.Now()
	out, err := sh.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("the commands took %s", time.Since(began).Round(time.Millisecond))

	parts := strings.Split(string(out), "=== end of block\n")
	i := 0
	for _, b := range blocks {
		if regexp.MustCompile(`(?m)^(make|git|cd) `).MatchString(b[1]) {
			continue
		}
		got, want := normal(parts[i], p.Addr), normal(b[2], p.Addr)
		i++
		if got != want {
			t.Errorf("%s documents a different output of\n%s\npage:\n%s\n\nprogram:\n%s", page, b[1], b[2], parts[i-1])
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
