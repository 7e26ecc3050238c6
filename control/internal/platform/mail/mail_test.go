package mail_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/platform/smtp"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/testing/mailtest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

var keys = [][]byte{bytes.Repeat([]byte("k"), 32)}

// An e-mail exists if and only if the transaction that causes it is committed.
func TestService_Send_is_part_of_the_transaction(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		s, err := mail.New(mail.Config{
			Settings: smtp.Settings{URL: "smtp://127.0.0.1:1", From: "no-reply@example.com"}, BaseURL: "https://sho.rt",
			EncryptionKeys: keys,
		}, st)
		testkit.Must(t, err)
		content := mail.Invitation{Workspace: "Acme", Inviter: "Ann", Role: "EDITOR", Link: "https://sho.rt/console/#/invitation/secret",
			Expires: time.Now().Add(time.Hour)}
		failed := errors.New("the change fails")
		if err := st.Tx(t.Context(), func(tx *store.Tx) error {
			testkit.Must(t, s.Send(t.Context(), tx, "bob@example.com", content))
			return failed
		}); !errors.Is(err, failed) {
			t.Fatal(err)
		}
		count := func() int {
			n, _, err := st.MailQueue(t.Context(), 10)
			testkit.Must(t, err)
			return n
		}
		testkit.Equal(t, count(), 0, "e-mails after a rollback")
		testkit.Must(t, st.Tx(t.Context(), func(tx *store.Tx) error { return s.Send(t.Context(), tx, "bob@example.com", content) }))
		testkit.Equal(t, count(), 1, "e-mails after a commit")
	})
}

func TestService_without_a_server_stores_nothing(t *testing.T) {
	t.Parallel()
	st := storetest.Open(t)
	s, err := mail.New(mail.Config{EncryptionKeys: keys}, st)
	testkit.Must(t, err)
	for _, s := range []*mail.Service{s, nil} {
		if s.Enabled() {
			t.Error("enabled without a server")
		}
		testkit.Must(t, st.Tx(t.Context(), func(tx *store.Tx) error {
			return s.Send(t.Context(), tx, "bob@example.com", mail.PasswordReset{})
		}))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	testkit.Must(t, s.Run(ctx))
	if n, _, err := st.MailQueue(t.Context(), 10); n != 0 || err != nil {
		t.Errorf("%d e-mails, %v", n, err)
	}
}

// After a change of ENCRYPTION_KEY, waiting e-mails can be sent without the old key.
func TestService_Reseal(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		w := newWorld(t, st, mailtest.Config{})
		w.send("bob@example.com", invitation())
		fresh := bytes.Repeat([]byte("n"), 32)
		open := func(keys ...[]byte) *mail.Service {
			s, err := mail.New(mail.Config{Settings: smtp.Settings{URL: config.Secret(w.URL()), From: mailtest.From},
				BaseURL:        "https://sho.rt",
				EncryptionKeys: keys}, st)
			testkit.Must(t, err)
			return s
		}
		both := open(fresh, keys[0])
		for want := 1; want >= 0; want-- {
			if n, err := both.Reseal(t.Context()); n != want || err != nil {
				t.Fatalf("%d e-mails, %v; want %d", n, err, want)
			}
		}
		w.service = open(fresh)
		w.run()
		if m := w.Wait(t, "bob@example.com"); m.Link != invitation().Link {
			t.Errorf("link %q", m.Link)
		}
	})
}
