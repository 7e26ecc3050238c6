// Package smtp hands e-mails to an SMTP server.
//
// A Sender opens a connection for each e-mail. It reports whether an error is permanent, so that the caller knows whether
// another attempt makes sense. Errors contain neither addresses nor the password nor links.
package smtp

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	netmail "net/mail"
	"net/textproto"
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/wneessen/go-mail"
)

// Timeout is the maximum duration of Send.
const Timeout = 30 * time.Second

// Mail is a complete e-mail to one recipient.
type Mail struct {
	ID      string // the same in every attempt; becomes the left side of the Message-ID
	To      string // address without a name
	Subject string // one line
	Text    string
	HTML    string
	Date    time.Time
	// Inline are pictures that the HTML part shows.
	Inline []Inline
	// Unsubscribe is an address that ends such e-mails when it is sent a POST (RFC 8058); "" for none.
	Unsubscribe string
}

// Inline is a picture in an e-mail.
type Inline struct {
	ID   string `json:"id"` // the HTML part shows cid:ID
	Name string `json:"name"`
	PNG  []byte `json:"png"`
}

// Error is an e-mail that the server did not accept.
type Error struct {
	// Permanent means that the server has rejected this recipient or this content with a 5xx response, or that the address
	// is invalid. Everything else can change: also a wrong password or a wrong sender, which the operator can correct.
	Permanent bool
	// Stage is the step that failed: connect, sender, recipient or content.
	Stage string
	Code  int // SMTP response code; 0 if the server did not answer
	text  string
}

// Error implements error. The text holds no address, no link and no password.
func (e *Error) Error() string { return e.Stage + ": " + e.text }

// Sender sends e-mails through one server. It is safe for concurrent use.
type Sender struct {
	server server
	from   *netmail.Address
	domain string
	tls    *tls.Config
}

// New returns a sender, or an error with every problem of the settings. name is the sender's name if MAIL_FROM has none.
// base is the TLS configuration, for instance with the roots of a private CA; nil means the default.
func New(s Settings, name string, base *tls.Config) (*Sender, error) {
	to, errServer := parseServer(s.URL.Reveal())
	from, errFrom := parseFrom(s.From)
	if err := errors.Join(errServer, errFrom); err != nil {
		return nil, err
	}
	from.Name = cmp.Or(from.Name, name)
	if base == nil {
		base = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	base = base.Clone()
	base.ServerName = to.host
	return &Sender{server: to, from: from, domain: from.Address[strings.LastIndexByte(from.Address, '@')+1:], tls: base}, nil
}

// Send hands an e-mail to the server. A nil error means that the server has taken responsibility. Any other error is
// *Error. After a lost connection the server may have accepted the e-mail all the same.
func (s *Sender) Send(ctx context.Context, m Mail) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	msg, err := s.compose(m)
	if err != nil {
		return &Error{Permanent: true, Stage: "recipient", text: "not a valid address"}
	}
	client, err := s.client(ctx)
	if err != nil {
		return s.failed(0, err)
	}
	if err := client.DialWithContext(ctx); err != nil {
		var answer *textproto.Error // such as that to a wrong password
		if errors.As(err, &answer) {
			return s.failed(answer.Code, err)
		}
		return s.failed(0, err)
	}
	err = client.Send(msg)
	// A failing QUIT changes nothing. Neither does a failing RSET after the server has accepted the e-mail.
	_ = client.Close()
	if err == nil || msg.IsDelivered() {
		return nil
	}
	var se *mail.SendError
	if !errors.As(err, &se) {
		return s.failed(0, err)
	}
	out := s.failed(se.ErrorCode(), err)
	switch se.Reason {
	case mail.ErrGetSender, mail.ErrSMTPMailFrom:
		out.Stage = "sender"
	case mail.ErrGetRcpts:
		out.Stage, out.Permanent = "recipient", true
	case mail.ErrSMTPRcptTo:
		out.Stage, out.Permanent = "recipient", out.Code >= 500 && out.Code != 530 // 530: sign in first
	case mail.ErrSMTPData, mail.ErrSMTPDataClose, mail.ErrWriteContent:
		out.Stage, out.Permanent = "content", out.Code >= 500
	}
	return out
}

