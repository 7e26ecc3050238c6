package mailreports_test

import (
	"bytes"
	"errors"
	"fmt"
	"image/png"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/mailreports"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/platform/smtp"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/testing/mailtest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

var keys = [][]byte{bytes.Repeat([]byte("k"), 32)}

// world has a user with a personal workspace, clicks, an SMTP server, and reports with a clock that the test sets.
type world struct {
	*testing.T
	*mailtest.Server
	store   *store.Store
	mail    *mail.Service
	reports *report.Service
	ann     auth.Principal
	now     time.Time
	rows    []analytics.Row
	segment store.Segment
}

func newWorld(t *testing.T, st *store.Store) *world {
	t.Helper()
	w := &world{T: t, Server: mailtest.Start(t), store: st, now: berlin(t, 2026, 10, 21, 12)}
	user := store.User{ID: store.NewID(), Email: "ann@example.com", Name: "Ann", Role: "USER", Active: true}
	link := &store.Link{ID: store.NewID(), UserID: user.ID, Slug: "spring", OriginalURL: "https://example.com", Active: true}
	testkit.Must(t, st.Tx(t.Context(), func(tx *store.Tx) (err error) {
		if user.Num, err = tx.InsertUser(t.Context(), user); err != nil {
			return err
		}
		link.Workspace = user.Num
		return tx.InsertLinks(t.Context(), []*store.Link{link})
	}))
	w.ann = auth.Principal{UserID: user.ID, UserNum: user.Num, Email: user.Email, Role: auth.User, Chosen: true,
		Workspace: auth.Workspace{Num: user.Num, Personal: true, Role: auth.Owner}}
	clicks, err := duckdb.Open(t.Context(), duckdb.Config{Path: filepath.Join(t.TempDir(), "clicks"), Threads: 1})
	testkit.Must(t, err)
	t.Cleanup(func() { _ = clicks.Close() })
	w.rows = analyticstest.Clicks(5, 3000, time.Date(2026, 10, 10, 0, 0, 0, 0, time.UTC), 24)
	for i := range w.rows {
		w.rows[i].Link, w.rows[i].Owner = link.Num, user.Num
	}
	testkit.Must(t, clicks.Insert(t.Context(), analytics.Batch{Rows: w.rows}))
	w.reports = report.New(st, clicks, func() time.Time { return w.now }).On("sho.rt")
	w.mail, err = mail.New(mail.Config{Settings: smtp.Settings{URL: config.Secret(w.URL()), From: "no-reply@example.com"},
		BaseURL: "https://sho.rt", EncryptionKeys: keys, Now: func() time.Time { return berlin(t, 2026, 10, 21, 12) }}, st)
	testkit.Must(t, err)
	testkit.Run(t, w.mail.Run)
	w.segment = store.Segment{ID: store.NewID(), Workspace: user.Num, Name: "Phones", Filters: map[string][]string{"device": {"MOBILE"}}}
	testkit.Must(t, st.Tx(t.Context(), func(tx *store.Tx) error { _, err := tx.InsertSegment(t.Context(), &w.segment); return err }))
	return w
}

func berlin(t *testing.T, year, month, day, hour int) time.Time {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	testkit.Must(t, err)
	return time.Date(year, time.Month(month), day, hour, 0, 0, 0, zone)
}

// service returns another process with the same database.
func (w *world) service(changes ...func(*mailreports.Config)) *mailreports.Service {
	cfg := mailreports.Config{BaseURL: "https://sho.rt", Console: "https://sho.rt", EncryptionKeys: keys, Mail: w.mail,
		Reports: w.reports, Now: func() time.Time { return w.now }}
	for _, change := range changes {
		change(&cfg)
	}
	return mailreports.New(cfg, w.store)
}

func (w *world) create(s *mailreports.Service, every string, segment string, to ...string) store.MailReport {
	w.Helper()
	name, zone := "Every "+strings.ToLower(every), "Europe/Berlin"
	r, err := s.Create(w.Context(), w.ann, mailreports.Input{Name: &name, Every: &every, Zone: &zone, SegmentID: &segment, Recipients: to})
	testkit.Must(w, err)
	return r
}

// clicks counts the clicks of people on days of Berlin in memory.
func (w *world) clicks(first, last time.Time, keep func(*analytics.Row) bool) (n int64) {
	for i := range w.rows {
		if r := &w.rows[i]; !r.Bot && r.Time >= first.UnixMilli() && r.Time < last.UnixMilli() && keep(r) {
			n++
		}
	}
	return n
}

var clicksLine = regexp.MustCompile(`(?m)^Clicks: ([\d,]+)( \(([+-]\d+) %\))?$`)

// A report is sent once for each period, across a change of the clocks, several processes, and clocks that go back. Its figures
// are those of a count in memory.
func TestReports_are_sent_once(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		w := newWorld(t, st)
		s, other := w.service(), w.service()
		w.create(s, "WEEK", "", "ann@example.com")
		w.create(s, "WEEK", w.segment.ID, "ann@example.com")
		sent := func() int { return len(w.All(t, "ann@example.com")) + w.waiting() }
		run := func(want int) {
			t.Helper()
			done := make(chan error, 2)
			for _, one := range []*mailreports.Service{s, other} {
				go func() { done <- one.SendDue(t.Context()) }()
			}
			for range 2 {
				testkit.Must(t, <-done)
			}
			testkit.Eventually(t, "the queue to be empty", func() bool { return w.waiting() == 0 })
			if got := sent(); got != want {
				t.Fatalf("at %v: %d e-mails, want %d", w.now, got, want)
			}
		}
		// The clocks in Berlin are set back on 25 October at three o'clock.
		w.now = berlin(t, 2026, 10, 26, 6).Add(59 * time.Minute)
		run(0)
		w.now = berlin(t, 2026, 10, 26, 7)
		run(2)
		run(2)
		w.now = berlin(t, 2026, 10, 24, 7) // a clock that goes back
		testkit.Must(t, st.Tx(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(t.Context(), `UPDATE mail_reports SET due_at = 0`) // as if the end of the period were not stored
			return err
		}))
		w.now = berlin(t, 2026, 10, 26, 8)
		run(2)
		first, second := w.Wait(t, "ann@example.com"), w.Wait(t, "ann@example.com")
		if strings.Contains(first.Text, "device=MOBILE") {
			first, second = second, first
		}
		monday, end, before := berlin(t, 2026, 10, 19, 0), berlin(t, 2026, 10, 26, 0), berlin(t, 2026, 10, 12, 0)
		for _, one := range []struct {
			m    mailtest.Message
			keep func(*analytics.Row) bool
		}{{first, func(*analytics.Row) bool { return true }}, {second, func(r *analytics.Row) bool { return r.Device == "MOBILE" }}} {
			found := clicksLine.FindStringSubmatch(one.m.Text)
			n, then := w.clicks(monday, end, one.keep), w.clicks(before, monday, one.keep)
			if found == nil || strings.ReplaceAll(found[1], ",", "") != fmt.Sprint(n) || then == 0 || found[3] == "" {
				t.Errorf("figures %q, want %d after %d:\n%s", found, n, then, one.m.Text)
			}
			if !strings.Contains(one.m.Text, "19 to 25 October 2026") {
				t.Errorf("no period in %s", one.m.Text)
			}
		}
		w.now = berlin(t, 2026, 11, 23, 9) // after an outage of three weeks
		run(4)
	})
}

