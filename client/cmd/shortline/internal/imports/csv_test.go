package imports_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
)

// importer is a Shortline that imports files. It notes what it was asked to do.
type importer struct {
	file, name string
	plan       map[string]any
	calls      []string
	dates      string // how the server reads the dates, in its answer to a dry run; JSON
	looks      int
}

const uploadedFile = `{"id":"im1","name":"links.csv","status":%q,"rows":3,"delimiter":",","columns":[
	{"name":"target","sample":["https://example.com/"],"suggested":"originalUrl"},{"name":"short","sample":["one"],"suggested":"slug"}],
	"progress":{"rows":3,"done":%d,"created":1,"updated":0,"skipped":1,"renamed":0,"failed":1},"createdAt":"2026-01-01T00:00:00.000Z"}`

func (s *importer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	call := r.Method + " " + r.URL.Path
	s.calls = append(s.calls, call)
	body, _ := io.ReadAll(r.Body) // a body that is cut is not what a test expects
	switch call {
	case "POST /api/imports":
		s.file, s.name = string(body), r.URL.Query().Get("name")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, uploadedFile, "MAPPING", 0)
	case "POST /api/imports/im1/dry-run":
		_ = json.Unmarshal(body, &s.plan)
		fmt.Fprintf(w, `{"rows":3,"create":1,"update":0,"skip":1,"rename":0,"errors":1,"warnings":[],"problems":[
			{"row":4,"field":"originalUrl","column":"target","value":"ftp://x","message":"must begin with http:// or https://"}],"dates":%s}`,
			cmp.Or(s.dates, `{"format":"iso","first":[]}`))
	case "POST /api/imports/im1/start":
		_ = json.Unmarshal(body, &s.plan)
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprintf(w, uploadedFile, "RUNNING", 0)
	case "GET /api/imports/im1":
		if s.looks++; s.looks == 1 {
			fmt.Fprintf(w, uploadedFile, "RUNNING", 1)
			return
		}
		fmt.Fprintf(w, uploadedFile, "DONE", 3)
	case "GET /api/imports/im1/problems":
		fmt.Fprint(w, `{"data":[{"row":4,"field":"originalUrl","column":"target","value":"ftp://x","message":"must begin with http:// or https://"}],
			"total":1,"page":1,"pageSize":100,"totalPages":1}`)
	case "DELETE /api/imports/im1":
		w.WriteHeader(http.StatusNoContent)
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"statusCode":404,"message":"There is nothing at this address."}`)
	}
}

func TestCSV_dry_run_and_import(t *testing.T) {
	name := filepath.Join(t.TempDir(), "links.csv")
	const text = "target,short\nhttps://example.com/,one\n"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   []string
		counts map[string]int
		calls  string
	}{
		{[]string{"csv", name, "--dry-run"}, map[string]int{"create": 1, "skip": 1, "fail": 1, "update": 0, "rename": 0},
			"POST /api/imports, POST /api/imports/im1/dry-run, DELETE /api/imports/im1"},
		{[]string{"csv", name, "--column", "title=short", "--conflicts", "rename"}, map[string]int{"created": 1, "skipped": 1, "failed": 1,
			"updated": 0, "renamed": 0}, "POST /api/imports, POST /api/imports/im1/start, GET /api/imports/im1, GET /api/imports/im1, " +
			"GET /api/imports/im1/problems"},
		{[]string{"bitly", "--file", name, "--dry-run"}, map[string]int{"create": 1, "skip": 1, "fail": 1, "update": 0, "rename": 0},
			"POST /api/imports, POST /api/imports/im1/dry-run, DELETE /api/imports/im1"},
	} {
		t.Run(strings.Join(c.args[:1], " "), func(t *testing.T) {
			s := &importer{}
			server := httptest.NewServer(s)
			t.Cleanup(server.Close)
			w := newWorld(t)
			w.to.URL = server.URL
			r := w.run(c.args...)
			if r.code != app.CodeError { // a row has failed
				t.Fatalf("exit code %d: %s%s", r.code, r.out, r.err)
			}
			if s.file != text || s.name != "links.csv" || strings.Join(s.calls, ", ") != c.calls {
				t.Errorf("%q as %q: %s", s.file, s.name, s.calls)
			}
			if fmt.Sprint(r.report.Counts) != fmt.Sprint(c.counts) {
				t.Errorf("%v", r.report.Counts)
			}
			if len(r.report.Rows) != 1 || !strings.Contains(r.out, "must begin with http") {
				t.Errorf("%s", r.out)
			}
			want := "map[originalUrl:target slug:short] skip"
			if slices.Contains(c.args, "rename") {
				want = "map[originalUrl:target slug:short title:short] rename"
			}
			if got := fmt.Sprintf("%v %v", s.plan["mapping"], s.plan["conflicts"]); got != want {
				t.Errorf("plan %s", got)
			}
		})
	}
}

// Dates are read as the flags say, and a dry run shows how.
func TestCSV_dates(t *testing.T) {
	name := filepath.Join(t.TempDir(), "links.csv")
	if err := os.WriteFile(name, []byte("target,made\nhttps://example.com/,03/04/2027\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args        []string
		dates, sent string
		says        string
	}{
		{nil, `{"format":"dayFirst","first":[{"row":2,"field":"createdAt","column":"made","value":"03/04/2027",
			"time":"2027-04-03T00:00:00.000Z"}]}`, "auto UTC", `line 2, made: "03/04/2027" is read as 2027-04-03T00:00:00Z`},
		{nil, `{"format":null,"first":[{"row":2,"field":"createdAt","column":"made","value":"03/04/2027","time":null}]}`, "auto UTC",
			"choose one with --date-format"},
		{[]string{"--date-format", "monthFirst", "--time-zone", "Europe/Paris"}, `{"format":"iso","first":[]}`, "monthFirst Europe/Paris", ""},
	} {
		s := &importer{dates: c.dates}
		server := httptest.NewServer(s)
		t.Cleanup(server.Close)
		w := newWorld(t)
		w.to.URL = server.URL
		r := w.run(append([]string{"csv", name, "--dry-run"}, c.args...)...)
		if got := fmt.Sprintf("%v %v", s.plan["dateFormat"], s.plan["timeZone"]); got != c.sent || !strings.Contains(r.err, c.says) {
			t.Errorf("%s: sent %s, said %s", c.args, got, r.err)
		}
	}
}

func TestCSV_wrong_usage(t *testing.T) {
	w := newWorld(t)
	for says, args := range map[string][]string{
		"no such file":        {"csv", filepath.Join(t.TempDir(), "missing.csv")},
		"--conflicts must be": {"csv", "-", "--conflicts", "merge"},
		"accepts 1 arg":       {"csv"},
	} {
		if r := w.run(args...); r.code != app.CodeUsage || !strings.Contains(r.err, says) {
			t.Errorf("%s: exit code %d: %s", args, r.code, r.err)
		}
	}
}

// A list whose pages lead back to an earlier one ends with an error instead of never.
func TestImport_of_a_list_without_an_end(t *testing.T) {
	for way, next := range map[string]func(page string) string{
		"search_after": func(page string) string {
			return `"next":"x","search_after":"` + map[string]string{"": "b", "b": "c", "c": "b"}[page] + `"`
		},
		"page": func(page string) string { return `"next":"https://x/?page=2"` },
	} {
		w := newWorld(t)
		s := serveJSON(t, func(*http.Request) bool { return true }, func(r *http.Request) string {
			if r.URL.Path == "/v4/groups" {
				return `{"groups":[{"guid":"g"}]}`
			}
			page := r.URL.Query().Get(way)
			return `{"links":[{"id":"bit.ly/x` + page + `","long_url":"https://example.com/"}],"pagination":{` + next(page) + `}}`
		})
		if r := w.run("bitly", "--from", s.URL); r.code != app.CodeError || !strings.Contains(r.err, "repeats the same page") {
			t.Errorf("%s: exit code %d: %s", way, r.code, r.err)
		}
	}
}
