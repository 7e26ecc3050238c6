package table

import (
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/decision"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// TestEntry_cost states how many bytes each optional number adds to a link in memory. Links without them pay nothing. The
// table in docs/developers/formats.md has the same numbers.
func TestEntry_cost(t *testing.T) {
	t.Parallel()
	const instant = 1893456000123
	plain := link.Record{Num: 1 << 20, Owner: 300, Revision: 77, Key: "abcdefg", Destination: "https://example.com/",
		CreatedAt: 1700000000000}
	size := func(change func(*link.Record)) int {
		r := plain
		change(&r)
		c, err := decision.NewTemplates(rule.Options{}, 1).Chooser(&r)
		testkit.Must(t, err)
		return len(new(encoder).append(nil, &r, &c))
	}
	before := size(func(*link.Record) {})
	if want := entryHead + 7 + 1 + 20 + 3 + 2 + 1 + 6; before != want {
		t.Errorf("a plain link has %d bytes, want %d", before, want)
	}
	for name, q := range map[string]struct {
		change func(*link.Record)
		want   int
	}{
		"expiresAt":              {func(r *link.Record) { r.ExpiresAt = instant }, 7},
		"startsAt":               {func(r *link.Record) { r.StartsAt = instant }, 7},
		"redirectCode":           {func(r *link.Record) { r.Code = 308 }, 3},
		"maxClicks up to 127":    {func(r *link.Record) { r.Limit = link.Limit{Since: instant, Clicks: 127} }, 8},
		"maxClicks up to 16,383": {func(r *link.Record) { r.Limit = link.Limit{Since: instant, Clicks: 16383} }, 9},
		"expiredUrl of 30 bytes": {func(r *link.Record) { r.ExpiredURL = strings.Repeat("x", 30) }, 30 + 7},
		"forwardPath":            {func(r *link.Record) { r.Forward = true }, 2},
		"smartRouting":           {func(r *link.Record) { r.SmartRouting = true }, 17},
		"startsAt and expiresAt": {func(r *link.Record) { r.StartsAt, r.ExpiresAt = instant, instant }, 13},
	} {
		if got := size(q.change) - before; got != q.want {
			t.Errorf("%s adds %d bytes, want %d", name, got, q.want)
		}
	}
}
