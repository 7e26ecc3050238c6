package analyticstest

import (
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// erase checks that erased clicks lose what identifies the visitor, and still count, also after they are delivered
// again.
func erase(t *testing.T, s analytics.Store) {
	rows := Clicks(12, 3000, time.Date(2026, 1, 30, 0, 0, 0, 0, time.UTC), 4)
	four, six := netip.MustParseAddr("203.0.113.77"), netip.MustParseAddr("2001:db8:1:2::3")
	for i := range rows {
		switch i % 100 {
		case 7:
			rows[i].IP = four
		case 8:
			rows[i].IP = six
		}
	}
	insert(t, s, rows, 1000)
	queries := []analytics.Query{
		{Scope: everyone(), Visitors: true}, {Scope: everyone(), ByLink: true, Visitors: true},
		{Scope: everyone(), Every: analytics.Days, By: analytics.Country, Visitors: true},
	}
	check := func(when string, want []analytics.Row) {
		t.Helper()
		if err := differ(s, want); err != nil {
			t.Errorf("%s: %v", when, err)
		}
		for _, q := range queries {
			if got, err := s.Lines(ctx(), q); err != nil || !reflect.DeepEqual(got, expect(want, q)) {
				t.Errorf("%s: %v: %v, %v", when, q, got, err)
			}
		}
	}
	check("before", rows)
	want := slices.Clone(rows)
	for _, ip := range []netip.Addr{four, six} {
		n := int64(0)
		for i := range want {
			if want[i].IP == ip {
				want[i].IP, want[i].UserAgent = netip.Addr{}, ""
				n++
			}
		}
		if got, err := s.Erase(ctx(), ip); err != nil || got != n {
			t.Errorf("Erase %s = %d, %v; want %d", ip, got, err, n)
		}
		check("after Erase of "+ip.String(), want)
	}
	insert(t, s, rows, 700)
	check("after the clicks came again", want)
	if n, err := s.Erase(ctx(), netip.MustParseAddr("198.51.100.1")); err != nil || n != 0 {
		t.Errorf("Erase of nobody = %d, %v", n, err)
	}
}
