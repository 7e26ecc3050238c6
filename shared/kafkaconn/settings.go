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

// Settings have the connection to Kafka and the requirements for the topic of clicks. Brokers and Topic are required. A
// program's settings nest this struct, and its Validate calls Settings.Validate.
type Settings struct {
	Brokers []string `env:"KAFKA_BROKERS" help:"host:port of some brokers, separated by commas; the others are discovered"`
	Topic   string   `env:"KAFKA_TOPIC" envDefault:"shortline.clicks" help:"topic for clicks"`
	// Conversions is a topic of its own, because other programs may read clicks only.
	Conversions string `env:"KAFKA_CONVERSIONS_TOPIC" envDefault:"shortline.conversions" help:"topic for conversions"`
	Prefix      string `env:"KAFKA_PREFIX" help:"prefix for the names of the topics and the consumer groups, such as blue-, so that several fleets can share one Kafka; must be the same at every edge and control plane"`

	TLS      bool   `env:"KAFKA_TLS" envDefault:"false" help:"encrypt connections to the brokers"`
	CAFile   string `env:"KAFKA_CA_FILE" help:"CA certificates for verifying brokers (PEM); empty means the system's"`
	CertFile string `env:"KAFKA_CERT_FILE" help:"client certificate (PEM), read again for each connection"`
	KeyFile  string `env:"KAFKA_KEY_FILE" help:"key of the client certificate (PEM)"`

	Mechanism string        `env:"KAFKA_SASL_MECHANISM" help:"SASL mechanism: PLAIN (only with KAFKA_TLS), SCRAM-SHA-256 or SCRAM-SHA-512; empty disables authentication"`
	Username  string        `env:"KAFKA_USERNAME" help:"user name"`
	Password  config.Secret `env:"KAFKA_PASSWORD" help:"password"`

	CreateTopic bool `env:"KAFKA_CREATE_TOPIC" envDefault:"true" help:"create the topic if it is missing"`
	Partitions  int  `env:"KAFKA_PARTITIONS" envDefault:"12" help:"number of partitions of a created topic: the maximum number of programs that can read in parallel"`
}

const (
	maxPartitions    = 10_000
	mechanismPlain   = "PLAIN"
	mechanismSHA256  = "SCRAM-SHA-256"
	mechanismSHA512  = "SCRAM-SHA-512"
	mechanismsToName = "PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512"
)

var topicName = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,249}$`)

// FullTopic returns the topic's name in Kafka.
func (s Settings) FullTopic() string { return s.Prefix + s.Topic }

// ForConversions returns the settings for the topic of conversions: FullTopic is that topic's name.
func (s Settings) ForConversions() Settings {
	s.Topic, s.Conversions = s.Conversions, ""
	return s
}

// Message headers that name the edge (click.Origin).
const (
	HeaderEdge   = "shortline-edge-name"
	HeaderRegion = "shortline-edge-region"
)

// Validate reports all invalid settings by their names in the environment. It reads the certificate files, but does not
// connect.
func (s Settings) Validate() error {
	var problems []error
	refuse := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if len(s.Brokers) == 0 {
		refuse("KAFKA_BROKERS: must not be empty")
	}
	for _, b := range s.Brokers {
		if host, port, err := net.SplitHostPort(b); err != nil || host == "" || port == "" {
			refuse("KAFKA_BROKERS: %q is not host:port", b)
		}
	}
	switch {
	case s.Topic == "":
		refuse("KAFKA_TOPIC: must not be empty")
	case s.Prefix != "" && !topicName.MatchString(s.Prefix):
		refuse("KAFKA_PREFIX: %q: a prefix may contain letters, digits, dots, hyphens and underscores", s.Prefix)
	case len(s.FullTopic()) > 249:
		refuse("KAFKA_PREFIX: KAFKA_PREFIX and KAFKA_TOPIC together must have at most 249 characters")
	case !topicName.MatchString(s.Topic) || strings.Trim(s.Topic, ".") == "":
		refuse("KAFKA_TOPIC: %q: a topic has up to 249 letters, digits, dots, hyphens and underscores", s.Topic)
	}
	switch {
	case s.Conversions == "": // the settings of one topic only
	case s.Conversions == s.Topic:
		refuse("KAFKA_CONVERSIONS_TOPIC: must differ from KAFKA_TOPIC")
	case len(s.Prefix+s.Conversions) > 249 || !topicName.MatchString(s.Conversions) || strings.Trim(s.Conversions, ".") == "":
		refuse("KAFKA_CONVERSIONS_TOPIC: %q: a topic has up to 249 letters, digits, dots, hyphens and underscores, with KAFKA_PREFIX",
			s.Conversions)
	}
	if !s.TLS && (s.CAFile != "" || s.CertFile != "" || s.KeyFile != "") {
		refuse("KAFKA_TLS: must be true, because certificates are set that only TLS uses")
	}
	if _, err := s.tls(); err != nil {
		problems = append(problems, err)
	}
	switch s.Mechanism {
	case "":
		if s.Username != "" || s.Password != "" {
			refuse("KAFKA_SASL_MECHANISM: must be set if a user name or password is set: %s", mechanismsToName)
		}
	case mechanismPlain, mechanismSHA256, mechanismSHA512:
		if s.Username == "" {
			refuse("KAFKA_USERNAME: must be set for %s", s.Mechanism)
		}
		if s.Password == "" {
			refuse("KAFKA_PASSWORD: must be set for %s", s.Mechanism)
		}
		if s.Mechanism == mechanismPlain && !s.TLS {
			refuse("KAFKA_SASL_MECHANISM: PLAIN sends the password unencrypted: set KAFKA_TLS, or use SCRAM-SHA-512")
		}
	default:
		refuse("KAFKA_SASL_MECHANISM: %q is not one of %s", s.Mechanism, mechanismsToName)
	}
	if s.Partitions < 0 || s.Partitions > maxPartitions {
		refuse("KAFKA_PARTITIONS: %d is not between 1 and %d", s.Partitions, maxPartitions)
	}
	return errors.Join(problems...)
}

// tls returns nil without TLS.
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
			return nil, fmt.Errorf("KAFKA_CA_FILE: %s contains no PEM certificate", s.CAFile)
		}
	}
	if s.CertFile == "" && s.KeyFile == "" {
		return c, nil
	}
	if s.CertFile == "" || s.KeyFile == "" {
		return nil, errors.New("KAFKA_CERT_FILE and KAFKA_KEY_FILE: both must be set, or neither")
	}
	if _, err := tls.LoadX509KeyPair(s.CertFile, s.KeyFile); err != nil {
		return nil, fmt.Errorf("KAFKA_CERT_FILE and KAFKA_KEY_FILE: %w", err)
	}
	// Certificates may be renewed while a program runs.
	c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(s.CertFile, s.KeyFile)
		return &pair, err
	}
	return c, nil
}

// sasl returns nil without authentication.
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

// named removes the library's error, because it may quote part of a password.
func named(m sasl.Mechanism, err error) (sasl.Mechanism, error) {
	if err != nil {
		return nil, errors.New("KAFKA_USERNAME or KAFKA_PASSWORD: contains characters that are not allowed")
	}
	return m, nil
}
