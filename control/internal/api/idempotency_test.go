package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/seal"
)

func withReplies(w *world, cfg *api.Config, deps *api.Deps) {
	whole(w, cfg, deps)
	var err error
	cfg.Replies, err = seal.New("reply", []byte(strings.Repeat("r", seal.MinKey)))
	w.ok(err)
}

func (w *world) links() (n int) {
	w.t.Helper()
	w.ok(w.store.Row(w.t.Context(), `SELECT count(*) FROM urls`).Scan(&n))
	return n
}

const idempotent = "Idempotency-Key"

// A repetition gets the first answer, and changes nothing.
func TestB7_repeated_requests_take_effect_once(t *testing.T) {
	eachWith(t, withReplies, func(t *testing.T, w *world) {
		const body = `{"originalUrl":"https://example.com/once"}`
		named := func(token, key string) option { return both(as(token), with(idempotent, key)) }
		first := w.do("POST", "/api/urls", body, named(w.ann, "k1")).want(201)
		w.unchanged("a repetition", func() {
			again := w.do("POST", "/api/urls", body, named(w.ann, `"k1"`)).want(201)
			for _, name := range []string{"ETag", "Content-Type", "X-Config-Revision"} {
				if again.Header.Get(name) != first.Header.Get(name) {
					t.Errorf("%s = %q, first %q", name, again.Header.Get(name), first.Header.Get(name))
				}
			}
			if again.text != first.text || again.Header.Get("Idempotency-Replayed") != "true" || first.Header.Get("Idempotency-Replayed") != "" {
				t.Errorf("%s\nfirst %s, %v", again.text, first.text, again.Header)
			}
			w.do("POST", "/api/urls", `{"originalUrl":"https://example.com/other"}`, named(w.ann, "k1")).want(422).
				shows("code", "IDEMPOTENCY_MISMATCH")
		})

		// The key counts for one caller at one address.
		if id := w.do("POST", "/api/urls", body, named(w.bob, "k1")).want(201).str("id"); id == first.str("id") {
			t.Error("another user gets the answer")
		}
		w.do("POST", "/api/tags", `{"name":"once"}`, named(w.ann, "k1")).want(201)

		// A request that changed nothing can be corrected.
		w.do("POST", "/api/urls", `{"originalUrl":"nonsense"}`, named(w.ann, "k2")).wantField("originalUrl")
		w.do("POST", "/api/urls", body, named(w.ann, "k2")).want(201)

		// A response with a secret is repeated, and the database does not have the secret.
		key := w.do("POST", "/api/api-keys", `{"name":"robot"}`, named(w.ann, "k3")).want(201)
		if again := w.do("POST", "/api/api-keys", `{"name":"robot"}`, named(w.ann, "k3")).want(201); again.text != key.text {
			t.Errorf("%s, first %s", again.text, key.text)
		}
		var stored string
		w.ok(w.store.Row(t.Context(), `SELECT max(response) FROM idempotent_requests`).Scan(&stored))
		if !strings.HasPrefix(stored, "v1.") {
			t.Errorf("a stored response is not encrypted: %.40s", stored)
		}

		// A response that is lost, because the process was killed before it was stored.
		w.exec(`UPDATE idempotent_requests SET response = '', committed = TRUE`)
		w.unchanged("a repetition without an answer", func() {
			w.do("POST", "/api/urls", body, named(w.ann, "k1")).want(409).shows("code", "IDEMPOTENCY_UNKNOWN")
		})

		w.exec(`UPDATE idempotent_requests SET expires_at = expires_at - 24 * 3600 * 1000`)
		w.ok(w.store.Sweep(t.Context(), store.Now()))
		if id := w.do("POST", "/api/urls", body, named(w.ann, "k1")).want(201).str("id"); id == first.str("id") {
			t.Error("after a day, the key is still known")
		}
	})
}

func TestB7_bad_keys_are_refused(t *testing.T) {
	w := small(t, withReplies)
	for _, key := range []string{"", `""`, strings.Repeat("k", 256), "tab\tin it", "ключ"} {
		w.do("POST", "/api/urls", `{"originalUrl":"https://example.com"}`, both(as(w.ann), with(idempotent, key))).wantField(idempotent)
	}
	two := func(r *http.Request) { r.Header[idempotent] = []string{"a", "b"} }
	w.do("POST", "/api/urls", `{"originalUrl":"https://example.com"}`, both(as(w.ann), two)).wantField(idempotent)
	w.do("POST", "/api/imports", "url\nhttps://example.com", both(as(w.ann), with(idempotent, "k"))).wantField(idempotent)
	w.do("POST", "/api/auth/login", `{"email":"`+userMail+`","password":"`+password+`"}`, with(idempotent, "k")).want(200)
	w.do("POST", "/api/urls", "{}", with(idempotent, "k")).want(401)
	if n := w.links(); n != 0 {
		t.Errorf("%d links", n)
	}
}

// Of requests at the same time, one is processed. The others get its answer, or learn that it is being processed.
func TestB7_repetitions_at_the_same_time(t *testing.T) {
	eachWith(t, withReplies, func(t *testing.T, w *world) {
		for round := range 3 {
			before, request := w.links(), both(as(w.ann), with(idempotent, fmt.Sprint(round)))
			var answered atomic.Int32
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					r := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com"}`, request)
					switch {
					case r.StatusCode == 201:
						answered.Add(1)
					case r.StatusCode != 409 || r.str("code") != "IDEMPOTENCY_RUNNING" || r.Header.Get("Retry-After") != "1":
						t.Errorf("%d: %s", r.StatusCode, r.text)
					}
				})
			}
			all.Wait()
			if made := w.links() - before; made != 1 || answered.Load() == 0 {
				t.Errorf("%d links, %d answers", made, answered.Load())
			}
		}
	})
}
