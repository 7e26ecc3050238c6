package edgeapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/shortline/shortline/control/internal/fleet/edgeapi"
	"github.com/shortline/shortline/control/internal/fleet/presence"
	"github.com/shortline/shortline/control/internal/fleet/publish"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

const (
	token  = "the-first-token-of-edges"
	second = "another-token-of-edges"
)

// world is a store and a publisher behind the server under test.
type world struct {
	*testing.T
	store *store.Store
	pub   *publish.Publisher
	url   string
	log   bytes.Buffer
}

func newWorld(t *testing.T, cfg edgeapi.Config) *world {
	t.Helper()
	w := &world{T: t, store: storetest.Open(t)}
	w.pub = publish.New(w.store, publish.Config{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	testkit.Must(t, w.store.Tx(t.Context(), func(tx *store.Tx) error {
		_, err := tx.InsertUser(t.Context(), store.User{ID: "user", Email: "a", Role: "USER", Active: true})
		return err
	}))
	w.url = w.serve(cfg, edgeapi.Deps{Links: w.pub, Reports: presence.New(presence.Config{}, w.store)})
	return w
}

func (w *world) serve(cfg edgeapi.Config, deps edgeapi.Deps) string {
	w.Helper()
	cfg.Tokens = []string{token, second}
	cfg.Logger = slog.New(slog.NewTextHandler(&w.log, nil))
	h, err := edgeapi.New(cfg, deps)
	testkit.Must(w, err)
	srv := httptest.NewServer(h)
	w.Cleanup(srv.Close)
	return srv.URL
}

func (w *world) create(slug string) {
	w.Helper()
	u := store.Link{ID: store.NewID(), UserID: "user", Slug: slug, Active: true, OriginalURL: "https://example.com/" + slug}
	testkit.Must(w, w.store.Tx(w.Context(), func(tx *store.Tx) error {
		if err := tx.InsertLinks(w.Context(), []*store.Link{&u}); err != nil {
			return err
		}
		return tx.Touch(w.Context(), u.Num, u.Slug)
	}))
}

// call makes one request with additional headers, given in pairs, and returns the response and its body.
func (w *world) call(method, url, body string, header ...string) (*http.Response, []byte) {
	w.Helper()
	req, err := http.NewRequestWithContext(w.Context(), method, url, strings.NewReader(body))
	testkit.Must(w, err)
	req.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	testkit.Must(w, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	testkit.Must(w, err)
	return res, b
}

func (w *world) changes(after snapshot.Cursor) (*http.Response, []byte) {
	w.Helper()
	return w.call("GET", fmt.Sprintf("%s/edge/v1/changes?incarnation=%d&after=%d", w.url, after.Incarnation, after.Revision), "")
}

func TestServer_snapshot_then_changes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, edgeapi.Config{Hold: 20 * time.Second})
	for i := range 30 {
		w.create(fmt.Sprintf("slug%d", i))
	}
	res, doc := w.call("GET", w.url+"/edge/v1/snapshot", "")
	if res.StatusCode != 200 || res.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%s %v", res.Status, res.Header)
	}
	slugs := map[string]bool{}
	cur, err := snapshot.Decode(bytes.NewReader(doc), snapshot.Limits{}, func(r *link.Record) error {
		slugs[r.Key] = true
		return nil
	})
	if err != nil || len(slugs) != 30 {
		t.Fatalf("%d links, %v", len(slugs), err)
	}

	// A range of the same document.
	tag := res.Header.Get("ETag")
	res, rest := w.call("GET", w.url+"/edge/v1/snapshot", "", "Range", "bytes=100-", "If-Range", tag)
	if res.StatusCode != http.StatusPartialContent || !bytes.Equal(rest, doc[100:]) {
		t.Errorf("a part: %s, %d bytes", res.Status, len(rest))
	}
	res, rest = w.call("GET", w.url+"/edge/v1/snapshot", "", "Range", "bytes=100-", "If-Range", `"other"`)
	if res.StatusCode != http.StatusOK || !bytes.Equal(rest, doc) {
		t.Errorf("a part of another document: %s, %d bytes", res.Status, len(rest))
	}

	// A request for changes is held until there is a change.
	type answer struct {
		res  *http.Response
		wire []byte
	}
	news := make(chan answer, 1)
	go func() {
		res, wire := w.changes(cur)
		news <- answer{res, wire}
	}()
	w.create("news")
	a := <-news
	d, err := snapshot.DecodeDelta(a.wire)
	if err != nil || a.res.StatusCode != 200 || len(d.Upserts) != 1 || d.Upserts[0].Key != "news" || d.From != cur.Revision {
		t.Errorf("%s %+v %v", a.res.Status, d, err)
	}

	if res, _ := w.changes(snapshot.Cursor{Incarnation: cur.Incarnation + 1, Revision: 1}); res.StatusCode != http.StatusGone {
		t.Errorf("another incarnation: %s", res.Status)
	}
	for _, query := range []string{"", "?incarnation=1", "?after=1", "?incarnation=x&after=1", "?incarnation=1&after=-1"} {
		if res, _ := w.call("GET", w.url+"/edge/v1/changes"+query, ""); res.StatusCode != http.StatusBadRequest {
			t.Errorf("%q: %s", query, res.Status)
		}
	}
}

