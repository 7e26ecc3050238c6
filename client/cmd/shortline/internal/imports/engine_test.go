package imports_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestImport_conflicts(t *testing.T) {
	for _, c := range []struct{ way, first, second, own, other string }{
		{"skip", "created 1 skipped 3", "unchanged 1 skipped 3", "https://example.com/mine", "https://example.com/theirs"},
		{"rename", "created 1 renamed 3", "unchanged 4", "https://example.com/mine", "https://example.com/theirs"},
		{"overwrite", "created 1 updated 2 failed 1", "unchanged 3 failed 1", "https://example.com/own", "https://example.com/other"},
	} {
		t.Run(c.way, func(t *testing.T) {
			w := newWorld(t)
			w.to.links = []map[string]any{{"id": "1", "customSlug": "own", "originalUrl": "https://example.com/mine"},
				{"id": "2", "customSlug": "other", "externalId": "crm:1", "originalUrl": "https://example.com/theirs"}}
			w.to.foreign["foreign"] = true
			s := newShlinkServer(t, shlinkLink("own", ""), shlinkLink("other", ""), shlinkLink("foreign", ""), shlinkLink("free", ""))
			code := strings.Count(c.first, "failed")
			dry := w.run("shlink", "--from", s.URL, "--conflicts", c.way, "--dry-run").want(t, code, c.first)
			if len(w.to.links) != 2 {
				t.Fatal("the dry run has written")
			}
			r := w.run("shlink", "--from", s.URL, "--conflicts", c.way).want(t, code, c.first)
			for i, row := range r.report.Rows {
				if row.Reason != dry.report.Rows[i].Reason {
					t.Errorf("%q, but the dry run says %q", row.Reason, dry.report.Rows[i].Reason)
				}
			}
			if got := w.to.link("own")["originalUrl"]; got != c.own {
				t.Errorf("own leads to %v", got)
			}
			if l := w.to.link("other"); l["originalUrl"] != c.other || l["externalId"] != "crm:1" {
				t.Errorf("other: %v", l)
			}
			w.run("shlink", "--from", s.URL, "--conflicts", c.way).want(t, code, c.second)
		})
	}
}

// Two links of the service that get the same address here are a conflict, too.
func TestImport_same_address_twice(t *testing.T) {
	w := newWorld(t)
	s := newShlinkServer(t, shlinkLink("same", ""), shlinkLink("same", `"shortUrl":"https://second.example/same","domain":"second.example"`))
	for _, args := range [][]string{{"--dry-run"}, nil} {
		r := w.run(append([]string{"shlink", "--from", s.URL}, args...)...).want(t, 0, "created 1 skipped 1")
		if got := r.reason("second.example/same"); got != "skipped: row 1 has the same address" {
			t.Errorf("%q", got)
		}
	}
	w.run("shlink", "--from", s.URL, "--conflicts", "rename").want(t, 0, "renamed 1 unchanged 1")
	w.run("shlink", "--from", s.URL, "--conflicts", "rename").want(t, 0, "unchanged 2")
}

// A run that fails in the middle keeps what is done. The next one goes on there, and its report has the rows of both.
func TestImport_goes_on(t *testing.T) {
	w := newWorld(t)
	var links []map[string]any
	for i := range 2600 {
		links = append(links, shlinkLink(fmt.Sprint("link", i), ""))
	}
	s := newShlinkServer(t, links...)
	w.to.disturb = func(write int) bool { return write == 2 }
	if r := w.run("shlink", "--from", s.URL); r.code != 1 || !strings.Contains(r.err, "1000 links are done") {
		t.Fatalf("exit code %d: %s", r.code, r.err)
	}
	files, err := filepath.Glob(filepath.Join(w.state, "import-*"))
	if err != nil || len(files) < 3 {
		t.Fatalf("%v %v", files, err)
	}
	for _, name := range files {
		at, err := os.Stat(name)
		if err != nil || at.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, at, err)
		}
		text, err := os.ReadFile(name)
		if err != nil || strings.Contains(string(text), token) {
			t.Errorf("%s has the token, or %v", name, err)
		}
	}
	asked := s.asked.Load()
	ctx, interrupt := context.WithCancel(t.Context())
	w.to.answered = func([]map[string]any) { interrupt() } // Ctrl-C while the server answers
	if r := w.runIn(ctx, "shlink", "--from", s.URL); r.code != 130 || !strings.Contains(r.err, "2000 links are done") {
		t.Fatalf("exit code %d: %s", r.code, r.err)
	}
	if len(w.to.links) != 2000 {
		t.Errorf("%d links", len(w.to.links))
	}
	w.to.answered = nil
	w.run("shlink", "--from", s.URL, "--verify", "5").want(t, 0, "created 2600")
	if pages := s.asked.Load() - asked; pages > 810 {
		t.Errorf("%d pages were read again", pages)
	}
	w.run("shlink", "--from", s.URL, "--verify", "0").want(t, 0, "unchanged 2600")
}

// A run that is killed after the server has written a batch, and before it notes that, is followed by one whose report is the same.
func TestImport_killed_after_writing(t *testing.T) {
	w := newWorld(t)
	s := newShlinkServer(t, shlinkLink("one", ""), shlinkLink("two", ""))
	w.to.answered = func([]map[string]any) { // the state as it is at this moment
		files, err := filepath.Glob(filepath.Join(w.state, "import-*.json"))
		if err != nil || len(files) != 1 {
			t.Errorf("%v %v", files, err)
			return
		}
		text, err := os.ReadFile(files[0])
		if err != nil {
			t.Error(err)
		}
		w.kept, w.keptName = text, files[0]
	}
	w.run("shlink", "--from", s.URL).want(t, 0, "created 2")
	w.to.answered = nil
	if err := os.WriteFile(w.keptName, w.kept, 0o600); err != nil {
		t.Fatal(err)
	}
	w.run("shlink", "--from", s.URL).want(t, 0, "created 2")
	w.run("shlink", "--from", s.URL).want(t, 0, "unchanged 2")
}

func TestImport_wrong_usage(t *testing.T) {
	w := newWorld(t)
	for says, args := range map[string][]string{
		"--conflicts must be": {"shlink", "--from", "localhost", "--conflicts", "merge"}, "--from must have": {"kutt"},
		"--report has no effect": {"bitly", "--file", "links.csv", "--report", "rows.csv"}, "must not contain a password": {"kutt", "--from", "https://a:b@x"},
		"the workspace has no domain": {"yourls", "--file", "missing.sql", "--domain", "other.example"},
	} {
		if r := w.run(args...); r.code != 2 || !strings.Contains(r.err, says) {
			t.Errorf("%v: exit code %d: %s", args, r.code, r.err)
		}
	}
}

func TestImport_report_has_all_rows(t *testing.T) {
	w := newWorld(t)
	s := newShlinkServer(t, shlinkLink("one", `"longUrl":"=1+1"`), shlinkLink("ab", ""))
	name := filepath.Join(t.TempDir(), "rows.csv")
	w.run("shlink", "--from", s.URL, "--dry-run", "--report", name).want(t, 1, "created 1 failed 1")
	text, err := os.ReadFile(name)
	if err != nil || !strings.Contains(string(text), "'=1+1") || !strings.Contains(string(text), "must have 3 to 50 characters") ||
		strings.Count(string(text), "\n") != 3 {
		t.Errorf("%s %v", text, err)
	}
}
