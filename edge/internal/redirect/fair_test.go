package redirect_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/redirect"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/shared/visitor"
	"golang.org/x/crypto/bcrypt"
)

// hashed returns a password's hash. It is as expensive as the control plane's in make proof only, and not under the race
// detector, which makes bcrypt ten times slower.
func hashed(t *testing.T, password string) string {
	t.Helper()
	cost := testkit.Size(bcrypt.MinCost, bcrypt.DefaultCost)
	if raceEnabled {
		cost = bcrypt.MinCost
	}
	b, err := bcrypt.GenerateFromPassword([]byte(password), cost)
	testkit.Must(t, err)
	return string(b)
}

func behindProxy(c *redirect.Config, _ *redirect.Deps) {
	c.Trusted, _ = visitor.ParsePrefixes("127.0.0.1")
}

// One address sends correct and wrong passwords for its own links on 14 connections, so that it is never locked out for
// long. Visitors of other links with the correct password still get in. The test logs how long they wait but does not
// check it, because other tests keep the processors busy.
func TestM3_OneClientLocksOutNobody(t *testing.T) {
	t.Parallel()
	const others, visitors, connections, owned = 20, 100, 14, 40
	var links []link.Record
	mine, theirs := hashed(t, "mine"), make([]string, others)
	for i := range others {
		theirs[i] = hashed(t, fmt.Sprint("secret", i))
		links = append(links, link.Record{Key: fmt.Sprint("other", i), Destination: "https://example.com/", PasswordHash: theirs[i]})
	}
	for i := range connections * owned {
		links = append(links, link.Record{Key: fmt.Sprint("mine", i), Destination: "https://example.com/", PasswordHash: mine})
	}
	w := newWorld(t, links, behindProxy)
	var attack sync.WaitGroup
	over := make(chan struct{})
	var guesses, refused atomic.Int64
	for c := range connections {
		attack.Go(func() {
			// The client runs on the same processors, so it must not spin after a refusal.
			pace := time.NewTicker(10 * time.Millisecond)
			defer pace.Stop()
			for i := 0; ; i++ {
				select {
				case <-over:
					return
				default:
				}
				password := "mine"
				if i%5 < 4 {
					password = fmt.Sprint("wrong", i)
				}
				a := w.guess(fmt.Sprint("mine", c*owned+i/5%owned), password, from("198.51.100.7")...)
				guesses.Add(1)
				if a.StatusCode == 429 {
					refused.Add(1)
					<-pace.C
				}
			}
		})
	}
	testkit.Eventually(t, "the first guess", func() bool { return guesses.Load() > 0 }) // the slot is busy from here on
	failed, slowest := 0, time.Duration(0)
	for i := range visitors {
		began := time.Now()
		a := w.guess(fmt.Sprint("other", i%others), fmt.Sprint("secret", i%others), from(fmt.Sprintf("203.0.113.%d", i))...)
		slowest = max(slowest, time.Since(began))
		if a.StatusCode != 200 {
			failed++
		}
	}
	testkit.Eventually(t, "an attack", func() bool { return w.handler.Stats().Hashes >= others+connections })
	close(over)
	attack.Wait()
	t.Logf("%d visitors got in, the slowest after %v; the attacker made %d guesses, of which %d were refused, %d passwords were compared",
		visitors-failed, slowest, guesses.Load(), refused.Load(), w.handler.Stats().Hashes)
	if failed > 0 {
		t.Errorf("%d of %d visitors with the correct password did not get in", failed, visitors)
	}
}

