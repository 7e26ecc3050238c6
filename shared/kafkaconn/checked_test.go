package kafkaconn_test

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/shortline/shortline/shared/kafkaconn"
	"github.com/shortline/shortline/shared/testing/kafkatest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// listening serves every connection to an address until the test ends.
func listening(t *testing.T, serve func(net.Conn)) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return l.Addr().String()
}

// relay forwards connections to an address that is set later. It passes every piece of a response through change.
func relay(t *testing.T, to *atomic.Value, change func([]byte)) (addr string) {
	t.Helper()
	return listening(t, func(c net.Conn) {
		up, err := net.Dial("tcp", to.Load().(string))
		if err != nil {
			return
		}
		defer up.Close()
		go func() {
			_, _ = io.Copy(up, c) // until either side closes
			up.Close()
		}()
		buf := make([]byte, 32<<10)
		for {
			n, err := up.Read(buf)
			change(buf[:n])
			if _, werr := c.Write(buf[:n]); err != nil || werr != nil {
				return
			}
		}
	})
}

// silent answers the first request of every connection with the given bytes.
func silent(t *testing.T, answer []byte) (addr string) {
	t.Helper()
	return listening(t, func(c net.Conn) {
		var size [4]byte
		if _, err := io.ReadFull(c, size[:]); err != nil {
			return
		}
		if _, err := io.CopyN(io.Discard, c, int64(binary.BigEndian.Uint32(size[:]))); err != nil {
			return
		}
		for _, b := range answer { // byte by byte, as they may arrive
			if _, err := c.Write([]byte{b}); err != nil {
				return
			}
		}
		_, _ = io.Copy(io.Discard, c)
	})
}

// An invalid response is an error of the call that explains it.
func TestConn_refuses_impossible_answers(t *testing.T) {
	t.Parallel()
	of := func(length, number uint32, rest ...byte) []byte {
		return append(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, length), number), rest...)
	}
	for name, c := range map[string]struct {
		answer []byte
		want   string
	}{
		"a negative length":       {of(0xffffffff, 1), "bytes"},
		"a very negative length":  {of(0x80000046, 1), "bytes"},
		"a gigabyte":              {of(1<<30, 1), "bytes"},
		"no room for a number":    {of(3, 1), "bytes"},
		"an answer to nobody":     {of(10, 77, 0, 0, 0, 0, 0, 0), "matches no request"},
		"a list of a milliard":    {of(10, 1, 0, 0, 0x40, 0, 0, 0), "shorter than its lengths say"},
		"a list of two that ends": {of(16, 1, 0, 0, 0, 0, 0, 2, 0, 1, 0, 0, 0, 9), "shorter than its lengths say"},
		"an alert of TLS":         {[]byte{0x15, 3, 1, 0, 2, 2, 0x46}, "KAFKA_TLS"},
	} {
		conn, err := kafkaconn.Open(kafkaconn.Settings{Brokers: []string{silent(t, c.answer)}, Topic: "clicks"}, "test", time.Minute)
		testkit.Must(t, err)
		if _, err := conn.Client().Metadata(t.Context(), &kafka.MetadataRequest{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want it to speak of %q", name, err, c.want)
		}
		conn.Close()
	}
}

