package alerts_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/manage/alerts"
	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/platform/outbound"
	"github.com/shortline/shortline/control/internal/platform/smtp"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/testing/mailtest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

var killKeys = [][]byte{bytes.Repeat([]byte("e"), 32)}

// TestMain runs a process that only looks and sends, if an environment variable is set.
func TestMain(m *testing.M) {
	if url := os.Getenv("ALERTS_TEST_STORE"); url != "" {
		fmt.Fprintln(os.Stderr, lookForever(url))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// lookForever does the work of the jobs of alerts and of the queue of e-mails, without pauses, by a clock that is off.
func lookForever(url string) error {
	ctx := context.Background()
	off, err := time.ParseDuration(os.Getenv("ALERTS_TEST_CLOCK"))
	if err != nil {
		return err
	}
	now := func() time.Time { return time.Now().Add(off) }
	st, err := store.Open(ctx, store.Config{URL: url, MaxConns: 4})
	if err != nil {
		return err
	}
	m, err := mail.New(mail.Config{Settings: smtp.Settings{URL: config.Secret(os.Getenv("ALERTS_TEST_SMTP")), From: mailtest.From},
		BaseURL: "https://sho.rt", EncryptionKeys: killKeys, Now: now, Poll: 20 * time.Millisecond,
		Logger: slog.New(slog.DiscardHandler)}, st)
	if err != nil {
		return err
	}
	s, err := alerts.New(alerts.Config{EncryptionKeys: killKeys, Mail: m, Console: "https://sho.rt", Now: now,
		Client: outbound.New(outbound.Policy{AllowPrivate: true})}, st, &clicks{})
	if err != nil {
		return err
	}
	go func() { _ = m.Run(ctx) }()
	for {
		if err := s.Look(ctx); err != nil {
			return err
		}
		if err := s.Send(ctx); err != nil {
			return err
		}
	}
}

// victim is a process that a receiver of messages kills.
type victim struct {
	sync.Mutex
	cmd   *exec.Cmd // nil after the kill
	after int       // messages that are let through
	early bool      // kill before the answer, or after it
	kills int
}

// strikes reports whether the message that has arrived is the one at which the process is killed.
func (v *victim) strikes(early bool) bool {
	v.Lock()
	defer v.Unlock()
	if v.cmd == nil || v.early != early {
		return false
	}
	if v.after--; v.after >= 0 {
		return false
	}
	_ = v.cmd.Process.Kill()
	v.cmd = nil
	v.kills++
	return true
}

// Processes that look and send are killed again and again: when a message has arrived and its sender does not know it, when the sender
// has just been told, and at moments of their own. Their clocks differ by hours, forwards and backwards. Each cause fires once and is
// resolved once: one alert, one event of each kind, and one e-mail of each kind. A message that is repeated is one during which a
// process was killed.
func TestAlerts_kill_9(t *testing.T) {
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
	const links = 8
	kills, server, v := testkit.Size(6, 60), mailtest.Start(t), &victim{}
	var mu sync.Mutex
	chat := map[string]int{}
	receiver := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		chat[string(body)]++
		mu.Unlock()
		if v.strikes(true) {
			return // nobody reads an answer
		}
		out.WriteHeader(http.StatusNoContent)
		_ = http.NewResponseController(out).Flush()
		v.strikes(false)
	}))
	t.Cleanup(receiver.Close)
	w.rule("exhaustion", w.channel("discord", receiver.URL), w.channel("mail", "ann@example.com"))
	random := rand.New(rand.NewPCG(3, 4))
	var all []*store.Link
	for i := range links {
		all = append(all, w.link(fmt.Sprint("killed", i)))
	}
	start := func(n int) {
		cmd := exec.Command(os.Args[0])
		cmd.Stderr = os.Stderr
		off := time.Duration(n)*10*time.Minute + time.Duration(random.IntN(5)-2)*time.Minute // claims of killed processes are over
		cmd.Env = append(os.Environ(), "ALERTS_TEST_STORE="+url, "ALERTS_TEST_SMTP="+server.URL(), "ALERTS_TEST_CLOCK="+off.String())
		v.Lock()
		v.cmd, v.after, v.early = cmd, random.IntN(3), random.IntN(2) == 0
		testkit.Must(t, cmd.Start())
		v.Unlock()
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	}
	gone := func() bool { v.Lock(); defer v.Unlock(); return v.cmd == nil }
	changes, n := 0, 0
	settled := func() bool { return w.settled(t, changes) }
	for ; v.killed() < kills; n++ {
		// Once all are told, the causes of two links begin to hold, or stop. No message is sent about a cause that is over before.
		if settled() {
			for i := range 2 {
				w.exec(`UPDATE urls SET max_clicks = 10, limit_since = 1, limit_base = ? WHERE num = ?`, []int{9, 0}[changes%2],
					all[(2*(changes/2)+i)%links].Num)
			}
			changes++
		}
		before, early := w.events(), n%3 == 2 // as soon as something is stored, which is mostly before a message is sent
		start(n)
		testkit.Eventually(t, "a kill, or the end of the work", func() bool { return gone() || early && w.events() != before || settled() })
		v.end()
	}
	start(n + 1)
	v.Lock()
	v.after = 1 << 30
	v.Unlock()
	testkit.Eventually(t, "the end of the work", settled)
	w.checkKills(t, server, chat, &mu, v.killed(), changes)
}

