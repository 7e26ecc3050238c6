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
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var keys = [][]byte{bytes.Repeat([]byte("k"), 32)}

// An e-mail exists if and only if the transaction that causes it is committed.
func TestService_Send_is_part_of_the_transaction(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		s, err := mail.New(mail.Config{
			Settings: smtp.Settings{URL: "smtp://127.0.0.1:1", From: "no-reply@example.com"}, BaseURL: "https://sho.rt", EncryptionKeys: keys,
		}, st)
		must(t, err)
		content := mail.Invitation{Workspace: "Acme", Inviter: "Ann", Role: "EDITOR", Link: "https://sho.rt/console/#/invitation/secret", Expires: time.Now().Add(time.Hour)}
		failed := errors.New("the change fails")
		if err := st.Tx(t.Context(), func(tx *store.Tx) error {
			must(t, s.Send(t.Context(), tx, "bob@example.com", content))
			return failed
		}); !errors.Is(err, failed) {
			t.Fatal(err)
		}
		count := func() int {
			n, _, err := st.MailQueue(t.Context(), 10)
			must(t, err)
			return n
		}
		if n := count(); n != 0 {
			t.Fatalf("%d e-mails after a rollback", n)
		}
		must(t, st.Tx(t.Context(), func(tx *store.Tx) error { return s.Send(t.Context(), tx, "bob@example.com", content) }))
		if n := count(); n != 1 {
			t.Fatalf("%d e-mails after a commit", n)
		}
	})
}

func TestService_without_a_server_stores_nothing(t *testing.T) {
	t.Parallel()
	st := storetest.Open(t)
	s, err := mail.New(mail.Config{EncryptionKeys: keys}, st)
	must(t, err)
	for _, s := range []*mail.Service{s, nil} {
		if s.Enabled() {
			t.Error("enabled without a server")
		}
		must(t, st.Tx(t.Context(), func(tx *store.Tx) error { return s.Send(t.Context(), tx, "bob@example.com", mail.PasswordReset{}) }))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	must(t, s.Run(ctx))
	if n, _, err := st.MailQueue(t.Context(), 10); n != 0 || err != nil {
		t.Errorf("%d e-mails, %v", n, err)
	}
}
