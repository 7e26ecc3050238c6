//go:build proof

package main_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/platform/smtp"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/mailtest"
	"github.com/shortline/shortline/shared/testkit"
)

// The program is killed between the commit that causes e-mails and their sending, or while it sends. Every e-mail arrives
// after the restart. The test commits them itself, because each kill must hit the same moment.
func TestE2E_kill_9_loses_no_mail(t *testing.T) {
	server := mailtest.StartWith(t, mailtest.Config{TLS: "starttls", User: "shortline", Password: "canary-password"})
	key := strings.Repeat("k", 32)
	p := start(t, append(server.Env(), "ENCRYPTION_KEY="+key, "BRAND_NAME=Acme Links")...)
	st, err := store.Open(t.Context(), store.Config{URL: "sqlite:" + filepath.Join(p.Dir, "shortline.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	causes, err := mail.New(mail.Config{
		Settings: smtp.Settings{URL: config.Secret(server.URL()), From: mailtest.From}, BaseURL: "http://" + p.Addr, Brand: "Acme Links", EncryptionKeys: [][]byte{[]byte(key)},
	}, st)
	if err != nil {
		t.Fatal(err)
	}
	const kills, each = 4, 12
	for k := range kills {
		server.Hang(true)
		before, arrived := server.Seen("connect"), len(server.All(t, ""))
		for i := range each {
			if err := st.Tx(t.Context(), func(tx *store.Tx) error {
				return causes.Send(t.Context(), tx, fmt.Sprintf("u%d-%d@example.com", k, i), mail.Invitation{
					Workspace: "Team", Inviter: "Ann", Role: "EDITOR", Link: "http://" + p.Addr + "/console/invitation?token=secret-token", Expires: time.Now().Add(time.Hour),
				})
			}); err != nil {
				t.Fatal(err)
			}
		}
		if k > 0 { // the first kill comes before any attempt
			testkit.Eventually(t, "an e-mail in flight", func() bool { return server.Seen("connect") > before })
			server.Hang(false)
			testkit.Eventually(t, "some of the e-mails have arrived", func() bool { return len(server.All(t, "")) >= arrived+(k-1)*each/4 })
		}
		p.Kill()
		server.Hang(false)
		p.Start()
	}
	testkit.Eventually(t, "an empty outbox", func() bool {
		n, _, err := st.MailQueue(t.Context(), 1000)
		if err != nil {
			t.Fatal(err)
		}
		return n == 0
	})
	ids, total := map[string]string{}, 0
	for _, m := range server.All(t, "") {
		total++
		if was, ok := ids[m.To]; ok && was != m.Header.Get("Message-Id") {
			t.Errorf("the e-mail to %s came as %s and as %s", m.To, was, m.Header.Get("Message-Id"))
		}
		ids[m.To] = m.Header.Get("Message-Id")
		if !m.TLS || m.User != "shortline" || !strings.HasSuffix(m.Subject, " – Acme Links") {
			t.Fatalf("TLS %t, user %q, subject %q", m.TLS, m.User, m.Subject)
		}
	}
	t.Logf("%d e-mails, %d kills, %d repeats", len(ids), kills, total-len(ids))
	if len(ids) != kills*each || total-len(ids) > 4*kills {
		t.Fatalf("%d of %d e-mails arrived, %d repeats", len(ids), kills*each, total-len(ids))
	}
	for _, secret := range []string{"canary-password", "secret-token", "@example.com"} {
		if strings.Contains(strings.ReplaceAll(p.output.String(), "admin@example.com", ""), secret) {
			t.Errorf("the output shows %q:\n%s", secret, p.output.String())
		}
	}
}
