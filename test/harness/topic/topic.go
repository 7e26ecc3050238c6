// Package topic reads a Kafka topic of clicks from the first record to the last, for an audit. It uses its own client and
// no consumer group, so it leaves no trace in Kafka.
package topic

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/shortline/shortline/shared/click"
)

// Account describes the contents of a topic.
type Account struct {
	Messages int
	Raw      int // clicks, including duplicates
	Repeats  int // duplicates: a sender repeats a batch with an unknown outcome
	Clicks   int // distinct identities
	Missing  int // sequence numbers from 1 to the highest of a lane with neither a click nor a loss marker
	Lost     int // sequence numbers in loss markers
	Clashes  int // clicks with the same identity and different contents
	Foreign  int // messages that are not click frames
	Backward int // new clicks that follow a higher sequence number of their lane
	Moved    int // messages of a lane in another partition than its first one

	lanes map[click.Lane]*lane
	names []string // utm_content of each distinct click
}

type lane struct {
	partition int32
	seqs      map[uint64]uint64 // sequence number to fingerprint of the click
	top       uint64
	lost      map[uint64]bool
}

// Contents returns utm_content of each distinct click. truth.Judge needs it.
func (a *Account) Contents() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for _, s := range a.names {
			if !yield(s, 1) {
				return
			}
		}
	}
}

// String returns a summary in one line.
func (a *Account) String() string {
	return fmt.Sprintf(
		"%d messages, %d clicks, %d of them duplicates, %d distinct in %d lanes; %d missing, %d marked as lost, %d clashes, %d foreign "+
			"messages, %d out of order",
		a.Messages, a.Raw, a.Repeats, a.Clicks, len(a.lanes), a.Missing, a.Lost, a.Clashes, a.Foreign, a.Backward)
}

// Read reads the current contents of the topic.
func Read(ctx context.Context, brokers []string, name string) (*Account, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute) // millions of clicks, after an hour
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.ConsumeTopics(name), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchMaxWait(100*time.Millisecond))
	if err != nil {
		return nil, fmt.Errorf("read topic %s: %w", name, err)
	}
	defer client.Close()
	ends, err := kadm.NewClient(client).ListEndOffsets(ctx, name)
	if err := errors.Join(err, ends.Error()); err != nil {
		return nil, fmt.Errorf("read topic %s: %w", name, err)
	}
	left := map[int32]int64{} // end offsets of the partitions that are not empty
	ends.Each(func(o kadm.ListedOffset) {
		if o.Offset > 0 {
			left[o.Partition] = o.Offset
		}
	})
	a := &Account{lanes: map[click.Lane]*lane{}}
	for len(left) > 0 {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			return nil, fmt.Errorf("read topic %s: %w", name, err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			a.message(r.Partition, r.Value)
			if end, ok := left[r.Partition]; ok && r.Offset+1 >= end {
				delete(left, r.Partition)
			}
		})
	}
	for _, l := range a.lanes {
		for seq := uint64(1); seq <= l.top; seq++ {
			_, there := l.seqs[seq]
			switch {
			case !there && l.lost[seq]:
				a.Lost++
			case !there:
				a.Missing++
			}
		}
	}
	return a, nil
}

func (a *Account) message(partition int32, value []byte) {
	a.Messages++
	b, err := click.ParseBatch(value)
	if err != nil {
		a.Foreign++
		return
	}
	l := a.lanes[b.Lane]
	if l == nil {
		l = &lane{partition: partition, seqs: map[uint64]uint64{}, lost: map[uint64]bool{}}
		a.lanes[b.Lane] = l
	}
	if l.partition != partition {
		a.Moved++
	}
	d := click.NewDecoder(&b)
	for {
		var e click.Event
		more, err := d.Next(&e)
		if err != nil {
			a.Foreign++
			return
		}
		if !more {
			return
		}
		behind := e.Seq < l.top
		l.top = max(l.top, e.Seq)
		if e.LostTo != 0 {
			for seq := e.LostFrom; seq <= e.LostTo; seq++ {
				l.lost[seq] = true
			}
			continue
		}
		a.Raw++
		mark := fingerprint(&e)
		before, again := l.seqs[e.Seq]
		switch {
		case !again:
			l.seqs[e.Seq] = mark
			a.Clicks++
			a.names = append(a.names, e.UTM.Content)
			if behind {
				a.Backward++
			}
		case before != mark:
			a.Clashes++
			fallthrough
		default:
			a.Repeats++
		}
	}
}

// fingerprint distinguishes clicks of the harness: FNV-1a over the fields that vary.
func fingerprint(e *click.Event) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range []byte(e.UTM.Content) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return (h^e.Link)*1099511628211 ^ uint64(e.Time)
}
