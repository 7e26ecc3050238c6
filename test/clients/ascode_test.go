package clients_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// coder runs plan, apply and export on an installation.
type coder struct {
	t             *testing.T
	program, base string
	key           string
	dir           string
	files         atomic.Int64
}

func newCoder(t *testing.T) *coder {
	t.Helper()
	program, err := testkit.Release("shortline")
	testkit.Must(t, err)
	in := standalone(t, "ALLOW_PRIVATE_DESTINATIONS=true")
	key := got(newSession(t, in).Keys.Create(t.Context(), client.CreateAPIKey{Name: "code"}))(t)
	return &coder{t: t, program: program, base: in.base, key: key.Key, dir: t.TempDir()}
}

// command prepares the program. It extends the time limit of a request: a slow machine needs more than the usual minute to write thousands
// of links.
func (c *coder) command(base string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(c.t.Context(), c.program, append(args, "--timeout", testkit.Patience.String())...)
	cmd.Env = append(os.Environ(), "SHORTLINE_URL="+base, "SHORTLINE_API_KEY="+c.key, "SHORTLINE_CONFIG="+c.dir, "SHORTLINE_KEYRING=file")
	return cmd
}

// run runs the program and returns its exit code with what it has written.
func (c *coder) run(args ...string) (code int, out, problem string) {
	c.t.Helper()
	cmd := c.command(c.base, args...)
	var text, errors bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &errors
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		c.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), text.String(), errors.String()
}

