//go:build proof

package observe_test

import (
	"testing"

	"github.com/shortline/shortline/shared/testing/k6test"
)

// Each kind of user is served by a running program, in smoke size: the limits of time are those of a machine that does other things.
func TestK6_users(t *testing.T) {
	t.Parallel()
	p := standalone(t)
	s := k6test.Run(t, "users", append([]string{"BASE_URL=http://" + p.Addr, "ADMIN_PASSWORD=" + password, "DURATION=6s", "RATE=40"},
		k6test.Patient...)...)
	for name, n := range s.Fails {
		if n > 0 {
			t.Errorf("%s: failed %d times", name, n)
		}
	}
	for _, name := range []string{"a link redirects", "a link redirects on a new connection", "a rule decides", "a test sends to a variant",
		"a password opens the link", "the API lists links", "the destination has a click id", "a conversion is accepted"} {
		if s.Passes[name] == 0 {
			t.Errorf("%q never passed, so nothing tried it", name)
		}
	}
	if left := p.links(t); left != 0 {
		t.Errorf("the users left %d links behind", left)
	}
}
