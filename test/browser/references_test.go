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

// references are the screens and states of which make screens takes pictures, by the name of the picture, with the path of the
// screen. Those without a path are pages for visitors and the page for signing in.
//
// A change of the console's look shows in these pictures. Take them before and after the change, and compare.
var references = map[string]string{
	"empty": "/links", "links": "/links", "selected": "/links", "create": "/links", "trends": "/links", "palette": "/links",
	"switcher": "/links", "filters": "/links",
	"edit": "/links/1", "edit-conflict": "/links/1", "everything": "/links/1", "social": "/links/1", "label-links": "/links",
	"rules": "/links/1/rules", "rules-form": "/links/1/rules", "rules-conflict": "/links/1/rules", "rules-try": "/links/1/rules",
	"rules-replay": "/links/1/rules",
	"report":       "/links/1/analytics", "report-filtered": "/analytics", "report-hours": "/analytics", "clicks": "/links/1/analytics",
	"experiment": "/links/1/experiment", "experiment-empty": "/links/1/experiment", "experiment-promote": "/links/1/experiment",
	"history": "/links/1/history", "history-restore": "/links/1/history", "qr": "/links/1/qr", "qr-logo": "/links/1/qr", "qr-sheet": "/qr",
	"live": "/live", "missing": "/missing", "imports": "/imports", "import-plan": "/imports/1", "import-done": "/imports/1",
	"trash": "/trash", "tags": "/tags", "bundles": "/bundles", "bundle": "/bundles/1", "templates": "/templates",
	"keys-list": "/keys", "key-made": "/keys", "webhooks-failing": "/webhooks", "webhook-failing": "/webhooks/1",
	"webhook-log": "/webhooks/1",
	"members":     "/members", "invite": "/members", "workspace": "/workspace", "audit": "/audit", "audit-object": "/audit",
	"account": "/account", "account-ar": "/account", "account-security": "/account/security", "account-scan": "/account/security",
	"sessions": "/account/sessions",
	"users":    "/users", "user": "/users/1", "user-delete": "/users/1", "providers": "/providers", "settings": "/settings",
	"edges": "/edges", "reports": "/reports", "reports-suspend": "/reports",
	"domains": "/domains", "domain-missing": "/domains/1", "domain-active": "/domains/1", "domain-settings": "/domains/1/settings",
	"alert-rules": "/alerts/rules", "alert-channels": "/alerts/channels", "mailreports": "/mail-reports",
	"signin": "", "signin-code": "", "signin-locked": "", "signin-sso": "", "again": "", "invited-present": "", "forgot": "", "api": "",
	"page-password": "", "page-ended": "", "page-missing": "", "page-report": "",
}

var screens = flag.Bool("screens", false, "take pictures of the console's screens in bin/screens")

const referenceFiles = "bin/screens"

// keep writes a reference. It shows the four pictures side by side, at half their size.
func (b *browser) keep(name string, pictures [][]byte) {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	defer cancel()
	var html strings.Builder
	html.WriteString(`document.body.style = 'margin: 0; display: flex; gap: 8px; padding: 8px; width: max-content; background: #808080';`)
	for _, p := range pictures {
		fmt.Fprintf(&html,
			`{ const i = new Image(); i.src = 'data:image/png;base64,%s'; i.height = 450; document.body.append(i); await i.decode(); }`,
			base64.StdEncoding.EncodeToString(p))
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
	folder := testkit.Source(b.t, referenceFiles)
	testkit.Must(b.t, os.MkdirAll(folder, 0o700))
	testkit.Must(b.t, os.WriteFile(filepath.Join(folder, name+".webp"), sheet, 0o600))
}

// Each screen has a reference, and a test shows each reference. With -screens, a page lists the pictures.
func TestReferences(t *testing.T) {
	names := slices.Sorted(maps.Keys(references))
	files, err := filepath.Glob("*_test.go")
	testkit.Must(t, err)
	var tests strings.Builder
	for _, file := range files {
		if file != "references_test.go" {
			text, err := os.ReadFile(file)
			testkit.Must(t, err)
			tests.Write(text)
		}
	}
	for _, name := range names {
		if !strings.Contains(tests.String(), `"`+name+`"`) {
			t.Errorf("no test shows the reference %s", name)
		}
	}
	for _, pattern := range patterns(t) {
		if !slices.ContainsFunc(slices.Collect(maps.Values(references)), func(path string) bool {
			return path != "" && pattern.MatchString(path)
		}) {
			t.Errorf("no reference shows the screen %s", pattern)
		}
	}
	if *screens {
		var list strings.Builder
		list.WriteString("<!doctype html><meta charset=utf-8><title>Screens of the console</title>\n")
		for _, name := range names {
			fmt.Fprintf(&list, "<h2>%s</h2><img src=%s.webp loading=lazy alt=''>\n", name, name)
		}
		folder := testkit.Source(t, referenceFiles)
		testkit.Must(t, os.MkdirAll(folder, 0o700))
		testkit.Must(t, os.WriteFile(filepath.Join(folder, "index.html"), []byte(list.String()), 0o600))
	}
}
