package mail

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/platform/smtp"
)

// Content is what an e-mail says. Its fields may hold any text: control characters are removed, and long texts are cut.
// Links are complete addresses of the console, beginning with http:// or https://. They may be secret.
type Content interface {
	kind() string       // name in metrics and logs
	expires() time.Time // when the e-mail becomes useless; zero: not before Lifetime
	page() page
}

// Invitation invites an address to a workspace. Link works once, until Expires.
type Invitation struct {
	Workspace string // name
	Inviter   string // name or e-mail address
	Role      string // such as EDITOR
	Link      string
	Expires   time.Time
}

// PasswordReset lets a user choose a new password. Link works once, until Expires.
type PasswordReset struct {
	Link    string
	IP      string // of the request
	Expires time.Time
}

// Event is what happened to an account, for security notices. IP and UserAgent may be empty. Link leads to the page on
// which the user can undo it: the sessions or the settings of the account.
type Event struct {
	At        time.Time
	IP        string
	UserAgent string
	Link      string
}

// NewDevice tells of a sign-in from a device that the account has not used before.
type NewDevice struct{ Event }

// PasswordChanged tells of a new password.
type PasswordChanged struct{ Event }

// SecondFactorLocked tells that codes are not accepted for a while, after too many wrong ones: somebody may know the
// password. Until is the end of the lockout; zero if unknown.
type SecondFactorLocked struct {
	Event
	Until time.Time
}

// PasskeyCloned tells that a sign-in was rejected because the passkey's counter went backwards.
type PasskeyCloned struct {
	Event
	Passkey string // name
}

// FactorChange is a change of an account's second factors.
type FactorChange string

// The changes.
const (
	FactorEnabled  FactorChange = "enabled"  // codes of an authenticator app
	FactorDisabled FactorChange = "disabled" // likewise
	PasskeyAdded   FactorChange = "passkey_added"
	PasskeyRemoved FactorChange = "passkey_removed"
)

// SecondFactorChanged tells of a change of the second factors.
type SecondFactorChanged struct {
	Event
	Change  FactorChange
	Passkey string // name; only for passkeys
}

// LinkEvent is what the operator did to a link of a workspace. Link is the page of the link in the console.
type LinkEvent struct {
	At        time.Time
	Workspace string // name
	Address   string // of the short link, without a scheme
	Link      string
	// Last tells that no e-mails about further links of the workspace follow for a while.
	Last bool
}

// LinkSuspended tells members of a workspace that a link of theirs was suspended.
type LinkSuspended struct {
	LinkEvent
	Reason string // at most 500 characters are shown
}

// LinkReleased tells members of a workspace that a suspension was lifted.
type LinkReleased struct {
	LinkEvent
	Status string // of the link from now on, such as ACTIVE
}

// CertificateEnds tells members of a workspace that the certificate of a domain ends, and that nothing has replaced it. Link is
// the page of the domain in the console.
type CertificateEnds struct {
	Workspace string // name
	Hostname  string
	Uploaded  bool // an owner has to replace it; otherwise the service tries to renew it
	Ends      time.Time
	Ended     bool   // Ends has passed
	Reason    string // why the last renewal failed; "" if unknown
	Link      string
}

// WebhooksPaused tells members of a workspace that webhooks were paused because the member who made them has left or lost the role. Link is
// the page of the webhooks in the console.
type WebhooksPaused struct {
	At        time.Time
	Workspace string   // name
	Member    string   // e-mail address
	Webhooks  []string // names; a few are shown
	Link      string
}

// WebhookFails tells members of a workspace that a webhook was paused because nothing could be delivered to it for days. Link is the page
// of the webhooks in the console.
type WebhookFails struct {
	At        time.Time
	Workspace string // name
	Webhook   string // name
	Since     time.Time
	Reason    string // the last error
	Link      string
}

// Alert tells of an alert that has fired or was resolved. Link is a page of the console.
type Alert struct {
	At        time.Time // when it fired
	Workspace string    // name
	Rule      string    // name
	Summary   string    // a sentence
	Links     int       // number of links that are concerned
	Resolved  bool
	Link      string
}

// kinds are the kinds of e-mails, as in metrics and logs.
var kinds = []string{
	"invitation", "password_reset", "new_device", "password_changed", "second_factor_locked", "passkey_cloned", "second_factor_changed",
	"link_suspended", "link_released",
	"certificate_ends", "webhooks_paused", "webhook_fails", "alert",
	"report", "report_confirmation",
}

func (Invitation) kind() string          { return "invitation" }
func (PasswordReset) kind() string       { return "password_reset" }
func (NewDevice) kind() string           { return "new_device" }
func (PasswordChanged) kind() string     { return "password_changed" }
func (SecondFactorLocked) kind() string  { return "second_factor_locked" }
func (PasskeyCloned) kind() string       { return "passkey_cloned" }
func (SecondFactorChanged) kind() string { return "second_factor_changed" }
func (LinkSuspended) kind() string       { return "link_suspended" }
func (LinkReleased) kind() string        { return "link_released" }
func (CertificateEnds) kind() string     { return "certificate_ends" }
func (WebhooksPaused) kind() string      { return "webhooks_paused" }
func (WebhookFails) kind() string        { return "webhook_fails" }
func (Alert) kind() string               { return "alert" }

