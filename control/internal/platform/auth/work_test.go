package auth_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/shortline/shortline/control/internal/manage/accounts"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// attempt is a way to fail: make prepares one that is new, unless nothing has to be prepared.
type attempt struct {
	name, password string
	make           func(email string)
}

// failedLogins returns all ways to fail at a sign-in. hash is the hash of the right password.
func failedLogins(t *testing.T, st *store.Store, hash, right string) []attempt {
	t.Helper()
	// Each try has a user of its own, as the throttle would answer the sixth at once.
	user := func(email string, hash *string, active bool) {
		testkit.Must(t, st.Tx(t.Context(), func(tx *store.Tx) error {
			_, err := tx.InsertUser(t.Context(), store.User{ID: store.NewID(), Email: email, Role: "USER", Active: active,
				PasswordHash: hash})
			return err
		}))
	}
	return []attempt{
		{name: "wrong password", password: "the wrong one", make: func(email string) { user(email, &hash, true) }},
		{name: "unknown email", password: "the wrong one", make: func(string) {}},
		{name: "no password set", password: "the wrong one", make: func(email string) { user(email, nil, true) }},
		{name: "not active", password: right, make: func(email string) { user(email, &hash, false) }},
		{name: "too long a password", password: strings.Repeat("x", 2000), make: func(email string) { user(email, &hash, true) }},
	}
}

// wrongKey is a way to guess a key. make returns guess i.
type wrongKey struct {
	name string
	make func(i int) string
}

// wrongKeys returns all kinds of guesses near valid keys.
func wrongKeys(good []string) []wrongKey {
	// swapped returns a valid key with one changed random character, and its checksum. A negative position counts from
	// the end of the random part.
	swapped := func(i, at int) string {
		k := []byte(good[i%len(good)][len(auth.KeyPrefix):57])
		if at < 0 {
			at += len(k)
		}
		if k[at] != 'x' {
			k[at] = 'x'
		} else {
			k[at] = 'y'
		}
		return checked(string(k))
	}
	return []wrongKey{
		{"unknown", func(int) string { return auth.NewKey() }},
		{"wrong at the end", func(i int) string { return swapped(i, -1) }},
		{"wrong at the start", func(i int) string { return swapped(i, 0) }},
		{"wrong anywhere", func(i int) string { return swapped(i, i/len(good)%54) }},
		{"wrong checksum", func(i int) string { return good[i%len(good)][:57] + "000000" }},
		{"wrong prefix", func(i int) string { return "SL_" + good[i%len(good)][len(auth.KeyPrefix):] }},
		{"too short", func(i int) string { return good[i%len(good)][:len(good[0])-1] }},
	}
}

func insertKey(t *testing.T, st *store.Store, u store.User, key string, hash []byte) {
	t.Helper()
	testkit.Must(t, st.Tx(t.Context(), func(tx *store.Tx) error {
		return tx.InsertKey(t.Context(), store.Key{ID: store.NewID(), UserID: u.ID, Name: "k", Prefix: key[:8], Lookup: auth.Digest(key),
			Hash: string(hash)})
	}))
}

// validKeys stores n keys, whose hashes match nothing.
func validKeys(t *testing.T, st *store.Store, u store.User, n int) []string {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte("what no key is"), bcrypt.MinCost)
	testkit.Must(t, err)
	keys := make([]string, n)
	for i := range keys {
		keys[i] = auth.NewKey()
		insertKey(t, st, u, keys[i], hash)
	}
	return keys
}

// All failed sign-ins get the same answer and cost one comparison with a hash of the same cost. TestLogin_tells_nothing_by_its_time
// measures their time.
func TestLogin_compares_one_hash(t *testing.T) {
	t.Parallel()
	const cost = bcrypt.MinCost + 1
	st, a, passwords, _ := setUp(t, cost, secret('a'))
	var costs []int
	auth.OnCompare(passwords, a, func(hash []byte) {
		c, err := bcrypt.Cost(hash)
		if err != nil {
			t.Error(err)
		}
		costs = append(costs, c)
	})
	users, err := accounts.New(accounts.Config{EncryptionKeys: [][]byte{bytes.Repeat([]byte("e"), 32)}}, st, a, passwords)
	testkit.Must(t, err)
	const right = "the right one"
	b, err := bcrypt.GenerateFromPassword([]byte(right), cost)
	testkit.Must(t, err)
	answer := ""
	for i, w := range failedLogins(t, st, string(b), right) {
		email := fmt.Sprintf("way%d@example.com", i)
		w.make(email)
		costs = nil
		_, err := users.Login(t.Context(), accounts.Credentials{Email: email, Password: w.password})
		if !problem.Is(err, problem.Unauthorized) || answer != "" && err.Error() != answer {
			t.Errorf("%s: %v", w.name, err)
		}
		answer = err.Error()
		if !slices.Equal(costs, []int{cost}) {
			t.Errorf("%s: comparisons with hashes of the costs %v, want one of %d", w.name, costs, cost)
		}
	}
}

// Keys are found by their hash, so no almost right key causes a comparison. TestKey_near_misses_cost_a_look_up measures their time.
func TestKey_near_misses_compare_nothing(t *testing.T) {
	t.Parallel()
	st, a, passwords, u := setUp(t, bcrypt.MinCost, secret('a'))
	compared := 0
	auth.OnCompare(passwords, a, func([]byte) { compared++ })
	for _, k := range wrongKeys(validKeys(t, st, u, 3)) {
		for i := range 3 {
			if _, err := a.Key(t.Context(), k.make(i), "192.0.2.1"); !problem.Is(err, problem.Unauthorized) || compared > 0 {
				t.Errorf("%s: %v after %d comparisons", k.name, err, compared)
			}
		}
	}
	key := auth.NewKey()
	addKey(t, st, passwords, store.Key{UserID: u.ID}, key)
	if _, err := a.Key(t.Context(), key, "192.0.2.1"); err != nil || compared != 1 {
		t.Errorf("the key itself: %v after %d comparisons", err, compared)
	}
}
