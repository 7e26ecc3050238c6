package kafkaconn_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/kafkaconn"
	"github.com/shortline/shortline/shared/testing/kafkatest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func TestSettings_names_every_problem(t *testing.T) {
	t.Parallel()
	var good kafkaconn.Settings
	testkit.Must(t, config.LoadFrom(&good, map[string]string{"KAFKA_BROKERS": "a:1,b:2"}))
	if good.Topic != "shortline.clicks" || good.Partitions != 12 || !good.CreateTopic || len(good.Brokers) != 2 {
		t.Errorf("%+v", good)
	}
	junk := filepath.Join(t.TempDir(), "junk")
	testkit.Must(t, os.WriteFile(junk, []byte("junk"), 0o600))
	for _, c := range []struct {
		change func(*kafkaconn.Settings)
		want   []string
	}{
		{func(s *kafkaconn.Settings) { s.Brokers, s.Topic, s.Partitions = nil, "", -1 },
			[]string{"KAFKA_BROKERS", "KAFKA_TOPIC", "KAFKA_PARTITIONS"}},
		{func(s *kafkaconn.Settings) { s.Brokers, s.Topic = []string{"kafka"}, "a topic" }, []string{"KAFKA_BROKERS", "KAFKA_TOPIC"}},
		{func(s *kafkaconn.Settings) { s.Topic = ".." }, []string{"KAFKA_TOPIC"}},
		{func(s *kafkaconn.Settings) { s.CAFile = junk }, []string{"KAFKA_TLS"}},
		{func(s *kafkaconn.Settings) { s.TLS, s.CAFile = true, junk }, []string{"KAFKA_CA_FILE"}},
		{func(s *kafkaconn.Settings) { s.TLS, s.CertFile = true, junk }, []string{"KAFKA_KEY_FILE"}},
		{func(s *kafkaconn.Settings) { s.TLS, s.CertFile, s.KeyFile = true, junk, junk }, []string{"KAFKA_CERT_FILE"}},
		{func(s *kafkaconn.Settings) { s.Username = "u" }, []string{"KAFKA_SASL_MECHANISM"}},
		{func(s *kafkaconn.Settings) { s.Mechanism = "GSSAPI" }, []string{"KAFKA_SASL_MECHANISM"}},
		{func(s *kafkaconn.Settings) { s.Mechanism = "PLAIN" }, []string{"KAFKA_USERNAME", "KAFKA_PASSWORD", "KAFKA_TLS"}},
	} {
		s := good
		c.change(&s)
		err := s.Validate()
		for _, name := range c.want {
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s is not named in %v", name, err)
			}
		}
		if _, err := kafkaconn.Open(s, "test", time.Second); err == nil {
			t.Errorf("Open takes %+v", s)
		}
	}
}

// authority signs certificates.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, dir: t.TempDir()}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	testkit.Must(t, err)
	a.key = key
	a.cert = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	a.write("ca", a.cert, key)
	return a
}

