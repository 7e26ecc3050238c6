//go:build proof && linux

package auth_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"
	"golang.org/x/sys/unix"

	"github.com/shortline/shortline/control/internal/manage/accounts"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// processor returns the CPU time of this thread in nanoseconds, which getrusage does not have. Unlike wall time, it
// does not depend on other load, so a few dozen attempts show differences that a patient attacker could measure.
func processor(t *testing.T) time.Duration {
	var at unix.Timespec
	testkit.Must(t, unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &at))
	return time.Duration(at.Nano())
}

func quantile(d []time.Duration, q float64) time.Duration {
	s := slices.Sorted(slices.Values(d))
	return s[int(q*float64(len(s)-1))]
}

// rankSum is the Mann-Whitney test whether the values of one sample tend to be larger. It returns z, and the
// probability of such a z if they do not. Samples must have some dozens of values or more.
func rankSum(a, b []time.Duration) string {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	n, m := float64(len(a)), float64(len(b))
	var u, ties float64 // pairs with a larger a, equal pairs count half; correction for equal values
	below, equal := 0, 0
	for i := 0; i < len(a); {
		same := i
		for same < len(a) && a[same] == a[i] {
			same++
		}
		for below < len(b) && b[below] < a[i] {
			below++
		}
		for equal = below; equal < len(b) && b[equal] == a[i]; equal++ {
		}
		u += float64(same-i) * (float64(below) + float64(equal-below)/2)
		i = same
	}
	both := slices.Sorted(slices.Values(slices.Concat(a, b)))
	for i := 0; i < len(both); {
		same := i
		for same < len(both) && both[same] == both[i] {
			same++
		}
		k := float64(same - i)
		ties += k*k*k - k
		i = same
	}
	z := (u - n*m/2) / math.Sqrt(n*m/12*(n+m+1-ties/((n+m)*(n+m-1))))
	return fmt.Sprintf("z %+.2f, p %.3g", z, math.Erfc(math.Abs(z)/math.Sqrt2))
}

// All failed sign-ins cost the same: one bcrypt comparison and the same number of written rows. The five kinds
// alternate, so other load affects all of them. LOGINS is the number of attempts of the first two kinds, which an
// attacker who guesses emails would compare; with hundreds, the other kinds get a tenth.
func TestLogin_tells_nothing_by_its_time(t *testing.T) {
	t.Parallel()
	rounds := 2000
	if n, err := strconv.Atoi(os.Getenv("LOGINS")); err == nil {
		rounds = n
	}
	st, a, passwords, _ := setUp(t, 0, secret('a'))
	users, err := accounts.New(accounts.Config{EncryptionKeys: [][]byte{bytes.Repeat([]byte("e"), 32)}}, st, a, passwords)
	testkit.Must(t, err)
	const right = "the right one"
	b, err := bcrypt.GenerateFromPassword([]byte(right), bcrypt.DefaultCost) // as NewPasswords(0) does
	testkit.Must(t, err)
	hash := string(b)
	ways := failedLogins(t, st, hash, right)
	took := make([][]time.Duration, len(ways))
	turn := func(way, i int) bool { return way < 2 || rounds < 100 || i%10 == 0 }
	for i := range rounds {
		for w := range ways {
			if !turn(w, i) {
				continue
			}
			ways[w].make(fmt.Sprintf("way%d-%d@example.com", w, i))
		}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var told string
	for i := -1; i < rounds; i++ { // skip the first, which opens connections and prepares statements
		for w := range ways {
			if !turn(w, i) {
				continue
			}
			email := fmt.Sprintf("way%d-%d@example.com", w, i)
			before := processor(t)
			_, err := users.Login(t.Context(), accounts.Credentials{Email: email, Password: ways[w].password})
			spent := processor(t) - before
			if !problem.Is(err, problem.Unauthorized) || told != "" && err.Error() != told {
				t.Fatalf("%s: %v", ways[w].name, err)
			}
			told = err.Error()
			if i >= 0 {
				took[w] = append(took[w], spent)
			}
		}
	}
	base := took[0]
	for i, w := range ways {
		median, p90 := quantile(took[i], 0.5), quantile(took[i], 0.9)
		off := float64(median)/float64(quantile(base, 0.5)) - 1
		late := float64(p90)/float64(quantile(base, 0.9)) - 1
		t.Logf("%-20s %5d times: median %v (%+.2f %%), p90 %v (%+.2f %%), Mann-Whitney %s", w.name, len(took[i]), median, 100*off,
			p90, 100*late,
			rankSum(took[i], base))
		if math.Abs(off) > 0.05 {
			t.Errorf("%s: the median differs by %.1f %%", w.name, 100*off)
		}
		if len(took[i]) >= 1000 && math.Abs(late) > 0.05 { // a few dozen are not conclusive
			t.Errorf("%s: the slowest tenth differs by %.1f %%", w.name, 100*late)
		}
	}
}

// Keys are found by their hash, so an almost right key takes as long as any wrong key, and neither causes a bcrypt
// comparison. KEYS is the number of attempts of each kind, with a hundred valid keys.
func TestKey_near_misses_cost_a_look_up(t *testing.T) {
	t.Parallel()
	tries := 10_000
	if n, err := strconv.Atoi(os.Getenv("KEYS")); err == nil {
		tries = n
	}
	st, a, _, u := setUp(t, 0, secret('a'))
	good := validKeys(t, st, u, 100)
	key := auth.NewKey()
	b, err := bcrypt.GenerateFromPassword([]byte(key), bcrypt.DefaultCost)
	testkit.Must(t, err)
	insertKey(t, st, u, key, b)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := processor(t)
	_ = bcrypt.CompareHashAndPassword(b, []byte("another"))
	compare := processor(t) - before

	kinds := wrongKeys(good)
	took := make([][]time.Duration, len(kinds))
	guesses := make([]string, len(kinds))
	for i := -10; i < tries; i++ { // skip the first, which open connections and prepare statements
		for k := range kinds {
			guesses[k] = kinds[k].make(max(i, 0))
		}
		// Use a random order, because each attempt profits from the CPU caches of the one before.
		for _, k := range rand.Perm(len(kinds)) {
			before := processor(t)
			_, err := a.Key(t.Context(), guesses[k], "192.0.2.1")
			spent := processor(t) - before
			if !problem.Is(err, problem.Unauthorized) || errors.Is(err, store.ErrNotFound) {
				t.Fatalf("%s: %v", kinds[k].name, err)
			}
			if i >= 0 {
				took[k] = append(took[k], spent)
			}
		}
	}
	base := took[0]
	for i, k := range kinds {
		median, p90 := quantile(took[i], 0.5), quantile(took[i], 0.9)
		off := float64(median)/float64(quantile(base, 0.5)) - 1
		t.Logf("%-20s %5d times: median %v (%+.2f %%), p90 %v, Mann-Whitney %s; bcrypt takes %v", k.name, len(took[i]), median,
			100*off, p90,
			rankSum(took[i], base), compare)
		if median > compare/4 {
			t.Errorf("%s: %v, where bcrypt takes %v", k.name, median, compare)
		}
		// A text without the form of a key is refused without a lookup. The form is documented, so this reveals
		// nothing.
		if strings.HasPrefix(k.name, "wrong a") && len(took[i]) >= 1000 && math.Abs(off) > 0.05 {
			t.Errorf("%s: the median differs by %.1f %% from that of unknown keys", k.name, 100*off)
		}
	}
	if _, err := a.Key(t.Context(), key, "192.0.2.1"); err != nil {
		t.Errorf("the key itself: %v", err)
	}
}
