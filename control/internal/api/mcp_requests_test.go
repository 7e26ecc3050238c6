package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Hostile arguments get errors that a model can understand, and nothing gets past the tools.
func TestMCP_hostile_arguments(t *testing.T) {
	w := small(t, whole)
	w.slugged(w.bob, "bobs", "")
	a := w.assist(w.ann, "")
	for _, test := range []struct{ tool, arguments, code string }{
		{"create_link", `{}`, "INVALID_ARGUMENTS"},
		{"create_link", `{"originalUrl":7}`, "INVALID_ARGUMENTS"},
		{"create_link", `{"originalUrl":"https://example.com/","owner":"bob"}`, "INVALID_ARGUMENTS"},
		{"create_link", `{"originalUrl":"javascript:alert(1)"}`, "HTTP_400"},
		{"find_links", `{"limit":1000}`, "INVALID_ARGUMENTS"},
		{"find_links", `[]`, "INVALID_ARGUMENTS"},
		{"get_link", `{"link":"bobs"}`, "LINK_NOT_FOUND"},
		{"get_link", `{"link":"../../users"}`, "INVALID_ARGUMENTS"},
		{"get_link", `{"link":"https://sho.rt/"}`, "INVALID_ARGUMENTS"},
		{"update_link", `{"link":"bobs"}`, "LINK_NOT_FOUND"},
		{"bulk_update", `{"change":{"status":"INACTIVE"}}`, "INVALID_ARGUMENTS"},
		{"bulk_update", `{"links":["a","b"],"change":{}}`, "INVALID_ARGUMENTS"},
		{"bulk_update", `{"filter":{},"change":{"status":"INACTIVE"}}`, "INVALID_ARGUMENTS"},
		{"report", `{"about":"link"}`, "INVALID_ARGUMENTS"},
		{"report", `{"about":"workspace","filters":{"timezone":["Mars/Olympus"]}}`, "HTTP_400"},
		{"set_rules", `{"link":"bobs","rules":[{"name":"x"}]}`, "INVALID_ARGUMENTS"},
		{"call_operation", `{"operation":"no such thing"}`, "OPERATION_NOT_FOUND"},
		{"call_operation", `{"operation":"getURL"}`, "INVALID_ARGUMENTS"},
		{"call_operation", `{"operation":"getURL","path":{"id":".."}}`, "INVALID_ARGUMENTS"},
		{"call_operation", `{"operation":"getURL","path":{"id":"../users?x=1#"}}`, "NOT_FOUND"},
		{"call_operation", `{"operation":"getURL","path":{"id":"a","more":"b"}}`, "INVALID_ARGUMENTS"},
		{"call_operation", `{"operation":"listURLs","query":{"tag":{"a":1}}}`, "INVALID_ARGUMENTS"},
		{"call_operation", `{"operation":"listURLs","body":{}}`, "INVALID_ARGUMENTS"},
		{"call_operation", `{"operation":"createURL","body":{"originalUrl":"https://example.com/","nope":1}}`, "HTTP_400"},
		{"delete_links", `{"links":["bobs"],"confirm":"v1.x.y"}`, "LINK_NOT_FOUND"},
	} {
		r := a.call(test.tool, test.arguments)
		if !r.failed || r.str("error.code") != test.code && !(test.code == "HTTP_400" && r.num("error.status") == 400) || r.str("error.message") == "" {
			t.Errorf("%s %s: want %s: %s", test.tool, test.arguments, test.code, r.text)
		}
	}
	_, err := a.session.CallTool(t.Context(), &mcp.CallToolParams{Name: "no_such_tool"})
	if err == nil || !strings.Contains(err.Error(), "unknown tool") {
		t.Errorf("an unknown tool: %v", err)
	}
}

