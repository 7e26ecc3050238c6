package click_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/segmentio/kafka-go"

	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// varied returns clicks of one lane as a busy service has them: addresses hardly ever repeat, links and referrers follow a
// Zipf distribution, 300 User-Agents of 60 to 160 bytes, 25 languages, and campaign parameters at every fifth link.
func varied(n int) []click.Event {
	r := rand.New(rand.NewPCG(1, 2))
	links, referrers, agents := rand.NewZipf(r, 1.1, 10, 100_000), rand.NewZipf(r, 1.3, 5, 3000), rand.NewZipf(r, 1.3, 3, 300)
	list := make([]click.Event, n)
	at := int64(1_790_000_000_000)
	for i := range list {
		at += r.Int64N(3)
		l, a, f := links.Uint64(), agents.Uint64(), referrers.Uint64()
		e := click.Event{Seq: uint64(i + 1), Time: at, Link: l + 1, Owner: l%3000 + 1,
			IP: netip.AddrFrom4([4]byte{byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32())})}
		e.UserAgent = fmt.Sprintf(
			"Mozilla/5.0 (Linux; Android %d; SM-%c%03d) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Mobile Safari/537.36", 9+a%7,
			'A'+rune(a%6), 100+a, 120+a%25)
		e.AcceptLanguage = [25]string{"en-US,en;q=0.9", "de-DE,de;q=0.9,en;q=0.8", "fr-FR,fr;q=0.9", "pt-BR,pt;q=0.9", "ja"}[f%5]
		if f%3 != 0 {
			e.Referer = fmt.Sprintf("https://site-%d.example/articles/%d", f%400, f)
		}
		if l%5 == 0 {
			e.UTM = link.UTM{Source: "newsletter", Medium: "email", Campaign: fmt.Sprintf("campaign-%d", l%90)}
		}
		list[i] = e
	}
	return list
}

// BenchmarkBytes measures the bytes of a click in the spool and, by the size of a batch, in Kafka with the compression of
// edges. It gives the figures of docs/developers/capacity.md.
func BenchmarkBytes(b *testing.B) {
	const n = 40_000
	list := varied(n)
	for b.Loop() {
		var all []byte
		for i := range list {
			all = click.AppendRecord(all, &list[i])
		}
		b.ReportMetric(float64(len(all))/n, "spoolB/click")
		for _, size := range []int{1, 5, 50, 500, 4000} {
			sum := 0
			for from := 0; from+size <= n; from += size {
				batch := click.Batch{Lane: click.Lane{Edge: 7, Epoch: 1}, First: list[from].Seq, Count: size}
				for i := range size {
					batch.Records = click.AppendRecord(batch.Records, &list[from+i])
				}
				sum += packed(b, click.AppendBatch(nil, &batch))
			}
			b.ReportMetric(float64(sum)/float64(n/size*size), fmt.Sprintf("kafkaB/click@%d", size))
		}
	}
}

// packed returns the size of a message in a record batch: 61 bytes, about ten for the record, and the compressed frame.
func packed(b *testing.B, frame []byte) int {
	var out bytes.Buffer
	w := kafka.Zstd.Codec().NewWriter(&out)
	if _, err := io.Copy(w, bytes.NewReader(frame)); err != nil {
		b.Fatal(err)
	}
	testkit.Must(b, w.Close())
	return 71 + out.Len()
}
