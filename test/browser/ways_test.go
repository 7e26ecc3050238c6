package browser_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp/kb"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// The tests in this file and ways_proof_test.go are the five journeys of people who use no mouse, see everything four times as large,
// want no movement, and read from right to left: in Arabic, on 320 pixels, with the keyboard alone.

// walk opens the console for such a person, who signs in.
func walk(b *browser) *browser {
	b.t.Helper()
	b.do(emulation.SetDeviceMetricsOverride(320, 640, 1, false))
	b.visit("/console/links")
	b.eval(`localStorage.setItem('shortline.language', 'ar')`, nil)
	b.visit("/console/links")
	b.walk(`e.name === 'email'`)
	b.writes(b.email)
	b.walk(`e.name === 'password'`)
	b.writes(password)
	b.keys(kb.Enter)
	b.until(`document.documentElement.dir === 'rtl' && document.querySelector('h1') && !document.querySelector('[name=password]')`)
	return b
}

// arabic returns the Arabic text of a message.
func arabic(t *testing.T, key string) string {
	t.Helper()
	files, err := filepath.Glob(testkit.Source(t, "control/internal/console/web/src/text/messages/*.ts"))
	testkit.Must(t, err)
	for _, f := range files {
		text, err := os.ReadFile(f)
		testkit.Must(t, err)
		message := regexp.MustCompile(`'` + regexp.QuoteMeta(key) + `': \{\n(?:    .*\n)*?    ar:\s+'([^']*)'`)
		if m := message.FindSubmatch(text); m != nil {
			return string(m[1])
		}
	}
	t.Fatalf("there is no message %s", key)
	return ""
}

// walk presses Tab until an element e has the focus for which the JavaScript expression holds. That element must be on the
// screen, and the page must not be wider than the screen.
func (b *browser) walk(expression string) {
	b.t.Helper()
	testkit.Eventually(b.t, "the Tab key leads to "+expression, func() bool {
		var at struct{ Found, Shown, Fits bool }
		b.eval(`(() => {
			const e = document.activeElement ?? document.body;
			const r = e.getBoundingClientRect();
			return {found: Boolean(`+expression+`), fits: document.documentElement.scrollWidth <= innerWidth,
				shown: r.width > 0 && r.height > 0 && r.bottom > 0 && r.right > 0 && r.top < innerHeight && r.left < innerWidth};
		})()`, &at)
		if !at.Fits {
			b.explain("the page is wider than the screen")
			b.t.FailNow()
		}
		if at.Found && at.Shown {
			return true
		}
		b.keys(kb.Tab)
		b.settle()
		return false
	})
}

// button is a condition for walk: a button, link or summary with the text of a message.
func (b *browser) button(key string) string {
	return `e.matches('button, a, summary') && (e.getAttribute('aria-label') ?? e.textContent).trim() === ` + quoted(arabic(b.t, key))
}

// part is a condition for walk: the field with the text of a message in the n-th condition of a rule.
func (b *browser) part(n int, key string) string {
	return fmt.Sprintf(
		`e.matches('select, input') && e.getAttribute('aria-label') === %s && document.querySelectorAll('.condition')[%d]?.contains(e)`,
		quoted(arabic(b.t, key)), n)
}

// enters walks to an element and presses Enter.
func (b *browser) enters(expression string) {
	b.t.Helper()
	b.walk(expression)
	b.keys(kb.Enter)
}

// writes types a text in place of the one in the focused field.
func (b *browser) writes(text string) {
	b.t.Helper()
	b.eval(`document.activeElement.select?.()`, nil)
	b.do(typed(text))
}

// chooses presses the arrow keys until the focused select has a value.
func (b *browser) chooses(value string) {
	b.t.Helper()
	b.keys(kb.Home)
	for range 100 {
		var found bool
		b.eval(fmt.Sprintf(`document.activeElement.value === %q`, value), &found)
		if found {
			return
		}
		b.keys(kb.ArrowDown)
	}
	b.t.Fatalf("no option has the value %q", value)
}

func TestWays_first_link(t *testing.T) {
	t.Parallel()
	b := walk(newVisitor(t, "USER"))
	b.enters(b.button("create.title"))
	b.walk(`e.name === 'originalUrl'`)
	b.writes("example.com/spring")
	b.keys(kb.Enter)
	b.until(`document.querySelectorAll('li.link').length === 1 && ` +
		`document.querySelector('li.link').textContent.includes('example.com/spring')`)
	b.shot("ways-links")
}

func TestWays_a_rule_without_JSON(t *testing.T) {
	t.Parallel()
	b := walk(newVisitor(t, "USER"))
	link := b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("store")})
	b.visit("/console/links")
	b.enters(fmt.Sprintf(`e.getAttribute('href')?.split('?')[0].endsWith('/links/%s')`, link.ID))
	b.enters(`e.getAttribute('href')?.split('?')[0].endsWith('/rules')`)
	b.enters(b.button("rules.add"))
	b.walk(`e.name === 'name'`)
	b.writes("iPhones in Germany at work")
	add := func(n int, kind string, more func()) {
		b.enters(b.button("rules.addCondition"))
		b.walk(b.part(n, "rules.kind"))
		b.chooses(kind)
		more()
	}
	add(0, "os", func() {
		b.walk(b.part(0, "rules.value"))
		b.writes("iOS")
	})
	add(1, "country", func() {
		b.walk(b.part(1, "rules.value"))
		b.chooses("DE")
	})
	add(2, "time", func() {
		b.walk(b.part(2, "report.timezone"))
		b.writes("Europe/Berlin")
	})
	add(3, "day_of_week", func() {
		b.walk(b.part(3, "report.timezone"))
		b.writes("Europe/Berlin")
	})
	b.shot("ways-rule")
	b.walk(`e.name === 'targetUrl'`)
	b.writes("example.com/app")
	b.enters(b.button("action.save"))
	b.until(`document.querySelector('li.rule') && !document.querySelector('[name=targetUrl]')`)
	var saved struct {
		Rules []struct{ Conditions json.RawMessage }
	}
	b.ask("GET", "/api/urls/"+link.ID+"/routing-rules", nil, &saved)
	if len(saved.Rules) != 1 {
		t.Fatalf("%d rules", len(saved.Rules))
	}
	for _, want := range []string{`"iOS"`, `"DE"`, `"09:00"`, `"Europe/Berlin"`, `[1,2,3,4,5]`} {
		if !strings.Contains(string(saved.Rules[0].Conditions), want) {
			t.Errorf("the conditions lack %s: %s", want, saved.Rules[0].Conditions)
		}
	}
}
