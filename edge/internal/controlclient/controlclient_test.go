package controlclient_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/controlclient"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

const token = "a-token-that-nobody-may-see"

// open starts a control plane that is only the handler, and a client of it.
func open(t *testing.T, h http.HandlerFunc, change func(*controlclient.Config)) (*controlclient.Client, *httptest.Server) {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	cfg := controlclient.Config{URL: srv.URL, Token: token, Hold: 10 * time.Second, Stall: 5 * time.Second}
	if change != nil {
		change(&cfg)
	}
	c, err := controlclient.New(cfg)
	testkit.Must(t, err)
	t.Cleanup(c.Close)
	return c, srv
}

func TestClient_speaks_the_protocol(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var reported snapshot.Status
	answer := http.StatusOK
	c, _ := open(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if got := r.Header.Get("Authorization"); got != "Bearer "+token {
			t.Errorf("Authorization %q", got)
		}
		switch r.Method + " " + r.URL.String() {
		case "GET /edge/v1/snapshot":
			io.WriteString(w, "a document")
		case "GET /edge/v1/changes?after=7&incarnation=18446744073709551615":
			w.WriteHeader(answer)
			if answer == http.StatusOK {
				io.WriteString(w, "a delta")
			}
		case "POST /edge/v1/status":
			if err := json.NewDecoder(r.Body).Decode(&reported); err != nil {
				t.Error(err)
			}
			w.WriteHeader(http.StatusNoContent)
		default:
			t.Errorf("%s %s", r.Method, r.URL)
		}
	}, nil)
	ctx := t.Context()
	doc, err := c.Snapshot(ctx)
	testkit.Must(t, err)
	if b, err := io.ReadAll(doc); string(b) != "a document" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	if err := doc.Close(); err != nil {
		t.Error(err)
	}
	after := snapshot.Cursor{Incarnation: 1<<64 - 1, Revision: 7}
	if b, err := c.Changes(ctx, after); string(b) != "a delta" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	answer = http.StatusNoContent
	if b, err := c.Changes(ctx, after); b != nil || err != nil {
		t.Errorf("no news: %q, %v", b, err)
	}
	answer = http.StatusGone
	if _, err := c.Changes(ctx, after); !errors.Is(err, snapshot.ErrTooOld) {
		t.Errorf("too old: %v", err)
	}
	st := snapshot.Status{Edge: "e", Cursor: after, SetAside: []string{"x"}}
	st.Spool.Pending = 5
	if _, err := c.Report(ctx, st); err != nil || !reflect.DeepEqual(reported, st) {
		t.Errorf("%+v, %v", reported, err)
	}
}

// Every bad response of the control plane becomes an error that names it and does not contain the token.
func TestClient_refusals(t *testing.T) {
	t.Parallel()
	for _, code := range []int{http.StatusUnauthorized, http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusFound,
		http.StatusNotFound, http.StatusPartialContent} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			t.Parallel()
			elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				t.Error("a redirect was followed")
			}))
			defer elsewhere.Close()
			c, _ := open(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Location", elsewhere.URL)
				w.Header().Set("Retry-After", "3")
				w.WriteHeader(code)
				io.WriteString(w, strings.Repeat("not now ", 1000))
			}, nil)
			_, snapshotErr := c.Snapshot(t.Context())
			_, changesErr := c.Changes(t.Context(), snapshot.Cursor{})
			errs := []error{snapshotErr, changesErr}
			if code/100 != 2 {
				_, err := c.Report(t.Context(), snapshot.Status{})
				errs = append(errs, err)
			}
			for _, err := range errs {
				if err == nil || !strings.Contains(err.Error(), fmt.Sprint(code)) || strings.Contains(err.Error(), token) ||
					len(err.Error()) > 400 {
					t.Errorf("%v", err)
				}
			}
		})
	}
}

func TestConfig_names_every_problem(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "control", "ftp://x", "https://me:secret@x", "https://x?y"} {
		_, err := controlclient.New(controlclient.Config{URL: url, Token: "with spaces", Stall: -1})
		for _, want := range []string{"CONTROL_URL", "EDGE_TOKEN", "stall"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v says nothing of %s", url, err, want)
			}
		}
		if strings.Contains(fmt.Sprint(err), "secret") || strings.Contains(fmt.Sprint(err), "with spaces") {
			t.Errorf("%v tells a secret", err)
		}
	}
}

// cut serves a document whose connection breaks after so many bytes of each answer.
func cut(doc []byte, tag func(answers int) string, after int) http.HandlerFunc {
	var mu sync.Mutex
	answers := 0
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		w.Header().Set("ETag", tag(answers))
		answers++
		mu.Unlock()
		http.ServeContent(&cutting{w, after}, r, "", time.Time{}, bytes.NewReader(doc))
	}
}

type cutting struct {
	http.ResponseWriter
	left int
}

func (c *cutting) Write(b []byte) (int, error) {
	if len(b) > c.left {
		c.ResponseWriter.Write(b[:c.left])
		http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	c.left -= len(b)
	return c.ResponseWriter.Write(b)
}

func TestSnapshot_is_resumed(t *testing.T) {
	t.Parallel()
	doc := make([]byte, 400_000)
	for i := range doc {
		doc[i] = byte(i * i >> 7)
	}
	same := func(int) string { return `"one"` }
	for name, q := range map[string]struct {
		tag   func(int) string
		after int
		whole bool
	}{
		"whole":                 {same, 1 << 30, true},
		"broken thrice":         {same, 101_000, true},
		"broken too often":      {same, 10_000, false},
		"another one meanwhile": {func(n int) string { return fmt.Sprintf(`"%d"`, n) }, 101_000, false},
		"without a tag":         {func(int) string { return "" }, 101_000, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := open(t, cut(doc, q.tag, q.after), nil)
			r, err := c.Snapshot(t.Context())
			testkit.Must(t, err)
			defer r.Close()
			got, err := io.ReadAll(r)
			switch {
			case q.whole && (err != nil || !bytes.Equal(got, doc)):
				t.Errorf("%d bytes, %v", len(got), err)
			case !q.whole && err == nil:
				t.Errorf("%d bytes of %d without an error", len(got), len(doc))
			case !bytes.HasPrefix(doc, got):
				t.Error("other bytes than the document's")
			}
		})
	}
}

// A control plane that falls silent is given up, before its answer and within it.
func TestClient_silence(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	t.Cleanup(func() { close(over) }) // before the server closes, which waits for handlers
	hang := func(begin bool) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if begin {
				w.Header().Set("Content-Length", "1000")
				io.WriteString(w, "begins")
				http.NewResponseController(w).Flush()
			}
			select {
			case <-r.Context().Done():
			case <-over:
			}
		}
	}
	short := func(cfg *controlclient.Config) { cfg.Hold, cfg.Stall = 100*time.Millisecond, 100*time.Millisecond }
	for name, begin := range map[string]bool{"before": false, "within": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := open(t, hang(begin), short)
			began := time.Now()
			if _, err := c.Changes(t.Context(), snapshot.Cursor{}); err == nil {
				t.Error("changes came")
			}
			if r, err := c.Snapshot(t.Context()); err == nil {
				if b, err := io.ReadAll(r); err == nil {
					t.Errorf("a document of %d bytes", len(b))
				}
				r.Close()
			}
			testkit.Within(t, 8*time.Second, began, "giving up twice")
			patient, _ := open(t, hang(begin), nil)
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if _, err := patient.Changes(ctx, snapshot.Cursor{}); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("given up: %v", err)
			}
		})
	}
}
