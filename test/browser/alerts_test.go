package browser_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// alertJSON is the API's form of an alert.
func alertJSON(id, kind, summary, code string, values []string, links int, resolved string) string {
	fired := time.Now().Add(-3 * time.Hour).UTC().Format("2006-01-02T15:04:05.000Z")
	return fmt.Sprintf(`{"id": %q, "ruleId": "r", "ruleName": "Our links", "kind": %q, "status": "open", "summary": %q, "code": %q,
		"values": ["%s"], "urlIds": [], "urlCount": %d, "firedAt": %q, "resolvedAt": %s}`, id, kind, summary, code,
		strings.Join(values, `", "`), links, fired, resolved)
}

// Somebody makes a channel with quiet hours and a rule, changes both, and reads what fired.
func TestAlerts(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	link := b.made(map[string]any{"originalUrl": "https://example.com/", "customSlug": b.own("watched")})
	b.press("Alerts", "Be told before somebody complains")
	b.inspect("alerts-none")
	b.press("Channels", "Choose who is told")
	b.press("New channel", "Quiet hours")
	b.press("Create channel", "is required")
	b.fill("name", "Marketing")
	b.set("quietFrom", "22:00")
	b.press("Create channel", "together with the beginning of the quiet hours")
	b.set("quietTo", "07:00")
	b.inspectNarrow("alert-channel")
	b.press("Create channel", "Nothing sent yet", "22:00–07:00")
	b.inspectNarrow("alert-channels")

	b.press("Rules")
	b.press("New rule", "Tell about")
	b.fill("name", "Our links")
	b.tick("clicks")
	b.tick("expiry")
	b.set("days", "3")
	b.set("direction", "above")
	b.until(`!document.querySelector('[name=minFallPercent]')`)
	b.set("minRisePercent", "5")
	b.press("Create rule", "must be 10 to 10000")
	b.set("minRisePercent", "300")
	b.takes("urlId", b.own("watched"), strings.TrimPrefix(b.short("watched"), "http://"))
	b.click(`document.querySelector('dialog [name^="channel-"]')`)
	b.inspectNarrow("alert-rule")
	b.press("Create rule")
	b.until(`!document.querySelector('dialog[open]')`) // which has the texts of the list too
	b.sees("Our links", "Unusual clicks", "Marketing")
	b.has("/api/alert-rules", `{"data": [{"name": "Our links", "days": 3, "urlId": %q, "isActive": true, "direction": "above", "minRisePercent": 300,
		"minFallPercent": 50, "sensitivity": "normal", "tags": []}]}`, link.ID)
	b.press("Turn Our links off")
	b.becomes("/api/alert-rules", `{"data": [{"isActive": false}]}`)
	b.inspectNarrow("alert-rules")

	b.press("Fired", "Nothing needs you")
	list := strings.Join([]string{
		alertJSON("1", "destination", "A destination on shop.example is broken: the page does not exist (404).", "ALERT_BROKEN",
			[]string{"shop.example", "the page does not exist (404)"}, 24, "null"),
		alertJSON("2", "clicks", "The link go/spring has far fewer clicks than usual: 12 within 6 hours instead of about 240.", "ALERT_FEWER",
			[]string{"go/spring", "12", "6", "240"}, 1, "null"),
		alertJSON("3", "expiry", "2 links end on 4 December 2026 (UTC).", "ALERT_ENDS", []string{"2", "4 December 2026"}, 2,
			`"2026-11-29T10:00:00.000Z"`),
		alertJSON("4", "webhook", `The webhook \"Shop\" is paused.`, "ALERT_PAUSED", []string{"Shop"}, 0, `"2026-11-29T10:00:00.000Z"`),
	}, ",")
	list = strings.ReplaceAll(list, `\\\"`, `\"`)
	end := b.answerWith("/api/alerts?*", 200, `{"data": [`+list+`], "page": 1, "pageSize": 20, "total": 4, "totalPages": 1}`)
	b.visit("/console/alerts", "4 alerts in 180 days", "2 links end on 4 December 2026")
	b.until(`document.querySelectorAll('.alert.open').length === 2 && document.querySelectorAll('.alert').length === 4`)
	b.until(`document.querySelector('.alert a[href*="health=broken"]')`)
	b.inspectNarrow("alerts")
	b.speaks("ar")
	b.do(chromedp.Reload())
	b.until(`document.querySelector('.alert')?.textContent.includes('shop.example')`)
	b.inspectNarrow("alerts-arabic")
	b.speaks("de")
	b.do(chromedp.Reload())
	b.sees("2 Links enden am 04.12.2026 (UTC).")
	b.speaks("en")
	b.do(chromedp.Reload())
	end()

	b.visit("/console/alerts/rules", "Our links")
	b.press("Delete Our links", "Its alerts are deleted with it.")
	b.click(`document.querySelector('dialog .danger')`)
	b.sees("Be told before somebody complains")
}

// Somebody makes a weekly report for a member and an outsider, who has not confirmed, and pauses it.
func TestMailReports(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	b.press("Reports by mail", "Let figures come to people")
	b.inspect("mailreports-none")
	b.press("New report by mail", "One address in a line")
	b.fill("name", "Every week")
	b.set("timezone", "Europe/Berlin")
	b.set("recipients", b.email+"\nnot an address")
	b.press("Create report", "must be an email address")
	b.set("recipients", b.email)
	b.inspectNarrow("mailreport-new")
	b.press("Create report", "Every Monday at 7:00 (Europe/Berlin).", "Member")
	b.inspectNarrow("mailreports")
	b.has("/api/mail-reports", `{"data": [{"name": "Every week", "every": "WEEK", "isActive": true}]}`)
	b.press("Pause", "Every week is paused.")
	b.press("Resume", "Every week is sent again.")
	b.press("Edit Every week", "One address in a line")
	b.set("every", "MONTH")
	b.press("Save", "On the first of each month")
	b.speaks("ar")
	b.do(chromedp.Reload())
	b.until(`document.querySelector('.mailreport .badge')`)
	b.inspectNarrow("mailreports-arabic")
	b.speaks("en")
	b.do(chromedp.Reload())
	b.sees("On the first of each month")
	b.press("Delete Every week", "Nobody gets it any more.")
	b.click(`document.querySelector('dialog .danger')`)
	b.sees("Let figures come to people")
}
