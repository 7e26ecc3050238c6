package mail_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/platform/smtp"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/testing/mailtest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// world is a service on a store, with an SMTP server.
type world struct {
	*mailtest.Server
	t       *testing.T
	store   *store.Store
	service *mail.Service
	offset  atomic.Int64 // of the service's clock
	logs    testkit.Buffer
	metrics *prometheus.Registry
}

func newWorld(t *testing.T, st *store.Store, cfg mailtest.Config, changes ...func(*mail.Config)) *world {
	t.Helper()
	w := &world{Server: mailtest.StartWith(t, cfg), t: t, store: st, metrics: prometheus.NewRegistry()}
	of := mail.Config{
		Settings: smtp.Settings{URL: config.Secret(w.URL()), From: "no-reply@example.com"}, BaseURL: "https://sho.rt", EncryptionKeys: keys,
		TLS:      w.ClientTLS(),
		Registry: w.metrics, Logger: slog.New(slog.NewTextHandler(&w.logs, nil)), Now: func() time.Time {
			return time.Now().Add(time.Duration(w.offset.Load()))
		},
	}
	for _, change := range changes {
		change(&of)
	}
	var err error
	w.service, err = mail.New(of, st)
	testkit.Must(t, err)
	w.metrics.MustRegister(w.service.JobMetrics())
	return w
}

// run runs the service and returns what stops it. The test stops it at its end.
func (w *world) run() (stop func()) { return testkit.Run(w.t, w.service.Run) }

func (w *world) send(to string, c mail.Content) {
	w.t.Helper()
	testkit.Must(w.t, w.store.Tx(w.t.Context(), func(tx *store.Tx) error { return w.service.Send(w.t.Context(), tx, to, c) }))
}

func (w *world) waiting() int {
	w.t.Helper()
	n, _, err := w.store.MailQueue(w.t.Context(), 10_000)
	testkit.Must(w.t, err)
	return n
}

