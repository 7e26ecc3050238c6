package client_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/shortline/shortline/client"
)

func TestAll_reads_pages(t *testing.T) {
	t.Parallel()
	page := func(n int, ids string) answer {
		return answer{status: 200, body: fmt.Sprintf(`{"data":[%s],"page":%d,"pageSize":2,"total":3,"totalPages":2}`, ids, n)}
	}
	c, s, _ := start(t, page(1, `{"id":"1"},{"id":"2"}`), page(2, `{"id":"3"}`), page(1, `{"id":"1"},{"id":"2"}`), page(2, `{"id":"3"}`))
	all := c.Tags.All(t.Context(), client.SearchParams{Search: "x", Limit: 2})
	for range 2 { // a sequence can be read twice
		var ids []string
		for tag, err := range all {
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, tag.ID)
		}
		if !slices.Equal(ids, []string{"1", "2", "3"}) {
			t.Errorf("got %v", ids)
		}
	}
	if q := queries(s); !slices.Equal(q, []string{"limit=2&search=x", "limit=2&page=2&search=x", "limit=2&search=x", "limit=2&page=2&search=x"}) {
		t.Errorf("sent %q", q)
	}
}

func TestAll_follows_cursors(t *testing.T) {
	t.Parallel()
	page := func(ids, next string) answer {
		body := `{"data":[%s],"page":1,"pageSize":2,"total":9,"totalPages":5,"nextCursor":%s}`
		return answer{status: 200, body: fmt.Sprintf(body, ids, next)}
	}
	c, s, _ := start(t, page(`{"id":"1"},{"id":"2"}`, `"c1"`), page(`{"id":"3"},{"id":"4"}`, `"c2"`), page(`{"id":"5"}`, `null`))
	var ids []string
	for link, err := range c.Links.All(t.Context(), client.ListLinksParams{}) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, link.ID)
	}
	if !slices.Equal(ids, []string{"1", "2", "3", "4", "5"}) {
		t.Errorf("got %v", ids)
	}
	if q := queries(s); !slices.Equal(q, []string{"limit=100", "after=c1&limit=100", "after=c2&limit=100"}) {
		t.Errorf("sent %q", q)
	}
}

func TestAll_ends(t *testing.T) {
	t.Parallel()
	full := answer{status: 200, body: `{"data":[{"id":"1"},{"id":"2"}],"page":1,"pageSize":2,"total":4,"totalPages":2}`}
	t.Run("when the loop does", func(t *testing.T) {
		t.Parallel()
		c, s, _ := start(t, full)
		for range c.Tags.All(t.Context(), client.SearchParams{}) {
			break
		}
		if len(s.requests()) != 1 {
			t.Errorf("%d requests", len(s.requests()))
		}
	})
	t.Run("after an error", func(t *testing.T) {
		t.Parallel()
		c, _, _ := start(t, full, answer{status: 403})
		rows, failed := 0, error(nil)
		for _, err := range c.Tags.All(t.Context(), client.SearchParams{}) {
			rows, failed = rows+1, err
		}
		if rows != 3 || !client.HasStatus(failed, 403) {
			t.Errorf("%d rows, %v", rows, failed)
		}
	})
	t.Run("where a list that is not counted does", func(t *testing.T) {
		t.Parallel()
		c, s, _ := start(t, answer{status: 200, body: `{"data":[{"id":"1"}],"page":1,"pageSize":1,"total":1,"totalPages":1,"totalIsExact":false}`},
			answer{status: 200, body: `{"data":[],"page":2,"pageSize":1,"total":1,"totalPages":1,"totalIsExact":false}`})
		rows := 0
		for range c.Audit.All(t.Context(), client.ListAuditLogsParams{}) {
			rows++
		}
		if rows != 1 || len(s.requests()) != 2 {
			t.Errorf("%d rows in %d requests", rows, len(s.requests()))
		}
	})
}

func queries(s *script) (out []string) {
	for _, r := range s.requests() {
		out = append(out, r.URL.Query().Encode())
	}
	return out
}
