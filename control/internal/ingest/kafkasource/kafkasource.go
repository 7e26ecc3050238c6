// Package kafkasource reads clicks from a Kafka topic and gives them to a click.Sink, such as the ingester.
//
// It owns the membership in a consumer group and the offsets. It promises that an offset is committed only after
// everything before it was delivered (or put aside, see below), that a lane's clicks are delivered in order and
// one batch at a time, and that a member which was declared dead commits nothing: offsets go through the
// generation that they were read in, and the broker refuses those of an old one. What such a member has
// delivered late is a repeat, as is all that was delivered and not yet committed when a member ended; the sink
// makes repeats harmless. While the sink fails, a partition waits and keeps its place in the group.
//
// A message that is no frame of clicks, or that the sink calls corrupt, is put aside: counted, logged with its
// place in the topic, written to a file if there is a folder for that, and passed over, because nothing behind it
// could ever be delivered otherwise. Not so a frame of a newer schema: an older program has met a newer edge's
// clicks, so the partition waits, loudly, for the program to be brought up to date.
//
// Known weaknesses: a topic whose log became shorter than what was committed (unclean leader election) is read
// again from its beginning, but only noticed when a partition is assigned or read beyond the end, not if it has
// grown past that place by then.
package kafkasource

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"

	"github.com/shortline/shortline/shared/click"
)

// Config holds the settings. Brokers and Topic are required.
type Config struct {
	Brokers []string // host:port of some brokers, to find the others by
	Topic   string   // must exist
	Group   string   // members of one group share the topic's partitions; "" means "ingest"

	// DeadDir is where messages that are no clicks are kept; "" means that only their places are logged. The topic
	// has them too, as long as it keeps messages.
	DeadDir string

	// Session is how long a member may be silent before the others take over its partitions; 0 means 15 s.
	Session time.Duration
	// Commit is how often offsets are committed; 0 means 1 s. A member that is killed leaves as much to be repeated.
	Commit time.Duration
	// FetchBytes is about how much of a partition is read at a time, compressed; 0 means 2 MiB.
	FetchBytes int64
	// Timeout bounds each request to a broker; 0 means 10 s.
	Timeout time.Duration

	TLS    *tls.Config    // if set, encrypts
	SASL   sasl.Mechanism // if set, signs in
	Logger *slog.Logger   // nil means slog.Default()
}

// Validate reports every setting that makes no sense.
func (c Config) Validate() error {
	var problems []error
	refuse := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("kafka: "+format, args...))
	}
	if len(c.Brokers) == 0 {
		refuse("no brokers are given")
	}
	for _, b := range c.Brokers {
		if host, port, err := net.SplitHostPort(b); err != nil || host == "" || port == "" {
			refuse("broker %q is not host:port", b)
		}
	}
	if c.Topic == "" {
		refuse("no topic is given")
	}
	if c.Session < 0 || c.Commit < 0 || c.Timeout < 0 || c.FetchBytes < 0 {
		refuse("a negative setting: session %v, commit %v, timeout %v, fetch %d bytes", c.Session, c.Commit, c.Timeout, c.FetchBytes)
	}
	return errors.Join(problems...)
}

const (
	fetchWait    = 500 * time.Millisecond // how long a broker may hold a question for messages
	retryFirst   = 50 * time.Millisecond
	retryMost    = 5 * time.Second
	refreshEvery = 250 * time.Millisecond
	leaveWithin  = 5 * time.Second
)

// Source is one member of a consumer group. Run it once.
type Source struct {
	cfg       Config
	log       *slog.Logger
	sink      click.Sink
	transport *kafka.Transport
	client    *kafka.Client

	mu        sync.Mutex
	refreshed time.Time
	at        map[int]place // of the partitions that are assigned now

	stats counts
}

