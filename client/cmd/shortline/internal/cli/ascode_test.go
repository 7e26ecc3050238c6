package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
)

// upserts answers PUT /api/urls/bulk. All links exist with another title until they are written.
type upserts struct {
	mu      sync.Mutex
	written map[string]bool
	writes  int
	secrets int
	// before is called before the nth write, from 1. It returns the status of an error that the write gets, or 0; and whether it
	// takes effect but is answered as if the versions were others.
	before func(n int) (status int, stale bool)
	// foreign says that what was written looks changed again.
	foreign bool
	// missing says that no link exists before the first write, and that they all exist then.
	missing bool
}

func (s *upserts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodGet { // lists and histories
		fmt.Fprint(w, `{"data":[],"total":0,"page":1,"pageSize":100,"totalPages":0}`)
		return
	}
	var body struct {
		Items []struct {
			CustomSlug, Password, IfMatch, IfNoneMatch string
		} `json:"items"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	dry, stale := r.URL.Query().Has("dryRun"), false
	if !dry {
		s.writes++
		status := 0
		if status, stale = s.before(s.writes); status != 0 {
			w.WriteHeader(status)
			fmt.Fprint(w, `{"statusCode":500,"message":"broken","error":"Internal Server Error"}`)
			return
		}
	}
	var out []string
	for _, one := range body.Items {
		if one.Password != "" {
			s.secrets++
		}
		result, detail := "UPDATED", `"changes":{"title":{"old":"a","new":"b"}}`
		if s.written[one.CustomSlug] && !s.foreign {
			result, detail = "UNCHANGED", `"changes":{}`
		}
		if !dry && !s.foreign && (stale || !s.missing) {
			s.written[one.CustomSlug] = true
		}
		if s.missing && s.writes == 0 {
			result, detail = "CREATED", `"changes":{}`
		}
		if !dry && one.IfNoneMatch == "*" && s.missing {
			result, detail = "REFUSED", `"changes":{},"error":{"statusCode":409,"message":"exists","error":"Conflict","errors":[`+
				`{"field":"items.0.ifNoneMatch","message":"the link exists already"}]}`
		} else if stale || !dry && one.IfMatch == "" {
			result, detail = "REFUSED", `"changes":{},"error":{"statusCode":412,"message":"changed","error":"Precondition Failed","errors":[]}`
		}
		out = append(out, fmt.Sprintf(`{"result":"%s","id":"%s","shortUrl":"https://sho.rt/%[2]s","etag":"\"7\"",%s}`,
			result, one.CustomSlug, detail))
	}
	fmt.Fprintf(w, `{"items":[%s]}`, strings.Join(out, ","))
}

func applyMany(ctx context.Context, t *testing.T, s *upserts, n int) result {
	t.Helper()
	s.written = map[string]bool{}
	server := httptest.NewServer(s)
	defer server.Close()
	var b strings.Builder
	b.WriteString("version: 1\nlinks:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - {slug: s%d, destination: 'https://example.com/', title: b}\n", i)
	}
	b.WriteString("  - {slug: last, destination: 'https://example.com/', password: {env: PW}}\n")
	dir := t.TempDir()
	name := filepath.Join(dir, "links.yaml")
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	r := runIn(ctx, dir, server.URL, 0, "", map[string]string{"PW": "hidden-word"}, "apply", name, "-v")
	if strings.Contains(r.out+r.err, "hidden-word") || s.secrets == 0 {
		t.Errorf("the password was sent %d times, or is in the output", s.secrets)
	}
	return r
}

func TestApply_faults(t *testing.T) {
	t.Run("a lost answer is no conflict", func(t *testing.T) {
		r := applyMany(t.Context(), t, &upserts{before: func(int) (int, bool) { return 0, true }}, 5)
		if r.code != app.CodeOK || !strings.Contains(r.err, "Applied: 6 links written") {
			t.Errorf("%+v", r)
		}
	})
	t.Run("a conflict is named", func(t *testing.T) {
		r := applyMany(t.Context(), t, &upserts{foreign: true, before: func(int) (int, bool) { return 0, true }}, 1)
		if r.code != app.CodeConflict || !strings.Contains(r.err, "! sho.rt/s0: somebody else has changed the link since the plan") {
			t.Errorf("%+v", r)
		}
	})
	t.Run("a link that was created meanwhile is named", func(t *testing.T) {
		r := applyMany(t.Context(), t, &upserts{missing: true, before: func(int) (int, bool) { return 0, false }}, 1)
		if r.code != app.CodeConflict || !strings.Contains(r.err, "! sho.rt/s0: somebody else has created the link since the plan") {
			t.Errorf("%+v", r)
		}
	})
	t.Run("a lost answer about new links is no conflict", func(t *testing.T) {
		r := applyMany(t.Context(), t, &upserts{missing: true, before: func(int) (int, bool) { return 0, true }}, 5)
		if r.code != app.CodeOK || !strings.Contains(r.err, "Applied: 6 links written") {
			t.Errorf("%+v", r)
		}
	})
	t.Run("an error between batches says how far it is", func(t *testing.T) {
		s := &upserts{before: func(n int) (int, bool) { return map[int]int{2: 500}[n], false }}
		r := applyMany(t.Context(), t, s, 2500)
		said := strings.Contains(r.err, "1,000 of 2,501 links were written; apply again to continue")
		if r.code != app.CodeError || !said || s.writes != 2 {
			t.Errorf("%d writes: exit code %d: %s", s.writes, r.code, r.err)
		}
	})
	t.Run("Ctrl-C ends after the batch in flight", func(t *testing.T) {
		ctx, interrupt := context.WithCancel(t.Context())
		s := &upserts{before: func(int) (int, bool) { interrupt(); return 0, false }}
		r := applyMany(ctx, t, s, 2500)
		if r.code != app.CodeInterrupted || s.writes != 1 || !strings.Contains(r.err, "interrupted: 1,000 of 2,501 links were written") {
			t.Errorf("%d writes: exit code %d: %s", s.writes, r.code, r.err)
		}
	})
}
