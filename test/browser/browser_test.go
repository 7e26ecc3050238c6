// Package browser_test tests the console in Chromium against a running standalone. With SHOTS=folder it writes
// screenshots to that folder.
package browser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/shortline/shortline/shared/testkit"
)

const adminPassword = "a-long-enough-password"

// program is the program under test, built once for all tests.
var program string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "shortline-browser")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		program = filepath.Join(dir, "standalone")
		build := exec.Command("go", "build", "-o", program, ".")
		build.Dir, build.Env, build.Stderr = "../../control/cmd/standalone", append(os.Environ(), "GOWORK=off"), os.Stderr
		if err := build.Run(); err != nil {
			fmt.Fprintln(os.Stderr, "build standalone:", err)
			return 1
		}
		return m.Run()
	}())
}

// standalone runs the program, with more settings if given, and returns its base URL.
func standalone(t *testing.T, settings ...string) string {
	t.Helper()
	return launch(t, program, settings...)
}

// launch is standalone for a given build of the program.
func launch(t *testing.T, program string, settings ...string) string {
	t.Helper()
	dir := t.TempDir()
	addr, ops := testkit.FreeAddr(t), testkit.FreeAddr(t)
	for _, s := range settings {
		if own, ok := strings.CutPrefix(s, "OPS_ADDR="); ok {
			ops = own
		}
	}
	out, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LISTEN_ADDR=" + addr, "OPS_ADDR=" + ops, "DATA_DIR=" + filepath.Join(dir, "data"),
		"ADMIN_PASSWORD=" + adminPassword, "RATE_LIMIT_DEFAULT=0", "RATE_LIMIT_ANALYTICS=0", "RATE_LIMIT_ROUTING=0",
		"RATE_LIMIT_WEBHOOKS=0", "RATE_LIMIT_WEBHOOK_RETRY=0", "PAGE_PREVIEWS=false",
	}, settings...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if b, err := os.ReadFile(out.Name()); t.Failed() && err == nil {
			t.Logf("output of standalone:\n%s", b)
		}
	})
	testkit.Within(t, 60*time.Second, "standalone is ready", func() bool {
		res, err := http.Get("http://" + ops + "/readyz")
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	return "http://" + addr
}

// browser is one window with its console messages.
type browser struct {
	t    *testing.T
	ctx  context.Context
	base string
	// expected matches messages that a test causes on purpose.
	expected *regexp.Regexp
	// actions counts what a person would do: press, choose or type something.
	actions int

	mu         sync.Mutex
	complaints []string
}

func open(t *testing.T, base string, more ...chromedp.ExecAllocatorOption) *browser {
	t.Helper()
	var chromium string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			chromium = found
			break
		}
	}
	if chromium == "" {
		t.Fatal("The console tests need Chromium.  On Debian or Ubuntu:  sudo apt-get install -y chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.WindowSize(1280, 900), chromedp.Flag("lang", "en-GB"))
	options = append(options, more...)
	alloc, cancelAlloc := chromedp.NewExecAllocator(context.Background(), options...)
	// The driver logs every event type that is newer than itself.
	ctx, cancel := chromedp.NewContext(alloc, chromedp.WithErrorf(func(string, ...any) {}))
	limited, cancelLimit := context.WithTimeout(ctx, 150*time.Second)
	t.Cleanup(func() { cancelLimit(); cancel(); cancelAlloc() })
	b := &browser{t: t, ctx: limited, base: base, expected: regexp.MustCompile(`401 \(Unauthorized\)|400 \(Bad Request\)|404 \(Not Found\) http://[^/]+/console/nothing$`)}
	chromedp.ListenTarget(limited, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			b.complain("exception: " + e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
				args, _ := json.Marshal(e.Args)
				b.complain("console: " + string(args))
			}
		case *cdplog.EventEntryAdded:
			if e.Entry.Level == cdplog.LevelError || e.Entry.Level == cdplog.LevelWarning {
				b.complain("log: " + e.Entry.Text + " " + e.Entry.URL)
			}
		case *network.EventRequestWillBeSent:
			if u := e.Request.URL; !strings.HasPrefix(u, base+"/") && !strings.HasPrefix(u, "data:") && !strings.HasPrefix(u, "blob:"+base+"/") {
				b.complain("a request to elsewhere: " + u)
			}
		case *page.EventJavascriptDialogOpening:
			b.complain("a script ran that should be text: " + e.Message)
			go func() { _ = chromedp.Run(limited, page.HandleJavaScriptDialog(true)) }()
		}
	})
	b.do(network.Enable(), cdplog.Enable(), emulation.SetTimezoneOverride("Europe/Berlin"))
	return b
}

func (b *browser) complain(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.expected.MatchString(text) {
		b.complaints = append(b.complaints, text)
	}
}

// silent fails the test if the browser reported an error, a warning or a request to another host.
func (b *browser) silent() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.complaints {
		b.t.Errorf("the browser reported: %s", c)
	}
}

func (b *browser) do(actions ...chromedp.Action) {
	b.t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.silent()
		b.t.Fatal(err)
	}
}

func (b *browser) visit(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.base + path))
}

