// Command mailtest is an SMTP server for tests, in a process that can be killed. It writes each e-mail to a file and ends
// when its standard input ends. Tests start it with package shared/testing/mailtest.
//
// It speaks STARTTLS or TLS and requires AUTH if a user is given. On a second port, tests tell it by HTTP how to answer:
// POST /answer with a JSON object (see answer), POST /hang?on=true, and GET /seen for the number of commands so far. Do not
// use it as an example: it keeps everything that anybody sends.
package main

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// answer is how the server responds to a command from now on.
type answer struct {
	Stage string `json:"stage"` // auth, mail, rcpt or data
	To    string `json:"to"`    // only for this recipient; empty means all (rcpt)
	Code  int    `json:"code"`
	Text  string `json:"text"`
	Times int    `json:"times"` // how often; 0 means until the next answer of the stage
}

type server struct {
	dir, user, password string

	mu      sync.Mutex
	answers []answer
	hanging chan struct{} // closed when hanging ends; nil: not hanging
	seen    map[string]int
	mails   int
}

func main() {
	var s server
	listen := flag.String("listen", "127.0.0.1:0", "address of the SMTP server")
	control := flag.String("control", "127.0.0.1:0", "address that tests control the server at")
	security := flag.String("tls", "none", "none, starttls or tls")
	flag.StringVar(&s.dir, "dir", ".", "folder of the e-mails and of the certificate ca.pem")
	flag.StringVar(&s.user, "user", "", "user who must sign in; empty means that nobody needs to")
	flag.StringVar(&s.password, "password", "", "password of the user")
	flag.Parse()
	s.seen = map[string]int{}
	if err := s.run(*listen, *control, *security); err != nil {
		log.Fatal(err)
	}
}

func (s *server) run(listen, control, security string) error {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	c, err := net.Listen("tcp", control)
	if err != nil {
		return err
	}
	mail := smtp.NewServer(smtp.BackendFunc(s.session))
	mail.Domain, mail.AllowInsecureAuth, mail.EnableSMTPUTF8 = "mail.test", security == "none", true
	mail.ReadTimeout, mail.WriteTimeout, mail.MaxMessageBytes = 10*time.Minute, time.Minute, 1<<20
	mail.ErrorLog = log.New(io.Discard, "", 0) // clients that break connections are part of tests
	if security != "none" {
		cert, err := certificate(filepath.Join(s.dir, "ca.pem"))
		if err != nil {
			return err
		}
		cfg := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
		if security == "tls" {
			l = tls.NewListener(l, cfg)
		} else {
			mail.TLSConfig = cfg
		}
	}
	go func() { log.Fatal(mail.Serve(l)) }()
	go func() { log.Fatal(http.Serve(c, s.control())) }() //nolint:gosec // for tests only
	fmt.Printf("%s\n%s\n", l.Addr(), c.Addr())
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

func (s *server) control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /answer", func(w http.ResponseWriter, r *http.Request) {
		var a answer
		if err := json.NewDecoder(r.Body).Decode(&a); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.answers = append([]answer{a}, s.answers...)
	})
	mux.HandleFunc("POST /hang", func(_ http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.hanging != nil {
			close(s.hanging)
			s.hanging = nil
		}
		if r.URL.Query().Get("on") == "true" {
			s.hanging = make(chan struct{})
		}
	})
	mux.HandleFunc("GET /seen", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		_ = json.NewEncoder(w).Encode(s.seen)
	})
	return mux
}

// respond counts a command, waits while the server hangs, and returns the answer to the command.
func (s *server) respond(stage, to string) error {
	s.mu.Lock()
	s.seen[stage]++
	hanging := s.hanging
	s.mu.Unlock()
	if hanging != nil {
		<-hanging
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.answers {
		a := &s.answers[i]
		if a.Stage != stage || a.To != "" && a.To != to || a.Times < 0 {
			continue
		}
		if a.Times > 0 {
			if a.Times--; a.Times == 0 {
				a.Times = -1 // used up
			}
		}
		if a.Code == 0 {
			return nil
		}
		return &smtp.SMTPError{Code: a.Code, EnhancedCode: smtp.EnhancedCode{a.Code / 100, 1, 1}, Message: a.Text}
	}
	return nil
}

func (s *server) session(c *smtp.Conn) (smtp.Session, error) {
	if err := s.respond("connect", ""); err != nil {
		return nil, err
	}
	return &session{server: s, conn: c}, nil
}

// session is one connection.
type session struct {
	*server
	conn   *smtp.Conn
	signed string // user who has signed in
	from   string
	to     []string
}

func (c *session) AuthMechanisms() []string {
	if c.user == "" {
		return nil
	}
	return []string{sasl.Plain}
}

func (c *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if err := c.respond("auth", ""); err != nil {
			return err
		}
		if user != c.user || password != c.password {
			return smtp.ErrAuthFailed
		}
		c.signed = user
		return nil
	}), nil
}

func (c *session) Mail(from string, _ *smtp.MailOptions) error {
	if c.user != "" && c.signed == "" {
		return &smtp.SMTPError{Code: 530, EnhancedCode: smtp.EnhancedCode{5, 7, 0}, Message: "Authentication required"}
	}
	c.from = from
	return c.respond("mail", "")
}

func (c *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if err := c.respond("rcpt", to); err != nil {
		return err
	}
	c.to = append(c.to, to)
	return nil
}

func (c *session) Data(r io.Reader) error {
	body, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if len(c.to) != 1 {
		return errors.New("the server is for e-mails with one recipient")
	}
	if err := c.respond("data", c.to[0]); err != nil {
		return err
	}
	_, secure := c.conn.TLSConnectionState()
	head := fmt.Sprintf("Return-Path: <%s>\r\nDelivered-To: %s\r\nX-Test-TLS: %t\r\nX-Test-User: %s\r\nX-Test-Helo: %s\r\n",
		c.from, c.to[0],
		secure, c.signed, c.conn.Hostname())
	return c.keep(append([]byte(head), body...))
}

func (c *session) Reset() { c.from, c.to = "", nil }

func (c *session) Logout() error { return nil }

// keep writes an e-mail to the next file. Its name sorts after those of earlier e-mails, also of earlier processes.
func (s *server) keep(mail []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mails++
	name := filepath.Join(s.dir, fmt.Sprintf("%019d-%06d.eml", time.Now().UnixNano(), s.mails))
	if err := os.WriteFile(name+".part", mail, 0o600); err != nil {
		return err
	}
	return os.Rename(name+".part", name)
}
