package client_test

import (
	"net/netip"
	"testing"

	"github.com/shortline/shortline/shared/client"
)

func TestKey(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"203.0.113.7":             "203.0.113.7",
		"::ffff:203.0.113.7":      "203.0.113.7",
		"2001:db8:1:2::1":         "2001:db8:1:2::",
		"2001:db8:1:2:ffff::9%e0": "2001:db8:1:2::",
		"2001:db8:1:3::1":         "2001:db8:1:3::",
		"::1":                     "::",
	} {
		if got := client.Key(netip.MustParseAddr(address)); got.String() != want {
			t.Errorf("Key(%s) = %s, want %s", address, got, want)
		}
	}
	if got := client.Key(netip.Addr{}); got.IsValid() {
		t.Errorf("the key of no address is %s", got)
	}
}
