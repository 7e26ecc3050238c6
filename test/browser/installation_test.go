package browser_test

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/chromedp/cdproto/network"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/nametest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Most tests share one standalone and one Chromium. Each has an account and a personal workspace of its own, and its own
// window without the cookies of others. Slugs, e-mail addresses and hosts belong to the whole installation; browser.own
// makes them different in each test. A test starts its own standalone if it is about settings, or about something of which
// an installation has only one: its users, its reports, its missing links, its rules for signing in.

// password is that of every account.
const password = "a-long-enough-password"

// owner is the address of the first administrator.
const owner = "admin@example.com"

func TestMain(m *testing.M) {
	flag.Parse()
	// Tests mostly wait, for the page, the program or each other's turn.
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set("6")
	}
	code := m.Run()
	failed.Store(code != 0)
	for i := len(atEnd) - 1; i >= 0; i-- {
		atEnd[i]()
	}
	os.Exit(code)
}

var (
	atEnd  []func() // what process.Cleanup has added
	failed atomic.Bool
)

// process stands for the process of all tests in place of a single test. It cleans up after the last one.
type process struct{ testing.TB }

func (process) Cleanup(f func())             { atEnd = append(atEnd, f) }
func (process) Failed() bool                 { return failed.Load() }
func (process) Logf(format string, a ...any) { fmt.Fprintf(os.Stderr, format+"\n", a...) }
func (p process) TempDir() string {
	dir, err := os.MkdirTemp("", "shortline-browser")
	testkit.Must(p, err)
	p.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// standalone runs the program, with more settings if given, and returns its base URL.
func standalone(t testing.TB, settings ...string) string {
	t.Helper()
	program, err := testkit.Release("standalone")
	testkit.Must(t, err)
	return launch(t, program, settings...)
}

// launch is standalone for a given build of the program.
func launch(t testing.TB, program string, settings ...string) string {
	t.Helper()
	dir := t.TempDir()
	addr, ops := testkit.FreeAddr(t), testkit.FreeAddr(t)
	for _, s := range settings {
		if own, ok := strings.CutPrefix(s, "OPS_ADDR="); ok {
			ops = own
		}
	}
	out, err := os.Create(filepath.Join(dir, "log"))
	testkit.Must(t, err)
	cmd := exec.Command(program)
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LISTEN_ADDR=" + addr, "OPS_ADDR=" + ops, "DATA_DIR=" + filepath.Join(dir, "data"),
		"ADMIN_PASSWORD=" + password, "RATE_LIMIT_DEFAULT=0", "RATE_LIMIT_ANALYTICS=0", "RATE_LIMIT_ROUTING=0",
		"RATE_LIMIT_WEBHOOKS=0", "RATE_LIMIT_WEBHOOK_RETRY=0", "PAGE_PREVIEWS=false",
	}, testkit.LongRequests...) // each answer with 503 fails the test, even that of an icon, because Chromium reports it
	cmd.Env = append(cmd.Env, settings...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	testkit.Must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if b, err := os.ReadFile(out.Name()); t.Failed() && err == nil {
			t.Logf("output of standalone:\n%s", b)
		}
	})
	testkit.Eventually(t, "standalone is ready", func() bool {
		res, err := http.Get("http://" + ops + "/readyz")
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	return "http://" + addr
}

// installation is a standalone with a name server for custom domains.
type installation struct {
	base   string
	mu     sync.Mutex // of names
	names  *nametest.Server
	admin  string // a token of the first administrator
	people atomic.Int64
}

const edgeName = "edge.sho.example.com"

func newInstallation(t testing.TB, settings ...string) *installation {
	t.Helper()
	i := &installation{names: nametest.Start(t)}
	i.names.Set(edgeName, "A 198.51.100.1")
	i.base = standalone(t, append(settings, "RESOLVERS="+i.names.Addr, "EDGE_HOSTNAME="+edgeName, "WEBHOOK_ALLOW_PRIVATE=true")...)
	i.admin = signedIn(t, i.base, owner)
	return i
}

var (
	startShared sync.Once
	theShared   *installation
)

// shared returns the installation that tests share. While references are taken, each test has its own, so that pictures
// show plain names.
func shared(t testing.TB) *installation {
	t.Helper()
	if *screens {
		return newInstallation(t)
	}
	startShared.Do(func() { theShared = newInstallation(process{t}) })
	if theShared == nil {
		t.Fatal("the shared standalone did not start")
	}
	return theShared
}

// point sets the records that a domain asks for.
func (i *installation) point(d ownDomain) {
	for _, r := range d.Records {
		if text := r.Type + " " + r.Value; r.Type == "TXT" {
			i.set(r.Name, `TXT "`+r.Value+`"`)
		} else {
			i.set(r.Name, text+".")
		}
	}
}

// set sets the records of a name.
func (i *installation) set(name, record string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.names.Set(name, record)
}

// newConsole opens the console of the shared installation as a new user, on the list of links.
func newConsole(t *testing.T) *browser { t.Helper(); return newAccount(t, client.UserRoleUser) }

// newAdmin opens the console of the shared installation as a new administrator of it.
func newAdmin(t *testing.T) *browser { t.Helper(); return newAccount(t, client.UserRoleAdmin) }

func newAccount(t *testing.T, role client.UserRole) *browser {
	t.Helper()
	b := newVisitor(t, role)
	b.enter()
	return b
}

// newVisitor opens a window for a new account of the shared installation that has not signed in.
func newVisitor(t *testing.T, role client.UserRole) *browser {
	t.Helper()
	i := shared(t)
	b := open(t, i.base)
	b.at, b.email = i, owner
	if !*screens {
		b.mark = mark(int(i.people.Add(1)))
		b.email = b.mail("somebody")
		_, err := api(i.base, i.admin).Users.Create(t.Context(), client.CreateUser{Email: b.email, Password: password,
			Role: client.Set(role)})
		testkit.Must(t, err)
	}
	return b
}

// console opens the console of an installation as its first administrator.
func (i *installation) console(t *testing.T) *browser {
	t.Helper()
	b := consoleAt(t, i.base)
	b.at = i
	return b
}

// consoleAt opens the console of a test's own standalone as its first administrator, on the list of links.
func consoleAt(t *testing.T, base string) *browser {
	t.Helper()
	b := open(t, base)
	b.enter()
	return b
}

// window opens another window for the same account, which has not signed in there.
func (b *browser) window() *browser {
	b.t.Helper()
	other := open(b.t, b.base)
	other.at, other.mark, other.email = b.at, b.mark, b.email
	return other
}

// session opens another window where the same account has signed in.
func (b *browser) session() *browser {
	b.t.Helper()
	other := b.window()
	other.enter()
	return other
}

// enter shows the list of links to the account of the window.
func (b *browser) enter() {
	b.t.Helper()
	b.also("409")
	b.do(network.SetCookie("access_token", signedIn(b.t, b.base, b.email)).WithURL(b.base).WithHTTPOnly(true))
	b.visit("/console/links", "New link")
}

// mark returns the n-th mark. It has no digits, for which tests search.
func mark(n int) string {
	return "-x" + strings.Map(func(digit rune) rune { return digit - '0' + 'a' }, strconv.Itoa(n))
}

// own returns a name that no other test uses in the shared installation.
func (b *browser) own(name string) string { return name + b.mark }

// short returns the address of the link with a slug of this test.
func (b *browser) short(slug string) string { return b.base + "/" + b.own(slug) }

// mail returns the e-mail address of a person whom only this test knows.
func (b *browser) mail(name string) string { return b.own(name) + "@example.com" }

// acme returns the custom domain of this test. It is long, so that narrow pages must break it.
func (b *browser) acme() string { return b.own("go-spring-sale") + ".acme.example.com" }

// signedIn begins a session and returns its token. It tries again while the program is too busy to check a password.
func signedIn(t testing.TB, base, email string) (token string) {
	t.Helper()
	testkit.Eventually(t, email+" signs in", func() bool {
		session, err := api(base, "").Account.Login(t.Context(), client.SignIn{Email: email, Password: password})
		if client.HasStatus(err, http.StatusTooManyRequests) || client.HasStatus(err, http.StatusServiceUnavailable) {
			return false
		}
		testkit.Must(t, err)
		token = *session.AccessToken
		return true
	})
	return token
}

// api returns a client with a token. It repeats requests for which the program is too busy for as long as the program asks for. The
// program may close an idle connection at any time, so each request has its own.
func api(base, token string) *client.Client {
	agent := strings.Replace(laptop, "Windows NT 10.0; Win64; x64", "X11; Linux x86_64", 1) // as Chromium here
	return client.New(base, client.WithToken(token), client.WithUserAgent(agent), client.WithTimeout(testkit.Patience),
		client.WithRetry(client.Retry{Attempts: 100, LongestAsked: testkit.Patience}),
		client.WithHTTPClient(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}))
}
