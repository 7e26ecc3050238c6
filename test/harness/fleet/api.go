package fleet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"
)

// API calls a control plane as one user.
type API struct {
	t     testing.TB
	base  string
	token string
	extra http.Header // of every call
}

var caller = &http.Client{Timeout: patience}

// Login signs in to a control plane as the first administrator.
func (n *Node) Login(t testing.TB) *API {
	t.Helper()
	return n.LoginAs(t, adminEmail, adminPassword)
}

// LoginAs signs in to a control plane as the given user.
func (n *Node) LoginAs(t testing.TB, email, password string) *API {
	t.Helper()
	a := &API{t: t, base: "http://" + n.Addr}
	var out struct{ AccessToken string }
	a.Must("POST", "/api/auth/login", map[string]any{"email": email, "password": password}, 200, &out)
	a.token = out.AccessToken
	return a
}

// At returns the same session at another control plane.
func (a *API) At(n *Node) *API { return &API{t: a.t, base: "http://" + n.Addr, token: a.token} }

// With returns the same session with an additional header in every call.
func (a *API) With(name, value string) *API {
	b := *a
	b.extra = a.extra.Clone()
	if b.extra == nil {
		b.extra = http.Header{}
	}
	b.extra.Set(name, value)
	return &b
}

// Call sends a request and decodes a JSON answer into out, unless that is nil. An error means that the outcome is not
// known.
func (a *API) Call(method, path string, body, out any) (status int, header http.Header, err error) {
	var in io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		in = bytes.NewReader(b)
	}
	req, err := http.NewRequest(method, a.base+path, in)
	if err != nil {
		return 0, nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if a.token != "" {
		req.Header.Set("Authorization", "Bearer "+a.token)
	}
	for name, values := range a.extra {
		req.Header[name] = values
	}
	res, err := caller.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, nil, err
	}
	if out != nil && res.StatusCode/100 == 2 {
		if err := json.Unmarshal(b, out); err != nil {
			return res.StatusCode, res.Header, fmt.Errorf("%s %s: %w in %.200s", method, path, err, b)
		}
	}
	if res.StatusCode/100 != 2 {
		return res.StatusCode, res.Header, fmt.Errorf("%s %s: %s: %.300s", method, path, res.Status, b)
	}
	return res.StatusCode, res.Header, nil
}

// Must sends a request and fails the test unless the answer has the given status.
func (a *API) Must(method, path string, body any, status int, out any) http.Header {
	a.t.Helper()
	got, header, err := a.Call(method, path, body, out)
	if err != nil || got != status {
		a.t.Fatalf("%s %s: %d, want %d: %v", method, path, got, status, err)
	}
	return header
}

// Link has the fields of a link that tests use.
type Link struct {
	ID, Slug, Status string
	ClickCount       int
}

// Create creates a link to target; more has additional fields.
func (a *API) Create(target string, more map[string]any) (l Link) {
	a.t.Helper()
	body := map[string]any{"originalUrl": target}
	for k, v := range more {
		body[k] = v
	}
	a.Must("POST", "/api/urls", body, 201, &l)
	return l
}

// Report returns the total clicks in a link's report from a month ago until tomorrow. Shortly before midnight, an edge whose
// clock is ahead records clicks of the next day.
func (a *API) Report(id string) (int, error) {
	clicks, _, err := a.ReportStatus(id)
	return clicks, err
}

// ReportStatus is Report with the status of the answer.
func (a *API) ReportStatus(id string) (clicks, status int, err error) {
	const day = 24 * time.Hour
	now := time.Now().UTC()
	var out struct{ TotalClicks int }
	status, _, err = a.Call("GET", fmt.Sprintf("/api/analytics/urls/%s?startDate=%s&endDate=%s", id, now.Add(-30*day).Format(time.DateOnly),
		now.Add(day).Format(time.DateOnly)), nil, &out)
	return out.TotalClicks, status, err
}

// URL returns the base URL.
func (a *API) URL() string { return a.base }