func (c *coder) file(text string) string {
	c.t.Helper()
	name := filepath.Join(c.dir, fmt.Sprintf("links%d.yaml", c.files.Add(1)))
	testkit.Must(c.t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

// The published schema is the one beside the program's sources.
func TestCode_schema_is_published(t *testing.T) {
	source := contents(testkit.Source(t, "client/cmd/shortline/internal/ascode/links.schema.json"))
	if published := contents(testkit.Source(t, "docs/public/schemas/links.json")); published != source {
		t.Error("docs/public/schemas/links.json differs from links.schema.json in the sources; copy the file")
	}
}

// fits checks a file against the published schema.
func (c *coder) fits(name string) {
	c.t.Helper()
	schema, err := jsonschema.NewCompiler().Compile(testkit.Source(c.t, "docs/public/schemas/links.json"))
	testkit.Must(c.t, err)
	var v any
	testkit.Must(c.t, yaml.Unmarshal([]byte(contents(name)), &v))
	text, err := json.Marshal(v)
	testkit.Must(c.t, err)
	v, err = jsonschema.UnmarshalJSON(bytes.NewReader(text))
	testkit.Must(c.t, err)
	if err := schema.Validate(v); err != nil {
		c.t.Errorf("the file does not fit the schema: %v\n%s", err, contents(name))
	}
}

// apply must succeed, and after it a plan must be empty.
func (c *coder) apply(name string, flags ...string) {
	c.t.Helper()
	if code, out, problem := c.run(append([]string{"apply", name}, flags...)...); code != 0 {
		c.t.Fatalf("apply: exit code %d\n%s%s\n%s", code, out, problem, contents(name))
	}
	c.same(name)
}

func (c *coder) same(name string) {
	c.t.Helper()
	if code, out, problem := c.run("plan", name, "--prune", "--detailed-exitcode"); code != 0 {
		c.t.Fatalf("plan: exit code %d\n%s%s\n%s", code, out, problem, contents(name))
	}
}

func (c *coder) export(owner string) string {
	c.t.Helper()
	code, out, problem := c.run("export", "--owner", owner)
	if code != 0 {
		c.t.Fatalf("export: exit code %d\n%s", code, problem)
	}
	return out
}

func contents(name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// randomFile writes a file with random links of an owner. Some of them have the same slugs each time.
func randomFile(r *rand.Rand, owner string, most int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "version: 1\nowner: %s\nlinks:\n", owner)
	for i := range most {
		if r.IntN(4) == 0 {
			continue
		}
		fmt.Fprintf(&b, "  - slug: %s-%d\n    destination: https://example.com/%d?a=b&c=%d\n", owner, i, i, r.IntN(3))
		for _, optional := range []string{
			`title: "yes: #1 \"x\" ümläut"`, "title: 007", "notes: |\n      two\n      lines", "tags: [One, two, '3']", "tags: ['managed', \"a: b\"]",
			"active: false", "startsAt: 2027-01-01T08:00:00+01:00", "expiresAt: 2040-01-01", "expiredUrl: https://example.com/over",
			"maxClicks: 10", "redirectCode: 301", "trackConversions: true", "stickiness: hash", "utm: {source: a, medium: null, id: 5}",
			"preview: {title: T, description: 'D: d', card: summary}", "externalId: " + owner + ":" + fmt.Sprint(i),
			"variants:\n      - {name: a, destination: https://example.com/a}\n      - {name: b, destination: https://example.com/b, weight: 7, active: false}",
			"rules:\n" + randomRules(r), "defaultUrl: https://example.com/default", "rules:\n" + randomRules(r) + "    smartRouting: false",
		} {
			key, _, _ := strings.Cut(optional, ":")
			if lines := strings.Split(b.String(), "  - slug: "); r.IntN(4) == 0 && !strings.Contains(lines[len(lines)-1], "    "+key+":") {
				b.WriteString("    " + optional + "\n")
			}
		}
	}
	return b.String()
}

func randomRules(r *rand.Rand) string {
	var b strings.Builder
	for i, when := range []string{
		"{country: DE}", "{country: [DE, AT], device: {not_equals: MOBILE}}", "{all: [{os: iOS}, {os: {not_in: [Android]}}]}",
		"{any: [{day_of_week: [mon, 7]}, {day_of_week: {not_in: {days: [sat], timezone: Europe/Berlin}}}]}", "{percentage: 12.5}",
		"{time: {between: {start: '09:00', end: '18:00', timezone: Europe/Berlin}}}", "{query: {name: ref, starts_with: '007'}}",
		"{query: {name: ref, in: [a, b]}, referer: {contains: news}}", "{date: {after: {start: 2027-01-01}}}", "{visitor: new}",
		"{ip: {in: [198.51.100.0/24]}}", "{logicalOperator: AND, items: [{type: country, operator: equals, value: DE}]}",
		"{any: [{all: [{country: DE}, {any: [{city: Berlin}, {language: de-DE}]}]}, {utm_source: '1e3'}]}",
	} {
		if r.IntN(4) == 0 {
			fmt.Fprintf(&b, "      - name: rule %d\n        when: %s\n        destination: https://example.com/%d\n", i, when, r.IntN(3))
			if r.IntN(3) == 0 {
				fmt.Fprintf(&b, "        priority: %d\n", r.IntN(20))
			}
			if r.IntN(4) == 0 {
				b.WriteString("        active: false\n")
			}
		}
	}
	if b.Len() == 0 {
		b.WriteString("      - {name: all, when: {device: DESKTOP}, destination: https://example.com/d}\n")
	}
	return b.String()
}

// After an apply of any state over any other, a plan is empty; an export says the same as the file; and links of another owner stay.
func TestCode_any_state_is_reached_and_exported(t *testing.T) {
	t.Parallel()
	c := newCoder(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	other := c.file(randomFile(r, "other", 10))
	c.apply(other)
	untouched := c.export("other")
	for range 6 {
		wanted := c.file(randomFile(r, "mine", 25))
		c.fits(wanted)
		c.apply(wanted, "--prune", "--yes")
		state := c.export("mine")
		again := c.file(state)
		c.fits(again)
		c.same(again)
		c.apply(again)
		if now := c.export("mine"); now != state {
			t.Fatalf("the export of its own apply differs:\n%s\n%s", state, now)
		}
		if now := c.export("other"); now != untouched {
			t.Fatalf("links of another owner have changed:\n%s\n%s", untouched, now)
		}
	}
	c.same(other)
}

// manyLinks writes a file that needs several batches.
func manyLinks(owner, title string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "version: 1\nowner: %s\nlinks:\n", owner)
	for i := range n {
		fmt.Fprintf(&b, "  - {slug: %s-%d, destination: 'https://example.com/%d', title: %s, "+
			"rules: [{name: phones, when: {device: MOBILE}, destination: 'https://m.example.com/'}]}\n", owner, i, i, title)
	}
	return b.String()
}

// A process that is killed before or after any of its writes leaves a state from which the next apply reaches the same one.
func TestCode_apply_after_a_kill_reaches_the_same_state(t *testing.T) {
	t.Parallel()
	c := newCoder(t)
	target, err := url.Parse(c.base)
	testkit.Must(t, err)
	c.apply(c.file(manyLinks("kill", "first", 1200)))
	for n := range 5 {
		name := c.file(manyLinks("kill", fmt.Sprint("title", n), 2100+n))
		forward := testkit.FullDuplex(httputil.NewSingleHostReverseProxy(target))
		var mu sync.Mutex
		writes, killed, cmd := 0, false, (*exec.Cmd)(nil)
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			if req.Method != http.MethodPut || req.URL.Query().Has("dryRun") {
				forward.ServeHTTP(w, req)
				return
			}
			switch writes++; {
			case writes <= n/2:
				forward.ServeHTTP(w, req)
				return
			case writes > 1+n/2:
				return // the process is no more
			case n%2 == 1: // after the write, and before its answer
				forward.ServeHTTP(httptest.NewRecorder(), req.WithContext(t.Context()))
			}
			killed = cmd.Process.Kill() == nil
		}))
		mu.Lock()
		cmd = c.command(proxy.URL, "apply", name)
		testkit.Must(t, cmd.Start())
		mu.Unlock()
		_ = cmd.Wait() // it was killed
		proxy.Close()
		if !killed {
			t.Fatal("the process was not killed")
		}
		c.apply(name)
		if state := c.export("kill"); strings.Count(state, fmt.Sprint("title: title", n, "\n")) != 2100+n {
			t.Errorf("%d: not all links have the title of the file", n)
		}
	}
}

