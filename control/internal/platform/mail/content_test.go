package mail_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/net/html"

	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/mailtest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

const testLink = "https://sho.rt/console/page?token=AbC-_123&x=%C3%A4#part"

var testTime = time.Date(2026, 11, 22, 11, 25, 0, 0, time.UTC)

// contents returns an e-mail of each kind, with text in every field that can hold any.
func contents(text string) map[string]mail.Content {
	event := mail.Event{At: testTime, IP: text, UserAgent: text, Link: testLink}
	out := map[string]mail.Content{
		"invitation": mail.Invitation{Workspace: text, Inviter: text, Role: text, Link: testLink,
			Expires: time.Now().Add(time.Hour)},
		"password_reset":       mail.PasswordReset{Link: testLink, IP: text, Expires: time.Now().Add(time.Hour)},
		"new_device":           mail.NewDevice{Event: event},
		"password_changed":     mail.PasswordChanged{Event: event},
		"second_factor_locked": mail.SecondFactorLocked{Event: event, Until: testTime.Add(time.Hour)},
		"passkey_cloned":       mail.PasskeyCloned{Event: event, Passkey: text},
		"link_suspended": mail.LinkSuspended{LinkEvent: mail.LinkEvent{At: testTime, Workspace: text, Address: text, Link: testLink,
			Last: true}, Reason: text},
		"link_released": mail.LinkReleased{LinkEvent: mail.LinkEvent{At: testTime, Workspace: text, Address: text, Link: testLink},
			Status: text},
		"webhooks_paused": mail.WebhooksPaused{At: testTime, Workspace: text, Member: text, Webhooks: []string{text, text, text, text, text,
			text}, Link: testLink},
		"webhook_fails": mail.WebhookFails{At: testTime, Workspace: text, Webhook: text, Since: testTime, Reason: text, Link: testLink},
		"report": mail.Report{Name: text, Workspace: text, Period: text, Zone: text,
			Figures: []mail.Figure{{Name: text, Value: text, Change: text}},
			Lists:   []mail.Ranking{{Name: text, Rows: []mail.Figure{{Name: text, Value: text}}}}, Alt: text, Link: testLink,
			Unsubscribe: testLink},
		"report_confirmation": mail.ReportConfirmation{Name: text, Workspace: text, Inviter: text, Link: testLink,
			Expires: time.Now().Add(time.Hour)},
		"alert": mail.Alert{At: testTime, Workspace: text, Rule: text, Summary: text, Links: 3, Link: testLink},
		"certificate_ends": mail.CertificateEnds{Workspace: text, Hostname: text, Uploaded: true, Ends: testTime, Reason: text,
			Link: testLink},
	}
	for _, change := range []mail.FactorChange{mail.FactorEnabled, mail.FactorDisabled, mail.PasskeyAdded, mail.PasskeyRemoved,
		mail.FactorChange(text)} {
		out[fmt.Sprintf("second_factor_changed %.20q", change)] = mail.SecondFactorChanged{Event: event, Change: change, Passkey: text}
	}
	return out
}

// names may be the name of anything. The value is what must be visible of it; "" means that the test does not say.
var names = map[string]string{
	"Acme":                                      "Acme",
	"Ünïcödé & Söhne":                           "Ünïcödé & Söhne",
	"株式会社":                                      "株式会社",
	"شركة النور":                                "شركة النور",
	"👩‍👩‍👧 Family":                              "👩‍👩‍👧 Family",
	"<script>alert(1)</script>":                 "<script>alert(1)</script>",
	`"><img src=x onerror=alert(1)>`:            `"><img src=x onerror=alert(1)>`,
	"{{.Brand}}${x}%s%d":                        "{{.Brand}}${x}%s%d",
	"Acme\r\nBcc: eve@example.com\r\n\r\nHello": "Acme Bcc: eve@example.com Hello",
	"Acme\n.\nMAIL FROM:<eve@example.com>":      "Acme . MAIL FROM:<eve@example.com>",
	"\n.\r\n":                                   ".",
	"a\x00b\x1b[31mc\u0085d\u2028e":             "a b [31mc d e",
	"\u202egnp.exe\u2066\u200f\u061c":           "gnp.exe",
	"\u2069\u2069 closes isolates \u2069":       "closes isolates",
	"invalid \xff\xfe UTF-8":                    "invalid \uFFFD UTF-8",
	"=?utf-8?q?Bcc:_eve?=":                      "=?utf-8?q?Bcc:_eve?=",
	"--boundary\n-- \n":                         "--boundary --",
	strings.Repeat("x", 100_000):                strings.Repeat("x", 80) + "…",
	strings.Repeat("é\u0301", 1000):             "",
	"":                                          "",
	"\u200b\u200d\ufeff":                        "",
}

