package main_test

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testkit"
)

// The program rejects a used folder that lacks a file, and creates no new file in it. It accepts the folder when the
// file is back.
func TestFolder_that_lost_a_part_is_refused(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.Login()
	p.Stop()
	for _, lost := range []string{"secrets.json", "shortline.db"} {
		path := filepath.Join(p.Dir, lost)
		kept, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for how, lose := range map[string]func() error{
			"deleted": func() error { return os.Remove(path) },
			"emptied": func() error { return os.Truncate(path, 0) },
		} {
			if err := lose(); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(binary)
			cmd.Env = p.env
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "DATA_DIR") || !strings.Contains(string(out), lost+" is missing or empty") {
				t.Errorf("%s %s: %v\n%s", lost, how, err, out)
			}
			if info, err := os.Stat(path); err == nil && info.Size() > 0 {
				t.Errorf("%s %s: the program created a new file", lost, how)
			}
			if err := os.WriteFile(path, kept, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.Start()
	p.Login()
}

// A program whose files were removed is not ready, because it would lose new data on exit.
func TestFolder_removed_file_is_noticed(t *testing.T) {
	t.Parallel()
	p := start(t)
	if err := os.Rename(filepath.Join(p.Dir, "shortline.db"), filepath.Join(p.Dir, "away")); err != nil {
		t.Fatal(err)
	}
	testkit.Within(t, 10*time.Second, "/readyz reports the missing file", func() bool {
		res, err := http.Get("http://" + p.Ops + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		return err == nil && res.StatusCode == http.StatusServiceUnavailable && strings.Contains(string(text), "shortline.db")
	})
}