// Two owners who apply at the same time, over and over, never touch each other's links.
func TestCode_owners_at_the_same_time(t *testing.T) {
	t.Parallel()
	c := newCoder(t)
	var wait sync.WaitGroup
	for _, owner := range []string{"left", "right"} {
		wait.Go(func() {
			for n := range 4 {
				name := c.file(manyLinks(owner, fmt.Sprint("title", n), 300-n*10))
				if code, out, problem := c.run("apply", name, "--prune", "--yes"); code != 0 {
					t.Errorf("%s: exit code %d\n%.2000s%s", owner, code, out, problem)
				}
			}
		})
	}
	wait.Wait()
	for _, owner := range []string{"left", "right"} {
		c.same(c.file(manyLinks(owner, "title3", 270)))
		if state := c.export(owner); strings.Count(state, "  - slug: "+owner+"-") != 270 || strings.Count(state, "  - slug: ") != 270 {
			t.Errorf("%s has other links:\n%.2000s", owner, state)
		}
	}
}

// A link that somebody else deletes just before an apply does is as the file wants it, and the others are deleted too.
func TestCode_prunes_what_is_left(t *testing.T) {
	t.Parallel()
	c := newCoder(t)
	target, err := url.Parse(c.base)
	testkit.Must(t, err)
	c.apply(c.file(manyLinks("gone", "first", 5)))
	forward := testkit.FullDuplex(httputil.NewSingleHostReverseProxy(target))
	var deletes atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodDelete {
			if deletes.Add(1) == 1 {
				if code, _, problem := c.run("apply", c.file(manyLinks("gone", "first", 3)), "--prune", "--yes"); code != 0 {
					t.Errorf("the other apply: exit code %d\n%s", code, problem)
				}
			}
		}
		forward.ServeHTTP(w, req)
	}))
	t.Cleanup(proxy.Close)
	if out, err := c.command(proxy.URL, "apply", c.file(manyLinks("gone", "first", 1)), "--prune", "--yes").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if state := c.export("gone"); deletes.Load() != 2 || strings.Count(state, "  - slug: ") != 1 {
		t.Errorf("after %d requests to delete:\n%s", deletes.Load(), state)
	}
}

