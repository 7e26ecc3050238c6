package mailreports

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

func isMissing(err error) bool { return errors.Is(err, store.ErrNotFound) }

// purpose is what a link in an e-mail does. It is the last part of the path.
type purpose string

const (
	confirm     purpose = "confirm"
	unsubscribe purpose = "unsubscribe"
)

// Path is the path of the links in e-mails, without its last part.
const Path = "/api/mail-reports/"

func sign(key []byte, to purpose, id string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("mail report " + string(to) + " " + id))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:18])
}

// link returns the address with which a recipient confirms or unsubscribes. It works on after the encryption key was rotated, as long as
// the old key is known.
func (s *Service) link(to purpose, recipient string) string {
	return s.cfg.BaseURL + Path + string(to) + "?token=" + recipient + "." + sign(s.cfg.EncryptionKeys[0], to, recipient)
}

// recipient returns the id in a token, if the token is genuine.
func (s *Service) recipient(to purpose, token string) (id string, ok bool) {
	id, mac, _ := strings.Cut(token, ".")
	return id, slices.ContainsFunc(s.cfg.EncryptionKeys, func(key []byte) bool {
		return hmac.Equal([]byte(sign(key, to, id)), []byte(mac))
	})
}

var errLink = problem.New(problem.NotFound, "This link does not work any more.")

// Confirm subscribes the recipient whom a token names.
func (s *Service) Confirm(ctx context.Context, token string) error {
	return s.changeRecipient(ctx, confirm, token, "MAIL_REPORT_CONFIRMED", func(r *store.MailRecipient) error {
		if r.State == store.RecipientConfirmed {
			return nil
		}
		if r.CreatedAt < s.cfg.Now().Add(-Lifetime).UnixMilli() {
			return errLink
		}
		r.State = store.RecipientConfirmed
		return nil
	})
}

// Unsubscribe ends a report for the recipient whom a token names.
func (s *Service) Unsubscribe(ctx context.Context, token string) error {
	return s.changeRecipient(ctx, unsubscribe, token, "MAIL_REPORT_UNSUBSCRIBED", func(r *store.MailRecipient) error {
		r.State = store.RecipientUnsubscribed
		return nil
	})
}

// changeRecipient changes the recipient whom a token names. A token for a recipient who was removed does not work.
func (s *Service) changeRecipient(ctx context.Context, to purpose, token, action string, change func(*store.MailRecipient) error) error {
	id, ok := s.recipient(to, token)
	if !ok {
		return errLink
	}
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		of, err := tx.RecipientReport(ctx, id)
		if isMissing(err) {
			return errLink
		}
		if err != nil {
			return err
		}
		r, err := tx.LockMailReport(ctx, of)
		if isMissing(err) {
			return errLink
		}
		if err != nil {
			return err
		}
		i := slices.IndexFunc(r.Recipients, func(one store.MailRecipient) bool { return one.ID == id })
		if i < 0 {
			return errLink
		}
		one := r.Recipients[i]
		if err := change(&one); err != nil || one.State == r.Recipients[i].State {
			return err
		}
		if err := tx.PutRecipient(ctx, &one); err != nil {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{Action: action, EntityType: "mail_report", EntityID: r.ID, Workspace: r.Workspace,
			Old: map[string]any{"state": r.Recipients[i].State}, New: map[string]any{"state": one.State}})
	})
	return problem.Doing("follow the link of a report", err)
}
