package ship_test

import (
	"context"
	"testing"

	"github.com/shortline/shortline/edge/internal/ship"
	"github.com/shortline/shortline/edge/internal/spool"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// nowhere accepts batches and decodes all events.
type nowhere struct{ b testing.TB }

func (n nowhere) Deliver(_ context.Context, batch *click.Batch) error {
	d := click.NewDecoder(batch)
	var e click.Event
	for {
		ok, err := d.Next(&e)
		if err != nil {
			n.b.Error(err)
		}
		if !ok {
			return nil
		}
	}
}

// BenchmarkShipper measures one click from Append to its acknowledgement, including decoding.
func BenchmarkShipper(b *testing.B) {
	cfg := spool.Config{Dir: scratch(b), MinFreePercent: -1, CapBytes: 16 << 30}
	s := openSpool(b, cfg)
	defer s.Close()
	stopSpool := start(b, s.Run)
	sh, err := ship.New(ship.Config{}, s, nowhere{b})
	testkit.Must(b, err)
	stopShip := start(b, sh.Run)
	e := click.Event{
		Time: 1790000000000, Link: 7, Owner: 1, Referer: "https://example.org/",
		UserAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
	}
	for i := range b.N {
		if !s.Append(uint32(i>>8), &e) {
			b.Fatal("dropped")
		}
	}
	testkit.Eventually(b, "all shipped", func() bool { return s.Stats().Pending == 0 })
	stopShip()
	stopSpool()
}