func (w *world) count(name string, labels ...string) (sum float64) {
	w.t.Helper()
	families, err := w.metrics.Gather()
	testkit.Must(w.t, err)
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.Metric {
			has := 0
			for _, l := range m.Label {
				for i := 0; i < len(labels); i += 2 {
					if l.GetName() == labels[i] && l.GetValue() == labels[i+1] {
						has++
					}
				}
			}
			if has == len(labels)/2 {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return sum
}

func invitation() mail.Invitation {
	return mail.Invitation{Workspace: "Acme", Inviter: "Ann", Role: "EDITOR", Link: "https://sho.rt/console/invitation?token=canary-token",
		Expires: time.Now().Add(7 * 24 * time.Hour)}
}

func TestService_Run_sends_at_once(t *testing.T) {
	t.Parallel()
	storetest.EachInProof(t, func(t *testing.T, st *store.Store) {
		w := newWorld(t, st, mailtest.Config{TLS: "starttls", User: "ann", Password: "canary-password"}, func(c *mail.Config) {
			c.Poll = time.Hour
		})
		w.run()
		testkit.Eventually(t, "the first turn", func() bool { return w.count("shortline_job_runs_total", "name", "mail") > 0 })
		w.send("bob@example.com", invitation()) // wakes the service
		m := w.Wait(t, "bob@example.com")
		if !m.TLS || m.Link != "https://sho.rt/console/invitation?token=canary-token" {
			t.Errorf("%+v", m)
		}
		testkit.Eventually(t, "an empty outbox", func() bool { return w.waiting() == 0 })
		if w.count("shortline_mail_sent_total", "kind", "invitation") != 1 || w.count("shortline_mail_sent_total") != 1 {
			t.Error("the e-mail is not counted")
		}
	})
}

// The content of a waiting e-mail holds a link that works once, so it must not be readable in the database or in logs.
func TestService_keeps_links_secret(t *testing.T) {
	t.Parallel()
	storetest.EachInProof(t, func(t *testing.T, st *store.Store) {
		w := newWorld(t, st, mailtest.Config{})
		w.Answer(mailtest.Answer{Stage: "data", Code: 451, Text: "https://sho.rt/console/invitation?token=canary-token looks strange"})
		w.run()
		w.send("bob@example.com", invitation())
		testkit.Eventually(t, "a failed attempt", func() bool { return w.count("shortline_mail_retries_total") > 0 })
		testkit.Eventually(t, "its error in the database", func() bool {
			var stored bool
			testkit.Must(t, st.Row(t.Context(), `SELECT EXISTS (SELECT 1 FROM mail_outbox WHERE last_error <> '')`).Scan(&stored))
			return stored
		})
		rows, err := store.All(t.Context(), st.Conn, func(row interface{ Scan(...any) error }) (s string, err error) {
			var content, lastError string
			err = row.Scan(&content, &lastError)
			return content + lastError, err
		}, `SELECT content, last_error FROM mail_outbox`)
		testkit.Must(t, err)
		if len(rows) != 1 || !strings.Contains(rows[0], "451") {
			t.Fatalf("rows %q", rows)
		}
		for _, text := range append(rows, w.logs.String()) {
			if strings.Contains(text, "canary") || strings.Contains(text, "bob@") && text == w.logs.String() {
				t.Errorf("readable: %s", text)
			}
		}
		if !strings.Contains(w.logs.String(), "e-mail not sent, retrying") {
			t.Errorf("no log line: %s", w.logs.String())
		}
	})
}

func TestService_Run_repeats_temporary_failures(t *testing.T) {
	t.Parallel()
	storetest.EachInProof(t, func(t *testing.T, st *store.Store) {
		w := newWorld(t, st, mailtest.Config{})
		w.Answer(mailtest.Answer{Stage: "rcpt", To: "bob@example.com", Code: 451, Text: "greylisted", Times: 2})
		w.run()
		w.send("bob@example.com", invitation())
		w.send("eve@example.com", invitation())
		w.Wait(t, "eve@example.com") // is not held up
		m := w.Wait(t, "bob@example.com")
		testkit.Equal(t, w.Seen("rcpt"), 4, "attempts")
		testkit.Equal(t, len(m.Header["Message-Id"]), 1, "message IDs in %q", m.Header)
		testkit.Equal(t, w.count("shortline_mail_retries_total"), 2, "counted retries")
	})
}

func TestService_Run_gives_up_rejected_recipients(t *testing.T) {
	t.Parallel()
	storetest.EachInProof(t, func(t *testing.T, st *store.Store) {
		w := newWorld(t, st, mailtest.Config{})
		w.Answer(mailtest.Answer{Stage: "rcpt", Code: 550, Text: "no such user"})
		w.run()
		w.send("bob@example.com", invitation())
		w.send("not an address", invitation())
		testkit.Eventually(t, "an empty outbox", func() bool { return w.waiting() == 0 })
		testkit.Equal(t, w.count("shortline_mail_failed_total", "kind", "invitation", "reason", "rejected"), 2, "counted e-mails")
		testkit.Equal(t, w.Seen("rcpt"), 1, "attempts")
	})
}

// E-mails wait while the server is down, and arrive when it is back. Repeats have the same Message-ID.
func TestService_Run_waits_for_the_server(t *testing.T) {
	t.Parallel()
	st := storetest.Open(t)
	w := newWorld(t, st, mailtest.Config{TLS: "tls"})
	stop := w.run()
	w.Stop()
	for i := range 3 {
		w.send(fmt.Sprintf("u%d@example.com", i), invitation())
	}
	testkit.Eventually(t, "three failed attempts", func() bool { return w.count("shortline_mail_retries_total") >= 3 })
	w.offset.Store(int64(2 * time.Minute))
	testkit.Eventually(t, "three e-mails that have waited for two minutes", func() bool { // a scrape misses them if the database is slow
		age := w.count("shortline_mail_oldest_waiting_seconds")
		return w.count("shortline_mail_waiting") == 3 && age >= 119 && age <= 300
	})
	stop()
	w.Restart()
	w.run()
	for i := range 3 {
		w.Wait(t, fmt.Sprintf("u%d@example.com", i))
	}
	testkit.Eventually(t, "an empty outbox", func() bool { return w.waiting() == 0 })
}

func TestService_Run_drops_expired_mail(t *testing.T) {
	t.Parallel()
	storetest.EachInProof(t, func(t *testing.T, st *store.Store) {
		w := newWorld(t, st, mailtest.Config{})
		reset := mail.PasswordReset{Link: "https://sho.rt/console/reset?token=x", IP: "192.0.2.1",
			Expires: time.Now().Add(30 * time.Minute)}
		w.send("expired@example.com", reset)
		w.send("kept@example.com", invitation())
		w.offset.Store(int64(31 * time.Minute))
		stop := w.run()
		w.Wait(t, "kept@example.com")
		testkit.Eventually(t, "an empty outbox", func() bool { return w.waiting() == 0 })
		stop()
		testkit.Equal(t, w.count("shortline_mail_failed_total", "kind", "password_reset", "reason", "expired"), 1, "counted e-mails")
		// Nothing is tried for more than a day, however long its link works.
		w.send("old@example.com", invitation())
		w.offset.Add(int64(mail.Lifetime + time.Second))
		w.run()
		testkit.Eventually(t, "an empty outbox", func() bool { return w.waiting() == 0 })
		testkit.Equal(t, len(w.All(t, "")), 1, "sent e-mails")
	})
}

// A service that stops does not wait for a server that hangs, and gives its e-mails back.
func TestService_Run_stops_in_time(t *testing.T) {
	t.Parallel()
	storetest.EachInProof(t, func(t *testing.T, st *store.Store) {
		now := time.Now() // the clock stands still, so no lease ends and no attempt is repeated
		w := newWorld(t, st, mailtest.Config{}, func(c *mail.Config) { c.Now = func() time.Time { return now } })
		w.Hang(true)
		stop := w.run()
		w.send("bob@example.com", invitation())
		testkit.Eventually(t, "an attempt", func() bool { return w.Seen("connect") > 0 })
		began := time.Now()
		stop()
		testkit.Within(t, 9*time.Second, began, "stopping while a server is silent")
		w.Hang(false)
		w.run()
		w.Wait(t, "bob@example.com")
	})
}

// Replicas on one database share the e-mails: none is sent twice, and none is left.
func TestService_Run_in_two_replicas(t *testing.T) {
	t.Parallel()
	url := storetest.RuntimeURL(t, storetest.PostgresURL(t))
	server := mailtest.Start(t)
	const each = 60
	var services [2]*mail.Service
	var stores [2]*store.Store
	var registries [2]*prometheus.Registry
	for i := range services {
		st, err := store.Open(t.Context(), store.Config{URL: url, MaxConns: 6})
		testkit.Must(t, err)
		t.Cleanup(func() { st.Close() })
		registries[i], stores[i] = prometheus.NewRegistry(), st
		services[i], err = mail.New(mail.Config{Settings: smtp.Settings{URL: config.Secret(server.URL()), From: mailtest.From},
			BaseURL: "https://sho.rt", EncryptionKeys: keys, Registry: registries[i]}, st)
		testkit.Must(t, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var runs, senders sync.WaitGroup
	defer runs.Wait()
	defer cancel()
	for i, s := range services {
		runs.Go(func() { _ = s.Run(ctx) })
		senders.Go(func() {
			for n := range each {
				if err := stores[i].Tx(ctx, func(tx *store.Tx) error {
					return s.Send(ctx, tx, fmt.Sprintf("u%d-%d@example.com", i, n), invitation())
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	senders.Wait()
	testkit.Eventually(t, "an empty outbox", func() bool {
		n, _, err := stores[0].MailQueue(t.Context(), 1000)
		testkit.Must(t, err)
		return n == 0
	})
	got := map[string]int{}
	for _, m := range server.All(t, "") {
		got[m.To]++
	}
	twice := 0
	for _, n := range got {
		if n > 1 {
			twice++
		}
	}
	var shares [2]float64
	for i, r := range registries {
		shares[i] = (&world{t: t, metrics: r}).count("shortline_mail_sent_total")
	}
	t.Logf("%d e-mails, %d twice, sent by the replicas: %v", len(got), twice, shares)
	if len(got) != 2*each || twice > 0 || shares[0] == 0 || shares[1] == 0 {
		t.Fatal("want each e-mail once, and work for both replicas")
	}
}

// TestMain runs a process that only sends, if an environment variable is set.
func TestMain(m *testing.M) {
	if url := os.Getenv("MAIL_TEST_STORE"); url != "" {
		fmt.Fprintln(os.Stderr, sendForever(url, os.Getenv("MAIL_TEST_SMTP")))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func sendForever(url, server string) error {
	st, err := store.Open(context.Background(), store.Config{URL: url})
	if err != nil {
		return err
	}
	s, err := mail.New(mail.Config{Settings: smtp.Settings{URL: config.Secret(server), From: mailtest.From}, BaseURL: "https://sho.rt",
		EncryptionKeys: keys}, st)
	if err != nil {
		return err
	}
	return s.Run(context.Background())
}

// Sending processes are killed repeatedly. Every e-mail arrives. Those in flight at a kill may arrive twice, with the same
// Message-ID.
func TestService_Run_kill_9(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{
		"sqlite": storetest.SQLiteURL(t), "postgres": storetest.RuntimeURL(t, storetest.PostgresURL(t)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const mails = 200
			kills := testkit.Size(2, 6)
			st, err := store.Open(t.Context(), store.Config{URL: url, MaxConns: 6})
			testkit.Must(t, err)
			t.Cleanup(func() { st.Close() })
			w := newWorld(t, st, mailtest.Config{})
			for i := range mails {
				w.send(fmt.Sprintf("u%d@example.com", i), invitation())
			}
			for range kills {
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), "MAIL_TEST_STORE="+url, "MAIL_TEST_SMTP="+w.URL())
				cmd.Stderr = os.Stderr
				testkit.Must(t, cmd.Start())
				before := len(w.All(t, ""))
				testkit.Eventually(t, "some e-mails by this process", func() bool { return len(w.All(t, "")) > before+3 })
				testkit.Must(t, cmd.Process.Kill())
				_ = cmd.Wait()
			}
			left := w.waiting()
			if left < 4 {
				t.Fatalf("only %d e-mails are left after %d kills, so the kills came too late", left, kills)
			}
			w.offset.Store(int64(2 * time.Minute)) // leases of the killed processes are over
			w.run()
			testkit.Eventually(t, "an empty outbox", func() bool { return w.waiting() == 0 })
			ids, total := map[string]string{}, 0
			for _, m := range w.All(t, "") {
				id := m.Header.Get("Message-Id")
				if was, ok := ids[m.To]; ok && was != id {
					t.Errorf("the e-mail to %s came as %s and as %s", m.To, was, id)
				}
				ids[m.To] = id
				total++
			}
			t.Logf("%d e-mails, %d kills with %d left, %d repeats", len(ids), kills, left, total-len(ids))
			if len(ids) != mails || total-len(ids) > 4*kills {
				t.Fatalf("%d of %d e-mails arrived, %d repeats", len(ids), mails, total-len(ids))
			}
		})
	}
}
