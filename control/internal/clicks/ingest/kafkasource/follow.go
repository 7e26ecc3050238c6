package kafkasource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/shortline/shortline/shared/backoff"
	"github.com/shortline/shortline/shared/click"
)

// message is one message of a partition. Its value is not shared with other messages.
type message struct {
	partition int
	offset    int64
	time      time.Time // when it was written to the topic
	value     []byte
	origin    click.Origin // from the message's headers
}

// place is the reading position in a partition.
type place struct {
	next, end int64     // the next offset to deliver, and the offset after the last available message
	oldest    time.Time // when the message at next, or one just before it, was written; zero if there is none or it is unknown
	busy      int       // messages being delivered
	seen      time.Time // when the last successful fetch began
}

// share is what each partition of a generation may use of the Source's limits.
type share struct {
	fetch  int64         // compressed bytes to fetch
	batch  int           // bytes of messages to deliver at a time
	places chan struct{} // semaphore: its capacity is how many partitions may hold decompressed messages
}

// seat is one acquired place.
type seat struct {
	places  chan struct{}
	mu      sync.Mutex
	resting int
}

// rest pauses and releases the place meanwhile. It is for waits that may be long and concern only this partition.
// Several lanes of the partition may rest at the same time.
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

// Lower limits: smaller values would cause too many requests and deliveries.
const (
	minFetch = 64 << 10
	minBatch = 512 << 10
)

func (s *Source) share(partitions int) share {
	n := int64(max(1, partitions))
	batch := max(minBatch, s.cfg.InFlightBytes/n)
	return share{
		fetch: max(minFetch, min(s.cfg.FetchBytes, s.cfg.InFlightBytes/n)), batch: int(batch),
		places: make(chan struct{}, max(1, s.cfg.InFlightBytes/batch)),
	}
}

// follow reads one partition until the generation ends. If follow returns earlier, it ends the generation.
func (s *Source) follow(ctx context.Context, gen *kafka.Generation, a kafka.PartitionAssignment, part share) {
	// The generation's context is not a standard library context, so each derived context would cost a goroutine.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer s.forgetPartition(a.ID)

	next, ok := s.startOffset(ctx, a)
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
			if from, ok := s.startOffset(ctx, kafka.PartitionAssignment{ID: a.ID, Offset: at.next}); ok {
				at = unread{next: from}
			}
		case err != nil:
			s.stats.failures.Add(1)
			s.conn.Refresh()
			if failures++; backoff.LogWorthy(failures) {
				s.log.Warn("kafka fetch failed, retrying", "partition", a.ID, "offset", at.next, "failures", failures, "error", err)
			}
			pause(ctx, failures)
		default:
			failures = 0
		}
		if time.Since(lastCommit) >= s.cfg.Commit {
			if err := commit(); err != nil {
				// Probably the group removed this member, or the connection broke. Joining again repairs both.
				s.log.Warn("offset commit failed, rejoining consumer group", "generation", gen.ID, "error", err)
				return
			}
		}
	}
	if err := commit(); err != nil {
		s.log.Info("final offset commit failed, clicks will repeat", "error", err)
	}
}

// advance delivers the partition's next messages. It fetches more if none are left, and returns after a moment if there
// are none. Messages are decompressed only after a place was acquired, and the place is held until they are delivered.
// While the sink is slow, fetched records therefore stay compressed.
func (s *Source) advance(ctx context.Context, partition int, at *unread, part share) error {
	if len(at.records) == 0 {
		began, size := time.Now(), cmp.Or(at.size, part.fetch)
		records, end, err := s.fetch(ctx, partition, at.next, size)
		at.size = s.adapt(size, part.fetch, time.Since(began), err)
		if err != nil {
			return err
		}
		at.records, at.from, at.end, at.seen = records, at.next, end, began
	}
	if len(at.records) == 0 {
		s.reached(partition, place{at.next, at.end, at.oldest, 0, at.seen})
		if at.end > at.next {
			pause(ctx, 1) // the broker reports more messages but does not send them: avoid a tight loop
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
	list, err := next.decompress(partition, part.batch)
	if len(list) > 0 {
		s.reached(partition, place{at.next, at.end, list[0].time, len(list), at.seen})
		next.oldest = list[len(list)-1].time
		if !s.deliver(ctx, list, &seat{places: part.places}) {
			return ctx.Err()
		}
		s.stats.messages.Add(uint64(len(list)))
		err = nil // the complete messages count; the rest is fetched again
	}
	*at = next
	s.reached(partition, place{at.next, at.end, at.oldest, 0, at.seen})
	return err
}

// leastFetch is the smallest fetch. The broker sends at least one batch, even if that is larger.
const leastFetch = 16 << 10

// adapt returns the size of the next fetch, after one that took some time. Over a slow link, a large response does not
// arrive within the timeout. Without smaller fetches it would be requested again forever.
func (s *Source) adapt(size, most int64, took time.Duration, err error) int64 {
	switch {
	case err != nil:
		return max(leastFetch, size/2)
	case took > s.cfg.Timeout/2:
		return max(leastFetch, size*3/4)
	case took < s.cfg.Timeout/4:
		return min(most, 2*size)
	}
	return size
}

// beginPatience is how long a log may appear shorter than the committed offset before this is believed. A new leader
// learns late how far it may be read.
const beginPatience = 10 * time.Second

// startOffset returns the offset to continue at: the committed offset, or the nearest one that the topic still has. It
// returns false if ctx ended.
func (s *Source) startOffset(ctx context.Context, a kafka.PartitionAssignment) (int64, bool) {
	var beyond time.Time
	for failures := 1; ctx.Err() == nil; failures++ {
		first, end, err := s.bounds(ctx, a.ID)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			s.stats.failures.Add(1)
			s.conn.Refresh()
			if backoff.LogWorthy(failures) {
				s.log.Warn("partition offsets not readable, retrying", "partition", a.ID, "failures", failures, "error", err)
			}
		case a.Offset < 0: // nothing was committed yet
			return first, true
		case a.Offset < first:
			s.stats.expired.Add(uint64(first - a.Offset))
			s.log.Error("kafka messages expired before being read", "partition", a.ID, "from", a.Offset, "to", first-1)
			return first, true
		case a.Offset <= end:
			return a.Offset, true
		case beyond.IsZero():
			beyond = time.Now()
		case time.Since(beyond) >= beginPatience:
			s.stats.rewinds.Add(1)
			s.log.Error("kafka log truncated, rereading from start", "partition", a.ID, "committed", a.Offset, "end", end)
			return first, true
		}
		pause(ctx, failures)
	}
	return 0, false
}

// bounds returns the partition's first offset and the offset after its last message.
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
	return 0, 0, fmt.Errorf("the response has no partition %d", partition)
}

func (s *Source) reached(partition int, at place) {
	if at.next >= at.end {
		at.end, at.oldest = at.next, time.Time{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at[partition] = at
}

func (s *Source) forgetPartition(partition int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.at, partition)
}

// pause waits before the next attempt, longer after each consecutive failure.
func pause(ctx context.Context, failures int) { backoff.Sleep(ctx, retries.Delay(failures)) }
