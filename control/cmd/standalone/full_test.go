package main_test

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testkit"
)

// metric returns the value of a metric without labels.
func (p *program) metric(name string) float64 {
	p.t.Helper()
	res, err := http.Get("http://" + p.Ops + "/metrics")
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				p.t.Fatal(err)
			}
			return v
		}
	}
	p.t.Fatalf("no metric %s", name)
	return 0
}

// fill creates a file that uses all free space on a folder's disk, and returns its path.
func fill(t *testing.T, dir string) string {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "ballast"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 64<<10))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	return f.Name()
}

// With a full disk, the program continues to redirect and counts each dropped click. When there is space again, all
// other clicks are stored and the databases are intact.
func TestE2E_disk_full(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to mount a small disk")
	}
	if testing.Short() {
		t.Skip("takes a minute")
	}
	p := prepare(t)
	mount := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("mount", args...).CombinedOutput(); err != nil {
			t.Fatalf("mount %v: %v: %s", args, err, out)
		}
	}
	mount("-t", "tmpfs", "-o", "size=2g", "tmpfs", p.Dir)
	t.Cleanup(func() {
		p.Kill()
		if out, err := exec.Command("umount", "-l", p.Dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	p.Start()
	c := p.Login()
	u := c.CreateURL("https://example.com/landing", nil)
	p.published(u.Slug)
	p.Stop()

	// The spool would reserve several files, but there is space for one.
	out, err := exec.Command("du", "-sm", "--apparent-size", p.Dir).Output()
	if err != nil {
		t.Fatal(err)
	}
	used, err := strconv.Atoi(strings.Fields(string(out))[0])
	if err != nil {
		t.Fatal(err)
	}
	mount("-o", fmt.Sprintf("remount,size=%dm", used+90), p.Dir)
	p.Start()

	const conns = 16
	var stop atomic.Bool
	var sent [conns]int
	var acked [conns]map[string]bool
	for w := range acked {
		acked[w] = map[string]bool{}
	}
	var load sync.WaitGroup
	large := "&utm_source=" + strings.Repeat("s", 240) + "&utm_medium=" + strings.Repeat("m", 240) + "&utm_campaign=" + strings.Repeat("c", 240) + "&utm_term=" + strings.Repeat("t", 240)
	load.Go(func() {
		answered(p.Addr, conns, func(w int) (string, bool) {
			sent[w]++
			return fmt.Sprintf("/%s?utm_content=%d-%d%s", u.Slug, w, sent[w], large), !stop.Load()
		}, func(w int, path string) {
			_, id, _ := strings.Cut(path, "=")
			id, _, _ = strings.Cut(id, "&")
			acked[w][id] = true
		})
	})
	ballast := fill(t, p.Dir)
	const droppedClicks = "shortline_spool_clicks_dropped_total"
	testkit.Within(t, 3*time.Minute, "dropped clicks", func() bool { return p.metric(droppedClicks) > 1000 })
	code, where := p.follow(u.Slug, nil)
	if code != http.StatusFound || where == "" {
		t.Errorf("the response with a full disk is %d %s", code, where)
	}
	full := p.metric(droppedClicks)
	mount("-o", "remount,size=3g", p.Dir)
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	testkit.Within(t, time.Minute, "the spool accepts clicks again", func() bool { return p.metric("shortline_spool_shedding") == 0 })
	time.Sleep(500 * time.Millisecond) // continue the load, so that more clicks are stored
	stop.Store(true)
	load.Wait()
	testkit.Within(t, 2*time.Minute, "no pending clicks", func() bool { return p.metric("shortline_spool_clicks_pending") == 0 })
	dropped := int(p.metric(droppedClicks))
	p.Stop()

	wholeDatabase(t, filepath.Join(p.Dir, "shortline.db"))
	stored := storedIDs(t, filepath.Join(p.Dir, "clicks.duckdb"))
	missing, twice := compare(acked[:], stored)
	responses := 1 // the single visit above was answered, too
	missing += 1 - min(stored[""], 1)
	for w := range acked {
		responses += len(acked[w])
	}
	t.Logf("%d redirects answered, %d clicks stored, %d dropped (%.0f of them before space was freed), %d missing, %d stored twice", responses, len(stored), dropped, full, missing, twice)
	if missing != dropped || twice != 0 || missing == 0 || len(stored) == 0 {
		t.Errorf("%d clicks are missing, but %d were dropped; %d are stored twice", missing, dropped, twice)
	}
	// verify-clicks fails, because clicks are lost, and reports that exactly these are lost.
	verify := exec.Command(binary, "verify-clicks")
	verify.Env = append(cleanEnv(), "DATA_DIR="+p.Dir)
	report, err := verify.CombinedOutput()
	for _, want := range []string{"\n0 clicks are missing", fmt.Sprintf("\n%d clicks were lost by edges whose spool was full", dropped)} {
		if !strings.Contains(string(report), want) {
			t.Errorf("verify-clicks does not report %q: %v\n%s", want, err, report)
		}
	}
}