// eval evaluates a JavaScript expression in the page.
func (b *browser) eval(expression string, out any) {
	b.t.Helper()
	b.do(chromedp.Evaluate(expression, out))
}

// sees waits until the page shows a text.
func (b *browser) sees(text string) {
	b.t.Helper()
	quoted, _ := json.Marshal(text)
	var seen bool
	deadline := time.Now().Add(10 * time.Second)
	for {
		b.eval(fmt.Sprintf(`Boolean(document.body?.innerText.includes(%s))`, quoted), &seen)
		if seen {
			return
		}
		if time.Now().After(deadline) {
			var all string
			b.eval(`document.body.innerText`, &all)
			b.shot("failed")
			b.silent()
			b.t.Fatalf("the page does not show %q; it shows:\n%s", text, all)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// until waits until a JavaScript expression is true.
func (b *browser) until(expression string) {
	b.t.Helper()
	var problem string
	defer func() {
		if b.t.Failed() && problem != "" {
			b.t.Log(problem)
		}
	}()
	testkit.Within(b.t, 10*time.Second, expression, func() (holds bool) {
		// An element that the page has not rendered yet is an exception, and a reason to wait.
		var result struct {
			Holds   bool
			Problem string
		}
		b.eval("(() => { try { return {holds: Boolean("+expression+")} } catch (e) { return {problem: String(e)} } })()", &result)
		problem = result.Problem
		return result.Holds
	})
}

// click clicks the element that a JavaScript expression returns. It waits until the page has rendered the element.
func (b *browser) click(element string) {
	b.t.Helper()
	b.actions++
	b.until("(() => { const e = " + element + "; e?.click(); return e; })()")
}

// press clicks the button or link with the given accessible name.
func (b *browser) press(name string) {
	b.t.Helper()
	b.actions++
	quoted, _ := json.Marshal(name)
	deadline := time.Now().Add(10 * time.Second)
	for {
		var pressed bool
		b.eval(fmt.Sprintf(`(() => {
			const within = [...document.querySelectorAll('dialog[open]')].pop() ?? document;
			const e = [...within.querySelectorAll('button, a, summary')].find((e) => !e.disabled && (e.getAttribute('aria-label') ?? e.textContent).trim() === %s);
			e?.click();
			return Boolean(e);
		})()`, quoted), &pressed)
		if pressed {
			return
		}
		if time.Now().After(deadline) {
			b.shot("failed")
			b.silent()
			b.t.Fatalf("no button or link has the name %q", name)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// fill types into the input with the given name, in the open dialog if there is one.
func (b *browser) fill(name, text string) {
	b.t.Helper()
	b.actions++
	quoted, _ := json.Marshal(name)
	testkit.Within(b.t, 10*time.Second, "the page has an input "+name, func() (found bool) {
		b.eval(fmt.Sprintf(`(() => {
			const within = [...document.querySelectorAll('dialog[open]')].pop() ?? document;
			const e = within.querySelector('[name="' + %s + '"]');
			e?.focus();
			e?.select();
			return Boolean(e) && document.activeElement === e;
		})()`, quoted), &found)
		return found
	})
	b.do(input.InsertText(text))
}

// shot writes a screenshot to the folder SHOTS, if it is set.
func (b *browser) shot(name string) {
	b.t.Helper()
	if os.Getenv("SHOTS") != "" {
		b.capture(name)
	}
}

// capture takes a screenshot, which it also writes to the folder SHOTS, if that is set. It is nil if it could not be taken.
func (b *browser) capture(name string) (png []byte) {
	b.t.Helper()
	if err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot(&png)); err != nil {
		b.t.Logf("screenshot %s: %v", name, err)
		return nil
	}
	if dir := os.Getenv("SHOTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
	return png
}

// looks takes screenshots in light and dark mode, in desktop and phone size. They are references if the name is one.
func (b *browser) looks(name string) {
	b.t.Helper()
	_, kept := references[name]
	if kept = kept && *screens; !kept && os.Getenv("SHOTS") == "" {
		return
	}
	var pictures [][]byte
	for _, screen := range []string{"", "-phone"} {
		if screen != "" {
			b.do(emulation.SetDeviceMetricsOverride(390, 844, 2, true))
		}
		for _, colours := range []string{"light", "dark"} {
			b.scheme(colours)
			pictures = append(pictures, b.capture(name+screen+"-"+colours))
		}
	}
	b.do(emulation.ClearDeviceMetricsOverride())
	b.scheme("")
	if kept {
		b.keep(name, pictures)
	}
}

// scheme sets the colour scheme that the user prefers; "" is the standard.
func (b *browser) scheme(colours string) {
	b.t.Helper()
	features := []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}} // no picture within a transition
	if colours != "" {
		features = append(features, &emulation.MediaFeature{Name: "prefers-color-scheme", Value: colours})
	}
	b.do(emulation.SetEmulatedMedia().WithFeatures(features))
	b.settle()
}

// awaited makes an evaluation wait for the promise that it returns.
func awaited(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }

// settle waits until the page is rendered.
func (b *browser) settle() {
	b.t.Helper()
	b.do(chromedp.Evaluate(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() => done(true)))))`, nil, awaited))
}
