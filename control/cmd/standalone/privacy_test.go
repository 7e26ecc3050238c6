package main_test

import (
	"bytes"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	shortline "github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// traces lists the files below a folder that contain an address as text or in a binary form. For IPv4 that is the form
// of a click record: tag, length and the four bytes.
func traces(t *testing.T, dir, address string) (files []string) {
	t.Helper()
	ip := netip.MustParseAddr(address)
	wire := append([]byte{8<<3 | 2, byte(ip.BitLen() / 8)}, ip.AsSlice()...)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte(address)) || bytes.Contains(text, wire) {
			files = append(files, path)
		}
		return err
	})
	testkit.Must(t, err)
	return files
}

// visit follows a link as a visitor behind a proxy.
func (p *program) visit(slug, from string) {
	p.t.Helper()
	if status, _ := p.follow(slug, map[string]string{"X-Forwarded-For": from, "User-Agent": laptop}); status != 302 {
		p.t.Fatalf("status of a visit: %d", status)
	}
}

// With ANONYMIZE_IP no file in the data folder, including spool and log, contains a visitor's address, and clicks still
// count.
func TestOps6_AnonymizeIP(t *testing.T) {
	t.Parallel()
	settings := map[string]string{"off": "203.0.113.77", "truncate": "203.0.113.0", "all": ""}
	for _, setting := range testkit.Size([]string{"truncate"}, []string{"off", "truncate", "all"}) {
		kept := settings[setting]
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			p := start(t, "ANONYMIZE_IP="+setting, "TRUSTED_PROXIES=127.0.0.1")
			c := p.Login()
			u := c.link(shortline.CreateLink{OriginalURL: "https://example.com/"})
			for _, from := range []string{"203.0.113.77", "2001:db8:1:2::3", "203.0.113.77"} {
				p.visit(u.Slug, from)
			}
			testkit.Eventually(t, "the clicks are counted", func() bool { return c.reportTotal(u.ID) == 3 })
			page, err := c.Reports.RecentClicks(t.Context(), u.ID, shortline.ClicksParams{})
			testkit.Must(t, err)
			shown := map[string]int{}
			for _, click := range page.Clicks {
				if click.IP != nil {
					shown[*click.IP]++
				}
			}
			if (kept == "") != (len(shown) == 0) || kept != "" && shown[kept] != 2 {
				t.Errorf("the API shows %v", shown)
			}
			p.Stop()
			found := traces(t, p.Dir, "203.0.113.77")
			if v6 := traces(t, p.Dir, "2001:db8:1:2::3"); (len(found) > 0) != (setting == "off") || (len(v6) > 0) != (setting == "off") {
				t.Errorf("files with the IPv4 address: %v, with the IPv6 address: %v", found, v6)
			}
			if text := p.output.String(); bytes.Contains([]byte(text), []byte("203.0.113.77")) {
				t.Error("the address is in the log")
			}
			if kept != "" && len(traces(t, p.Dir, kept)) == 0 {
				t.Errorf("no file contains %s", kept)
			}
		})
	}
}

// POST /api/privacy/erase removes a visitor from reports and from every file of a backup; totals stay.
func TestOps6_Erase(t *testing.T) {
	t.Parallel()
	p, _ := shared(t)
	c := p.Login()
	u := c.link(shortline.CreateLink{OriginalURL: "https://example.com/"})
	// The host of the webhook does not exist, so deliveries wait and the log of attempts grows.
	_, err := c.Webhooks.Create(t.Context(), shortline.CreateWebhook{Name: "a", URL: "https://hook.invalid/",
		Events: []shortline.Event{shortline.EventURLClicked}})
	testkit.Must(t, err)
	for _, from := range []string{"203.0.113.77", "203.0.113.77", "2001:db8:1:2::3", "198.51.100.1"} {
		p.visit(u.Slug, from)
	}
	testkit.Eventually(t, "the clicks are counted", func() bool { return c.reportTotal(u.ID) == 4 })
	testkit.Eventually(t, "deliveries have failed", func() bool {
		return sqliteCount(t, p.Dir, `SELECT count(*) FROM webhook_logs WHERE payload LIKE '%203.0.113.77%'`) > 0 &&
			sqliteCount(t, p.Dir, `SELECT count(*) FROM webhook_deliveries WHERE payload LIKE '%203.0.113.77%'`) > 0
	})
	before := p.backedUp()
	for _, ip := range []string{"203.0.113.77", "2001:db8:1:2::3"} {
		if len(traces(t, before, ip)) == 0 {
			t.Errorf("%s is not in the backup before the erasure, so the search does not work", ip)
		}
	}
	for ip, want := range map[string]int{"203.0.113.77": 2, "2001:db8:1:2::3": 1, "192.0.2.9": 0} {
		erased, err := c.Privacy.Erase(t.Context(), shortline.EraseVisitor{IP: ip})
		testkit.Must(t, err)
		if erased.Clicks != want {
			t.Errorf("erasing %s: %d clicks, want %d", ip, erased.Clicks, want)
		}
		if (want > 0) != (erased.WebhookDeliveries > 0) || (want > 0) != (erased.WebhookLogs > 0) {
			t.Errorf("erasing %s: %+v", ip, erased)
		}
	}
	if n := c.reportTotal(u.ID); n != 4 {
		t.Errorf("%d clicks after the erasure", n)
	}
	after := p.backedUp()
	for _, ip := range []string{"203.0.113.77", "2001:db8:1:2::3"} {
		if found := traces(t, after, ip); len(found) > 0 {
			t.Errorf("%s is still in %v", ip, found)
		}
	}
	if len(traces(t, after, "198.51.100.1")) == 0 {
		t.Error("another visitor was erased too")
	}
	logs, err := c.Audit.List(t.Context(), shortline.ListAuditLogsParams{Action: shortline.AuditActionVisitorErased})
	testkit.Must(t, err)
	if len(logs.Data) != 3 {
		t.Errorf("%d erasures are in the audit log", len(logs.Data))
	}
}

// sqliteCount queries the database of links while the program runs.
func sqliteCount(t *testing.T, dir, query string) int {
	t.Helper()
	return selected[int](t, "sqlite", "file:"+filepath.Join(dir, "shortline.db")+"?mode=ro", query)
}
