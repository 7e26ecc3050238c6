package auth_test

import (
	"fmt"
	"hash/crc32"
	"math/big"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// swapCase turns the digits of math/big, where lower case comes first, into those of keys.
func swapCase(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return r
	}, s)
}

// checked returns a key with a valid checksum, computed in another way than by package auth.
func checked(random string) string {
	sum := new(big.Int).SetUint64(uint64(crc32.ChecksumIEEE([]byte(random)))).Text(62)
	return "sl_" + random + strings.Repeat("0", 6-len(sum)) + swapCase(sum)
}

// addKey stores the row of a key, so that only the key's form can lead to a refusal.
func addKey(t *testing.T, st *store.Store, p *auth.Passwords, k store.Key, key string) {
	t.Helper()
	hash, err := p.Hash(t.Context(), key)
	testkit.Must(t, err)
	k.ID, k.Lookup, k.Hash = store.NewID(), auth.Digest(key), hash
	testkit.Must(t, st.Tx(t.Context(), func(tx *store.Tx) error { return tx.InsertKey(t.Context(), k) }))
}

func TestKey_forms(t *testing.T) {
	t.Parallel()
	st, a, p, u := setUp(t, bcrypt.MinCost, secret('a'))
	random := strings.Repeat("0", 54)
	for key, valid := range map[string]bool{
		// The checksums were computed with Python's zlib.crc32.
		"sl_000000000000000000000000000000000000000000000000000000" + "4duRqh": true,
		"sl_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqr" + "4V2DQO": true,
		"sl_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz" + "2VlYCY": true,
		"sl_0000738434ShortlineShortlineShortlineShortlineShortlin" + "00014l": true, // digits in front are zero
		"sl_0001954105ShortlineShortlineShortlineShortlineShortlin" + "4gfEgc": true,
		"sl_" + strings.Repeat("a", 61):                                        true, // of an earlier release
		"sl_" + random + "4duRqi":                                              false,
		"sl_" + random + "4DUrQH":                                              false, // other digits of base62
		"sl_" + random + "hqRud4":                                              false, // least significant digit first
		"sl_1" + random[1:] + "4duRqh":                                         false,
		"sl_" + random[1:] + "4duRqh":                                          false,
		"sl_" + strings.Repeat("a", 60):                                        false,
		"sl_" + strings.Repeat("a", 62):                                        false,
		"sl_" + strings.Repeat("é", 30):                                        false,
		"SL_" + strings.Repeat("a", 61):                                        false,
		"sl_-" + strings.Repeat("a", 60):                                       false,
		"sl_":                                                                  false,
	} {
		addKey(t, st, p, store.Key{UserID: u.ID}, key)
		if _, err := a.Key(t.Context(), key, ""); (err == nil) != valid || err != nil && !problem.Is(err, problem.Unauthorized) {
			t.Errorf("%s: %v", key, err)
		}
	}
	for range 100 {
		if key := auth.NewKey(); key != checked(key[3:57]) {
			t.Errorf("the checksum of %s is wrong", key)
		}
	}
}

func TestKey_addresses(t *testing.T) {
	t.Parallel()
	st, a, p, u := setUp(t, bcrypt.MinCost, secret('a'))
	key := auth.NewKey()
	addKey(t, st, p, store.Key{UserID: u.ID, AllowedIPs: "203.0.113.0/24 2001:db8:1::/48 192.0.2.1"}, key)
	for ip, allowed := range map[string]bool{
		"203.0.113.0": true, "203.0.113.255": true, "::ffff:203.0.113.9": true, "192.0.2.1": true, "2001:db8:1:ffff::1": true,
		"2001:db8:1::1%eth0": true,
		"203.0.114.0":        false, "192.0.2.2": false, "2001:db8:2::1": false, "::1": false, "127.0.0.1": false, "": false,
		"proxy":                     false,
		"203.0.113.1, 198.51.100.1": false,
	} {
		_, err := a.Key(t.Context(), key, ip)
		if allowed && err != nil || !allowed && !problem.Is(err, problem.Forbidden) {
			t.Errorf("from %q: %v", ip, err)
		}
		if !allowed && !strings.Contains(fmt.Sprint(err), ip) {
			t.Errorf("the error does not name %q: %v", ip, err)
		}
	}
	broken := auth.NewKey() // written by hand, or by a release with other forms
	addKey(t, st, p, store.Key{UserID: u.ID, AllowedIPs: "office"}, broken)
	if _, err := a.Key(t.Context(), broken, "192.0.2.1"); !problem.Is(err, problem.Forbidden) {
		t.Errorf("networks that cannot be read allow an address: %v", err)
	}
}

