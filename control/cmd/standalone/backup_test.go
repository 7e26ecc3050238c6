package main_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	shortline "github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// backUp runs the command and returns its output.
func (p *program) backUp(to string) (string, error) {
	out, err := p.command("backup", to).CombinedOutput()
	return string(out), err
}

// backedUp writes a private backup and returns its folder.
func (p *program) backedUp() string {
	p.t.Helper()
	to := filepath.Join(p.t.TempDir(), "backup")
	if out, err := p.backUp(to); err != nil {
		p.t.Fatalf("backup: %v\n%s", err, out)
	}
	err := filepath.Walk(to, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			p.t.Errorf("%s has the mode %s", path, info.Mode())
		}
		return err
	})
	testkit.Must(p.t, err)
	return to
}

// restored starts a standalone on a copy of a backup, as documented in docs/operators/operations.md.
func restored(p *program, backup string, settings ...string) *program {
	p.t.Helper()
	r := prepare(p.t, settings...)
	if out, err := exec.Command("cp", "-a", backup+"/.", r.Dir).CombinedOutput(); err != nil {
		p.t.Fatalf("%v: %s", err, out)
	}
	r.password = p.Password()
	r.Start()
	return r
}

// picture uploads a preview image and returns its address.
func picture(t *testing.T, c *client, id string) string {
	t.Helper()
	var file bytes.Buffer
	testkit.Must(t, png.Encode(&file, image.NewGray(image.Rect(0, 0, 1200, 630))))
	out, err := c.Images.Upload(t.Context(), id, &file)
	testkit.Must(t, err)
	if out.Data.ProxyURL == "" {
		t.Fatal("an uploaded image has no address")
	}
	return out.Data.ProxyURL
}

// A backup is written while visitors follow links and the API creates more links. A program that starts with the backup
// has all links. It has each click that was answered before the backup began exactly once.
func TestOps1_StandaloneBackup_under_load(t *testing.T) {
	t.Parallel()
	p := start(t)
	c := p.Login()
	u := c.link(shortline.CreateLink{OriginalURL: "https://example.com/landing"})
	image := picture(t, c, u.ID)

	v := startVisits(p.Addr, 8, u.Slug, "")
	var mu sync.Mutex
	var links []*shortline.Link
	var ended atomic.Bool
	var creating sync.WaitGroup
	creating.Go(func() {
		for i := 0; !ended.Load(); i++ {
			made, err := c.Links.Create(t.Context(), shortline.CreateLink{OriginalURL: fmt.Sprintf("https://example.com/%d", i)})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			links = append(links, made)
			mu.Unlock()
		}
	})
	t.Cleanup(func() { ended.Store(true); creating.Wait() })
	rounds := testkit.Size([]int{1000}, []int{2000, 6000})
	for round, n := range rounds {
		testkit.Eventually(t, fmt.Sprintf("%d clicks and some links", n), func() bool {
			mu.Lock()
			defer mu.Unlock()
			return v.count() >= n && len(links) >= n/200
		})
		before := v.answered()
		mu.Lock()
		known := slices.Clone(links)
		mu.Unlock()
		to := p.backedUp()
		if out, err := p.backUp(to); err == nil || !strings.Contains(out, "already exists") {
			t.Errorf("a backup into a used folder: %v\n%s", err, out)
		}
		if round == len(rounds)-1 {
			v.stop()
			ended.Store(true)
			creating.Wait()
			p.Stop()
		}
		isBackup(p, to, image, u, known, before)
	}
}

