package api_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// bridge passes messages between two transports until one of them ends, as a program for clients that start local servers does.
func bridge(ctx context.Context, local, remote mcp.Transport) error {
	near, err := local.Connect(ctx)
	if err != nil {
		return err
	}
	far, err := remote.Connect(ctx)
	if err != nil {
		return errors.Join(err, near.Close())
	}
	ends := make(chan error, 2)
	pass := func(from, to mcp.Connection) {
		for {
			message, err := from.Read(ctx)
			if err == nil {
				err = to.Write(ctx, message)
			}
			if err != nil {
				ends <- err
				return
			}
		}
	}
	go pass(near, far)
	go pass(far, near)
	err = <-ends
	_, _ = near.Close(), far.Close()
	<-ends
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// A client that speaks to a local program works through a bridge from its pipes to /mcp.
func TestMCP_over_a_bridge_from_pipes(t *testing.T) {
	w := small(t, whole)
	key, _ := w.newKey(w.ann)
	served := httptest.NewServer(w.server.Handler())
	t.Cleanup(served.Close)
	toBridge, fromClient := io.Pipe()
	toClient, fromBridge := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- bridge(t.Context(), &mcp.IOTransport{Reader: toBridge, Writer: fromBridge}, &mcp.StreamableClientTransport{
			Endpoint: served.URL + "/mcp", DisableStandaloneSSE: true,
			HTTPClient: &http.Client{Transport: withHeaders{"Authorization": "Bearer " + key}},
		})
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	w.ok(err)
	a := &assistant{w, session}
	if len(a.names()) != 15 {
		t.Errorf("tools: %v", a.names())
	}
	id := a.call("create_link", `{"originalUrl":"https://example.com/","customSlug":"bridged"}`).works().str("link.id")
	if got := a.call("get_link", `{"link":"bridged"}`).works().str("link.id"); got != id {
		t.Errorf("the link is %q, want %q", got, id)
	}
	a.call("get_link", `{"link":"nothing-here"}`).fails("LINK_NOT_FOUND")
	w.ok(session.Close())
	w.ok(<-done)
}
