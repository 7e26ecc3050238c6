package table_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// links returns the number of links in the benchmarks: TABLE_BENCH_LINKS, or a million.
func links() int {
	if n, err := strconv.Atoi(os.Getenv("TABLE_BENCH_LINKS")); err == nil {
		return n
	}
	return 1_000_000
}

// benchLink returns a plain link with a destination of about 110 bytes.
func benchLink(i int) link.Record {
	r := plain(i)
	r.Key = slugOf(i)
	r.Destination = fmt.Sprintf("https://shop%d.example.com/products/%x/item-%d?utm_source=mail&session=%016x%016x",
		i%5000, i*7919, i, uint64(i)*0x9e3779b97f4a7c15, uint64(i)*0xd6e8feb86659fd93)
	return r
}

func slugOf(i int) string { return fmt.Sprintf("%07x", uint32(i)*2654435761) }

func fill(b testing.TB, tab *table.Table, n int, each func(*link.Record)) {
	builder := tab.NewBuilder()
	for i := range n {
		r := benchLink(i)
		each(&r)
		testkit.Must(b, builder.Add(&r))
	}
	testkit.Must(b, tab.Load(builder, snapshot.Cursor{Incarnation: 1, Revision: uint64(n)}))
}

// order returns a long random walk over the slugs, so that no lookup finds its memory in the processor's cache.
func order(n int) [][]byte {
	rng := rand.New(rand.NewPCG(3, 4))
	slugs := make([][]byte, 1<<20)
	for i := range slugs {
		slugs[i] = []byte(slugOf(rng.IntN(n)))
	}
	return slugs
}

func collection() time.Duration {
	start := time.Now()
	runtime.GC()
	return time.Since(start)
}

// zero makes each lookup wait for the previous one, as in requests. A loop of independent lookups would measure how
// many of them the processor runs in parallel.
var zero uint64

// BenchmarkLookup compares the table with the obvious alternative, a Go map of pointers to records. A lookup returns
// number, owner and destination. "touch" also reads the destination, as a redirect does.
func BenchmarkLookup(b *testing.B) {
	n := links()
	b.Run("table", func(b *testing.B) {
		tab := empty(b)
		beyond := 0
		fill(b, tab, n, func(r *link.Record) { beyond -= len(r.Key) + len(r.Destination) })
		beyond += int(tab.Bytes())
		gc := collection()
		slugs := order(n) // allocate this last: these are a million pointers
		b.ResetTimer()
		var sum uint64
		for i := range b.N {
			e, ok := tab.Lookup(slugs[(i+int(sum&zero))&(len(slugs)-1)])
			if !ok {
				b.Fatal("missing")
			}
			d := e.Destination()
			sum += e.Num() + uint64(d[len(d)-1])
		}
		b.ReportMetric(float64(tab.Bytes())/float64(n), "bytes/link")
		b.ReportMetric(float64(beyond)/float64(n), "beyond/link")
		b.ReportMetric(float64(gc.Microseconds()), "gc-µs")
	})
	b.Run("table_unknown", func(b *testing.B) {
		tab := empty(b)
		fill(b, tab, n, func(*link.Record) {})
		slugs := order(n)
		unknown := make([][]byte, len(slugs))
		for i := range unknown {
			unknown[i] = append(bytes.Clone(slugs[i]), 'x')
		}
		b.ResetTimer()
		for i := range b.N {
			if _, ok := tab.Lookup(unknown[i&(len(unknown)-1)]); ok {
				b.Fatal("found")
			}
		}
	})
	b.Run("table_with_changes", func(b *testing.B) {
		tab := empty(b)
		fill(b, tab, n, func(*link.Record) {})
		for range 3 {
			var d snapshot.Delta
			for i := range 900 {
				r := benchLink(i * 37 % n)
				r.Revision = tab.Cursor().Revision + 1
				d.Upserts = append(d.Upserts, r)
			}
			apply(b, tab, d)
		}
		slugs := order(n)
		b.ResetTimer()
		for i := range b.N {
			if _, ok := tab.Lookup(slugs[i&(len(slugs)-1)]); !ok {
				b.Fatal("missing")
			}
		}
	})
	b.Run("map", func(b *testing.B) {
		m := make(map[string]*link.Record)
		for i := range n {
			r := benchLink(i)
			m[r.Key] = &r
		}
		gc := collection()
		slugs := order(n) // allocate this last: these are a million pointers
		b.ResetTimer()
		var sum uint64
		for i := range b.N {
			r := m[string(slugs[(i+int(sum&zero))&(len(slugs)-1)])]
			if r == nil {
				b.Fatal("missing")
			}
			sum += r.Num + uint64(r.Destination[len(r.Destination)-1])
		}
		b.ReportMetric(float64(gc.Microseconds()), "gc-µs")
	})
}

