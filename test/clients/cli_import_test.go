package clients_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// yourlsDump writes a dump of a YOURLS with links.
func yourlsDump(t *testing.T, links int) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("-- MySQL dump\nCREATE TABLE `yourls_url` (`keyword` varchar(100), `url` text, `title` text, `timestamp` timestamp, " +
		"`ip` varchar(41), `clicks` int unsigned, PRIMARY KEY (`keyword`));\nINSERT INTO `yourls_url` VALUES ")
	for i := range links {
		if i > 0 {
			text.WriteString(",\n")
		}
		fmt.Fprintf(&text, "('moved%d','https://example.com/%[1]d','Page %[1]d','2011-01-02 03:04:05','192.0.2.1',%[1]d)", i)
	}
	text.WriteString(";\n")
	name := filepath.Join(t.TempDir(), "yourls.sql")
	testkit.Must(t, os.WriteFile(name, []byte(text.String()), 0o600))
	return name
}

// An import that is killed goes on where it was. Each link exists once, keeps its date and leads where it led, and the report of the
// last run has the links of all runs.
func TestCLI_import_survives_kill_9(t *testing.T) {
	t.Parallel()
	const links = 9000 // a list counts up to 10,000
	s := newSession(t, standalone(t))
	state, dump := t.TempDir(), yourlsDump(t, links)
	start := func(args ...string) (*exec.Cmd, *testkit.Buffer) {
		cmd, _ := s.command(append([]string{"import", "yourls", "--file", dump, "--from", "y.example"}, args...)...)
		out := &testkit.Buffer{}
		cmd.Stdout, cmd.Env = out, append(cmd.Env, "SHORTLINE_STATE="+state)
		testkit.Must(t, cmd.Start())
		return cmd, out
	}
	done := func() (rows int) {
		names, err := filepath.Glob(filepath.Join(state, "import-*.json"))
		testkit.Must(t, err)
		for _, name := range names {
			text, err := os.ReadFile(name)
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			testkit.Must(t, err)
			var progress struct{ Done int }
			testkit.Must(t, json.Unmarshal(text, &progress))
			rows = progress.Done
		}
		return rows
	}
	for _, rows := range []int{1000, 4000} {
		cmd, _ := start()
		testkit.Eventually(t, fmt.Sprintf("%d rows are done", rows), func() bool { return done() >= rows })
		testkit.Must(t, cmd.Process.Kill())
		_ = cmd.Wait() // it was killed
	}
	cmd, out := start("-o", "json")
	testkit.Must(t, cmd.Wait())
	var report struct {
		Counts   map[string]int
		Verified struct{ Asked, Right int }
	}
	testkit.Must(t, json.Unmarshal([]byte(out.String()), &report))
	if report.Counts["created"] != links || report.Verified.Asked != 100 || report.Verified.Right != 100 {
		t.Errorf("%+v", report)
	}
	list := got(s.Links.List(t.Context(), client.ListLinksParams{Search: "moved17"}))(t)
	if len(list.Data) == 0 || list.Data[0].CreatedAt.Year() != 2011 {
		t.Errorf("%+v", list.Data)
	}
	if all := got(s.Links.List(t.Context(), client.ListLinksParams{}))(t); all.Total != links {
		t.Errorf("%d links instead of %d", all.Total, links)
	}
}
