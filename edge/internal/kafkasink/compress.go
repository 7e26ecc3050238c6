package kafkasink

import (
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/compress"
)

// window is the compression window: the maximum size of a message.
const window = 1 << 20

// kafka-go's zstd encoders have a window of 8 MiB, and keep that much memory once a message was longer than one block.
// Each lane uses one encoder. After an outage, catching up therefore left an edge with 32 MiB it did not need, and
// twice the garbage.
func init() {
	compress.Codecs[kafka.Zstd] = &codec{Codec: compress.Codecs[kafka.Zstd]}
}

// codec is kafka-go's zstd codec with encoders for messages of up to 1 MiB.
type codec struct {
	compress.Codec
	idle sync.Pool // *zstd.Encoder
}

// NewWriter compresses into w. Closing the writer ends the frame but does not close w.
func (c *codec) NewWriter(w io.Writer) io.WriteCloser {
	if e, ok := c.idle.Get().(*zstd.Encoder); ok {
		e.Reset(w)
		return &encoder{e, c}
	}
	e, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(window),
		zstd.WithLowerEncoderMem(true), zstd.WithZeroFrames(true))
	if err != nil {
		panic("kafkasink: " + err.Error()) // the options are invalid
	}
	return &encoder{e, c}
}

type encoder struct {
	*zstd.Encoder
	codec *codec
}

// Close ends the frame and keeps the encoder for reuse.
func (e *encoder) Close() error {
	err := e.Encoder.Close()
	e.Reset(nil)
	e.codec.idle.Put(e.Encoder)
	return err
}
