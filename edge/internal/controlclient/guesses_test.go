package controlclient_test

import (
	"errors"
	"io"
	"net/http"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/guess"
)

func TestClient_guesses(t *testing.T) {
	t.Parallel()
	client := guess.Client{Link: 7, From: netip.MustParseAddr("192.0.2.1")}
	want := guess.Standing{Client: client, Count: 3, AgoMs: 12, Mark: 9}
	const told = `{"edge":"e","tries":[{"link":7,"from":"192.0.2.1","count":2,"agoMs":40}]}`
	c, _ := open(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.Method + " " + r.URL.String() {
		case "POST /edge/v1/guesses":
			if string(body) != told || r.Header.Get("Authorization") != "Bearer "+token {
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
	list, err := c.Tell(t.Context(), guess.Report{Edge: "e", Tries: []guess.Told{{Client: client, Count: 2, AgoMs: 40}}})
	if err != nil || !reflect.DeepEqual(list, []guess.Standing{want}) {
		t.Errorf("%+v, %v", list, err)
	}
	if n, err := c.News(t.Context(), 5); err != nil || !reflect.DeepEqual(n, guess.News{Next: 9, Standings: []guess.Standing{want}}) {
		t.Errorf("%+v, %v", n, err)
	}
	if n, err := c.News(t.Context(), 9); err != nil || n.Next != 9 || len(n.Standings) != 0 {
		t.Errorf("no news: %+v, %v", n, err)
	}
}

func TestClient_guesses_refused(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]error{http.StatusNotFound: guess.ErrNone, http.StatusMethodNotAllowed: guess.ErrNone, http.StatusTooManyRequests: guess.ErrBusy, http.StatusServiceUnavailable: nil, http.StatusFound: nil} {
		c, _ := open(t, func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", code) }, nil)
		_, telling := c.Tell(t.Context(), guess.Report{Edge: "e"})
		_, asking := c.News(t.Context(), 1)
		for _, err := range []error{telling, asking} {
			if err == nil || want != nil && !errors.Is(err, want) || want == nil && (errors.Is(err, guess.ErrNone) || errors.Is(err, guess.ErrBusy)) || strings.Contains(err.Error(), token) {
				t.Errorf("%d: %v", code, err)
			}
		}
	}
	c, _ := open(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "<html>") }, nil)
	if _, err := c.News(t.Context(), 1); err == nil {
		t.Error("what is no answer is taken for one")
	}
}
