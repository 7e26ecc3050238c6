//go:build proof

package main_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	shortline "github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// fill creates a file that uses all free space on a folder's disk, and returns its path.
func fill(t *testing.T, dir string) string {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "ballast"))
	testkit.Must(t, err)
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
	u := c.link(shortline.CreateLink{OriginalURL: "https://example.com/landing"})
	p.Stop()

	// The spool would reserve several files, but there is space for one.
	out, err := exec.Command("du", "-sm", "--apparent-size", p.Dir).Output()
	testkit.Must(t, err)
	used, err := strconv.Atoi(strings.Fields(string(out))[0])
	testkit.Must(t, err)
	mount("-o", fmt.Sprintf("remount,size=%dm", used+90), p.Dir)
	p.Start()

	long := func(name string) string { return "&utm_" + name + "=" + strings.Repeat(name[:1], 240) }
	v := startVisits(p.Addr, 16, u.Slug, long("source")+long("medium")+long("campaign")+long("term"))
	ballast := fill(t, p.Dir)
	const droppedClicks = "shortline_spool_clicks_dropped_total"
	testkit.Eventually(t, "dropped clicks", func() bool { return p.metric(droppedClicks) > 1000 })
	code, where := p.follow(u.Slug, nil)
	if code != http.StatusFound || where == "" {
		t.Errorf("the response with a full disk is %d %s", code, where)
	}
	full := p.metric(droppedClicks)
	mount("-o", "remount,size=3g", p.Dir)
	testkit.Must(t, os.Remove(ballast))
	testkit.Eventually(t, "the spool accepts clicks again", func() bool { return p.metric("shortline_spool_shedding") == 0 })
	enough := v.count() + 1000
	testkit.Eventually(t, "more clicks that can be stored", func() bool { return v.count() >= enough })
	v.stop()
	acked := v.answered()
	testkit.Eventually(t, "no pending clicks", func() bool { return p.metric("shortline_spool_clicks_pending") == 0 })
	dropped := int(p.metric(droppedClicks))
	p.Stop()

	wholeDatabase(t, filepath.Join(p.Dir, "shortline.db"))
	stored := storedIDs(t, filepath.Join(p.Dir, "clicks.duckdb"))
	missing, twice := compare(acked, stored)
	missing += 1 - min(stored[""], 1) // the single visit above was answered, too
	responses := len(acked) + 1
	t.Logf("%d redirects answered, %d clicks stored, %d dropped (%.0f of them before space was freed), %d missing, %d stored twice",
		responses, len(stored), dropped, full, missing, twice)
	if missing != dropped || twice != 0 || missing == 0 || len(stored) == 0 {
		t.Errorf("%d clicks are missing, but %d were dropped; %d are stored twice", missing, dropped, twice)
	}
	// verify-clicks fails, because clicks are lost, and reports that exactly these are lost.
	report, err := p.command("verify-clicks").CombinedOutput()
	for _, want := range []string{"\n0 clicks are missing", fmt.Sprintf("\n%d clicks were lost by edges whose spool was full", dropped)} {
		if !strings.Contains(string(report), want) {
			t.Errorf("verify-clicks does not report %q: %v\n%s", want, err, report)
		}
	}
}
