package spool_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/spool"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// TestMain lets the test binary run as the process that the test kills.
func TestMain(m *testing.M) {
	if dir := os.Getenv("SPOOL_TEST_VICTIM"); dir != "" {
		victim(dir)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// victimConfig has small segments, so that kills also hit segment changes.
func victimConfig(dir string) spool.Config {
	return spool.Config{Dir: dir, Lanes: 3, SegmentBytes: 64 << 10, CapBytes: 1 << 30, MinFreePercent: -1, SyncEvery: 10 * time.Millisecond}
}

// victim appends clicks as fast as possible, prints which are stored, and ships some of them, until it is killed.
func victim(dir string) {
	s, err := spool.Open(victimConfig(dir))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	go s.Run(context.Background())
	first, _ := strconv.Atoi(os.Getenv("SPOOL_TEST_FIRST"))
	acks := make(chan []byte, 1024)
	for g := range 4 {
		go func() {
			for id := first + g; ; id += 4 {
				e := event(id)
				if s.Append(uint32(g), &e) {
					acks <- strconv.AppendInt(nil, int64(id), 10)
				}
			}
		}()
	}
	for line := range acks {
		os.Stdout.Write(append(line, '\n'))
	}
}

// TestSpool_kill kills a process several times, or N times as the environment sets. No click that the process reported as stored
// may be lost or repeated.
func TestSpool_kill(t *testing.T) {
	t.Parallel()
	kills := testkit.Size(10, 300)
	if n, err := strconv.Atoi(os.Getenv("N")); err == nil {
		kills = n
	}
	dir := t.TempDir()
	const perStart = 1 << 24
	acked := make([][]int, kills)
	l := newLedger()
	total := 0
	for kill := range kills {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "SPOOL_TEST_VICTIM="+dir, fmt.Sprintf("SPOOL_TEST_FIRST=%d", kill*perStart))
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		testkit.Must(t, err)
		testkit.Must(t, cmd.Start())
		// Kill the process at a random moment after its first acknowledgement.
		lines := bufio.NewReader(out)
		var timer *time.Timer
		for {
			line, err := lines.ReadString('\n')
			if err == io.EOF || err != nil {
				break // an incomplete line is no acknowledgement
			}
			if timer == nil {
				timer = time.AfterFunc(rand.N(60*time.Millisecond), func() { cmd.Process.Kill() })
			}
			id, err := strconv.Atoi(line[:len(line)-1])
			if err != nil {
				t.Fatalf("victim said %q", line)
			}
			acked[kill] = append(acked[kill], id)
		}
		cmd.Wait()
		if len(acked[kill]) == 0 {
			t.Fatal("the victim did nothing")
		}
		total += len(acked[kill])
		if kill%5 == 4 { // the clicks of the other rounds wait for later starts
			s, err := spool.Open(victimConfig(dir))
			testkit.Must(t, err)
			l.take(t, s)
			testkit.Must(t, s.Close())
		}
	}
	s, err := spool.Open(victimConfig(dir))
	testkit.Must(t, err)
	l.take(t, s)
	testkit.Must(t, s.Close())
	lost, repeated := 0, 0
	got := l.contents
	for _, ids := range acked {
		for _, id := range ids {
			if got[strconv.Itoa(id)] == 0 {
				lost++
			}
		}
	}
	for _, n := range got {
		if n != 1 {
			repeated++
		}
	}
	t.Logf("%d kills, %d acknowledged, %d recovered, %d lost, %d repeated, %d named by markers", kills, total, len(got), lost,
		repeated, l.lost)
	if lost != 0 || repeated != 0 || l.lost != 0 {
		t.Fail()
	}
}
