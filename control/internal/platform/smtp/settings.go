package smtp

import (
	"cmp"
	"errors"
	"net/mail"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"

	"github.com/shortline/shortline/shared/config"
)

// Settings are the settings of operators. Without URL no mail is sent.
type Settings struct {
	URL  config.Secret `env:"SMTP_URL" help:"SMTP server for e-mail: smtp://user:password@host:587 (STARTTLS) or smtps://host:465 (TLS); ?tls=none allows smtp without TLS, which is the default for loopback addresses only; empty sends no e-mail"`
	From string        `env:"MAIL_FROM" help:"sender of e-mail, such as Shortline <no-reply@example.com>; required with SMTP_URL"`
}

// Enabled reports whether a server is configured.
func (s Settings) Enabled() bool { return s.URL != "" }

// Validate reports every problem. The error does not contain the address of the server.
func (s Settings) Validate() error {
	if !s.Enabled() {
		return nil // MAIL_FROM alone does no harm
	}
	_, errServer := parseServer(s.URL.Reveal())
	_, errFrom := parseFrom(s.From)
	return errors.Join(errServer, errFrom)
}

// security says how a connection is protected.
type security int

const (
	startTLS security = iota // a plain connection that must switch to TLS
	allTLS                   // TLS from the first byte
	noTLS
)

// server is a parsed SMTP_URL.
type server struct {
	host           string
	port           int
	user, password string
	security       security
}

// parseServer parses SMTP_URL. Its errors must not contain the address, because it can hold a password.
func parseServer(text string) (s server, err error) {
	if strings.Count(text, "@") > 1 {
		return s, errors.New("SMTP_URL: contains more than one @; write @ in a user name or password as %40")
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Hostname() == "" {
		return s, errors.New(
			"SMTP_URL: must be an address such as smtp://user:password@mail.example.com:587; write special characters of the password as in " +
				"%40 for @")
	}
	s.host = u.Hostname()
	port := u.Port()
	switch u.Scheme {
	case "smtp":
		if loopback(s.host) {
			s.security = noTLS
		}
		port = cmp.Or(port, "587")
	case "smtps":
		s.security = allTLS
		port = cmp.Or(port, "465")
	default:
		return s, errors.New("SMTP_URL: must begin with smtp:// or smtps://")
	}
	if strings.Trim(u.Path, "/") != "" || u.Fragment != "" {
		return s, errors.New("SMTP_URL: must end after the port, apart from ?tls=")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return s, errors.New("SMTP_URL: the part after ? cannot be read")
	}
	for name := range query {
		if name != "tls" {
			return s, errors.New("SMTP_URL: knows no parameter but tls")
		}
	}
	switch mode := query.Get("tls"); {
	case !query.Has("tls"):
	case u.Scheme == "smtp" && mode == "none":
		s.security = noTLS
	case u.Scheme == "smtp" && mode == "starttls":
		s.security = startTLS
	default:
		return s, errors.New("SMTP_URL: tls must be none or starttls, with smtp:// only")
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return s, errors.New("SMTP_URL: the port must be a number from 1 to 65535")
	}
	s.port = int(n)
	if u.User != nil {
		var given bool
		s.user = u.User.Username()
		if s.password, given = u.User.Password(); s.user == "" || !given || s.password == "" {
			return s, errors.New("SMTP_URL: must have both a user name and a password before the @, or neither")
		}
	}
	return s, nil
}

func loopback(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.IsLoopback()
	}
	return strings.EqualFold(host, "localhost")
}

func parseFrom(text string) (*mail.Address, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("MAIL_FROM: is required with SMTP_URL")
	}
	a, err := mail.ParseAddress(text)
	if err == nil && !slices.ContainsFunc([]byte(text), func(c byte) bool { return c < ' ' || c == 0x7f }) {
		if a.Address, err = ascii(a.Address); err == nil {
			return a, nil
		}
	}
	return nil, errors.New("MAIL_FROM: must be an e-mail address such as no-reply@example.com or Shortline <no-reply@example.com>")
}

// ascii writes the domain of an address in ASCII, because most servers know only that form.
func ascii(address string) (string, error) {
	at := strings.LastIndexByte(address, '@')
	if at < 1 {
		return "", errors.New("not an e-mail address")
	}
	domain, err := idna.Lookup.ToASCII(address[at+1:])
	if err != nil || domain == "" {
		return "", errors.New("not an e-mail address: its domain is not valid")
	}
	return address[:at+1] + domain, nil
}
