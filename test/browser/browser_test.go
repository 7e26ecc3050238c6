// Package browser_test tests the console in Chromium against a running standalone. With SHOTS=folder it writes
// screenshots to that folder.
package browser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"github.com/shortline/shortline/shared/testing/testkit"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// chromium is the browser of all tests. A host below .example is this machine.
var chromium = sync.OnceValues(func() (context.Context, error) {
	ctx, end, err := startChromium()
	if err == nil {
		atEnd = append(atEnd, end)
	}
	return ctx, err
})

func startChromium(more ...chromedp.ExecAllocatorOption) (ctx context.Context, end func(), err error) {
	program, err := testkit.Browser()
	if err != nil {
		return nil, nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox,
		chromedp.WindowSize(width, height), chromedp.Flag("lang", "en-GB"), chromedp.Env("TZ="+zone),
		chromedp.Flag("host-resolver-rules", "MAP *.example 127.0.0.1, MAP *.acme.example.com 127.0.0.1"),
		chromedp.WSURLReadTimeout(testkit.Patience))
	alloc, cancelAlloc := chromedp.NewExecAllocator(context.Background(), append(options, more...)...)
	// The driver logs every event type that is newer than itself.
	ctx, cancel := chromedp.NewContext(alloc, chromedp.WithErrorf(func(string, ...any) {}))
	return ctx, func() { cancel(); cancelAlloc() }, chromedp.Run(ctx)
}

const width, height = 1280, 900 // of a window

// zone is the time zone of Chromium: one where it is about noon, so that no day ends during the tests.
var zone = func() string {
	if away := 12 - time.Now().UTC().Hour(); away != 0 {
		return fmt.Sprintf("Etc/GMT%+d", -away)
	}
	return "UTC" // browsers have this name for Etc/GMT
}()

// browser is one window with its console messages.
type browser struct {
	t    *testing.T
	ctx  context.Context
	base string
	// expected matches messages that a test causes on purpose.
	expected *regexp.Regexp
	// tolerant is for tests of what the browser reports: they end without silent.
	tolerant bool
	// switched says that somebody else has signed in since the page was opened. The page may still send requests for what only
	// its user may see.
	switched bool
	// actions counts what a person would do: press, choose or type something.
	actions int
	// at is the shared installation. It is nil in a standalone of the test's own.
	at *installation
	// mark makes the names of this test different from those of others.
	mark string
	// email is the address of the account that signed in first.
	email string

	acted atomic.Int64 // actions that have found their element

	mu         sync.Mutex
	complaints []string
}

// open opens a window without cookies. With options, it is one of another Chromium.
func open(t *testing.T, base string, more ...chromedp.ExecAllocatorOption) *browser {
	t.Helper()
	program, err := chromium()
	if len(more) > 0 {
		var end func()
		if program, end, err = startChromium(more...); err == nil {
			t.Cleanup(end)
		}
	}
	testkit.Must(t, err)
	ctx := newWindow(t, program)
	expected := regexp.MustCompile(`401 \(Unauthorized\)|400 \(Bad Request\)|404 \(Not Found\) http://[^/]+/console/nothing$`)
	b := &browser{t: t, ctx: ctx, base: base, email: owner, expected: expected}
	t.Cleanup(b.silent)
	chromedp.ListenTarget(ctx, b.listen)
	b.do(network.Enable(), cdplog.Enable(), emulation.SetFocusEmulationEnabled(true), runtime.AddBinding("acted"))
	b.scheme("") // without transitions
	b.keepMessages()
	return b
}

// newWindow opens a window of Chromium with cookies, storage and cache of its own.
func newWindow(t *testing.T, program context.Context) context.Context {
	t.Helper()
	browser := cdp.WithExecutor(program, chromedp.FromContext(program).Browser)
	profile, err := target.CreateBrowserContext().Do(browser)
	testkit.Must(t, err)
	window, err := target.CreateTarget("about:blank").WithBrowserContextID(profile).
		WithNewWindow(true).WithWidth(width).WithHeight(height).Do(browser)
	testkit.Must(t, err)
	ctx, cancel := chromedp.NewContext(program, chromedp.WithTargetID(window))
	t.Cleanup(func() {
		cancel()
		_ = target.DisposeBrowserContext(profile).Do(browser) // Chromium may have ended
	})
	if err := chromedp.Run(ctx); err != nil { // the first call has no deadline, because the driver listens until its context ends
		t.Fatal(err)
	}
	return ctx
}

func (b *browser) listen(event any) {
	switch e := event.(type) {
	case *runtime.EventBindingCalled:
		b.acted.Add(1)
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
		u := e.Request.URL
		own := strings.HasPrefix(strings.TrimPrefix(u, "blob:"), b.base+"/") || strings.HasPrefix(u, "data:")
		if !own {
			b.complain("a request to elsewhere: " + u)
		}
	case *page.EventJavascriptDialogOpening:
		b.complain("a script ran that should be text: " + e.Message)
		go func() { _ = chromedp.Run(b.ctx, page.HandleJavaScriptDialog(true)) }()
	}
}

func (b *browser) complain(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.expected.MatchString(text) && !(b.switched && refusedRequest.MatchString(text)) {
		b.complaints = append(b.complaints, text)
	}
}

