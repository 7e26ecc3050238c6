package api_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// FuzzRequest sends any body, query or credential. The response is a success or a documented error, never a 5xx.
func FuzzRequest(f *testing.F) {
	w := newWorld(f, storetest.Open(f), nil)
	f.Add(`{"value":{"a":[1,null,"x"]}}`, "search=a&page=1", "")
	f.Add(`{"value":1e400}`, "limit=-1", "sl_x")
	f.Add("{\"value\":\"\\u0000\"}", "search=%00", "eyJhbGciOiJub25lIn0.e30.")
	f.Add(`[[[[`, "role=%ff", "\xff")
	f.Fuzz(func(t *testing.T, body, query, credential string) {
		at := *w
		at.t = t
		root := as(at.root)
		for _, q := range []*reply{
			at.do("PUT", "/api/settings/system/fuzz", body, root),
			at.do("POST", "/api/users", body, root),
			at.do("PUT", "/api/auth/me", body, root),
			at.do("GET", "/api/users?"+clean(query), "", root),
			at.do("GET", "/api/auth/me", "", with("Authorization", "Bearer "+credential)),
			at.do("GET", "/api/auth/me", "", with("X-API-Key", "sl_"+credential)),
		} {
			if q.StatusCode >= 500 {
				t.Fatalf("%s: %d %s\n%s", q.what, q.StatusCode, q.text, at.logs)
			}
			if q.StatusCode >= 400 {
				q.want(q.StatusCode)
			}
		}
	})
}

// FuzzEndpoint sends any body and query to any endpoint of the interface, as JSON or as a form of several parts: links,
// rules, bundles, webhooks, providers, images, reports. For every input, the response is a success or a 4xx.
func FuzzEndpoint(f *testing.F) {
	w := newWorld(f, storetest.Open(f), whole)
	who := w.person("ADMIN")
	th := w.thingsOf(who.token)
	rows := slices.DeleteFunc(table(f), func(r row) bool {
		// Skip requests that end the test's own sessions or delete its objects, and streams that never end.
		return r.method == "DELETE" || strings.Contains(r.path, "/logout") || strings.Contains(r.path, "/stream") ||
			strings.Contains(r.path, "/2fa")
	})
	fill := func(s string) string {
		return placeholder.ReplaceAllStringFunc(s, func(m string) string { return th.id(strings.Trim(m, "{}")) })
	}
	for i := range rows {
		rows[i].path, rows[i].body = fill(rows[i].path), fill(rows[i].body)
		f.Add(uint16(i), rows[i].body, "page=1&limit=-1&startDate=2026-01-01&endDate=2025-01-01&format=csv&includeClicks=true", i%2 == 0)
	}
	image := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\n"
	for i, r := range rows {
		if strings.Contains(r.path, "og-image") {
			f.Add(uint16(i), image+"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\xff\xff\xff\xff\r\n--b--\r\n", "", true)
			f.Add(uint16(i), image, "a=%zz", true)
		}
	}
	f.Fuzz(func(t *testing.T, which uint16, body, query string, form bool) {
		at := *w
		at.t = t
		r := rows[int(which)%len(rows)]
		path, _, _ := strings.Cut(r.path, "?")
		options := []option{as(who.token)}
		if form {
			options = append(options, with("Content-Type", "multipart/form-data; boundary=b"))
		}
		if r.method == "GET" {
			body = ""
		}
		if q := at.do(r.method, path+"?"+clean(query), body, options...); q.StatusCode >= 500 {
			t.Fatalf("%s: %d %s\n%s", q.what, q.StatusCode, q.text, at.logs)
		} else if q.StatusCode >= 400 {
			q.want(q.StatusCode)
		}
	})
}

// clean removes characters that no client can send in a request line.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == 0x7f || r == '#' {
			return -1
		}
		return r
	}, s)
}

func FuzzTime(f *testing.F) {
	for _, s := range []string{"2027-01-31", "2027-01-31T12:00:00Z", "2027-01-31 12:00+0530", "2027-01-31t12:00:00.123456789z",
		"2027-01-31T12:00:00,5-03", "", "0000-00-00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		quoted, err := json.Marshal(s)
		if err != nil {
			t.Skip()
		}
		var v, again api.Time
		if json.Unmarshal(quoted, &v) != nil {
			return
		}
		text, err := json.Marshal(v)
		testkit.Must(t, err)
		if err := json.Unmarshal(text, &again); err != nil || again != v {
			t.Fatalf("%q parses to %d, is formatted as %s, and parses again to %d: %v", s, v, text, again, err)
		}
		if y := time.UnixMilli(int64(v)).UTC().Year(); s != "" && (y < -1 || y > 10000) {
			t.Fatalf("%q is in the year %d", s, y)
		}
	})
}