func TestContent_in_any_language_breaks_nothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t), mailtest.Config{})
	w.run()
	n := 0
	for name, visible := range names {
		for kind, content := range contents(name) {
			n++
			to := fmt.Sprintf("u%d@example.com", n)
			w.send(to, content)
			m := w.Wait(t, to)
			problems := append(headers(m, to), texts(m)...)
			problems = append(problems, markup(m)...)
			if kind == "invitation" && visible != "" {
				for part, text := range map[string]string{"subject": m.Subject, "text": m.Text, "HTML": visibleText(m.HTML)} {
					if !strings.Contains(text, visible) {
						problems = append(problems, fmt.Sprintf("the %s does not show %q", part, visible))
					}
				}
			}
			for _, p := range problems {
				t.Errorf("%.40q in %s: %s", name, kind, p)
			}
			if len(problems) > 0 {
				t.Logf("%.4000s", m.Raw)
			}
			if t.Failed() {
				return
			}
		}
	}
	t.Logf("%d e-mails", n)
}

// isReport reports whether an e-mail is a report, which has tables and a second link, with which the recipient unsubscribes.
func isReport(m mailtest.Message) bool { return m.Header.Get("List-Unsubscribe") == "<"+testLink+">" }

// linksOf is how many links an e-mail has.
func linksOf(m mailtest.Message) int {
	if isReport(m) {
		return 2
	}
	return 1
}

// headers checks that the header holds what it should, once, and nothing else.
func headers(m mailtest.Message, to string) (problems []string) {
	want := map[string]bool{
		"Return-Path": true, "Delivered-To": true, "X-Test-Tls": true, "X-Test-User": true, "X-Test-Helo": true, // by the server
		"Auto-Submitted": true, "X-Auto-Response-Suppress": true, "Date": true, "Message-Id": true, "Mime-Version": true, "Subject": true,
		"From": true, "To": true, "Content-Type": true,
	}
	if isReport(m) {
		want["List-Unsubscribe"], want["List-Unsubscribe-Post"] = true, true
	}
	for name, values := range m.Header {
		if !want[name] || len(values) != 1 {
			problems = append(problems, fmt.Sprintf("header %s: %q", name, values))
		}
		delete(want, name)
	}
	for name := range want {
		problems = append(problems, "no header "+name)
	}
	if m.Header.Get("To") != "<"+to+">" || m.To != to {
		problems = append(problems, fmt.Sprintf("to %q, %q", m.Header.Get("To"), m.To))
	}
	if bad := invisible(m.Subject); bad != "" || !strings.HasSuffix(m.Subject, " – Shortline") || len([]rune(m.Subject)) > 250 {
		problems = append(problems, fmt.Sprintf("subject %q", m.Subject))
	}
	for line := range strings.SplitSeq(string(m.Raw), "\r\n") {
		if len(line) > 998 || strings.ContainsFunc(line, func(r rune) bool { return r > unicode.MaxASCII || r < ' ' && r != '\t' }) {
			problems = append(problems, fmt.Sprintf("line %.100q", line))
		}
	}
	return problems
}

