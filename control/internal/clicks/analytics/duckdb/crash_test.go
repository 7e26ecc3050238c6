package duckdb_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// crashFile names the file to which a child process of the crash test writes.
const crashFile = "SHORTLINE_CRASH_FILE"

func TestMain(m *testing.M) {
	if path := os.Getenv(crashFile); path != "" {
		if err := writeForEver(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if path := os.Getenv(crashConversions); path != "" {
		if err := convertForEver(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// crashRows are the clicks of the only lane of the crash test: the click at index i has the sequence number i+1.
var crashRows = sync.OnceValue(func() []analytics.Row {
	return analyticstest.Clicks(42, testkit.Size(60_000, 400_000), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 30)
})

// crashKills returns the number of kills: the environment variable N, or 20 in make proof.
func crashKills() int {
	if n, err := strconv.Atoi(os.Getenv("N")); err == nil && n > 0 {
		return n
	}
	return testkit.Size(3, 20)
}

// writeForEver continues after the lane's mark, as a shipper does, and reports its progress after each batch.
func writeForEver(path string) error {
	ctx := context.Background()
	s, err := duckdb.Open(ctx, duckdb.Config{Path: path})
	if err != nil {
		return err
	}
	marks, err := s.Marks(ctx)
	if err != nil {
		return err
	}
	rows, at := crashRows(), 0
	if len(marks) > 0 {
		at = int(marks[0].Seq)
	}
	most := 60_000 / max(20, crashKills()) // enough clicks for all kills
	for r := rand.New(rand.NewPCG(uint64(at), 0)); at < len(rows); {
		from := max(0, at-r.IntN(50)) // repeats some clicks
		to := min(len(rows), at+1+r.IntN(most))
		batch := analytics.Batch{Rows: rows[from:to], Marks: []analytics.Mark{{Lane: rows[0].Lane, Seq: uint64(to)}}}
		if err := s.Insert(ctx, batch); err != nil {
			return err
		}
		at = to
		fmt.Println(at)
	}
	return s.Close()
}

func TestStore_kill_loses_nothing_and_repeats_nothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "clicks")
	acked, r, kills := 0, rand.New(rand.NewPCG(1, 1)), crashKills()
	for kill := range kills {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), crashFile+"="+path)
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		testkit.Must(t, err)
		testkit.Must(t, child.Start())
		// The kill comes some acknowledgements later, at a random moment within a batch.
		after, lines := 1+r.IntN(12), bufio.NewScanner(out)
		for lines.Scan() {
			if acked, err = strconv.Atoi(strings.TrimSpace(lines.Text())); err != nil {
				t.Fatal(err)
			}
			if after--; after == 0 {
				time.AfterFunc(time.Duration(r.IntN(20_000))*time.Microsecond, func() { _ = child.Process.Kill() })
			}
		}
		_ = child.Wait() // it was killed, or has finished
		s := open(t, path)
		lines2, err := s.Lines(t.Context(), analytics.Query{Scope: analytics.Scope{Bots: analytics.Everyone}})
		testkit.Must(t, err)
		marks, err := s.Marks(t.Context())
		if err != nil || len(marks) != 1 {
			t.Fatal(marks, err)
		}
		n, mark := int(lines2[0].Clicks), int(marks[0].Seq)
		if n != mark || n < acked {
			t.Fatalf("kill %d: %d clicks, mark %d, %d acknowledged", kill+1, n, mark, acked)
		}
		if kill == kills-1 { // only at the end, because it takes a while and duplicates would stay
			ids := make(map[analytics.Identity]bool, n)
			testkit.Must(t, s.Clicks(t.Context(), analytics.Scope{Bots: analytics.Everyone}, n+1, func(row *analytics.Row) error {
				ids[row.Identity] = true
				return nil
			}))
			if len(ids) != n {
				t.Fatalf("%d clicks have %d identities", n, len(ids))
			}
		}
		testkit.Must(t, s.Close())
		acked = n
	}
	t.Logf("%d kills, %d clicks", kills, acked)
}

func TestOpen_second_process_is_refused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "clicks")
	open(t, path)
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), crashFile+"="+path)
	if out, err := child.CombinedOutput(); err == nil || !strings.Contains(string(out), "lock") {
		t.Errorf("%v: %s", err, out)
	}
}
