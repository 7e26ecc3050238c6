package guess_test

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/guess"
)

var start = time.Unix(1_800_000_000, 0)

func TestTries_locks_grow_and_are_forgotten(t *testing.T) {
	t.Parallel()
	var tries guess.Tries
	now := start
	for i, seconds := range []int{0, 0, 0, 0, 30, 60, 120, 240, 480, 900, 900} {
		tries = tries.With(1, now)
		if got := max(0, tries.Until().Sub(now)); got != time.Duration(seconds)*time.Second {
			t.Fatalf("after %d guesses the lock is %v, want %d s", i+1, got, seconds)
		}
		now = now.Add(time.Duration(seconds) * time.Second)
	}
	if got := tries.ForgetAt(); !got.Equal(now.Add(guess.Window)) {
		t.Errorf("forgotten at %v, the lock ends at %v", got, now)
	}
	if again := tries.With(1, now.Add(guess.Window+time.Second)); again.Count != 1 {
		t.Errorf("after all is forgotten a guess makes %+v", again)
	}
	// One that comes late neither counts for nothing nor turns the clock back.
	if late := tries.With(1, start); late.Count != tries.Count+1 || !late.Last.Equal(tries.Last) {
		t.Errorf("a late one makes %+v of %+v", late, tries)
	}
	if none := tries.With(-100, now); none.Count != 0 {
		t.Errorf("taken back more than there were: %+v", none)
	}
}

func TestClientOf_a_household_is_one_client(t *testing.T) {
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
		a, b := guess.ClientOf(1, netip.MustParseAddr(c.a)), guess.ClientOf(1, netip.MustParseAddr(c.b))
		if (a == b) != c.same {
			t.Errorf("%s and %s are %v and %v", c.a, c.b, a, b)
		}
	}
}

// The bytes of the first release, which every later one reads and writes.
const (
	goldenReport = `{"edge":"00000000000000e1","tries":[{"link":7,"from":"192.0.2.1","count":2,"agoMs":40},{"link":18446744073709551615,"from":"2001:db8::","right":true,"count":-1,"agoMs":0}]}`
	goldenNews   = `{"next":12,"standings":[{"link":7,"from":"192.0.2.1","count":5,"agoMs":1500,"mark":12}]}`
)

func TestWire_golden(t *testing.T) {
	t.Parallel()
	var r guess.Report
	if err := json.Unmarshal([]byte(goldenReport), &r); err != nil || r.Validate() != nil {
		t.Fatal(err, r.Validate())
	}
	if again, err := json.Marshal(r); err != nil || string(again) != goldenReport {
		t.Errorf("%s, %v", again, err)
	}
	var n guess.News
	if err := json.Unmarshal([]byte(goldenNews), &n); err != nil || len(n.Standings) != 1 || !n.Standings[0].Valid() {
		t.Fatalf("%+v, %v", n, err)
	}
	if again, err := json.Marshal(n); err != nil || string(again) != goldenNews {
		t.Errorf("%s, %v", again, err)
	}
	// What a later release adds is passed over.
	if err := json.Unmarshal([]byte(strings.Replace(goldenReport, `"tries"`, `"more":{},"tries"`, 1)), &r); err != nil {
		t.Error(err)
	}
}

// FuzzReport gives bytes of an edge to the decoder: what passes Validate can be counted.
func FuzzReport(f *testing.F) {
	f.Add([]byte(goldenReport))
	f.Add([]byte(`{"edge":"e","tries":[{"from":"fe80::1%x","count":1e9}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r guess.Report
		if json.Unmarshal(b, &r) != nil || r.Validate() != nil {
			return
		}
		for _, c := range r.Tries {
			tries := guess.Tries{Count: 3, Last: start}.With(c.Count, start.Add(-time.Duration(c.AgoMs)*time.Millisecond))
			if tries.Count < 0 || tries.ForgetAt().Before(tries.Last) || c.Client != guess.ClientOf(c.Link, c.From) {
				t.Errorf("%+v makes %+v", c, tries)
			}
		}
	})
}
