package main

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
)

const sample = `{"Action":"start","Package":"github.com/shortline/shortline/shared/a"}
{"Action":"run","Package":"github.com/shortline/shortline/shared/a","Test":"TestGood"}
{"Action":"output","Package":"github.com/shortline/shortline/shared/a","Test":"TestGood","Output":"    a_test.go:1: not interesting\n"}
{"Action":"pass","Package":"github.com/shortline/shortline/shared/a","Test":"TestGood","Elapsed":1.5}
{"Action":"run","Package":"github.com/shortline/shortline/shared/a","Test":"TestBad"}
{"Action":"run","Package":"github.com/shortline/shortline/shared/a","Test":"TestBad/part"}
{"Action":"output","Package":"github.com/shortline/shortline/shared/a","Test":"TestBad/part","Output":"{\"level\":\"INFO\",\"msg\":\"a log line\"}\n"}
{"Action":"output","Package":"github.com/shortline/shortline/shared/a","Test":"TestBad/part","Output":"    a_test.go:7: got 1, want 2\n"}
{"Action":"output","Package":"github.com/shortline/shortline/shared/a","Test":"TestBad/part","Output":"        the second line of the message\n"}
{"Action":"fail","Package":"github.com/shortline/shortline/shared/a","Test":"TestBad/part","Elapsed":0.1}
{"Action":"fail","Package":"github.com/shortline/shortline/shared/a","Test":"TestBad","Elapsed":0.2}
{"Action":"skip","Package":"github.com/shortline/shortline/shared/a","Test":"TestSkipped","Elapsed":0}
{"Action":"output","Package":"github.com/shortline/shortline/shared/a","Output":"FAIL\n"}
{"Action":"fail","Package":"github.com/shortline/shortline/shared/a","Elapsed":2}
{"ImportPath":"github.com/shortline/shortline/shared/b [github.com/shortline/shortline/shared/b.test]","Action":"build-output","Output":"b/b_test.go:3:1: undefined: x\n"}
{"Action":"fail","Package":"github.com/shortline/shortline/shared/b","Elapsed":0}
{"Action":"output","Package":"github.com/shortline/shortline/shared/c","Output":"ok  \tgithub.com/shortline/shortline/shared/c\t(cached)\n"}
{"Action":"pass","Package":"github.com/shortline/shortline/shared/c","Elapsed":0.0}
{"Action":"run","Package":"github.com/shortline/shortline/shared/d","Test":"TestCrash"}
{"Action":"output","Package":"github.com/shortline/shortline/shared/d","Test":"TestCrash","Output":"panic: BUG: broken\n"}
{"Action":"fail","Package":"github.com/shortline/shortline/shared/d","Test":"TestCrash","Elapsed":0.1}
{"Action":"fail","Package":"github.com/shortline/shortline/shared/d","Elapsed":0.1}
`

func TestResults(t *testing.T) {
	t.Parallel()
	r := &results{raw: io.Discard}
	testkit.Must(t, r.readEvents(strings.NewReader(sample)))
	if passed, failed, skipped := r.counts(); passed != 1 || failed != 2 || skipped != 1 {
		t.Errorf("%d passed, %d failed, %d skipped", passed, failed, skipped)
	}
	if i := slices.IndexFunc(r.packages, func(o outcome) bool { return o.Cached }); i < 0 || short(r.packages[i].Package) != "shared/c" {
		t.Errorf("the cached package was not recognised: %+v", r.packages)
	}
	text := strings.Join(r.failures(), "\n\n")
	want := `FAIL shared/a TestBad/part (0.1s)
    a_test.go:7: got 1, want 2
    the second line of the message

FAIL shared/d TestCrash (0.1s)
    panic: BUG: broken

FAIL shared/b
    b/b_test.go:3:1: undefined: x`
	if text != want {
		t.Errorf("got:\n%s\nwant:\n%s", text, want)
	}
}

func TestAffected(t *testing.T) {
	t.Parallel()
	g := &importGraph{
		folder: map[string]string{"p/a": "shared/a", "p/a/b": "shared/a/b", "p/c": "control/c", "p/docs": "test/docs"},
		deps:   map[string][]string{"p/a": {"p/a"}, "p/a/b": {"p/a/b"}, "p/c": {"p/c", "p/a"}, "p/docs": {"p/docs"}},
		source: map[string][]string{"p/docs": {"docs", "README.md"}},
	}
	for _, c := range []struct{ file, want string }{
		{"shared/a/x.go", "p/a p/c"},
		{"shared/a/testdata/golden.txt", "p/a p/c"},
		{"shared/a/b/x_test.go", "p/a/b"},
		{"docs/developers/page.md", "p/docs"},
		{"README.md", "p/docs"},
		{"LICENSE", ""},
	} {
		if got := strings.Join(g.affected([]string{c.file}), " "); got != c.want {
			t.Errorf("%s affects %q, want %q", c.file, got, c.want)
		}
	}
}

func TestFitting_leaves_the_slowest(t *testing.T) {
	t.Parallel()
	ts := &times{Seconds: map[string]float64{"a": 10, "b": 300, "c": 100, "d": 0}}
	chosen, left := ts.fitting([]string{"a", "b", "c", "d"}, 110)
	if strings.Join(chosen, " ") != "c a d" || strings.Join(left, " ") != "b" {
		t.Errorf("chosen %v, left %v", chosen, left)
	}
}

func TestModuleOf(t *testing.T) {
	t.Parallel()
	for pkg, want := range map[string]string{
		"control/internal/api": "control", "control/cmd/standalone": "control/cmd/standalone", "control/cmd/control": "control",
		"test/harness/e2e": "test/harness",
	} {
		if got := moduleOf(project + pkg).dir; got != want {
			t.Errorf("%s is in %q, want %q", pkg, got, want)
		}
	}
}

func TestPublished(t *testing.T) {
	t.Parallel()
	var c countReader
	c.text.WriteString("=== RUN TestG01\n    g01_test.go:70: proved G1: 30 kills, 0 lost\n    g01_test.go:71: something else\n")
	if got := c.lines(); !slices.Equal(got, []string{"G1: 30 kills, 0 lost"}) {
		t.Errorf("%q", got)
	}
}

func TestSeconds(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{1500 * time.Millisecond: "1.5s", 61 * time.Second: "1m01s", 25*time.Minute + 3*
		time.Second: "25m03s"} {
		if got := seconds(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

// A test that reads a file outside its module names it with testkit.Source. Otherwise, Go's test cache does not notice that
// the file has changed, and reports an old result.
func TestFiles_outside_a_module_are_named(t *testing.T) {
	t.Parallel()
	outside := regexp.MustCompile(`["` + "`" + `]((\.\./)+)[a-zA-Z.]`)
	root := testkit.Source(t, "")
	for _, m := range modules {
		dir := filepath.Join(root, m.dir)
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") || moduleOf(project+slash(root, filepath.Dir(path))).dir != m.dir {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			up := strings.Count(slash(dir, path), "/")
			for i, line := range strings.Split(string(text), "\n") {
				for _, found := range outside.FindAllStringSubmatch(line, -1) {
					if strings.Count(found[1], "../") > up && !strings.Contains(line, "etc/passwd") {
						t.Errorf("%s:%d reads a file outside its module; use testkit.Source: %s", slash(root, path), i+1,
							strings.TrimSpace(line))
					}
				}
			}
			return nil
		})
		testkit.Must(t, err)
	}
}

func slash(base, path string) string {
	name, err := filepath.Rel(base, path)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return filepath.ToSlash(name)
}
