package edgeapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/fleet/edgeapi"
	fleetlockout "github.com/shortline/shortline/control/internal/fleet/lockout"
	"github.com/shortline/shortline/shared/lockout"
)

func TestServer_lockout_exchange(t *testing.T) {
	t.Parallel()
	w := newWorld(t, edgeapi.Config{})
	w.url = w.serve(edgeapi.Config{Hold: 50 * time.Millisecond}, edgeapi.Deps{Lockout: fleetlockout.New(fleetlockout.Config{}, w.store)})

	res, b := w.call("POST", w.url+"/edge/v1/guesses",
		`{"edge":"e1","tries":[{"link":7,"from":"192.0.2.1","count":2,"agoMs":40}],"later":1}`)
	var n lockout.Changes
	if err := json.Unmarshal(b, &n); res.StatusCode != 200 || err != nil || len(n.States) != 1 || n.States[0].Count != 2 ||
		n.States[0].Link != 7 {
		t.Fatalf("%s %s %v", res.Status, b, err)
	}
	res, b = w.call("GET", w.url+"/edge/v1/guesses?after=0", "")
	if err := json.Unmarshal(b, &n); res.StatusCode != 200 || err != nil || len(n.States) != 1 || n.Next != n.States[0].Version {
		t.Fatalf("%s %s %v", res.Status, b, err)
	}
	if res, b := w.call("GET", w.url+"/edge/v1/guesses?after=1", ""); res.StatusCode != http.StatusNoContent || len(b) != 0 {
		t.Errorf("without a change: %s %s", res.Status, b)
	}
	many := `{"link":1,"from":"192.0.2.1","count":1,"agoMs":0}`
	for _, bad := range []string{"", "[]", "{}", `{"edge":"e","tries":[{"from":"x"}]}`,
		`{"edge":"e","tries":[{"link":1,"count":1,"agoMs":0}]}`,
		`{"edge":"e","tries":[{"link":1,"from":"2001:db8::1","count":1}]}`,
		`{"edge":"e","tries":[{"link":1,"from":"192.0.2.1","count":1,"agoMs":-1}]}`,
		`{"edge":"e","tries":[` + strings.Repeat(many+",", lockout.MaxReported) + many + `]}`, strings.Repeat(" ", 200_000)} {
		if res, _ := w.call("POST", w.url+"/edge/v1/guesses", bad); res.StatusCode != http.StatusBadRequest {
			t.Errorf("%.60q: %s", bad, res.Status)
		}
	}
	for _, query := range []string{"", "?after=", "?after=-1", "?after=x"} {
		if res, _ := w.call("GET", w.url+"/edge/v1/guesses"+query, ""); res.StatusCode != http.StatusBadRequest {
			t.Errorf("%q: %s", query, res.Status)
		}
	}
	res, _ = w.call("GET", w.url+"/edge/v1/guesses?after=0", "", "Authorization", "Bearer none")
	if res.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a token: %s", res.Status)
	}
}
