package api_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/shortline/shortline/control/internal/store"
)

// pair begins a pairing and returns the program's code and the user's.
func (w *world) pair() (device, code string) {
	w.t.Helper()
	r := w.do("POST", "/api/auth/pairings", `{"name":"shortline on laptop"}`).want(201)
	if address := r.str("url"); !strings.HasSuffix(address, "/login/pair?code="+r.str("userCode")) {
		w.t.Errorf("the address of the page is %s", address)
	}
	return r.str("deviceCode"), r.str("userCode")
}

// change changes the database behind the API's back.
func (w *world) change(query string, args ...any) {
	w.t.Helper()
	w.ok(w.store.Tx(w.t.Context(), func(tx *store.Tx) error { return tx.Do(w.t.Context(), query, args...) }))
}

func (w *world) redeem(device string) *reply {
	w.t.Helper()
	return w.do("POST", "/api/auth/pairings/redeem", `{"deviceCode":"`+device+`"}`)
}

func TestPairing_gives_a_program_the_key_that_its_user_confirms(t *testing.T) {
	w := small(t, manyKeys(0))
	device, code := w.pair()
	w.redeem(device).want(200).shows("status", "PENDING", "key", nil, "apiKey", nil)
	w.do("GET", "/api/auth/pairings?code="+code, "", as(w.ann)).want(200).shows("name", "shortline on laptop", "userCode", code)
	w.do("GET", "/api/auth/pairings?code="+strings.ToLower(strings.ReplaceAll(code, "-", "")), "", as(w.ann)).want(200)
	w.do("POST", "/api/auth/pairings/approve", `{"code":"`+code+`","name":"laptop","scopes":["links:read"]}`, as(w.ann)).want(204)
	r := w.redeem(device).want(200).shows("status", "APPROVED", "apiKey.name", "laptop", "apiKey.scopes.0", "links:read")
	key := with("X-API-Key", r.str("key"))
	w.do("GET", "/api/auth/me", "", key).want(200)
	w.do("GET", "/api/api-keys", "", key).want(403)
	// Each code works once.
	w.redeem(device).want(404)
	w.do("GET", "/api/auth/pairings?code="+code, "", as(w.ann)).want(404)
	w.do("POST", "/api/auth/pairings/approve", `{"code":"`+code+`","name":"again"}`, as(w.ann)).want(404)
	// The key, which may do little else, ends itself.
	w.do("POST", "/api/auth/key/revoke", `{"prefix":"sl_0000000"}`, key).want(404)
	w.do("POST", "/api/auth/key/revoke", `{"prefix":"`+r.str("key")[:10]+`"}`, key).want(204)
	w.do("GET", "/api/auth/me", "", key).want(401)
}

func TestPairing_refused_or_expired_gives_nothing(t *testing.T) {
	w := small(t, manyKeys(0))
	device, code := w.pair()
	w.do("POST", "/api/auth/pairings/refuse", `{"code":"`+code+`"}`, as(w.ann)).want(204)
	w.redeem(device).want(200).shows("status", "REFUSED", "key", nil)
	w.do("POST", "/api/auth/pairings/approve", `{"code":"`+code+`","name":"k"}`, as(w.ann)).want(404)
	device, code = w.pair()
	w.change(`UPDATE pairings SET expires_at = ? WHERE code = ?`, 1, code)
	w.redeem(device).want(404)
	w.do("POST", "/api/auth/pairings/approve", `{"code":"`+code+`","name":"k"}`, as(w.ann)).want(404)
	w.do("POST", "/api/auth/pairings", `{"name":" "}`).wantField("name")
	device, code = w.pair()
	w.do("POST", "/api/auth/pairings/approve", `{"code":"`+code+`","name":"k","scopes":["all"]}`, as(w.ann)).wantField("scopes.0")
	w.redeem(device).want(200).shows("status", "PENDING")
}

// A key is made when the program redeems its code, with the permissions that the user has at that time.
func TestPairing_checks_the_user_again(t *testing.T) {
	w := small(t, manyKeys(0))
	device, code := w.pair()
	w.do("POST", "/api/auth/pairings/approve", `{"code":"`+code+`","name":"k"}`, as(w.ann)).want(204)
	w.change(`UPDATE workspace_members SET role = 'VIEWER' WHERE user_id = (SELECT user_id FROM pairings WHERE code = ?)`, code)
	w.redeem(device).want(403)
	device, code = w.pair()
	w.do("POST", "/api/auth/pairings/approve", `{"code":"`+code+`","name":"k"}`, as(w.ann)).want(403)
	w.redeem(device).want(200).shows("status", "PENDING")
}

func TestPairing_is_redeemed_once_by_concurrent_requests(t *testing.T) {
	w := small(t, manyKeys(0))
	device, code := w.pair()
	w.do("POST", "/api/auth/pairings/approve", `{"code":"`+code+`","name":"k"}`, as(w.ann)).want(204)
	var made atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if r := w.redeem(device); r.StatusCode == 200 && r.str("status") == "APPROVED" {
				made.Add(1)
			}
		})
	}
	all.Wait()
	if made.Load() != 1 {
		t.Errorf("%d keys were made", made.Load())
	}
}
