package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/cli"
)

const key = "sl_TopSecret8901234567890123456789012345678901234567890123456789"

// talk runs the command with a server and an input, and returns the output's lines by their ids, and the exit code.
func talk(t *testing.T, handler http.HandlerFunc, in io.Reader, args ...string) (map[string]string, int) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	env := map[string]string{"SHORTLINE_URL": server.URL, "SHORTLINE_API_KEY": key, "HOME": t.TempDir()}
	var out, stderr bytes.Buffer
	code := cli.Run(t.Context(), app.System{
		In: in, Out: &out, Err: &stderr, Getenv: func(name string) string { return env[name] }, Now: time.Now, Retry: &client.Retry{},
	}, append([]string{"mcp"}, args...))
	if text := out.String() + stderr.String(); strings.Contains(text, key) {
		t.Errorf("the key is in %q", text)
	}
	lines := map[string]string{}
	for line := range strings.Lines(out.String()) {
		var m struct {
			ID json.RawMessage `json:"id"`
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%q is not a message: %v", line, err)
		}
		lines[string(m.ID)] = strings.TrimSpace(line)
	}
	return lines, code
}

func TestMCP_passes_messages_on(t *testing.T) {
	handler := func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			t.Errorf("the request is no message: %v", err)
		}
		if got := r.Method + " " + r.URL.String(); got != "POST /mcp?readonly=true" || r.Header.Get("X-API-Key") != key {
			t.Errorf("%s with another key or address", got)
		}
		want := "2026-07-28"
		if m.Method == "initialize" {
			want = ""
		}
		if got := r.Header.Get("MCP-Protocol-Version"); got != want {
			t.Errorf("%s has version %q, want %q", m.Method, got, want)
		}
		if r.Header.Get("Idempotency-Key") != "" {
			t.Errorf("%s can be answered from an earlier request", m.Method)
		}
		switch m.Method {
		case "initialize":
			fmt.Fprintf(w, "{\"jsonrpc\": \"2.0\", \"id\": %s,\n \"result\": {\"protocolVersion\": \"2026-07-28\"}}\n", m.ID)
		case "notifications/initialized":
			w.WriteHeader(http.StatusAccepted)
		case "tools/refuse":
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, m.ID)
		case "tools/html":
			fmt.Fprint(w, "<html>a page of a proxy</html>")
		case "tools/denied":
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"statusCode":401,"message":"The key has expired.","error":"Unauthorized"}`)
		default:
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[]}}`, m.ID)
		}
	}
	lines, code := talk(t, handler, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}
{"jsonrpc":"2.0","method":"notifications/initialized"}

{"jsonrpc":"2.0","id":"a","method":"tools/list"}
{"jsonrpc":"2.0","id":2,"method":"tools/refuse"}
{"jsonrpc":"2.0","id":3,"method":"tools/html"}
{"jsonrpc":"2.0","id":4,"method":"tools/denied"}
no JSON
`), "--read-only")
	if code != app.CodeOK {
		t.Errorf("the exit code is %d", code)
	}
	for id, want := range map[string]string{
		"1": `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2026-07-28"}}`, `"a"`: `{"jsonrpc":"2.0","id":"a","result":{"tools":[]}}`,
		"2": `"code":-32601`, "3": "does not answer as a Shortline with MCP does", "4": "The key has expired.", "null": `"code":-32700`,
	} {
		if !strings.Contains(lines[id], want) {
			t.Errorf("the answer to %s is %q, want %s", id, lines[id], want)
		}
	}
	if len(lines) != 6 {
		t.Errorf("answers: %v", lines)
	}
}

// A request that is cancelled ends at the server, has no answer, and does not keep others waiting.
func TestMCP_cancels_requests(t *testing.T) {
	begun := make(chan context.Context, 1)
	handler := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte("slow")) {
			begun <- r.Context()
			<-r.Context().Done()
			return
		}
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":2,"result":{}}`)
	}
	in, client := io.Pipe()
	go func() {
		fmt.Fprintln(client, `{"jsonrpc":"2.0","id":1,"method":"slow"}`)
		ended := <-begun
		fmt.Fprintln(client, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		<-ended.Done()
		fmt.Fprintln(client, `{"jsonrpc":"2.0","id":2,"method":"fast"}`)
		_ = client.Close()
	}()
	lines, code := talk(t, handler, in)
	if code != app.CodeOK || len(lines) != 1 || lines["2"] == "" {
		t.Errorf("exit code %d, answers %v", code, lines)
	}
}

func TestMCP_refuses_long_messages(t *testing.T) {
	handler := func(http.ResponseWriter, *http.Request) { t.Error("the message was sent") }
	lines, code := talk(t, handler, strings.NewReader(strings.Repeat("x", 2<<20)))
	if code != app.CodeError || len(lines) != 0 {
		t.Errorf("exit code %d, answers %v", code, lines)
	}
}