// Many visitors who send the same correct password at once cost only one comparison.
func TestM3_RightPasswordIsRemembered(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []link.Record{{Key: "party", Destination: "https://example.com/", PasswordHash: secret()},
		{Key: "alike", Destination: "https://example.com/", PasswordHash: secret()}}, behindProxy)
	var crowd sync.WaitGroup
	for i := range 100 {
		crowd.Go(func() {
			if a := w.guess("party", "correct horse", from(fmt.Sprintf("203.0.113.%d", i))...); a.StatusCode != 200 {
				t.Errorf("visitor %d: %d", i, a.StatusCode)
			}
		})
	}
	crowd.Wait()
	compared := w.handler.Stats().Hashes
	if compared != 1 {
		t.Errorf("%d comparisons for many visitors with one password", compared)
	}
	for i, c := range []struct {
		slug, password string
		advance        time.Duration
		status         int
		compared       uint64
	}{
		{"party", "correct horse", 0, 200, 0},
		{"party", "wrong", 0, 401, 1},
		{"party", "wrong", 0, 401, 1}, // only correct passwords are remembered
		{"alike", "correct horse", 0, 200, 1},
		{"party", "correct horse", 61 * time.Second, 200, 1},
		{"party", "correct horse", -time.Hour, 200, 1}, // the clock was set back
	} {
		w.advance(c.advance)
		a := w.guess(c.slug, c.password, from("192.0.2.9")...)
		if now := w.handler.Stats().Hashes; a.StatusCode != c.status || now-compared != c.compared {
			t.Errorf("guess %d: %d after %d comparisons, want %d after %d", i, a.StatusCode, now-compared, c.status, c.compared)
		}
		compared = w.handler.Stats().Hashes
	}
}

// After a change of the password, the old one is wrong at once.
func TestM3_ChangedPasswordForgetsTheOld(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []link.Record{{Key: "party", Destination: "https://example.com/", PasswordHash: secret()}})
	if a := w.guess("party", "correct horse"); a.StatusCode != 200 {
		t.Fatal(a.StatusCode)
	}
	b, err := bcrypt.GenerateFromPassword([]byte("new horse"), bcrypt.MinCost)
	testkit.Must(t, err)
	w.replace(link.Record{Key: "party", Num: 1, Destination: "https://example.com/", PasswordHash: string(b)})
	if a := w.guess("party", "correct horse"); a.StatusCode != 401 {
		t.Errorf("the old password: %d", a.StatusCode)
	}
	if a := w.guess("party", "new horse"); a.StatusCode != 200 {
		t.Errorf("the new password: %d", a.StatusCode)
	}
}

// A locked client stays locked out, even with a password that is remembered as correct.
func TestM3_LockComesBeforeMemory(t *testing.T) {
	t.Parallel()
	w := newWorld(t, protected(), behindProxy)
	if a := w.guess("hidden", "correct horse", from("192.0.2.1")...); a.StatusCode != 200 {
		t.Fatal(a.StatusCode)
	}
	for range 5 {
		w.guess("hidden", "x", from("192.0.2.2")...)
	}
	if a := w.guess("hidden", "correct horse", from("192.0.2.2")...); a.StatusCode != 429 {
		t.Errorf("a locked client that knows the password: %d", a.StatusCode)
	}
}

// Comparisons are limited per client, where an IPv6 /64 is one client. A refused attempt does not count for a lockout.
// Visitors who know the password can share an address without limit.
func TestM3_VerifyIsLimited(t *testing.T) {
	t.Parallel()
	var links []link.Record
	for i := range 4 {
		links = append(links, link.Record{Key: fmt.Sprint("link", i), Destination: "https://example.com/", PasswordHash: secret()})
	}
	w := newWorld(t, links, behindProxy, func(c *redirect.Config, _ *redirect.Deps) { c.VerifyLimit = 6 })
	for i := range 6 {
		if a := w.guess(fmt.Sprint("link", i%3), "x", from(fmt.Sprintf("2001:db8::%d", i))...); a.StatusCode != 401 {
			t.Errorf("guess %d: %d", i, a.StatusCode)
		}
	}
	for i := range 20 {
		if a := w.guess("link3", "x", from("2001:db8::9")...); a.StatusCode != 429 || a.Header.Get("Retry-After") != "10" {
			t.Fatalf("guess %d over the limit: %d, Retry-After %q", i, a.StatusCode, a.Header.Get("Retry-After"))
		}
	}
	if a := w.guess("link3", "correct horse", from("2001:db8:0:1::9")...); a.StatusCode != 200 {
		t.Errorf("another client: %d", a.StatusCode)
	}
	if a := w.guess("link3", "correct horse", from("2001:db8::9")...); a.StatusCode != 200 {
		t.Errorf("a password that was correct a moment ago: %d", a.StatusCode)
	}
	if a := w.get("/link3", from("2001:db8::9")...); a.StatusCode != 200 {
		t.Errorf("the form: %d", a.StatusCode)
	}
	if s := w.handler.Stats(); s.Limited != 20 || s.Hashes != 7 {
		t.Errorf("%d limited and %d compared, want 20 and 7", s.Limited, s.Hashes)
	}
}