// A report that panics waits for an hour, so that it does not take the turn of others. Then it is sent.
func TestReports_that_panic_wait(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t))
	s := w.service()
	w.create(s, "WEEK", "", "ann@example.com")
	w.now = berlin(t, 2026, 10, 26, 7)
	broken := w.service(func(c *mailreports.Config) { c.Reports = nil })
	if err := broken.SendDue(t.Context()); err == nil || !strings.Contains(err.Error(), "panic: ") {
		t.Fatalf("err %v", err)
	}
	testkit.Must(t, broken.SendDue(t.Context())) // nothing is due
	w.now = w.now.Add(time.Hour)
	testkit.Must(t, s.SendDue(t.Context()))
	if m := w.Wait(t, "ann@example.com"); !strings.Contains(m.Text, "19 to 25 October 2026") {
		t.Errorf("no period in %s", m.Text)
	}
}

func (w *world) waiting() int {
	w.Helper()
	n, _, err := w.store.MailQueue(w.Context(), 100)
	testkit.Must(w, err)
	return n
}

// The e-mail has a picture, and headers with which a mail program unsubscribes. Addresses outside of the workspace confirm first.
func TestReports_recipients(t *testing.T) {
	w := newWorld(t, storetest.Open(t))
	s := w.service()
	r := w.create(s, "MONTH", "", "ann@example.com", "out@example.org", "late@example.org")
	if got := []string{r.Recipients[0].State, r.Recipients[1].State}; !slices.Equal(got, []string{"CONFIRMED", "PENDING"}) {
		t.Errorf("states %v", got)
	}
	token := func(link, path string) string {
		t.Helper()
		u, err := url.Parse(link)
		testkit.Must(t, err)
		if u.Path != mailreports.Path+path {
			t.Errorf("link %s", link)
		}
		return u.Query().Get("token")
	}
	asked := w.Wait(t, "out@example.org")
	confirm := token(asked.Link, "confirm")
	for _, wrong := range []string{"", "x", confirm + "x", strings.Replace(confirm, ".", ".A", 1)} {
		if err := s.Confirm(t.Context(), wrong); !problem.Is(err, problem.NotFound) {
			t.Errorf("token %q: %v", wrong, err)
		}
	}
	if err := s.Unsubscribe(t.Context(), confirm); !problem.Is(err, problem.NotFound) {
		t.Errorf("a link unsubscribes that confirms: %v", err)
	}
	testkit.Must(t, s.Confirm(t.Context(), confirm))
	late := token(w.Wait(t, "late@example.org").Link, "confirm")
	w.now = w.now.Add(mailreports.Lifetime + time.Minute)
	if err := s.Confirm(t.Context(), late); !problem.Is(err, problem.NotFound) {
		t.Errorf("a link that has expired: %v", err)
	}
	w.now = berlin(t, 2026, 11, 1, 7)
	testkit.Must(t, s.SendDue(t.Context()))
	mine, m := w.Wait(t, "ann@example.com"), w.Wait(t, "out@example.org")
	unsubscribe := strings.Trim(m.Header.Get("List-Unsubscribe"), "<>")
	if m.Header.Get("List-Unsubscribe-Post") != "List-Unsubscribe=One-Click" || !strings.Contains(m.HTML, unsubscribe) ||
		!strings.Contains(m.Text, unsubscribe) || strings.Contains(mine.Text, unsubscribe) {
		t.Errorf("headers %v", m.Header)
	}
	picture, err := png.Decode(bytes.NewReader(m.Inline["chart"]))
	testkit.Must(t, err)
	if picture.Bounds().Dx() < 1000 || !strings.Contains(m.HTML, `src="cid:chart" alt="Clicks of each day. Most clicks: `) {
		t.Errorf("picture %v in %s", picture.Bounds(), m.HTML)
	}
	if folder := os.Getenv("SHORTLINE_PICTURES"); folder != "" {
		page := []byte(strings.Replace(m.HTML, "cid:chart", "chart.png", 1))
		testkit.Must(t, os.WriteFile(filepath.Join(folder, "report.html"), page, 0o600))
		testkit.Must(t, os.WriteFile(filepath.Join(folder, "chart.png"), m.Inline["chart"], 0o600))
		testkit.Must(t, os.WriteFile(filepath.Join(folder, "report.txt"), []byte(m.Text), 0o600))
	}
	testkit.Must(t, s.Unsubscribe(t.Context(), token(unsubscribe, "unsubscribe")))
	testkit.Must(t, s.Unsubscribe(t.Context(), token(unsubscribe, "unsubscribe")))
	// A recipient who has unsubscribed stays so, also if the list of recipients has the address again.
	r, err = s.Update(t.Context(), w.ann, r.ID, mailreports.Input{Recipients: []string{"ann@example.com"}})
	testkit.Must(t, err)
	r, err = s.Update(t.Context(), w.ann, r.ID, mailreports.Input{Recipients: []string{"ann@example.com", "out@example.org"}})
	testkit.Must(t, err)
	if len(r.Recipients) != 2 || r.Recipients[1].State != "UNSUBSCRIBED" {
		t.Errorf("recipients %+v", r.Recipients)
	}
	w.now = berlin(t, 2026, 12, 1, 7)
	testkit.Must(t, s.SendDue(t.Context()))
	w.Wait(t, "ann@example.com")
	testkit.Eventually(t, "the queue to be empty", func() bool { return w.waiting() == 0 })
	if n := len(w.All(t, "out@example.org")); n != 2 {
		t.Errorf("%d e-mails to who has unsubscribed", n)
	}
	for _, one := range []struct {
		field string
		in    mailreports.Input
	}{{"recipients.1", mailreports.Input{Recipients: []string{"a@example.com", "x"}}},
		{"recipients", mailreports.Input{Recipients: make([]string, 21)}},
		{"timezone", mailreports.Input{Zone: new(string)}}, {"every", mailreports.Input{Every: new(string)}}} {
		_, err := s.Update(t.Context(), w.ann, r.ID, one.in)
		var e *problem.Error
		if !errors.As(err, &e) || e.Fields[0].Field != one.field {
			t.Errorf("%s: %v", one.field, err)
		}
	}
	only := w.service(func(c *mailreports.Config) { c.MembersOnly = true })
	if _, err := only.Update(t.Context(), w.ann, r.ID, mailreports.Input{Recipients: []string{"x@example.org"}}); !problem.Is(err,
		problem.Invalid) {
		t.Errorf("an outside address: %v", err)
	}
	// The limit of questions a day.
	for i := range 60 {
		_, err = s.Update(t.Context(), w.ann, r.ID, mailreports.Input{Recipients: []string{"a" + fmt.Sprint(i) + "@example.org"}})
		if err != nil {
			break
		}
	}
	if !problem.Is(err, problem.TooMany) {
		t.Errorf("60 questions in a day: %v", err)
	}
	// Nothing is sent for a maker who is gone.
	before := len(w.All(t, ""))
	testkit.Must(t, w.store.Tx(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(t.Context(), `UPDATE users SET active = ?`, false)
		return err
	}))
	w.now = berlin(t, 2027, 1, 1, 8)
	testkit.Must(t, s.SendDue(t.Context()))
	testkit.Eventually(t, "the queue to be empty", func() bool { return w.waiting() == 0 })
	for _, m := range w.All(t, "")[before:] {
		if strings.Contains(m.Subject, "December") {
			t.Errorf("an e-mail of a maker who is gone: %s", m.Subject)
		}
	}
}

