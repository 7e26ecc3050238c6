package mailreports_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/mailreports"
	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/platform/smtp"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/testing/mailtest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// TestMain runs a process that only sends reports, if an environment variable is set.
func TestMain(m *testing.M) {
	if url := os.Getenv("REPORTS_TEST_STORE"); url != "" {
		fmt.Fprintln(os.Stderr, sendForever(url))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// sendForever does the work of the job and of the queue of e-mails, without pauses, by a clock that is off.
func sendForever(url string) error {
	ctx := context.Background()
	off, err := time.ParseDuration(os.Getenv("REPORTS_TEST_CLOCK"))
	if err != nil {
		return err
	}
	now := func() time.Time { return time.Now().Add(off) }
	st, err := store.Open(ctx, store.Config{URL: url, MaxConns: 4})
	if err != nil {
		return err
	}
	clicks, err := duckdb.Open(ctx, duckdb.Config{Path: os.Getenv("REPORTS_TEST_CLICKS"), Threads: 1})
	if err != nil {
		return err
	}
	m, err := mail.New(mail.Config{Settings: smtp.Settings{URL: config.Secret(os.Getenv("REPORTS_TEST_SMTP")), From: mailtest.From},
		BaseURL: "https://sho.rt", EncryptionKeys: keys, Now: now, Poll: 20 * time.Millisecond, Logger: slog.New(slog.DiscardHandler)}, st)
	if err != nil {
		return err
	}
	s := mailreports.New(mailreports.Config{BaseURL: "https://sho.rt", Console: "https://sho.rt", EncryptionKeys: keys, Mail: m, Now: now,
		Reports: report.New(st, clicks, now).On("sho.rt")}, st)
	go func() { _ = m.Run(ctx) }()
	for {
		if err := s.SendDue(ctx); err != nil {
			return err
		}
	}
}

var periodLine = regexp.MustCompile(`\d{1,2}( [A-Z][a-z]+)?( \d{4})? to \d{1,2} [A-Z][a-z]+ \d{4}`)

// Processes that send reports are killed again and again: before a period is recorded, when its e-mails wait, and when the server has
// accepted one. Their clocks go forward by weeks, and back by one. Each recipient gets one report of each period; copies of it, which
// have its Message-ID, come only from kills.
func TestReports_kill_9(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{
		"sqlite": storetest.SQLiteURL(t), "postgres": storetest.RuntimeURL(t, storetest.PostgresURL(t)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st, err := store.Open(t.Context(), store.Config{URL: url, MaxConns: 6})
			testkit.Must(t, err)
			t.Cleanup(func() { st.Close() })
			testKills(t, newWorld(t, st), url)
		})
	}
}

func testKills(t *testing.T, w *world, url string) {
	t.Helper()
	kills, server, folder := testkit.Size(6, 60), mailtest.Start(t), t.TempDir()
	w.now = time.Now()
	w.create(w.service(), "WEEK", "", "ann@example.com")
	first := time.Now().AddDate(0, 0, (8-int(time.Now().Weekday()))%7+7).Truncate(24 * time.Hour).Add(12 * time.Hour) // a Monday
	killed, n := 0, 0
	run := func(clock time.Time, done func() bool) {
		t.Helper()
		cmd := exec.Command(os.Args[0])
		cmd.Stderr = os.Stderr
		cmd.Env = append(os.Environ(), "REPORTS_TEST_STORE="+url, "REPORTS_TEST_SMTP="+server.URL(),
			"REPORTS_TEST_CLOCK="+time.Until(clock).String(), "REPORTS_TEST_CLICKS="+filepath.Join(folder, fmt.Sprint(n)))
		testkit.Must(t, cmd.Start())
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		testkit.Eventually(t, "the moment of a kill", done)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	runs := func() (n int) {
		testkit.Must(t, w.store.Row(t.Context(), `SELECT count(*) FROM mail_report_runs`).Scan(&n))
		return n
	}
	ids := func() (distinct map[string]string, all int) {
		distinct = map[string]string{}
		for _, m := range server.All(t, "") {
			distinct[m.Header.Get("Message-Id")] = periodLine.FindString(m.Text)
			all++
		}
		return distinct, all
	}
	weeks := 0
	told := func() bool { d, _ := ids(); return len(d) == weeks && runs() == weeks && w.waiting() == 0 }
	for ; killed < kills; n++ {
		if told() {
			weeks++
		}
		clock := first.AddDate(0, 0, 7*weeks).Add(time.Duration(n) * 5 * time.Minute) // claims of killed processes are over
		if _, before := ids(); n%4 == 3 {
			began := time.Now()
			run(clock.AddDate(0, 0, -7), func() bool { return time.Since(began) > 300*time.Millisecond || runs() > weeks })
		} else {
			run(clock, func() bool {
				_, now := ids()
				return n%4 == 0 && runs() == weeks || now > before || told()
			})
		}
		killed++
	}
	run(first.AddDate(0, 0, 7*weeks).Add(time.Duration(n)*5*time.Minute), told)
	distinct, all := ids()
	periods := map[string]bool{}
	for _, p := range distinct {
		periods[p] = true
	}
	t.Logf("%d kills, %d weeks, %d e-mails and %d copies", killed, weeks, len(distinct), all-len(distinct))
	if len(distinct) != weeks || len(periods) != weeks || all-len(distinct) > killed {
		t.Errorf("%d weeks, %d periods, %d e-mails and %d copies", weeks, len(periods), len(distinct), all-len(distinct))
	}
}
