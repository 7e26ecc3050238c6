package main_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	shortline "github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/mailtest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// A visitor asks for a slug that does not exist and reports one that does. The administrator sees both, suspends the link,
// and blocks its destination's host, of which the owner gets an e-mail.
func TestAbuse_from_visitor_to_administrator(t *testing.T) {
	t.Parallel()
	list := filepath.Join(t.TempDir(), "blocked")
	testkit.Must(t, os.WriteFile(list, []byte("evil.example\n"), 0o600))
	mails := mailtest.Start(t)
	p := start(t, append(mails.Env(), "BLOCKED_DESTINATIONS="+list)...)
	admin := p.Login()
	for range 3 {
		if status, _ := p.follow("no-such-slug", nil); status != http.StatusNotFound {
			t.Fatalf("a slug that does not exist: %d", status)
		}
	}
	u := admin.link(shortline.CreateLink{OriginalURL: "https://example.com/", CustomSlug: shortline.Set("reported")})
	admin.Do("POST", "/api/urls", map[string]any{"originalUrl": "https://www.evil.example/"}, 400, nil)

	report := func() int {
		res, err := http.DefaultTransport.RoundTrip(form(t, "http://"+p.Addr+"/reported/report",
			url.Values{"reason": {"PHISHING"}, "text": {"It asks for my password."}}))
		testkit.Must(t, err)
		res.Body.Close()
		return res.StatusCode
	}
	if status := report() + report(); status != 2*http.StatusSeeOther {
		t.Fatalf("two reports: %d", status)
	}
	queue, err := admin.Abuse.Reports(t.Context(), shortline.ListAbuseReportsParams{Status: "OPEN"})
	testkit.Must(t, err)
	if queue.Total != 1 || queue.Data[0].URLID != u.ID || queue.Data[0].ReportCount != 2 {
		t.Fatalf("%+v", queue)
	}
	_, err = admin.Abuse.Resolve(t.Context(), queue.Data[0].ID, shortline.ResolveAbuseReport{Action: "suspend",
		Reason: shortline.Set("Phishing")})
	testkit.Must(t, err)
	if status, _ := p.follow("reported", nil); status != http.StatusGone {
		t.Errorf("a suspended link: %d", status)
	}
	testkit.Must(t, admin.Abuse.LiftLinkSuspension(t.Context(), u.ID))
	if status, to := p.follow("reported", nil); status != http.StatusFound || to != "https://example.com/" {
		t.Errorf("a link whose suspension was lifted: %d %q", status, to)
	}
	testkit.Must(t, os.WriteFile(list, []byte("evil.example\nexample.com\n"), 0o600))
	testkit.Eventually(t, "the link is suspended by the list", func() bool {
		status, _ := p.follow("reported", nil)
		return status == http.StatusGone
	})
	if m := mails.Wait(t, "admin@example.com"); !strings.HasPrefix(m.Subject, p.Addr+"/reported was suspended") ||
		!strings.Contains(m.Text, "which the operator of this service has blocked") {
		t.Errorf("the e-mail to the owner: %s\n%s", m.Subject, m.Text)
	}
	var missing *shortline.Page[shortline.MissingSlug]
	testkit.Eventually(t, "the missing slug is listed", func() bool {
		missing, err = admin.Reports.MissingSlugs(t.Context(), shortline.ListMissingSlugsParams{})
		testkit.Must(t, err)
		return len(missing.Data) == 1
	})
	if m := missing.Data[0]; m.Slug != "no-such-slug" || m.Count != 3 || m.Host == "" {
		t.Errorf("%+v", m)
	}
}

func form(t *testing.T, to string, values url.Values) *http.Request {
	t.Helper()
	req, err := http.NewRequest("POST", to, strings.NewReader(values.Encode()))
	testkit.Must(t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "text/html")
	return req
}
