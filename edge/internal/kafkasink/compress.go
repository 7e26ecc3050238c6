package kafkasink

import (
	"io"
	"sync"
	"time"

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

// slice is how many bytes are compressed at a time, in about 80 µs. Redirects that arrive meanwhile wait on a machine with one
// processor, and the runtime asks for them only when no goroutine is runnable. Smaller blocks make messages 5 % larger.
const slice = 16 << 10

type encoder struct {
	encoder *zstd.Encoder
	codec   *codec
}

// Write compresses in slices.
func (e *encoder) Write(b []byte) (n int, err error) {
	for err == nil && n < len(b) {
		var size int
		size, err = e.encoder.Write(b[n:min(len(b), n+slice)])
		if n += size; size == slice && err == nil {
			err = e.encoder.Flush()
			time.Sleep(time.Microsecond)
		}
	}
	return n, err
}

// Close ends the frame and keeps the encoder for reuse.
func (e *encoder) Close() error {
	err := e.encoder.Close()
	e.encoder.Reset(nil)
	e.codec.idle.Put(e.encoder)
	return err
}
