package screening_test

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/manage/screening"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func newService(s screening.Settings) *screening.Service {
	return screening.New(screening.Config{Settings: s, Logger: slog.New(slog.DiscardHandler), Every: 50 * time.Millisecond})
}

// A file is read again when it changes. A file that is gone or damaged keeps the last list.
func TestService_reloads_a_file(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "blocked")
	write := func(text string) {
		next := path + ".next"
		testkit.Must(t, errors.Join(os.WriteFile(next, []byte(text), 0o600), os.Rename(next, path)))
	}
	s := newService(screening.Settings{Blocked: path})
	if s.ListKnown() || s.Blocks("evil.example") {
		t.Error("the list is known before it was read")
	}
	testkit.Run(t, s.Run)
	write("evil.example\n")
	testkit.Eventually(t, "the file is read", func() bool { return s.Blocks("www.evil.example") })
	write("other.example\nmore.example\n")
	testkit.Eventually(t, "the change is read", func() bool { return s.Blocks("other.example") && !s.Blocks("evil.example") })
	write("")
	if s.Reload(t.Context()) == nil || !s.Blocks("other.example") {
		t.Error("an empty file emptied the list")
	}
	testkit.Must(t, os.Remove(path))
	if s.Reload(t.Context()) == nil || !s.Blocks("other.example") {
		t.Error("a missing file emptied the list")
	}
	write("# nothing\n")
	testkit.Eventually(t, "an emptied list is read", func() bool { return s.Hosts().Len() == 0 })
}

// An address is asked with the ETag of the last list, and a failure keeps the list.
func TestService_reloads_an_address(t *testing.T) {
	t.Parallel()
	var text, status atomic.Value
	text.Store("evil.example\n")
	status.Store(200)
	var unchanged atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tag := `"` + strings.TrimSpace(text.Load().(string)) + `"`
		if status.Load().(int) != 200 {
			http.Error(w, "<html>no</html>", status.Load().(int))
			return
		}
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			unchanged.Add(1)
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, text.Load().(string))
	}))
	t.Cleanup(server.Close)
	s := newService(screening.Settings{Blocked: server.URL + "/list"})
	reload := func(want bool, blocked string) {
		t.Helper()
		if got := s.Reload(t.Context()) == nil; got != want || !s.Blocks(blocked) {
			t.Errorf("reloaded %v, want %v; blocks %s: %v", got, want, blocked, s.Blocks(blocked))
		}
	}
	reload(true, "evil.example")
	reload(true, "evil.example")
	if unchanged.Load() != 1 {
		t.Errorf("%d answers without content", unchanged.Load())
	}
	status.Store(500)
	reload(false, "evil.example")
	status.Store(200)
	text.Store("other.example\n")
	reload(true, "other.example")
	text.Store("<html>\n<body>\nan error that is answered with 200\n" + strings.Repeat("</p>\n", 20))
	reload(false, "other.example")
}

// checker is a check service.
type checker struct {
	*httptest.Server
	mu     sync.Mutex
	asked  []map[string]string
	answer func(w http.ResponseWriter, url string)
}

func newChecker(t *testing.T) *checker {
	c := &checker{answer: func(w http.ResponseWriter, url string) {
		if strings.Contains(url, "evil") {
			_, _ = io.WriteString(w, `{"verdict":"block","reason":"known\nphishing"}`)
			return
		}
		_, _ = io.WriteString(w, `{"verdict":"allow","more":1}`)
	}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q map[string]string
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || r.Method != "POST" || r.Header.Get("Authorization") != "Bearer s3cret" {
			http.Error(w, "bad question", 400)
			return
		}
		c.mu.Lock()
		c.asked = append(c.asked, q)
		c.mu.Unlock()
		c.answer(w, q["url"])
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *checker) questions() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.asked)
}

func TestService_Screen(t *testing.T) {
	t.Parallel()
	c := newChecker(t)
	s := newService(screening.Settings{CheckURL: c.URL, Token: config.Secret("s3cret")})
	got, err := s.Screen(t.Context(), []string{"https://good.example/x", "https://evil.example/y", "https://good.example/x",
		"https://evil.example/y"})
	if err != nil || got[0] != "" || got[2] != "" || !strings.HasSuffix(got[1], "refuses: known phishing") || got[3] != got[1] {
		t.Errorf("%q, %v", got, err)
	}
	if len(c.asked) != 2 {
		t.Errorf("asked %d times about 2 destinations", len(c.asked))
	}
	for _, q := range c.asked {
		if q["occasion"] != "CHANGE" || q["host"] != strings.Split(q["url"], "/")[2] {
			t.Errorf("%v", q)
		}
	}
}

// While the check service fails, in whatever way, destinations are allowed, or refused with 503 if the check is required.
// After some failures nobody waits for it any more.
func TestService_Screen_without_answers(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	for name, answer := range map[string]func(w http.ResponseWriter, url string){
		"an error":      func(w http.ResponseWriter, _ string) { http.Error(w, "no", 500) },
		"no JSON":       func(w http.ResponseWriter, _ string) { _, _ = io.WriteString(w, "allow") },
		"no verdict":    func(w http.ResponseWriter, _ string) { _, _ = io.WriteString(w, `{"verdict":"maybe"}`) },
		"a huge answer": func(w http.ResponseWriter, _ string) { _, _ = io.WriteString(w, strings.Repeat(" ", 1<<20)) },
		"a redirect":    func(w http.ResponseWriter, _ string) { w.Header().Set("Location", "/"); w.WriteHeader(302) },
		"no answer":     func(http.ResponseWriter, string) { <-over },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newChecker(t)
			c.answer = answer
			if name == "no answer" {
				t.Cleanup(func() { close(over) }) // before the server closes, which waits for its handlers
			}
			for _, required := range []bool{false, true} {
				s := newService(screening.Settings{CheckURL: c.URL, Token: "s3cret", Required: required, Timeout: 100 * time.Millisecond})
				var p *problem.Error
				for range 3 {
					problems, err := s.Screen(t.Context(), []string{"https://evil.example"})
					if required && (!errors.As(err, &p) || p.Kind != problem.Unavailable) || !required &&
						(err != nil || problems[0] != "") {
						t.Errorf("required %v: %q, %v", required, problems, err)
					}
				}
				asked := c.questions()
				_, _ = s.Screen(t.Context(), []string{"https://evil.example"})
				if n := c.questions() - asked; n > 0 {
					t.Errorf("after several failures, the service is asked %d times", n)
				}
			}
		})
	}
}

func TestSettings_Validate(t *testing.T) {
	t.Parallel()
	good := []screening.Settings{{}, {Blocked: "/etc/blocked"},
		{Blocked: "https://lists.example/hosts", CheckURL: "http://127.0.0.1:9/check",
			Required: true, Timeout: time.Second}}
	for _, s := range good {
		if err := s.Validate(); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
	}
	for _, s := range []screening.Settings{{Blocked: "ftp://x/y"}, {CheckURL: "check.example"}, {Required: true}, {Timeout: time.Minute},
		{Rate: -1}, {Token: "a b"}} {
		if s.Validate() == nil {
			t.Errorf("%+v is accepted", s)
		}
	}
}
