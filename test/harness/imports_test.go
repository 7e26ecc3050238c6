package harness_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
)

// mover runs `shortline import` against one control plane. All its runs share a folder for the state.
type mover struct {
	t          *testing.T
	key, state string
}

func newMover(t *testing.T, api *fleet.API) *mover {
	t.Helper()
	return &mover{t, api.Key().Key, t.TempDir()}
}

func (m *mover) command(base string, args ...string) (cmd *exec.Cmd, output *testkit.Buffer) {
	m.t.Helper()
	program, err := testkit.Release("shortline")
	testkit.Must(m.t, err)
	cmd, output = exec.CommandContext(m.t.Context(), program, append([]string{"import"}, args...)...), &testkit.Buffer{}
	cmd.Stdout, cmd.Stderr = output, output
	cmd.Env = append(os.Environ(), "SHORTLINE_URL="+base, "SHORTLINE_API_KEY="+m.key, "SHORTLINE_CONFIG="+m.state,
		"SHORTLINE_STATE="+m.state, "SHLINK_API_KEY=token")
	return cmd, output
}

// run imports to the end, and returns how many rows had each outcome.
func (m *mover) run(base string, args ...string) (counts map[string]int, wrong []string, cmd *exec.Cmd) {
	m.t.Helper()
	cmd, output := m.command(base, append(args, "-o", "json")...)
	if err := cmd.Run(); err != nil {
		m.t.Fatalf("import: %v\n%.2000s", err, output.String())
	}
	text := output.String()
	var report struct {
		Counts   map[string]int
		Verified struct{ Wrong []string }
	}
	testkit.Must(m.t, json.Unmarshal([]byte(text[max(0, strings.IndexByte(text, '{')):]), &report))
	return report.Counts, report.Verified.Wrong, cmd
}

// yourlsDump writes a dump of a YOURLS with links whose keywords begin with prefix.
func yourlsDump(t *testing.T, prefix string, links int) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("-- MySQL dump\nCREATE TABLE `yourls_url` (`keyword` varchar(100), `url` text, `title` text, `timestamp` timestamp, " +
		"`ip` varchar(41), `clicks` int unsigned, PRIMARY KEY (`keyword`));\nINSERT INTO `yourls_url` VALUES ")
	for i := range links {
		if i > 0 {
			text.WriteString(",\n")
		}
		fmt.Fprintf(&text, "('%s%d','https://example.com/%[2]d','Page %[2]d','2011-01-02 03:04:05','192.0.2.1',%[2]d)", prefix, i)
	}
	text.WriteString(";\n")
	name := filepath.Join(t.TempDir(), "yourls.sql")
	testkit.Must(t, os.WriteFile(name, []byte(text.String()), 0o600))
	return name
}

// killer kills a process at a chosen moment.
type killer struct {
	mu    sync.Mutex
	cmd   *exec.Cmd // nil after the kill
	after int       // calls that are let through
}

func (k *killer) aim(cmd *exec.Cmd, after int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.cmd, k.after = cmd, after
}

// strike kills the process when its calls are used up, and reports whether it has. done, if set, is run before the kill.
func (k *killer) strike(done func()) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.cmd == nil {
		return false
	}
	if k.after--; k.after >= 0 {
		return false
	}
	if done != nil {
		done()
	}
	_ = k.cmd.Process.Kill() // Wait returns the error, if there is one
	k.cmd = nil
	return true
}

// TestImport_survives_kills kills imports from a dump and from a server N times: while pages are read, before a batch is sent, after
// it is written and before its answer, and after the answer. The last run's report has the rows of all runs. Each link exists once
// and leads where it led, and another run changes nothing. LINKS are imported from each.
func TestImport_survives_kills(t *testing.T) {
	t.Parallel()
	kills, rows := count(t, testkit.Size(8, 100)), links(t, testkit.Size(6000, 45_000))
	alone := fleet.StartAlone(t, "RATE_LIMIT_DEFAULT=0")
	base, api := "http://"+alone.Addr, alone.Login(t)
	m := newMover(t, api)
	writing := &killer{}
	s := newShlink(t, rows)
	target, err := url.Parse(base)
	testkit.Must(t, err)
	forward, early := testkit.FullDuplex(httputil.NewSingleHostReverseProxy(target)), false
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodPut {
			var write func()
			if !early {
				write = func() { forward.ServeHTTP(httptest.NewRecorder(), req.WithContext(t.Context())) }
			}
			if writing.strike(write) {
				return // nobody reads an answer
			}
		}
		forward.ServeHTTP(w, req)
	}))
	t.Cleanup(proxy.Close)
	sources := [][]string{{"yourls", "--file", yourlsDump(t, "yourls", rows), "--from", "y.example"}, {"shlink", "--from", s.URL}}
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // moments of kills
	killed := 0
	for n := range kills {
		args := sources[n%len(sources)]
		cmd, output := m.command(proxy.URL, args...)
		early = random.IntN(2) == 0
		whileReading := args[0] == "shlink" && n < kills/3
		if whileReading {
			s.aim(random.IntN(20))
		} else {
			writing.aim(cmd, random.IntN(4)) // a dry run comes before each write
		}
		testkit.Must(t, cmd.Start())
		if whileReading {
			s.fire(cmd)
		}
		if cmd.Wait() == nil {
			break // the import was complete
		}
		if at := cmd.ProcessState.Sys().(syscall.WaitStatus); !at.Signaled() {
			t.Fatalf("run %d ended by itself: %v\n%.2000s", n+1, cmd.ProcessState, output.String())
		}
		killed++
	}
	t.Logf("%d imports were killed", killed)
	if killed < kills {
		t.Errorf("the import was complete after %d kills; LINKS must be larger", killed)
	}
	for _, args := range sources {
		for _, want := range []string{"created", "unchanged"} {
			if counts, wrong, _ := m.run(proxy.URL, args...); counts[want] != rows || len(wrong) > 0 {
				t.Errorf("%s: %v instead of %s %d; wrong: %.500v", args[0], counts, want, rows, wrong)
			}
		}
	}
	testkit.Eventually(t, "the edge serves each link once", func() bool { return alone.Metric("shortline_edge_links") == float64(2*rows) })
	for source, year := range map[string]int{"yourls": 2011, "shlink": 2016} {
		slug := fmt.Sprint(source, rows-1)
		list, err := api.Links.List(t.Context(), client.ListLinksParams{Search: slug})
		testkit.Must(t, err)
		if at := slices.IndexFunc(list.Data, func(l client.Link) bool { return l.Slug == slug }); at < 0 ||
			list.Data[at].CreatedAt.Year() != year || list.Data[at].ClickBaseline == nil || list.Data[at].ClickBaseline.Count != rows-1 {
			t.Errorf("%s: %+v", slug, list.Data)
		}
	}
}