func BenchmarkLoad(b *testing.B) {
	n := links()
	for _, kind := range []string{"plain", "tenth_smart"} {
		var doc bytes.Buffer
		w, err := snapshot.NewWriter(&doc, snapshot.Cursor{Incarnation: 1, Revision: 1})
		testkit.Must(b, err)
		for i := range n {
			r := benchLink(i)
			if kind != "plain" && i%10 == 0 {
				r.SmartRouting = true
				r.Rules = []link.Rule{{ID: link.ID{1}, Target: "https://a.example", Conditions: []byte(onlyUTM)},
					{ID: link.ID{2}, Target: "https://b.example", Conditions: []byte(otherUTM)}}
			}
			testkit.Must(b, w.Add(&r))
		}
		testkit.Must(b, w.Close())
		b.Run(kind, func(b *testing.B) {
			tab := empty(b)
			for b.Loop() {
				builder := tab.NewBuilder()
				cur, err := snapshot.Decode(bytes.NewReader(doc.Bytes()), snapshot.Limits{}, builder.Add)
				testkit.Must(b, err)
				testkit.Must(b, tab.Load(builder, cur))
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)*1e6/float64(n), "ms/million")
			b.ReportMetric(float64(doc.Len())/float64(n), "wire-bytes/link")
		})
	}
}

func BenchmarkApply(b *testing.B) {
	tab := empty(b)
	fill(b, tab, links(), func(*link.Record) {})
	for i := 0; b.Loop(); i++ {
		at := tab.Cursor()
		r := benchLink(i * 37 % links())
		r.Revision = at.Revision + 1
		d := snapshot.Delta{Incarnation: at.Incarnation, From: at.Revision, To: r.Revision, Upserts: []link.Record{r}}
		testkit.Must(b, tab.Apply(&d))
	}
}

func BenchmarkFold(b *testing.B) {
	tab := empty(b)
	fill(b, tab, links(), func(*link.Record) {})
	for i := 0; b.Loop(); i++ {
		r := benchLink(i)
		r.Revision = tab.Cursor().Revision + 1
		apply(b, tab, snapshot.Delta{Upserts: []link.Record{r}})
		tab.Fold()
	}
}

func BenchmarkCompiled(b *testing.B) {
	const n = 1000
	tab := empty(b)
	fill(b, tab, n, func(r *link.Record) {
		r.SmartRouting = true
		r.Rules = []link.Rule{{ID: link.ID{1}, Target: "https://a.example", Conditions: []byte(onlyUTM)}}
	})
	slugs := order(n)
	b.Run("found", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			e, _ := tab.Lookup(slugs[i&(len(slugs)-1)])
			if tab.Compiled(&e) == nil {
				b.Fatal("no plan")
			}
		}
	})
	b.Run("lookup_alone", func(b *testing.B) {
		for i := range b.N {
			if _, ok := tab.Lookup(slugs[i&(len(slugs)-1)]); !ok {
				b.Fatal("missing")
			}
		}
	})
}

// BenchmarkChooser decides visits of links with ten rules: of a few, and of so many that a visit finds nothing in the processor's
// caches.
func BenchmarkChooser(b *testing.B) {
	for _, n := range []int{100, 50_000} {
		b.Run(fmt.Sprintf("%d_links", n), func(b *testing.B) {
			tab := empty(b)
			fill(b, tab, n, func(r *link.Record) {
				r.SmartRouting = true
				for i := range 10 {
					r.Rules = append(r.Rules, link.Rule{ID: link.ID{byte(i + 1)}, Target: "https://a.example", Conditions: fmt.Appendf(nil,
						`{"operator":"AND","conditions":[{"type":"utm_source",`+
							`"operator":"in","value":["mail%d","post"]},{"type":"device","operator":"equals","value":"MOBILE"}]}`,
						10*int(r.Num)+i)})
				}
			})
			slugs := order(n)
			var nobody rule.Facts = facts{rule.FieldUTMSource: "nowhere", rule.FieldDevice: "MOBILE"}
			b.ReportAllocs()
			b.ReportMetric(float64(tab.Bytes())/float64(n), "bytes/link")
			for i := 0; b.Loop(); i++ {
				e, _ := tab.Lookup(slugs[i%len(slugs)])
				tab.Prepare(&e)
				if choose(tab, &e, nobody, 0).Target != e.Destination() {
					b.Fatal("a rule matches")
				}
			}
		})
	}
}

// BenchmarkLoad_rules loads links with ten rules: with conditions of their own, and with those of other links.
func BenchmarkLoad_rules(b *testing.B) {
	for name, own := range map[string]bool{"own conditions": true, "known conditions": false} {
		b.Run(name, func(b *testing.B) {
			const n = 1000
			tab := empty(b)
			b.ReportAllocs()
			for b.Loop() {
				fill(b, tab, n, func(r *link.Record) {
					r.SmartRouting = true
					for i := range 10 {
						number := i
						if own {
							number = 10*int(r.Num) + i
						}
						r.Rules = append(r.Rules, link.Rule{ID: link.ID{byte(i + 1)}, Target: "https://a.example",
							Conditions: fmt.Appendf(nil,
								`{"operator":"AND","conditions":[{"type":"utm_source",`+
									`"operator":"in","value":["mail%d","post"]},{"type":"device","operator":"equals","value":"MOBILE"}]}`,
								number)})
					}
				})
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/n, "µs/link")
		})
	}
}
