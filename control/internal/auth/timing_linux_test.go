package auth_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/shortline/shortline/control/internal/accounts"
	"github.com/shortline/shortline/control/internal/auth"
	"github.com/shortline/shortline/control/internal/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// processor is how long this thread has had a processor. Unlike the time on the wall it does not depend on what
// else the machine does, so a few dozen tries tell apart what a patient guesser could.
func processor(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_THREAD, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func quantile(d []time.Duration, q float64) time.Duration {
	s := slices.Sorted(slices.Values(d))
	return s[int(q*float64(len(s)-1))]
}

// rankSum is the z of Mann and Whitney's test that one sample's values are not larger than another's, without ties.
func rankSum(a, b []time.Duration) float64 {
	var u float64
	for _, x := range a {
		for _, y := range b {
			switch {
			case x > y:
				u++
			case x == y:
				u += 0.5
			}
		}
	}
	n, m := float64(len(a)), float64(len(b))
	return (u - n*m/2) / math.Sqrt(n*m*(n+m+1)/12)
}

// However a sign-in fails, it costs the same: one comparison with bcrypt, and the same rows written. The five ways take
// turns, so whatever slows the machine slows all of them. LOGINS says how many of each there are.
func TestLogin_tells_nothing_by_its_time(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds of bcrypt")
	}
	t.Parallel()
	rounds := 15
	if n, err := strconv.Atoi(os.Getenv("LOGINS")); err == nil {
		rounds = n
	}
	st, a, passwords, _ := setUp(t, 0, secret('a'))
	users, err := accounts.New(accounts.Config{EncryptionKeys: [][]byte{bytes.Repeat([]byte("e"), 32)}}, st, a, passwords)
	if err != nil {
		t.Fatal(err)
	}
	const right = "the right one"
	b, err := bcrypt.GenerateFromPassword([]byte(right), bcrypt.DefaultCost) // what NewPasswords(0) makes
	if err != nil {
		t.Fatal(err)
	}
	hash := string(b)
	// Each try has a user of its own, as the throttle would answer the sixth at once.
	user := func(email string, hash *string, active bool) {
		if err := st.Tx(t.Context(), func(tx *store.Tx) error {
			_, err := tx.InsertUser(t.Context(), store.User{ID: store.NewID(), Email: email, Role: "USER", Active: active, PasswordHash: hash})
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	ways := []struct {
		name, password string
		make           func(email string)
		took           []time.Duration
	}{
		{name: "wrong password", password: "the wrong one", make: func(email string) { user(email, &hash, true) }},
		{name: "unknown email", password: "the wrong one", make: func(string) {}},
		{name: "no password set", password: "the wrong one", make: func(email string) { user(email, nil, true) }},
		{name: "not active", password: right, make: func(email string) { user(email, &hash, false) }},
		{name: "too long a password", password: strings.Repeat("x", 2000), make: func(email string) { user(email, &hash, true) }},
	}
	for i := range rounds {
		for w := range ways {
			ways[w].make(fmt.Sprintf("way%d-%d@example.com", w, i))
		}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var told string
	for i := -1; i < rounds; i++ { // the first is not counted: it makes connections and statements
		for w := range ways {
			email := fmt.Sprintf("way%d-%d@example.com", w, i)
			before := processor(t)
			_, err := users.Login(t.Context(), accounts.Credentials{Email: email, Password: ways[w].password})
			took := processor(t) - before
			if !problem.Is(err, problem.Unauthorized) || told != "" && err.Error() != told {
				t.Fatalf("%s: %v", ways[w].name, err)
			}
			told = err.Error()
			if i >= 0 {
				ways[w].took = append(ways[w].took, took)
			}
		}
	}
	base := ways[0].took
	for _, w := range ways {
		median, p90 := quantile(w.took, 0.5), quantile(w.took, 0.9)
		off := float64(median)/float64(quantile(base, 0.5)) - 1
		t.Logf("%-20s median %v (%+.2f %%), p90 %v, Mann-Whitney z %+.2f", w.name, median, 100*off, p90, rankSum(w.took, base))
		if math.Abs(off) > 0.05 {
			t.Errorf("%s: the median differs by %.1f %%", w.name, 100*off)
		}
	}
}

// A key is looked for by its hash: one that is nearly right is as far off as any other, and neither costs a comparison
// with bcrypt.
func TestKey_near_misses_cost_a_look_up(t *testing.T) {
	t.Parallel()
	st, a, _, u := setUp(t, 0, secret('a'))
	key := auth.NewKey()
	b, err := bcrypt.GenerateFromPassword([]byte(key), bcrypt.DefaultCost)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Tx(t.Context(), func(tx *store.Tx) error {
		return tx.InsertKey(t.Context(), store.Key{ID: store.NewID(), UserID: u.ID, Name: "k", Prefix: key[:8], Lookup: auth.KeyLookup(key), Hash: string(b)})
	}); err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	spent := func(f func()) time.Duration {
		before := processor(t)
		f()
		return processor(t) - before
	}
	compare := spent(func() { _ = bcrypt.CompareHashAndPassword(b, []byte("another")) })
	near := []byte(key)
	if near[len(near)-1]++; !('0' <= near[len(near)-1] && near[len(near)-1] <= '9' || 'a' <= near[len(near)-1]|0x20 && near[len(near)-1]|0x20 <= 'z') {
		near[len(near)-1] = '0'
	}
	const n = 100
	for name, make := range map[string]func() string{"nearly right": func() string { return string(near) }, "unknown": auth.NewKey, "of another form": func() string { return key[1:] }} {
		took := spent(func() {
			for range n {
				if _, err := a.Key(t.Context(), make()); !problem.Is(err, problem.Unauthorized) || errors.Is(err, store.ErrNotFound) {
					t.Fatal(err)
				}
			}
		})
		t.Logf("%s: %v each, bcrypt takes %v", name, took/n, compare)
		if took > n*compare/4 {
			t.Errorf("%s: %v each, where bcrypt takes %v", name, took/n, compare)
		}
	}
	if _, err := a.Key(t.Context(), key); err != nil {
		t.Errorf("the key itself: %v", err)
	}
}