func (v *victim) killed() int {
	v.Lock()
	defer v.Unlock()
	return v.kills
}

// end kills the process that no message has killed.
func (v *victim) end() {
	v.Lock()
	defer v.Unlock()
	if v.cmd != nil {
		_ = v.cmd.Process.Kill()
		v.cmd = nil
		v.kills++
	}
}

// counted returns how many alerts have fired and how many are resolved after a number of changes.
func counted(changes int) (fired, resolved int) { return changes + changes%2, changes - changes%2 }

// settled reports whether the alerts have fired, and are resolved if they should be, and no message waits.
func (w *world) settled(t *testing.T, changes int) bool {
	t.Helper()
	fired, resolved := counted(changes)
	var waiting int
	testkit.Must(t, w.store.Row(t.Context(), `SELECT (SELECT count(*) FROM alert_messages) +
		(SELECT count(*) FROM mail_outbox)`).Scan(&waiting))
	return waiting == 0 && w.events() == fmt.Sprintf("%d fired, %d resolved", fired, resolved)
}

func (w *world) checkKills(t *testing.T, server *mailtest.Server, chat map[string]int, mu *sync.Mutex, kills, changes int) {
	t.Helper()
	fired, resolved := counted(changes)
	list, total, err := w.service.List(t.Context(), w.ann, alerts.Query{Limit: 1000})
	testkit.Must(t, err)
	if total != fired || len(list) != fired {
		t.Errorf("%d alerts instead of %d", total, fired)
	}
	ids, copies := map[string]string{}, 0
	for _, m := range server.All(t, "") {
		id := m.Header.Get("Message-Id")
		if _, again := ids[id]; again {
			copies++
		}
		ids[id] = m.Subject
	}
	told := map[string]int{}
	for _, subject := range ids {
		told[strings.SplitN(subject, ":", 2)[0]]++
	}
	mu.Lock()
	defer mu.Unlock()
	repeats := 0
	for _, n := range chat {
		repeats += n
	}
	t.Logf("%d kills, %d alerts, e-mails %v and %d copies, %d messages to a chat", kills, fired, told, copies, repeats)
	if len(ids) != fired+resolved || copies > kills {
		t.Errorf("%d e-mails and %d copies, want %d", len(ids), copies, fired+resolved)
	}
	// The causes of a link that is exhausted again have the same text, so only the total says how often messages were repeated.
	if repeats < fired+resolved || repeats > fired+resolved+kills {
		t.Errorf("%d messages to a chat, want %d and at most one more for each kill", repeats, fired+resolved)
	}
}