// Two applies of the same file at once: each link is made once. One of them may say that the other was faster, and nothing is half.
func TestCode_the_same_file_twice_at_once(t *testing.T) {
	t.Parallel()
	c := newCoder(t)
	for n := range 3 {
		name := c.file(manyLinks("twin", fmt.Sprint("title", n), 300-n*10))
		var wait sync.WaitGroup
		for range 2 {
			wait.Go(func() {
				code, out, problem := c.run("apply", name, "--prune", "--yes")
				if code != 0 && (code != 5 || !strings.Contains(problem, "since the plan")) {
					t.Errorf("exit code %d\n%.2000s%.2000s", code, out, problem)
				}
			})
		}
		wait.Wait()
		c.apply(name, "--prune", "--yes") // what one of them has left to the other
		want := 300 - n*10
		if state := c.export("twin"); strings.Count(state, "  - slug: twin-") != want || strings.Count(state, "  - slug: ") != want {
			t.Errorf("other links than the file has:\n%.2000s", state)
		}
	}
}

// randomShared writes a file with random tags and domains, and a link on one of the domains.
func randomShared(r *rand.Rand, owner string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "version: 1\nowner: %s\ntags:\n  - {name: plain}\n", owner)
	for _, name := range []string{"Spring", "'007'", "ümläut", "\"a: b\""} {
		fmt.Fprintf(&b, "  - {name: %s, color: '#%06X'}\n", name, r.IntN(1<<24))
	}
	main := r.IntN(3)
	b.WriteString("domains:\n")
	for i := range 3 {
		fmt.Fprintf(&b, "  - host: go%d.acme.com\n    default: %v\n", i, i == main)
		for _, optional := range []string{
			"rootUrl: https://example.com/home?a=b#c", "rootUrl: null", "notFoundUrl: https://example.com/lost", "expiredUrl: https://example.com/over",
			"hsts: 86400", "hsts: 0", "brandName: \"Acme: #1\"", "brandName: 007", "brandLogoUrl: https://example.com/logo.svg",
		} {
			key, _, _ := strings.Cut(optional, ":")
			if all := strings.Split(b.String(), "  - host: "); r.IntN(2) == 0 && !strings.Contains(all[len(all)-1], "    "+key+":") {
				b.WriteString("    " + optional + "\n")
			}
		}
	}
	fmt.Fprintf(&b, "links:\n  - {slug: shared, domain: GO%d.acme.com, destination: https://example.com/, tags: [spring, plain]}\n", 1)
	return b.String()
}

// Any tags and domains are reached and exported, like links. A file with others deletes none.
func TestCode_tags_and_domains(t *testing.T) {
	t.Parallel()
	c := newCoder(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	export := func() string {
		t.Helper()
		code, out, problem := c.run("export", "--owner", "mine", "--shared")
		if code != 0 {
			t.Fatalf("export: exit code %d\n%s", code, problem)
		}
		return out
	}
	for range 5 {
		wanted := c.file(randomShared(r, "mine"))
		c.fits(wanted)
		c.apply(wanted)
		state := export()
		again := c.file(state)
		c.fits(again)
		c.apply(again)
		if now := export(); now != state {
			t.Fatalf("the export of its own apply differs:\n%s\n%s", state, now)
		}
	}
	state := export()
	c.apply(c.file("version: 1\nowner: other\ntags: [{name: more, color: '#010203'}]\ndomains: [{host: more.acme.com}]\n"))
	now := export()
	for _, line := range strings.Split(state, "\n") {
		if !strings.Contains(now, line) {
			t.Errorf("another file has removed %q", line)
		}
	}
	// Refused files change nothing, and the message says where the mistake stands.
	for text, want := range map[string]string{
		"tags: [{color: '#010203'}]":                                                "a tag needs name",
		"tags: [{name: managed-by:other}]":                                          "are for owners",
		"tags: [{name: a}, {name: A}]":                                              "the tag a is in",
		"tags: [{name: a, color: null}]":                                            "color must not be null",
		"domains: [{host: a.acme.com, root: x}]":                                    `a domain has no "root"`,
		"domains: [{host: a.acme.com, rootUrl: 'https://bücher.example/'}]":         "must be written in ASCII",
		"domains: [{host: a.acme.com, default: true}, {host: b.com, default: yes}]": "",
		"tags: [{name: a, color: red}]":                                             "color",
		"domains: [{host: 'not a host'}]":                                           "domain not a host",
	} {
		code, out, problem := c.run("apply", c.file("version: 1\n"+text+"\n"))
		if code != 1 || !strings.Contains(out+problem, want) {
			t.Errorf("%s: exit code %d\n%s%s", text, code, out, problem)
		}
	}
	if export() != now {
		t.Error("refused files have changed something")
	}
}
