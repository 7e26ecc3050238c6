package controlclient_test

import (
	"errors"
	"io"
	"net/http"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/lockout"
)

func TestClient_lockout_exchange(t *testing.T) {
	t.Parallel()
	client := lockout.Client{Link: 7, Address: netip.MustParseAddr("192.0.2.1")}
	want := lockout.State{Client: client, Count: 3, AgoMs: 12, Version: 9}
	const report = `{"edge":"e","tries":[{"link":7,"from":"192.0.2.1","count":2,"agoMs":40}]}`
	c, _ := open(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.Method + " " + r.URL.String() {
		case "POST /edge/v1/guesses":
			if string(body) != report || r.Header.Get("Authorization") != "Bearer "+token {
				t.Errorf("%s with %q", body, r.Header.Get("Authorization"))
			}
		case "GET /edge/v1/guesses?after=5":
		case "GET /edge/v1/guesses?after=9":
			w.WriteHeader(http.StatusNoContent)
			return
		default:
			t.Errorf("%s %s", r.Method, r.URL)
		}
		io.WriteString(w, `{"next":9,"standings":[{"link":7,"from":"192.0.2.1","count":3,"agoMs":12,"mark":9,"later":true}]}`)
	}, nil)
	list, err := c.ReportAttempts(t.Context(),
		lockout.Report{Edge: "e", Clients: []lockout.Attempts{{Client: client, Count: 2, AgoMs: 40}}})
	if err != nil || !reflect.DeepEqual(list, []lockout.State{want}) {
		t.Errorf("%+v, %v", list, err)
	}
	if n, err := c.StateChanges(t.Context(), 5); err != nil ||
		!reflect.DeepEqual(n, lockout.Changes{Next: 9, States: []lockout.State{want}}) {
		t.Errorf("%+v, %v", n, err)
	}
	if n, err := c.StateChanges(t.Context(), 9); err != nil || n.Next != 9 || len(n.States) != 0 {
		t.Errorf("without a change: %+v, %v", n, err)
	}
}

func TestClient_lockout_errors(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]error{http.StatusNotFound: lockout.ErrUnsupported, http.StatusMethodNotAllowed: lockout.ErrUnsupported,
		http.StatusTooManyRequests: lockout.ErrBusy, http.StatusServiceUnavailable: nil, http.StatusFound: nil} {
		c, _ := open(t, func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", code) }, nil)
		_, reportErr := c.ReportAttempts(t.Context(), lockout.Report{Edge: "e"})
		_, changesErr := c.StateChanges(t.Context(), 1)
		for _, err := range []error{reportErr, changesErr} {
			if err == nil || want != nil && !errors.Is(err, want) || want == nil && (errors.Is(err, lockout.ErrUnsupported) ||
				errors.Is(err, lockout.ErrBusy)) || strings.Contains(err.Error(), token) {
				t.Errorf("%d: %v", code, err)
			}
		}
	}
	c, _ := open(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "<html>") }, nil)
	if _, err := c.StateChanges(t.Context(), 1); err == nil {
		t.Error("an answer that is not JSON is accepted")
	}
}
