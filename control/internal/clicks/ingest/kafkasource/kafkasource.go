// Package kafkasource reads clicks from a Kafka topic and delivers them to a click.Sink, such as the ingester.
//
// It owns the membership in a consumer group and the offsets. It guarantees that an offset is committed only after
// every earlier message was delivered or put aside (see below). The clicks of a lane are delivered in order, one batch
// at a time. A member that the group considers dead cannot commit: offsets are committed in the generation in which
// they were read, and the broker rejects older generations. Messages that were delivered but not committed are
// delivered again, and the sink makes these repetitions harmless. While the sink fails, the partition waits and the
// member stays in the group.
//
// Catching up uses bounded memory, whatever the backlog, the number of partitions and the size of batches: see
// Config.InFlightBytes. Memory that the sink uses is not included.
//
// A message that is not a frame of clicks, or that the sink calls corrupt, is put aside, because otherwise no later
// message could be delivered. It is counted, logged with its offset, written to Config.DeadDir if set, and skipped. A
// frame of a newer schema is not skipped: this program is older than the edge, so the partition waits, and logs errors,
// until the program is upgraded.
//
// Several groups may read the same topic, each with its own offsets, so that a slow group does not delay the others. A
// Source is one member of one group.
//
// One process may read several Kafka clusters, such as one for each region, with one Source for each. They share nothing,
// so a cluster that is down does not delay the others. They may deliver to the same sink. RunAll runs them.
//
// Known weaknesses: a topic may lose committed messages (unclean leader election). It is then read again from its
// beginning, but only if this is noticed: when a partition is assigned or read beyond its end. It goes unnoticed if the
// log has grown past the committed offset by then.
package kafkasource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/shortline/shortline/shared/backoff"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/kafkaconn"
)

// Config holds the settings. Kafka is required.
type Config struct {
	Kafka kafkaconn.Settings
	// Region is the name of the cluster in metrics, in the label kafka, and in logs. "" means that there is only one, and
	// then there is no label.
	Region string
	// Group defaults to "ingest". Members of one group share the topic's partitions. Each group reads all partitions at
	// its own pace.
	Group string

	// Reload makes the sink read again how far each lane has been stored, because another member may have stored more
	// of the lanes of a newly assigned partition. It may be called during deliveries. Nil: the sink keeps no such state.
	Reload func(ctx context.Context) error

	// DeadDir is where messages are saved that are not clicks; "" means that only their offsets are logged. The topic
	// also keeps them, until its retention ends.
	DeadDir string

	// Session is how long a member may be silent before others take over its partitions; 0 means 15 s.
	Session time.Duration
	// Commit is the interval between offset commits; 0 means 1 s. After a kill, up to one interval is delivered again.
	Commit time.Duration
	// FetchBytes is the approximate maximum of one fetch of a partition, compressed; 0 means 2 MiB. Fetches become smaller
	// over a link on which they would not arrive within the Timeout.
	FetchBytes int64
	// InFlightBytes is the approximate limit of all partitions together for messages being delivered, and once more for
	// compressed records that were read ahead; 0 means 4 MiB. Each partition may read at least 64 KiB ahead and deliver
	// about 512 KiB at a time, even if that exceeds the limit.
	InFlightBytes int64
	// Timeout limits each request to a broker; 0 means 10 s.
	Timeout time.Duration

	Logger *slog.Logger // default slog.Default()
}

// Validate reports all invalid settings.
func (c Config) Validate() error {
	var problems []error
	refuse := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("kafka: "+format, args...))
	}
	if err := c.Kafka.Validate(); err != nil {
		problems = append(problems, err)
	}
	if c.Session < 0 || c.Commit < 0 || c.Timeout < 0 || c.FetchBytes < 0 || c.InFlightBytes < 0 {
		refuse("must not be negative: session %v, commit %v, timeout %v, fetch %d bytes, in flight %d bytes", c.Session,
			c.Commit, c.Timeout,
			c.FetchBytes, c.InFlightBytes)
	}
	return errors.Join(problems...)
}

const (
	fetchWait    = 500 * time.Millisecond // how long a broker may wait for messages before it answers
	minRebalance = 2 * time.Second
	leaveWithin  = 2 * time.Second // a process may leave two groups, one after the other, and has ten seconds to stop
)

var retries = backoff.Policy{First: 50 * time.Millisecond, Most: 5 * time.Second}

// Source is one member of a consumer group. Run is called once.
type Source struct {
	cfg    Config
	topic  string
	log    *slog.Logger
	sink   click.Sink
	conn   *kafkaconn.Conn
	client *kafka.Client

	mu       sync.Mutex
	at       map[int]place // positions of the assigned partitions
	reloaded time.Time     // when Reload was last called for a repair that was too early

	stats   counts
	metrics metrics
}

// New returns a member. It does not connect. The error names all invalid settings.
func New(cfg Config, to click.Sink) (*Source, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.Group = cmp.Or(cfg.Group, "ingest")
	cfg.Session = cmp.Or(cfg.Session, 15*time.Second)
	cfg.Commit = cmp.Or(cfg.Commit, time.Second)
	cfg.FetchBytes = cmp.Or(cfg.FetchBytes, 2<<20)
	cfg.InFlightBytes = cmp.Or(cfg.InFlightBytes, 4<<20)
	cfg.Timeout = cmp.Or(cfg.Timeout, 10*time.Second)
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	if cfg.Region != "" {
		cfg.Logger = cfg.Logger.With("kafka", cfg.Region)
	}
	conn, err := kafkaconn.Open(cfg.Kafka, "shortline-"+cfg.Group, cfg.Timeout)
	if err != nil {
		return nil, err
	}
	s := &Source{cfg: cfg, topic: cfg.Kafka.FullTopic(), log: cfg.Logger, sink: to, conn: conn, client: conn.Client(), at: map[int]place{}}
	s.metrics = s.newMetrics()
	return s, nil
}

