package clickhouse_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// docker replaces Docker Compose. Commands of the runbook in the ClickHouse container run here, with the folder of
// backups in its place. Everything else is logged.
const docker = `#!/bin/bash
echo "$@" >>"$STUB/log"
[ "$1" = compose ] || exit 64
command=$2; shift 2
mapped=()
for a in "$@"; do
  a=${a#clickhouse:}
  mapped+=("${a//\/var\/lib\/clickhouse\/backups/$STUB_BACKUPS}")
done
set -- "${mapped[@]}"
case $command in
exec)
  [ "$1" = -T ] && shift
  service=$1; shift
  [ "$service" != clickhouse ] || exec "$@" ;;
cp) exec cp "$1" "$2" ;;
run) STUB_MIGRATE=1 exec "$STUB_TEST" -test.run '^TestRunbook_helper$' ;;
esac
`

const client = `#!/bin/bash
exec "$STUB_TEST" -test.run '^TestRunbook_helper$' -- "$@"
`

// TestRunbook_helper is the program that docker runs in containers. In a normal test run it does nothing.
func TestRunbook_helper(t *testing.T) {
	url := os.Getenv("STUB_CLICKHOUSE")
	if url == "" {
		return
	}
	server, database := clickhousetest.At(strings.TrimSuffix(url, "/shortline")), url
	if os.Getenv("STUB_MIGRATE") != "" {
		open(t, clickhouse.Config{URL: database}).Close()
		return
	}
	for i, arg := range os.Args {
		if arg != "--query" {
			continue
		}
		if out, err := server.Ask(t.Context(), os.Args[i+1]); err != nil {
			t.Fatal(err)
		} else {
			fmt.Println(out)
		}
	}
}

// runbook returns the block of commands in docs/operators/operations.md that contains a text.
func runbook(t *testing.T, contains string) string {
	t.Helper()
	page, err := os.ReadFile(testkit.Source(t, "docs/operators/operations.md"))
	testkit.Must(t, err)
	for _, m := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		if strings.Contains(m[1], contains) {
			return m[1]
		}
	}
	t.Fatalf("docs/operators/operations.md has no commands with %q", contains)
	return ""
}

// host is the operator's machine: a folder with the stubs in its PATH.
type host struct {
	t   *testing.T
	dir string
	env []string
}

func newHost(t *testing.T, server *clickhousetest.Server, backups string) host {
	t.Helper()
	h := host{t: t, dir: t.TempDir()}
	stubs := t.TempDir()
	// The password file is only in the container.
	for name, text := range map[string]string{"docker": docker, "clickhouse-client": client, "cat": "#!/bin/sh\necho password\n"} {
		testkit.Must(t, os.WriteFile(filepath.Join(stubs, name), []byte(text), 0o755))
	}
	exe, err := os.Executable()
	testkit.Must(t, err)
	h.env = append(os.Environ(), "PATH="+stubs+":"+os.Getenv("PATH"), "STUB="+stubs, "STUB_TEST="+exe, "STUB_BACKUPS="+backups,
		"STUB_CLICKHOUSE="+server.URL("shortline"))
	return h
}

func (h host) run(script string, env ...string) {
	h.t.Helper()
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", script)
	cmd.Dir, cmd.Env = h.dir, append(h.env, env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		h.t.Fatalf("%v\n%s\n%s", err, script, out)
	}
}

// archives returns the backups that were copied to the host, oldest first.
func (h host) archives() []string {
	h.t.Helper()
	list, err := filepath.Glob(filepath.Join(h.dir, "*.tar"))
	testkit.Must(h.t, err)
	return list
}

// The commands in docs/operators/operations.md run unchanged: a backup on two days, a restore into the existing
// database, one after a loss of clicks, and one into an empty server. Afterwards every report has the same figures,
// from rebuilt rollups.
func TestOps1_ClickHouse_runbook(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := clickhousetest.Start(t, dir)
	backups := filepath.Join(dir, "backups")
	s := open(t, clickhouse.Config{URL: server.URL("shortline")})
	h := newHost(t, server, backups)
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	fill := func(seed uint64) {
		t.Helper()
		rows := analyticstest.Clicks(seed, 300, start, 2)
		b := analytics.Batch{Rows: rows}
		for i := range rows {
			b.Marks = append(b.Marks, analytics.Mark{Lane: rows[i].Lane, Seq: rows[i].Seq})
		}
		testkit.Must(t, s.Insert(t.Context(), b))
		testkit.Must(t, s.Rebuild(t.Context(), distant))
	}
	type figures struct {
		reports []any
		marks   []analytics.Mark
	}
	look := func(reader *clickhouse.Store) figures {
		t.Helper()
		marks, err := reader.Marks(t.Context())
		testkit.Must(t, err)
		return figures{answers(t, reader, analytics.Scope{}, time.UTC, 0), marks}
	}
	same := func(when string, reader *clickhouse.Store, want figures) {
		t.Helper()
		for _, how := range []string{"before", "after"} {
			if got := look(reader); !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %s the rebuild, reports or marks differ", when, how)
			}
			testkit.Must(t, reader.Rebuild(t.Context(), distant))
		}
		d, err := reader.Drift(t.Context(), start, start.AddDate(0, 0, 21))
		if err != nil || d.Clicks == 0 || d.Clicks != d.Short || len(d.Hours) != 0 {
			t.Errorf("%s: rollups are %+v, %v", when, d, err)
		}
	}
	backUp, bringBack := runbook(t, "BACKUP TABLE"), runbook(t, "RESTORE TABLE")

	fill(20)
	first := look(s)
	h.run(strings.ReplaceAll(backUp, "date -u", "date -u -d yesterday"))
	fill(21)
	second := look(s)
	h.run(backUp)
	list := h.archives()
	if len(list) != 2 {
		t.Fatalf("the backups of two days are %v", list)
	}
	if left, err := os.ReadDir(backups); err != nil || len(left) != 0 {
		t.Errorf("%d backups stay in the container, %v", len(left), err)
	}
	newest := "name=" + filepath.Base(list[1])
	h.run(bringBack, newest)
	same("into an existing database", s, second)
	h.run(bringBack, newest)
	same("a second time", s, second)

	// The clicks are lost, but their marks and rollups are not. Marks beyond the stored clicks would make ingest skip
	// what Kafka still has.
	ask(t, server, "TRUNCATE TABLE shortline.clicks")
	h.run(bringBack, "name="+filepath.Base(list[0]))
	same("after clicks were lost", s, first)

	empty := t.TempDir()
	fresh := clickhousetest.Start(t, empty)
	h2 := newHost(t, fresh, filepath.Join(empty, "backups"))
	h2.dir = h.dir
	h2.run(bringBack, newest)
	r := open(t, clickhouse.Config{URL: fresh.URL("shortline")})
	same("into an empty server", r, second)
	if text, err := fresh.Ask(context.Background(), "SELECT count() FROM shortline.clicks"); err != nil || text != "600" {
		t.Errorf("%s clicks, %v", text, err)
	}
}
