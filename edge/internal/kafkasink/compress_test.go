package kafkasink_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/compress"

	_ "github.com/shortline/shortline/edge/internal/kafkasink"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Four lanes that each sent messages of 1 MiB keep little memory, and the library's own reader can read what they sent.
func TestCompression_of_large_messages_keeps_little(t *testing.T) {
	text := make([]byte, 1<<20)
	for i := range text {
		text[i] = "clicks"[rand.IntN(6)]
	}
	codec := compress.Codecs[kafka.Zstd]
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	var writers [4]io.WriteCloser
	var sent [4]bytes.Buffer
	for i := range writers {
		writers[i] = codec.NewWriter(&sent[i])
		if _, err := io.Copy(writers[i], bytes.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	if kept := int64(heap()) - int64(before); kept > 20<<20 {
		t.Errorf("four encoders and their output keep %d MiB", kept>>20)
	}
	for round := range 2 {
		for i, w := range writers {
			testkit.Must(t, w.Close())
			r := codec.NewReader(&sent[i])
			if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, text) {
				t.Errorf("%d bytes came back, %v", len(got), err)
			}
			r.Close()
			if round > 0 {
				continue
			}
			sent[i].Reset()
			writers[i] = codec.NewWriter(&sent[i]) // a reused one
			if _, err := writers[i].Write(text); err != nil {
				t.Fatal(err)
			}
		}
	}
}