// groupID returns the name of the group in Kafka.
func (s *Source) groupID() string { return s.cfg.Kafka.Prefix + s.cfg.Group }

// Run prepares the topic, reads until ctx ends, leaves the group, and returns nil. It retries failures without limit,
// including a topic with unsuitable settings.
func (s *Source) Run(ctx context.Context) error {
	defer s.conn.Close()
	if !s.conn.Settle(ctx, s.log, func() { s.stats.failures.Add(1) }) {
		return nil
	}
	group, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
		ID: s.groupID(), Brokers: s.cfg.Kafka.Brokers, Topics: []string{s.topic}, StartOffset: kafka.FirstOffset,
		Dialer: s.conn.Dialer(),
		// Members learn of a new generation with their next heartbeat. They can join it at once, because deliveries in
		// progress are cancelled. A member that is silent for longer is dead. If each rebalance waited a whole session
		// for it, all members would stop for that long, and longer than the client waits for a response.
		HeartbeatInterval: s.cfg.Session / 15, SessionTimeout: s.cfg.Session, RebalanceTimeout: max(minRebalance, s.cfg.Session/3),
		JoinGroupBackoff: min(time.Second, s.cfg.Session/5), Timeout: min(5*time.Second, s.cfg.Timeout), WatchPartitionChanges: true,
	})
	if err != nil {
		return fmt.Errorf("kafka: make a consumer group: %w", err)
	}
	failures, member := 0, ""
	for {
		gen, err := group.Next(ctx)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			s.stats.failures.Add(1)
			if failures++; backoff.LogWorthy(failures) {
				s.log.Warn("joining consumer group failed, retrying", "group", s.cfg.Group, "failures", failures, "error", err)
			}
			continue // the group pauses by itself
		}
		failures, member = 0, gen.MemberID
		s.stats.generations.Add(1)
		mine := gen.Assignments[s.topic]
		s.log.Info("kafka partitions assigned", "group", s.cfg.Group, "generation", gen.ID, "partitions", len(mine))
		var once sync.Once
		part := s.share(len(mine))
		for _, a := range mine {
			gen.Start(func(ctx context.Context) {
				once.Do(func() { s.reload(ctx) })
				s.follow(ctx, gen, a, part)
			})
		}
	}
	s.leaveGroup(group, member)
	return nil
}

// RunAll runs Sources at the same time, until ctx ends and all have stopped. They stop together, because leaving the group
// of a cluster that is down takes two seconds. If one fails, RunAll stops the others and returns the error.
func RunAll(ctx context.Context, list []*Source) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	for _, s := range list {
		running.Go(func() {
			if err := s.Run(ctx); err != nil {
				cancel(err)
			}
		})
	}
	running.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// leaveGroup ends the membership. group.Close waits for the followers, for a broker that may be down, and for a response
// that the group sends only after all other members have reported: a dead member delays it by a session. If Close takes
// too long, leaveGroup therefore also sends its own request to leave; otherwise this member would delay the next generation
// too.
func (s *Source) leaveGroup(group *kafka.ConsumerGroup, member string) {
	left := make(chan struct{})
	go func() {
		defer close(left)
		_ = group.Close() // returns no useful error
	}()
	within := time.NewTimer(leaveWithin / 2)
	defer within.Stop()
	select {
	case <-left:
		return
	case <-within.C:
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveWithin/2)
	defer cancel()
	res, err := s.client.LeaveGroup(ctx, &kafka.LeaveGroupRequest{GroupID: s.groupID(),
		Members: []kafka.LeaveGroupRequestMember{{ID: member}}})
	if err == nil {
		err = res.Error
	}
	if err != nil {
		s.log.Warn("leaving consumer group failed", "group", s.cfg.Group, "error", err)
	}
}

// reload calls Config.Reload until it succeeds or ctx ends.
func (s *Source) reload(ctx context.Context) {
	for failures := 1; s.cfg.Reload != nil && ctx.Err() == nil; failures++ {
		err := s.cfg.Reload(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		s.stats.failures.Add(1)
		if backoff.LogWorthy(failures) {
			s.log.Warn("lane marks not readable, retrying", "failures", failures, "error", err)
		}
		pause(ctx, failures)
	}
}

// reloadForRepair calls Config.Reload once for a repair that came too early: another member may have stored the clicks
// before it. It does so at most once a second, however many repairs are too early.
func (s *Source) reloadForRepair(ctx context.Context) {
	s.mu.Lock()
	due := s.cfg.Reload != nil && time.Since(s.reloaded) >= time.Second
	if due {
		s.reloaded = time.Now()
	}
	s.mu.Unlock()
	if !due {
		return
	}
	if err := s.cfg.Reload(ctx); err != nil && ctx.Err() == nil {
		s.stats.failures.Add(1)
	}
}