func TestKey_principals(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		p, err := auth.NewPasswords(bcrypt.MinCost)
		testkit.Must(t, err)
		a, err := auth.NewAuthenticator(auth.Config{Secrets: [][]byte{secret('a')}}, st, p)
		testkit.Must(t, err)
		root := store.User{ID: store.NewID(), Email: "root@example.com", Role: "ADMIN", Active: true}
		team, foreign := store.Workspace{ID: store.NewID(), Name: "Team", Slug: "team"}, store.Workspace{ID: store.NewID(), Name: "Foreign",
			Slug: "foreign"}
		testkit.Must(t, st.Tx(t.Context(), func(tx *store.Tx) (err error) {
			if root.Num, err = tx.InsertUser(t.Context(), root); err != nil {
				return err
			}
			other := store.User{ID: store.NewID(), Email: "a@example.com", Role: "USER", Active: true}
			if _, err := tx.InsertUser(t.Context(), other); err != nil {
				return err
			}
			if err := tx.InsertWorkspace(t.Context(), &foreign, other.ID); err != nil {
				return err
			}
			return tx.InsertWorkspace(t.Context(), &team, root.ID)
		}))
		use := func(k store.Key) (auth.Principal, error) {
			t.Helper()
			key := auth.NewKey()
			k.UserID = root.ID
			addKey(t, st, p, k, key)
			return a.Key(t.Context(), key, "192.0.2.1")
		}
		if got, err := use(store.Key{}); err != nil || !got.SeesAll() || got.Scopes != 0 || got.Workspace.Num != root.Num {
			t.Errorf("an unlimited key of an administrator: %+v, %v", got, err)
		}
		if got, err := use(store.Key{Scopes: "links:read"}); err != nil || got.IsAdmin() || got.Scope() != root.Num ||
			got.Scopes != auth.LinksRead || got.Workspace.Role != auth.Owner {
			t.Errorf("a key with a scope: %+v, %v", got, err)
		}
		if got, err := use(store.Key{Scopes: "planets:move"}); err != nil || got.IsAdmin() || got.Scopes.Allow(auth.LinksRead) ||
			got.Scopes.Allow(0) || len(got.Scopes.Names()) != 0 {
			t.Errorf("a key with a scope of a newer release: %+v, %v", got, err)
		}
		if got, err := use(store.Key{Workspace: team.Num}); err != nil || got.IsAdmin() || got.Scope() != team.Num ||
			got.Workspace.Role != auth.Owner {
			t.Errorf("a key of a team: %+v, %v", got, err)
		}
		if got, err := use(store.Key{Workspace: foreign.Num}); !problem.Is(err, problem.Unauthorized) {
			t.Errorf("a key of a workspace whose member its user is not: %+v, %v", got, err)
		}
		past := time.Now().Add(-time.Second).UnixMilli()
		if _, err := use(store.Key{ExpiresAt: &past, AllowedIPs: "203.0.113.1"}); !problem.Is(err, problem.Expired) {
			t.Errorf("an expired key at a forbidden address: %v", err)
		}
	})
}

// A release before 0024 inserts rows without the new columns.
func TestKey_of_an_earlier_release(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		p, err := auth.NewPasswords(bcrypt.MinCost)
		testkit.Must(t, err)
		a, err := auth.NewAuthenticator(auth.Config{Secrets: [][]byte{secret('a')}}, st, p)
		testkit.Must(t, err)
		key := "sl_" + strings.Repeat("Zz9", 20) + "0"
		hash, err := p.Hash(t.Context(), key)
		testkit.Must(t, err)
		u := store.User{ID: store.NewID(), Email: "a@example.com", Role: "ADMIN", Active: true}
		testkit.Must(t, st.Tx(t.Context(), func(tx *store.Tx) error {
			if _, err := tx.InsertUser(t.Context(), u); err != nil {
				return err
			}
			_, err := tx.Exec(t.Context(),
				`INSERT INTO api_keys (id, user_id, name, prefix, lookup, hash, expires_at, created_at) VALUES ('k', ?, 'CI', 'sl_Zz9Zz9Z', ?, ?, `+
					`NULL, 1)`, u.ID, auth.Digest(key), hash)
			return err
		}))
		got, err := a.Key(t.Context(), key, "192.0.2.1")
		if err != nil || !got.SeesAll() || got.KeyID != "k" {
			t.Errorf("%+v, %v", got, err)
		}
		if list, err := st.AllKeys(t.Context(), true); err != nil || len(list) != 1 || list[0].Checksummed || list[0].Scopes != "" ||
			list[0].AllowedIPs != "" {
			t.Errorf("%+v, %v", list, err)
		}
	})
}

func TestKey_last_use(t *testing.T) {
	t.Parallel()
	st, a, p, u := setUp(t, bcrypt.MinCost, secret('a'))
	stop := testkit.Run(t, a.Run)
	key := auth.NewKey()
	addKey(t, st, p, store.Key{UserID: u.ID}, key)
	last := func() store.Key {
		t.Helper()
		list, err := st.Keys(t.Context(), u.ID)
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		return list[0]
	}
	for _, ip := range []string{"192.0.2.1", "::ffff:192.0.2.2", "2001:db8::1"} {
		nextMillisecond(t) // a use in the same millisecond does not replace another
		if _, err := a.Key(t.Context(), key, ip); err != nil {
			t.Fatal(err)
		}
		testkit.Eventually(t, "the use from "+ip+" is stored", func() bool {
			return last().LastUsedIP == strings.TrimPrefix(ip, "::ffff:")
		})
	}
	// Within a minute, another use from a known address is not written.
	before := *last().LastUsedAt
	stop()
	nextMillisecond(t)
	if _, err := a.Key(t.Context(), key, "192.0.2.1"); err != nil || a.UsesQueued() != 0 {
		t.Fatalf("%v, %d uses to write", err, a.UsesQueued())
	}
	if k := last(); *k.LastUsedAt != before || k.LastUsedIP != "2001:db8::1" {
		t.Errorf("%+v", k)
	}
}

func nextMillisecond(t *testing.T) {
	t.Helper()
	now := time.Now().UnixMilli()
	testkit.Eventually(t, "the next millisecond", func() bool { return time.Now().UnixMilli() > now })
}
