package browser_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// The checks of silent must detect problems: this test causes some.
func TestBrowser_detects_problems(t *testing.T) {
	t.Parallel()
	b := open(t, shared(t).base)
	b.tolerant = true
	b.visit("/login", "Sign in")
	for what, script := range map[string]string{
		"Content Security Policy": `document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.ran = true'}))`,
		"style-src":               `document.body.setAttribute('style', 'color: red')`,
		"exception":               `setTimeout(() => { throw new Error('of a test') })`,
		"console":                 `console.error('of a test')`,
		"connect-src":             `fetch('http://192.0.2.1/').catch(() => {})`,
	} {
		b.eval(script+", 0", nil)
		testkit.Eventually(t, "the browser reports a problem of the kind "+what, func() bool {
			b.mu.Lock()
			defer b.mu.Unlock()
			return slices.ContainsFunc(b.complaints, func(c string) bool { return strings.Contains(c, what) })
		})
	}
	var ran bool
	b.eval(`Boolean(window.ran)`, &ran)
	if ran {
		t.Error("an inline script ran")
	}
}
