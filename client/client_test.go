package client_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/client"
)

// answer is what a server of a test answers to one request.
type answer struct {
	status int
	header map[string]string
	body   string
	cut    bool // the connection ends instead
}

// script is a server that gives its answers in turn, the last one also to all further requests, and keeps the requests.
type script struct {
	*httptest.Server
	mu   sync.Mutex
	got  []*http.Request
	text []string
}

// requests returns the requests so far.
func (s *script) requests() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.got
}

// bodies returns the bodies of the requests so far.
func (s *script) bodies() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text
}

func serve(t *testing.T, answers ...answer) *script {
	t.Helper()
	s := &script{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		a := answers[min(len(s.got), len(answers)-1)]
		s.got, s.text = append(s.got, r.Clone(context.Background())), append(s.text, string(body))
		s.mu.Unlock()
		if a.cut {
			panic(http.ErrAbortHandler)
		}
		for name, value := range a.header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, a.body)
	}))
	t.Cleanup(s.Close)
	return s
}

// naps records the waits of a client instead of waiting.
type naps []time.Duration

func (n *naps) policy() client.Retry {
	r := client.DefaultRetry
	r.Jitter = func() float64 { return 0.5 }
	r.Now = func() time.Time { return time.Date(2027, 1, 31, 12, 0, 0, 0, time.UTC) }
	r.Sleep = func(ctx context.Context, d time.Duration) error {
		*n = append(*n, d)
		return ctx.Err()
	}
	return r
}

// start returns a client of a server with the answers.
func start(t *testing.T, answers ...answer) (*client.Client, *script, *naps) {
	t.Helper()
	s, waits := serve(t, answers...), &naps{}
	return client.New(s.URL, client.WithAPIKey("sl_key"), client.WithRetry(waits.policy())), s, waits
}

var (
	link = answer{status: 200, header: map[string]string{"ETag": `"7"`}, body: `{"id":"1","title":null,"tags":[],"status":"ACTIVE"}`}
	busy = answer{status: 503, body: `{"statusCode":503,"message":"Try again.","error":"Service Unavailable"}`}
)

func TestClient_sends_what_its_options_say(t *testing.T) {
	t.Parallel()
	s := serve(t, link)
	c := client.New(s.URL+"/", client.WithToken("t"), client.WithWorkspace("team"), client.WithUserAgent("mine/2"))
	var meta client.Meta
	if _, err := c.Links.Get(t.Context(), "a/b", client.Fields("id", "title"), client.Into(&meta)); err != nil {
		t.Fatal(err)
	}
	r := s.requests()[0]
	if r.RequestURI != "/api/urls/a%2Fb?fields=id%2Ctitle" || r.Header.Get("Authorization") != "Bearer t" ||
		r.Header.Get("X-Workspace") != "team" || r.Header.Get("User-Agent") != "mine/2" {
		t.Errorf("sent %s with %v", r.RequestURI, r.Header)
	}
	if meta.ETag != `"7"` || meta.Status != 200 || meta.Attempts != 1 {
		t.Errorf("the answer tells %+v", meta)
	}
	if _, err := c.In("other").Links.Get(t.Context(), "1"); err != nil || s.requests()[1].Header.Get("X-Workspace") != "other" {
		t.Errorf("another workspace: %v, %v", err, s.requests()[1].Header)
	}
	if _, err := c.Links.Get(t.Context(), "1", client.InWorkspace("third")); err != nil || s.requests()[2].Header.Get("X-Workspace") != "third" {
		t.Errorf("a third workspace: %v, %v", err, s.requests()[2].Header)
	}
}

func TestClient_refuses_addresses_and_ids_that_name_something_else(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "links.example.com", "ftp://a", "http://a/?q=1", "http://a b"} {
		if _, err := client.New(address).Links.Get(t.Context(), "1"); err == nil {
			t.Errorf("the address %q is accepted", address)
		}
	}
	c, s, _ := start(t, link)
	for _, id := range []string{"", ".", ".."} {
		if err := c.Links.Delete(t.Context(), id, client.DeleteLinkParams{}); err == nil {
			t.Errorf("the id %q is accepted", id)
		}
	}
	if len(s.requests()) > 0 {
		t.Errorf("%d requests were sent", len(s.requests()))
	}
}