func TestNewest_period(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		every, now, days, next string
	}{
		{"WEEK", "2026-10-26T06:59:59+01:00", "2026-10-12 2026-10-18", "2026-10-26T07:00:00+01:00"},
		{"WEEK", "2026-10-26T07:00:00+01:00", "2026-10-19 2026-10-25", "2026-11-02T07:00:00+01:00"},
		{"WEEK", "2026-03-29T12:00:00+02:00", "2026-03-16 2026-03-22", "2026-03-30T07:00:00+02:00"},
		{"WEEK", "2027-01-03T23:00:00+01:00", "2026-12-21 2026-12-27", "2027-01-04T07:00:00+01:00"},
		{"MONTH", "2026-03-01T06:00:00+01:00", "2026-01-01 2026-01-31", "2026-03-01T07:00:00+01:00"},
		{"MONTH", "2026-03-31T12:00:00+02:00", "2026-02-01 2026-02-28", "2026-04-01T07:00:00+02:00"},
		{"MONTH", "2024-12-31T23:59:00+01:00", "2024-11-01 2024-11-30", "2025-01-01T07:00:00+01:00"},
	} {
		now, err := time.Parse(time.RFC3339, one.now)
		testkit.Must(t, err)
		p, next := mailreports.Newest(one.every, berlin(t, 2026, 1, 1, 0).Location(), now)
		if p.Days() != one.days || next.Format(time.RFC3339) != one.next {
			t.Errorf("%s at %s: %s, next %s", one.every, one.now, p.Days(), next.Format(time.RFC3339))
		}
	}
}
