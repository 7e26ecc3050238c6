package clients_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// command prepares the command line program with a key of the session's user.
func (s *session) command(args ...string) (cmd *exec.Cmd, output *testkit.Buffer) {
	s.t.Helper()
	program, err := testkit.Release("shortline")
	testkit.Must(s.t, err)
	key := got(s.Keys.Create(s.ctx(), client.CreateAPIKey{Name: "program"}))(s.t)
	output = &testkit.Buffer{}
	cmd = exec.CommandContext(s.ctx(), program, args...)
	cmd.Stdout, cmd.Stderr = output, output
	cmd.Env = append(os.Environ(), "SHORTLINE_URL="+s.in.base, "SHORTLINE_API_KEY="+key.Key, "SHORTLINE_CONFIG="+s.t.TempDir())
	return cmd, output
}

// Events come to a receiver on this machine with valid signatures. Ctrl-C deletes the temporary webhook.
func TestCLI_listen_forwards_events(t *testing.T) {
	t.Parallel()
	s := newSession(t, standalone(t))
	secretFile := filepath.Join(t.TempDir(), "hook.secret")
	type request struct {
		header http.Header
		body   []byte
	}
	received := make(chan request, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		received <- request{r.Header, body}
		w.WriteHeader(http.StatusNoContent)
	}))
	defer receiver.Close()
	cmd, output := s.command("listen", "--forward-to", receiver.URL, "--event", "url.created", "--secret-file", secretFile)
	testkit.Must(t, cmd.Start())
	testkit.Eventually(t, "the program listens", func() bool { return strings.Contains(output.String(), "forwarding url.created") })
	link := got(s.Links.Create(t.Context(), client.CreateLink{OriginalURL: "https://example.com/listen"}))(t)
	one := <-received
	secret, err := os.ReadFile(secretFile)
	testkit.Must(t, err)
	event, err := client.WebhookReceiver{Secrets: []string{strings.TrimSpace(string(secret))}}.Read(one.header, one.body)
	if err != nil || string(event.Event) != "url.created" || !strings.Contains(string(one.body), link.ID) {
		t.Errorf("%v: %s", err, one.body)
	}
	if strings.Contains(output.String(), strings.TrimSpace(string(secret))) {
		t.Error("the output has the secret")
	}
	testkit.Must(t, cmd.Process.Signal(os.Interrupt))
	var failed *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &failed) || failed.ExitCode() != 130 {
		t.Errorf("%v: %s", err, output.String())
	}
	if list := got(s.Webhooks.List(t.Context(), client.SearchParams{}))(t); list.Total != 0 {
		t.Errorf("%d webhooks are left", list.Total)
	}
}

// Clicks are shown as they happen, one JSON object on each line.
func TestCLI_tail_shows_clicks(t *testing.T) {
	t.Parallel()
	s := newSession(t, standalone(t))
	link := got(s.Links.Create(t.Context(), client.CreateLink{OriginalURL: "https://example.com/tail"}))(t)
	cmd, output := s.command("tail", link.Slug, "-n", "1", "--jq", "[.slug, .device] | join(\" \")")
	testkit.Must(t, cmd.Start())
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	ended := false
	testkit.Eventually(t, "a click is shown", func() bool {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.in.base+"/"+link.Slug, nil)
		testkit.Must(t, err)
		req.Header.Set("User-Agent", phone)
		res, err := http.DefaultTransport.RoundTrip(req)
		testkit.Must(t, err)
		_ = res.Body.Close() // it is empty
		select {
		case err := <-done:
			testkit.Must(t, err)
			ended = true
		default:
		}
		return ended
	})
	if !strings.HasSuffix(output.String(), link.Slug+" MOBILE\n") {
		t.Errorf("%q", output.String())
	}
}
