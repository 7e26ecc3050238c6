package duckdb_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// crashConversions names the file to which a child process writes conversions.
const crashConversions = "SHORTLINE_CRASH_CONVERSIONS"

// crashLedger returns the clicks and the batches of conversions of the crash test.
func crashLedger() *analyticstest.Ledger {
	return analyticstest.NewLedger(77, testkit.Size(5000, 30_000))
}

// convertForEver repeats the batches from the beginning, as a queue does that was never acknowledged, and reports each.
func convertForEver(path string) error {
	ctx := context.Background()
	s, err := duckdb.Open(ctx, duckdb.Config{Path: path})
	if err != nil {
		return err
	}
	for i, b := range crashLedger().Batches {
		if err := s.InsertConversions(ctx, b); err != nil {
			return err
		}
		fmt.Println(i + 1)
	}
	return s.Close()
}

// A child process is killed at random moments and starts with the first batch again. Copies without a click and copies with one
// come in any order, so that most batches replace some rows.
func TestConversions_kill_loses_nothing_and_repeats_nothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "clicks")
	ledger := crashLedger()
	s := open(t, path)
	for part := range analyticstest.Parted(ledger.Clicks) {
		testkit.Must(t, s.Insert(t.Context(), analytics.Batch{Rows: part}))
	}
	testkit.Must(t, s.Close())
	most, r, kills := 0, rand.New(rand.NewPCG(3, 3)), crashKills()
	for kill := 0; kill <= kills; kill++ {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), crashConversions+"="+path)
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		testkit.Must(t, err)
		testkit.Must(t, child.Start())
		acked, after := 0, 1+r.IntN(len(ledger.Batches)-1)
		if kill == kills {
			after = math.MaxInt // the last one finishes
		}
		for lines := bufio.NewScanner(out); lines.Scan(); {
			acked++
			if after--; after == 0 {
				time.AfterFunc(time.Duration(r.IntN(10_000))*time.Microsecond, func() { _ = child.Process.Kill() })
			}
		}
		err = child.Wait()
		if kill == kills && (err != nil || acked != len(ledger.Batches)) {
			t.Fatalf("the last process stored %d of %d batches: %v", acked, len(ledger.Batches), err)
		}
		most = max(most, acked)
		s := open(t, path)
		// The batch after the last acknowledged one may be stored as a whole, or not at all.
		err = ledger.Check(t.Context(), s, most)
		if err != nil && most < len(ledger.Batches) {
			if next := ledger.Check(t.Context(), s, most+1); next == nil {
				most, err = most+1, nil
			} else {
				err = errors.Join(err, next)
			}
		}
		if err != nil {
			t.Fatalf("kill %d, %d batches: %v", kill+1, most, err)
		}
		testkit.Must(t, s.Close())
	}
	t.Logf("%d kills, %d batches, %s", kills, len(ledger.Batches), strings.TrimSpace(ledger.String()))
}