func (i Invitation) expires() time.Time    { return i.Expires }
func (r PasswordReset) expires() time.Time { return r.Expires }
func (Event) expires() time.Time           { return time.Time{} }
func (LinkEvent) expires() time.Time       { return time.Time{} }
func (CertificateEnds) expires() time.Time { return time.Time{} }
func (WebhooksPaused) expires() time.Time  { return time.Time{} }
func (WebhookFails) expires() time.Time    { return time.Time{} }
func (Alert) expires() time.Time           { return time.Time{} }

// page is the content of both parts. All texts are clean (see plain and nameOf).
type page struct {
	Subject string
	Lead    []string // paragraphs
	Facts   []fact
	Link    string
	Button  string // what Link does
	Foot    []string

	// Of reports.
	Picture     string // content id of a picture
	Alt         string // what the picture shows
	Lists       []list
	Inline      []smtp.Inline
	Unsubscribe string // address that ends such e-mails
}

type fact struct{ Name, Value string }

func (i Invitation) page() page {
	who, where := nameOf(i.Inviter), nameOf(i.Workspace)
	return page{
		Subject: fmt.Sprintf("%s invites you to %s", who, where),
		Lead:    []string{fmt.Sprintf("%s invites you to join the workspace “%s”.", who, where)},
		Facts:   []fact{{"Workspace", where}, {"Invited by", who}, {"Your role", plain(strings.ToLower(i.Role), maxName)}},
		Link:    i.Link, Button: "Accept the invitation",
		Foot: []string{
			fmt.Sprintf("The link works once, until %s.", stamp(i.Expires)),
			"If you did not expect this invitation, ignore this e-mail. Nothing happens without your consent.",
		},
	}
}

func (r PasswordReset) page() page {
	return page{
		Subject: "Choose a new password",
		Lead:    []string{"Somebody asked for a new password for your account. If that was you, choose it on this page:"},
		Facts:   facts(fact{"Requested from", plain(r.IP, maxName)}),
		Link:    r.Link, Button: "Choose a new password",
		Foot: []string{
			fmt.Sprintf("The link works once, until %s.", stamp(r.Expires)),
			"If you did not ask for it, ignore this e-mail. Your password stays as it is.",
		},
	}
}

func (n NewDevice) page() page {
	return n.notice("New sign-in to your account", "Your account was used from a device that it did not know.", "Check your sessions",
		"If that was not you, end that session, choose a new password, and turn on a second factor.")
}

func (c PasswordChanged) page() page {
	return c.notice("Your password was changed", "The password of your account was changed.", "Check your account",
		"If that was not you, ask for a new password on the sign-in page at once, or tell your administrator.")
}

func (l SecondFactorLocked) page() page {
	p := l.notice("Too many wrong codes for your account",
		"Somebody entered too many wrong codes of your second factor. Codes are not accepted for a while.",
		"Change your password", "Whoever entered the codes knows your password. If that was not you, choose a new password.")
	if !l.Until.IsZero() {
		p.Facts = append(p.Facts, fact{"Locked until", stamp(l.Until)})
	}
	return p
}

func (c PasskeyCloned) page() page {
	p := c.notice("A copied passkey was rejected",
		"A sign-in with a passkey of your account was rejected, because the passkey seems to exist twice.",
		"Check your passkeys", "Remove this passkey and add a new one. If you have not copied it, somebody else may have.")
	p.Facts = append(facts(fact{"Passkey", nameOf(c.Passkey)}), p.Facts...)
	return p
}

func (c SecondFactorChanged) page() page {
	subject, lead := "A second factor was changed", "A second factor of your account was changed."
	switch c.Change {
	case FactorEnabled:
		subject, lead = "Second factor turned on", "From now on, your account asks for a code when you sign in."
	case FactorDisabled:
		subject, lead = "Second factor turned off", "Your account no longer asks for a code when you sign in."
	case PasskeyAdded:
		subject, lead = "A passkey was added", "A passkey was added to your account. Whoever has it can sign in."
	case PasskeyRemoved:
		subject, lead = "A passkey was removed", "A passkey was removed from your account. It no longer signs in."
	}
	p := c.notice(subject, lead, "Check your account", "If that was not you, choose a new password and end all other sessions.")
	p.Facts = append(facts(fact{"Passkey", nameOf(c.Passkey)}), p.Facts...)
	return p
}

func (l LinkSuspended) page() page {
	return l.notice(nameOf(l.Address)+" was suspended",
		"The operator of this service has suspended a link of your workspace. Visitors no longer reach its destination.",
		fact{"Reason", isolated(plain(l.Reason, maxReason))}, "If you think that this is a mistake, write to the operator of this service.")
}

func (l LinkReleased) page() page {
	return l.notice(nameOf(l.Address)+" is no longer suspended",
		"The operator of this service has lifted the suspension of a link of your workspace.",
		fact{"Status", plain(strings.ToLower(l.Status), maxName)}, "The link works as it did before the suspension.")
}

