package kafkaconn

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"strings"

	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"

	"github.com/shortline/shortline/shared/config"
)

// Settings say how to reach Kafka, and what the topic of clicks is to be like. Brokers and Topic are required; a
// program's settings nest the struct, and its own Validate calls that of the struct.
type Settings struct {
	Brokers []string `env:"KAFKA_BROKERS" help:"host:port of some brokers, with commas between them; the others are found by them"`
	Topic   string   `env:"KAFKA_TOPIC" envDefault:"shortline.clicks" help:"the topic of clicks"`
	Prefix  string   `env:"KAFKA_PREFIX" help:"put before the names of the topic and of consumer groups, so that several fleets can share one Kafka, such as blue-; the same at every edge and control plane"`

	TLS      bool   `env:"KAFKA_TLS" envDefault:"false" help:"encrypts connections to the brokers"`
	CAFile   string `env:"KAFKA_CA_FILE" help:"certificates of the authorities that brokers are believed by (PEM); empty means the system's"`
	CertFile string `env:"KAFKA_CERT_FILE" help:"certificate to show to brokers (PEM), read anew for each connection"`
	KeyFile  string `env:"KAFKA_KEY_FILE" help:"its key (PEM)"`

	Mechanism string        `env:"KAFKA_SASL_MECHANISM" help:"how to sign in: PLAIN (with KAFKA_TLS only), SCRAM-SHA-256 or SCRAM-SHA-512; empty means not at all"`
	Username  string        `env:"KAFKA_USERNAME" help:"who signs in"`
	Password  config.Secret `env:"KAFKA_PASSWORD" help:"and with which password"`

	CreateTopic bool `env:"KAFKA_CREATE_TOPIC" envDefault:"true" help:"makes the topic if it is missing"`
	Partitions  int  `env:"KAFKA_PARTITIONS" envDefault:"12" help:"partitions of a topic that is made: as many programs can share the reading"`
}

const (
	maxPartitions    = 10_000
	mechanismPlain   = "PLAIN"
	mechanismSHA256  = "SCRAM-SHA-256"
	mechanismSHA512  = "SCRAM-SHA-512"
	mechanismsToName = "PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512"
)

var topicName = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,249}$`)

// FullTopic is the topic's name in Kafka.
func (s Settings) FullTopic() string { return s.Prefix + s.Topic }

// The headers of a message that say which edge it comes from (click.Origin).
const (
	HeaderEdge   = "shortline-edge-name"
	HeaderRegion = "shortline-edge-region"
)

// Validate reports every setting that makes no sense, by its name in the environment. It reads the files of
// certificates and connects to nobody.
func (s Settings) Validate() error {
	var problems []error
	refuse := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if len(s.Brokers) == 0 {
		refuse("KAFKA_BROKERS: no brokers are given")
	}
	for _, b := range s.Brokers {
		if host, port, err := net.SplitHostPort(b); err != nil || host == "" || port == "" {
			refuse("KAFKA_BROKERS: %q is not host:port", b)
		}
	}
	switch {
	case s.Topic == "":
		refuse("KAFKA_TOPIC: no topic is given")
	case s.Prefix != "" && !topicName.MatchString(s.Prefix):
		refuse("KAFKA_PREFIX: %q: a prefix is made of letters, digits, dots, hyphens and underlines", s.Prefix)
	case len(s.FullTopic()) > 249:
		refuse("KAFKA_PREFIX: with KAFKA_TOPIC it has more than 249 characters")
	case !topicName.MatchString(s.Topic) || strings.Trim(s.Topic, ".") == "":
		refuse("KAFKA_TOPIC: %q: a topic is called by up to 249 letters, digits, dots, hyphens and underlines", s.Topic)
	}
	if !s.TLS && (s.CAFile != "" || s.CertFile != "" || s.KeyFile != "") {
		refuse("KAFKA_TLS: is not true, and certificates are given that only TLS uses")
	}
	if _, err := s.tls(); err != nil {
		problems = append(problems, err)
	}
	switch s.Mechanism {
	case "":
		if s.Username != "" || s.Password != "" {
			refuse("KAFKA_SASL_MECHANISM: a user is given, but not how to sign in: %s", mechanismsToName)
		}
	case mechanismPlain, mechanismSHA256, mechanismSHA512:
		if s.Username == "" {
			refuse("KAFKA_USERNAME: %s needs a name", s.Mechanism)
		}
		if s.Password == "" {
			refuse("KAFKA_PASSWORD: %s needs a password", s.Mechanism)
		}
		if s.Mechanism == mechanismPlain && !s.TLS {
			refuse("KAFKA_SASL_MECHANISM: PLAIN shows the password to whoever is on the way: set KAFKA_TLS, or use SCRAM-SHA-512")
		}
	default:
		refuse("KAFKA_SASL_MECHANISM: %q is none of %s", s.Mechanism, mechanismsToName)
	}
	if s.Partitions < 0 || s.Partitions > maxPartitions {
		refuse("KAFKA_PARTITIONS: %d is not from 1 to %d", s.Partitions, maxPartitions)
	}
	return errors.Join(problems...)
}

// tls is nil without TLS.
func (s Settings) tls() (*tls.Config, error) {
	if !s.TLS {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if s.CAFile != "" {
		text, err := os.ReadFile(s.CAFile)
		if err != nil {
			return nil, fmt.Errorf("KAFKA_CA_FILE: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("KAFKA_CA_FILE: %s holds no certificate in PEM", s.CAFile)
		}
	}
	if s.CertFile == "" && s.KeyFile == "" {
		return c, nil
	}
	if s.CertFile == "" || s.KeyFile == "" {
		return nil, errors.New("KAFKA_CERT_FILE and KAFKA_KEY_FILE: one is nothing without the other")
	}
	if _, err := tls.LoadX509KeyPair(s.CertFile, s.KeyFile); err != nil {
		return nil, fmt.Errorf("KAFKA_CERT_FILE and KAFKA_KEY_FILE: %w", err)
	}
	// Certificates are renewed while programs run.
	c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(s.CertFile, s.KeyFile)
		return &pair, err
	}
	return c, nil
}

// sasl is nil without signing in.
func (s Settings) sasl() (sasl.Mechanism, error) {
	switch s.Mechanism {
	case mechanismPlain:
		return plain.Mechanism{Username: s.Username, Password: s.Password.Reveal()}, nil
	case mechanismSHA256:
		return named(scram.Mechanism(scram.SHA256, s.Username, s.Password.Reveal()))
	case mechanismSHA512:
		return named(scram.Mechanism(scram.SHA512, s.Username, s.Password.Reveal()))
	}
	return nil, nil
}

// named drops what the library's error may quote of a password.
func named(m sasl.Mechanism, err error) (sasl.Mechanism, error) {
	if err != nil {
		return nil, errors.New("KAFKA_USERNAME or KAFKA_PASSWORD: has characters that can't be signed in with")
	}
	return m, nil
}
