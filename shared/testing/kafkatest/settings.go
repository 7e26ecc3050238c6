package kafkatest

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
)

// Secure configures the port with TLS. With Users, clients must also authenticate.
type Secure struct {
	// CertFile and KeyFile are the broker's certificate and key in PEM; the key is in PKCS #8.
	CertFile, KeyFile string
	// ClientCAFile, if set, requires client certificates that this authority has signed.
	ClientCAFile string
	// Users are user names and passwords for PLAIN. Users for SCRAM-SHA-256 and SCRAM-SHA-512 are created through the
	// port without TLS, as an operator does.
	Users map[string]string
}

// pick chooses ports below the range of outgoing connections. In that range, a client that retries to reach a stopped
// broker could eventually get the broker's own port and connect to itself.
func (b *Broker) pick() error {
	ports := []*int{&b.port, &b.control}
	if b.port = b.cfg.Port; b.port != 0 {
		ports = ports[1:]
	}
	if b.cfg.Secure != nil {
		ports = append(ports, &b.secure)
	}
	for _, p := range ports {
		free := false
		for tries := 0; tries < 100 && !free; tries++ {
			*p = 20000 + rand.N(12000)
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *p))
			if free = err == nil; free {
				l.Close()
			}
		}
		if !free {
			return errors.New("start Kafka: no port is free")
		}
	}
	return nil
}

// prepare writes the settings, and formats a new folder.
func (b *Broker) prepare() error {
	if err := os.MkdirAll(b.path("log"), 0o700); err != nil {
		return err
	}
	var text strings.Builder
	settings := b.settings()
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&text, "%s=%s\n", name, strings.ReplaceAll(settings[name], `\`, `\\`))
	}
	if err := os.WriteFile(b.path("server.properties"), []byte(text.String()), 0o600); err != nil {
		return err
	}
	if sec := b.cfg.Secure; sec != nil {
		key, err := os.ReadFile(sec.KeyFile)
		if err != nil {
			return err
		}
		cert, err := os.ReadFile(sec.CertFile)
		if err != nil {
			return err
		}
		if err := os.WriteFile(b.path("broker.pem"), append(key, cert...), 0o600); err != nil {
			return err
		}
	}
	if err := os.WriteFile(b.path("log4j2.properties"), logSettings, 0o600); err != nil {
		return err
	}
	// This is all that formatting does to the folder of a single node, without a second start of Java. The broker adds
	// the folder's id by itself.
	format := b.path("log/meta.properties")
	if _, err := os.Stat(format); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(format, []byte("version=1\nnode.id=1\ncluster.id=c2hvcnRsaW5lLXRlc3RzAQ\n"), 0o600)
}

func (b *Broker) settings() map[string]string {
	open := "PLAINTEXT://" + b.Addr()
	s := map[string]string{
		"node.id": "1", "process.roles": "broker,controller", "controller.listener.names": "CONTROLLER",
		"controller.quorum.voters":       fmt.Sprintf("1@127.0.0.1:%d", b.control),
		"listeners":                      fmt.Sprintf("%s,CONTROLLER://127.0.0.1:%d", open, b.control),
		"advertised.listeners":           open,
		"listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
		"inter.broker.listener.name":     "PLAINTEXT",
		"log.dirs":                       b.path("log"),

		"auto.create.topics.enable": "false", "num.partitions": "1", "min.insync.replicas": "1",
		"default.replication.factor": "1", "offsets.topic.replication.factor": "1", "offsets.topic.num.partitions": "4",
		"transaction.state.log.replication.factor": "1", "transaction.state.log.min.isr": "1",
		"share.coordinator.state.topic.replication.factor": "1", "share.coordinator.state.topic.min.isr": "1",
		// Tests wait for consumer groups, and kill members.
		"group.initial.rebalance.delay.ms": "0", "group.min.session.timeout.ms": "500",
		// Few threads and small buffers, because several brokers share a developer's machine.
		"num.network.threads": "2", "num.io.threads": "4", "background.threads": "2", "num.recovery.threads.per.data.dir": "1",
		"log.cleaner.dedupe.buffer.size": "8388608", "log.cleaner.io.buffer.size": "262144",
	}
	if sec := b.cfg.Secure; sec != nil {
		address := "SECURE://" + b.SecureAddr()
		s["listeners"] += "," + address
		s["advertised.listeners"] += "," + address
		protocol := "SSL"
		const secure = "listener.name.secure."
		if len(sec.Users) > 0 {
			protocol = "SASL_SSL"
			s[secure+"sasl.enabled.mechanisms"] = "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512"
			plain := "org.apache.kafka.common.security.plain.PlainLoginModule required"
			for _, name := range slices.Sorted(maps.Keys(sec.Users)) {
				plain += fmt.Sprintf(` user_%s="%s"`, name, sec.Users[name])
			}
			s[secure+"plain.sasl.jaas.config"] = plain + ";"
			for _, m := range []string{"scram-sha-256", "scram-sha-512"} {
				s[secure+m+".sasl.jaas.config"] = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
			}
		}
		s["listener.security.protocol.map"] += ",SECURE:" + protocol
		s[secure+"ssl.keystore.type"] = "PEM"
		s[secure+"ssl.keystore.location"] = b.path("broker.pem")
		if sec.ClientCAFile != "" {
			s[secure+"ssl.client.auth"] = "required"
			s[secure+"ssl.truststore.type"] = "PEM"
			s[secure+"ssl.truststore.location"] = sec.ClientCAFile
		}
	}
	maps.Copy(s, b.cfg.Settings)
	return s
}