func TestParams_are_encoded_by_their_tags(t *testing.T) {
	t.Parallel()
	c, s, _ := start(t, answer{status: 200, body: `{"data":[]}`})
	params := client.ListLinksParams{Tag: []string{"a", "b c"}, Status: client.LinkStatusActive, Limit: 5}
	if _, err := c.Links.List(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	if q := s.requests()[0].URL.Query().Encode(); q != "limit=5&status=ACTIVE&tag=a&tag=b+c" {
		t.Errorf("sent %s", q)
	}
	if _, err := c.Reports.Trends(t.Context(), client.TrendsParams{URLIDs: []string{"1", "2"}}); err != nil {
		t.Fatal(err)
	}
	if q := s.requests()[1].URL.RawQuery; q != "urlIds=1&urlIds=2" {
		t.Errorf("sent %s", q)
	}
	if raw, err := c.Links.QRCode(t.Context(), "1", client.QRCodeParams{Margin: client.Set(0)}); err != nil || raw.Close() != nil {
		t.Fatal(err)
	}
	if q := s.requests()[2].URL.RawQuery; q != "margin=0" {
		t.Errorf("sent %s", q)
	}
}

func TestOptional_leaves_out_sets_and_clears(t *testing.T) {
	t.Parallel()
	c, s, _ := start(t, link)
	at := time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)
	_, err := c.Links.Update(t.Context(), "1", client.UpdateLink{
		Title: client.Null[string](), Notes: client.Set(""), ExpiresAt: client.Set(at), Tags: client.Set([]string{"a"}),
		MaxClicks: client.SetOrNull[int](nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(s.bodies()[0]), &got); err != nil {
		t.Fatal(err)
	}
	want := `{"expiresAt":"2027-01-02T03:04:05Z","maxClicks":null,"notes":"","tags":["a"],"title":null}`
	if text, _ := json.Marshal(got); string(text) != want {
		t.Errorf("sent %s, want %s", text, want)
	}
	var read struct{ A, B, C client.Optional[int] }
	if err := json.Unmarshal([]byte(`{"a":1,"b":null}`), &read); err != nil {
		t.Fatal(err)
	}
	if v, ok := read.A.Get(); v != 1 || !ok || !read.B.IsNull() || !read.C.IsZero() {
		t.Errorf("read %+v", read)
	}
}

func TestFiles_are_streamed(t *testing.T) {
	t.Parallel()
	c, s, _ := start(t, answer{status: 201, body: `{"data":{"key":"k"}}`})
	if _, err := c.Images.Upload(t.Context(), "1", strings.NewReader("bytes of an image")); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(s.requests()[0].Header.Get("Content-Type"), "multipart/form-data; boundary=") ||
		!strings.Contains(s.bodies()[0], `name="file"`) || !strings.Contains(s.bodies()[0], "bytes of an image") {
		t.Errorf("sent %s", s.bodies()[0])
	}
	if _, err := c.Imports.Create(t.Context(), strings.NewReader("a,b\n"), client.CreateImportParams{Name: "x"}); err != nil {
		t.Fatal(err)
	}
	if s.requests()[1].Header.Get("Content-Type") != "text/csv" || s.bodies()[1] != "a,b\n" {
		t.Errorf("sent %s", s.bodies()[1])
	}
}

func TestRaw_is_what_the_server_sends(t *testing.T) {
	t.Parallel()
	c, s, _ := start(t, answer{status: 200, body: "slug\nspring\n", header: map[string]string{
		"Content-Type": "text/csv; charset=utf-8", "Content-Disposition": `attachment; filename="links.csv"`,
	}}, answer{status: 302, header: map[string]string{"Location": "https://example.com/"}})
	raw, err := c.Links.Export(t.Context(), client.ExportLinksParams{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(raw)
	if err != nil || raw.Close() != nil || string(text) != "slug\nspring\n" || raw.ContentType() != "text/csv" || raw.Filename() != "links.csv" {
		t.Errorf("got %q, %v, %s, %s", text, err, raw.ContentType(), raw.Filename())
	}
	to, err := c.Visitors.Follow(t.Context(), "spring")
	if err != nil {
		t.Fatal(err)
	}
	if to.Close() != nil || to.Location() != "https://example.com/" || s.requests()[1].URL.Path != "/spring" {
		t.Errorf("a redirect to %q", to.Location())
	}
}

func TestAnswers_are_compressed(t *testing.T) {
	t.Parallel()
	text := &bytes.Buffer{}
	z := gzip.NewWriter(text)
	if _, err := io.WriteString(z, `{"id":"1"}`); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	c, s, _ := start(t, answer{status: 200, header: map[string]string{"Content-Encoding": "gzip"}, body: text.String()})
	link, err := c.Links.Get(t.Context(), "1")
	if err != nil || link.ID != "1" || s.requests()[0].Header.Get("Accept-Encoding") != "gzip" {
		t.Errorf("got %+v, %v", link, err)
	}
}

// A stream outlives the time of an attempt, which ends when its answer begins.
func TestTimeout(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-hang }))
	defer s.Close()
	defer close(hang)
	c := client.New(s.URL, client.WithTimeout(time.Millisecond), client.WithRetry(client.NoRetry))
	_, err := c.Account.Me(t.Context())
	if err == nil || !strings.Contains(err.Error(), "no answer in time") {
		t.Errorf("the error is %v", err)
	}
}

func TestDo_calls_any_address(t *testing.T) {
	t.Parallel()
	c, s, _ := start(t, answer{status: 200, body: `{"a":1}`})
	var out map[string]int
	err := c.Do(t.Context(), "PATCH", "/api/new", map[string][]string{"q": {"1"}}, map[string]int{"b": 2}, &out)
	if err != nil || out["a"] != 1 || s.requests()[0].RequestURI != "/api/new?q=1" || s.bodies()[0] != `{"b":2}` {
		t.Errorf("got %v, %v; sent %s %s", out, err, s.requests()[0].RequestURI, s.bodies()[0])
	}
}

func TestError_has_what_the_answer_says(t *testing.T) {
	t.Parallel()
	c, _, _ := start(t, answer{status: 400, header: map[string]string{"X-Request-Id": "r1"}, body: `{"statusCode":400,"error":"Bad Request",
		"message":"originalUrl: must be an http or https address","code":"ADDRESS","docs":"https://docs.example/errors#ADDRESS",
		"errors":[{"field":"originalUrl","message":"must be an http or https address","code":"ADDRESS"}]}`},
		answer{status: 502, body: "<html>"})
	_, err := c.Links.Create(t.Context(), client.CreateLink{OriginalURL: "x"})
	var failed *client.APIError
	if !errors.As(err, &failed) {
		t.Fatalf("the error is %v", err)
	}
	if failed.Status != 400 || failed.Code != client.CodeAddress || failed.Field() != "originalUrl" || failed.RequestID != "r1" ||
		failed.Docs != "https://docs.example/errors#ADDRESS" || failed.Method != "POST" || failed.Path != "/api/urls" {
		t.Errorf("the error is %+v", failed)
	}
	if !client.HasCode(err, client.CodeAddress) || client.HasCode(err, client.CodeTaken) || !client.HasStatus(err, 400) {
		t.Error("the error has another code or status")
	}
	if want := "POST /api/urls: 400: originalUrl: must be an http or https address (ADDRESS)"; err.Error() != want {
		t.Errorf("the error says %q", err)
	}
	_, err = c.Links.Create(t.Context(), client.CreateLink{})
	if !errors.As(err, &failed) || failed.Status != 502 || string(failed.Body) != "<html>" || !strings.HasSuffix(err.Error(), "Bad Gateway") {
		t.Errorf("the error is %v", err)
	}
}

func TestConditional_requests(t *testing.T) {
	t.Parallel()
	c, s, waits := start(t, answer{status: 304}, answer{status: 412, body: `{"statusCode":412,"message":"The link has changed.","code":"STALE",
		"changed":{"at":"2027-01-01T00:00:00.000Z","user":null},"current":{"id":"1"}}`})
	if _, err := c.Links.Get(t.Context(), "1", client.IfNoneMatch(`"7"`)); !errors.Is(err, client.ErrNotModified) {
		t.Errorf("the error is %v", err)
	}
	_, err := c.Links.Update(t.Context(), "1", client.UpdateLink{}, client.IfMatch(`"6"`))
	var failed *client.APIError
	if !errors.As(err, &failed) || failed.Changed == nil || string(failed.Current) != `{"id":"1"}` {
		t.Errorf("the error is %+v", failed)
	}
	if s.requests()[0].Header.Get("If-None-Match") != `"7"` || s.requests()[1].Header.Get("If-Match") != `"6"` || len(*waits) > 0 {
		t.Errorf("sent %v and %v, waited %v", s.requests()[0].Header, s.requests()[1].Header, *waits)
	}
}

// The module stays small, so that a program that imports it does, too. The limit was 400 kB before alerts had codes with values, and
// the API told its release.
func TestSource_is_at_most_410_kilobytes(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(name, "_test.go") {
			sum += info.Size()
		}
	}
	if sum == 0 || sum > 410_000 {
		t.Errorf("the sources have %d bytes", sum)
	}
}

// unused returns an address at which nothing listens.
func unused(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}
