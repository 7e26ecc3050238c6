package edgeapi_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/shortline/shortline/control/internal/fleet/edgeapi"
	"github.com/shortline/shortline/control/internal/fleet/presence"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

const (
	firstToken = "token-one-of-16-bytes"
	otherToken = "token-two-of-16-bytes"
	euOld      = "token-three-of-16-bytes"
	euNew      = "token-four-of-16-bytes"
)

// handler is a control plane as edges see it.
type handler struct {
	*fleet
	tracker *presence.Tracker
	url     string
}

func (f *fleet) handler(tokens ...string) *handler {
	f.Helper()
	d := &handler{fleet: f, tracker: f.tracker()}
	h, err := edgeapi.New(edgeapi.Config{Tokens: tokens, Logger: slog.New(slog.NewTextHandler(&f.log, nil))},
		edgeapi.Deps{Reports: d.tracker})
	testkit.Must(f, err)
	srv := httptest.NewServer(h)
	f.Cleanup(srv.Close)
	d.url = srv.URL
	return d
}

// report sends a status and returns the HTTP status of the answer.
func (d *handler) report(token string, s snapshot.Status) int {
	d.Helper()
	body, err := json.Marshal(s)
	testkit.Must(d, err)
	req, err := http.NewRequest("POST", d.url+edgeapi.Prefix+"status", bytes.NewReader(body))
	testkit.Must(d, err)
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	testkit.Must(d, err)
	res.Body.Close()
	return res.StatusCode
}

func (d *handler) want(what string, want, got int) {
	d.Helper()
	if got != want {
		d.Errorf("%s: %d, want %d", what, got, want)
	}
}

// The holder of one edge's token cannot report for another edge, neither at the same time nor after a silence. The other
// edge never gets ErrTwin, which would stop its clicks.
func TestLow_TokenBelongsToItsEdge(t *testing.T) {
	eachFleet(t, func(f *fleet) {
		d, replica := f.handler(firstToken, otherToken), f.handler(firstToken, otherToken)
		d.want("the edge itself", 204, d.report(firstToken, status("r1", "", 1)))
		d.want("another edge's token beside it", 403, d.report(otherToken, status("evil", "", 1)))
		f.pass(time.Minute) // the edge was silent for longer than Alive
		d.want("another edge's token after a silence", 403, d.report(otherToken, status("evil", "", 1)))
		replica.want("another edge's token at another replica", 403, replica.report(otherToken, status("evil", "guess", 1)))
		d.want("the edge after that", 204, d.report(firstToken, status("r1", "", 2)))
		replica.want("the edge at another replica", 204, replica.report(firstToken, status("r1", "", 3)))
		if r := f.only(); r.Run != "r1" || r.Twin != "" {
			f.Errorf("the edge is noted as %+v", r)
		}
		const figures = `# HELP shortline_edges_foreign_reports_total Reports refused because the edge belongs to another token.
# TYPE shortline_edges_foreign_reports_total counter
shortline_edges_foreign_reports_total 2
`
		if err := testutil.CollectAndCompare(d.tracker, strings.NewReader(figures), "shortline_edges_foreign_reports_total"); err != nil {
			f.Error(err)
		}
		if text := f.log.String(); strings.Contains(text, firstToken) || strings.Contains(text, otherToken) ||
			!strings.Contains(text, "another edge's token") {
			f.Errorf("the log: %s", text)
		}
	})
}

// An edge can change its token, because it names the previous run. A token that was removed reserves no edges.
func TestLow_TokenIsReplaced(t *testing.T) {
	eachFleet(t, func(f *fleet) {
		d := f.handler(firstToken, otherToken)
		d.want("with the first token", 204, d.report(firstToken, status("r1", "", 1)))
		d.want("started again with another token", 204, d.report(otherToken, status("r2", "r1", 2)))
		f.pass(time.Minute)
		d.want("the first token is another's now", 403, d.report(firstToken, status("r3", "", 3)))
		f.pass(time.Minute)
		later := f.handler(firstToken) // the other one is not in EDGE_TOKENS any more
		later.want("the only token that is left", 204, later.report(firstToken, status("r4", "", 4)))
	})
}

// Tokens with the same name have one identity. An edge presents a named token without the name.
func TestLow_TokensWithNames(t *testing.T) {
	eachFleet(t, func(f *fleet) {
		d := f.handler("eu="+euOld, "eu="+euNew, "us="+otherToken)
		d.want("the old token", 204, d.report(euOld, status("r1", "", 1)))
		f.pass(time.Minute)
		d.want("the new token of the same name", 204, d.report(euNew, status("r2", "", 2)))
		f.pass(time.Minute)
		d.want("a token of another name", 403, d.report(otherToken, status("r3", "", 3)))
		d.want("no token", 401, d.report("us", status("r3", "", 3)))
		if r := f.only(); r.Token != "name eu" {
			f.Errorf("the edge belongs to %q", r.Token)
		}
	})
}

// An entry that was valid before names existed is still a token as a whole.
func TestLow_TokensOfEarlierReleases(t *testing.T) {
	t.Parallel()
	for _, entry := range []string{"c2l4dGVlbiBieXRlcyE=", "c2l4dGVlbiBieXRlcw==", "prefix=of-a-token-that-holds-it",
		"a:b:c=0123456789012345"} {
		tokens := edgeapi.NewTokens([]string{entry})
		vouched := false
		h := tokens.Vouch(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			vouched = edgeapi.Vouched(r.Context())
			if len(r.Header) != 0 {
				t.Errorf("%s: a handler sees %v", entry, r.Header)
			}
		}))
		for _, shown := range []struct {
			token string
			want  bool
		}{{entry, true}, {"", false}, {"prefix", false}, {entry + "x", false}} {
			req := httptest.NewRequest("GET", "/api", nil)
			req.Header.Set("Shortline-Edge-Token", shown.token)
			if h.ServeHTTP(httptest.NewRecorder(), req); vouched != shown.want {
				t.Errorf("%s shown as %q: %v", entry, shown.token, vouched)
			}
		}
	}
}