func TestServer_no_news(t *testing.T) {
	t.Parallel()
	w := newWorld(t, edgeapi.Config{Hold: 10 * time.Millisecond})
	w.create("one")
	incarnation, head, err := w.store.Head(t.Context())
	testkit.Must(t, err)
	if res, b := w.changes(snapshot.Cursor{Incarnation: incarnation, Revision: head}); res.StatusCode != http.StatusNoContent ||
		len(b) != 0 {
		t.Errorf("%s, %d bytes", res.Status, len(b))
	}
}

func TestServer_status(t *testing.T) {
	t.Parallel()
	w := newWorld(t, edgeapi.Config{})
	st := snapshot.Status{Edge: "edge-1", Links: 7, Cursor: snapshot.Cursor{Incarnation: 1<<64 - 1, Revision: 3}}
	body, err := json.Marshal(st)
	testkit.Must(t, err)
	if res, b := w.call("POST", w.url+"/edge/v1/status", string(body)); res.StatusCode != http.StatusNoContent {
		t.Errorf("%s %s", res.Status, b)
	}
	list, err := w.store.EdgeReports(t.Context(), 0)
	if err != nil || len(list) != 1 || list[0].Status != string(body) {
		t.Errorf("%+v, %v", list, err)
	}
	for _, bad := range []string{"", "[]", "{}", `{"edge":"` + strings.Repeat("x", 65) + `"}`, `{"edge":"` + strings.Repeat("x", 300_000),
		`{"edge":"e","setAside":["` + strings.Repeat(`x","`, 100) + `"]}`} {
		if res, _ := w.call("POST", w.url+"/edge/v1/status", bad); res.StatusCode != http.StatusBadRequest {
			t.Errorf("%.40s: %s", bad, res.Status)
		}
	}
}

func TestServer_requires_a_token(t *testing.T) {
	t.Parallel()
	w := newWorld(t, edgeapi.Config{})
	for _, path := range []string{"snapshot", "changes?incarnation=1&after=1", "status", "nothing"} {
		for header, want := range map[string]int{
			"": 401, "Bearer": 401, "Bearer ": 401, token: 401, "Basic " + token: 401, "Bearer " + token[:len(token)-1]: 401,
			"Bearer " + token + "x": 401,
			"Bearer  " + token:      401, "Bearer " + second: 0, "bearer " + token: 0,
		} {
			method := "GET"
			if path == "status" {
				method = "POST"
			}
			res, b := w.call(method, w.url+"/edge/v1/"+path, "", "Authorization", header)
			if (res.StatusCode == 401) != (want == 401) {
				t.Errorf("%s with %q: %s", path, header, res.Status)
			}
			if bytes.Contains(b, []byte(token)) {
				t.Errorf("the answer of %s contains the token", path)
			}
		}
	}
	if strings.Contains(w.log.String(), token) {
		t.Error("the log contains a token")
	}
}

func TestConfig_names_every_problem(t *testing.T) {
	t.Parallel()
	_, err := edgeapi.New(edgeapi.Config{Tokens: []string{"too-short", strings.Repeat("with spaces ", 3)}, Senders: -1}, edgeapi.Deps{})
	for _, want := range []string{"token 1", "token 2", "senders"} {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "too-short") {
			t.Errorf("%v does not name %q, or contains a token", err, want)
		}
	}
	if _, err := edgeapi.New(edgeapi.Config{}, edgeapi.Deps{}); err == nil {
		t.Error("a configuration without tokens is accepted")
	}
}