// write signs a certificate and returns the paths of the certificate and its key.
func (a *authority) write(name string, c *x509.Certificate, key *ecdsa.PrivateKey) (cert, pk string) {
	der, err := x509.CreateCertificate(rand.Reader, c, a.cert, &key.PublicKey, a.key)
	testkit.Must(a.t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	testkit.Must(a.t, err)
	cert, pk = filepath.Join(a.dir, name+".pem"), filepath.Join(a.dir, name+".key")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, pk: {Type: "PRIVATE KEY", Bytes: secret}} {
		testkit.Must(a.t, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
	}
	return cert, pk
}

func (a *authority) issue(name string) (cert, key string) {
	pk, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	testkit.Must(a.t, err)
	return a.write(name, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, pk)
}

// use prepares a topic, writes a message, and reads it as a member of a group. This covers every kind of connection.
func use(t *testing.T, s kafkaconn.Settings) error {
	t.Helper()
	c, err := kafkaconn.Open(s, "test", 5*time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.Prepare(t.Context()); err != nil {
		return err
	}
	testkit.Eventually(t, "the new partition has a leader", func() bool {
		message := kafka.NewRecordReader(kafka.Record{Value: kafka.NewBytes([]byte("x"))})
		var res *kafka.ProduceResponse
		res, err = c.Client().Produce(t.Context(), &kafka.ProduceRequest{Topic: s.Topic, RequiredAcks: kafka.RequireAll, Records: message})
		if err == nil {
			err = res.Error
		}
		return !errors.Is(err, kafka.NotLeaderForPartition) && !errors.Is(err, kafka.LeaderNotAvailable)
	})
	if err != nil {
		return err
	}
	conn, err := c.Dialer().DialLeader(t.Context(), "tcp", s.Brokers[0], s.Topic, 0)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.ReadMessage(100)
	return err
}

func TestConn_encrypted_and_signed_in(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	cert, key := ca.issue("broker")
	b := kafkatest.Run(t, kafkatest.Config{Secure: &kafkatest.Secure{
		CertFile: cert, KeyFile: key, ClientCAFile: filepath.Join(ca.dir, "ca.pem"), Users: map[string]string{"pat": "pat's secret"},
	}})
	admin := &kafka.Client{Addr: kafka.TCP(b.Addr()), Timeout: time.Minute}
	salt := []byte("0123456789abcdef")
	for _, m := range []kafka.ScramMechanism{kafka.ScramMechanismSha256, kafka.ScramMechanismSha512} {
		made, err := admin.AlterUserScramCredentials(t.Context(), &kafka.AlterUserScramCredentialsRequest{
			Upsertions: []kafka.UserScramCredentialsUpsertion{{
				Name: "sam", Mechanism: m, Iterations: 4096, Salt: salt, SaltedPassword: salted(m, "sam's secret", salt, 4096),
			}},
		})
		if err == nil {
			err = made.Results[0].Error
		}
		testkit.Must(t, err)
	}

	mine, myKey := ca.issue("client")
	good := kafkaconn.Settings{
		Brokers: []string{b.SecureAddr()}, Topic: "clicks", CreateTopic: true, Partitions: 1,
		TLS: true, CAFile: filepath.Join(ca.dir, "ca.pem"), CertFile: mine, KeyFile: myKey,
	}
	for _, u := range []struct{ mechanism, name, password string }{
		{"PLAIN", "pat", "pat's secret"}, {"SCRAM-SHA-256", "sam", "sam's secret"}, {"SCRAM-SHA-512", "sam", "sam's secret"},
	} {
		s := good
		s.Mechanism, s.Username, s.Password = u.mechanism, u.name, config.Secret(u.password)
		if err := use(t, s); err != nil {
			t.Errorf("%s: %v", u.mechanism, err)
		}
		s.Password = "something else"
		if err := use(t, s); err == nil || strings.Contains(err.Error(), "something else") {
			t.Errorf("%s with a wrong password: %v", u.mechanism, err)
		}
	}
	good.Mechanism, good.Username, good.Password = "PLAIN", "pat", "pat's secret"
	other := newAuthority(t)
	for name, change := range map[string]func(*kafkaconn.Settings){
		"nobody signs in":                   func(s *kafkaconn.Settings) { s.Mechanism, s.Username, s.Password = "", "", "" },
		"a broker of another authority":     func(s *kafkaconn.Settings) { s.CAFile = filepath.Join(other.dir, "ca.pem") },
		"a client of another authority":     func(s *kafkaconn.Settings) { s.CertFile, s.KeyFile = other.issue("client") },
		"a client without a certificate":    func(s *kafkaconn.Settings) { s.CertFile, s.KeyFile = "", "" },
		"TLS on a port that does not speak": func(s *kafkaconn.Settings) { s.Brokers = []string{b.Addr()} },
	} {
		s := good
		change(&s)
		if err := use(t, s); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

func TestPrepare_makes_the_topic(t *testing.T) {
	t.Parallel()
	addr := kafkatest.Shared(t)
	s := kafkaconn.Settings{Brokers: []string{addr}, Topic: "prepare.new." + rand.Text(), Partitions: 5}
	prepare := func() ([]string, error) {
		c, err := kafkaconn.Open(s, "test", 5*time.Second)
		testkit.Must(t, err)
		defer c.Close()
		return c.Prepare(t.Context())
	}
	if _, err := prepare(); err == nil || !strings.Contains(err.Error(), "KAFKA_CREATE_TOPIC") {
		t.Errorf("a topic that must not be made: %v", err)
	}
	s.CreateTopic = true
	errs := make(chan error)
	for range 3 { // programs start at the same time
		go func() {
			warnings, err := prepare()
			if len(warnings) > 0 {
				err = errors.Join(err, errors.New(strings.Join(warnings, "\n")))
			}
			errs <- err
		}()
	}
	for range 3 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if n := partitions(t, addr, s.Topic); n != 5 {
		t.Errorf("%d partitions", n)
	}
	s.Partitions = 8
	if w, err := prepare(); err != nil || !slices.ContainsFunc(w, func(s string) bool {
		return strings.Contains(s, "KAFKA_PARTITIONS is 8")
	}) {
		t.Errorf("a topic with fewer partitions: %q %v", w, err)
	}
}

func TestPrepare_says_what_is_wrong_with_a_topic(t *testing.T) {
	t.Parallel()
	addr := kafkatest.Shared(t)
	admin := &kafka.Client{Addr: kafka.TCP(addr), Timeout: time.Minute}
	for i, c := range []struct {
		name, value string
		unfit       bool
	}{
		{"cleanup.policy", "compact", true}, {"retention.ms", "60000", true}, {"retention.ms", "86400000", false},
		{"retention.bytes", "1000000", false}, {"max.message.bytes", "4096", true}, {"max.message.bytes", "100000", false},
		{"min.insync.replicas", "2", true}, {"unclean.leader.election.enable", "true", false},
		{"message.timestamp.type", "CreateTime", false},
	} {
		topic := fmt.Sprintf("wrong.%d.%s", i, rand.Text())
		res, err := admin.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{
			Topic: topic, NumPartitions: 1, ReplicationFactor: 1,
			ConfigEntries: []kafka.ConfigEntry{{ConfigName: c.name, ConfigValue: c.value}},
		}}})
		if err == nil {
			err = res.Errors[topic]
		}
		testkit.Must(t, err)
		conn, err := kafkaconn.Open(kafkaconn.Settings{Brokers: []string{addr}, Topic: topic}, "test", 5*time.Second)
		testkit.Must(t, err)
		defer conn.Close()
		var warnings []string
		testkit.Eventually(t, "the new topic has a leader", func() bool {
			warnings, err = conn.Prepare(t.Context())
			return err == nil || errors.Is(err, kafkaconn.ErrUnfit)
		})
		said := strings.Join(warnings, "\n")
		if c.unfit {
			said = fmt.Sprint(err)
		}
		if errors.Is(err, kafkaconn.ErrUnfit) != c.unfit || !strings.Contains(said, c.name) {
			t.Errorf("%s=%s: %q %v", c.name, c.value, warnings, err)
		}
	}
}

func TestSettle_waits_for_a_broker(t *testing.T) {
	t.Parallel()
	b := kafkatest.Run(t, kafkatest.Config{})
	b.Kill()
	c, err := kafkaconn.Open(kafkaconn.Settings{Brokers: []string{b.Addr()}, Topic: "late", CreateTopic: true, Partitions: 2}, "test",
		5*time.Second)
	testkit.Must(t, err)
	defer c.Close()
	failed, done := make(chan struct{}, 1000), make(chan bool)
	go func() {
		done <- c.Settle(t.Context(), slog.New(slog.DiscardHandler), func() { failed <- struct{}{} })
	}()
	<-failed
	testkit.Must(t, b.Restart(t.Context()))
	if !<-done || partitions(t, b.Addr(), "late") != 2 {
		t.Error("the topic was not made when the broker came")
	}
}

func partitions(t *testing.T, addr, topic string) int {
	t.Helper()
	m, err := (&kafka.Client{Addr: kafka.TCP(addr), Timeout: time.Minute, Transport: &kafka.Transport{}}).
		Metadata(t.Context(), &kafka.MetadataRequest{Topics: []string{topic}})
	testkit.Must(t, err)
	return len(m.Topics[0].Partitions)
}

// salted is the function Hi of RFC 5802.
func salted(m kafka.ScramMechanism, password string, salt []byte, iterations int) []byte {
	var key []byte
	var err error
	if m == kafka.ScramMechanismSha512 {
		key, err = pbkdf2.Key(sha512.New, password, salt, iterations, sha512.Size)
	} else {
		key, err = pbkdf2.Key(sha256.New, password, salt, iterations, sha256.Size)
	}
	if err != nil {
		panic(err)
	}
	return key
}