// invisible returns the control characters, direction marks and open isolates of a text.
func invisible(text string) (bad string) {
	depth := 0
	for _, r := range text {
		switch {
		case r == '\u2068':
			depth++
		case r == '\u2069':
			depth--
		case r == '\u200c', r == '\u200d', r == '\n':
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == '\u2028', r == '\u2029':
			bad += fmt.Sprintf("%U ", r)
		}
		if depth < 0 || depth > 1 || depth == 1 && r == '\n' {
			bad += "isolates "
			depth = 0
		}
	}
	if depth != 0 {
		bad += "isolates"
	}
	return bad
}

func texts(m mailtest.Message) (problems []string) {
	if bad := invisible(m.Text); bad != "" {
		problems = append(problems, "the text contains "+bad)
	}
	if !strings.HasSuffix(m.Text, "\n\n-- \nShortline, https://sho.rt\n") {
		problems = append(problems, "the text has another end")
	}
	if strings.Count(m.Text, "\n"+testLink+"\n") != linksOf(m) || m.Link != testLink {
		problems = append(problems, fmt.Sprintf("the link is %q", m.Link))
	}
	if n := strings.Count(m.Text, "\n"); n > 25 {
		problems = append(problems, fmt.Sprintf("%d lines", n))
	}
	return problems
}

// markup checks that the HTML part consists of our elements and attributes only.
func markup(m mailtest.Message) (problems []string) {
	elements := map[string]bool{}
	for _, name := range strings.Fields("html head meta title body div p table tr td a br") {
		elements[name] = true
	}
	attributes := map[string]bool{}
	for _, name := range strings.Fields("lang dir charset name content style role href") {
		attributes[name] = true
	}
	if isReport(m) {
		elements["h2"], elements["th"], attributes["scope"] = true, true, true
	}
	links := 0
	for z := html.NewTokenizer(strings.NewReader(m.HTML)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		token := z.Token()
		if kind == html.TextToken || kind == html.DoctypeToken {
			continue
		}
		if !elements[token.Data] {
			problems = append(problems, "element "+token.String())
		}
		for _, a := range token.Attr {
			if !attributes[a.Key] {
				problems = append(problems, "attribute "+a.Key)
			}
			if a.Key == "href" {
				links++
				if a.Val != testLink {
					problems = append(problems, "the link is "+a.Val)
				}
			}
		}
	}
	text := visibleText(m.HTML)
	if links != linksOf(m) || strings.Count(text, testLink) != 1 {
		problems = append(problems, fmt.Sprintf("%d links", links))
	}
	if bad := invisible(text); bad != "" {
		problems = append(problems, "the HTML contains "+bad)
	}
	return problems
}

// visibleText returns the text of an HTML part.
func visibleText(part string) string {
	var b strings.Builder
	for z := html.NewTokenizer(strings.NewReader(part)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return b.String()
		case html.TextToken:
			b.WriteString(z.Token().Data)
		}
	}
}

