package smtp_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/platform/smtp"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/testing/mailtest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

const secret = "p@ss/w%rd"

func sender(t testing.TB, url string, trust *tls.Config) *smtp.Sender {
	t.Helper()
	s, err := smtp.New(smtp.Settings{URL: config.Secret(url), From: "no-reply@example.com"}, "Shortline", trust)
	testkit.Must(t, err)
	return s
}

func example(to string) smtp.Mail {
	return smtp.Mail{
		ID: "0199-id", To: to, Subject: "Schöne Grüße from Ann", Text: "Hello\nhttps://sho.rt/x?token=secret-token\n", HTML: "<p>Hello</p>",
		Date: time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC),
	}
}

func TestSettings_Validate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ url, from, problem string }{
		{"", "", ""},
		{"smtp://mail.example.com", "a@example.com", ""},
		{"smtps://ann:canary@mail.example.com:465", "Ann Lee <a@example.com>", ""},
		{"smtp://ann:c%40nary@127.0.0.1:25", "a@bücher.example", ""},
		{"smtp://mail.example.com:25?tls=none", "a@example.com", ""},
		{"smtp://[::1]:25?tls=starttls", "a@example.com", ""},
		{"mail.example.com:25", "a@example.com", "SMTP_URL: must"},
		{"http://ann:canary@mail.example.com", "a@example.com", "SMTP_URL: must begin with"},
		{"smtp://ann:canary@x@mail.example.com", "a@example.com", "more than one @"},
		{"smtp://ann:canary%zz@mail.example.com", "a@example.com", "SMTP_URL: must be an address"},
		{"smtp://ann@mail.example.com", "a@example.com", "both a user name and a password"},
		{"smtp://:canary@mail.example.com", "a@example.com", "both a user name and a password"},
		{"smtp://", "a@example.com", "SMTP_URL: must be an address"},
		{"smtp://mail.example.com:0", "a@example.com", "SMTP_URL: the port"},
		{"smtp://mail.example.com:70000", "a@example.com", "SMTP_URL: the port"},
		{"smtp://mail.example.com?tls=maybe", "a@example.com", "tls must be none or starttls"},
		{"smtps://mail.example.com?tls=none", "a@example.com", "tls must be none or starttls"},
		{"smtp://mail.example.com?canary=1", "a@example.com", "knows no parameter but tls"},
		{"smtp://mail.example.com/canary", "a@example.com", "must end after the port"},
		{"smtp://mail.example.com", "", "MAIL_FROM: is required"},
		{"smtp://mail.example.com", "nobody", "MAIL_FROM: must be an e-mail address"},
		{"smtp://mail.example.com", "a@example.com\r\nBcc: b@example.com", "MAIL_FROM: must be an e-mail address"},
		{"smtp://mail.example.com", "a@exa mple.com", "MAIL_FROM: must be an e-mail address"},
	} {
		err := smtp.Settings{URL: config.Secret(c.url), From: c.from}.Validate()
		switch {
		case c.problem == "" && err != nil, c.problem != "" && (err == nil || !strings.Contains(err.Error(), c.problem)):
			t.Errorf("%q, %q: %v, want %q", c.url, c.from, err, c.problem)
		case err != nil && strings.Contains(err.Error(), "canary"):
			t.Errorf("%q: the error shows the address: %v", c.url, err)
		}
	}
}

func TestSender_Send(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		cfg  mailtest.Config
	}{
		{"plain on a loopback address", mailtest.Config{}},
		{"plain with a password", mailtest.Config{User: "ann", Password: secret}},
		{"STARTTLS with a password", mailtest.Config{TLS: "starttls", User: "ann", Password: secret}},
		{"TLS with a password", mailtest.Config{TLS: "tls", User: "ann", Password: secret}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := mailtest.StartWith(t, c.cfg)
			testkit.Must(t, sender(t, server.URL(), server.ClientTLS()).Send(t.Context(), example("bob@example.com")))
			m := server.Wait(t, "bob@example.com")
			if m.TLS != (c.cfg.TLS != "") || m.User != c.cfg.User {
				t.Errorf("encrypted %t, user %q", m.TLS, m.User)
			}
			if m.Subject != "Schöne Grüße from Ann" || m.Text != "Hello\nhttps://sho.rt/x?token=secret-token\n" ||
				m.HTML != "<p>Hello</p>" ||
				m.From != "no-reply@example.com" {
				t.Errorf("%+v", m)
			}
			for name, want := range map[string]string{
				"From": `"Shortline" <no-reply@example.com>`, "To": "<bob@example.com>", "Auto-Submitted": "auto-generated",
				"X-Auto-Response-Suppress": "All",
				"Message-Id":               "<0199-id@example.com>", "Date": "Sun, 22 Nov 2026 10:00:00 +0000",
			} {
				if got := m.Header[name]; len(got) != 1 || got[0] != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			if m.Helo != "example.com" {
				t.Errorf("HELO %q", m.Helo)
			}
		})
	}
}

