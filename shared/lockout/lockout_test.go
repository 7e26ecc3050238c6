package lockout_test

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/lockout"
)

var start = time.Unix(1_800_000_000, 0)

func TestFailures_lockouts_grow_and_are_forgotten(t *testing.T) {
	t.Parallel()
	var failures lockout.Failures
	now := start
	for i, seconds := range []int{0, 0, 0, 0, 30, 60, 120, 240, 480, 900, 900} {
		failures = failures.Add(1, now)
		if got := max(0, failures.LockedUntil().Sub(now)); got != time.Duration(seconds)*time.Second {
			t.Fatalf("after %d failures the lockout is %v, want %d s", i+1, got, seconds)
		}
		now = now.Add(time.Duration(seconds) * time.Second)
	}
	if got := failures.ForgetAt(); !got.Equal(now.Add(lockout.Window)) {
		t.Errorf("ForgetAt is %v, the lockout ends at %v", got, now)
	}
	if again := failures.Add(1, now.Add(lockout.Window+time.Second)); again.Count != 1 {
		t.Errorf("one failure after ForgetAt makes %+v", again)
	}
	// A failure that is reported late counts, and does not move Last back.
	if late := failures.Add(1, start); late.Count != failures.Count+1 || !late.Last.Equal(failures.Last) {
		t.Errorf("a late failure makes %+v of %+v", late, failures)
	}
	if none := failures.Add(-100, now); none.Count != 0 {
		t.Errorf("more failures taken back than there were: %+v", none)
	}
}

func TestClientOf_an_IPv6_64_is_one_client(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true},
		{"2001:db8:1:2::1", "2001:db8:1:3::1", false},
		{"192.0.2.1", "192.0.2.2", false},
		{"192.0.2.1", "::ffff:192.0.2.1", true},
		{"fe80::1%eth0", "fe80::2%eth1", true},
	} {
		a, b := lockout.ClientOf(1, netip.MustParseAddr(c.a)), lockout.ClientOf(1, netip.MustParseAddr(c.b))
		if (a == b) != c.same {
			t.Errorf("%s and %s are %v and %v", c.a, c.b, a, b)
		}
	}
}

// The messages of the first release. Every later release reads and writes the same bytes.
const (
	goldenReport  = `{"edge":"00000000000000e1","tries":[{"link":7,"from":"192.0.2.1","count":2,"agoMs":40},{"link":18446744073709551615,"from":"2001:db8::","right":true,"count":-1,"agoMs":0}]}`
	goldenChanges = `{"next":12,"standings":[{"link":7,"from":"192.0.2.1","count":5,"agoMs":1500,"mark":12}]}`
)

func TestWire_golden(t *testing.T) {
	t.Parallel()
	var r lockout.Report
	if err := json.Unmarshal([]byte(goldenReport), &r); err != nil || r.Validate() != nil {
		t.Fatal(err, r.Validate())
	}
	if again, err := json.Marshal(r); err != nil || string(again) != goldenReport {
		t.Errorf("%s, %v", again, err)
	}
	var n lockout.Changes
	if err := json.Unmarshal([]byte(goldenChanges), &n); err != nil || len(n.States) != 1 || !n.States[0].Valid() {
		t.Fatalf("%+v, %v", n, err)
	}
	if again, err := json.Marshal(n); err != nil || string(again) != goldenChanges {
		t.Errorf("%s, %v", again, err)
	}
	// Fields of a later release are ignored.
	if err := json.Unmarshal([]byte(strings.Replace(goldenReport, `"tries"`, `"more":{},"tries"`, 1)), &r); err != nil {
		t.Error(err)
	}
}

// FuzzReport decodes arbitrary bytes: a report that passes Validate can be counted.
func FuzzReport(f *testing.F) {
	f.Add([]byte(goldenReport))
	f.Add([]byte(`{"edge":"e","tries":[{"from":"fe80::1%x","count":1e9}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r lockout.Report
		if json.Unmarshal(b, &r) != nil || r.Validate() != nil {
			return
		}
		for _, c := range r.Clients {
			failures := lockout.Failures{Count: 3, Last: start}.Add(c.Count, start.Add(-time.Duration(c.AgoMs)*time.Millisecond))
			if failures.Count < 0 || failures.ForgetAt().Before(failures.Last) || c.Client != lockout.ClientOf(c.Link, c.Address) {
				t.Errorf("%+v makes %+v", c, failures)
			}
		}
	})
}
