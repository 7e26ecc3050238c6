package kafkasource

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/shortline/shortline/shared/backoff"
	"github.com/shortline/shortline/shared/click"
)

// message is one message of a partition. It has its memory to itself.
type message struct {
	partition int
	offset    int64
	time      time.Time // when it was written to the topic
	value     []byte
	origin    click.Origin // of its headers
}

// place is how far a partition was read.
type place struct {
	next, end int64     // the next offset to deliver, and the one after the last that there is
	oldest    time.Time // when the message at next, or one just before it, was written; zero: there is none, or it is not known
	busy      int       // messages that are being delivered
}

// share is what each partition of a generation may take of what the Source may hold.
type share struct {
	fetch  int64         // bytes to ask for, as stored
	batch  int           // bytes of messages to deliver at a time
	places chan struct{} // has room for those who may hold messages at the same time
}

// seat is one of the places, taken.
type seat struct {
	places  chan struct{}
	mu      sync.Mutex
	resting int
}

// rest pauses and leaves the place to others meanwhile: for what waits for something that may take long and concerns
// this partition alone. Lanes of one partition may rest at the same time.
func (s *seat) rest(ctx context.Context, failures int) {
	s.mu.Lock()
	if s.resting++; s.resting == 1 {
		<-s.places
	}
	s.mu.Unlock()
	pause(ctx, failures)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.resting--; s.resting == 0 {
		s.places <- struct{}{}
	}
}

// Below these, requests and deliveries would be too many.
const (
	leastFetch = 64 << 10
	leastBatch = 512 << 10
)

func (s *Source) share(partitions int) share {
	n := int64(max(1, partitions))
	batch := max(leastBatch, s.cfg.InFlightBytes/n)
	return share{
		fetch: max(leastFetch, min(s.cfg.FetchBytes, s.cfg.InFlightBytes/n)), batch: int(batch),
		places: make(chan struct{}, max(1, s.cfg.InFlightBytes/batch)),
	}
}

// follow reads one partition for as long as the generation lasts. If it returns before, the generation ends.
func (s *Source) follow(ctx context.Context, gen *kafka.Generation, a kafka.PartitionAssignment, part share) {
	// A generation's context is not one of the standard library's, which costs a goroutine for each derived from it.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer s.forget(a.ID)

	next, ok := s.begin(ctx, a)
	if !ok {
		return
	}
	committed, lastCommit := next, time.Now()
	at := unread{next: next}
	commit := func() error {
		if at.next == committed {
			return nil
		}
		if err := gen.CommitOffsets(map[string]map[int]int64{s.topic: {a.ID: at.next}}); err != nil {
			s.stats.failures.Add(1)
			return fmt.Errorf("commit offset %d of partition %d: %w", at.next, a.ID, err)
		}
		committed, lastCommit = at.next, time.Now()
		s.stats.committed.Store(lastCommit.UnixMilli())
		return nil
	}
	for failures := 0; ctx.Err() == nil; {
		err := s.advance(ctx, a.ID, &at, part)
		switch {
		case ctx.Err() != nil:
		case errors.Is(err, kafka.OffsetOutOfRange):
			if from, ok := s.begin(ctx, kafka.PartitionAssignment{ID: a.ID, Offset: at.next}); ok {
				at = unread{next: from}
			}
		case err != nil:
			s.stats.failures.Add(1)
			s.conn.Refresh()
			if failures++; backoff.LogWorthy(failures) {
				s.log.Warn("kafka: reading failed, trying again", "partition", a.ID, "offset", at.next, "failures", failures, "error", err)
			}
			pause(ctx, failures)
		default:
			failures = 0
		}
		if time.Since(lastCommit) >= s.cfg.Commit {
			if err := commit(); err != nil {
				// Most likely this member was given up by the group, or its connection is gone. Joining again mends both.
				s.log.Warn("kafka: leaving the generation", "generation", gen.ID, "error", err)
				return
			}
		}
	}
	if err := commit(); err != nil {
		s.log.Info("kafka: the last offset of a generation was not committed, its clicks will be repeated", "error", err)
	}
}