// The e-mails as people read them.
func TestContent_says_what_happened(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t), mailtest.Config{})
	w.run()
	event := mail.Event{At: testTime, IP: "192.0.2.7", UserAgent: "Mozilla/5.0 (X11; Linux x86_64)", Link: testLink}
	ofLink := mail.LinkEvent{At: testTime, Workspace: "Acme", Address: "sho.rt/sale", Link: testLink}
	until := time.Now().Add(20 * time.Hour).UTC()
	untilText := until.Format("2 January 2006, 15:04 UTC")
	for i, c := range []struct {
		content mail.Content
		subject string
		parts   []string
	}{
		{
			mail.Invitation{Workspace: "Acme", Inviter: "Ann Lee", Role: "EDITOR", Link: testLink, Expires: until},
			"Ann Lee invites you to Acme",
			[]string{"Ann Lee invites you to join the workspace “Acme”.", "editor", "works once, until " + untilText},
		},
		{mail.PasswordReset{Link: testLink, IP: "192.0.2.7", Expires: until}, "Choose a new password",
			[]string{"192.0.2.7", "works once, until " + untilText, "ignore this e-mail"}},
		{mail.NewDevice{Event: event}, "New sign-in to your account", []string{"22 November 2026, 11:25 UTC", "192.0.2.7",
			"Mozilla/5.0 (X11; Linux x86_64)", "end that session"}},
		{mail.PasswordChanged{Event: event}, "Your password was changed", []string{"22 November 2026, 11:25 UTC", "192.0.2.7"}},
		{mail.SecondFactorLocked{Event: event, Until: testTime.Add(time.Hour)}, "Too many wrong codes for your account",
			[]string{"22 November 2026, 12:25 UTC", "choose a new password"}},
		{mail.PasskeyCloned{Event: event, Passkey: "Laptop"}, "A copied passkey was rejected", []string{"Laptop", "192.0.2.7"}},
		{mail.SecondFactorChanged{Event: event, Change: mail.FactorEnabled}, "Second factor turned on", []string{"asks for a code"}},
		{mail.SecondFactorChanged{Event: event, Change: mail.FactorDisabled}, "Second factor turned off", []string{"no longer asks"}},
		{mail.SecondFactorChanged{Event: event, Change: mail.PasskeyAdded, Passkey: "Phone"}, "A passkey was added",
			[]string{"Phone", "192.0.2.7"}},
		{mail.SecondFactorChanged{Event: event, Change: mail.PasskeyRemoved, Passkey: "Phone"}, "A passkey was removed",
			[]string{"Phone", "no longer signs in"}},
		{
			mail.LinkSuspended{LinkEvent: ofLink, Reason: "It asks for passwords."}, "sho.rt/sale was suspended",
			[]string{"sho.rt/sale", "Acme", "It asks for passwords.", "22 November 2026, 11:25 UTC", "no longer reach"},
		},
		{mail.LinkReleased{LinkEvent: ofLink, Status: "ACTIVE"}, "sho.rt/sale is no longer suspended",
			[]string{"Acme", "lifted the suspension", "active"}},
	} {
		to := fmt.Sprintf("u%d@example.com", i)
		w.send(to, c.content)
		m := w.Wait(t, to)
		testkit.Equal(t, m.Subject, c.subject+" – Shortline", "subject")
		for _, part := range append(c.parts, testLink) {
			if !strings.Contains(m.Text, part) || !strings.Contains(visibleText(m.HTML), part) {
				t.Errorf("%s: a part does not say %q:\n%s\n%s", c.subject, part, m.Text, visibleText(m.HTML))
			}
		}
	}
}

func TestService_Send_rejects_incomplete_links(t *testing.T) {
	t.Parallel()
	st := storetest.Open(t)
	w := newWorld(t, st, mailtest.Config{})
	for _, link := range []string{"", "/console/reset?token=canary", "javascript:canary()", "https:///x", "https://sho.rt/\r\ncanary",
		"https://sho.rt/ canary"} {
		err := st.Tx(t.Context(), func(tx *store.Tx) error {
			return w.service.Send(t.Context(), tx, "bob@example.com", mail.PasswordReset{Link: link, Expires: time.Now().Add(time.Hour)})
		})
		if err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: %v", link, err)
		}
	}
}

func TestMail_page_lists_every_kind(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(testkit.Source(t, "docs/operators/mail.md"))
	testkit.Must(t, err)
	w := newWorld(t, storetest.Open(t), mailtest.Config{})
	families, err := w.metrics.Gather()
	testkit.Must(t, err)
	n := 0
	for _, f := range families {
		if f.GetName() != "shortline_mail_sent_total" {
			continue
		}
		for _, m := range f.Metric {
			n++
			if kind := m.Label[0].GetValue(); !strings.Contains(string(page), "\n| `"+kind+"` |") {
				t.Errorf("the page does not list %s", kind)
			}
		}
	}
	testkit.Equal(t, n, 15, "counted kinds")
}
