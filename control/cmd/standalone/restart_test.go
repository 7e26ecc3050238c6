package main_test

import (
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	shortline "github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// A program that ends or is killed starts again with everything in its folder, which other users cannot read.
func TestRestart_keeps_links_sessions_clicks_and_secrets(t *testing.T) {
	t.Parallel()
	p := start(t)
	c := p.Login()
	u := c.link(shortline.CreateLink{OriginalURL: "https://example.com/kept"})
	if status, to := p.follow(u.Slug, visitor); status != 302 || to != "https://example.com/kept" {
		t.Fatalf("created: %d %s", status, to)
	}
	testkit.Eventually(t, "the click is in the report", func() bool { return c.reportTotal(u.ID) == 1 })
	for _, how := range []struct {
		name string
		end  func()
	}{{"stop", p.Stop}, {"kill", p.Kill}} {
		how.end()
		p.Start()
		if strings.Contains(p.output.String(), "password  ") {
			t.Error("another password was printed")
		}
		before := c.reportTotal(u.ID)
		if status, to := p.follow(u.Slug, visitor); status != 302 || to != "https://example.com/kept" {
			t.Errorf("after a %s: %d %s", how.name, status, to)
		}
		testkit.Eventually(t, "the next click is counted too", func() bool { return c.reportTotal(u.ID) == before+1 })
	}
	p.Stop()
	err := filepath.WalkDir(p.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && path != p.Dir && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("other users can read %s: %v", path, info.Mode())
		}
		return err
	})
	testkit.Must(t, err)
	p.Start()
	p.Login()
	p.noticesRemovedFile()
}

// noticesRemovedFile checks that the running program isn't ready without its database, because it would lose new data on exit.
func (p *program) noticesRemovedFile() {
	p.t.Helper()
	testkit.Must(p.t, os.Rename(filepath.Join(p.Dir, "shortline.db"), filepath.Join(p.Dir, "away")))
	testkit.Eventually(p.t, "/readyz reports the missing file", func() bool {
		res, err := http.Get("http://" + p.Ops + "/readyz")
		testkit.Must(p.t, err)
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		return err == nil && res.StatusCode == http.StatusServiceUnavailable && strings.Contains(string(text), "shortline.db")
	})
}