// isBackup checks that a program that starts with a backup has the links, the picture, and each of the clicks once, and that it
// counts new clicks.
func isBackup(p *program, backup, image string, u *shortline.Link, links []*shortline.Link, clicks map[string]bool) {
	t := p.t
	t.Helper()
	wholeDatabase(t, filepath.Join(backup, "shortline.db"))
	stored := storedIDs(t, filepath.Join(backup, "clicks.duckdb"))
	if missing, twice := compare(clicks, stored); missing != 0 || twice != 0 {
		t.Errorf("of %d clicks answered before the backup, %d are missing and %d are stored twice", len(clicks), missing, twice)
	}
	r := restored(p, backup)
	c := r.Login() // with the password and the secrets of the program that was backed up
	for _, l := range links {
		if status, location := r.follow(l.Slug, nil); status != 302 || !strings.HasPrefix(location, "https://example.com/") {
			t.Fatalf("/%s, created before the backup, returns %d", l.Slug, status)
		}
	}
	if res, err := http.Get(c.base + image); err != nil || res.StatusCode != 200 {
		t.Errorf("the preview image: %v, %v", res, err)
	}
	total := c.reportTotal(u.ID)
	if total < int64(len(clicks)) || total != int64(len(stored)) {
		t.Errorf("the report has %d clicks; %d were answered before the backup, %d are stored", total, len(clicks), len(stored))
	}
	if status, _ := r.follow(u.Slug, visitor); status != 302 {
		t.Errorf("a visit after the restore: %d", status)
	}
	testkit.Eventually(t, "a click after the restore is counted", func() bool { return c.reportTotal(u.ID) == total+1 })
	r.Stop()
	t.Logf("%d clicks answered and %d links created before the backup, which has %d clicks", len(clicks), len(links), len(stored))
}

// Without a running program, the command copies the files itself. Visits and conversions that were accepted just before a kill
// are in their spools only.
func TestOps1_StandaloneBackup_of_a_killed_program(t *testing.T) {
	t.Parallel()
	settings := []string{"ENCRYPTION_KEY=" + attackKey}
	p := start(t, settings...)
	c := p.Login()
	u, shop := c.link(shortline.CreateLink{OriginalURL: "https://example.com/landing"}),
		c.link(shortline.CreateLink{OriginalURL: "https://shop.example.com/", TrackConversions: shortline.Set(true)})
	keys := theirKeys(t, attackKey)
	one, verdict := keys.ParseID(p.clicked(shop.Slug))
	if verdict != conversion.Accepted {
		t.Fatal(verdict)
	}
	v := startVisits(p.Addr, 4, u.Slug, "")
	var sold atomic.Int64
	accepted := make(chan []string)
	go func() {
		var all []string
		for tag := uint64(1); ; {
			var items []shortline.ConversionItem
			var ids []string
			for range 20 {
				tag++
				text, _ := conversion.ClickID{Link: one.Link, Time: one.Time, Tag: tag}.Append(nil, keys)
				ids, items = append(ids, string(text)), append(items, shortline.ConversionItem{ClickID: string(text), Name: "purchase"})
			}
			if _, err := c.Conversions.Send(context.Background(), shortline.ConversionItems{Items: items}); err != nil {
				accepted <- all
				return
			}
			all = append(all, ids...)
			sold.Store(int64(len(all)))
		}
	}()
	testkit.Eventually(t, "a thousand clicks and conversions", func() bool { return v.count() >= 1000 && sold.Load() >= 1000 })
	p.Kill()
	v.stop()
	clicks, conversions := v.answered(), <-accepted

	r := restored(p, p.backedUp(), settings...)
	rc := r.Login()
	testkit.Eventually(t, "every click that was answered is counted", func() bool { return rc.reportTotal(u.ID) >= int64(len(clicks)) })
	testkit.Eventually(t, "all accepted conversions are stored", func() bool {
		goals, err := rc.Conversions.Goals(t.Context(), shop.ID, shortline.ListGoalsParams{})
		testkit.Must(t, err)
		return len(goals.Data) == 1 && goals.Data[0].Conversions >= len(conversions)
	})
	r.Stop()
	stored := storedIDs(t, filepath.Join(r.Dir, "clicks.duckdb"))
	delete(stored, "") // the visit of the shop
	if missing, twice := compare(clicks, stored); missing != 0 || twice != 0 {
		t.Errorf("of %d clicks, %d are missing and %d are stored twice", len(clicks), missing, twice)
	}
	have := map[string]int{}
	for _, s := range storedConversions(t, r.Dir, keys) {
		have[s.Click]++
	}
	for _, id := range conversions {
		if have[id] != 1 {
			t.Fatalf("an accepted conversion is stored %d times", have[id])
		}
	}
	// A folder without data cannot be backed up.
	empty := &program{t: t, Dir: t.TempDir()}
	if out, err := empty.backUp(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Errorf("backup of a folder without data: %s", out)
	}
}
