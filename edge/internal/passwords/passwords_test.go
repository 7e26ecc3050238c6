package passwords_test

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/passwords"
	"github.com/shortline/shortline/shared/testing/testkit"
	"golang.org/x/crypto/bcrypt"
)

var now = time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)

func atNow() time.Time { return now }

func never() time.Duration { return 0 }

// attempt returns an attempt at the link 1, whose password is "correct horse".
func attempt(t *testing.T, password string) passwords.Attempt {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte("correct horse"), bcrypt.MinCost)
	testkit.Must(t, err)
	return passwords.Attempt{Link: 1, Hash: string(hash), Password: []byte(password), Client: netip.MustParseAddr("192.0.2.1")}
}

func TestCompare_only_right_passwords_are_remembered(t *testing.T) {
	t.Parallel()
	c := passwords.New(time.Minute)
	right := attempt(t, "correct horse")
	wrong := right
	wrong.Password = []byte("wrong")
	for _, step := range []struct {
		try      passwords.Attempt
		right    bool
		compared uint64
	}{{wrong, false, 1}, {wrong, false, 2}, {right, true, 3}, {right, true, 3}, {wrong, false, 4}} {
		got, locked, err := c.Compare(step.try, atNow, never)
		if got != step.right || locked != 0 || err != nil || c.Compared() != step.compared || c.Remembers(step.try, now) != step.right {
			t.Errorf("%s: %v, %v, %v after %d comparisons, want %v after %d", step.try.Password, got, locked, err, c.Compared(), step.right,
				step.compared)
		}
	}
}

func TestRemembers_this_password_of_this_link_for_a_minute(t *testing.T) {
	t.Parallel()
	c := passwords.New(time.Minute)
	known := attempt(t, "correct horse")
	_, _, err := c.Compare(known, atNow, never)
	testkit.Must(t, err)
	for name, step := range map[string]struct {
		change func(*passwords.Attempt)
		after  time.Duration
		want   bool
	}{
		"the same":               {func(*passwords.Attempt) {}, 59 * time.Second, true},
		"from another client":    {func(a *passwords.Attempt) { a.Client = netip.IPv6Loopback() }, 0, true},
		"of another link":        {func(a *passwords.Attempt) { a.Link++ }, 0, false},
		"after a new password":   {func(a *passwords.Attempt) { a.Hash = attempt(t, "").Hash }, 0, false},
		"after a minute":         {func(*passwords.Attempt) {}, time.Minute, false},
		"with an earlier clock":  {func(*passwords.Attempt) {}, -time.Second, false},
		"with another password":  {func(a *passwords.Attempt) { a.Password = []byte("correct") }, 0, false},
		"with a longer password": {func(a *passwords.Attempt) { a.Password = []byte("correct horses") }, 0, false},
	} {
		a := known
		step.change(&a)
		if got := c.Remembers(a, now.Add(step.after)); got != step.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A client that was locked out while it waited learns nothing about the password.
func TestCompare_lockout_comes_first(t *testing.T) {
	t.Parallel()
	c := passwords.New(time.Minute)
	right, locked, err := c.Compare(attempt(t, "correct horse"), atNow, func() time.Duration { return time.Hour })
	if right || locked != time.Hour || err != nil || c.Compared() != 0 {
		t.Errorf("%v, %v, %v after %d comparisons", right, locked, err, c.Compared())
	}
}

func TestCompare_busy(t *testing.T) {
	t.Parallel()
	c := passwords.New(time.Millisecond)
	a := attempt(t, "correct horse")
	_, _, err := c.Compare(a, atNow, func() time.Duration {
		if right, _, err := c.Compare(a, atNow, never); right || !errors.Is(err, passwords.ErrBusy) {
			t.Errorf("while another has the slot: %v, %v", right, err)
		}
		return 0
	})
	if err != nil || c.Compared() != 1 {
		t.Errorf("%v after %d comparisons", err, c.Compared())
	}
}
