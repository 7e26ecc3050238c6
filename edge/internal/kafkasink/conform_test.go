package kafkasink_test

import (
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/kafkasink"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/click/clicktest"
	"github.com/shortline/shortline/shared/kafkaconn"
	"github.com/shortline/shortline/shared/testing/kafkatest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// The suite runs against a real broker. It is broken by a pause, so that deliveries time out, and the broker may still
// store what it had received.
func TestSink_conforms_to_click_Sink(t *testing.T) {
	t.Parallel()
	broker := kafkatest.Run(t, kafkatest.Config{})
	var topics atomic.Int64
	clicktest.Run(t, func(t *testing.T) clicktest.Target {
		name, dir := "conform-"+strconv.FormatInt(topics.Add(1), 10), t.TempDir()
		read := func(t *testing.T, f func(clicktest.ID, click.Event)) {
			for _, m := range messagesOf(t, []string{broker.Addr()}, name, 0) {
				d := click.NewDecoder(&m.batch)
				for {
					var e click.Event
					more, err := d.Next(&e)
					testkit.Must(t, err)
					if !more {
						break
					}
					f(clicktest.ID{Lane: m.batch.Lane, Seq: e.Seq}, e)
				}
			}
		}
		return clicktest.Target{
			Open: func(t *testing.T) click.Sink {
				s, err := kafkasink.New(kafkasink.Config{
					Kafka: kafkaconn.Settings{Brokers: []string{broker.Addr()}, Topic: name, CreateTopic: true, Partitions: 4}, Dir: dir,
					Timeout: 2 * time.Second, Logger: quiet,
				})
				testkit.Must(t, err)
				t.Cleanup(func() { s.Close() })
				testkit.Must(t, s.Check(t.Context()))
				return s
			},
			Clicks: func(t *testing.T) map[clicktest.ID]click.Event {
				all := map[clicktest.ID]click.Event{}
				read(t, func(id clicktest.ID, e click.Event) {
					if e.LostTo == 0 {
						all[id] = e
					}
				})
				return all
			},
			Lost: func(t *testing.T) (n uint64) {
				seen := map[clicktest.ID]bool{}
				read(t, func(id clicktest.ID, e click.Event) {
					if e.LostTo != 0 && !seen[id] {
						seen[id] = true
						n += e.LostTo - e.LostFrom + 1
					}
				})
				return n
			},
			Break: func(t *testing.T) func() {
				testkit.Must(t, broker.Pause())
				return func() {
					testkit.Must(t, broker.Resume())
				}
			},
		}
	})
}
