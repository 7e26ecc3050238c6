package kafkasource

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	fetchapi "github.com/segmentio/kafka-go/protocol/fetch"
)

// The client's own fetch unpacks all that an answer holds before it returns, and gives each batch of records pages of
// 64 KiB. Edges at low load write a batch for every few clicks, so an answer of 2 MiB became hundreds of MiB. Here the
// client sends the question and picks the broker and the connection; the answer's records stay as they came.

// question is a fetch of one partition.
type question struct {
	fetchapi.Request
	version int16
}

// answer is what a broker said to a question.
type answer struct {
	code    kafka.Error
	end     int64  // the offset after the last message that there is
	records []byte // batches of records, the last of which may be cut
}

func (*answer) ApiKey() protocol.ApiKey { return protocol.Fetch }

// Required implements protocol.RawExchanger: it notes the version that was agreed on.
func (q *question) Required(versions map[protocol.ApiKey]int16) bool {
	q.version = versions[protocol.Fetch]
	return true
}

const (
	oldestFetch = 4  // of the versions that name what parseAnswer reads
	mostAnswer  = 64 // MiB: a broker sends what was asked for, or a single batch that is larger
	fetchSerial = 1  // a connection has one question at a time
)

// RawExchange implements protocol.RawExchanger. The answer has memory of its own, since who asked may be gone.
func (q *question) RawExchange(conn io.ReadWriter) (protocol.Message, error) {
	if q.version < oldestFetch {
		return nil, fmt.Errorf("the broker is too old: it knows version %d of fetch, %d is needed", q.version, oldestFetch)
	}
	if err := protocol.WriteRequest(conn, q.version, fetchSerial, "shortline", &q.Request); err != nil {
		return nil, err
	}
	var size [4]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > mostAnswer<<20 {
		return nil, fmt.Errorf("an answer of %d bytes", n)
	}
	data := make([]byte, n)
	if _, err := io.ReadFull(conn, data); err != nil {
		return nil, err
	}
	return parseAnswer(data, q.version)
}

var errAnswer = errors.New("the answer is no fetch of one partition")

// parseAnswer reads the answer to a question in versions 4 to 11 of the protocol. The records are part of data.
func parseAnswer(data []byte, version int16) (*answer, error) {
	in := wire{data: data}
	serial := in.int32()
	in.int32() // throttled for
	var res answer
	if version >= 7 {
		res.code = kafka.Error(in.int16())
		in.int32() // session
	}
	if res.code != 0 {
		return &res, nil
	}
	topics := in.int32()
	in.skip(int64(in.int16())) // name
	partitions := in.int32()
	in.int32() // partition
	res.code = kafka.Error(in.int16())
	res.end = in.int64()
	in.int64() // last stable offset
	if version >= 5 {
		in.int64() // first offset
	}
	if aborted := int64(in.int32()); aborted > 0 {
		in.skip(16 * aborted)
	}
	if version >= 11 {
		in.int32() // replica to prefer
	}
	if n := int64(in.int32()); n > 0 {
		res.records = in.skip(n)
	}
	if in.cut || serial != fetchSerial || topics != 1 || partitions != 1 {
		return nil, errAnswer
	}
	return &res, nil
}

// fetch asks for messages from an offset on, about size bytes as they are stored. No records: there are none for a moment.
func (s *Source) fetch(ctx context.Context, partition int, from, size int64) (records []byte, end int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	res, err := s.client.Transport.RoundTrip(ctx, s.client.Addr, &question{Request: fetchapi.Request{
		ReplicaID: -1, SessionID: -1, SessionEpoch: -1,
		MaxWaitTime: int32(min(fetchWait, s.cfg.Timeout/2) / time.Millisecond), MinBytes: 1, MaxBytes: int32(size),
		Topics: []fetchapi.RequestTopic{{Topic: s.topic, Partitions: []fetchapi.RequestPartition{{
			Partition: int32(partition), CurrentLeaderEpoch: -1, FetchOffset: from, LogStartOffset: -1, PartitionMaxBytes: int32(size),
		}}}},
	}})
	if err != nil {
		return nil, 0, err
	}
	got, ok := res.(*answer)
	switch {
	case !ok:
		return nil, 0, errAnswer
	case got.code != 0:
		return nil, 0, got.code
	}
	return got.records, got.end, nil
}

// wire reads Kafka's numbers, big-endian, from bytes that may end too soon.
type wire struct {
	data []byte
	cut  bool // data ended too soon, or was to be skipped backwards; all that was read since is zero
}

// skip passes n bytes over and returns them.
func (w *wire) skip(n int64) []byte {
	if n < 0 || n > int64(len(w.data)) {
		w.cut, w.data = true, nil
		return nil
	}
	skipped := w.data[:n:n]
	w.data = w.data[n:]
	return skipped
}

func (w *wire) int16() int16 {
	if b := w.skip(2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (w *wire) int32() int32 {
	if b := w.skip(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (w *wire) int64() int64 {
	if b := w.skip(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// varint reads a number as records have it.
func (w *wire) varint() int64 {
	v, n := binary.Varint(w.data)
	if n <= 0 {
		w.cut, w.data = true, nil
		return 0
	}
	w.data = w.data[n:]
	return v
}