func (s *Sender) compose(m Mail) (*mail.Msg, error) {
	to, err := ascii(m.To)
	if err != nil {
		return nil, err
	}
	msg := mail.NewMsg(mail.WithNoDefaultUserAgent())
	if err := msg.FromFormat(s.from.Name, s.from.Address); err != nil {
		return nil, err
	}
	if err := msg.To(to); err != nil {
		return nil, err
	}
	msg.Subject(m.Subject)
	msg.SetDateWithValue(m.Date)
	msg.SetMessageIDWithValue(m.ID + "@" + s.domain)
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // so that no autoresponder answers (RFC 3834)
	msg.SetGenHeader("X-Auto-Response-Suppress", "All")  // the same for Exchange
	if m.Unsubscribe != "" {
		msg.SetGenHeader("List-Unsubscribe", "<"+m.Unsubscribe+">")
		msg.SetGenHeader("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")
	}
	msg.SetBodyString(mail.TypeTextPlain, m.Text)
	msg.AddAlternativeString(mail.TypeTextHTML, m.HTML)
	for _, one := range m.Inline {
		if err := msg.EmbedReader(one.Name, bytes.NewReader(one.PNG), mail.WithFileContentID(one.ID),
			mail.WithFileContentType("image/png")); err != nil {
			return nil, err
		}
	}
	return msg, nil
}

// client returns a client for one connection, which is closed as soon as ctx ends: go-mail watches a context only until it
// is connected.
func (s *Sender) client(ctx context.Context) (*mail.Client, error) {
	var dialer interface {
		DialContext(ctx context.Context, network, address string) (net.Conn, error)
	} = &net.Dialer{}
	var security mail.Option
	switch s.server.security {
	case startTLS:
		security = mail.WithTLSPolicy(mail.TLSMandatory)
	case allTLS:
		security, dialer = mail.WithSSL(), &tls.Dialer{Config: s.tls}
	case noTLS:
		security = mail.WithTLSPolicy(mail.NoTLS)
	}
	options := []mail.Option{
		mail.WithPort(s.server.port), mail.WithTimeout(Timeout), mail.WithHELO(s.domain), mail.WithTLSConfig(s.tls),
		mail.WithoutNoop(), security,
		mail.WithDialContextFunc(func(_ context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			if err == nil {
				context.AfterFunc(ctx, func() { conn.Close() })
			}
			return conn, err
		}),
	}
	if s.server.user != "" {
		// With TLS, PLAIN comes first, because servers also offer mechanisms for which they lack the users' keys.
		mechanisms := []mail.SMTPAuthType{mail.SMTPAuthPlain, mail.SMTPAuthLogin, mail.SMTPAuthSCRAMSHA256, mail.SMTPAuthSCRAMSHA1,
			mail.SMTPAuthCramMD5}
		if s.server.security == noTLS {
			mechanisms = []mail.SMTPAuthType{mail.SMTPAuthSCRAMSHA256, mail.SMTPAuthSCRAMSHA1, mail.SMTPAuthCramMD5,
				mail.SMTPAuthPlainNoEnc,
				mail.SMTPAuthLoginNoEnc}
		}
		options = append(options, mail.WithOpportunisticSMTPAuth(mechanisms...), mail.WithUsername(s.server.user),
			mail.WithPassword(s.server.password))
	}
	return mail.NewClient(s.server.host, options...)
}

// failed returns an error of the step "connect". Send replaces the step if the server rejected a later one.
func (s *Sender) failed(code int, err error) *Error {
	return &Error{Stage: "connect", Code: code, text: s.redact(err)}
}

var (
	// Servers quote links and addresses in their responses. Links can work once, and addresses belong to people.
	links     = regexp.MustCompile(`(?i)https?:\S*`)
	addresses = regexp.MustCompile(`[^\s<>]+@[^\s<>]+`)
)

const maxText = 200 // characters of an error

// redact returns the text of an error without secrets and addresses, in one line.
func (s *Sender) redact(err error) string {
	text := err.Error()
	if strings.Contains(text, "use of closed network connection") {
		text = "no response in time"
	}
	for _, secret := range []string{s.server.password, s.server.user} {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "(secret)")
		}
	}
	text = addresses.ReplaceAllString(links.ReplaceAllString(text, "(link)"), "(address)")
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	text, _, _ = strings.Cut(text, ", affected ")
	if short := []rune(text); len(short) > maxText {
		text = string(short[:maxText])
	}
	return text
}
