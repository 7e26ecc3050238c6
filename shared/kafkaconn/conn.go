// Package kafkaconn joins a program to Kafka: it is what the two adapters of clicks, the edge's and the
// ingester's, have in common.
//
// It owns the settings (KAFKA_...), connections with TLS and signing in, and the state of the topic: Prepare makes
// it if it is missing and says in sentences what is wrong with one that is there. It leaves messages, groups and
// the pace of repetition to the adapters.
package kafkaconn

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
)

// refreshEvery bounds how often connections and what is known of the cluster are thrown away after failures.
const refreshEvery = 250 * time.Millisecond

// Conn holds connections to a cluster. It is safe for concurrent use.
type Conn struct {
	settings  Settings
	client    *kafka.Client
	transport *kafka.Transport
	dialer    *kafka.Dialer

	mu        sync.Mutex
	refreshed time.Time
}

// Open prepares connections and makes none. The name is what brokers log of this client; a request may take as
// long as the timeout. The error names every problem of the settings.
func Open(s Settings, name string, timeout time.Duration) (*Conn, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("kafka: %w", err)
	}
	secure, err := s.tls()
	if err != nil {
		return nil, fmt.Errorf("kafka: %w", err)
	}
	mechanism, err := s.sasl()
	if err != nil {
		return nil, fmt.Errorf("kafka: %w", err)
	}
	dial := min(5*time.Second, timeout)
	t := &kafka.Transport{
		DialTimeout: dial, IdleTimeout: time.Minute, MetadataTTL: 5 * time.Second,
		MetadataTopics: []string{s.FullTopic()}, ClientID: name, TLS: secure, SASL: mechanism,
	}
	d := &kafka.Dialer{ClientID: name, Timeout: dial, DualStack: true, TLS: secure, SASLMechanism: mechanism}
	if secure == nil {
		t.Dial, d.DialFunc = dialChecked, dialChecked
	}
	return &Conn{
		settings: s, transport: t, client: &kafka.Client{Addr: kafka.TCP(s.Brokers...), Timeout: timeout, Transport: t}, dialer: d,
	}, nil
}

// Client sends requests. It belongs to the Conn.
func (c *Conn) Client() *kafka.Client { return c.client }

// Dialer is for what makes connections of its own, such as a consumer group.
func (c *Conn) Dialer() *kafka.Dialer { return c.dialer }

// Refresh throws away connections, of which all may be dead when one is, and what is known of partitions' leaders.
// The next request learns it anew. Calls that follow each other quickly do nothing.
func (c *Conn) Refresh() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.refreshed) >= refreshEvery {
		c.refreshed = time.Now()
		c.transport.CloseIdleConnections()
	}
}

// Close lets go of connections. Nothing may be under way.
func (c *Conn) Close() { c.transport.CloseIdleConnections() }

// Topic describes the topic as last heard of, which is at most some seconds ago.
func (c *Conn) Topic(ctx context.Context) (kafka.Topic, error) {
	t, _, err := c.describe(ctx)
	return t, err
}

// describe also says how many brokers there are.
func (c *Conn) describe(ctx context.Context) (kafka.Topic, int, error) {
	name := c.settings.FullTopic()
	m, err := c.client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{name}})
	if err != nil {
		return kafka.Topic{}, 0, fmt.Errorf("kafka: no answer from %s: %w", strings.Join(c.settings.Brokers, ", "), err)
	}
	for _, t := range m.Topics {
		switch {
		case t.Name != name:
		case errors.Is(t.Error, kafka.UnknownTopicOrPartition):
			return kafka.Topic{}, len(m.Brokers), fmt.Errorf("kafka: topic %s does not exist: %w", name, t.Error)
		case t.Error != nil:
			return kafka.Topic{}, len(m.Brokers), fmt.Errorf("kafka: topic %s: %w", name, t.Error)
		case len(t.Partitions) == 0:
			return kafka.Topic{}, len(m.Brokers), fmt.Errorf("kafka: topic %s has no partitions", name)
		default:
			return t, len(m.Brokers), nil
		}
	}
	return kafka.Topic{}, len(m.Brokers), fmt.Errorf("kafka: %s say nothing of topic %s", strings.Join(c.settings.Brokers, ", "), name)
}
