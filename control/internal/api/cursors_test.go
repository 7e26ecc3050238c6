package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// Cursors give each link once, in the order of the list, while links are added and deleted between two pages.
func TestB8_cursors_skip_and_repeat_nothing(t *testing.T) {
	eachWith(t, withLinks, func(t *testing.T, w *world) {
		var ids []string
		for i := range 17 {
			extra := ""
			if i%3 == 0 { // equal titles, and links without one
				extra = fmt.Sprintf(`,"title":"t%d","expiresAt":"2099-01-0%dT00:00:00Z"`, i%2, 1+i%4)
			}
			body := fmt.Sprintf(`{"originalUrl":"https://example.com","customSlug":"slug-%02d"%s}`, i, extra)
			ids = append(ids, w.do("POST", "/api/urls", body, as(w.ann)).want(201).str("id"))
		}
		for _, by := range []string{"", "createdAt", "updatedAt", "clickCount", "title", "expiresAt", "slug"} {
			for _, direction := range []string{"asc", "desc"} {
				order := "sortBy=" + by + "&sortOrder=" + direction
				whole := w.do("GET", "/api/urls?limit=100&"+order, "", as(w.ann)).want(200)
				var want, got []string
				for i := range 17 {
					want = append(want, whole.str(fmt.Sprintf("data.%d.id", i)))
				}
				next := "/api/urls?search=example&limit=4&" + order
				for next != "" {
					page := w.do("GET", next, "", as(w.ann)).want(200)
					for i := range 4 {
						if id := page.str(fmt.Sprintf("data.%d.id", i)); id != "" {
							got = append(got, id)
						}
					}
					if page.num("total") != 17 {
						t.Errorf("total = %v", page.num("total"))
					}
					cursor := page.str("nextCursor")
					next, _, _ = strings.Cut(strings.TrimPrefix(page.Header.Get("Link"), "<"), ">")
					if u, err := url.Parse(next); err != nil || u.Query().Get("after") != cursor {
						t.Fatalf("Link = %q, nextCursor %q", page.Header.Get("Link"), cursor)
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s: %v\nwant %v", order, got, want)
				}
			}
		}

		first := w.do("GET", "/api/urls?limit=4&sortBy=slug&sortOrder=asc", "", as(w.ann)).want(200)
		w.create("aaa")                                                        // before the next page
		w.do("DELETE", "/api/urls/"+ids[3], "", as(w.ann)).want(204)           // the last link of the page
		after := "&sortBy=slug&sortOrder=asc&after=" + first.str("nextCursor") // a client that builds the address itself
		w.do("GET", "/api/urls?limit=2"+after, "", as(w.ann)).want(200).shows("data.0.slug", "slug-04").shows("data.1.slug", "slug-05")
		w.do("GET", "/api/urls?limit=2&page=9"+after, "", as(w.ann)).want(200).shows("data.0.slug", "slug-04")
		w.do("GET", "/api/urls?limit=2"+after, "", as(w.bob)).want(200).shows("total", 0.0)
	})
}

func TestB8_bad_cursors_are_refused(t *testing.T) {
	w := small(t, withLinks)
	w.create("abc")
	w.create("abd")
	cursor := w.do("GET", "/api/urls?limit=1", "", as(w.ann)).want(200).str("nextCursor")
	for _, query := range []string{
		"after=x", "after=e30", "after=" + cursor[1:], "after=" + cursor + "&sortOrder=asc", "after=" + cursor + "&sortBy=slug",
		"after=" + cursor + "&status=DELETED", "after=" + strings.Repeat("A", 2001),
	} {
		w.do("GET", "/api/urls?"+query, "", as(w.ann)).wantField("after")
	}
	if r := w.do("GET", "/api/urls?limit=2", "", as(w.ann)).want(http.StatusOK); r.at("nextCursor") != nil || r.Header.Get("Link") != "" {
		t.Errorf("the last page has a cursor: %s", r.text)
	}
}