// advance delivers the partition's next messages, which it fetches if there are none left from before. If there are
// none at all it returns after a moment. Messages are unpacked only when there is a place for them, and the place is
// held until they are delivered: while a sink takes its time, what was fetched waits as it was stored.
func (s *Source) advance(ctx context.Context, partition int, at *unread, part share) error {
	if len(at.records) == 0 {
		records, end, err := s.fetch(ctx, partition, at.next, part.fetch)
		if err != nil {
			return err
		}
		at.records, at.from, at.end = records, at.next, end
	}
	if len(at.records) == 0 {
		s.reached(partition, place{at.next, at.end, at.oldest, 0})
		if at.end > at.next {
			pause(ctx, 1) // the broker says that there is more, and doesn't give it: not in a tight loop
		}
		return nil
	}
	select {
	case part.places <- struct{}{}:
		defer func() { <-part.places }()
	case <-ctx.Done():
		return ctx.Err()
	}
	next := *at
	list, err := next.take(partition, part.batch)
	if len(list) > 0 {
		for i := range list {
			s.stats.bytes.Add(uint64(len(list[i].value)))
		}
		s.reached(partition, place{at.next, at.end, list[0].time, len(list)})
		next.oldest = list[len(list)-1].time
		if !s.deliver(ctx, list, &seat{places: part.places}) {
			return ctx.Err()
		}
		s.stats.messages.Add(uint64(len(list)))
		err = nil // what was whole counts; the rest is asked for again
	}
	*at = next
	s.reached(partition, place{at.next, at.end, at.oldest, 0})
	return err
}

// beginPatience is how long a log may seem shorter than what was committed before it is believed: a new leader
// knows late how far it may be read.
const beginPatience = 10 * time.Second

// begin finds out where to go on: where the group was, or as near to it as the topic still reaches. It returns
// false if ctx ended.
func (s *Source) begin(ctx context.Context, a kafka.PartitionAssignment) (int64, bool) {
	var beyond time.Time
	for failures := 1; ctx.Err() == nil; failures++ {
		first, end, err := s.bounds(ctx, a.ID)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			s.stats.failures.Add(1)
			s.conn.Refresh()
			if backoff.LogWorthy(failures) {
				s.log.Warn("kafka: asking for a partition's bounds failed, trying again", "partition", a.ID, "failures", failures, "error", err)
			}
		case a.Offset < 0: // nothing was ever committed
			return first, true
		case a.Offset < first:
			s.stats.expired.Add(uint64(first - a.Offset))
			s.log.Error("kafka: messages expired before they were read; the edges can ship their clicks again", "partition", a.ID, "from", a.Offset, "to", first-1)
			return first, true
		case a.Offset <= end:
			return a.Offset, true
		case beyond.IsZero():
			beyond = time.Now()
		case time.Since(beyond) >= beginPatience:
			s.stats.rewinds.Add(1)
			s.log.Error("kafka: the log is shorter than what was committed, reading it again from its beginning", "partition", a.ID, "committed", a.Offset, "end", end)
			return first, true
		}
		pause(ctx, failures)
	}
	return 0, false
}

// bounds are the partition's first offset and the one after its last.
func (s *Source) bounds(ctx context.Context, partition int) (first, end int64, err error) {
	res, err := s.client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{
		s.topic: {kafka.FirstOffsetOf(partition), kafka.LastOffsetOf(partition)},
	}})
	if err != nil {
		return 0, 0, err
	}
	for _, p := range res.Topics[s.topic] {
		if p.Partition == partition {
			return p.FirstOffset, p.LastOffset, p.Error
		}
	}
	return 0, 0, fmt.Errorf("the answer has no partition %d", partition)
}

func (s *Source) reached(partition int, at place) {
	if at.next >= at.end {
		at.end, at.oldest = at.next, time.Time{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at[partition] = at
}

func (s *Source) forget(partition int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.at, partition)
}

// pause waits before the next attempt, longer after each consecutive failure.
func pause(ctx context.Context, failures int) { backoff.Sleep(ctx, retries.Delay(failures)) }
