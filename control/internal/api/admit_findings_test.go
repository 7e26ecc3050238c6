package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/api"
)

// gone is a response whose client has disconnected.
type gone struct{ *httptest.ResponseRecorder }

func (gone) Write([]byte) (int, error) { return 0, fmt.Errorf("write tcp: broken pipe") }

// A response to a closed connection logs no stack.
func TestLow_closed_connections_log_no_stack(t *testing.T) {
	w := small(t, nil)
	r := httptest.NewRequest(http.MethodGet, "http://sho.rt/api/auth/me", nil)
	r.Header.Set("Authorization", "Bearer "+w.ann)
	w.server.Handler().ServeHTTP(gone{httptest.NewRecorder()}, r)
	if logs := w.logs.String(); !strings.Contains(logs, "broken pipe") || strings.Contains(logs, "goroutine ") {
		t.Error(logs)
	}
}

// Another site cannot sign a browser in to an account of its own.
func TestLow_foreign_sites_sign_nobody_in(t *testing.T) {
	w := newWorld(t, usual(t), teams)
	_, token := w.invite(w.newTeam("Growth"), "zoe@example.com", "EDITOR", w.ann)
	for path, body := range map[string]string{
		"/api/auth/login":                 login(userMail, password, ""),
		"/api/auth/passkeys/login/finish": `{"credential":{}}`,
		"/api/invitations/accept":         fmt.Sprintf(`{"token":%q%s}`, token, newcomer),
	} {
		for _, foreign := range []option{with("Origin", "https://evil.example"), with("Sec-Fetch-Site", "cross-site")} {
			if r := w.do("POST", path, body, foreign).want(403); len(r.Cookies()) > 0 {
				t.Errorf("%s sets a cookie", path)
			}
		}
	}
	w.do("POST", "/api/auth/login", login(userMail, password, ""), with("Origin", baseURL)).want(200)
}

// Workspaces of teams do not multiply the limits of a user without bound.
func TestS9_workspaces_do_not_multiply_limits(t *testing.T) {
	const limit, most = 10, 3 * 10
	st := usual(t)
	w := newWorld(t, st, whole)
	var ids []string
	for i := range 5 {
		ids = append(ids, w.newTeam(fmt.Sprint("Team ", i)))
	}
	limited := replica(w, st, func(w *world, cfg *api.Config, deps *api.Deps) {
		whole(w, cfg, deps)
		cfg.Limits.Default = limit
	})
	passed := 0
	for _, id := range ids {
		for range limit {
			if r := limited.do("GET", "/api/urls", "", as(w.ann), within(id)); r.StatusCode == 200 {
				passed++
			} else if got := r.want(429).Header.Get("X-RateLimit-Limit"); got != fmt.Sprint(most) {
				t.Errorf("X-RateLimit-Limit is %s", got)
			}
		}
	}
	if passed != most {
		t.Errorf("%d requests passed, want %d", passed, most)
	}
	limited.do("GET", "/api/urls", "", as(w.ann)).want(200) // the personal workspace is counted apart
}
