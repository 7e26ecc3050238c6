package kafkasource_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/shortline/shortline/control/internal/clicks/ingest/kafkasource"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// slowly is a listener whose connections send at most so many bytes per second.
type slowly struct {
	net.Listener
	rate int
}

func (l slowly) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return slowConn{c, l.rate}, nil
}

type slowConn struct {
	net.Conn
	rate int
}

func (c slowConn) Write(b []byte) (sent int, err error) {
	for sent < len(b) {
		n, err := c.Conn.Write(b[sent:min(len(b), sent+max(1, c.rate/50))])
		if sent += n; err != nil {
			return sent, err
		}
		time.Sleep(time.Duration(n) * time.Second / time.Duration(c.rate)) // the link takes this long
	}
	return sent, nil
}

// A backlog is read over a link that is too slow for a whole fetch within the timeout, as after an outage of a far region.
func TestRun_catches_up_over_a_slow_link(t *testing.T) {
	t.Parallel()
	const rate, each = 1 << 20, 500
	c := cluster(t, kfake.NumBrokers(1), kfake.SeedTopics(1, topic), kfake.ListenFn(func(network, addr string) (net.Listener, error) {
		l, err := net.Listen(network, addr)
		return slowly{l, rate}, err
	}))
	w := newWriter(t, c)
	for i := range uint64(20) { // 3 MB, which do not become smaller by compression
		b := click.Batch{Lane: lane(0), First: i*each + 1, Count: each}
		for n := range uint64(each) {
			agent := fmt.Sprintf("%c%c%c%x", rune(0x100+rand.IntN(0x1f00)), rune(0x100+rand.IntN(0x1f00)), rune(0x100+rand.IntN(0x1f00)),
				rand.Uint64())
			for range 12 {
				agent += fmt.Sprintf("%x", rand.Uint64())
			}
			b.Records = click.AppendRecord(b.Records, &click.Event{Seq: b.First + n, Time: 1, Link: 1, UserAgent: agent})
		}
		w.raw(0, click.AppendBatch(nil, &b))
	}
	all := newRecorder(t)
	s, _ := run(t, c, all, func(cfg *kafkasource.Config) { cfg.Timeout = 500 * time.Millisecond })
	testkit.Eventually(t, "all is delivered", func() bool { return all.count() == 20*each })
	if s.Stats().Failures == 0 {
		t.Error("no fetch has timed out, so the link was not too slow")
	}
}