// New makes a member. It connects to nobody. The error names every problem of the settings.
func New(cfg Config, to click.Sink) (*Source, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.Group = cmp.Or(cfg.Group, "ingest")
	cfg.Session = cmp.Or(cfg.Session, 15*time.Second)
	cfg.Commit = cmp.Or(cfg.Commit, time.Second)
	cfg.FetchBytes = cmp.Or(cfg.FetchBytes, 2<<20)
	cfg.Timeout = cmp.Or(cfg.Timeout, 10*time.Second)
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	transport := &kafka.Transport{
		DialTimeout: min(5*time.Second, cfg.Timeout), IdleTimeout: time.Minute, MetadataTTL: 5 * time.Second,
		MetadataTopics: []string{cfg.Topic}, ClientID: "shortline-ingest", TLS: cfg.TLS, SASL: cfg.SASL,
	}
	return &Source{
		cfg: cfg, log: cfg.Logger, sink: to, transport: transport, at: map[int]place{},
		client: &kafka.Client{Addr: kafka.TCP(cfg.Brokers...), Timeout: cfg.Timeout, Transport: transport},
	}, nil
}

// Check asks the cluster for the topic. It is for the start of a program, where a wrong setting should be seen.
func (s *Source) Check(ctx context.Context) error {
	m, err := s.client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{s.cfg.Topic}})
	if err != nil {
		s.refresh()
		return fmt.Errorf("kafka: no answer from %s: %w", strings.Join(s.cfg.Brokers, ", "), err)
	}
	for _, t := range m.Topics {
		if t.Error != nil {
			s.refresh()
			return fmt.Errorf("kafka: topic %s: %w", t.Name, t.Error)
		}
	}
	return nil
}

// Run reads until ctx ends, leaves the group, and returns nil. What fails is tried again for as long as it takes.
func (s *Source) Run(ctx context.Context) error {
	defer s.transport.CloseIdleConnections()
	group, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
		ID: s.cfg.Group, Brokers: s.cfg.Brokers, Topics: []string{s.cfg.Topic}, StartOffset: kafka.FirstOffset,
		Dialer:            &kafka.Dialer{ClientID: "shortline-ingest", Timeout: min(5*time.Second, s.cfg.Timeout), DualStack: true, TLS: s.cfg.TLS, SASLMechanism: s.cfg.SASL},
		HeartbeatInterval: s.cfg.Session / 5, SessionTimeout: s.cfg.Session, RebalanceTimeout: s.cfg.Session,
		JoinGroupBackoff: min(time.Second, s.cfg.Session/5), Timeout: min(5*time.Second, s.cfg.Timeout), WatchPartitionChanges: true,
	})
	if err != nil {
		return fmt.Errorf("kafka: make a consumer group: %w", err)
	}
	failures := 0
	for {
		gen, err := group.Next(ctx)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			s.stats.failures.Add(1)
			if failures++; failures&(failures-1) == 0 { // ever more seldom: hours without Kafka are one fact
				s.log.Warn("kafka: joining the group failed, trying again", "group", s.cfg.Group, "failures", failures, "error", err)
			}
			continue // the group makes a pause of its own
		}
		failures = 0
		s.stats.generations.Add(1)
		mine := gen.Assignments[s.cfg.Topic]
		s.log.Info("kafka: partitions are assigned", "group", s.cfg.Group, "generation", gen.ID, "partitions", len(mine))
		for _, a := range mine {
			gen.Start(func(ctx context.Context) { s.follow(ctx, gen, a) })
		}
	}
	// Leaving waits for the followers, which end with the generation, and for a broker, which may be away.
	left := make(chan struct{})
	go func() {
		defer close(left)
		_ = group.Close() // it reports nothing
	}()
	select {
	case <-left:
	case <-time.After(leaveWithin):
		s.log.Warn("kafka: the group could not be told of the end; it will find out", "group", s.cfg.Group)
	}
	return nil
}

// refresh throws away connections, of which all may be dead when one is, and what is known of partitions' leaders.
func (s *Source) refresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.refreshed) >= refreshEvery {
		s.refreshed = time.Now()
		s.transport.CloseIdleConnections()
	}
}