// Flipped bits in a broker's responses end connections, but never the program. The requests are those of an edge and of
// an ingester. A bit in about every third response is flipped, until FLIPS were flipped. Afterwards everything
// works.
func TestConn_survives_flipped_bits(t *testing.T) {
	t.Parallel()
	wanted, _ := strconv.ParseInt(os.Getenv("FLIPS"), 10, 64)
	wanted = cmp.Or(wanted, testkit.Size[int64](150, 10_000))
	var flips atomic.Int64
	var flipping atomic.Bool
	var to atomic.Value
	addr := relay(t, &to, func(b []byte) {
		if flipping.Load() && len(b) > 0 && rand.IntN(3) == 0 {
			b[rand.IntN(len(b))] ^= 1 << rand.IntN(8)
			flips.Add(1)
		}
	})
	// The broker directs all clients to the relay.
	to.Store(kafkatest.Run(t, kafkatest.Config{Settings: map[string]string{"advertised.listeners": "PLAINTEXT://" + addr}}).Addr())
	topic := fmt.Sprintf("flips-%d", time.Now().UnixNano())
	open := func() *kafkaconn.Conn {
		conn, err := kafkaconn.Open(kafkaconn.Settings{Brokers: []string{addr}, Topic: topic, CreateTopic: true, Partitions: 2}, "test",
			time.Second)
		testkit.Must(t, err)
		return conn
	}
	good := open()
	defer good.Close()
	if !good.Settle(t.Context(), slog.New(slog.DiscardHandler), func() {}) {
		t.Fatal("the topic can't be made")
	}
	requests := func(ctx context.Context, c *kafkaconn.Conn) (errs []error) {
		try := func(err error) {
			if err != nil {
				errs = append(errs, err)
			}
		}
		_, err := c.Prepare(ctx)
		try(err)
		_, err = c.Client().ListOffsets(ctx,
			&kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{topic: {kafka.FirstOffsetOf(0), kafka.LastOffsetOf(1)}}})
		try(err)
		_, err = c.Client().Produce(ctx, &kafka.ProduceRequest{
			Topic: topic, RequiredAcks: kafka.RequireAll,
			Records: kafka.NewRecordReader(kafka.Record{Value: kafka.NewBytes([]byte("click"))}),
		})
		try(err)
		// The requests of a group, on connections like those of a group.
		k, err := c.Dialer().DialContext(ctx, "tcp", addr)
		try(err)
		if err == nil {
			_ = k.SetDeadline(time.Now().Add(200 * time.Millisecond)) // later calls report the error
			_, err = k.ReadPartitions(topic)
			try(err)
			_, err = k.Controller()
			try(err)
			_ = k.Close() // it may be closed already
		}
		return errs
	}
	ctx := t.Context()
	flipping.Store(true)
	failed := 0
	for round := 0; flips.Load() < wanted; round++ {
		conn := open()
		short, done := context.WithTimeout(ctx, 200*time.Millisecond)
		if len(requests(short, conn)) > 0 {
			failed++
		}
		done()
		if round%25 == 0 {
			join(ctx, t, conn, addr, topic)
		}
		conn.Close()
	}
	flipping.Store(false)
	t.Logf("%d bits flipped, %d rounds failed", flips.Load(), failed)
	if failed == 0 {
		t.Errorf("%d bits were flipped, and no round failed", flips.Load())
	}
	conn := open()
	defer conn.Close()
	testkit.Eventually(t, "everything works again", func() bool { return len(requests(t.Context(), conn)) == 0 })
}

// join is a member of a group for a moment.
func join(ctx context.Context, t *testing.T, conn *kafkaconn.Conn, addr, topic string) {
	t.Helper()
	group, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
		ID: topic, Brokers: []string{addr}, Topics: []string{topic}, Dialer: conn.Dialer(),
		HeartbeatInterval: 50 * time.Millisecond, SessionTimeout: 6 * time.Second, RebalanceTimeout: time.Second,
		JoinGroupBackoff: 10 * time.Millisecond, Timeout: time.Second,
	})
	testkit.Must(t, err)
	ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	for ctx.Err() == nil {
		gen, err := group.Next(ctx)
		if err != nil {
			continue
		}
		gen.Start(func(ctx context.Context) {
			_ = gen.CommitOffsets(map[string]map[int]int64{topic: {0: 1}}) // it may fail
			<-ctx.Done()
		})
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = group.Close() // waits for a broker
	}()
	limited, done := context.WithTimeout(t.Context(), time.Second)
	defer done()
	select {
	case <-closed:
	case <-limited.Done(): // no broker understands it
	}
}
