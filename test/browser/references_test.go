package browser_test

import (
	"context"
	"encoding/base64"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// references are the screens and states whose pictures are kept, by the name of the picture, with the path of the screen. Those
// without a path are pages for visitors and the page for signing in.
//
// A change of the console's look shows in these pictures. `go test -screens .` takes them again.
var references = map[string]string{
	"empty": "/links", "links": "/links", "selected": "/links", "create": "/links", "trends": "/links", "palette": "/links", "switcher": "/links", "filters": "/links",
	"edit": "/links/1", "edit-conflict": "/links/1", "everything": "/links/1", "social": "/links/1", "label-links": "/links",
	"rules": "/links/1/rules", "rules-form": "/links/1/rules", "rules-conflict": "/links/1/rules", "rules-try": "/links/1/rules", "rules-replay": "/links/1/rules",
	"report": "/links/1/analytics", "report-filtered": "/analytics", "report-hours": "/analytics", "clicks": "/links/1/analytics",
	"experiment": "/links/1/experiment", "experiment-empty": "/links/1/experiment", "experiment-promote": "/links/1/experiment",
	"history": "/links/1/history", "history-restore": "/links/1/history", "qr": "/links/1/qr", "qr-logo": "/links/1/qr", "qr-sheet": "/qr",
	"live": "/live", "missing": "/missing", "imports": "/imports", "import-plan": "/imports/1", "import-done": "/imports/1",
	"trash": "/trash", "tags": "/tags", "bundles": "/bundles", "bundle": "/bundles/1", "templates": "/templates",
	"keys-list": "/keys", "key-made": "/keys", "webhooks-failing": "/webhooks", "webhook-failing": "/webhooks/1", "webhook-log": "/webhooks/1",
	"members": "/members", "invite": "/members", "workspace": "/workspace", "audit": "/audit", "audit-object": "/audit",
	"account": "/account", "account-ar": "/account", "account-security": "/account/security", "account-scan": "/account/security", "sessions": "/account/sessions",
	"users": "/users", "user": "/users/1", "user-delete": "/users/1", "providers": "/providers", "settings": "/settings",
	"edges": "/edges", "reports": "/reports", "reports-suspend": "/reports",
	"domains": "/domains", "domain-missing": "/domains/1", "domain-active": "/domains/1", "domain-settings": "/domains/1/settings",
	"signin": "", "signin-code": "", "signin-locked": "", "signin-sso": "", "again": "", "invited-present": "", "forgot": "", "api": "",
	"page-password": "", "page-ended": "", "page-missing": "", "page-report": "",
}

var screens = flag.Bool("screens", false, "take the references in docs/images/screens again")

const (
	referenceFiles = "docs/images/screens"
	referencePage  = "docs/developers/screens.md"
)

// keep writes a reference. It shows the four pictures side by side, at half their size.
func (b *browser) keep(name string, pictures [][]byte) {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	defer cancel()
	var html strings.Builder
	html.WriteString(`document.body.style = 'margin: 0; display: flex; gap: 8px; padding: 8px; width: max-content; background: #808080';`)
	for _, p := range pictures {
		fmt.Fprintf(&html, `{ const i = new Image(); i.src = 'data:image/png;base64,%s'; i.height = 450; document.body.append(i); await i.decode(); }`, base64.StdEncoding.EncodeToString(p))
	}
	var width float64
	var sheet []byte
	err := chromedp.Run(ctx, chromedp.Navigate("about:blank"), chromedp.EmulateViewport(2400, 466),
		chromedp.Evaluate(`(async () => {`+html.String()+` return document.body.getBoundingClientRect().width; })()`, &width, awaited),
		chromedp.ActionFunc(func(ctx context.Context) (err error) {
			sheet, err = page.CaptureScreenshot().WithFormat(page.CaptureScreenshotFormatWebp).WithQuality(70).
				WithClip(&page.Viewport{Width: width, Height: 466, Scale: 1}).Do(ctx)
			return err
		}))
	if err != nil {
		b.t.Fatalf("the reference %s: %v", name, err)
	}
	testkit.Must(b.t, os.WriteFile(filepath.Join(testkit.Source(b.t, referenceFiles), name+".webp"), sheet, 0o600))
}

// Each screen has a reference, and there is no other picture.
func TestReferences(t *testing.T) {
	names := slices.Sorted(maps.Keys(references))
	var text strings.Builder
	text.WriteString("# Screens of the console\n\nThese pictures are references. The browser tests take them: in light and dark mode, on a desktop and on a phone.\n" +
		"When you change how the console looks, take them again with `cd test/browser && go test -screens .`, and look at each one that differs.\n")
	for _, name := range names {
		fmt.Fprintf(&text, "\n## %s\n\n![%s](../images/screens/%s.webp)\n", name, name, name)
	}
	if *screens {
		testkit.Must(t, os.WriteFile(testkit.Source(t, referencePage), []byte(text.String()), 0o600))
		return
	}
	if got, err := os.ReadFile(testkit.Source(t, referencePage)); err != nil || string(got) != text.String() {
		t.Errorf("%s does not list the references: %v", referencePage, err)
	}
	var kept []string
	files, err := os.ReadDir(testkit.Source(t, referenceFiles))
	testkit.Must(t, err)
	for _, f := range files {
		kept = append(kept, strings.TrimSuffix(f.Name(), ".webp"))
	}
	slices.Sort(kept)
	if !slices.Equal(kept, names) {
		t.Errorf("%s has %q, want %q", referenceFiles, kept, names)
	}
	for _, pattern := range patterns(t) {
		if !slices.ContainsFunc(slices.Collect(maps.Values(references)), func(path string) bool { return path != "" && pattern.MatchString(path) }) {
			t.Errorf("no reference shows the screen %s", pattern)
		}
	}
}
