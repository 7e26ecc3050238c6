package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// largeLogin returns a request without authentication, with a body that is large enough to need a slot.
func largeLogin() *http.Request {
	body := `{"email":"a@example.com","password":"x","more":"` + strings.Repeat("x", 70<<10) + `"}`
	r := httptest.NewRequest(http.MethodPost, "http://sho.rt/api/auth/login", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return r
}

// Decoding a large body needs many times its size in memory, so a limited number is decoded at a time. Small bodies do
// not wait.
func TestLarge_bodies_take_turns(t *testing.T) {
	w := small(t, func(_ *world, cfg *api.Config, _ *api.Deps) { cfg.Timeout = 500 * time.Millisecond })
	var others []string
	for i := range api.LargeBodies {
		others = append(others, fmt.Sprint("other ", i))
	}
	release := w.server.TakeTurns(others...)
	began := time.Now()
	rec := httptest.NewRecorder()
	w.server.Handler().ServeHTTP(rec, largeLogin())
	if d := time.Since(began); rec.Code != http.StatusServiceUnavailable || d < 400*time.Millisecond {
		t.Errorf("while all slots are taken: %d after %v", rec.Code, d)
	}
	w.do("POST", "/api/auth/login", `{"email":"a@example.com","password":"x"}`).want(401)
	release()
	for range 20 { // each request releases its slot
		rec = httptest.NewRecorder()
		w.server.Handler().ServeHTTP(rec, largeLogin())
		if rec.Code != http.StatusBadRequest { // the body has an unknown property
			t.Fatalf("afterwards: %d %s", rec.Code, rec.Body)
		}
	}
}

// A client that does not read the response to a large body does not keep its slot.
func TestLarge_bodies_with_unread_responses(t *testing.T) {
	w := small(t, func(_ *world, cfg *api.Config, _ *api.Deps) { cfg.Timeout = 2 * time.Second })
	hold := make(chan struct{})
	writing := make(chan struct{}, 20)
	over := make(chan struct{}, 20)
	for range 20 {
		go func() {
			w.server.Handler().ServeHTTP(&stuck{httptest.NewRecorder(), writing, hold}, largeLogin())
			over <- struct{}{}
		}()
	}
	testkit.Eventually(t, "all responses have started", func() bool { return len(writing) == 20 })
	close(hold)
	for range 20 {
		<-over
	}
}

// stuck is a response whose client does not read until hold is closed.
type stuck struct {
	*httptest.ResponseRecorder
	writing chan<- struct{}
	hold    <-chan struct{}
}

func (s *stuck) Write(b []byte) (int, error) {
	select {
	case s.writing <- struct{}{}:
	default:
	}
	<-s.hold
	return len(b), nil
}

// The response to a body with tens of thousands of problems has the first thousand and the total number.
func TestLarge_lists_of_problems_are_cut(t *testing.T) {
	w := small(t, nil)
	var body strings.Builder
	body.WriteString(`{"email":"a@example.com","password":"x"`)
	const problems = 49_000
	for i := range problems {
		fmt.Fprintf(&body, `,"p%05d":1`, i)
	}
	body.WriteString("}")
	r := w.do("POST", "/api/auth/login", body.String()).want(http.StatusBadRequest).shows("errors.#", 1000)
	if !strings.Contains(r.str("message"), fmt.Sprintf("first 1000 of %d problems", problems)) {
		t.Error(r.str("message"))
	}
}
