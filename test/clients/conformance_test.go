package clients_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// The official conformance suite of MCP finds no error. testdata/conformance.yaml names its scenarios for parts of the protocol that this
// server does not have, such as prompts; the suite fails if one of them passes. A proxy adds the API key, which the suite cannot send.
func TestMCP_conformance(t *testing.T) {
	t.Parallel()
	var to http.Handler
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { to.ServeHTTP(w, r) }))
	t.Cleanup(proxy.Close)
	in := start(t, "CORS_ORIGIN="+proxy.URL)
	key, base := in.key(t), address(t, in.base)
	to = testkit.FullDuplex(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(base)
		r.Out.Header.Set("Authorization", "Bearer "+key)
	}})
	in.node(t, t.TempDir(), "@modelcontextprotocol/conformance/dist/index.js", "server", "--suite", "all",
		"--url", proxy.URL+"/mcp", "--expected-failures", testkit.Source(t, "test/clients/testdata/conformance.yaml"))
}

func address(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	testkit.Must(t, err)
	return u
}

// key creates an API key of the administrator.
func (in *installation) key(t *testing.T) string {
	t.Helper()
	post := func(path, token string, body any) (answer struct{ AccessToken, Key string }) {
		text, err := json.Marshal(body)
		testkit.Must(t, err)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, in.base+path, bytes.NewReader(text))
		testkit.Must(t, err)
		r.Header.Set("Content-Type", "application/json")
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		res, err := http.DefaultClient.Do(r)
		testkit.Must(t, err)
		defer func() { _ = res.Body.Close() }()
		if res.StatusCode >= 300 {
			t.Fatalf("POST %s: %s", path, res.Status)
		}
		testkit.Must(t, json.NewDecoder(res.Body).Decode(&answer))
		return answer
	}
	token := post("/api/auth/login", "", map[string]string{"email": "admin@example.com", "password": adminPassword}).AccessToken
	return post("/api/api-keys", token, map[string]any{"name": "conformance"}).Key
}
