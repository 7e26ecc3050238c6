package edgeapi_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/fleet/edgeapi"
	"github.com/shortline/shortline/control/internal/fleet/presence"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// mute is a source of links that never change.
type mute struct{ snapshot.Source }

func (mute) Changes(context.Context, snapshot.Cursor) ([]byte, error) { return nil, nil }

// FuzzStatus sends arbitrary statuses, tokens and cursors. The server accepts or rejects them, but never fails.
func FuzzStatus(f *testing.F) {
	st := storetest.Open(f)
	tracker := presence.New(presence.Config{Logger: slog.New(slog.DiscardHandler)}, st)
	h, err := edgeapi.New(edgeapi.Config{Tokens: []string{token, second}, Logger: slog.New(slog.DiscardHandler)},
		edgeapi.Deps{Links: mute{}, Reports: tracker})
	testkit.Must(f, err)
	for _, body := range []string{
		`{"edge":"e","version":"v","cursor":{"incarnation":1,"revision":2},` +
			`"stateHash":"00","links":3,"setAside":["a"],"refused":"why",` +
			`"spool":{"bytes":1,"pending":2,"dropped":3,"oldestMs":4},"run":"r","before":"b","address":"a:1","setAsideCount":1}`,
		`{"edge":"e","repairs":[{"epoch":1,"lane":2,"from":3,"to":4}]}`, `{"edge":"\u0000\ud800"}`, `{"links":-1e999}`, `[]`,
		`{"edge":{"edge":{}}}`, strings.Repeat(`{"a":`, 500),
	} {
		f.Add(body, token, "incarnation=1&after=2")
	}
	f.Add(`{}`, "the-first-token-of-edge", "incarnation=18446744073709551616&after=-1")
	f.Fuzz(func(t *testing.T, body, shown, query string) {
		for _, ask := range [][2]string{{"POST", "/edge/v1/status"}, {"GET", "/edge/v1/changes"}} {
			r := httptest.NewRequest(ask[0], ask[1], strings.NewReader(body))
			r.URL.RawQuery = query
			r.Header.Set("Authorization", "Bearer "+shown)
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, r)
			switch known := shown == token || shown == second; {
			case !known && rec.Code != 401:
				t.Fatalf("%v with the token %q: %d %s", ask, shown, rec.Code, rec.Body)
			case known && (rec.Code == 401 || rec.Code >= 500):
				t.Fatalf("%v with %q and %q: %d %s", ask, query, body, rec.Code, rec.Body)
			}
		}
	})
}
