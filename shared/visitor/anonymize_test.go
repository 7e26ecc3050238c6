package visitor_test

import (
	"net/netip"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/shared/visitor"
)

func TestOps6_Anonymize(t *testing.T) {
	for _, c := range []struct{ setting, in, want string }{
		{"", "203.0.113.77", "203.0.113.77"}, {"off", "2001:db8:1:2::3", "2001:db8:1:2::3"},
		{"truncate", "203.0.113.77", "203.0.113.0"}, {"truncate", "::ffff:203.0.113.77", "203.0.113.0"},
		{"truncate", "2001:db8:1:2::3", "2001:db8:1::"}, {"truncate", "fe80::1%eth0", "fe80::"},
		{"all", "203.0.113.77", "invalid IP"}, {"all", "2001:db8:1:2::3", "invalid IP"},
	} {
		a, err := visitor.ParseAnonymize(c.setting)
		testkit.Must(t, err)
		if got := a.Address(netip.MustParseAddr(c.in)).String(); got != c.want {
			t.Errorf("%s of %s: %s instead of %s", c.setting, c.in, got, c.want)
		}
	}
	if got := visitor.TruncateAddress.Address(netip.Addr{}); got.IsValid() {
		t.Errorf("the zero address became %s", got)
	}
	if _, err := visitor.ParseAnonymize("yes"); err == nil {
		t.Error("an unknown value is accepted")
	}
	ip := netip.MustParseAddr("2001:db8:1:2::3")
	if n := testing.AllocsPerRun(100, func() { ip = visitor.TruncateAddress.Address(ip) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
