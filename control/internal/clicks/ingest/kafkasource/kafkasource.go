// Package kafkasource reads clicks from a Kafka topic and gives them to a click.Sink, such as the ingester.
//
// It owns the membership in a consumer group and the offsets. It promises that an offset is committed only after
// everything before it was delivered (or put aside, see below), that a lane's clicks are delivered in order and
// one batch at a time, and that a member which was declared dead commits nothing: offsets go through the
// generation that they were read in, and the broker refuses those of an old one. What such a member has
// delivered late is a repeat, as is all that was delivered and not yet committed when a member ended; the sink
// makes repeats harmless. While the sink fails, a partition waits and keeps its place in the group.
//
// Catching up takes bounded memory, however much waits in the topic, in however many partitions and in batches of
// whatever size: see Config.InFlightBytes. What the sink makes of the clicks meanwhile is the sink's.
//
// A message that is no frame of clicks, or that the sink calls corrupt, is put aside: counted, logged with its
// place in the topic, written to a file if there is a folder for that, and passed over, because nothing behind it
// could ever be delivered otherwise. Not so a frame of a newer schema: an older program has met a newer edge's
// clicks, so the partition waits, loudly, for the program to be brought up to date.
//
// Several groups read the same topic side by side, each with offsets of its own: what one does slowly holds up no
// other. A Source is one member of one of them.
//
// Known weaknesses: a topic whose log became shorter than what was committed (unclean leader election) is read
// again from its beginning, but only noticed when a partition is assigned or read beyond the end, not if it has
// grown past that place by then.
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
	// Group is "ingest" if empty. Members of one group share the topic's partitions; each group reads all of them,
	// at its own pace.
	Group string

	// Reload makes the sink read again how far each lane has been stored, because another member may have stored more
	// of the lanes of a newly assigned partition. It may be called during deliveries. Nil: the sink keeps no such state.
	Reload func(ctx context.Context) error

	// DeadDir is where messages that are no clicks are kept; "" means that only their places are logged. The topic
	// has them too, as long as it keeps messages.
	DeadDir string

	// Session is how long a member may be silent before the others take over its partitions; 0 means 15 s.
	Session time.Duration
	// Commit is how often offsets are committed; 0 means 1 s. A member that is killed leaves as much to be repeated.
	Commit time.Duration
	// FetchBytes is about how much of a partition is read at a time at most, compressed; 0 means 2 MiB.
	FetchBytes int64
	// InFlightBytes is about how much all partitions together may hold of messages that are being delivered, and
	// again, compressed, of such that were read ahead; 0 means 4 MiB. Partitions have at least 64 KiB each of the
	// latter, and deliver about 512 KiB at a time, however little this is.
	InFlightBytes int64
	// Timeout bounds each request to a broker; 0 means 10 s.
	Timeout time.Duration

	Logger *slog.Logger // nil means slog.Default()
}

// Validate reports every setting that makes no sense.
func (c Config) Validate() error {
	var problems []error
	refuse := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("kafka: "+format, args...))
	}
	if err := c.Kafka.Validate(); err != nil {
		problems = append(problems, err)
	}
	if c.Session < 0 || c.Commit < 0 || c.Timeout < 0 || c.FetchBytes < 0 || c.InFlightBytes < 0 {
		refuse("a negative setting: session %v, commit %v, timeout %v, fetch %d bytes, in flight %d bytes", c.Session, c.Commit, c.Timeout, c.FetchBytes, c.InFlightBytes)
	}
	return errors.Join(problems...)
}

const (
	fetchWait      = 500 * time.Millisecond // how long a broker may hold a question for messages
	leastRebalance = 2 * time.Second
	leaveWithin    = 2 * time.Second // a process may be in two groups, leaves one after the other, and has ten seconds to end
)

var retries = backoff.Policy{First: 50 * time.Millisecond, Most: 5 * time.Second}

