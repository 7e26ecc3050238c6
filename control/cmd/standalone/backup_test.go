package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testkit"
)

// backUp runs the command and returns its output.
func (p *program) backUp(to string) (string, error) {
	cmd := exec.Command(binary, "backup", to)
	cmd.Env = append(cleanEnv(), "DATA_DIR="+p.Dir)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// restored starts a standalone on a copy of a backup, as documented in docs/operators/operations.md.
func restored(t *testing.T, p *program, backup string) *program {
	t.Helper()
	r := prepare(t)
	if out, err := exec.Command("cp", "-a", backup+"/.", r.Dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r.password = p.Password()
	r.Start()
	return r
}

// wantPrivate fails the test if other users can read a file in a folder.
func wantPrivate(t *testing.T, dir string) {
	t.Helper()
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %s", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// picture uploads a preview image and returns its address.
func picture(t *testing.T, c *client, id string) string {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "a.png")
	if err == nil {
		err = png.Encode(part, image.NewGray(image.Rect(0, 0, 1200, 630)))
	}
	if err != nil {
		t.Fatal(err)
	}
	form.Close()
	req, err := http.NewRequest("POST", c.base+"/api/og-images/upload/"+id, &body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", form.FormDataContentType())
	req.Header.Set("Authorization", "Bearer "+c.token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var out struct{ Data struct{ ProxyURL string } }
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil || out.Data.ProxyURL == "" {
		t.Fatalf("upload of an image: %s, %v", res.Status, err)
	}
	return out.Data.ProxyURL
}

// A backup is written while visitors follow links and the API creates more links. A program that starts with the backup
// has all links. It has each click that was answered before the backup began exactly once.
func TestOps1_StandaloneBackup_under_load(t *testing.T) {
	p := start(t, "RATE_LIMIT_DEFAULT=0")
	c := p.Login()
	u := c.CreateURL("https://example.com/landing", nil)
	p.published(u.Slug)
	image := picture(t, c, u.ID)

	const conns = 8
	var stop atomic.Bool
	var sent [conns]int64
	var mu sync.Mutex
	acked := map[string]bool{}
	var links []created
	var load sync.WaitGroup
	load.Go(func() {
		answered(p.Addr, conns, func(w int) (string, bool) {
			sent[w]++
			return fmt.Sprintf("/%s?utm_content=%d-%d", u.Slug, w, sent[w]), !stop.Load()
		}, func(_ int, path string) {
			_, id, _ := strings.Cut(path, "=")
			mu.Lock()
			acked[id] = true
			mu.Unlock()
		})
	})
	load.Go(func() {
		for i := 0; !stop.Load(); i++ {
			made := c.CreateURL(fmt.Sprintf("https://example.com/%d", i), nil)
			mu.Lock()
			links = append(links, made)
			mu.Unlock()
		}
	})
	enough := func(n int) {
		testkit.Within(t, time.Minute, fmt.Sprintf("%d clicks and some links", n), func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(acked) >= n && len(links) >= n/200
		})
	}
	for round, n := range []int{2000, 6000} {
		enough(n)
		mu.Lock()
		before := make(map[string]bool, len(acked))
		for id := range acked {
			before[id] = true
		}
		known := append([]created(nil), links...)
		mu.Unlock()

		to := filepath.Join(t.TempDir(), "backup")
		out, err := p.backUp(to)
		if err != nil {
			t.Fatalf("backup: %v\n%s", err, out)
		}
		wantPrivate(t, to)
		if out, err := p.backUp(to); err == nil || !strings.Contains(out, "already exists") {
			t.Errorf("a backup into a used folder: %v\n%s", err, out)
		}
		if round == 1 {
			stop.Store(true)
			load.Wait()
			p.Stop()
		}
		wholeDatabase(t, filepath.Join(to, "shortline.db"))
		stored := storedIDs(t, filepath.Join(to, "clicks.duckdb"))
		missing, twice := compare([]map[string]bool{before}, stored)
		if missing != 0 || twice != 0 {
			t.Errorf("round %d: of %d clicks answered before the backup, %d are missing and %d are stored twice", round, len(before), missing, twice)
		}

		r := restored(t, p, to)
		rc := r.Login() // with the password and the secrets of the program that was backed up
		for _, l := range known {
			if status, location := r.follow(l.Slug, nil); status != 302 || !strings.HasPrefix(location, "https://example.com/") {
				t.Fatalf("round %d: /%s, created before the backup, returns %d", round, l.Slug, status)
			}
		}
		if res, err := http.Get(rc.base + image); err != nil || res.StatusCode != 200 {
			t.Errorf("round %d: the preview image: %v, %v", round, res, err)
		}
		total := rc.reportTotal(u.ID)
		if total < int64(len(before)) || total != int64(len(stored)) {
			t.Errorf("round %d: the report has %d clicks; %d were answered before the backup, %d are stored", round, total, len(before), len(stored))
		}
		// The restored program counts new clicks.
		status, _ := r.follow(u.Slug, map[string]string{"User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Chrome/141.0.0.0 Safari/537.36"})
		if status != 302 {
			t.Errorf("round %d: a visit after the restore: %d", round, status)
		}
		testkit.Within(t, 30*time.Second, "a click after the restore is counted", func() bool { return rc.reportTotal(u.ID) == total+1 })
		r.Stop()
		t.Logf("round %d: %d clicks answered and %d links created before the backup, which has %d clicks", round, len(before), len(known), len(stored))
	}
}

// Without a running program, the command copies the files itself, including pending clicks in the spool.
func TestOps1_StandaloneBackup_of_a_killed_program(t *testing.T) {
	p := start(t)
	c := p.Login()
	u := c.CreateURL("https://example.com/landing", nil)
	p.published(u.Slug)
	var stop atomic.Bool
	var n atomic.Int64
	acked := map[string]bool{}
	var mu sync.Mutex
	done := make(chan struct{})
	go func() {
		defer close(done)
		answered(p.Addr, 4, func(int) (string, bool) {
			return fmt.Sprintf("/%s?utm_content=0-%d", u.Slug, n.Add(1)), !stop.Load()
		}, func(_ int, path string) {
			_, id, _ := strings.Cut(path, "=")
			mu.Lock()
			acked[id] = true
			mu.Unlock()
		})
	}()
	testkit.Within(t, time.Minute, "a thousand clicks", func() bool { mu.Lock(); defer mu.Unlock(); return len(acked) >= 1000 })
	p.Kill() // in the middle of the load: some clicks are in the spool only
	stop.Store(true)
	<-done
	to := filepath.Join(t.TempDir(), "backup")
	if out, err := p.backUp(to); err != nil {
		t.Fatalf("backup: %v\n%s", err, out)
	}
	wantPrivate(t, to)
	r := restored(t, p, to)
	rc := r.Login()
	testkit.Within(t, 30*time.Second, "every click that was answered is counted", func() bool { return rc.reportTotal(u.ID) >= int64(len(acked)) })
	r.Stop()
	stored := storedIDs(t, filepath.Join(r.Dir, "clicks.duckdb"))
	if missing, twice := compare([]map[string]bool{acked}, stored); missing != 0 || twice != 0 {
		t.Errorf("of %d clicks, %d are missing and %d are stored twice", len(acked), missing, twice)
	}
	// A folder without data cannot be backed up.
	empty := &program{t: t, Dir: t.TempDir()}
	if out, err := empty.backUp(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Errorf("backup of a folder without data: %s", out)
	}
}
