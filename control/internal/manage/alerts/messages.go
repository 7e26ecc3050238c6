package alerts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/platform/outbound"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/backoff"
	"github.com/shortline/shortline/shared/job"
)

const (
	sendBatch = 20
	claimFor  = 2 * time.Minute
	giveUp    = 24 * time.Hour
	maxPause  = time.Hour
)

var retries = backoff.Policy{First: 30 * time.Second, Most: time.Hour}

// Send sends all messages that are due.
func (s *Service) Send(ctx context.Context) error {
	for {
		if more, err := s.sendSome(ctx); err != nil || !more {
			return err
		}
	}
}

func (s *Service) sendSome(ctx context.Context) (more bool, err error) {
	// Reading first spares the database a write every few seconds.
	if some, err := s.store.AnyAlertMessageDue(ctx, s.nowMillis()); err != nil || !some {
		return false, err
	}
	var list []store.AlertMessage
	err = s.store.Tx(ctx, func(tx *store.Tx) (err error) {
		list, err = tx.ClaimAlertMessages(ctx, s.nowMillis(), s.cfg.Now().Add(claimFor).UnixMilli(), sendBatch)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("take messages about alerts: %w", err)
	}
	for i := range list {
		err := job.Contain(s.cfg.Logger, func() error { return s.sendOne(ctx, &list[i]) })
		if errors.Is(err, job.ErrFault) { // as of a receiver that does not answer: it does not stop the others, and is given up one day
			err = s.ended(ctx, &list[i], failure{text: err.Error()})
		}
		if err != nil {
			return false, err
		}
	}
	return len(list) == sendBatch, nil
}

// sendOne sends one message and stores how that ended.
func (s *Service) sendOne(ctx context.Context, m *store.AlertMessage) error {
	target, err := s.box.Open(targetPlace(m.Channel.ID), m.Channel.Target)
	if err != nil {
		return s.ended(ctx, m, failure{text: "The address of the channel cannot be decrypted.", final: true})
	}
	if m.Channel.Kind == Mail {
		return s.mail(ctx, m, target)
	}
	err = s.post(ctx, m, target)
	var f failure
	switch {
	case err == nil:
		return s.ended(ctx, m, failure{})
	case ctx.Err() != nil: // the message is due again in two minutes
		return ctx.Err()
	case errors.As(err, &f):
		return s.ended(ctx, m, f)
	}
	return s.ended(ctx, m, failure{text: err.Error()})
}

// failure says why a message was not accepted. The zero value is none.
type failure struct {
	text  string
	final bool
	pause time.Duration // which the receiver asks for
}

func (f failure) Error() string { return f.text }

func (s *Service) ended(ctx context.Context, m *store.AlertMessage, f failure) error {
	return s.store.Tx(ctx, func(tx *store.Tx) error {
		now := s.cfg.Now()
		if err := tx.NoteAlertSent(ctx, m.Channel.Num, f.text, now.UnixMilli()); err != nil {
			return err
		}
		switch {
		case f.text == "":
			return tx.EndAlertMessage(ctx, m.Num)
		case f.final || now.Sub(time.UnixMilli(m.CreatedAt)) > giveUp:
			s.lost.Add(1)
			return tx.EndAlertMessage(ctx, m.Num)
		}
		return tx.RetryAlertMessage(ctx, m.Num, now.Add(max(f.pause, retries.Delay(m.Attempts))).UnixMilli())
	})
}

// mail queues an e-mail in the transaction that ends the message, so it is queued once.
func (s *Service) mail(ctx context.Context, m *store.AlertMessage, address string) error {
	if !s.cfg.Mail.Enabled() {
		return s.ended(ctx, m, failure{text: "The service sends no e-mails.", final: true})
	}
	return s.store.Tx(ctx, func(tx *store.Tx) error {
		if member, err := tx.HasMemberAddress(ctx, m.Alert.Workspace, store.EmailKey(address)); err != nil || !member {
			if err == nil {
				s.lost.Add(1)
				err = tx.NoteAlertSent(ctx, m.Channel.Num, "The address belongs to no member of the workspace.", s.nowMillis())
			}
			if err == nil {
				err = tx.EndAlertMessage(ctx, m.Num)
			}
			return err
		}
		_, name, err := tx.WorkspaceName(ctx, m.Alert.Workspace)
		if err != nil {
			return err
		}
		content := mail.Alert{At: time.UnixMilli(m.Alert.FiredAt), Workspace: name, Rule: m.Alert.RuleName, Summary: m.Alert.Summary,
			Resolved: m.Event == store.AlertResolved, Links: int(m.Alert.LinkCount), Link: s.link(&m.Alert)}
		if err := s.cfg.Mail.Send(ctx, tx, address, content); err != nil {
			return err
		}
		if err := tx.NoteAlertSent(ctx, m.Channel.Num, "", s.nowMillis()); err != nil {
			return err
		}
		return tx.EndAlertMessage(ctx, m.Num)
	})
}

// post sends a message to a chat.
func (s *Service) post(ctx context.Context, m *store.AlertMessage, target string) error {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s.payload(m)); err != nil {
		return failure{text: err.Error(), final: true}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, target, &body)
	if err != nil {
		return failure{text: "The address of the channel is not valid.", final: true}
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "Shortline-Alert/1")
	res, err := s.client.Do(r)
	if err != nil {
		if errors.Is(err, outbound.ErrForbidden) {
			return failure{text: "The address of the channel is not a public one.", final: true}
		}
		return failure{text: "The receiver could not be reached."} // the error would name the address, which is secret
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.CopyN(io.Discard, res.Body, 4<<10)
	f := failure{text: fmt.Sprintf("The receiver answered with the status %d.", res.StatusCode)}
	switch {
	case res.StatusCode < 300:
		return nil
	case res.StatusCode == http.StatusTooManyRequests:
		f.pause = backoff.RetryAfter(res.Header.Get("Retry-After"), s.cfg.Now(), maxPause)
	case res.StatusCode < 500:
		f.final = true
	}
	return f
}

// link is the page of the console about an alert: that of the link, if there is one, or that of all links.
func (s *Service) link(a *store.Alert) string {
	path := "/console/links"
	if a.LinkCount == 1 && len(a.Links) == 1 {
		path += "/" + url.PathEscape(a.Links[0])
	}
	return s.cfg.Console + path
}

type object = map[string]any

// payload is what a chat expects.
func (s *Service) payload(m *store.AlertMessage) any {
	title, link := "Alert: ", s.link(&m.Alert)
	if m.Event == store.AlertResolved {
		title = "Resolved: "
	}
	title += m.Alert.RuleName
	summary := m.Alert.Summary
	if m.Alert.LinkCount > 1 {
		summary += fmt.Sprintf(" It concerns %d links.", m.Alert.LinkCount)
	}
	switch m.Channel.Kind {
	case Slack: // https://api.slack.com/messaging/webhooks
		text := "*" + slackText(title) + "*\n" + slackText(summary) + "\n<" + link + "|Open the console>"
		return object{"text": title + ": " + summary, "blocks": []object{{"type": "section", "text": object{"type": "mrkdwn",
			"text": text}}}}
	case Teams: // https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
		return object{"type": "message", "attachments": []object{{
			"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": nil,
			"content": object{
				"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4",
				"body": []object{
					{"type": "TextBlock", "text": markdown(title), "weight": "Bolder", "size": "Medium", "wrap": true},
					{"type": "TextBlock", "text": markdown(summary), "wrap": true},
				},
				"actions": []object{{"type": "Action.OpenUrl", "title": "Open the console", "url": link}},
			},
		}}}
	}
	// https://discord.com/developers/docs/resources/webhook#execute-webhook
	text := []rune("**" + markdown(title) + "**\n" + markdown(summary))
	const most = 1900 // Discord refuses more than 2,000 characters
	return object{"content": string(text[:min(len(text), most)]) + "\n<" + link + ">", "allowed_mentions": object{"parse": []string{}}}
}

// slackText escapes what Slack would read as a link, a channel or a mention.
func slackText(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}

// markdown escapes what Teams and Discord would read as formatting or a link.
func markdown(text string) string {
	return strings.NewReplacer("\\", "\\\\", "*", "\\*", "_", "\\_", "`", "\\`", "~", "\\~", "|", "\\|", "[", "\\[", "]", "\\]", "<", "\\<", "#",
		"\\#").Replace(text)
}

func targetPlace(id string) string { return "alert_channels.target " + id }
