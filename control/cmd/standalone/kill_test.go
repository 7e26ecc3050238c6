package main_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"
	_ "modernc.org/sqlite"

	"github.com/shortline/shortline/shared/testkit"
)

// The test runs kill -9 under load, N times (30 by default). Each redirect whose response was read completely must have
// exactly one click. Each request has a unique id in utm_content, so the test has its own record of the responses.
func TestE2E_kill_9_loses_no_click_and_repeats_none(t *testing.T) {
	kills := 30
	if s := os.Getenv("N"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("N: %v", err)
		}
		kills = n
	} else if testing.Short() {
		kills = 3
	}
	p := start(t)
	c := p.Login()
	u := c.CreateURL("https://example.com/landing", nil)

	const conns = 16
	var stop atomic.Bool
	var sent [conns]int64
	var acked [conns]map[string]bool
	for w := range acked {
		acked[w] = map[string]bool{}
	}
	var load sync.WaitGroup
	load.Go(func() {
		answered(p.Addr, conns, func(w int) (string, bool) {
			sent[w]++
			return fmt.Sprintf("/%s?utm_content=%d-%d", u.Slug, w, sent[w]), !stop.Load()
		}, func(w int, path string) {
			_, id, _ := strings.Cut(path, "=")
			acked[w][id] = true
		})
	})

	var worst time.Duration
	for range kills {
		time.Sleep(time.Duration(100+rand.IntN(700)) * time.Millisecond)
		p.Kill()
		began := time.Now()
		p.Start()
		worst = max(worst, time.Since(began))
	}
	time.Sleep(300 * time.Millisecond)
	stop.Store(true)
	load.Wait()

	var responses int64
	for w := range acked {
		responses += int64(len(acked[w]))
	}
	c = &client{t: t, base: "http://" + p.Addr, token: c.token}
	testkit.Within(t, 60*time.Second, "every answered redirect is in the report", func() bool { return c.reportTotal(u.ID) >= responses })
	p.Stop()
	verify := exec.Command(binary, "verify-clicks")
	verify.Env = append(cleanEnv(), "DATA_DIR="+p.Dir)
	if out, err := verify.CombinedOutput(); err != nil || !strings.Contains(string(out), "0 clicks are missing") {
		t.Errorf("verify-clicks: %v\n%s", err, out)
	}

	wholeDatabase(t, filepath.Join(p.Dir, "shortline.db"))
	stored := storedIDs(t, filepath.Join(p.Dir, "clicks.duckdb"))
	lost, twice := compare(acked[:], stored)
	ghosts := 0
	for id := range stored {
		var w int
		var k int64
		if _, err := fmt.Sscanf(id, "%d-%d", &w, &k); err != nil || w >= conns || k > sent[w] {
			ghosts++
		}
	}
	t.Logf("%d kills, %d redirects answered, %d clicks stored (%d in flight at a kill), slowest restart to ready %s",
		kills, responses, len(stored), int64(len(stored))-responses, worst.Round(time.Millisecond))
	if lost != 0 || twice != 0 || ghosts != 0 {
		t.Fatalf("%d clicks lost, %d stored twice, %d never requested", lost, twice, ghosts)
	}
	if responses < int64(kills)*10 {
		t.Fatalf("only %d responses: too little load", responses)
	}
}

// compare counts responses without a click, and clicks that are stored more than once.
func compare(acked []map[string]bool, stored map[string]int) (missing, twice int) {
	for w := range acked {
		for id := range acked[w] {
			if stored[id] == 0 {
				missing++
			}
		}
	}
	for _, n := range stored {
		if n > 1 {
			twice++
		}
	}
	return missing, twice
}

// wholeDatabase fails the test unless SQLite's integrity check succeeds.
func wholeDatabase(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var verdict string
	if err := db.QueryRow(`PRAGMA integrity_check`).Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("integrity_check: %s, %v", verdict, err)
	}
}

func storedIDs(t *testing.T, path string) map[string]int {
	t.Helper()
	db, err := sql.Open("duckdb", path+"?access_mode=read_only")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(`SELECT utm_content, count(*) FROM clicks GROUP BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	out := map[string]int{}
	for rows.Next() {
		var id string
		var n int
		if err := rows.Scan(&id, &n); err != nil {
			t.Fatal(err)
		}
		out[id] = n
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}