// silent fails the test if the browser reported an error, a warning or a request to another host. Each test ends with it.
func (b *browser) silent() {
	b.t.Helper()
	if b.tolerant {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.complaints {
		b.t.Errorf("the browser reported: %s", c)
	}
	b.complaints = nil
}

func (b *browser) do(actions ...chromedp.Action) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, testkit.Patience)
	defer cancel()
	testkit.Must(b.t, chromedp.Run(ctx, actions...))
}

// visit opens a page, and waits until it shows the texts.
func (b *browser) visit(path string, then ...string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.base + path))
	b.mu.Lock()
	b.switched = false
	b.mu.Unlock()
	b.sees(then...)
}

// refusedRequest matches the report of an API request that was refused because of who is signed in.
var refusedRequest = regexp.MustCompile(`40[134] \(.*\) http://[^/]+/api/`)

// eval evaluates a JavaScript expression in the page.
func (b *browser) eval(expression string, out any) {
	b.t.Helper()
	b.do(chromedp.Evaluate(expression, out))
}

// text is eval for a text.
func (b *browser) text(expression string) (text string) {
	b.t.Helper()
	b.eval(expression, &text)
	return text
}

// quoted is a text as a JavaScript literal.
func quoted(text string) string {
	literal, _ := json.Marshal(text)
	return string(literal)
}

// sees waits until the page shows some texts, one after another.
func (b *browser) sees(texts ...string) {
	b.t.Helper()
	for _, text := range texts {
		b.await("the page shows "+text, `document.body?.innerText.includes(`+quoted(text)+`)`)
	}
}

// until waits until a JavaScript expression is true.
func (b *browser) until(expression string) {
	b.t.Helper()
	b.await(expression, expression)
}

// await is until with a name for what does not happen.
func (b *browser) await(what, expression string) {
	b.t.Helper()
	b.wait(what, expression, false)
}

// act waits until the page has the element that an expression returns and acts on.
func (b *browser) act(what, expression string) {
	b.t.Helper()
	b.actions++
	b.wait(what, expression, true)
}

// focusOn moves the focus to the first element that a selector matches, as soon as there is one.
func (b *browser) focusOn(selector string) {
	b.t.Helper()
	found := `(() => { const e = document.querySelector(` + quoted(selector) + `); e?.focus(); return e !== null; })()`
	b.wait("there is "+selector, found, false)
}

// wait waits until an expression is true. If acts is set, the expression acts on an element. Its evaluation may end without a result
// because the page gives way to another one: that of the action, or that of the action before, which has begun to load. So the page
// tells when it has acted.
func (b *browser) wait(what, expression string, acts bool) {
	b.t.Helper()
	var problem string
	came := false
	defer func() {
		if !came {
			b.explain(problem)
		}
	}()
	before, tells := b.acted.Load(), ""
	if acts {
		tells = "if (holds) acted('');"
	}
	// An element that the page has not rendered yet is an exception, and a reason to wait.
	text := "(() => { try { const holds = Boolean(" + expression + "); " + tells +
		" return {holds} } catch (e) { return {problem: String(e)} } })()"
	testkit.Eventually(b.t, what, func() bool {
		var result struct {
			Holds   bool
			Problem string
		}
		ctx, cancel := context.WithTimeout(b.ctx, testkit.Patience)
		defer cancel()
		err := chromedp.Run(ctx, chromedp.Evaluate(text, &result))
		if err != nil && strings.Contains(err.Error(), "Inspected target navigated or closed") {
			problem = err.Error()
			return b.acted.Load() > before
		}
		testkit.Must(b.t, err)
		problem = result.Problem
		return result.Holds
	})
	came = true
}

// explain logs what the page of a failed test shows.
func (b *browser) explain(problem string) {
	b.t.Helper()
	var text string
	_ = chromedp.Run(b.ctx, chromedp.Evaluate(`location.href + '\n' + document.body?.innerText`, &text))
	b.t.Logf("%s\nthe page is %s", problem, text)
	b.shot("failed")
}

// click clicks the element that a JavaScript expression returns. It waits until the page has rendered the element.
func (b *browser) click(element string) {
	b.t.Helper()
	b.act("there is "+element, "(() => { const e = "+element+"; e?.click(); return e; })()")
}

// within is the part of the page that can be used: the open dialog, if there is one.
const within = `([...document.querySelectorAll('dialog[open]')].pop() ?? document)`

// press clicks the button or link with the given accessible name, and waits until the page shows what follows. The console ignores a
// click on a button whose last request is under way, so press waits for its end.
func (b *browser) press(name string, then ...string) {
	b.t.Helper()
	b.act("there is a button or link "+name, `(() => {
		const e = [...`+within+`.querySelectorAll('button, a, summary')].find((e) =>
			!e.disabled && e.ariaBusy !== 'true' && (e.getAttribute('aria-label') ?? e.textContent).trim() === `+quoted(name)+`);
		e?.click();
		return e;
	})()`)
	b.sees(then...)
}

// fill types into the input with the given name, in the open dialog if there is one. It chooses the input and types in one step,
// because a form may move the focus to a wrong value at any moment after it was sent.
func (b *browser) fill(name, text string) {
	b.t.Helper()
	b.act("there is an input "+name, `(() => {
		const e = `+within+`.querySelector('[name="'+`+quoted(name)+`+'"]');
		e?.focus();
		if (!e || document.activeElement !== e) return false;
		e.select();
		return document.execCommand('insertText', false, `+quoted(text)+`);
	})()`)
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
		testkit.Must(b.t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600))
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
	b.do(chromedp.Evaluate(
		`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() => done(true)))))`,
		nil, awaited))
}