// A server on another machine must not get a password, or a link, without TLS.
func TestSender_requires_TLS(t *testing.T) {
	t.Parallel()
	plain := mailtest.StartWith(t, mailtest.Config{User: "ann", Password: secret})
	url := plain.URL() + "?tls=starttls"
	if err := sender(t, url, nil).Send(t.Context(), example("bob@example.com")); err == nil || plain.Seen("auth") != 0 {
		t.Errorf("without STARTTLS: %v, %d sign-ins", err, plain.Seen("auth"))
	}
	for _, mode := range []string{"starttls", "tls"} {
		untrusted := mailtest.StartWith(t, mailtest.Config{TLS: mode, User: "ann", Password: secret})
		err := sender(t, untrusted.URL(), nil).Send(t.Context(), example("bob@example.com"))
		if err == nil || !strings.Contains(err.Error(), "certificate") || untrusted.Seen("auth") != 0 {
			t.Errorf("%s with an unknown certificate: %v, %d sign-ins", mode, err, untrusted.Seen("auth"))
		}
	}
}

func TestSender_Send_errors(t *testing.T) {
	t.Parallel()
	server := mailtest.StartWith(t, mailtest.Config{TLS: "starttls", User: "ann", Password: "canary-password"})
	good := sender(t, server.URL(), server.ClientTLS())
	for _, c := range []struct {
		name      string
		answer    mailtest.Answer
		to        string
		stage     string
		permanent bool
	}{
		{"unknown recipient", mailtest.Answer{Stage: "rcpt", Code: 550, Text: "<bob@example.com>: unknown"}, "bob@example.com",
			"recipient", true},
		{"busy", mailtest.Answer{Stage: "rcpt", Code: 451, Text: "greylisted"}, "bob@example.com", "recipient", false},
		{"sign in first", mailtest.Answer{Stage: "rcpt", Code: 530, Text: "sign in"}, "bob@example.com", "recipient", false},
		{"rejected content",
			mailtest.Answer{Stage: "data", Code: 554, Text: "blocked https://sho.rt/x?token=secret-token for bob@example.com"},
			"bob@example.com", "content", true},
		{"full disk", mailtest.Answer{Stage: "data", Code: 452, Text: "no space"}, "bob@example.com", "content", false},
		{"sender not allowed", mailtest.Answer{Stage: "mail", Code: 553, Text: "not yours"}, "bob@example.com", "sender", false},
		{"password is rejected", mailtest.Answer{Stage: "auth", Code: 535, Text: "wrong canary-password"}, "bob@example.com",
			"connect", false},
		{"not an address", mailtest.Answer{}, "bob", "recipient", true},
		{"injection", mailtest.Answer{}, "bob@example.com>\r\nRCPT TO:<eve@example.com", "recipient", true},
	} {
		c.answer.Times = 1
		server.Answer(c.answer)
		err := good.Send(t.Context(), example(c.to))
		var e *smtp.Error
		if !errors.As(err, &e) || e.Stage != c.stage || e.Permanent != c.permanent || e.Code != c.answer.Code {
			t.Errorf("%s: %#v", c.name, err)
			continue
		}
		for _, leak := range []string{"canary", "secret-token", "bob@", "ann"} {
			if strings.Contains(err.Error(), leak) {
				t.Errorf("%s: the error contains %q: %v", c.name, leak, err)
			}
		}
	}
	if list := server.All(t, ""); len(list) != 0 {
		t.Fatalf("%d e-mails were accepted", len(list))
	}
	testkit.Must(t, good.Send(t.Context(), example("bob@bücher.example"))) // nothing of the above remains
	server.Wait(t, "bob@xn--bcher-kva.example")
}

func TestSender_Send_ends_with_its_context(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"none", "tls"} {
		server := mailtest.StartWith(t, mailtest.Config{TLS: mode})
		server.Hang(true)
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		began := time.Now()
		var e *smtp.Error
		if err := sender(t, server.URL(), server.ClientTLS()).Send(ctx, example("bob@example.com")); !errors.As(err, &e) || e.Permanent {
			t.Errorf("%v", err)
		}
		testkit.Within(t, 10*time.Second, began, "giving up on a silent server")
	}
}

// The server has accepted the e-mail as soon as it says so. A connection that breaks afterwards must not repeat it.
func TestSender_Send_accepted_before_the_connection_breaks(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		in := textproto.NewReader(bufio.NewReader(conn))
		say := func(line string) { _, _ = conn.Write([]byte(line + "\r\n")) }
		say("220 mail.test")
		for {
			line, err := in.ReadLine()
			switch {
			case err != nil:
				return
			case line == "DATA":
				say("354 go on")
				_, _ = in.ReadDotBytes()
				say("250 accepted")
				return
			default:
				say("250 mail.test")
			}
		}
	}()
	testkit.Must(t, sender(t, "smtp://"+l.Addr().String(), nil).Send(t.Context(), example("bob@example.com")))
}