func (c CertificateEnds) page() page {
	host := nameOf(c.Hostname)
	subject, lead := "The certificate of "+host+" ends soon",
		"The certificate of a domain of your workspace ends soon. From then on, browsers show a warning instead of your links."
	if c.Ended {
		subject, lead = "The certificate of "+host+" has ended",
			"The certificate of a domain of your workspace has ended. Browsers show a warning instead of your links."
	}
	advice := "The service tries to renew the certificate, without success so far. Check the DNS records of the domain."
	if c.Uploaded {
		advice = "The certificate was uploaded, so the service cannot renew it. Upload a new one, or delete it and let the service order one."
	}
	return page{
		Subject: subject, Lead: []string{lead}, Link: c.Link, Button: "Open the domain in the console", Foot: []string{advice},
		Facts: facts(fact{"Domain", host}, fact{"Workspace", nameOf(c.Workspace)}, fact{"End", stamp(c.Ends)},
			fact{"Reason", isolated(plain(c.Reason, maxReason))}),
	}
}

func (w WebhooksPaused) page() page {
	const shown = 5
	where, names := nameOf(w.Workspace), []string{}
	for _, name := range w.Webhooks[:min(shown, len(w.Webhooks))] {
		names = append(names, nameOf(name))
	}
	list := strings.Join(names, ", ")
	if more := len(w.Webhooks) - shown; more > 0 {
		list = fmt.Sprintf("%s and %d more", list, more)
	}
	return page{
		Subject: "Webhooks of " + where + " are paused",
		Lead: []string{"A member has left your workspace, or can no longer manage webhooks. The webhooks that this member had made are " +
			"paused: nothing is sent to them."},
		Facts: facts(fact{"Webhooks", list}, fact{"Workspace", where}, fact{"Member", nameOf(w.Member)}, fact{"Time", stamp(w.At)}),
		Link:  w.Link, Button: "Open the webhooks in the console",
		Foot: []string{"If you know where a webhook leads and still need it, turn it on again. Otherwise delete it."},
	}
}

func (w WebhookFails) page() page {
	where, name := nameOf(w.Workspace), nameOf(w.Webhook)
	return page{
		Subject: "The webhook " + name + " is paused",
		Lead: []string{"Nothing could be delivered to a webhook of your workspace for three days. It is paused: new events are not sent to it " +
			"and are lost. Deliveries that still wait are kept for 30 days."},
		Facts: facts(fact{"Webhook", name}, fact{"Workspace", where}, fact{"Failing since", stamp(w.Since)},
			fact{"Last error", isolated(plain(w.Reason, maxReason))}, fact{"Time", stamp(w.At)}),
		Link: w.Link, Button: "Open the webhooks in the console",
		Foot: []string{"When the receiver works again, turn the webhook on, and send the failed deliveries again from its log. If you no longer " +
			"need it, delete it."},
	}
}

func (a Alert) page() page {
	subject := "Alert: " + nameOf(a.Rule)
	foot := "You get this e-mail because a channel of your workspace names your address. Members who manage the workspace can change that."
	if a.Resolved {
		subject = "Resolved: " + nameOf(a.Rule)
	}
	list := facts(fact{"Workspace", nameOf(a.Workspace)}, fact{"Since", stamp(a.At)})
	if a.Links > 1 {
		list = append(list, fact{"Links", fmt.Sprint(a.Links)})
	}
	return page{Subject: subject, Lead: []string{plain(a.Summary, maxReason)}, Facts: list, Link: a.Link, Button: "Open the console",
		Foot: []string{foot}}
}

// notice is the page of a notice about a link. what is the fact that matters.
func (l LinkEvent) notice(subject, lead string, what fact, foot string) page {
	p := page{
		Subject: subject, Lead: []string{lead}, Link: l.Link, Button: "Open the link in the console", Foot: []string{foot},
		Facts: facts(fact{"Link", nameOf(l.Address)}, fact{"Workspace", nameOf(l.Workspace)}, what, fact{"Time", stamp(l.At)}),
	}
	if l.Last {
		p.Foot = append(p.Foot,
			"There are many such changes in your workspace. For an hour, you get no e-mails about further ones. The console shows all "+
				"suspended links.")
	}
	return p
}

// notice is the page of a security notice.
func (e Event) notice(subject, lead, button, advice string) page {
	list := facts(fact{"Time", stamp(e.At)}, fact{"Address", plain(e.IP, maxName)}, fact{"Device", isolated(plain(e.UserAgent, maxAgent))})
	return page{Subject: subject, Lead: []string{lead}, Facts: list, Link: e.Link, Button: button, Foot: []string{advice}}
}

// facts leaves out those without a value.
func facts(list ...fact) (out []fact) {
	for _, f := range list {
		if f.Value != "" && f.Value != unnamed {
			out = append(out, f)
		}
	}
	return out
}

func stamp(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") }

// checkLink returns an error unless the link is a complete address in one line.
func checkLink(link string) error {
	u, err := url.Parse(link)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || plain(link, len(link)) != link ||
		strings.ContainsAny(link, " <>\"") {
		return errors.New("the link is not a complete address") // never the link, which may be secret
	}
	return nil
}
