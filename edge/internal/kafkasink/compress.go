package kafkasink

import (
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/compress"
)

// window is how far back compression looks: as far as a message is long at the most.
const window = 1 << 20

// The client library's encoders look back 8 MiB, and keep as much for ever once a message was longer than one block. A lane
// has one at work, so that catching up after an outage left an edge with 32 MiB that it never needs, and twice as much garbage.
func init() {
	compress.Codecs[kafka.Zstd] = &codec{Codec: compress.Codecs[kafka.Zstd]}
}

// codec is the library's zstd with encoders for messages of a MiB.
type codec struct {
	compress.Codec
	idle sync.Pool // *zstd.Encoder
}

// NewWriter compresses into w. Closing the writer ends the frame and not w.
func (c *codec) NewWriter(w io.Writer) io.WriteCloser {
	if e, ok := c.idle.Get().(*zstd.Encoder); ok {
		e.Reset(w)
		return &encoder{e, c}
	}
	e, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window), zstd.WithLowerEncoderMem(true), zstd.WithZeroFrames(true))
	if err != nil {
		panic("kafkasink: " + err.Error()) // the options are wrong
	}
	return &encoder{e, c}
}

type encoder struct {
	*zstd.Encoder
	codec *codec
}

// Close ends the frame and keeps the encoder for others.
func (e *encoder) Close() error {
	err := e.Encoder.Close()
	e.Reset(nil)
	e.codec.idle.Put(e.Encoder)
	return err
}