// source is a snapshot.Source made of functions.
type source struct {
	open    func() (io.ReadCloser, error)
	changes func(context.Context) ([]byte, error)
}

func (s source) Snapshot(context.Context) (io.ReadCloser, error) { return s.open() }
func (s source) Changes(ctx context.Context, _ snapshot.Cursor) ([]byte, error) {
	return s.changes(ctx)
}

// The number of snapshots that are sent at a time is limited; further requests get 429.
func TestServer_too_many_snapshots(t *testing.T) {
	t.Parallel()
	w := &world{T: t}
	slow, begun := make(chan struct{}), make(chan struct{}, 2)
	w.url = w.serve(edgeapi.Config{Senders: 2}, edgeapi.Deps{Links: source{open: func() (io.ReadCloser, error) {
		begun <- struct{}{}
		<-slow
		return io.NopCloser(strings.NewReader("a document")), nil
	}}})
	var sending sync.WaitGroup
	for range 2 {
		sending.Go(func() {
			if res, b := w.call("GET", w.url+"/edge/v1/snapshot", ""); res.StatusCode != 200 || string(b) != "a document" {
				t.Errorf("%s %s", res.Status, b)
			}
		})
		<-begun
	}
	res, _ := w.call("GET", w.url+"/edge/v1/snapshot", "")
	if res.StatusCode != http.StatusTooManyRequests || res.Header.Get("Retry-After") == "" {
		t.Errorf("%s %v", res.Status, res.Header)
	}
	close(slow)
	sending.Wait()
	if res, _ := w.call("GET", w.url+"/edge/v1/snapshot", ""); res.StatusCode != 200 {
		t.Errorf("afterwards: %s", res.Status)
	}
}

// An answer does not contain the error of a source. A source that does not answer is not awaited longer than Hold. An edge
// that disconnects frees its slot.
func TestServer_sources_that_fail(t *testing.T) {
	t.Parallel()
	w := &world{T: t}
	broken := errors.New("password of the database")
	w.url = w.serve(edgeapi.Config{}, edgeapi.Deps{Links: source{
		open:    func() (io.ReadCloser, error) { return nil, broken },
		changes: func(context.Context) ([]byte, error) { return nil, broken },
	}})
	for _, path := range []string{"snapshot", "changes?incarnation=1&after=1"} {
		res, b := w.call("GET", w.url+"/edge/v1/"+path, "")
		if res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" ||
			strings.Contains(string(b), "password") {
			t.Errorf("%s: %s %s", path, res.Status, b)
		}
	}
	silent := source{changes: func(ctx context.Context) ([]byte, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	w.url = w.serve(edgeapi.Config{Hold: 10 * time.Millisecond}, edgeapi.Deps{Links: silent})
	if res, _ := w.changes(snapshot.Cursor{}); res.StatusCode != http.StatusNoContent {
		t.Errorf("a source that does not answer: %s", res.Status)
	}

	gone := make(chan struct{})
	w.url = w.serve(edgeapi.Config{Held: 1, Hold: time.Minute},
		edgeapi.Deps{Links: source{changes: func(ctx context.Context) ([]byte, error) {
			select {
			case gone <- struct{}{}:
			default:
				return []byte("news"), nil
			}
			<-ctx.Done()
			close(gone)
			return nil, ctx.Err()
		}}})
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "GET", w.url+"/edge/v1/changes?incarnation=1&after=1", nil)
	testkit.Must(t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if res, err := http.DefaultTransport.RoundTrip(req); err == nil {
			res.Body.Close()
		}
	}()
	<-gone
	if res, _ := w.changes(snapshot.Cursor{}); res.StatusCode != http.StatusTooManyRequests {
		t.Errorf("a request above the limit: %s", res.Status)
	}
	cancel()
	<-ended
	<-gone
}

func TestServer_metrics(t *testing.T) {
	t.Parallel()
	h, err := edgeapi.New(edgeapi.Config{Tokens: []string{token}}, edgeapi.Deps{})
	testkit.Must(t, err)
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/edge/v1/snapshot", nil))
	if problems, err := testutil.CollectAndLint(h); err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
	if err := testutil.CollectAndCompare(h,
		strings.NewReader(
			"# HELP shortline_edgeapi_refused_total Requests without a valid token.\n# TYPE shortline_edgeapi_refused_total "+
				"counter\nshortline_edgeapi_refused_total 1\n"), "shortline_edgeapi_refused_total"); err != nil {
		t.Error(err)
	}
}