// Source is one member of a consumer group. Run it once.
type Source struct {
	cfg    Config
	topic  string
	log    *slog.Logger
	sink   click.Sink
	conn   *kafkaconn.Conn
	client *kafka.Client

	mu       sync.Mutex
	at       map[int]place // of the partitions that are assigned now
	reloaded time.Time     // when marks were last read again because a repair was too early

	stats   counts
	metrics []metric
	perPart partitionMetrics
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
	cfg.InFlightBytes = cmp.Or(cfg.InFlightBytes, 4<<20)
	cfg.Timeout = cmp.Or(cfg.Timeout, 10*time.Second)
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	conn, err := kafkaconn.Open(cfg.Kafka, "shortline-"+cfg.Group, cfg.Timeout)
	if err != nil {
		return nil, err
	}
	s := &Source{cfg: cfg, topic: cfg.Kafka.FullTopic(), log: cfg.Logger, sink: to, conn: conn, client: conn.Client(), at: map[int]place{}}
	s.metrics, s.perPart = newMetrics(cfg.Group)
	return s, nil
}

// groupID is the group's name in Kafka.
func (s *Source) groupID() string { return s.cfg.Kafka.Prefix + s.cfg.Group }

// Run makes sure of the topic, reads until ctx ends, leaves the group, and returns nil. What fails is tried again
// for as long as it takes, a topic that is not fit for clicks among it.
func (s *Source) Run(ctx context.Context) error {
	defer s.conn.Close()
	if !s.conn.Settle(ctx, s.log, func() { s.stats.failures.Add(1) }) {
		return nil
	}
	group, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
		ID: s.groupID(), Brokers: s.cfg.Kafka.Brokers, Topics: []string{s.topic}, StartOffset: kafka.FirstOffset,
		Dialer: s.conn.Dialer(),
		// Members hear of a new generation within a heartbeat and are ready for it at once, as what they were delivering is cancelled.
		// Whoever is not heard of for longer is dead: to wait for that one for a whole session, at each change, would stop
		// everybody for as long, and longer than the client waits for an answer.
		HeartbeatInterval: s.cfg.Session / 15, SessionTimeout: s.cfg.Session, RebalanceTimeout: max(leastRebalance, s.cfg.Session/3),
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
				s.log.Warn("kafka: joining the group failed, trying again", "group", s.cfg.Group, "failures", failures, "error", err)
			}
			continue // the group makes a pause of its own
		}
		failures, member = 0, gen.MemberID
		s.stats.generations.Add(1)
		mine := gen.Assignments[s.topic]
		s.log.Info("kafka: partitions are assigned", "group", s.cfg.Group, "generation", gen.ID, "partitions", len(mine))
		var once sync.Once
		part := s.share(len(mine))
		for _, a := range mine {
			gen.Start(func(ctx context.Context) {
				once.Do(func() { s.reload(ctx) })
				s.follow(ctx, gen, a, part)
			})
		}
	}
	s.leave(group, member)
	return nil
}

// leave ends the membership. That waits for the followers, which end with the generation, for a broker, which may be away,
// and for an answer of the group's, which comes only when all other members have been heard of: a member that died holds
// it up for a session. So the group is told besides; else this member too would hold up the next generation.
func (s *Source) leave(group *kafka.ConsumerGroup, member string) {
	left := make(chan struct{})
	go func() {
		defer close(left)
		_ = group.Close() // it reports nothing
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
	res, err := s.client.LeaveGroup(ctx, &kafka.LeaveGroupRequest{GroupID: s.groupID(), Members: []kafka.LeaveGroupRequestMember{{ID: member}}})
	if err == nil {
		err = res.Error
	}
	if err != nil {
		s.log.Warn("kafka: the group could not be told of the end; it will find out", "group", s.cfg.Group, "error", err)
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
			s.log.Warn("kafka: what is stored of the lanes can't be read, trying again", "failures", failures, "error", err)
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
