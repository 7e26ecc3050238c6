// Package mcp has the command that lets assistants use a Shortline through standard input and output. The server of the Model Context
// Protocol is /mcp of the Shortline; this program passes on its messages.
package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"

	"github.com/spf13/cobra"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/remote"
)

// The sizes of messages. A message to the server may have 1 MiB; an answer has the text of a result twice.
const (
	maxMessage = 1 << 20
	maxAnswer  = 16 << 20
)

// maxRunning is how many requests the server works on at the same time.
const maxRunning = 8

// Codes of errors of JSON-RPC 2.0 (jsonrpc.org/specification, section 5.1). -32000 is the first of those that a program may define.
const (
	codeNotJSON     = -32700
	codeUnavailable = -32000
)

// Command returns the command mcp.
func Command(a *app.App) *cobra.Command {
	var readonly bool
	cmd := &cobra.Command{
		Use: "mcp", Short: "Let an assistant use Shortline (MCP on standard input and output)", Args: cobra.NoArgs,
		Long: `Let an assistant use Shortline, as a server of the Model Context Protocol on standard input and output.

Programs such as Claude Desktop start this command. It uses the key of the profile, so no key is in their files. The assistant can do
what the key may do. Results, errors and confirmations come from the server at /mcp of your Shortline.`,
		Example: "  shortline mcp --read-only\n  shortline mcp --profile work",
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := a.Remote()
			if err != nil {
				return err
			}
			b := &bridge{remote: r, out: a.Out, query: url.Values{}, cancels: map[string]context.CancelFunc{}}
			if readonly {
				b.query.Set("readonly", "true")
			}
			return b.run(cmd.Context(), a.In)
		},
	}
	cmd.Flags().BoolVar(&readonly, "read-only", false, "offer only tools that change nothing")
	return cmd
}

// bridge passes messages on, each in a request of its own. The server keeps nothing between requests.
type bridge struct {
	remote *remote.Remote
	query  url.Values

	mu      sync.Mutex
	out     io.Writer
	broken  error                         // of out
	version string                        // of the protocol, as the server has answered to initialize
	cancels map[string]context.CancelFunc // of the requests that run, by id
}

// message is what the bridge has to know of a message. An id is a number or a text, and missing in a notification.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		RequestID json.RawMessage `json:"requestId"` // of notifications/cancelled
	} `json:"params"`
}

// run passes messages on until the input ends, and waits for the answers.
func (b *bridge) run(ctx context.Context, in io.Reader) error {
	lines := make(chan []byte)
	failed := make(chan error, 1)
	go func() { // a read cannot be interrupted; it ends with the program
		defer close(lines)
		scanner := bufio.NewScanner(in)
		scanner.Buffer(nil, maxMessage)
		for scanner.Scan() {
			lines <- bytes.Clone(scanner.Bytes())
		}
		err := scanner.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("a message has more than %d MiB", maxMessage>>20)
		}
		failed <- err
	}()
	var running sync.WaitGroup
	defer running.Wait()
	free := make(chan struct{}, maxRunning)
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case line, more := <-lines:
			if !more {
				running.Wait()
				return errors.Join(<-failed, b.failure())
			}
			if line = bytes.TrimSpace(line); len(line) > 0 {
				b.begin(ctx, line, free, &running)
			}
		}
	}
}

// begin sends a message. Requests other than initialize run beside each other.
func (b *bridge) begin(ctx context.Context, line []byte, free chan struct{}, running *sync.WaitGroup) {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		b.write(refusal(nil, codeNotJSON, "the message is not JSON-RPC: "+err.Error()))
		return
	}
	if m.Method == "notifications/cancelled" { // the server works on each request by itself, and could not find the other one
		b.cancel(string(m.Params.RequestID))
		return
	}
	if m.Method == "initialize" || m.ID == nil {
		b.pass(ctx, m, line)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	id := string(m.ID)
	b.mu.Lock()
	b.cancels[id] = cancel
	b.mu.Unlock()
	running.Go(func() {
		defer b.cancel(id)
		select { // here and not before, so that a request that waits can be cancelled
		case free <- struct{}{}:
			defer func() { <-free }()
			b.pass(ctx, m, line)
		case <-ctx.Done():
		}
	})
}

// cancel ends a request, which then has no answer.
func (b *bridge) cancel(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if cancel := b.cancels[id]; cancel != nil {
		cancel()
		delete(b.cancels, id)
	}
}

// pass sends a message to the server, and writes its answer.
func (b *bridge) pass(ctx context.Context, m message, line []byte) {
	answer, err := b.post(ctx, line)
	if ctx.Err() != nil {
		return
	}
	if m.ID == nil {
		return // nobody waits for an answer to a notification
	}
	if err != nil {
		answer = refusal(m.ID, codeUnavailable, err.Error())
	}
	if m.Method == "initialize" {
		b.learn(answer)
	}
	b.write(answer)
}

func (b *bridge) post(ctx context.Context, line []byte) ([]byte, error) {
	options := []client.RequestOption{client.RequestHeader("Accept", "application/json, text/event-stream")}
	b.mu.Lock()
	if b.version != "" {
		options = append(options, client.RequestHeader("MCP-Protocol-Version", b.version))
	}
	b.mu.Unlock()
	// Without a key for repetitions, the client sends a change again only if the server has certainly not begun it.
	res, err := b.remote.Client().DoRaw(ctx, http.MethodPost, "/mcp", b.query, json.RawMessage(line), options...)
	if err != nil {
		err = b.remote.Failed(ctx, err)
		var failed *client.APIError
		if errors.As(err, &failed) && isMessage(failed.Body) {
			return compact(failed.Body)
		}
		return nil, err
	}
	defer res.Close()
	text, err := io.ReadAll(io.LimitReader(res, maxAnswer+1))
	switch {
	case err != nil:
		return nil, b.remote.Failed(ctx, err)
	case len(text) > maxAnswer:
		return nil, fmt.Errorf("the answer has more than %d MiB", maxAnswer>>20)
	case len(bytes.TrimSpace(text)) == 0:
		return nil, nil
	case !isMessage(text):
		return nil, fmt.Errorf("%s does not answer as a Shortline with MCP does", b.remote.Base.Host)
	}
	return compact(text)
}

// isMessage reports whether a text is a message of JSON-RPC.
func isMessage(text []byte) bool {
	var m struct {
		Version string `json:"jsonrpc"`
	}
	return json.Unmarshal(text, &m) == nil && m.Version == "2.0"
}

// compact returns a message without line feeds, which end a message on standard output.
func compact(text []byte) ([]byte, error) {
	var out bytes.Buffer
	err := json.Compact(&out, text)
	return out.Bytes(), err
}

// learn keeps the version of the protocol, which the following requests name.
func (b *bridge) learn(answer []byte) {
	var m struct {
		Result struct {
			Version string `json:"protocolVersion"`
		} `json:"result"`
	}
	if json.Unmarshal(answer, &m) == nil {
		b.mu.Lock()
		b.version = m.Result.Version
		b.mu.Unlock()
	}
}

// refusal returns an error of JSON-RPC. The id is null if the request has none that can be read.
func refusal(id json.RawMessage, code int, text string) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	out, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": text}})
	if err != nil {
		panic("BUG: an error cannot be written: " + err.Error())
	}
	return out
}

func (b *bridge) write(line []byte) {
	if len(line) == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, err := b.out.Write(append(line, '\n')); err != nil && b.broken == nil {
		b.broken = err
	}
}

func (b *bridge) failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.broken
}
