//go:build proof

package api_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/manage/accounts"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Concurrent guesses from 24 addresses must not block sign-ins from other addresses. A request waits at most 5 s for a
// bcrypt slot, so the test does not run in parallel with others. On a busy machine, two of the sign-ins may time out.
func TestLow_BcryptSlots(t *testing.T) {
	w := newWorld(t, storetest.Open(t), func(w *world, _ *api.Config, d *api.Deps) {
		passwords, err := auth.NewPasswords(bcrypt.DefaultCost) // as in production, where a comparison is slow
		w.ok(err)
		d.Accounts, err = accounts.New(accounts.Config{EncryptionKeys: [][]byte{[]byte(strings.Repeat("e", 32))}, Now: w.clock.now},
			w.store, d.Auth, passwords)
		w.ok(err)
	})
	var responses atomic.Int64
	var flood sync.WaitGroup
	stop := make(chan struct{})
	for i := range 24 * 8 {
		flood.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				w.do("POST", "/api/auth/login", login(fmt.Sprintf("nobody-%d-%d@example.com", i, n), "wrong", ""),
					from(fmt.Sprintf("198.51.100.%d:1", i%24)))
				responses.Add(1)
			}
		})
	}
	testkit.Eventually(w.t, "the flood has filled the queue", func() bool { return responses.Load() > 24 })
	statuses := map[int]int{}
	for i := range 10 {
		statuses[w.do("POST", "/api/auth/login", login(userMail, password, ""), from(fmt.Sprintf("192.0.2.%d:1", i+1))).StatusCode]++
	}
	close(stop)
	flood.Wait()
	t.Logf("statuses of 10 sign-ins during the flood: %v", statuses)
	if statuses[200] < 8 {
		t.Errorf("statuses of 10 sign-ins during the flood: %v", statuses)
	}
}
