package kafkaconn_test

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/shortline/shortline/shared/kafkaconn"
)

// A broker whose answers say that they have an impossible length, as a damaged byte makes them, is an error of the call.
func TestConn_survives_impossible_lengths(t *testing.T) {
	t.Parallel()
	for _, length := range []int32{-1, -2147483578, 1 << 30} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					defer c.Close()
					var size [4]byte
					if _, err := io.ReadFull(c, size[:]); err != nil {
						return
					}
					if _, err := io.CopyN(io.Discard, c, int64(binary.BigEndian.Uint32(size[:]))); err != nil {
						return
					}
					answer := binary.BigEndian.AppendUint32(nil, uint32(length))
					for _, b := range append(answer, make([]byte, 64)...) { // byte by byte, as they may come
						if _, err := c.Write([]byte{b}); err != nil {
							return
						}
					}
					_, _ = io.Copy(io.Discard, c)
				}()
			}
		}()
		conn, err := kafkaconn.Open(kafkaconn.Settings{Brokers: []string{l.Addr().String()}, Topic: "clicks"}, "test", 2*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Client().Metadata(t.Context(), &kafka.MetadataRequest{}); err == nil {
			t.Errorf("length %d: no error", length)
		} else if !strings.Contains(err.Error(), "can't be") {
			t.Logf("length %d: %v", length, err)
		}
	}
}
