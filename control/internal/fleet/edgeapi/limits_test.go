package edgeapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/fleet/edgeapi"
	"github.com/shortline/shortline/control/internal/fleet/limits"
	"github.com/shortline/shortline/shared/limit"
)

func TestServer_exchange_of_limits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, edgeapi.Config{})
	w.url = w.serve(edgeapi.Config{}, edgeapi.Deps{Limits: limits.New(limits.Config{}, w.store)})
	url := w.url + "/edge/v1/limits"

	res, b := w.call("POST", url,
		`{"edge":"e1","after":9,"counts":[{"link":7,"since":5,"counter":18446744073709551615,"clicks":2}],"later":1}`)
	var a limit.Answer
	// there is no link 7
	if err := json.Unmarshal(b, &a); res.StatusCode != 200 || err != nil || !a.Valid() || a.Edges != 1 || a.Next != 1 ||
		len(a.Totals) != 0 {
		t.Fatalf("%s %s %v", res.Status, b, err)
	}
	many := `{"link":1,"since":5,"counter":1,"clicks":1}`
	for _, bad := range []string{"", "[]", "{}", `{"edge":"e","counts":[{"since":5}]}`, `{"edge":"e","counts":[{"link":1}]}`,
		`{"edge":"e","counts":[{"link":1,"since":-5}]}`,
		`{"edge":"e","counts":[{"link":1,"since":5,"clicks":-1}]}`, `{"edge":"e","counts":[{"link":1,"since":5,"clicks":1099511627776}]}`,
		`{"edge":"e","counts":[{"link":18446744073709551615,"since":5}]}`, `{"edge":"` + strings.Repeat("e", 65) + `"}`,
		`{"edge":"e","counts":[` + strings.Repeat(many+",", limit.MaxCounts) + many + `]}`, strings.Repeat(" ", 200_000)} {
		if res, _ := w.call("POST", url, bad); res.StatusCode != http.StatusBadRequest {
			t.Errorf("%.60q: %s", bad, res.Status)
		}
	}
	if res, _ := w.call("POST", url, `{"edge":"e"}`, "Authorization", "Bearer none"); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a token: %s", res.Status)
	}
}
