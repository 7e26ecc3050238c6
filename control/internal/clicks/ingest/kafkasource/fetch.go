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

// kafka-go's own fetch decompresses a whole response before it returns, and allocates pages of 64 KiB for each record
// batch. Edges with low traffic write a batch for every few clicks, so a response of 2 MiB grew to hundreds of MiB.
// Here kafka-go only sends the request and selects the broker and the connection. The records of the response stay
// compressed.

// fetchRequest is the fetch request for one partition.
type fetchRequest struct {
	fetchapi.Request
	version int16
}

// fetchResponse is the broker's response to a fetch request.
type fetchResponse struct {
	code    kafka.Error
	end     int64  // the offset after the last available message
	records []byte // record batches; the last one may be incomplete
}

func (*fetchResponse) ApiKey() protocol.ApiKey { return protocol.Fetch }

// Required implements protocol.RawExchanger. It stores the negotiated protocol version.
func (q *fetchRequest) Required(versions map[protocol.ApiKey]int16) bool {
	q.version = versions[protocol.Fetch]
	return true
}

const (
	minFetchVersion = 4  // oldest version with the fields that parseResponse reads
	maxResponse     = 64 // MiB; a broker sends the requested size, or one batch that is larger
	fetchSerial     = 1  // correlation id; a connection has one request at a time
)

// RawExchange implements protocol.RawExchanger. The response has its own memory, because the caller may be gone
// already.
func (q *fetchRequest) RawExchange(conn io.ReadWriter) (protocol.Message, error) {
	if q.version < minFetchVersion {
		return nil, fmt.Errorf("the broker is too old: it knows version %d of fetch, %d is needed", q.version, minFetchVersion)
	}
	if err := protocol.WriteRequest(conn, q.version, fetchSerial, "shortline", &q.Request); err != nil {
		return nil, err
	}
	var size [4]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > maxResponse<<20 {
		return nil, fmt.Errorf("a fetch response of %d bytes is too large", n)
	}
	data := make([]byte, n)
	if _, err := io.ReadFull(conn, data); err != nil {
		return nil, err
	}
	return parseResponse(data, q.version)
}

var errResponse = errors.New("the response is not a fetch of one partition")

// parseResponse reads a response in versions 4 to 11 of the protocol. The records are a slice of data.
func parseResponse(data []byte, version int16) (*fetchResponse, error) {
	in := wire{data: data}
	serial := in.int32()
	in.int32() // throttle time
	var res fetchResponse
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
		in.int32() // preferred replica
	}
	if n := int64(in.int32()); n > 0 {
		res.records = in.skip(n)
	}
	if in.cut || serial != fetchSerial || topics != 1 || partitions != 1 {
		return nil, errResponse
	}
	return &res, nil
}

// fetch requests about size bytes (compressed) of messages from an offset on. No records means that there are none yet.
func (s *Source) fetch(ctx context.Context, partition int, from, size int64) (records []byte, end int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	res, err := s.client.Transport.RoundTrip(ctx, s.client.Addr, &fetchRequest{Request: fetchapi.Request{
		ReplicaID: -1, SessionID: -1, SessionEpoch: -1,
		MaxWaitTime: int32(min(fetchWait, s.cfg.Timeout/2) / time.Millisecond), MinBytes: 1, MaxBytes: int32(size),
		Topics: []fetchapi.RequestTopic{{Topic: s.topic, Partitions: []fetchapi.RequestPartition{{
			Partition: int32(partition), CurrentLeaderEpoch: -1, FetchOffset: from, LogStartOffset: -1, PartitionMaxBytes: int32(size),
		}}}},
	}})
	if err != nil {
		return nil, 0, err
	}
	got, ok := res.(*fetchResponse)
	switch {
	case !ok:
		return nil, 0, errResponse
	case got.code != 0:
		return nil, 0, got.code
	}
	return got.records, got.end, nil
}

// wire reads Kafka's big-endian numbers from bytes that may end early.
type wire struct {
	data []byte
	cut  bool // data ended early, or a skip went backwards; all later reads return zero
}

// skip skips n bytes and returns them.
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

// varint reads a number in the encoding of records.
func (w *wire) varint() int64 {
	v, n := binary.Varint(w.data)
	if n <= 0 {
		w.cut, w.data = true, nil
		return 0
	}
	w.data = w.data[n:]
	return v
}
