package harness_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
)

const (
	iPhone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 " +
		"Safari/604.1"
	laptop = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
)

type answer struct {
	status   int
	location string
	body     string
	header   http.Header
}

// web is a client that follows no redirects.
var web = &http.Client{Timeout: 2 * time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error {
	return http.ErrUseLastResponse
}}

func send(req *http.Request) (a answer, err error) {
	res, err := web.Do(req)
	if err != nil {
		return a, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header.Get("Location"), string(b), res.Header}, err
}

// visit requests a link from an edge. HEAD is not counted as a click.
func visit(addr, method, slug, agent string) (answer, error) {
	req, err := http.NewRequest(method, "http://"+addr+"/"+slug, nil)
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("User-Agent", agent)
	return send(req)
}

// unlock submits the password form of a link.
func unlock(addr, slug, password string) (answer, error) {
	req, err := http.NewRequest("POST", "http://"+addr+"/"+slug+"/verify", strings.NewReader(url.Values{"password": {password}}.Encode()))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("User-Agent", laptop)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return send(req)
}

// withKey calls the API at an address with an API key.
func withKey(t *testing.T, addr, key, path string) answer {
	t.Helper()
	req, err := http.NewRequest("GET", "http://"+addr+path, nil)
	testkit.Must(t, err)
	req.Header.Set("X-API-Key", key)
	a, err := send(req)
	testkit.Must(t, err)
	return a
}

// live opens the live feed of the clicks on a link and returns its events until the test ends.
func live(t *testing.T, addr, key, id string) <-chan map[string]any {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, "GET", "http://"+addr+"/api/analytics/live?urlId="+id, nil)
	testkit.Must(t, err)
	req.Header.Set("X-API-Key", key)
	res, err := (&http.Client{}).Do(req) // no timeout: the stream has no end
	testkit.Must(t, err)
	if res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		t.Fatalf("the live feed at %s: %s %v", addr, res.Status, res.Header)
	}
	events := make(chan map[string]any, 100)
	go func() {
		defer res.Body.Close()
		in := bufio.NewScanner(res.Body)
		for in.Scan() {
			var e map[string]any
			if data, ok := strings.CutPrefix(in.Text(), "data: "); ok && json.Unmarshal([]byte(data), &e) == nil {
				select {
				case events <- e:
				default: // the channel is full; no test needs more than a hundred events
				}
			}
		}
	}()
	return events
}
