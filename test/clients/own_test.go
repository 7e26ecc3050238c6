package clients_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// The files of our client are those that the document of a standalone leads to.
func TestClient_is_generated_from_the_document(t *testing.T) {
	t.Parallel()
	document, err := os.Open(standalone(t).document)
	testkit.Must(t, err)
	defer document.Close()
	check := exec.CommandContext(t.Context(), goCommand(), "run", ".", "-check", "-dir", testkit.Source(t, "client"))
	check.Dir, check.Stdin = testkit.Source(t, ".ci/tools/goclient"), document
	check.Env = append(os.Environ(), "GOWORK=off")
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Our client calls every operation of the document.
func TestClient_calls_each_operation(t *testing.T) {
	t.Parallel()
	in := standalone(t, "ALLOW_PRIVATE_DESTINATIONS=true", "WEBHOOK_ALLOW_PRIVATE=true", "CONSOLE_URL=https://sho.example",
		"RATE_LIMIT_WEBHOOKS=0") // alerts and webhooks together change more than five a minute
	s := newSession(t, in)
	s.accounts()
	s.links()
	s.routing()
	s.collections()
	s.visits()
	s.reports()
	s.webhooks()
	s.alerts()
	s.domains()
	s.workspaces()
	s.people()
	s.imports()
	s.administration()
	s.signOut()
	if missing := s.calls.missing(); len(missing) > 0 {
		t.Errorf("no call of %d operations: %s", len(missing), strings.Join(missing, ", "))
	}
}

// session is a session of an administrator.
type session struct {
	t     *testing.T
	in    *installation
	calls *calls
	*client.Client
	public *client.Client // without credentials
	link   *client.Link   // with rules, variants and clicks
}

func newSession(t *testing.T, in *installation) *session {
	s := &session{t: t, in: in, calls: readOperations(t, in.document)}
	s.public = s.client()
	signed := got(s.public.Account.Login(t.Context(), client.SignIn{Email: "admin@example.com", Password: adminPassword}))(t)
	if signed.AccessToken == nil {
		t.Fatalf("the sign-in has no token: %+v", signed)
	}
	s.Client = s.client(client.WithToken(*signed.AccessToken))
	return s
}

func (s *session) client(opts ...client.Option) *client.Client {
	opts = append(opts, client.WithHTTPClient(&http.Client{Transport: s.calls}), client.WithRetry(client.NoRetry))
	return client.New(s.in.base, opts...)
}

func (s *session) ctx() context.Context { return s.t.Context() }

// got returns the result of a call that must succeed.
func got[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		testkit.Must(t, err)
		return v
	}
}

// ok fails the test if a call without a result has failed.
func (s *session) ok(err error) {
	s.t.Helper()
	testkit.Must(s.t, err)
}

// refused checks that a call that cannot succeed here is refused in the way that is meant.
func (s *session) refused(why string, status int, err error) {
	s.t.Helper()
	if !client.HasStatus(err, status) {
		s.t.Errorf("%s: the answer is not %d: %v", why, status, err)
	}
}

// readText reads an answer that is not JSON.
func (s *session) readText(raw *client.Raw, err error) string {
	s.t.Helper()
	testkit.Must(s.t, err)
	defer raw.Close()
	text, err := io.ReadAll(raw)
	testkit.Must(s.t, err)
	return string(text)
}

// calls counts the requests by operation.
type calls struct {
	t          *testing.T
	operations []operation
	path       string // of the request after which run is called
	run        func()
	mu         sync.Mutex
}

type operation struct {
	id, method string
	path       *regexp.Regexp
	called     bool
}

var parameters = regexp.MustCompile(`\\\{\w+\\\}`)

func readOperations(t *testing.T, document string) *calls {
	t.Helper()
	text, err := os.ReadFile(document)
	testkit.Must(t, err)
	var read struct {
		Paths map[string]map[string]struct{ OperationID string }
	}
	testkit.Must(t, json.Unmarshal(text, &read))
	c := &calls{t: t}
	for path, methods := range read.Paths {
		pattern := parameters.ReplaceAllString(regexp.QuoteMeta(path), "[^/]+")
		for method, op := range methods {
			c.operations = append(c.operations, operation{
				id: op.OperationID, method: strings.ToUpper(method), path: regexp.MustCompile("^" + pattern + "$"),
			})
		}
	}
	// The path with the fewest parameters names an operation that several match.
	slices.SortFunc(c.operations, func(a, b operation) int {
		return strings.Count(a.path.String(), "[^/]+") - strings.Count(b.path.String(), "[^/]+")
	})
	if len(c.operations) < 200 {
		t.Fatalf("the document has only %d operations", len(c.operations))
	}
	return c
}

// RoundTrip sends a request and marks its operation.
func (c *calls) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	i := slices.IndexFunc(c.operations, func(op operation) bool {
		return op.method == r.Method && op.path.MatchString(r.URL.EscapedPath())
	})
	if i < 0 {
		c.t.Errorf("%s %s is no operation of the document", r.Method, r.URL.EscapedPath())
	} else {
		c.operations[i].called = true
	}
	run := c.run
	if r.URL.Path == c.path {
		c.run, c.path = nil, ""
	} else {
		run = nil
	}
	c.mu.Unlock()
	res, err := http.DefaultTransport.RoundTrip(r)
	if run != nil {
		run()
	}
	return res, err
}

// missing returns the operations without a call.
func (c *calls) missing() (out []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, op := range c.operations {
		if !op.called {
			out = append(out, op.id)
		}
	}
	slices.Sort(out)
	return out
}

// after runs f once, when the answer to a request of a path has begun.
func (c *calls) after(path string, f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.path, c.run = path, f
}