// message sends a JSON-RPC message without the SDK.
func (w *world) message(body string, options ...option) *httptest.ResponseRecorder {
	w.t.Helper()
	r := httptest.NewRequestWithContext(w.t.Context(), http.MethodPost, "http://sho.rt/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, o := range options {
		o(r)
	}
	rec := httptest.NewRecorder()
	w.server.Handler().ServeHTTP(rec, r)
	return rec
}

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// The server accepts API keys and access tokens in headers, from pages of this installation or none, and keeps no session.
func TestMCP_requests(t *testing.T) {
	w := small(t, whole)
	key, _ := w.newKey(w.ann)
	team := w.newSpace()
	deep := `{"jsonrpc":"2.0","id":1,"method":"ping","params":` + strings.Repeat(`{"a":`, 40) + `1` + strings.Repeat(`}`, 40) + `}`
	large := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"` + strings.Repeat("x", 1<<20) + `"}}`
	for name, test := range map[string]struct {
		body    string
		options []option
		want    int
	}{
		"a key":                       {ping, []option{as(key)}, 200},
		"a key in its own header":     {ping, []option{with("X-API-Key", key)}, 200},
		"an access token":             {ping, []option{as(w.ann)}, 200},
		"nobody":                      {ping, nil, 401},
		"a wrong key":                 {ping, []option{as("sl_" + strings.Repeat("x", 60))}, 401},
		"a cookie":                    {ping, []option{with("Cookie", "access_token="+w.ann)}, 401},
		"another workspace":           {ping, []option{as(key), with("X-Workspace", team.id)}, 404},
		"our own page":                {ping, []option{as(key), with("Origin", baseURL)}, 200},
		"a listed page":               {ping, []option{as(key), with("Origin", "https://app.example.com")}, 200},
		"another site":                {ping, []option{as(key), with("Origin", "https://evil.example")}, 403},
		"a rebound name":              {ping, []option{as(key), with("Origin", "http://evil.example"), host("evil.example")}, 403},
		"no JSON":                     {`{"jsonrpc"`, []option{as(key)}, 400},
		"a batch":                     {`[` + ping + `]`, []option{as(key)}, 400},
		"an empty body":               {``, []option{as(key)}, 400},
		"another media type":          {ping, []option{as(key), with("Content-Type", "text/plain")}, 415},
		"too deep":                    {deep, []option{as(key)}, 400},
		"too large":                   {large, []option{as(key)}, 413},
		"an unclear read-only mode":   {ping, []option{as(key), with("X-MCP-Readonly", "maybe")}, 400},
		"an unknown protocol":         {ping, []option{as(key), with("MCP-Protocol-Version", "1999-01-01")}, 400},
		"a session of another server": {ping, []option{as(key), with("Mcp-Session-Id", "stolen")}, 200},
	} {
		res := w.message(test.body, test.options...)
		if res.Code != test.want {
			t.Errorf("%s: status %d, want %d: %s", name, res.Code, test.want, res.Body.String())
		}
		if test.want == 401 && !strings.HasPrefix(res.Header().Get("WWW-Authenticate"), "Bearer") {
			t.Errorf("%s: WWW-Authenticate is %q", name, res.Header().Get("WWW-Authenticate"))
		}
		if res.Header().Get("Mcp-Session-Id") != "" {
			t.Errorf("%s: there is a session", name)
		}
	}
	for _, method := range []string{"GET", "DELETE"} { // a stream or the end of a session
		w.do(method, "/mcp", "", as(key)).want(405)
	}
}

func host(name string) option {
	return func(r *http.Request) { r.Host = name }
}

// Messages and the endpoints behind tools have the limits of the API. Changes are in the audit log like those of the API.
func TestMCP_limits_and_audit(t *testing.T) {
	w := small(t, func(w *world, cfg *api.Config, deps *api.Deps) {
		whole(w, cfg, deps)
		cfg.Limits.MCP, cfg.Limits.Default = 12, 30
	})
	key, keyID := w.newKey(w.bob)
	a := w.assist(key, "")
	id := a.call("create_link", `{"originalUrl":"https://example.com/audited"}`).works().str("link.id")
	entry := w.do("GET", "/api/audit-logs?entityType=url&entityId="+id, "", as(w.root)).want(200)
	if entry.str("data.0.action") != "URL_CREATED" && !strings.Contains(entry.text, id) || !strings.Contains(entry.text, keyID) {
		t.Errorf("the audit log: %s", entry.text)
	}
	limited := false
	for range 15 {
		res := w.message(ping, as(key))
		limited = limited || res.Code == http.StatusTooManyRequests && res.Header().Get("Retry-After") != ""
	}
	if !limited {
		t.Error("messages have no limit")
	}
	b := w.assist(w.ann, "")
	for range 40 {
		if r := b.session; r == nil {
			t.Fatal("no session")
		}
		w.do("GET", "/api/urls", "", as(w.ann))
	}
	if r := b.call("find_links", `{}`).fails("HTTP_429"); r.num("error.retryAfterSeconds") < 1 {
		t.Errorf("an endpoint's limit: %s", r.text)
	}
}

// A client that disconnects ends the work of its message.
func TestMCP_ends_with_its_client(t *testing.T) {
	w := small(t, whole)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://sho.rt/mcp", strings.NewReader(ping))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	as(w.ann)(r)
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.server.Handler().ServeHTTP(httptest.NewRecorder(), r)
	}()
	testkit.Eventually(t, "the message ends", func() bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	})
}

// The operator can turn the server for assistants off. The API stays.
func TestMCP_can_be_turned_off(t *testing.T) {
	w := small(t, func(w *world, cfg *api.Config, deps *api.Deps) {
		whole(w, cfg, deps)
		cfg.WithoutMCP = true
	})
	key, _ := w.newKey(w.ann)
	for _, method := range []string{"POST", "GET", "DELETE"} {
		w.do(method, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, as(key)).want(404)
	}
	w.do("GET", "/api/urls", "", as(key)).want(200)
}
