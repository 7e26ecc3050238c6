package imports_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/cli"
)

// token is the secret for the other service. It must be in no output.
const token = "token-of-the-other-service"

// standIn is a Shortline with one workspace, which answers what the imports ask.
type standIn struct {
	*httptest.Server
	t        *testing.T
	mu       sync.Mutex
	links    []map[string]any // as items name them, with an id
	writes   int
	foreign  map[string]bool // slugs of other workspaces
	disturb  func(write int) bool
	answered func(items []map[string]any)
}

func newStandIn(t *testing.T) *standIn {
	s := &standIn{t: t, foreign: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/domains", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"data":[{"hostname":"go.acme.example"}],"total":1,"totalPages":1}`)
	})
	mux.HandleFunc("PUT /api/urls/bulk", s.upsert)
	mux.HandleFunc("HEAD /{slug}", s.redirect)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func (s *standIn) redirect(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.links {
		domain, _ := l["domain"].(string)
		if l["customSlug"] == r.PathValue("slug") && (domain == "" && r.Host == s.Listener.Addr().String() || domain == r.Host) {
			w.Header().Set("Location", fmt.Sprint(l["originalUrl"]))
			w.WriteHeader(http.StatusFound)
			return
		}
	}
	w.WriteHeader(http.StatusNotFound)
}

func (s *standIn) upsert(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var body struct {
		Items []map[string]any `json:"items"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Items) == 0 || len(body.Items) > 1000 {
		s.t.Errorf("%d items, %v", len(body.Items), err)
	}
	dry := r.URL.Query().Get("dryRun") == "true"
	if !dry {
		if s.writes++; s.disturb != nil && s.disturb(s.writes) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"statusCode":400,"message":"disturbed"}`)
			return
		}
	}
	var answers []map[string]any
	for _, item := range body.Items {
		answers = append(answers, s.one(item, dry))
	}
	if !dry && s.answered != nil {
		s.answered(body.Items)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"items": answers})
}

// one does what the server does with an item, as far as the imports depend on it.
func (s *standIn) one(item map[string]any, dry bool) map[string]any {
	refused := func(status int, field, message string, external any) map[string]any {
		return map[string]any{"result": "REFUSED", "externalId": external, "error": map[string]any{"statusCode": status, "message": message,
			"errors": []any{map[string]any{"field": "items.0." + field, "message": message}}}}
	}
	slug, _ := item["customSlug"].(string)
	var same, taken map[string]any
	for _, l := range s.links {
		if item["externalId"] != nil && l["externalId"] == item["externalId"] {
			same = l
		}
		if slug != "" && l["customSlug"] == slug && l["domain"] == item["domain"] {
			taken = l
		}
	}
	switch {
	case slug != "" && len(slug) < 3:
		return refused(400, "customSlug", "must have 3 to 50 characters", nil)
	case s.foreign[slug]:
		return refused(409, "customSlug", "is taken", nil)
	case same != nil && slug != "" && same["customSlug"] != slug:
		return refused(400, "customSlug", "cannot be changed", same["externalId"])
	case same == nil && taken != nil && item["externalId"] != nil && taken["externalId"] != nil:
		return refused(409, "customSlug", "is taken", taken["externalId"])
	}
	l := same
	if l == nil {
		l = taken
	}
	answer := map[string]any{"result": "CREATED", "id": nil, "changes": map[string]any{}}
	address := func(l map[string]any) string {
		if domain, _ := l["domain"].(string); domain != "" {
			return "http://" + domain + "/" + fmt.Sprint(l["customSlug"])
		}
		return s.URL + "/" + fmt.Sprint(l["customSlug"])
	}
	if l == nil {
		if answer["shortUrl"] = address(item); !dry {
			item = maps.Clone(item)
			if item["id"] = fmt.Sprint("link-", len(s.links)); slug == "" {
				item["customSlug"] = fmt.Sprint("made-", len(s.links))
			}
			answer["shortUrl"], answer["id"] = address(item), item["id"]
			s.links = append(s.links, item)
		}
		return answer
	}
	changes := map[string]any{}
	for name, value := range item {
		if name != "ifMatch" && name != "createdAt" && !reflect.DeepEqual(l[name], value) {
			if changes[name] = map[string]any{"old": l[name], "new": value}; !dry {
				l[name] = value
			}
		}
	}
	if answer["result"] = "UNCHANGED"; len(changes) > 0 {
		answer["result"] = "UPDATED"
	}
	answer["changes"], answer["id"], answer["shortUrl"], answer["externalId"], answer["etag"] = changes, l["id"], address(l), l["externalId"], `"1"`
	return answer
}

// link returns the link with a slug.
func (s *standIn) link(slug string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.links {
		if l["customSlug"] == slug {
			return l
		}
	}
	s.t.Errorf("there is no link %s", slug)
	return map[string]any{}
}

// result is what a run has written, and its exit code.
type result struct {
	out, err string
	code     int
	report   struct {
		Counts   map[string]int `json:"counts"`
		Verified struct{ Asked, Right int }
		Rows     []struct {
			ID, From, Outcome, Reason string
			Lost                      []string
			Clicks                    int
		}
	}
}

// world is a Shortline with a folder for the state of imports.
type world struct {
	t        *testing.T
	to       *standIn
	state    string
	kept     []byte // a state that a test puts back
	keptName string
}

func newWorld(t *testing.T) *world { return &world{t: t, to: newStandIn(t), state: t.TempDir()} }

// run runs shortline import with JSON as output.
func (w *world) run(args ...string) result { return w.runIn(w.t.Context(), args...) }

func (w *world) runIn(ctx context.Context, args ...string) result {
	w.t.Helper()
	var out, problem bytes.Buffer
	env := map[string]string{"SHORTLINE_URL": w.to.URL, "SHORTLINE_API_KEY": "sl_key", "SHORTLINE_CONFIG": w.state,
		"SHORTLINE_STATE": w.state}
	once := client.NoRetry
	code := cli.Run(ctx, app.System{In: strings.NewReader(token + "\n"), Out: &out, Err: &problem,
		Getenv: func(name string) string { return env[name] }, Now: time.Now, Retry: &once,
	}, append([]string{"import", "-o", "json"}, args...))
	r := result{out: out.String(), err: problem.String(), code: code}
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &r.report); err != nil {
			w.t.Fatalf("%v: %s", err, out.String())
		}
	}
	if strings.Contains(r.out+r.err, token) {
		w.t.Error("the output has the token")
	}
	return r
}

// want checks the exit code and the counts that are not 0, such as "created 3 skipped 1".
func (r result) want(t *testing.T, code int, counts string) result {
	t.Helper()
	var got []string
	for _, name := range []string{"created", "renamed", "updated", "unchanged", "skipped", "failed"} {
		if n := r.report.Counts[name]; n > 0 {
			got = append(got, fmt.Sprint(name, " ", n))
		}
	}
	if text := strings.Join(got, " "); r.code != code || text != counts {
		t.Fatalf("exit code %d, %q instead of %d, %q: %s%s", r.code, text, code, counts, r.out, r.err)
	}
	return r
}

// reasons returns the row from an address, as "outcome: reason; what is lost".
func (r result) reason(from string) string {
	for _, one := range r.report.Rows {
		if one.From == from {
			return one.Outcome + ": " + strings.Join(append([]string{one.Reason}, one.Lost...), "; ")
		}
	}
	return "no row"
}

// answer answers JSON.
func answer(w io.Writer, v any) { _ = json.NewEncoder(w).Encode(v) }
