// Package kafkaconn connects a program to Kafka. It is the part that the two adapters of clicks share: the edge's and
// the ingester's.
//
// It owns the settings (KAFKA_...), connections with TLS and authentication, and the state of the topic: Prepare
// creates a missing topic and explains what is wrong with an existing one. The adapters own messages, consumer groups
// and the pace of retries.
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

// refreshEvery is the minimum interval between two refreshes of connections and metadata after failures.
const refreshEvery = 250 * time.Millisecond

// Conn manages connections to a cluster. It is safe for concurrent use.
type Conn struct {
	settings  Settings
	client    *kafka.Client
	transport *kafka.Transport
	dialer    *kafka.Dialer

	mu        sync.Mutex
	refreshed time.Time
}

// Open returns a Conn without connecting. Brokers log this client under name. Each request is limited by the timeout.
// The error names all invalid settings.
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

// Client returns the client for requests. It belongs to the Conn.
func (c *Conn) Client() *kafka.Client { return c.client }

// Dialer returns the dialer for parts that make their own connections, such as a consumer group.
func (c *Conn) Dialer() *kafka.Dialer { return c.dialer }

// Refresh closes idle connections, because all may be dead when one is, and drops the cached leaders of partitions. The
// next request reads them again. Calls in quick succession do nothing.
func (c *Conn) Refresh() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.refreshed) >= refreshEvery {
		c.refreshed = time.Now()
		c.transport.CloseIdleConnections()
	}
}

// Close closes connections. No request may be in progress.
func (c *Conn) Close() { c.transport.CloseIdleConnections() }

// Topic returns the topic's metadata, which is at most some seconds old.
func (c *Conn) Topic(ctx context.Context) (kafka.Topic, error) {
	t, _, err := c.describe(ctx)
	return t, err
}

// describe also returns the number of brokers.
func (c *Conn) describe(ctx context.Context) (kafka.Topic, int, error) {
	name := c.settings.FullTopic()
	m, err := c.client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{name}})
	if err != nil {
		return kafka.Topic{}, 0, fmt.Errorf("kafka: no response from %s: %w", strings.Join(c.settings.Brokers, ", "), err)
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
	return kafka.Topic{}, len(m.Brokers), fmt.Errorf("kafka: the response of %s does not contain topic %s",
		strings.Join(c.settings.Brokers, ", "), name)
}
