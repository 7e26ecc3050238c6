package controlclient_test

import (
	"errors"
	"io"
	"net/http"
	"reflect"
	"testing"

	"github.com/shortline/shortline/shared/limit"
)

// The texts are the wire form. They must not change, because edges and control planes of several releases work together.
func TestClient_exchange_of_limits(t *testing.T) {
	t.Parallel()
	key := limit.Key{Link: 7, Since: 5}
	c, _ := open(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		const report = `{"edge":"e","after":3,"counts":[{"link":7,"since":5,"counter":18446744073709551615,"clicks":2}]}`
		if r.Method+" "+r.URL.String() != "POST /edge/v1/limits" || string(body) != report ||
			r.Header.Get("Authorization") != "Bearer "+token {
			t.Errorf("%s %s %s", r.Method, r.URL, body)
		}
		io.WriteString(w, `{"next":9,"more":true,"edges":3,"rank":1,"totals":[{"link":7,"since":5,"clicks":4,"later":true}]}`)
	}, nil)
	got, err := c.ShareCounts(t.Context(),
		limit.Report{Edge: "e", After: 3, Counts: []limit.Count{{Key: key, Counter: 1<<64 - 1, Clicks: 2}}})
	want := limit.Answer{Next: 9, More: true, Edges: 3, Rank: 1, Totals: []limit.Total{{Key: key, Clicks: 4}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for code, want := range map[int]error{http.StatusNotFound: limit.ErrUnsupported, http.StatusTooManyRequests: limit.ErrBusy,
		http.StatusServiceUnavailable: nil} {
		c, _ := open(t, func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", code) }, nil)
		if _, err := c.ShareCounts(t.Context(), limit.Report{Edge: "e"}); err == nil || want != nil && !errors.Is(err, want) ||
			want == nil &&
				errors.Is(err, limit.ErrUnsupported) {
			t.Errorf("%d: %v", code, err)
		}
	}
}
