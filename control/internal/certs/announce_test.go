package certs_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/certs"
	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/platform/smtp"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func TestAnnouncement(t *testing.T) {
	t.Parallel()
	const day = 24 * 60 * 60 * 1000
	for _, c := range []struct {
		source             string
		life, left, before int64 // days
		want               int64
	}{
		{store.CertificateACME, 90, 15, 0, 0}, {store.CertificateACME, 90, 14, 0, 14}, {store.CertificateACME, 90, 13, 14, 0},
		{store.CertificateACME, 90, 7, 14, 7},
		{store.CertificateACME, 90, 2, 14, 3}, {store.CertificateACME, 90, 1, 3, 1}, {store.CertificateACME, 90, -1, 1, 0},
		{store.CertificateACME, 90, -1, 0, 1},
		{store.CertificateUploaded, 365, 31, 0, 0}, {store.CertificateUploaded, 365, 30, 0, 30},
		{store.CertificateUploaded, 365, 14, 30, 14},
		{store.CertificateUploaded, 365, 20, 30, 0},
		{store.CertificateACME, 6, 5, 0, 0}, {store.CertificateACME, 6, 1, 0, 1}, // a short life
	} {
		cert := store.Certificate{Source: c.source, NotBefore: (c.left - c.life) * day, NotAfter: c.left * day, Announced: c.before}
		testkit.Equal(t, certs.Announcement(cert, 0), c.want, "days to announce for %+v", c)
	}
}

// The end of a certificate is announced once per step by e-mail and webhook, however many control planes look.
func TestAnnounce_tells_members_and_webhooks(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx, now := t.Context(), time.Now()
		tx := func(f func(tx *store.Tx) error) {
			t.Helper()
			testkit.Must(t, st.Tx(ctx, f))
		}
		m, err := mail.New(mail.Config{
			Settings: smtp.Settings{URL: "smtp://127.0.0.1:1", From: "shortline@example.com"}, BaseURL: "https://sho.rt",
			EncryptionKeys: [][]byte{[]byte(key)}, Logger: slog.New(slog.DiscardHandler),
		}, st)
		testkit.Must(t, err)
		planes := make([]*certs.Service, 2)
		for i := range planes {
			planes[i], err = certs.New(certs.Config{
				Settings: certs.Settings{Key: key}, Mail: m, Console: "https://sho.rt", Now: func() time.Time {
					return now
				}, Logger: slog.New(slog.DiscardHandler),
			}, st)
			testkit.Must(t, err)
		}
		var owner uint64
		user := store.User{ID: store.NewID(), Email: "ann@example.com", Role: "USER", Active: true}
		tx(func(tx *store.Tx) (err error) {
			if owner, err = tx.InsertUser(ctx, user); err != nil {
				return err
			}
			hook := store.Webhook{ID: store.NewID(), UserID: user.ID, Workspace: owner, Name: "h", URL: "https://example.com/",
				Events: []string{"domain.certificate.expiring"}, Active: true}
			if err := tx.InsertWebhook(ctx, &hook); err != nil {
				return err
			}
			d := &store.Domain{ID: store.NewID(), Workspace: owner, Hostname: "go.acme.com", Status: store.DomainActive, Token: "t"}
			if _, err := tx.InsertDomain(ctx, d); err != nil {
				return err
			}
			_, err = tx.InsertCertificate(ctx, &store.Certificate{
				Domain: d.Num, Hostname: d.Hostname, Source: store.CertificateUploaded, Status: store.CertificateActive, Chain: "x",
				SealedKey: "x",
				NextAt:    1 << 60,
				NotBefore: now.Add(-300 * 24 * time.Hour).UnixMilli(), NotAfter: now.Add(35 * 24 * time.Hour).UnixMilli(),
			})
			return err
		})
		for range 45 {
			for _, s := range planes {
				testkit.Must(t, s.Announce(context.Background()))
			}
			now = now.Add(24 * time.Hour)
		}
		mails, err := st.MailIDs(ctx)
		if err != nil || len(mails) != 5 {
			t.Errorf("%d e-mails, %v", len(mails), err)
		}
		events, err := store.All(ctx, st.Conn, func(row interface{ Scan(...any) error }) (s string, err error) { return s, row.Scan(&s) },
			`SELECT payload FROM webhook_deliveries`)
		if err != nil || len(events) != 5 || !strings.Contains(strings.Join(events, ""), `"hostname":"go.acme.com","source":"UPLOADED"`) {
			t.Errorf("deliveries %v, %v", events, err)
		}
	})
}
