package api_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/click"
)

// Trends have a number for each of 30 days, for the links that the caller sees.
func TestTrends(t *testing.T) {
	w := small(t, stored(func(w *world) analytics.Store { return w.clicks }))
	first, second := w.create("first"), w.create("second")
	bobs := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com"}`, as(w.bob)).want(201).str("id")
	path := fmt.Sprintf("/api/analytics/trends?urlIds=%s&urlIds=%s&urlIds=%s&urlIds=%s&urlIds=nonsense", second, first, second, bobs)
	w.do("GET", path, "", as(w.ann)).want(200).has("", "startDate", "endDate", "trends").has("trends.0", "urlId", "clicks").
		shows("trends.0.urlId", second, "trends.1.urlId", first, "trends.2", nil, "trends.0.clicks.#", 30)
	u, err := w.store.LinkByID(t.Context(), first)
	w.ok(err)
	var rows []analytics.Row
	for seq, c := range []struct {
		days int
		bot  bool
	}{{0, false}, {0, false}, {0, true}, {1, false}, {29, false}, {30, false}} {
		rows = append(rows, analytics.Row{Identity: analytics.Identity{Lane: click.Lane{Edge: 4, Epoch: 1}, Seq: uint64(seq + 1)},
			Time: time.Now().AddDate(0, 0, -c.days).UnixMilli(),
			Link: u.Num, Owner: u.Workspace, IP: netip.MustParseAddr("203.0.113.9"), Bot: c.bot})
	}
	w.ok(w.clicks.Insert(t.Context(), analytics.Batch{Rows: rows}))
	r := w.do("GET", path, "", as(w.ann)).want(200)
	want := make([]any, 30)
	for i := range want {
		want[i] = 0.0
	}
	want[0], want[28], want[29] = 1.0, 1.0, 2.0
	if got := r.at("trends.1.clicks"); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the trend is %v, want %v", got, want)
	}
	w.do("GET", "/api/analytics/trends?urlIds="+bobs, "", as(w.ann)).want(200).shows("trends.0", nil)
	w.do("GET", "/api/analytics/trends", "", as(w.ann)).want(400).wantField("urlIds")
	w.do("GET", "/api/analytics/trends?"+strings.Repeat("urlIds=x&", 101), "", as(w.ann)).want(400).wantField("urlIds")
	w.do("GET", path+"&timezone=Mars/Base", "", as(w.ann)).want(400).wantField("timezone")
}
